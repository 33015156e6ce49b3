#include "base/mem.h"
#include "lab/map/lab.h"

#define PAGES_DEFAULT 5
#define BYTES_DEFAULT 4000

struct lab_site lab_site_default(void)
{
    return (struct lab_site){.pages = PAGES_DEFAULT,
                             .bytes_per_page = BYTES_DEFAULT,
                             .change_per_day = -1,
                             .errors_percent = -1,
                             .limit_per_s = -1};
}

static const struct option {
    const char *name;
    double max;
    bool is_whole;
} options[] = {{"pages", LAB_PAGES_MAX, true},
               {"bytes", LAB_PAGE_BYTES_MAX, true},
               {"think", LAB_THINK_MAX_MS, true},
               {"change", LAB_CHANGE_MAX, false},
               {"errors", 100, false},
               {"limit", LAB_LIMIT_MAX, false}};
enum { PAGES, BYTES, THINK, CHANGE, ERRORS, LIMIT, OPTIONS };

static void set(struct lab_site *s, size_t which, double v)
{
    if (which == PAGES)
        s->pages = v >= 1 ? (uint32_t)v : 1;
    else if (which == BYTES)
        s->bytes_per_page = (uint32_t)v;
    else if (which == THINK)
        s->think_ms = (int)v;
    else if (which == CHANGE)
        s->change_per_day = (float)v;
    else if (which == ERRORS)
        s->errors_percent = (float)v;
    else
        s->limit_per_s = (float)v;
    s->has_own_change = s->has_own_change || which == CHANGE;
}

status lab_site_option(struct lab_site *s, struct span word, bool *is_option, struct buf *why)
{
    size_t equals = span_find(word, '=', 0), i = 0;
    while (i < OPTIONS && !(equals < word.n && span_is(span_cut(word, 0, equals), options[i].name)))
        i++;
    *is_option = i < OPTIONS;
    if (i == OPTIONS)
        return ST_OK;
    const struct option *o = &options[i];
    struct span value = span_from(word, equals + 1);
    double v = 0;
    uint64_t n = 0;
    if (o->is_whole ? !span_u64(value, (uint64_t)o->max, &n) : !lab_number(value, o->max, &v)) {
        buf_printf(why, "\"%.*s\" is no number up to %.0f", SPAN_ARG(value), o->max);
        return ST_INVALID;
    }
    set(s, i, o->is_whole ? (double)n : v);
    return ST_OK;
}

static bool parse_degrees(struct span text, float *out)
{
    double v;
    bool is_negative = text.n && text.p[0] == '-';
    if (!lab_number(span_from(text, is_negative), 180, &v))
        return false;
    *out = (float)(is_negative ? -v : v);
    return true;
}

bool lab_spot_parse(struct span text, struct spot *out)
{
    size_t comma = span_find(text, ',', 0);
    struct spot s;
    if (!parse_degrees(span_cut(text, 0, comma), &s.latitude) ||
        !parse_degrees(span_from(text, comma + 1), &s.longitude) || !spot_is_valid(s))
        return false;
    *out = s;
    return true;
}

void lab_add_spot(struct lab *l, struct span host, struct spot spot)
{
    l->spots = mem_grow(l->spots, &l->spot_cap, l->spot_count + 1, sizeof(*l->spots));
    l->spots[l->spot_count++] = (struct lab_spot){host, spot};
}
