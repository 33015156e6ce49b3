#include "lab/registry.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define FILE_BYTES_MAX (3 * REGISTRY_TEXT_MAX)
#define WRITING_MAX_S 60 /* a file that cannot be read may be one that is being written, not longer */
#define START_FIELD 22   /* of /proc/PID/stat */
#define FOLDERS 2

struct registry {
    int folder, proc; /* descriptors: paths may mean something else inside of a box */
    uint64_t pid_ns;
    char name[16]; /* of our file */
    bool is_added;
};

/* ---- processes ---- */

static size_t read_some(int at, const char *path, char *to, size_t room)
{
    int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, to, room - 1);
    close(fd);
    to[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* 0: no such process, or a dead one that nobody has asked for. */
static uint64_t start_of(int proc, pid_t pid)
{
    char path[32], text[1024], *at;
    snprintf(path, sizeof(path), "%d/stat", (int)pid);
    if (!read_some(proc, path, text, sizeof(text)) || !(at = strrchr(text, ')')) || at[1] != ' ' || at[2] == 'Z')
        return 0;
    for (int field = 2; field < START_FIELD && at; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static int open_proc(void)
{
    return open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Process numbers mean something within one of these only. */
static uint64_t pid_namespace(void)
{
    struct stat s;
    return stat("/proc/self/ns/pid", &s) == 0 ? (uint64_t)s.st_ino : 0;
}

bool registry_is_alive(pid_t pid, uint64_t start)
{
    int proc = open_proc();
    bool is_alive = start && start_of(proc, pid) == start;
    if (proc >= 0)
        close(proc);
    return is_alive;
}

/* ---- folders ---- */

static bool folder_path(unsigned i, char *path, size_t n)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");
    int wrote = -1;
    if (i > 0)
        wrote = snprintf(path, n, "/tmp/orb-lab-%u", (unsigned)geteuid());
    else if (dir && dir[0] == '/')
        wrote = snprintf(path, n, "%s/orb-lab", dir);
    return wrote > 0 && (size_t)wrote < n;
}

/* The folder, if it is ours alone; -1. */
static int open_folder(unsigned i, bool may_make)
{
    char path[512];
    struct stat s;
    if (!folder_path(i, path, sizeof(path)) || (may_make && mkdir(path, 0700) != 0 && errno != EEXIST))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &s) == 0 && s.st_uid == geteuid() && (s.st_mode & 077) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- one file ---- */

static void write_entry(struct registry *r, pid_t first, const char *folder, const char *title)
{
    struct buf text = {0};
    buf_printf(&text, "namespace %llu\nfirst %d %llu\nsince %lld\nfolder %s\ntitle ", (unsigned long long)r->pid_ns,
               (int)first, (unsigned long long)start_of(r->proc, first), (long long)time(NULL), folder);
    for (const char *c = title; *c && text.n < FILE_BYTES_MAX - 2; c++)
        buf_putc(&text, (unsigned char)*c < ' ' ? '?' : *c);
    buf_putc(&text, '\n');
    (void)unlinkat(r->folder, r->name, 0); /* of another process that had our number */
    int fd = openat(r->folder, r->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        r->is_added = write(fd, text.p, text.n) == (ssize_t)text.n;
        close(fd);
        if (!r->is_added)
            (void)unlinkat(r->folder, r->name, 0);
    }
    buf_done(&text);
}

static bool number(struct span *s, uint64_t *out)
{
    struct span word;
    return span_split(s, ' ', &word) && span_u64(word, UINT64_MAX, out);
}

static void keep(char *to, size_t room, struct span s)
{
    snprintf(to, room, "%.*s", SPAN_ARG(s));
}

/* False: no whole entry. */
static bool read_entry(struct span text, struct registry_entry *e, uint64_t *pid_ns)
{
    struct span line, key;
    uint64_t first = 0, since = 0;
    *pid_ns = 0;
    while (text.n && span_split(&text, '\n', &line)) {
        if (!span_split(&line, ' ', &key))
            continue;
        if (span_is(key, "namespace"))
            (void)number(&line, pid_ns);
        else if (span_is(key, "first"))
            (void)(number(&line, &first) && number(&line, &e->start));
        else if (span_is(key, "since"))
            (void)number(&line, &since);
        else if (span_is(key, "folder"))
            keep(e->folder, sizeof(e->folder), line);
        else if (span_is(key, "title"))
            keep(e->title, sizeof(e->title), line);
    }
    e->first = (pid_t)first;
    e->since = (int64_t)since;
    return *pid_ns && first > 1 && first < INT32_MAX && e->start && e->folder[0] == '/';
}

typedef enum { ENTRY_RUNS, ENTRY_OTHER, ENTRY_STALE } entry_kind;

/* Of a process namespace that is not ours nothing can be said. */
static entry_kind look_at(int folder, const char *name, int proc, struct registry_entry *e)
{
    char text[FILE_BYTES_MAX];
    struct stat s;
    uint64_t pid_ns;
    size_t n = read_some(folder, name, text, sizeof(text));
    if (!read_entry(span_of(text, n), e, &pid_ns)) {
        bool is_old = fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_mtime + WRITING_MAX_S < time(NULL);
        return is_old ? ENTRY_STALE : ENTRY_OTHER;
    }
    if (pid_ns != pid_namespace())
        return ENTRY_OTHER;
    return start_of(proc, e->first) == e->start ? ENTRY_RUNS : ENTRY_STALE;
}

/* ---- all of them ---- */

static void list_folder(int folder, int proc, struct registry_entry *out, size_t *n)
{
    DIR *d = fdopendir(folder);
    if (!d) {
        close(folder);
        return;
    }
    for (struct dirent *f; (f = readdir(d)) && *n < REGISTRY_MAX;) {
        uint64_t pid;
        struct registry_entry *e = &out[*n];
        memset(e, 0, sizeof(*e));
        if (!span_u64(span_str(f->d_name), INT32_MAX, &pid))
            continue;
        e->pid = (pid_t)pid;
        entry_kind kind = look_at(dirfd(d), f->d_name, proc, e);
        *n += kind == ENTRY_RUNS;
        if (kind == ENTRY_STALE)
            (void)unlinkat(dirfd(d), f->d_name, 0);
    }
    closedir(d);
}

static int newest_first(const void *a, const void *b)
{
    const struct registry_entry *x = a, *y = b;
    return x->start < y->start ? 1 : x->start > y->start ? -1 : 0;
}

size_t registry_list(struct registry_entry **out)
{
    size_t n = 0;
    int proc = open_proc();
    *out = mem_alloc(REGISTRY_MAX * sizeof(**out));
    for (unsigned i = 0; proc >= 0 && i < FOLDERS; i++) {
        int folder = open_folder(i, false);
        if (folder >= 0)
            list_folder(folder, proc, *out, &n);
    }
    if (proc >= 0)
        close(proc);
    qsort(*out, n, sizeof(**out), newest_first);
    return n;
}

/* ---- ours ---- */

struct registry *registry_open(void)
{
    struct registry_entry *others;
    struct registry *r = mem_alloc(sizeof(*r));
    r->folder = -1;
    for (unsigned i = 0; i < FOLDERS && r->folder < 0; i++)
        r->folder = open_folder(i, true);
    r->proc = open_proc();
    r->pid_ns = pid_namespace();
    snprintf(r->name, sizeof(r->name), "%d", (int)getpid());
    if (r->folder < 0 || r->proc < 0) {
        registry_close(r);
        return NULL;
    }
    (void)registry_list(&others); /* takes stale ones away */
    free(others);
    return r;
}

void registry_add(struct registry *r, pid_t first, const char *folder, const char *title)
{
    if (r)
        write_entry(r, first, folder, title);
}

void registry_close(struct registry *r)
{
    if (!r)
        return;
    if (r->is_added)
        (void)unlinkat(r->folder, r->name, 0);
    if (r->folder >= 0)
        close(r->folder);
    if (r->proc >= 0)
        close(r->proc);
    free(r);
}
