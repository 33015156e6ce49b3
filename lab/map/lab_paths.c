#include "lab/map/lab_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- small things ---- */

bool lab_number(struct span text, double max, double *out)
{
    char copy[32], *end;
    if (text.n == 0 || text.n >= sizeof(copy) || !(ascii_is_digit(text.p[0]) || text.p[0] == '.'))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    double v = strtod(copy, &end);
    if (*end || !(v >= 0 && v <= max))
        return false;
    *out = v;
    return true;
}

status lab_read(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    size_t n;
    while ((n = fread(buf_room(out, 65536), 1, 65536, f)) > 0 && out->n + n <= LAB_FILE_MAX)
        out->n += n;
    status st = ferror(f) ? ST_IO : n > 0 ? ST_LIMIT : ST_OK;
    fclose(f);
    return st;
}

/* ---- pairs of places ---- */

/* "*" is every place. */
static status places_of(const struct map *m, struct span name, unsigned *from, unsigned *to, struct buf *why)
{
    if (span_is(name, "*")) {
        *from = 0;
        *to = (unsigned)map_place_count(m);
        return ST_OK;
    }
    if (!map_find(m, name, from)) {
        buf_printf(why, "no place is called %.*s", SPAN_ARG(name));
        return ST_NOT_FOUND;
    }
    *to = *from + 1;
    return ST_OK;
}

typedef status pair_fn(struct map *m, unsigned a, unsigned b, const void *arg);

/* Two places of one node have no path, and nobody minds what is said of it. */
static status set_pair(struct map *m, unsigned a, unsigned b, pair_fn *fn, const void *arg)
{
    status st = fn(m, a, b, arg);
    return st == ST_UNSUPPORTED && map_place(m, a)->node == map_place(m, b)->node ? ST_OK : st;
}

/* words[1] and words[2] are the places. A pair that was named must be one; of "*" those that are pairs are set. */
static status each_pair(struct map *m, const struct span *words, pair_fn *fn, const void *arg, struct buf *why)
{
    unsigned a0, a1, b0, b1;
    status st = places_of(m, words[1], &a0, &a1, why);
    if (st == ST_OK)
        st = places_of(m, words[2], &b0, &b1, why);
    if (st != ST_OK)
        return st;
    bool is_named = !span_is(words[1], "*") && !span_is(words[2], "*");
    for (unsigned a = a0; a < a1; a++) {
        for (unsigned b = b0; b < b1; b++) {
            st = set_pair(m, a, b, fn, arg);
            if (st != ST_OK && is_named) {
                buf_printf(why, "neither %.*s nor %.*s has a namespace of its own", SPAN_ARG(words[1]),
                           SPAN_ARG(words[2]));
                return st;
            }
        }
    }
    return ST_OK;
}

static bool is_everything(const struct span *words)
{
    return span_is(words[1], "*") && span_is(words[2], "*");
}

static status set_path(struct map *m, unsigned a, unsigned b, const void *arg)
{
    return map_set_path(m, a, b, arg);
}

static status set_loss(struct map *m, unsigned a, unsigned b, const void *arg)
{
    return map_set_loss(m, a, b, *(const unsigned *)arg);
}

static status set_jitter(struct map *m, unsigned a, unsigned b, const void *arg)
{
    struct map_path p = map_path(m, a, b);
    p.jitter_ms = *(const float *)arg;
    return map_set_path(m, a, b, &p);
}

/* "-" in place of the round trip: it stays. */
static status lab_jitter(struct map *m, const struct span *words, double jitter, struct buf *why)
{
    float ms = (float)jitter;
    return each_pair(m, words, set_jitter, &ms, why);
}

status lab_rtt(struct map *m, const struct span *words, size_t n, struct buf *why)
{
    double rtt = 0, jitter = 0;
    bool stays = n == 5 && span_is(words[3], "-");
    if (n < 4 || n > 5 || (!stays && !lab_number(words[3], MAP_RTT_MAX_MS, &rtt)) ||
        (n == 5 && !lab_number(words[4], MAP_RTT_MAX_MS, &jitter))) {
        buf_puts(why, "rtt PLACE PLACE MILLISECONDS|- [JITTER]");
        return ST_INVALID;
    }
    if (stays)
        return lab_jitter(m, words, jitter, why);
    struct map_path p = {.rtt_ms = (float)rtt, .jitter_ms = (float)jitter};
    status st = each_pair(m, words, set_path, &p, why);
    if (st == ST_OK && is_everything(words))
        map_set_far(m, &p);
    return st;
}

status lab_loss(struct map *m, const struct span *words, size_t n, struct buf *why)
{
    double percent;
    if (n != 4 || !lab_number(words[3], 100, &percent)) {
        buf_puts(why, "loss PLACE PLACE PERCENT");
        return ST_INVALID;
    }
    unsigned loss = (unsigned)(percent * MAP_LOSS_ALL / 100 + 0.5);
    status st = each_pair(m, words, set_loss, &loss, why);
    if (st == ST_OK && is_everything(words))
        map_set_far_loss(m, loss);
    return st;
}

/* ---- links ---- */

/* "250k", "1.5M", "80000", "0". */
static bool bandwidth_of(struct span text, uint64_t *out)
{
    double scale = 1, v;
    if (text.n && (text.p[text.n - 1] == 'k' || text.p[text.n - 1] == 'M')) {
        scale = text.p[text.n - 1] == 'k' ? 1e3 : 1e6;
        text.n--;
    }
    if (!lab_number(text, (double)MAP_BANDWIDTH_MAX / scale, &v))
        return false;
    *out = (uint64_t)(v * scale + 0.5);
    return *out == 0 || *out >= MAP_BANDWIDTH_MIN;
}

status lab_bandwidth(struct map *m, const struct span *words, size_t n, struct buf *why)
{
    uint64_t rate;
    unsigned place, from = 0, to = (unsigned)map_node_count(m);
    if (n != 3 || !bandwidth_of(words[2], &rate)) {
        buf_printf(why, "bandwidth PLACE BYTES_A_SECOND (0: no limit, or from %d)", MAP_BANDWIDTH_MIN);
        return ST_INVALID;
    }
    if (!span_is(words[1], "*")) {
        if (map_find(m, words[1], &place)) {
            from = map_place(m, place)->node;
        } else if (!map_find_node(m, words[1], &from)) {
            buf_printf(why, "no place is called %.*s", SPAN_ARG(words[1]));
            return ST_NOT_FOUND;
        }
        to = from + 1;
    }
    status st = ST_OK;
    for (unsigned i = from; st == ST_OK && i < to; i++)
        st = map_set_bandwidth(m, i, rate);
    return st;
}

/* ---- matrix FILE ---- */

static status matrix_row(struct map *m, const struct span *columns, size_t n, struct span row, struct buf *why)
{
    struct span name, cell;
    unsigned a, b;
    if (!span_split(&row, '\t', &name) || !map_find(m, name, &a))
        return ST_OK;
    for (size_t i = 0; i < n; i++) {
        double rtt;
        if (!span_split(&row, '\t', &cell) || !lab_number(cell, MAP_RTT_MAX_MS, &rtt)) {
            buf_printf(why, "row %.*s has no round trip in column %.*s", SPAN_ARG(name), SPAN_ARG(columns[i]));
            return ST_INVALID;
        }
        struct map_path p = {.rtt_ms = (float)rtt};
        if (!map_find(m, columns[i], &b) || a == b)
            continue;
        p.jitter_ms = map_path(m, a, b).jitter_ms;
        status st = set_pair(m, a, b, set_path, &p);
        if (st != ST_OK) {
            buf_printf(why, "%.*s to %.*s: %s", SPAN_ARG(name), SPAN_ARG(columns[i]), status_name(st));
            return st;
        }
    }
    return ST_OK;
}

static struct span line_of(struct span *rest, bool *is_line)
{
    struct span line = {0};
    *is_line = rest->n > 0 && span_split(rest, '\n', &line);
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

status lab_matrix(struct map *m, struct span text, struct buf *why)
{
    bool is_line;
    struct span head = line_of(&text, &is_line), cell;
    struct span *columns = NULL;
    size_t n = 0, cap = 0;
    bool is_first = true;
    while (head.n && span_split(&head, '\t', &cell)) {
        if (!is_first) {
            columns = mem_grow(columns, &cap, n + 1, sizeof(*columns));
            columns[n++] = cell;
        }
        is_first = false;
    }
    status st = n ? ST_OK : ST_INVALID;
    if (st != ST_OK)
        buf_puts(why, "the first line names no places");
    while (st == ST_OK) {
        struct span line = line_of(&text, &is_line);
        if (!is_line)
            break;
        if (line.n)
            st = matrix_row(m, columns, n, line, why);
    }
    free(columns);
    return st;
}

status lab_matrix_file(struct map *m, const char *path, struct buf *why)
{
    struct buf text = {0};
    status st = lab_read(path, &text);
    if (st != ST_OK)
        buf_printf(why, "read %s: %s", path, status_name(st));
    else
        st = lab_matrix(m, buf_span(&text), why);
    buf_done(&text);
    return st;
}
