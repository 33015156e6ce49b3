#include "sim/tsv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "codec/zip.h"
#include "store/file.h"

#define NUMBER_BYTES_MAX 48

struct tsv {
    char *path;            /* owned: as opened */
    struct mapped *mapped; /* owned: the file */
    struct buf unpacked;
    struct span rest; /* not read yet */
    char separator;
    uint64_t line;
    struct span *cells; /* of this row */
    size_t cell_count, cell_cap;
    struct span *head;
    size_t head_count;
    struct arena scratch; /* unquoted cells of this row */
    struct arena names;   /* and of the head */
};

static status complain_file(struct buf *why, const char *path, status st, const char *reason)
{
    if (why) {
        log_escape(why, span_str(path), 4096);
        buf_printf(why, ": %s", reason);
    }
    return st;
}

/* ---- opening ---- */

static status unpack(struct tsv *t, struct buf *why)
{
    status st = unzip_zstd(mapped_span(t->mapped), TSV_UNPACKED_MAX, &t->unpacked);
    if (st == ST_OK) {
        t->rest = buf_span(&t->unpacked);
        mapped_free(t->mapped);
        t->mapped = NULL;
        return ST_OK;
    }
    return complain_file(why, t->path, st, st == ST_LIMIT ? "unpacks to more than 1 GiB" : "is not a whole zstd file");
}

/* The path as it is, or with .zst at its end. */
static status open_file(struct tsv *t, const char *path, struct buf *why)
{
    struct buf packed = {0};
    status st = mapped_open(path, &t->mapped);
    t->path = mem_str(span_str(path));
    if (st == ST_NOT_FOUND) {
        buf_printf(&packed, "%s.zst", path);
        st = mapped_open(buf_cstr(&packed), &t->mapped);
        if (st == ST_OK) {
            free(t->path);
            t->path = mem_str(buf_span(&packed));
        }
    }
    buf_done(&packed);
    if (st != ST_OK)
        return complain_file(why, path, st,
                             st == ST_NOT_FOUND ? "no such file, with or without .zst" : strerror(errno));
    t->rest = mapped_span(t->mapped);
    return span_ends(span_str(t->path), SPAN(".zst")) ? unpack(t, why) : ST_OK;
}

static bool take_line(struct tsv *t, struct span *line)
{
    do {
        if (!t->rest.n)
            return false;
        size_t at = span_find(t->rest, '\n', 0);
        *line = span_cut(t->rest, 0, at);
        t->rest = span_from(t->rest, at + 1);
        t->line++;
        if (line->n && line->p[line->n - 1] == '\r')
            line->n--;
    } while (!line->n);
    return true;
}

static void add_cell(struct tsv *t, struct span s)
{
    t->cells = mem_grow(t->cells, &t->cell_cap, t->cell_count + 1, sizeof(*t->cells));
    t->cells[t->cell_count++] = s;
}

/* A cell that begins with a quote: up to the quote that is not doubled. False: it is not closed on this line. */
static bool quoted(struct tsv *t, struct span *rest)
{
    char *to = arena_bytes(&t->scratch, rest->n);
    size_t n = 0, i = 1;
    for (; i < rest->n; i++) {
        if (rest->p[i] == '"' && (i + 1 >= rest->n || rest->p[i + 1] != '"'))
            break;
        i += rest->p[i] == '"';
        to[n++] = rest->p[i];
    }
    bool is_closed = i < rest->n && (i + 1 == rest->n || rest->p[i + 1] == t->separator);
    add_cell(t, span_of(to, n));
    if (i + 1 >= rest->n)
        *rest = (struct span){0};
    else
        *rest = span_from(*rest, i + 2);
    return is_closed;
}

static status split(struct tsv *t, struct span line, struct buf *why)
{
    struct span part;
    arena_reset(&t->scratch);
    t->cell_count = 0;
    while (line.p) {
        if (t->cell_count == TSV_COLUMNS_MAX)
            return tsv_complain(t, why, "more than %d columns", TSV_COLUMNS_MAX);
        if (t->separator == ',' && line.n && line.p[0] == '"') {
            if (!quoted(t, &line))
                return tsv_complain(t, why, "a quote is not closed");
        } else if (span_split(&line, t->separator, &part) && (part.n || t->separator != ' '))
            add_cell(t, t->separator == '\t' ? part : span_trim(part));
    }
    return ST_OK;
}

static char separator_of(struct span line)
{
    if (span_find(line, '\t', 0) < line.n)
        return '\t';
    return span_find(line, ',', 0) < line.n ? ',' : ' ';
}

static status read_head(struct tsv *t, struct buf *why)
{
    struct span line;
    if (!take_line(t, &line))
        return complain_file(why, t->path, ST_INVALID, "is empty");
    t->separator = separator_of(line);
    status st = split(t, line, why);
    if (st != ST_OK)
        return st;
    t->head = mem_alloc(t->cell_count * sizeof(*t->head));
    for (; t->head_count < t->cell_count; t->head_count++)
        t->head[t->head_count] = arena_copy(&t->names, span_trim(t->cells[t->head_count]));
    return ST_OK;
}

static struct tsv *new_table(void)
{
    struct tsv *t = mem_alloc(sizeof(*t));
    arena_init(&t->scratch);
    arena_init(&t->names);
    return t;
}

/* The first line that is not somebody's remark. */
static struct span first_line(struct span text)
{
    while (text.n && text.p[0] == '#')
        text = span_from(text, span_find(text, '\n', 0) + 1);
    return span_cut(text, 0, span_find(text, '\n', 0));
}

/* What is open gets its head read, or is given back. */
static status finish_open(struct tsv *t, status st, bool has_head, struct tsv **out, struct buf *why)
{
    if (st == ST_OK && has_head)
        st = read_head(t, why);
    else if (st == ST_OK)
        t->separator = separator_of(first_line(t->rest));
    if (st == ST_OK)
        *out = t;
    else
        tsv_free(t);
    return st;
}

status tsv_open(const char *path, bool has_head, struct tsv **out, struct buf *why)
{
    struct tsv *t = new_table();
    status st = open_file(t, path, why);
    return finish_open(t, st, has_head, out, why);
}

status tsv_open_text(struct span text, const char *name, bool has_head, struct tsv **out, struct buf *why)
{
    struct tsv *t = new_table();
    t->path = mem_str(span_str(name));
    t->rest = text;
    return finish_open(t, ST_OK, has_head, out, why);
}

void tsv_free(struct tsv *t)
{
    if (!t)
        return;
    mapped_free(t->mapped);
    buf_done(&t->unpacked);
    arena_done(&t->scratch);
    arena_done(&t->names);
    free(t->cells);
    free(t->head);
    free(t->path);
    free(t);
}

/* ---- rows ---- */

int tsv_column(const struct tsv *t, const char *name)
{
    for (size_t i = 0; i < t->head_count; i++)
        if (span_is_nocase(t->head[i], name))
            return (int)i;
    return -1;
}

size_t tsv_column_count(const struct tsv *t)
{
    return t->head_count;
}

struct span tsv_column_name(const struct tsv *t, size_t i)
{
    return i < t->head_count ? t->head[i] : (struct span){0};
}

status tsv_next(struct tsv *t, struct buf *why)
{
    struct span line;
    if (!take_line(t, &line))
        return ST_END;
    status st = split(t, line, why);
    if (st == ST_OK && t->cell_count < t->head_count)
        return tsv_complain(t, why, "%zu columns, where the first line has %zu", t->cell_count, t->head_count);
    return st;
}

struct span tsv_cell(const struct tsv *t, int column)
{
    return column >= 0 && (size_t)column < t->cell_count ? t->cells[column] : (struct span){0};
}

size_t tsv_cell_count(const struct tsv *t)
{
    return t->cell_count;
}

status tsv_complain(const struct tsv *t, struct buf *why, const char *fmt, ...)
{
    struct buf raw = {0};
    va_list ap;
    if (!why)
        return ST_INVALID;
    va_start(ap, fmt);
    buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    log_escape(why, span_str(t->path), 4096);
    buf_printf(why, ":%llu: ", (unsigned long long)t->line);
    log_escape(why, buf_span(&raw), 512);
    buf_done(&raw);
    return ST_INVALID;
}

/* ---- numbers ---- */

/* Most numbers of a matrix are short decimals: their digits as one integer, divided once by a power of ten, is what
 * strtod gives too (both are exact below 2^53), at a tenth of its time. */
static bool short_decimal(struct span s, double *out)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    uint64_t v = 0;
    size_t i = s.n && s.p[0] == '-', digits = 0, decimals = 0;
    bool is_negative = i == 1, has_point = false;
    for (; i < s.n; i++) {
        if (s.p[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!ascii_is_digit(s.p[i]) || ++digits > 15)
            return false;
        v = v * 10 + (uint64_t)(s.p[i] - '0');
        decimals += has_point;
    }
    if (!digits || decimals > 6)
        return false;
    *out = (is_negative ? -1.0 : 1.0) * (double)v / powers[decimals];
    return true;
}

bool text_real(struct span s, double *out)
{
    char text[NUMBER_BYTES_MAX + 1];
    if (short_decimal(s, out))
        return true;
    bool has_digit = false;
    if (s.n > NUMBER_BYTES_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = ascii_lower(s.p[i]);
        if (!ascii_is_digit(c) && c != '.' && c != '-' && c != '+' && c != 'e')
            return false;
        has_digit |= ascii_is_digit(c);
        text[i] = c;
    }
    text[s.n] = '\0';
    char *end;
    double v = strtod(text, &end);
    if (!has_digit || *end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

static struct span column_name(const struct tsv *t, int column)
{
    return column >= 0 && (size_t)column < t->head_count ? t->head[column] : SPAN("number");
}

status tsv_real(const struct tsv *t, int column, double min, double max, double *out, struct buf *why)
{
    double v;
    struct span cell = tsv_cell(t, column);
    if (!text_real(cell, &v))
        return tsv_complain(t, why, "%.*s: \"%.*s\" is not a number", SPAN_ARG(column_name(t, column)),
                            SPAN_ARG(span_cut(cell, 0, 64)));
    if (v < min || v > max)
        return tsv_complain(t, why, "%.*s: %.*s is not between %g and %g", SPAN_ARG(column_name(t, column)),
                            SPAN_ARG(cell), min, max);
    *out = v;
    return ST_OK;
}

status tsv_u32(const struct tsv *t, int column, uint32_t max, uint32_t *out, struct buf *why)
{
    uint64_t v;
    struct span cell = tsv_cell(t, column);
    if (!span_u64(cell, max, &v))
        return tsv_complain(t, why, "%.*s: \"%.*s\" is not a whole number up to %u", SPAN_ARG(column_name(t, column)),
                            SPAN_ARG(span_cut(cell, 0, 64)), max);
    *out = (uint32_t)v;
    return ST_OK;
}
