#include "store/warc_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "store/file.h"
#include "store/records.h"

#define URL_BYTES_MAX (64u << 10)

/* ---- names ---- */

const char *warc_suffix(member_kind kind)
{
    return kind == MEMBER_GZIP ? ".warc.gz" : ".warc.zst";
}

const char *warc_path(const char *dir, struct buf *path, struct span name, const char *more)
{
    buf_clear(path);
    buf_printf(path, "%s/%.*s%s", dir, SPAN_ARG(name), more);
    return buf_cstr(path);
}

const char *warc_notes_path(const char *dir, struct buf *path, struct span name)
{
    size_t end = span_search(name, SPAN(".warc."), false);
    buf_clear(path);
    buf_printf(path, "%s/seen/%.*s", dir, SPAN_ARG(span_cut(name, 0, end)));
    return buf_cstr(path);
}

bool warc_parse_name(struct span name, member_kind *kind, bool *is_open)
{
    *is_open = span_ends(name, SPAN(WARC_OPEN));
    if (*is_open)
        name.n -= sizeof(WARC_OPEN) - 1;
    *kind = span_ends(name, SPAN(".warc.zst")) ? MEMBER_ZSTD : MEMBER_GZIP;
    return span_starts(name, SPAN("orb-")) && span_ends(name, span_str(warc_suffix(*kind))) && name.n <= WARC_NAME_MAX;
}

/* ---- what a killed run left ---- */

struct mark {
    struct span name; /* in `text`; empty: there is none */
    uint64_t bytes;
    struct buf text;
};

/* "NAME BYTES TAG" and a newline. */
static status read_mark(const char *dir, struct mark *m, struct buf *tag)
{
    struct buf path = {0};
    *m = (struct mark){0};
    status st = file_read(warc_path(dir, &path, SPAN("mark"), ""), WARC_NAME_MAX + WARC_TAG_MAX + 32, &m->text);
    buf_done(&path);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    struct span rest = span_trim(buf_span(&m->text)), name, bytes;
    if (st == ST_OK &&
        (!span_split(&rest, ' ', &name) || !span_split(&rest, ' ', &bytes) || !span_u64(bytes, INT64_MAX, &m->bytes)))
        st = ST_CORRUPT;
    if (st == ST_OK) {
        m->name = name;
        buf_put(tag, rest);
    }
    return st;
}

/* How much of the file counts. */
static status whole_bytes(const char *path, member_kind kind, uint64_t *out)
{
    struct mapped *m = NULL;
    struct stat sb;
    *out = 0;
    if (stat(path, &sb) == 0 && sb.st_size == 0)
        return ST_OK;
    status st = mapped_open(path, &m);
    if (st == ST_OK)
        *out = member_whole_bytes(kind, mapped_span(m));
    mapped_free(m);
    return st;
}

static status cut_file(const char *path, uint64_t bytes)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return ST_IO;
    status st = ftruncate(fd, (off_t)bytes) == 0 ? file_sync(fd) : ST_IO;
    close(fd);
    return st;
}

/* What was written before the mark was on the disk before it; a disk may have lost it all the same. */
static bool is_shorter(const char *path, uint64_t bytes)
{
    struct stat sb;
    return stat(path, &sb) == 0 && (uint64_t)sb.st_size < bytes;
}

static status settle_file(const char *dir, struct span name, member_kind kind, bool is_marked, const struct mark *m)
{
    struct buf path = {0}, final = {0};
    uint64_t whole = 0;
    status st = ST_OK;
    warc_path(dir, &path, name, WARC_OPEN);
    warc_path(dir, &final, name, "");
    bool is_mine = is_marked && span_eq(name, m->name);
    if (!is_marked || (is_mine && is_shorter(path.p, m->bytes)))
        st = whole_bytes(path.p, kind, &whole);
    else if (is_mine)
        whole = m->bytes;
    if (st == ST_OK && whole)
        st = cut_file(path.p, whole);
    if (st == ST_OK && (whole ? rename(path.p, final.p) : unlink(path.p)) != 0)
        st = ST_IO;
    if (st == ST_OK && !whole)
        (void)unlink(warc_notes_path(dir, &path, name));
    buf_done(&path);
    buf_done(&final);
    return st;
}

status warc_folder_settle(const char *dir, bool is_marked, struct buf *tag)
{
    struct mark m;
    status st = read_mark(dir, &m, tag);
    DIR *d = st == ST_OK ? opendir(dir) : NULL;
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct span name = span_str(e->d_name);
        member_kind kind;
        bool is_open;
        if (warc_parse_name(name, &kind, &is_open) && is_open)
            st = settle_file(dir, span_cut(name, 0, name.n - (sizeof(WARC_OPEN) - 1)), kind, is_marked, &m);
    }
    if (d)
        closedir(d);
    buf_done(&m.text);
    return st;
}

/* ---- what is known of bodies ---- */

struct loading {
    struct warc_seen *seen;
    uint64_t size; /* of the WARC file */
};

static status load_note(void *arg, uint8_t type, struct span payload)
{
    struct loading *l = arg;
    struct unpack u = unpack_of(payload);
    struct digest160 d = {{0}};
    uint64_t end = unpack_u64(&u), at = unpack_u64(&u);
    struct span digest = unpack_bytes(&u, sizeof(d.b)), url = unpack_text(&u, URL_BYTES_MAX);
    if (u.bad)
        return ST_CORRUPT;
    memcpy(d.b, digest.p, sizeof(d.b));
    if (end > l->size)
        return ST_OK; /* its records were lost */
    if (type >= WARC_NOTE_BODY && type <= WARC_NOTE_NONE)
        warc_seen_note(l->seen, (warc_note_kind)type, &d, url, (wall_ms)at);
    return ST_OK;
}

static uint64_t size_of(const char *dir, struct span stem)
{
    struct buf path = {0};
    struct stat sb;
    uint64_t size = UINT64_MAX; /* it was moved away, whole */
    for (int kind = MEMBER_GZIP; kind <= MEMBER_ZSTD; kind++)
        if (stat(warc_path(dir, &path, stem, warc_suffix((member_kind)kind)), &sb) == 0)
            size = (uint64_t)sb.st_size;
    buf_done(&path);
    return size;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of their names, so that the last record of an address is the last one told. A file of them that is
 * damaged costs bodies that are written once more. */
status warc_folder_load(const char *dir, struct warc_seen *seen)
{
    struct buf path = {0};
    char **names = NULL;
    size_t n = 0, cap = 0;
    DIR *d = opendir(warc_path(dir, &path, SPAN("seen"), ""));
    status st = d ? ST_OK : ST_IO;
    for (struct dirent *e; d && (e = readdir(d));)
        if (span_starts(span_str(e->d_name), SPAN("orb-"))) {
            names = mem_grow(names, &cap, n + 1, sizeof(*names));
            names[n++] = mem_str(span_str(e->d_name));
        }
    if (d)
        closedir(d);
    if (n)
        qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        struct loading l = {seen, size_of(dir, span_str(names[i]))};
        status damaged =
            records_read(warc_notes_path(dir, &path, span_str(names[i])), WARC_NOTES_KIND, load_note, &l, NULL);
        (void)damaged;
        free(names[i]);
    }
    free(names);
    buf_done(&path);
    return st;
}
