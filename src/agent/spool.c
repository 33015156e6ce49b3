#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"
#include "wire/package.h"

struct entry {
    uint64_t sequence, bytes;
    bool is_sent;
};

struct spool {
    struct spool_opts o;
    pthread_mutex_t lock;
    char *dir, *sent_dir;
    struct entry *entries; /* by sequence */
    size_t count, cap;
    bool is_settled;
    uint64_t newest;       /* published */
    uint64_t acknowledged; /* all up to it are safe elsewhere */
    uint64_t floor;        /* numbers up to it are used up */
};

static void step(const struct spool *s, const char *doing)
{
    if (s->o.step)
        s->o.step(s->o.step_arg, doing);
}

static const char *path_of(const struct spool *s, uint64_t sequence, bool is_sent, struct buf *path)
{
    buf_clear(path);
    buf_printf(path, "%s/%020llu", is_sent ? s->sent_dir : s->dir, (unsigned long long)sequence);
    return buf_cstr(path);
}

/* Index of the first entry that is not below `sequence`. */
static size_t find(const struct spool *s, uint64_t sequence)
{
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (s->entries[mid].sequence < sequence)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static struct entry *get(struct spool *s, uint64_t sequence)
{
    size_t at = find(s, sequence);
    return at < s->count && s->entries[at].sequence == sequence ? &s->entries[at] : NULL;
}

static void insert(struct spool *s, uint64_t sequence, uint64_t bytes, bool is_sent)
{
    size_t at = find(s, sequence);
    if (at == s->count || s->entries[at].sequence != sequence) {
        s->entries = mem_grow(s->entries, &s->cap, s->count + 1, sizeof(*s->entries));
        memmove(&s->entries[at + 1], &s->entries[at], (s->count - at) * sizeof(*s->entries));
        s->count++;
    }
    s->entries[at] = (struct entry){sequence, bytes, is_sent};
}

static void drop(struct spool *s, size_t at)
{
    memmove(&s->entries[at], &s->entries[at + 1], (s->count - at - 1) * sizeof(*s->entries));
    s->count--;
}

/* ---- opening ---- */

static status scan(struct spool *s, const char *dir, bool is_sent)
{
    DIR *d = opendir(dir);
    struct buf path = {0};
    if (!d)
        return ST_IO;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat sb;
        uint64_t sequence;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", dir, e->d_name);
        if (stat(buf_cstr(&path), &sb) != 0 || !S_ISREG(sb.st_mode))
            continue;
        if (span_u64(span_str(e->d_name), UINT64_MAX - 1, &sequence) && sequence) {
            /* A kill between two renames cannot leave both; a copied folder can. The unsent one is the safer. */
            if (!is_sent || !get(s, sequence))
                insert(s, sequence, (uint64_t)sb.st_size, is_sent);
        } else if (span_ends(span_str(e->d_name), SPAN(".tmp"))) {
            unlink(path.p);
        }
    }
    closedir(d);
    buf_done(&path);
    return ST_OK;
}

status spool_new(const struct spool_opts *o, struct spool **out)
{
    struct spool *s = mem_alloc(sizeof(*s));
    struct buf path = {0};
    s->o = *o;
    s->o.data = NULL; /* not ours to keep */
    if (!s->o.sent_bytes)
        s->o.sent_bytes = SPOOL_SENT_BYTES;
    pthread_mutex_init(&s->lock, NULL);
    buf_printf(&path, "%s/spool", o->data);
    s->dir = mem_str(buf_span(&path));
    buf_puts(&path, "/sent");
    s->sent_dir = mem_str(buf_span(&path));
    buf_done(&path);
    status st = file_mkdir(s->sent_dir);
    if (st == ST_OK)
        st = scan(s, s->dir, false);
    if (st == ST_OK)
        st = scan(s, s->sent_dir, true);
    if (st != ST_OK) {
        spool_free(s);
        return st;
    }
    *out = s;
    return ST_OK;
}

void spool_free(struct spool *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s->entries);
    free(s->dir);
    free(s->sent_dir);
    free(s);
}

status spool_settle(struct spool *s, uint64_t newest)
{
    struct buf path = {0};
    status st = ST_OK;
    pthread_mutex_lock(&s->lock);
    while (s->count && s->entries[s->count - 1].sequence > newest && st == ST_OK) {
        struct entry *e = &s->entries[s->count - 1];
        step(s, "remove a package that was not committed");
        if (unlink(path_of(s, e->sequence, e->is_sent, &path)) != 0 && errno != ENOENT)
            st = ST_IO;
        else
            drop(s, s->count - 1);
    }
    s->is_settled = st == ST_OK;
    s->newest = newest;
    s->acknowledged = newest;
    for (size_t i = 0; i < s->count; i++)
        if (!s->entries[i].is_sent) {
            s->acknowledged = s->entries[i].sequence - 1;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    buf_done(&path);
    return st;
}

bool spool_is_settled(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    bool is = s->is_settled;
    pthread_mutex_unlock(&s->lock);
    return is;
}

uint64_t spool_newest(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->newest;
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t spool_next_sequence(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = (s->newest > s->floor ? s->newest : s->floor) + 1;
    pthread_mutex_unlock(&s->lock);
    return n;
}

bool spool_skip_to(struct spool *s, uint64_t sequence)
{
    pthread_mutex_lock(&s->lock);
    bool is_news = sequence > s->floor;
    if (is_news)
        s->floor = sequence;
    pthread_mutex_unlock(&s->lock);
    return is_news;
}

/* ---- making ---- */

static status write_new(struct spool *s, const char *tmp, struct span package)
{
    step(s, "make a package's file");
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    step(s, "write a package");
    status st = file_write_all(fd, package);
    step(s, "sync a package");
    if (st == ST_OK)
        st = file_sync(fd);
    int saved = errno;
    close(fd);
    errno = saved;
    return st;
}

status spool_put(struct spool *s, uint64_t sequence, struct span package)
{
    struct buf path = {0}, tmp = {0};
    buf_put(&tmp, span_str(path_of(s, sequence, false, &path)));
    buf_puts(&tmp, ".tmp");
    status st = write_new(s, buf_cstr(&tmp), package);
    step(s, "rename a package");
    if (st == ST_OK && rename(tmp.p, path.p) != 0)
        st = ST_IO;
    step(s, "sync the spool");
    if (st == ST_OK)
        st = file_sync_dir(s->dir);
    if (st == ST_OK) {
        pthread_mutex_lock(&s->lock);
        insert(s, sequence, package.n, false);
        pthread_mutex_unlock(&s->lock);
    } else {
        int saved = errno;
        unlink(tmp.p);
        errno = saved;
    }
    buf_done(&path);
    buf_done(&tmp);
    return st;
}

void spool_publish(struct spool *s, uint64_t sequence)
{
    pthread_mutex_lock(&s->lock);
    /* After a skip all below was never made: nothing of it waits. */
    if (s->floor && s->acknowledged < s->floor && s->newest < s->floor && sequence > s->floor)
        s->acknowledged = s->floor;
    if (sequence > s->newest)
        s->newest = sequence;
    pthread_mutex_unlock(&s->lock);
}

void spool_unput(struct spool *s, uint64_t sequence)
{
    struct buf path = {0};
    pthread_mutex_lock(&s->lock);
    size_t at = find(s, sequence);
    if (sequence > s->newest && at < s->count && s->entries[at].sequence == sequence) {
        unlink(path_of(s, sequence, false, &path));
        drop(s, at);
    }
    pthread_mutex_unlock(&s->lock);
    buf_done(&path);
}

/* ---- carrying ---- */

bool spool_first(struct spool *s, uint64_t *sequence)
{
    bool found = false;
    pthread_mutex_lock(&s->lock);
    for (size_t i = find(s, s->acknowledged + 1); i < s->count && s->entries[i].sequence <= s->newest; i++)
        if (!s->entries[i].is_sent) {
            *sequence = s->entries[i].sequence;
            found = true;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    return found;
}

status spool_read(struct spool *s, uint64_t sequence, struct buf *out)
{
    struct buf path = {0};
    pthread_mutex_lock(&s->lock);
    struct entry *e = get(s, sequence);
    bool is_sent = e && e->is_sent;
    pthread_mutex_unlock(&s->lock);
    status st =
        e ? file_read(path_of(s, sequence, is_sent, &path), PACKAGE_BYTES_MAX + PACKAGE_HEAD_BYTES, out) : ST_NOT_FOUND;
    buf_done(&path);
    return st;
}

/* Lock held: renames between the two folders. */
static status move(struct spool *s, struct entry *e, bool to_sent)
{
    struct buf from = {0}, to = {0};
    status st = ST_OK;
    step(s, to_sent ? "put a package aside" : "bring a package back");
    if (rename(path_of(s, e->sequence, e->is_sent, &from), path_of(s, e->sequence, to_sent, &to)) != 0)
        st = ST_IO;
    else
        e->is_sent = to_sent;
    buf_done(&from);
    buf_done(&to);
    return st;
}

/* Lock held: the oldest go until what is kept fits. Returns the bytes that went. */
static uint64_t prune(struct spool *s, uint64_t keep)
{
    struct buf path = {0};
    uint64_t bytes = 0, gone = 0;
    size_t from = 0;
    for (size_t i = s->count; i-- > 0;) {
        if (!s->entries[i].is_sent)
            continue;
        bytes += s->entries[i].bytes;
        if (bytes > keep) {
            from = i + 1;
            break;
        }
    }
    while (from-- > 0) {
        if (!s->entries[from].is_sent)
            continue;
        step(s, "remove an old package");
        gone += s->entries[from].bytes;
        unlink(path_of(s, s->entries[from].sequence, true, &path));
        drop(s, from);
    }
    buf_done(&path);
    return gone;
}

uint64_t spool_drop_sent(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t gone = prune(s, 0);
    pthread_mutex_unlock(&s->lock);
    return gone;
}

status spool_acknowledge(struct spool *s, uint64_t sequence)
{
    status st = ST_OK;
    pthread_mutex_lock(&s->lock);
    if (sequence > s->newest)
        sequence = s->newest;
    for (size_t i = 0; i < s->count && s->entries[i].sequence <= sequence && st == ST_OK; i++)
        if (!s->entries[i].is_sent)
            st = move(s, &s->entries[i], true);
    if (st == ST_OK && sequence > s->acknowledged)
        s->acknowledged = sequence;
    prune(s, s->o.sent_bytes);
    pthread_mutex_unlock(&s->lock);
    return st;
}

status spool_rewind(struct spool *s, uint64_t have)
{
    status st = ST_OK;
    pthread_mutex_lock(&s->lock);
    for (size_t i = find(s, have + 1); i < s->count && st == ST_OK; i++)
        if (s->entries[i].is_sent)
            st = move(s, &s->entries[i], false);
    if (st == ST_OK && have < s->acknowledged)
        s->acknowledged = have;
    pthread_mutex_unlock(&s->lock);
    return st;
}

uint64_t spool_acknowledged(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->acknowledged;
    pthread_mutex_unlock(&s->lock);
    return n;
}

void spool_get_counts(struct spool *s, struct spool_counts *out)
{
    *out = (struct spool_counts){0};
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        *(e->is_sent ? &out->sent_packages : &out->packages) += 1;
        *(e->is_sent ? &out->sent_bytes : &out->bytes) += e->bytes;
    }
    pthread_mutex_unlock(&s->lock);
}
