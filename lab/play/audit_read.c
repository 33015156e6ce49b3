#include <errno.h>
#include <stdio.h>

#include "lab/play/audit.h"

#define CHUNK 65536
#define SECONDS_MAX (UINT64_C(1) << 40)
enum { COLUMNS = 8 };

/* "1700000000.123456"; without a fraction too. */
static bool parse_seconds(struct span text, double *out)
{
    size_t dot = span_find(text, '.', 0);
    uint64_t whole, part = 0;
    double scale = 1;
    if (!span_u64(span_cut(text, 0, dot), SECONDS_MAX, &whole))
        return false;
    struct span digits = span_from(text, dot + 1);
    if (dot < text.n && (digits.n > 9 || !span_u64(digits, UINT32_MAX, &part)))
        return false;
    for (size_t i = 0; i < digits.n; i++)
        scale *= 10;
    *out = (double)whole + (double)part / scale;
    return true;
}

bool audit_entry_parse(struct span line, struct audit_entry *out)
{
    struct span column[COLUMNS];
    struct audit_entry e;
    uint64_t http_status;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!span_split(&line, '\t', &column[i]))
            return false;
    }
    if (!parse_seconds(column[0], &e.at) || addr_parse(column[1], &e.from) != ST_OK ||
        addr_parse(column[2], &e.to) != ST_OK || !span_u64(column[6], 999, &http_status) ||
        !span_u64(column[7], UINT64_MAX, &e.bytes))
        return false;
    e.host = column[3];
    e.method = column[4];
    e.target = column[5];
    e.status = (int)http_status;
    *out = e;
    return true;
}

struct reading {
    const char *path; /* borrowed */
    uint64_t lines;
    audit_fn *fn;
    void *arg;
    struct buf *why;
};

static status fail(struct reading *r, status st, const char *what)
{
    buf_printf(r->why, "%s:%llu: %s", r->path, (unsigned long long)r->lines, what);
    return st;
}

/* The whole lines at the beginning of `in`; what follows them stays there. */
static status take_lines(struct reading *r, struct buf *in)
{
    struct span rest = buf_span(in);
    for (size_t end; (end = span_find(rest, '\n', 0)) < rest.n; rest = span_from(rest, end + 1)) {
        struct audit_entry e;
        if (++r->lines > AUDIT_ENTRIES_MAX)
            return fail(r, ST_LIMIT, "too many lines");
        if (end > AUDIT_LINE_MAX)
            return fail(r, ST_LIMIT, "the line is too long");
        if (!audit_entry_parse(span_cut(rest, 0, end), &e))
            return fail(r, ST_INVALID, "that is no line of a ledger");
        r->fn(r->arg, &e);
    }
    memmove(in->p, rest.p, rest.n);
    in->n = rest.n;
    if (in->n <= AUDIT_LINE_MAX)
        return ST_OK;
    r->lines++;
    return fail(r, ST_LIMIT, "the line is too long");
}

status audit_read(const char *path, audit_fn *fn, void *arg, struct buf *why)
{
    struct reading r = {.path = path, .fn = fn, .arg = arg, .why = why};
    struct buf in = {0};
    FILE *f = fopen(path, "re");
    if (!f) {
        buf_printf(why, "read %s: %s", path, strerror(errno));
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    }
    status st = ST_OK;
    for (size_t n; st == ST_OK && (n = fread(buf_room(&in, CHUNK), 1, CHUNK, f)) > 0;) {
        in.n += n;
        st = take_lines(&r, &in);
    }
    if (st == ST_OK && ferror(f)) {
        buf_printf(why, "read %s: %s", path, strerror(errno));
        st = ST_IO;
    }
    fclose(f);
    buf_done(&in);
    return st;
}
