/* sorter.c - runs are sorted by digits of 11 bits, the last first; then merged with the lowest of all runs in front. */
#include "store/sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define FIRST_ROWS 1024u
#define RUN_ROWS_MIN 64 /* a run's part of the memory while runs are merged */

/* A sorted part of the file, and what of it is in memory. */
struct run {
    uint64_t key;     /* of its first row in memory */
    uint64_t at, end; /* rows of the file that are still to be read */
    uint64_t *rows;   /* its part of the memory */
    size_t have, next;
};

struct sorter {
    struct sorter_opts o;
    char *path;           /* owned */
    uint64_t *rows, *aux; /* rows in memory, and as much room again */
    size_t count, cap, cap_max;
    uint64_t all;
    int fd; /* -1: all rows are in memory */
    uint64_t *ends;
    size_t run_count, ends_cap;
    /* while rows come out: */
    bool is_sorted;
    size_t next;
    size_t room; /* rows of each run in memory */
    struct run *runs;
    struct run **heap; /* those that have rows left, the lowest first */
    size_t heap_count;
};

struct sorter *sorter_new(const struct sorter_opts *o)
{
    struct sorter *s = mem_alloc(sizeof(*s));
    s->o = *o;
    s->path = mem_str(span_str(o->path));
    s->cap_max = o->memory / 2 / (o->width * sizeof(uint64_t));
    s->cap_max = s->cap_max < FIRST_ROWS ? FIRST_ROWS : s->cap_max;
    s->fd = -1;
    return s;
}

static void forget_runs(struct sorter *s)
{
    free(s->runs);
    free(s->heap);
    s->runs = NULL;
    s->heap = NULL;
    s->heap_count = 0;
}

void sorter_clear(struct sorter *s, unsigned key_bits)
{
    forget_runs(s);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    s->o.key_bits = key_bits;
    s->count = s->run_count = s->next = 0;
    s->all = 0;
    s->is_sorted = false;
}

void sorter_free(struct sorter *s)
{
    if (!s)
        return;
    sorter_clear(s, 0);
    free(s->rows);
    free(s->aux);
    free(s->ends);
    free(s->path);
    free(s);
}

uint64_t sorter_count(const struct sorter *s)
{
    return s->all;
}

/* ---- in memory ---- */

static uint64_t key_of(const struct sorter *s, const uint64_t *row)
{
    return s->o.key_bits ? row[0] >> (64 - s->o.key_bits) : 0;
}

/* One digit: rows into aux by its value, in the order they are in. False: all rows have the same. */
static bool sort_digit(struct sorter *s, unsigned shift)
{
    size_t places[DIGITS] = {0}, width = s->o.width;
    for (size_t i = 0; i < s->count; i++)
        places[key_of(s, s->rows + i * width) >> shift & (DIGITS - 1)]++;
    if (places[key_of(s, s->rows) >> shift & (DIGITS - 1)] == s->count)
        return false;
    for (size_t d = 0, sum = 0; d < DIGITS; d++) {
        size_t n = places[d];
        places[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t *row = s->rows + i * width;
        uint64_t *to = s->aux + places[key_of(s, row) >> shift & (DIGITS - 1)]++ * width;
        for (size_t k = 0; k < width; k++)
            to[k] = row[k];
    }
    return true;
}

static void sort_memory(struct sorter *s)
{
    if (s->count < 2)
        return;
    for (unsigned shift = 0; shift < s->o.key_bits; shift += DIGIT_BITS)
        if (sort_digit(s, shift)) {
            uint64_t *rows = s->rows;
            s->rows = s->aux;
            s->aux = rows;
        }
}

static void grow(struct sorter *s)
{
    size_t cap = s->cap ? s->cap * 2 : FIRST_ROWS, row = s->o.width * sizeof(uint64_t);
    s->cap = cap < s->cap_max ? cap : s->cap_max;
    s->rows = mem_realloc(s->rows, s->cap * row);
    free(s->aux); /* nothing is in it */
    s->aux = mem_alloc(s->cap * row);
}

/* ---- on the disk ---- */

static status open_file(struct sorter *s)
{
    s->fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (s->fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    unlink(s->path);
    return ST_OK;
}

static status write_run(struct sorter *s)
{
    status st = s->fd < 0 ? open_file(s) : ST_OK;
    sort_memory(s);
    if (st == ST_OK)
        st = file_write_all(s->fd, span_of(s->rows, s->count * s->o.width * sizeof(*s->rows)));
    if (st != ST_OK)
        return st;
    s->ends = mem_grow(s->ends, &s->ends_cap, s->run_count + 1, sizeof(*s->ends));
    s->ends[s->run_count] = (s->run_count ? s->ends[s->run_count - 1] : 0) + s->count;
    s->run_count++;
    s->count = 0;
    return ST_OK;
}

status sorter_add(struct sorter *s, const uint64_t *row)
{
    if (s->count == s->cap_max) {
        status st = write_run(s);
        if (st != ST_OK)
            return st;
    }
    if (s->count == s->cap)
        grow(s);
    memcpy(s->rows + s->count++ * s->o.width, row, s->o.width * sizeof(*row));
    s->all++;
    return ST_OK;
}

/* Reads the next rows of a run, if there are any. */
static status fill_run(struct sorter *s, struct run *r)
{
    size_t row = s->o.width * sizeof(uint64_t);
    r->have = r->end - r->at < s->room ? (size_t)(r->end - r->at) : s->room;
    r->next = 0;
    for (size_t done = 0; done < r->have * row;) {
        ssize_t n = pread(s->fd, (char *)r->rows + done, r->have * row - done, (off_t)(r->at * row + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ST_IO;
        done += (size_t)n;
    }
    r->at += r->have;
    if (r->have)
        r->key = key_of(s, r->rows);
    return ST_OK;
}

/* Of two runs with the same key the one that was written first: its rows went in first. */
static bool is_before(const struct run *a, const struct run *b)
{
    return a->key != b->key ? a->key < b->key : a < b;
}

static void sift_down(struct sorter *s, size_t i)
{
    struct run *r = s->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && is_before(s->heap[child + 1], s->heap[child]))
            child++;
        if (!is_before(s->heap[child], r))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = r;
}

static status begin_merge(struct sorter *s)
{
    status st = ST_OK;
    s->room = s->cap_max / s->run_count;
    s->room = s->room < RUN_ROWS_MIN ? RUN_ROWS_MIN : s->room;
    size_t need = s->room * s->run_count;
    if (need > s->cap) { /* so many runs that their rows take more than the memory given */
        s->cap = need;
        s->rows = mem_realloc(s->rows, need * s->o.width * sizeof(*s->rows));
    }
    forget_runs(s);
    s->runs = mem_alloc(s->run_count * sizeof(*s->runs));
    s->heap = mem_alloc(s->run_count * sizeof(*s->heap));
    for (size_t i = 0; i < s->run_count && st == ST_OK; i++) {
        struct run *r = &s->runs[i];
        r->at = i ? s->ends[i - 1] : 0;
        r->end = s->ends[i];
        r->rows = s->rows + i * s->room * s->o.width;
        st = fill_run(s, r);
        s->heap[s->heap_count++] = r;
    }
    for (size_t i = s->heap_count / 2; i-- > 0 && st == ST_OK;)
        sift_down(s, i);
    return st;
}

status sorter_sort(struct sorter *s)
{
    if (s->fd < 0) {
        if (!s->is_sorted)
            sort_memory(s);
        s->is_sorted = true;
        s->next = 0;
        return ST_OK;
    }
    status st = s->count ? write_run(s) : ST_OK;
    s->is_sorted = st == ST_OK;
    return st == ST_OK ? begin_merge(s) : st;
}

status sorter_next(struct sorter *s, uint64_t *row)
{
    size_t bytes = s->o.width * sizeof(*row);
    if (s->fd < 0) {
        if (s->next == s->count)
            return ST_END;
        memcpy(row, s->rows + s->next++ * s->o.width, bytes);
        return ST_OK;
    }
    if (!s->heap_count)
        return ST_END;
    struct run *r = s->heap[0];
    memcpy(row, r->rows + r->next++ * s->o.width, bytes);
    status st = ST_OK;
    if (r->next == r->have)
        st = fill_run(s, r);
    else
        r->key = key_of(s, r->rows + r->next * s->o.width);
    if (!r->have)
        s->heap[0] = s->heap[--s->heap_count];
    if (s->heap_count)
        sift_down(s, 0);
    return st;
}
