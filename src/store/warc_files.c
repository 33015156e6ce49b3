#include "store/warc_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/pack.h"
#include "store/file.h"
#include "store/records.h"
#include "store/warc_folder.h"

#define HOST_BYTES_MAX 64
#define NAMES_TRIED 100000

struct warc_files {
    struct warc_files_opts o; /* texts in the arena */
    struct arena strings;
    int lock_fd;
    struct warc_seen *seen;
    struct warc_writer *writer;
    pthread_mutex_t lock; /* over the rest */
    int fd;               /* -1: no file is open */
    struct buf name;      /* of the open file, without WARC_OPEN */
    uint64_t size;        /* what it holds for certain */
    uint64_t marked;      /* up to here it counts, with is_marked */
    bool needs_cut;       /* something torn may stand after it */
    bool sync_lost;       /* the disk failed a sync: a later success would mean nothing */
    unsigned serial;
    struct records_writer *notes; /* owned */
    struct buf framed;
    struct buf tag;
    uint64_t appended;
};

static void make_name(struct warc_files *f, wall_ms now, struct buf *out)
{
    time_t s = (time_t)(now / 1000);
    struct tm tm;
    char date[32] = "";
    if (gmtime_r(&s, &tm))
        (void)strftime(date, sizeof(date), "%Y%m%d%H%M%S", &tm);
    buf_clear(out);
    buf_printf(out, "orb-%s-%05u-", date, f->serial);
    struct span host = span_cut(f->o.info.hostname, 0, HOST_BYTES_MAX);
    for (size_t i = 0; i < host.n; i++)
        buf_putc(out, ascii_is_alpha(host.p[i]) || ascii_is_digit(host.p[i]) || host.p[i] == '.' ? host.p[i] : '-');
    buf_puts(out, host.n ? "" : "host");
    buf_puts(out, warc_suffix(f->o.kind));
    (void)buf_cstr(out);
}

/* ---- files ---- */

static status cut_back(struct warc_files *f)
{
    if (f->needs_cut && ftruncate(f->fd, (off_t)f->size) != 0)
        return ST_IO;
    f->needs_cut = false;
    return ST_OK;
}

static status write_records(struct warc_files *f, struct span records)
{
    status st = cut_back(f);
    if (st != ST_OK)
        return st;
    f->needs_cut = true;
    st = file_write_all(f->fd, records);
    if (st != ST_OK) {
        int err = errno;
        (void)cut_back(f); /* else before the next write */
        errno = err;
        return st;
    }
    f->needs_cut = false;
    f->size += records.n;
    f->appended += records.n;
    return ST_OK;
}

static status sync_file(struct warc_files *f)
{
    if (f->sync_lost)
        return ST_IO;
    if (f->fd < 0)
        return ST_OK;
    status st = file_sync(f->fd);
    f->sync_lost = st != ST_OK;
    return st;
}

static status close_file(struct warc_files *f)
{
    struct buf path = {0}, final = {0};
    if (f->fd < 0)
        return ST_OK;
    status st = cut_back(f);
    if (st == ST_OK)
        st = sync_file(f);
    if (st == ST_OK && rename(warc_path(f->o.dir, &path, buf_span(&f->name), WARC_OPEN),
                              warc_path(f->o.dir, &final, buf_span(&f->name), "")) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = file_sync_dir(f->o.dir);
    if (st == ST_OK) {
        close(f->fd);
        f->fd = -1;
        records_close(f->notes);
        f->notes = NULL;
    }
    buf_done(&path);
    buf_done(&final);
    return st;
}

static status put_info(struct warc_files *f, wall_ms now)
{
    struct warc_info info = f->o.info;
    struct buf b = {0};
    info.filename = buf_span(&f->name);
    info.at = now;
    warc_put_info(f->writer, &info, &b);
    status st = write_records(f, buf_span(&b));
    buf_done(&b);
    return st;
}

/* A file that could not get its first record is not there. */
static void drop_file(struct warc_files *f)
{
    struct buf path = {0};
    int err = errno;
    (void)unlink(warc_path(f->o.dir, &path, buf_span(&f->name), WARC_OPEN));
    close(f->fd);
    f->fd = -1;
    f->needs_cut = false;
    errno = err;
    buf_done(&path);
}

static status begin_file(struct warc_files *f)
{
    struct buf path = {0};
    wall_ms now = f->o.wall();
    status st = ST_OK;
    for (unsigned tries = 0; f->fd < 0 && tries < NAMES_TRIED; tries++, f->serial++) {
        make_name(f, now, &f->name);
        if (access(warc_path(f->o.dir, &path, buf_span(&f->name), ""), F_OK) == 0)
            continue;
        warc_path(f->o.dir, &path, buf_span(&f->name), WARC_OPEN);
        f->fd = open(path.p, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST)
            break;
    }
    f->size = 0;
    if (f->fd < 0)
        st = errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    if (st == ST_OK && (st = put_info(f, now)) != ST_OK)
        drop_file(f);
    f->marked = f->size;
    if (st == ST_OK)
        st = file_sync_dir(f->o.dir);
    /* Only spares space: without it bodies are written again. */
    if (st == ST_OK && records_create(warc_notes_path(f->o.dir, &path, buf_span(&f->name)), WARC_NOTES_KIND, f->serial,
                                      0, &f->notes) != ST_OK)
        f->notes = NULL;
    buf_done(&path);
    return st;
}

bool warc_note_of(const struct warc_capture *c, unsigned http_status, const struct digest160 *payload,
                  const struct warc_original *original, struct warc_note *out)
{
    bool is_version = http_status / 100 == 2 || (original && original->is_not_modified);
    bool has_body = c->body.n && c->cut == WARC_WHOLE;
    *out = (struct warc_note){.payload = original ? original->payload : *payload, .url = c->url, .at = c->at};
    if (original)
        out->kind = is_version ? WARC_NOTE_SAME : WARC_NOTE_OTHER_SAME;
    else if (has_body)
        out->kind = is_version ? WARC_NOTE_BODY : WARC_NOTE_OTHER;
    else
        out->kind = WARC_NOTE_NONE;
    return original || has_body || is_version;
}

static void note_all(struct warc_files *f, uint64_t base, const struct warc_note *notes, size_t count)
{
    struct buf one = {0};
    buf_clear(&f->framed);
    for (size_t i = 0; i < count; i++) {
        const struct warc_note *n = &notes[i];
        warc_seen_note(f->seen, n->kind, &n->payload, n->url, n->at);
        buf_clear(&one);
        pack_u64(&one, base + n->end);
        pack_u64(&one, (uint64_t)n->at);
        buf_put(&one, span_of(n->payload.b, sizeof(n->payload.b)));
        pack_text(&one, n->url);
        records_frame(&f->framed, (uint8_t)n->kind, buf_span(&one));
    }
    if (f->notes && f->framed.n && records_append_framed(f->notes, buf_span(&f->framed)) != ST_OK) {
        records_close(f->notes); /* the rest of this file is not remembered after a restart */
        f->notes = NULL;
    }
    buf_done(&one);
}

status warc_files_append(struct warc_files *f, struct span records, const struct warc_note *notes, size_t count)
{
    status st = ST_OK;
    if (!records.n)
        return ST_OK;
    pthread_mutex_lock(&f->lock);
    if (f->fd >= 0 && f->size + records.n > f->o.bytes_max && !f->o.is_marked)
        st = close_file(f);
    if (st == ST_OK && f->fd < 0)
        st = begin_file(f);
    uint64_t base = f->size;
    if (st == ST_OK)
        st = write_records(f, records);
    if (st == ST_OK)
        note_all(f, base, notes, count);
    pthread_mutex_unlock(&f->lock);
    return st;
}

status warc_files_sync(struct warc_files *f)
{
    pthread_mutex_lock(&f->lock);
    /* Of a second descriptor, so that nobody waits for the disk. Whoever closes the file syncs it himself. */
    int fd = f->fd < 0 || f->sync_lost ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    status st = f->sync_lost || (f->fd >= 0 && fd < 0) ? ST_IO : ST_OK;
    pthread_mutex_unlock(&f->lock);
    if (fd < 0)
        return st;
    st = file_sync(fd);
    close(fd);
    if (st != ST_OK) {
        pthread_mutex_lock(&f->lock);
        f->sync_lost = true;
        pthread_mutex_unlock(&f->lock);
    }
    return st;
}

static status write_mark(struct warc_files *f, struct span tag)
{
    struct buf text = {0}, path = {0};
    buf_printf(&text, "%.*s %llu %.*s\n", SPAN_ARG(buf_span(&f->name)), (unsigned long long)f->size, SPAN_ARG(tag));
    status st = file_replace(warc_path(f->o.dir, &path, SPAN("mark"), ""), buf_span(&text));
    buf_done(&text);
    buf_done(&path);
    return st;
}

/* Back to the last mark. */
static void forget_unmarked(struct warc_files *f)
{
    int err = errno;
    f->needs_cut |= f->size > f->marked;
    f->size = f->marked;
    if (f->fd >= 0)
        (void)cut_back(f); /* else before the next write */
    errno = err;
}

status warc_files_append_once(struct warc_files *f, struct span records, const struct warc_note *notes, size_t count,
                              struct span tag)
{
    pthread_mutex_lock(&f->lock);
    status st = f->fd < 0 ? begin_file(f) : ST_OK;
    uint64_t base = f->size;
    if (st == ST_OK)
        st = write_records(f, records);
    if (st == ST_OK)
        st = sync_file(f);
    if (st == ST_OK)
        st = write_mark(f, tag);
    if (st != ST_OK && f->fd >= 0)
        forget_unmarked(f);
    if (st == ST_OK) {
        f->marked = f->size;
        buf_clear(&f->tag);
        buf_put(&f->tag, tag);
        note_all(f, base, notes, count);
    }
    /* Between two marks only, so that a file is never closed with something in it that does not count. One that cannot
     * be closed now is closed later. */
    if (st == ST_OK && f->size >= f->o.bytes_max && close_file(f) != ST_OK)
        errno = 0;
    pthread_mutex_unlock(&f->lock);
    return st;
}

struct span warc_files_tag(const struct warc_files *f)
{
    return buf_span(&f->tag);
}

struct warc_seen *warc_files_seen(struct warc_files *f)
{
    return f->seen;
}

uint64_t warc_files_bytes(struct warc_files *f)
{
    pthread_mutex_lock(&f->lock);
    uint64_t n = f->appended;
    pthread_mutex_unlock(&f->lock);
    return n;
}

/* ---- life ---- */

static void copy_texts(struct warc_files *f)
{
    struct warc_info *i = &f->o.info;
    struct span *const texts[] = {&i->software, &i->hostname, &i->user_agent, &i->operator_contact, &i->robots};
    for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
        *texts[k] = arena_copy(&f->strings, *texts[k]);
    f->o.dir = arena_copy(&f->strings, span_of(f->o.dir, strlen(f->o.dir) + 1)).p;
}

static void say_why(struct buf *why, const char *doing, status st, int err)
{
    buf_printf(why, "%s: %s", doing, st == ST_IO && err ? strerror(err) : status_name(st));
}

status warc_files_open(const struct warc_files_opts *o, struct warc_files **out, struct buf *why)
{
    struct warc_files *f = mem_alloc(sizeof(*f));
    struct buf path = {0};
    long pid = 0;
    f->o = *o;
    f->fd = f->lock_fd = -1;
    if (!f->o.bytes_max)
        f->o.bytes_max = WARC_FILE_BYTES_DEFAULT;
    arena_init(&f->strings);
    copy_texts(f);
    pthread_mutex_init(&f->lock, NULL);
    f->seen = warc_seen_new(&o->key, 0);
    f->writer = warc_writer_new(o->kind, o->draw, o->draw_self);
    errno = 0;
    status st = file_mkdir(warc_path(f->o.dir, &path, SPAN("seen"), ""));
    if (st == ST_OK)
        st = file_lock(warc_path(f->o.dir, &path, SPAN("lock"), ""), &f->lock_fd, &pid);
    if (st == ST_BUSY)
        buf_printf(why, "process %ld writes to it", pid);
    else if (st != ST_OK)
        say_why(why, "cannot be written to", st, errno);
    if (st == ST_OK) {
        st = warc_folder_settle(f->o.dir, f->o.is_marked, &f->tag);
        if (st == ST_OK)
            st = warc_folder_load(f->o.dir, f->seen);
        if (st != ST_OK)
            say_why(why, "what an earlier run left cannot be read", st, errno);
    }
    buf_done(&path);
    if (st == ST_OK)
        *out = f;
    else
        warc_files_close(f);
    return st;
}

void warc_files_close(struct warc_files *f)
{
    if (!f)
        return;
    /* A file with something in it that is not marked keeps its name: the next open cuts it. */
    bool is_whole = !f->o.is_marked || f->size == f->marked;
    if ((!is_whole || close_file(f) != ST_OK) && f->fd >= 0)
        close(f->fd);
    records_close(f->notes);
    warc_writer_free(f->writer);
    warc_seen_free(f->seen);
    if (f->lock_fd >= 0)
        close(f->lock_fd);
    buf_done(&f->name);
    buf_done(&f->framed);
    buf_done(&f->tag);
    arena_done(&f->strings);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
