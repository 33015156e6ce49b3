#include "store/warc_purge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/warc.h"
#include "store/file.h"
#include "store/records.h"
#include "store/warc_folder.h"
#include "store/warc_heirs.h"
#include "store/warc_needs.h"

#define HEAD_MAX (64u << 10)   /* of a record, looked at for its address */
#define RECORD_MAX (64u << 20) /* of one that is changed: a body is 16 MiB at most */
#define NEW ".new"

struct warc_name {
    char *name; /* owned */
    member_kind kind;
    uint64_t bytes;
    wall_ms at; /* last written */
};

struct folder {
    const char *dir;
    struct warc_name *files; /* owned; by name, which is by age */
    size_t count, cap;
    uint64_t others; /* archives that somebody else has put there */
    int lock;
};

/* ---- the files ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct warc_name *)a)->name, ((const struct warc_name *)b)->name);
}

static bool is_archive(struct span name)
{
    static const char *const ends[] = {".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz"};
    bool is = false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        is |= span_ends(name, span_str(ends[i]));
    return is;
}

/* A file that a run was writing anew when it was killed: the old one is there. */
static bool is_left_over(struct span name)
{
    member_kind kind;
    bool is_open;
    return span_ends(name, SPAN(NEW)) &&
           warc_parse_name(span_cut(name, 0, name.n - (sizeof(NEW) - 1)), &kind, &is_open);
}

static void note_file(struct folder *f, const char *name)
{
    struct buf path = {0};
    struct stat sb;
    member_kind kind;
    bool is_open;
    bool is_ours = warc_parse_name(span_str(name), &kind, &is_open);
    f->others += !is_ours && is_archive(span_str(name));
    if (is_left_over(span_str(name)))
        (void)unlink(warc_path(f->dir, &path, span_str(name), ""));
    if (is_ours && !is_open && stat(warc_path(f->dir, &path, span_str(name), ""), &sb) == 0) {
        f->files = mem_grow(f->files, &f->cap, f->count + 1, sizeof(*f->files));
        f->files[f->count++] =
            (struct warc_name){mem_str(span_str(name)), kind, (uint64_t)sb.st_size, (wall_ms)sb.st_mtim.tv_sec * 1000};
    }
    buf_done(&path);
}

/* Takes the folder's lock, closes what a killed run left open, and lists what is closed. */
static status folder_open(struct folder *f, const char *dir)
{
    struct buf path = {0}, tag = {0};
    *f = (struct folder){.dir = dir, .lock = -1};
    status st = access(dir, F_OK) == 0 ? ST_OK : ST_NOT_FOUND;
    if (st == ST_OK)
        st = file_lock(warc_path(dir, &path, SPAN("lock"), ""), &f->lock, NULL);
    bool is_marked = access(warc_path(dir, &path, SPAN("mark"), ""), F_OK) == 0;
    if (st == ST_OK)
        st = warc_folder_settle(dir, is_marked, &tag);
    DIR *d = st == ST_OK ? opendir(dir) : NULL;
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; d && (e = readdir(d));)
        note_file(f, e->d_name);
    if (d)
        closedir(d);
    if (f->count)
        qsort(f->files, f->count, sizeof(*f->files), by_name);
    buf_done(&path);
    buf_done(&tag);
    return st;
}

static void folder_close(struct folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->files[i].name);
    free(f->files);
    if (f->lock >= 0)
        close(f->lock);
}

static void note_name(struct warc_purged *out, const struct warc_name *n, uint64_t bytes)
{
    out->files++;
    out->bytes += bytes;
    buf_puts(&out->names, n->name);
    buf_putc(&out->names, '\n');
}

/* ---- records ---- */

struct purge {
    const struct folder *f;
    warc_purge_fn *fn;
    void *arg;
    struct warc_heirs *heirs;
    struct warc_needs *needs; /* of old files; NULL: `fn` says what goes */
    struct buf head, whole, other, fresh, packed;
};

static uint64_t key_of(struct span head)
{
    return warc_need_key(warc_field(head, SPAN("WARC-Target-URI")), warc_field(head, SPAN("WARC-Payload-Digest")));
}

/* Of an old file what is needed stays, and what the file says of itself. */
static bool is_old(const struct purge *p, size_t file, struct span head)
{
    struct span type = warc_field(head, SPAN("WARC-Type"));
    return !span_is(type, "warcinfo") && !(span_is(type, "response") && warc_needs_body(p->needs, file, key_of(head)));
}

static bool must_go(struct purge *p, size_t file, struct span head)
{
    if (p->needs)
        return is_old(p, file, head);
    struct span url = warc_field(head, SPAN("WARC-Target-URI"));
    return url.n && p->fn(p->arg, url);
}

/* What goes, and who has to be written anew because of it. */
static status survey(struct purge *p, size_t file, struct span all, struct warc_purged *out, bool *is_dirty)
{
    struct warc_purged gone = {0};
    status st = ST_OK;
    for (size_t at = 0, bytes = 0; st == ST_OK && at < all.n; at += bytes) {
        buf_clear(&p->head);
        st = member_look(p->f->files[file].kind, span_from(all, at), HEAD_MAX, &p->head, &bytes);
        if (st != ST_OK)
            break;
        if (must_go(p, file, buf_span(&p->head))) {
            warc_heirs_note_gone(p->heirs, buf_span(&p->head), file, at);
            gone.records++;
            gone.bytes += bytes;
        } else {
            *is_dirty |= warc_heirs_note_kept(p->heirs, buf_span(&p->head));
        }
    }
    *is_dirty |= gone.records > 0;
    if (st == ST_OK && gone.records) {
        note_name(out, &p->f->files[file], gone.bytes);
        out->records += gone.records;
    }
    return st;
}

/* The record at `at` of a file, whole and plain; of another file than the one that is being written anew, too. */
static status read_whole(struct purge *p, size_t file, size_t at, struct buf *out)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    size_t bytes;
    const struct warc_name *n = &p->f->files[file];
    buf_clear(out);
    status st = mapped_open(warc_path(p->f->dir, &path, span_str(n->name), ""), &m);
    if (st == ST_OK)
        st = member_look(n->kind, span_from(mapped_span(m), at), RECORD_MAX, out, &bytes);
    mapped_free(m);
    buf_done(&path);
    return st;
}

/* A record that stays: as it is, or changed where it needs one that goes. */
static status keep_record(struct purge *p, size_t file, struct span member, struct member_maker *maker, int to)
{
    size_t from, at, bytes;
    const member_kind kind = p->f->files[file].kind;
    buf_clear(&p->fresh);
    buf_clear(&p->whole);
    bool inherits = warc_heirs_inherits(p->heirs, buf_span(&p->head), &from, &at);
    status st = ST_OK;
    if (inherits || warc_heirs_point(p->heirs, buf_span(&p->head), &p->fresh))
        st = member_look(kind, member, RECORD_MAX, &p->whole, &bytes);
    buf_clear(&p->fresh);
    if (st == ST_OK && inherits) {
        st = read_whole(p, from, at, &p->other);
        if (st == ST_OK)
            st = warc_heirs_promote(buf_span(&p->whole), buf_span(&p->other), &p->fresh);
        if (st == ST_INVALID) /* stays a revisit: its body is not where it says */
            st = ST_OK;
    } else if (st == ST_OK && p->whole.n) {
        (void)warc_heirs_point(p->heirs, buf_span(&p->whole), &p->fresh);
    }
    if (st != ST_OK || !p->fresh.n)
        return st == ST_OK ? file_write_all(to, member) : st;
    const struct span fresh = buf_span(&p->fresh);
    buf_clear(&p->packed);
    member_make(maker, &fresh, 1, &p->packed);
    return file_write_all(to, buf_span(&p->packed));
}

static status copy_kept(struct purge *p, size_t file, struct span all, int to)
{
    const member_kind kind = p->f->files[file].kind;
    struct member_maker *maker = member_maker_new(kind);
    status st = ST_OK;
    for (size_t at = 0, bytes = 0; st == ST_OK && at < all.n; at += bytes) {
        buf_clear(&p->head);
        st = member_look(kind, span_from(all, at), HEAD_MAX, &p->head, &bytes);
        if (st == ST_OK && !must_go(p, file, buf_span(&p->head)))
            st = keep_record(p, file, span_cut(all, at, bytes), maker, to);
    }
    member_maker_free(maker);
    return st;
}

/* ---- what is known of bodies ---- */

static status look_for_gone(void *arg, uint8_t type, struct span payload)
{
    struct purge *p = arg;
    struct unpack u = unpack_of(payload);
    (void)unpack_bytes(&u, WARC_NOTE_URL_AT);
    struct span url = unpack_text(&u, HEAD_MAX);
    return !u.bad && p->fn(p->arg, url) ? ST_END : ST_OK;
}

/* Files that were moved away have theirs still, with addresses. They only spare space. */
static void purge_notes(struct purge *p)
{
    struct buf path = {0};
    DIR *d = opendir(warc_path(p->f->dir, &path, SPAN("seen"), ""));
    for (struct dirent *e; d && (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-")) &&
            records_read(warc_notes_path(p->f->dir, &path, span_str(e->d_name)), WARC_NOTES_KIND, look_for_gone, p,
                         NULL) == ST_END)
            (void)unlink(path.p);
    if (d)
        closedir(d);
    buf_done(&path);
}

/* The new file is as old as the one it replaces: warc_expire goes by that. One that cannot be told so is kept longer.
 */
static void keep_time(int fd, const char *of)
{
    struct stat sb;
    if (stat(of, &sb) == 0)
        (void)!futimens(fd, (struct timespec[]){sb.st_atim, sb.st_mtim});
}

static status write_anew(struct purge *p, size_t file, struct span all)
{
    const char *dir = p->f->dir;
    const struct warc_name *n = &p->f->files[file];
    struct buf path = {0}, fresh = {0};
    warc_path(dir, &path, span_str(n->name), "");
    warc_path(dir, &fresh, span_str(n->name), NEW);
    int to = open(fresh.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    status st = to >= 0 ? copy_kept(p, file, all, to) : ST_IO;
    if (st == ST_OK) {
        keep_time(to, path.p);
        st = file_sync(to);
    }
    int saved = errno;
    if (to >= 0)
        close(to);
    errno = saved;
    if (st == ST_OK && rename(fresh.p, path.p) != 0)
        st = ST_IO;
    saved = errno;
    if (st != ST_OK)
        (void)unlink(fresh.p);
    else
        (void)unlink(warc_notes_path(dir, &path, span_str(n->name)));
    buf_done(&path);
    buf_done(&fresh);
    errno = saved;
    return st == ST_OK ? file_sync_dir(dir) : st;
}

/* Looks at the file, or, without `out`, writes it anew. */
static status purge_file(struct purge *p, size_t file, struct warc_purged *out, bool *is_dirty)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    const struct warc_name *n = &p->f->files[file];
    if (!n->bytes)
        return ST_OK;
    status st = mapped_open(warc_path(p->f->dir, &path, span_str(n->name), ""), &m);
    if (st == ST_OK)
        st = out ? survey(p, file, mapped_span(m), out, is_dirty) : write_anew(p, file, mapped_span(m));
    mapped_free(m);
    buf_done(&path);
    return st;
}

static status purge_all(struct purge *p, bool is_dry, struct warc_purged *out, struct buf *why)
{
    size_t n = p->f->count;
    bool *is_dirty = mem_alloc(n + 1);
    status st = ST_OK, damaged = ST_OK;
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        st = purge_file(p, i, out, &is_dirty[i]);
        if (st != ST_CORRUPT)
            continue;
        /* The others are gone over all the same. */
        if (damaged == ST_OK && why)
            buf_printf(why, "%s is damaged", p->f->files[i].name);
        damaged = st;
        is_dirty[i] = false;
        st = ST_OK;
    }
    for (size_t i = n; st == ST_OK && !is_dry && i-- > 0;)
        if (is_dirty[i])
            st = purge_file(p, i, NULL, NULL);
    free(is_dirty);
    if (st == ST_OK && !is_dry)
        purge_notes(p);
    out->others = p->f->others;
    return st == ST_OK ? damaged : st;
}

static void purge_done(struct purge *p)
{
    struct buf *const bufs[] = {&p->head, &p->whole, &p->other, &p->fresh, &p->packed};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
        buf_done(bufs[i]);
    warc_heirs_free(p->heirs);
    warc_needs_free(p->needs);
}

status warc_purge(const char *dir, bool is_dry, warc_purge_fn *fn, void *arg, struct warc_purged *out, struct buf *why)
{
    struct folder f;
    struct purge p = {.f = &f, .fn = fn, .arg = arg, .heirs = warc_heirs_new()};
    *out = (struct warc_purged){0};
    status st = folder_open(&f, dir);
    if (st == ST_OK)
        st = purge_all(&p, is_dry, out, why);
    int saved = errno;
    folder_close(&f);
    purge_done(&p);
    errno = saved;
    return st;
}

/* ---- old files ---- */

struct telling {
    struct warc_needs *needs;
    uint64_t bytes, before; /* of the WARC file; where the last record told of ended */
};

/* What stands between two that are told of (requests, metadata) is counted with the second: never too little. */
static status tell_note(void *arg, uint8_t type, struct span payload)
{
    struct telling *t = arg;
    struct unpack u = unpack_of(payload);
    struct digest160 d = {{0}};
    char text[WARC_DIGEST_MAX];
    uint64_t end = unpack_u64(&u);
    (void)unpack_u64(&u);
    struct span digest = unpack_bytes(&u, sizeof(d.b)), url = unpack_text(&u, HEAD_MAX);
    if (u.bad)
        return ST_CORRUPT;
    if (end > t->bytes)
        return ST_OK; /* its records were lost */
    memcpy(d.b, digest.p, sizeof(d.b));
    if (type == WARC_NOTE_NONE)
        warc_needs_note_other(t->needs);
    else
        warc_needs_note(t->needs, warc_need_key(url, span_str(warc_digest_text(&d, text))),
                        type == WARC_NOTE_BODY || type == WARC_NOTE_OTHER, end > t->before ? end - t->before : 0);
    t->before = end;
    return ST_OK;
}

/* What has no notes: a file that was written anew, the end of one whose writer was killed or could not note it. */
static status tell_heads(struct purge *p, size_t file, size_t at)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    const struct warc_name *n = &p->f->files[file];
    status st = mapped_open(warc_path(p->f->dir, &path, span_str(n->name), ""), &m);
    struct span all = st == ST_OK ? mapped_span(m) : (struct span){0};
    for (size_t bytes = 0; st == ST_OK && at < all.n; at += bytes) {
        buf_clear(&p->head);
        st = member_look(n->kind, span_from(all, at), HEAD_MAX, &p->head, &bytes);
        struct span type = warc_field(buf_span(&p->head), SPAN("WARC-Type"));
        bool is_body = span_is(type, "response");
        if (st == ST_OK && (is_body || span_is(type, "revisit")))
            warc_needs_note(p->needs, key_of(buf_span(&p->head)), is_body, bytes);
        else if (st == ST_OK && !span_is(type, "warcinfo"))
            warc_needs_note_other(p->needs);
    }
    mapped_free(m);
    buf_done(&path);
    return st == ST_CORRUPT ? ST_OK : st; /* of a damaged file what comes before the damage counts */
}

static status tell_file(struct purge *p, size_t file, bool goes)
{
    struct buf path = {0};
    struct telling t = {.needs = p->needs, .bytes = p->f->files[file].bytes};
    const char *notes = warc_notes_path(p->f->dir, &path, span_str(p->f->files[file].name));
    status unreadable = records_read(notes, WARC_NOTES_KIND, tell_note, &t, NULL);
    (void)unreadable; /* what it told counts */
    if (t.before)
        warc_needs_note_other(p->needs); /* requests, metadata */
    status st = t.before < t.bytes ? tell_heads(p, file, (size_t)t.before) : ST_OK;
    warc_needs_end_file(p->needs, file, goes);
    buf_done(&path);
    return st;
}

/* Which files go, and what the others need of them. */
static status choose_old(struct purge *p, uint64_t bytes_max, wall_ms before, bool *goes)
{
    const struct folder *f = p->f;
    uint64_t *sizes = mem_alloc((f->count + 1) * sizeof(*sizes)), all = 0;
    bool is_any = false;
    status st = ST_OK;
    for (size_t i = 0; i < f->count; i++) {
        goes[i] = f->files[i].at < before;
        is_any |= goes[i];
        all += sizes[i] = f->files[i].bytes;
    }
    if (is_any || (bytes_max && all > bytes_max)) {
        for (size_t i = f->count; st == ST_OK && i-- > 0;)
            st = tell_file(p, i, goes[i]);
        warc_needs_choose(p->needs, sizes, goes, bytes_max);
    }
    free(sizes);
    return st;
}

static status remove_file(const struct folder *f, size_t file)
{
    struct buf path = {0};
    struct span name = span_str(f->files[file].name);
    status st = unlink(warc_path(f->dir, &path, name, "")) == 0 ? ST_OK : ST_IO;
    int saved = errno;
    if (st == ST_OK)
        (void)unlink(warc_notes_path(f->dir, &path, name));
    buf_done(&path);
    errno = saved;
    return st;
}

static uint64_t size_of(const struct folder *f, size_t file)
{
    struct buf path = {0};
    struct stat sb;
    bool is_there = stat(warc_path(f->dir, &path, span_str(f->files[file].name), ""), &sb) == 0;
    buf_done(&path);
    return is_there ? (uint64_t)sb.st_size : 0;
}

/* One that goes: all of it, or but for what is needed. A damaged one cannot be read for that. */
static status let_go(struct purge *p, size_t file, bool is_dry, struct warc_purged *out)
{
    struct warc_needed needed = warc_needs_of(p->needs, file);
    const struct warc_name *n = &p->f->files[file];
    status st = ST_OK;
    if (needed.bodies && needed.is_all) {
        out->kept += needed.bodies;
        return ST_OK;
    }
    if (!is_dry && needed.bodies)
        st = purge_file(p, file, NULL, NULL);
    if (st == ST_OK)
        out->kept += needed.bodies;
    if (!is_dry && (!needed.bodies || st == ST_CORRUPT))
        st = remove_file(p->f, file);
    uint64_t left = is_dry ? needed.bytes : size_of(p->f, file);
    if (st == ST_OK)
        note_name(out, n, n->bytes > left ? n->bytes - left : 0);
    return st;
}

/* Files of which nothing is needed go first: the others want space until they are written anew. */
static status expire_all(struct purge *p, const bool *goes, bool is_dry, struct warc_purged *out)
{
    status st = ST_OK;
    for (int needed = 0; needed < 2; needed++)
        for (size_t i = 0; st == ST_OK && i < p->f->count; i++)
            if (goes[i] && (warc_needs_of(p->needs, i).bodies > 0) == needed)
                st = let_go(p, i, is_dry, out);
    return st;
}

status warc_expire(const char *dir, bool is_dry, uint64_t bytes_max, wall_ms before, struct warc_purged *out)
{
    struct folder f;
    *out = (struct warc_purged){0};
    status st = folder_open(&f, dir);
    struct purge p = {.f = &f, .heirs = warc_heirs_new(), .needs = warc_needs_new(f.count)};
    bool *goes = mem_alloc(f.count + 1);
    if (st == ST_OK)
        st = choose_old(&p, bytes_max, before, goes);
    if (st == ST_OK)
        st = expire_all(&p, goes, is_dry, out);
    int saved = errno;
    free(goes);
    purge_done(&p);
    folder_close(&f);
    errno = saved;
    return st;
}

/* ---- lists ---- */

#define LISTED "opt-out"
#define WORD_MAX 200

bool warc_listed_is(const char *dir, struct span word)
{
    struct buf path = {0}, text = {0};
    bool is = file_read(warc_path(dir, &path, SPAN(LISTED), ""), WORD_MAX, &text) == ST_OK &&
              span_eq(span_trim(buf_span(&text)), word);
    buf_done(&path);
    buf_done(&text);
    return is;
}

status warc_listed_put(const char *dir, struct span word)
{
    struct buf path = {0}, text = {0};
    status st = ST_OK;
    buf_printf(&text, "%.*s\n", SPAN_ARG(word));
    warc_path(dir, &path, SPAN(LISTED), "");
    if (word.n)
        st = file_replace(path.p, buf_span(&text));
    else if (unlink(path.p) != 0 && errno != ENOENT && errno != ENOTDIR)
        st = ST_IO;
    buf_done(&path);
    buf_done(&text);
    return st;
}
