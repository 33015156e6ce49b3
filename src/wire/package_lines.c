/* package_lines.c - texts as lines, each sent once; see columns.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "wire/columns.h"

/* How many lines lines_find looks ahead: headings are rarely that far apart, and pages may be hostile. */
#define FIND_AHEAD 256
#define LINE_NEW UINT32_MAX

void lines_writer_clear(struct lines_writer *w)
{
    intern_clear(&w->lines);
    free(w->last);
    free(w->log);
    w->last = w->log = NULL;
    w->id_count = w->log_count = w->now_count = 0;
}

void lines_writer_done(struct lines_writer *w)
{
    lines_writer_clear(w);
    intern_done(&w->lines);
    free(w->ids);
    *w = (struct lines_writer){0};
}

size_t lines_note(struct lines_writer *w, struct span text)
{
    size_t before = w->id_count;
    for (size_t at = 0; text.n;) {
        const char *end = memchr(text.p + at, '\n', text.n - at);
        size_t n = end ? (size_t)(end - text.p) - at : text.n - at;
        bool is_new;
        w->ids = mem_grow(w->ids, &w->id_cap, w->id_count + 1, sizeof(*w->ids));
        w->ids[w->id_count++] = intern_put(&w->lines, span_cut(text, at, n), &is_new);
        if (!end)
            break;
        at += n + 1;
    }
    return w->id_count - before;
}

void lines_write_begin(struct lines_writer *w)
{
    w->ids = mem_grow(w->ids, &w->id_cap, w->id_count + 1, sizeof(*w->ids)); /* not NULL */
    w->last = mem_realloc(NULL, (w->lines.count + 1) * sizeof(*w->last));
    memset(w->last, 0xFF, (w->lines.count + 1) * sizeof(*w->last)); /* LINE_NEW */
    w->log = mem_realloc(NULL, (w->id_count + 1) * sizeof(*w->log));
}

static void log_line(struct lines_writer *w, uint32_t line)
{
    w->last[line] = (uint32_t)w->log_count;
    w->log[w->log_count++] = line;
}

static size_t write_fresh(struct lines_writer *w, size_t i, struct buf *col)
{
    size_t n = 0;
    for (; i + n < w->now_count && w->last[w->now[i + n]] == LINE_NEW; n++) {
        buf_put(&col[COL_LINES], intern_text(&w->lines, w->now[i + n]));
        buf_putc(&col[COL_LINES], '\n');
        log_line(w, w->now[i + n]);
    }
    pack_var(&col[COL_LINE_NEW], n);
    return n;
}

void lines_write(struct lines_writer *w, const uint32_t *ids, size_t n, struct buf *col)
{
    size_t expect = w->log_count;
    w->now = ids;
    w->now_count = n;
    pack_var(&col[COL_LINE_COUNT], n);
    for (size_t i = 0; i < n;) {
        size_t fresh = write_fresh(w, i, col);
        i += fresh;
        if (i == n)
            break;
        expect += fresh; /* most often as many lines were changed as are new */
        size_t from = expect < w->log_count && w->log[expect] == ids[i] ? expect : w->last[ids[i]];
        size_t run = 0;
        /* A run may reach into what it makes itself: a line that repeats at once. */
        for (; i < n && w->log[from + run] == ids[i]; run++)
            log_line(w, ids[i++]);
        column_signed(&col[COL_LINE_FROM], (int64_t)from - (int64_t)expect);
        pack_var(&col[COL_LINE_RUN], run - 1);
        expect = from + run;
    }
}

size_t lines_find(const struct lines_writer *w, struct span line, size_t *from)
{
    uint32_t number = intern_find(&w->lines, line);
    for (size_t i = *from; number != UINT32_MAX && i < w->now_count && i < *from + FIND_AHEAD; i++)
        if (w->now[i] == number) {
            size_t skipped = i - *from;
            *from = i + 1;
            return skipped;
        }
    return SIZE_MAX;
}

void lines_reader_done(struct lines_reader *r)
{
    free(r->at);
    free(r->log);
    *r = (struct lines_reader){0};
}

static struct span line_text(const struct lines_reader *r, uint32_t line)
{
    return (struct span){r->bytes.p + r->at[line], r->at[line + 1] - r->at[line] - 1};
}

static bool emit(struct lines_reader *r, uint32_t line, bool is_first, struct buf *out)
{
    struct span s = line_text(r, line);
    if (s.n >= COLUMNS_TEXT_MAX + 1 - out->n)
        return false;
    if (!is_first)
        buf_putc(out, '\n');
    buf_put(out, s);
    r->log[r->log_count++] = line;
    return true;
}

/* The next line that was not there before. */
static bool next_line(struct lines_reader *r)
{
    r->at = mem_grow(r->at, &r->at_cap, r->count + 2, sizeof(*r->at));
    size_t begin = r->count ? r->at[r->count] : 0;
    const char *end = begin < r->bytes.n ? memchr(r->bytes.p + begin, '\n', r->bytes.n - begin) : NULL;
    if (!end)
        return false;
    r->at[r->count] = (uint32_t)begin;
    r->at[++r->count] = (uint32_t)(end - r->bytes.p) + 1;
    return true;
}

static bool read_fresh(struct lines_reader *r, uint64_t n, uint64_t *left, struct buf *out)
{
    if (n > *left)
        return false;
    *left -= n;
    for (uint64_t i = 0; i < n; i++)
        if (!next_line(r) || !emit(r, (uint32_t)(r->count - 1), r->log_count == r->first, out))
            return false;
    return true;
}

static bool read_run(struct lines_reader *r, struct unpack *col, uint64_t *left, struct buf *out)
{
    int64_t by = column_read_signed(&col[COL_LINE_FROM]);
    uint64_t run = unpack_var(&col[COL_LINE_RUN]);
    int64_t from = by > -(int64_t)COLUMNS_LINES_MAX && by < (int64_t)COLUMNS_LINES_MAX ? (int64_t)r->expect + by : -1;
    if (col[COL_LINE_FROM].bad || col[COL_LINE_RUN].bad || run >= *left || from < 0 || (size_t)from >= r->log_count)
        return false;
    *left -= ++run;
    for (uint64_t i = 0; i < run; i++)
        if (!emit(r, r->log[(size_t)from + i], r->log_count == r->first, out))
            return false;
    r->expect = (size_t)from + (size_t)run;
    return true;
}

status lines_read(struct lines_reader *r, struct unpack *col, struct buf *out)
{
    uint64_t left = unpack_var(&col[COL_LINE_COUNT]);
    if (left > COLUMNS_LINES_MAX - r->log_count)
        return ST_LIMIT;
    r->log = mem_grow(r->log, &r->log_cap, r->log_count + (size_t)left + 1, sizeof(*r->log));
    r->first = r->expect = r->log_count;
    while (left) {
        uint64_t fresh = unpack_var(&col[COL_LINE_NEW]);
        if (col[COL_LINE_NEW].bad || !read_fresh(r, fresh, &left, out))
            return ST_CORRUPT;
        r->expect += (size_t)fresh;
        if (left && !read_run(r, col, &left, out))
            return ST_CORRUPT;
    }
    return ST_OK;
}

bool lines_get(const struct lines_reader *r, size_t i, struct span *out)
{
    if (i >= r->log_count - r->first)
        return false;
    *out = line_text(r, r->log[r->first + i]);
    return true;
}
