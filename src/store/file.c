#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* The test hook is the one mutable global of this folder: it must reach writers that nobody passes options to. */
static pthread_once_t fault_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int fault_errno; /* 0: off */
static uint64_t fault_left;
static atomic_int sync_fault_errno; /* 0: off */
static unsigned sync_fault_left;

static status status_of_errno(void)
{
    return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
}

/* Closes without losing the errno of the failure that led here. */
static void close_quietly(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

static void read_fault_from_environment(void)
{
    static const struct {
        const char *name;
        int value;
    } known[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EIO", EIO}};
    struct span rest = span_str(getenv("ORB_TEST_WRITE_FAULT"));
    struct span bytes;
    uint64_t after;
    if (!rest.n || !span_split(&rest, ':', &bytes) || !span_u64(bytes, INT64_MAX, &after))
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (span_is(rest, known[i].name)) {
            fault_left = after;
            atomic_store(&fault_errno, known[i].value);
        }
}

void file_inject_fault(uint64_t after_bytes, int err)
{
    pthread_once(&fault_once, read_fault_from_environment);
    pthread_mutex_lock(&fault_lock);
    fault_left = after_bytes;
    atomic_store(&fault_errno, err);
    pthread_mutex_unlock(&fault_lock);
}

/* How many of `n` bytes may still be written; fewer than n means that the injected fault follows. */
static size_t fault_allow(size_t n)
{
    if (!atomic_load_explicit(&fault_errno, memory_order_relaxed))
        return n;
    pthread_mutex_lock(&fault_lock);
    if (atomic_load(&fault_errno)) {
        if (n > fault_left)
            n = (size_t)fault_left;
        fault_left -= n;
    }
    pthread_mutex_unlock(&fault_lock);
    return n;
}

/* False: this sync is to fail, errno says how. */
static bool sync_allowed(void)
{
    if (!atomic_load_explicit(&sync_fault_errno, memory_order_relaxed))
        return true;
    pthread_mutex_lock(&fault_lock);
    int err = sync_fault_left ? 0 : atomic_load(&sync_fault_errno);
    if (sync_fault_left)
        sync_fault_left--;
    pthread_mutex_unlock(&fault_lock);
    errno = err;
    return !err;
}

void file_inject_sync_fault(unsigned after_syncs, int err)
{
    pthread_mutex_lock(&fault_lock);
    sync_fault_left = after_syncs;
    atomic_store(&sync_fault_errno, err);
    pthread_mutex_unlock(&fault_lock);
}

static status write_repeated(int fd, struct span data)
{
    while (data.n) {
        ssize_t n = write(fd, data.p, data.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return status_of_errno();
        data = span_from(data, (size_t)n);
    }
    return ST_OK;
}

status file_write_all(int fd, struct span data)
{
    pthread_once(&fault_once, read_fault_from_environment);
    size_t allowed = fault_allow(data.n);
    status st = write_repeated(fd, span_cut(data, 0, allowed));
    if (st == ST_OK && allowed < data.n) {
        errno = atomic_load(&fault_errno);
        st = status_of_errno();
    }
    return st;
}

static bool is_dir(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISDIR(sb.st_mode);
}

status file_mkdir(const char *path)
{
    char *copy = mem_str(span_str(path));
    status st = ST_OK;
    for (char *at = copy; st == ST_OK && *at; at++) {
        if (at[1] != '/' && at[1] != '\0')
            continue;
        char cut = at[1];
        at[1] = '\0';
        if (mkdir(copy, 0777) != 0 && !is_dir(copy)) {
            if (errno == EEXIST)
                errno = ENOTDIR;
            st = status_of_errno();
        }
        at[1] = cut;
    }
    int saved = errno;
    free(copy);
    errno = saved;
    return st;
}

status file_remove_dir(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return errno == ENOENT ? ST_OK : ST_IO;
    status st = ST_OK;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && unlinkat(dirfd(d), e->d_name, 0) != 0)
            st = ST_IO;
    closedir(d);
    return st == ST_OK && rmdir(path) != 0 ? ST_IO : st;
}

status file_read(const char *path, size_t max, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    size_t before = out->n;
    status st = ST_OK;
    while (st == ST_OK) {
        size_t want = max - (out->n - before);
        if (want > 65536)
            want = 65536;
        /* One byte past the ceiling tells a file that just fits from one that does not. */
        char *room = buf_room(out, want + 1);
        ssize_t n = read(fd, room, want + 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = ST_IO;
        else if (n == 0)
            break;
        else if ((size_t)n > max - (out->n - before))
            st = ST_LIMIT;
        else
            out->n += (size_t)n;
    }
    if (st != ST_OK)
        out->n = before;
    close_quietly(fd);
    return st;
}

status file_sync(int fd)
{
    return sync_allowed() && fdatasync(fd) == 0 ? ST_OK : status_of_errno();
}

status file_sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return ST_IO;
    status st = sync_allowed() && fsync(fd) == 0 ? ST_OK : status_of_errno();
    close_quietly(fd);
    return st;
}

static status write_new(const char *path, mode_t mode, struct span content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return status_of_errno();
    status st = file_write_all(fd, content);
    if (st == ST_OK)
        st = file_sync(fd);
    close_quietly(fd);
    return st;
}

static status sync_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return file_sync_dir(".");
    char *dir = mem_str(span_of(path, slash == path ? 1 : (size_t)(slash - path)));
    status st = file_sync_dir(dir);
    int saved = errno;
    free(dir);
    errno = saved;
    return st;
}

static status replace(const char *path, mode_t mode, struct span content)
{
    struct buf temp = {0};
    buf_printf(&temp, "%s.tmp", path);
    if (mode == 0600)
        unlink(buf_cstr(&temp)); /* one left by a kill, or put there by somebody, may be readable by others */
    status st = write_new(buf_cstr(&temp), mode, content);
    if (st == ST_OK && rename(temp.p, path) != 0)
        st = status_of_errno();
    int saved = errno;
    if (st != ST_OK)
        unlink(temp.p);
    buf_done(&temp);
    errno = saved;
    return st == ST_OK ? sync_parent(path) : st;
}

status file_replace(const char *path, struct span content)
{
    return replace(path, 0666, content);
}

status file_replace_secret(const char *path, struct span content)
{
    return replace(path, 0600, content);
}

/* ---- several at once ---- */

#define BATCH_OPEN_MAX 128 /* files at a time */

struct file_batch_item {
    char *path, *temp; /* owned */
    int fd;
};

static void batch_sync(struct file_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (b->st == ST_OK)
            b->st = file_sync(b->items[i].fd);
        close_quietly(b->items[i].fd);
    }
    for (size_t i = 0; i < b->count; i++) {
        struct file_batch_item *item = &b->items[i];
        if (b->st == ST_OK && rename(item->temp, item->path) != 0)
            b->st = status_of_errno();
        if (b->st != ST_OK)
            unlink(item->temp);
    }
    if (b->st == ST_OK && b->count)
        b->st = sync_parent(b->items[0].path);
    for (size_t i = 0; i < b->count; i++) {
        free(b->items[i].path);
        free(b->items[i].temp);
    }
    b->count = 0;
}

void file_batch_put(struct file_batch *b, const char *path, struct span content)
{
    struct buf temp = {0};
    if (b->st != ST_OK)
        return;
    if (b->count == BATCH_OPEN_MAX)
        batch_sync(b);
    buf_printf(&temp, "%s.tmp", path);
    int fd = open(buf_cstr(&temp), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    b->st = fd < 0 ? status_of_errno() : file_write_all(fd, content);
    if (fd < 0) {
        buf_done(&temp);
        return;
    }
    /* All on their way before the first is waited for: the journal of the file system then commits them together. */
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    b->items = mem_grow(b->items, &b->cap, b->count + 1, sizeof(*b->items));
    b->items[b->count++] = (struct file_batch_item){mem_str(span_str(path)), mem_str(buf_span(&temp)), fd};
    buf_done(&temp);
}

status file_batch_end(struct file_batch *b)
{
    batch_sync(b);
    status st = b->st;
    int saved = errno;
    free(b->items);
    *b = (struct file_batch){0};
    errno = saved;
    return st;
}

static long read_pid(int fd)
{
    char text[24];
    ssize_t n = pread(fd, text, sizeof(text), 0);
    uint64_t pid = 0;
    if (n <= 0 || !span_u64(span_trim(span_of(text, (size_t)n)), INT32_MAX, &pid))
        return 0;
    return (long)pid;
}

static status write_pid(int fd)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0)
        return status_of_errno();
    return write_repeated(fd, span_of(text, (size_t)n));
}

status file_lock(const char *path, int *fd, long *pid)
{
    int f = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (f < 0)
        return status_of_errno();
    status st;
    if (flock(f, LOCK_EX | LOCK_NB) == 0) {
        st = write_pid(f);
    } else if (errno == EWOULDBLOCK) {
        st = ST_BUSY;
        if (pid)
            *pid = read_pid(f);
    } else {
        st = ST_IO;
    }
    if (st == ST_OK)
        *fd = f;
    else
        close_quietly(f);
    return st;
}

/* A signal handler is given no argument, hence the globals. A slot is taken by `from`, with the rest set before. */
#define GUARDS_MAX 2048 /* maps; more are not guarded */

struct guard {
    _Atomic uintptr_t from;
    atomic_size_t n;
    atomic_bool is_lost;
};

static struct guard guards[GUARDS_MAX];
static pthread_mutex_t guards_lock = PTHREAD_MUTEX_INITIALIZER; /* of those who take and give slots */
static struct sigaction old_bus;
static size_t page_bytes;

struct mapped {
    void *p; /* NULL: an empty file */
    size_t n;
    struct guard *guard; /* NULL: none */
};

static status map_fd(int fd, struct mapped *m)
{
    struct stat sb;
    if (fstat(fd, &sb) != 0)
        return ST_IO;
    if (!S_ISREG(sb.st_mode)) {
        errno = EINVAL;
        return ST_IO;
    }
    m->n = (size_t)sb.st_size;
    if (!m->n)
        return ST_OK;
    void *p = mmap(NULL, m->n, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return ST_IO;
    m->p = p;
    return ST_OK;
}

status mapped_open(const char *path, struct mapped **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    struct mapped *m = mem_alloc(sizeof(*m));
    status st = map_fd(fd, m);
    close_quietly(fd);
    if (st == ST_OK)
        *out = m;
    else
        free(m);
    return st;
}

struct span mapped_span(const struct mapped *m)
{
    return span_of(m->p, m->n);
}

void mapped_free(struct mapped *m)
{
    if (!m)
        return;
    if (m->guard)
        atomic_store(&m->guard->from, 0);
    if (m->p)
        munmap(m->p, m->n);
    free(m);
}

/* Puts a page of zeros where none can be had. Others get the signal as if there were no guard. */
static void on_bus(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    for (size_t i = 0; i < GUARDS_MAX && info->si_code > 0; i++) {
        uintptr_t from = atomic_load(&guards[i].from);
        if (!from || at < from || at - from >= atomic_load(&guards[i].n))
            continue;
        void *page = (char *)info->si_addr - (at & (page_bytes - 1));
        atomic_store(&guards[i].is_lost, true);
        if (mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
            return;
    }
    sigaction(number, &old_bus, NULL);
    if (info->si_code <= 0) /* somebody sent it: it does not come again by itself */
        raise(number);
}

/* Also when somebody else put another one in its place. */
static bool has_handler(void)
{
    struct sigaction sa = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_RESTART}, now;
    sigemptyset(&sa.sa_mask);
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &now) != 0)
        return false;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_bus)
        return true;
    old_bus = now;
    return sigaction(SIGBUS, &sa, NULL) == 0;
}

void mapped_guard(struct mapped *m)
{
    if (!m->p || m->guard)
        return;
    pthread_mutex_lock(&guards_lock);
    size_t i = has_handler() ? 0 : GUARDS_MAX;
    while (i < GUARDS_MAX && atomic_load(&guards[i].from))
        i++;
    if (i < GUARDS_MAX) {
        atomic_store(&guards[i].n, m->n);
        atomic_store(&guards[i].is_lost, false);
        atomic_store(&guards[i].from, (uintptr_t)m->p);
        m->guard = &guards[i];
    }
    pthread_mutex_unlock(&guards_lock);
}

bool mapped_is_lost(const struct mapped *m)
{
    return m->guard && atomic_load(&m->guard->is_lost);
}
