#include "lab/serve/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

#define TEXT_MAX 4096 /* of a host or a target */
#define METHOD_MAX 32
#define WRITE_BYTES 65536              /* so much is worth a write */
#define PENDING_MAX ((size_t)64 << 20) /* lines that wait for a disk */
#define TAIL_STEP 4096

struct ledger {
    pthread_mutex_t lock;
    int fd; /* -1: none */
    struct buf pending;
    uint64_t count, lost;
};

/* Where the last whole line ends. */
static status find_end(int fd, off_t size, off_t *end)
{
    char block[TAIL_STEP];
    while (size > 0) {
        size_t n = size < TAIL_STEP ? (size_t)size : TAIL_STEP;
        if (pread(fd, block, n, size - (off_t)n) != (ssize_t)n)
            return ST_IO;
        for (size_t i = n; i > 0; i--) {
            if (block[i - 1] == '\n') {
                *end = size - (off_t)n + (off_t)i;
                return ST_OK;
            }
        }
        size -= (off_t)n;
    }
    *end = 0;
    return ST_OK;
}

static status open_file(const char *path, int *out)
{
    struct stat s;
    off_t end;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return ST_IO;
    /* What is no file (a pipe, /dev/null) has nothing to go on with. */
    if (fstat(fd, &s) != 0 ||
        (S_ISREG(s.st_mode) && (find_end(fd, s.st_size, &end) != ST_OK || ftruncate(fd, end) != 0))) {
        close(fd);
        return ST_IO;
    }
    *out = fd;
    return ST_OK;
}

status ledger_new(const char *path, struct ledger **out)
{
    int fd = -1;
    status st = path ? open_file(path, &fd) : ST_OK;
    if (st != ST_OK)
        return st;
    struct ledger *l = mem_alloc(sizeof(*l));
    pthread_mutex_init(&l->lock, NULL);
    l->fd = fd;
    *out = l;
    return ST_OK;
}

/* Whatever was taken is gone from `pending`, in the middle of a line too: the rest follows, or the file ends there. */
static void write_pending(struct ledger *l)
{
    size_t done = 0;
    while (l->fd >= 0 && done < l->pending.n) {
        ssize_t n = write(l->fd, l->pending.p + done, l->pending.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    if (done > 0) {
        memmove(l->pending.p, l->pending.p + done, l->pending.n - done);
        l->pending.n -= done;
    }
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    write_pending(l);
    if (l->fd >= 0)
        close(l->fd);
    buf_done(&l->pending);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

void ledger_add(struct ledger *l, const struct ledger_entry *e)
{
    char from[ADDR_TEXT_MAX], to[ADDR_TEXT_MAX];
    struct timespec ts;
    pthread_mutex_lock(&l->lock);
    l->count++;
    if (l->fd >= 0 && l->pending.n < PENDING_MAX) {
        clock_gettime(CLOCK_REALTIME, &ts);
        buf_printf(&l->pending, "%lld.%06ld\t%s\t%s\t", (long long)ts.tv_sec, ts.tv_nsec / 1000,
                   addr_format(e->from, from), addr_format(e->to, to));
        log_escape(&l->pending, e->host, TEXT_MAX);
        buf_putc(&l->pending, '\t');
        log_escape(&l->pending, span_str(e->method), METHOD_MAX);
        buf_putc(&l->pending, '\t');
        log_escape(&l->pending, e->target, TEXT_MAX);
        buf_printf(&l->pending, "\t%d\t%zu\n", e->status, e->bytes);
        if (l->pending.n >= WRITE_BYTES)
            write_pending(l);
    } else if (l->fd >= 0) {
        l->lost++;
    }
    pthread_mutex_unlock(&l->lock);
}

void ledger_flush(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    write_pending(l);
    pthread_mutex_unlock(&l->lock);
}

static uint64_t locked(struct ledger *l, const uint64_t *what)
{
    pthread_mutex_lock(&l->lock);
    uint64_t n = *what;
    pthread_mutex_unlock(&l->lock);
    return n;
}

uint64_t ledger_count(struct ledger *l)
{
    return locked(l, &l->count);
}

uint64_t ledger_lost(struct ledger *l)
{
    return locked(l, &l->lost);
}
