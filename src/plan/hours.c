#include "plan/hours.h"

#include <assert.h>
#include <stdlib.h>

#include "place/zone.h"

#define DAY 1440u   /* minutes */
#define WEEK 10080u /* minutes */
/* Wherever we are, all that an agent's week has is within two weeks. */
#define LOOK_AHEAD_S (15 * 86400)

static const char day_names[7][4] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

/* ---- reading ---- */

static status complain(struct buf *why, const char *what, struct span word)
{
    if (why) {
        buf_printf(why, "%s: \"", what);
        buf_put(why, span_cut(word, 0, 64));
        buf_putc(why, '"');
    }
    return ST_INVALID;
}

static int day_number(struct span s)
{
    for (int i = 0; i < 7; i++)
        if (span_is_nocase(s, day_names[i]))
            return i;
    return -1;
}

/* "mon-fri,sun" as bits. */
static bool read_days(struct span s, unsigned *out)
{
    struct span part;
    unsigned days = 0;
    while (span_split(&s, ',', &part)) {
        size_t dash = span_find(part, '-', 0);
        int from = day_number(span_cut(part, 0, dash));
        int to = dash < part.n ? day_number(span_from(part, dash + 1)) : from;
        if (from < 0 || to < 0)
            return false;
        for (int d = from;; d = (d + 1) % 7) {
            days |= 1u << d;
            if (d == to)
                break;
        }
    }
    *out = days;
    return days != 0;
}

static bool read_minute(struct span s, unsigned *out)
{
    uint64_t h, m;
    if (s.n != 5 || s.p[2] != ':' || !span_u64(span_cut(s, 0, 2), 24, &h) || !span_u64(span_from(s, 3), 59, &m))
        return false;
    *out = (unsigned)(h * 60 + m);
    return *out <= DAY;
}

/* "20:00-06:00": a time that is not later than its beginning is of the next day. */
static bool read_span(struct span s, unsigned *from, unsigned *to)
{
    size_t dash = span_find(s, '-', 0);
    if (!read_minute(span_cut(s, 0, dash), from) || !read_minute(span_from(s, dash + 1), to) || *from == DAY ||
        *from == *to)
        return false;
    if (*to < *from)
        *to += DAY;
    return true;
}

static bool next_word(struct span *s, struct span *word)
{
    *s = span_trim(*s);
    if (!s->n)
        return false;
    size_t n = 0;
    while (n < s->n && !ascii_is_space(s->p[n]))
        n++;
    *word = span_cut(*s, 0, n);
    *s = span_from(*s, n);
    return true;
}

static status add_times(struct span times, unsigned days, struct hours *h, struct buf *why)
{
    struct span part;
    while (span_split(&times, ',', &part)) {
        unsigned from, to;
        if (!read_span(part, &from, &to))
            return complain(why, "no span of time", part);
        for (unsigned d = 0; d < 7; d++) {
            if (!(days >> d & 1))
                continue;
            if (h->count == sizeof(h->spans) / sizeof(h->spans[0]))
                return ST_LIMIT;
            h->spans[h->count++] = (struct hours_span){(uint16_t)(d * DAY + from), (uint16_t)(d * DAY + to)};
        }
    }
    return ST_OK;
}

/* One rule; the last one may end with the zone. */
static status read_rule(struct span rule, bool is_last, bool is_only, struct hours *h, struct buf *why)
{
    struct span word[4];
    size_t n = 0;
    unsigned days = 127;
    while (n < 4 && next_word(&rule, &word[n]))
        n++;
    size_t at = 0;
    if (at < n && ascii_is_alpha(word[at].p[0]) && read_days(word[at], &days))
        at++;
    if (at < n && ascii_is_digit(word[at].p[0])) {
        status st = add_times(word[at], days, h, why);
        if (st != ST_OK)
            return st;
        at++;
    } else if (at || n > 1 || !is_only || !n)
        return complain(why, "hours are missing", at < n ? word[at] : n ? word[n - 1] : rule);
    if (at < n && is_last && zone_name_is_good(word[at])) {
        if (!span_is(word[at], "UTC"))
            memcpy(h->zone, word[at].p, word[at].n);
        at++;
    }
    return at == n ? ST_OK : complain(why, "not understood", word[at]);
}

static int by_begin(const void *a, const void *b)
{
    const struct hours_span *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->to > y->to) - (x->to < y->to);
}

static void sort_spans(struct hours *h)
{
    unsigned n = 0;
    qsort(h->spans, h->count, sizeof(h->spans[0]), by_begin);
    for (unsigned i = 0; i < h->count; i++)
        if (!n || by_begin(&h->spans[n - 1], &h->spans[i]) != 0)
            h->spans[n++] = h->spans[i];
    memset(&h->spans[n], 0, (sizeof(h->spans) / sizeof(h->spans[0]) - n) * sizeof(h->spans[0]));
    h->count = n;
}

static status parse(struct span text, struct hours *out, struct buf *why)
{
    static_assert(HOURS_ZONE_MAX >= ZONE_NAME_MAX, "a good name and its NUL fit");
    struct hours h = {0};
    struct span rest = span_trim(text), rule;
    bool is_only = span_find(rest, ';', 0) == rest.n;
    status st = ST_OK;
    if (text.n > HOURS_TEXT_MAX)
        return ST_LIMIT;
    while (st == ST_OK && rest.n && span_split(&rest, ';', &rule))
        st = read_rule(rule, rest.p == NULL, is_only, &h, why);
    if (st != ST_OK)
        return st;
    sort_spans(&h);
    struct buf b = {0}; /* what we write ourselves must be readable again */
    hours_format(&h, &b);
    if (b.n > HOURS_TEXT_MAX)
        st = ST_LIMIT;
    else
        *out = h;
    buf_done(&b);
    return st;
}

status hours_parse(struct span text, struct hours *out, struct buf *why)
{
    status st = parse(text, out, why);
    if (st == ST_LIMIT && why && !why->n)
        buf_puts(why, "hours: too many, or too long a text: write fewer");
    return st;
}

/* ---- writing: the days of each time, times of equal days together ---- */

static unsigned days_of(const struct hours *h, unsigned from, unsigned to)
{
    unsigned days = 0;
    for (unsigned i = 0; i < h->count; i++)
        if (h->spans[i].from % DAY == from && h->spans[i].to == h->spans[i].from + to - from)
            days |= 1u << (h->spans[i].from / DAY);
    return days;
}

static void put_days(unsigned days, struct buf *out)
{
    bool is_first = true;
    if (days == 127)
        return;
    for (int d = 0; d < 7; d++) {
        if (!(days >> d & 1))
            continue;
        int last = d;
        while (last < 6 && days >> (last + 1) & 1)
            last++;
        if (last < d + 2)
            last = d; /* two days are shorter as a list */
        buf_printf(out, "%s%s", is_first ? "" : ",", day_names[d]);
        if (last > d)
            buf_printf(out, "-%s", day_names[last]);
        d = last;
        is_first = false;
    }
    buf_putc(out, ' ');
}

static void put_span(unsigned from, unsigned to, struct buf *out)
{
    to = to > DAY ? to - DAY : to;
    buf_printf(out, "%02u:%02u-%02u:%02u", from / 60, from % 60, to / 60, to % 60);
}

void hours_format(const struct hours *h, struct buf *out)
{
    bool done[sizeof(h->spans) / sizeof(h->spans[0])] = {false};
    bool is_first = true;
    for (unsigned i = 0; i < h->count; i++) {
        unsigned from = h->spans[i].from % DAY, to = from + h->spans[i].to - h->spans[i].from;
        unsigned days = days_of(h, from, to);
        if (done[i])
            continue;
        if (!is_first)
            buf_puts(out, "; ");
        put_days(days, out);
        is_first = true;
        for (unsigned k = i; k < h->count; k++) {
            unsigned f = h->spans[k].from % DAY, t = f + h->spans[k].to - h->spans[k].from;
            if (done[k] || days_of(h, f, t) != days)
                continue;
            if (h->spans[k].from / DAY == h->spans[i].from / DAY) { /* once, with the first of its days */
                if (!is_first)
                    buf_putc(out, ',');
                put_span(f, t, out);
                is_first = false;
            }
            done[k] = true;
        }
        is_first = false;
    }
    if (h->zone[0])
        buf_printf(out, "%s%s", h->count ? " " : "", h->zone);
}

/* ---- asking ---- */

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t m = a % b;
    return m < 0 ? m + b : m;
}

static int64_t floor_second(wall_ms at)
{
    return (at - floor_mod(at, 1000)) / 1000;
}

/* Minute of the week; 1970-01-01 was a Thursday. */
static unsigned minute_of(int64_t local_second)
{
    return (unsigned)floor_mod((local_second - floor_mod(local_second, 60)) / 60 + 3 * (int64_t)DAY, WEEK);
}

static bool is_open_at(const struct hours *h, unsigned minute)
{
    for (unsigned i = 0; i < h->count; i++)
        if ((minute >= h->spans[i].from && minute < h->spans[i].to) || minute + WEEK < h->spans[i].to)
            return true;
    return h->count == 0;
}

static int32_t offset_at(const struct hours *h, int64_t second, hours_offset_fn *offset, void *arg)
{
    return h->zone[0] && offset ? offset(arg, second * 1000) : 0;
}

bool hours_is_open(const struct hours *h, wall_ms at, hours_offset_fn *offset, void *arg)
{
    int64_t s = floor_second(at);
    return is_open_at(h, minute_of(s + offset_at(h, s, offset, arg)));
}

/* Minutes to the next beginning or end of a span. */
static unsigned to_next_edge(const struct hours *h, unsigned minute)
{
    unsigned least = WEEK;
    for (unsigned i = 0; i < h->count; i++) {
        unsigned edges[2] = {h->spans[i].from, h->spans[i].to % WEEK};
        for (int k = 0; k < 2; k++) {
            unsigned d = (edges[k] + WEEK - minute) % WEEK;
            if (d && d < least)
                least = d;
        }
    }
    return least;
}

/* The first second after `from`, up to `to`, whose offset is not that of `from`. */
static int64_t find_shift(const struct hours *h, int64_t from, int64_t to, hours_offset_fn *offset, void *arg)
{
    int32_t before = offset_at(h, from, offset, arg);
    while (to - from > 1) {
        int64_t mid = from + (to - from) / 2;
        if (offset_at(h, mid, offset, arg) == before)
            from = mid;
        else
            to = mid;
    }
    return to;
}

wall_ms hours_next_change(const struct hours *h, wall_ms at, hours_offset_fn *offset, void *arg)
{
    if (!h->count || at > INT64_MAX - 2 * INT64_C(1000) * LOOK_AHEAD_S || at < INT64_MIN / 2)
        return INT64_MAX;
    int64_t begin = floor_second(at), s = begin;
    bool was_open = hours_is_open(h, at, offset, arg);
    while (s < begin + LOOK_AHEAD_S) {
        int32_t shift = offset_at(h, s, offset, arg);
        int64_t next = s - floor_mod(s + shift, 60) + 60 * (int64_t)to_next_edge(h, minute_of(s + shift));
        if (offset_at(h, next, offset, arg) != shift)
            next = find_shift(h, s, next, offset, arg); /* clocks jump before the edge: look again there */
        s = next;
        if (is_open_at(h, minute_of(s + offset_at(h, s, offset, arg))) != was_open)
            return s * 1000;
    }
    return INT64_MAX;
}
