/* admin_pairs.c - the fields of a request, from a form or from JSON, and numbers as people write them. */
#include <math.h>
#include <stdlib.h>

#include "coord/admin_internal.h"

static struct span decoded(struct arena *a, struct span s)
{
    char *to = arena_bytes(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int hi = i + 2 < s.n && s.p[i] == '%' ? ascii_hex(s.p[i + 1]) : -1, lo = hi < 0 ? -1 : ascii_hex(s.p[i + 2]);
        bool is_escape = hi >= 0 && lo >= 0;
        to[n++] = is_escape ? (char)(hi << 4 | lo) : s.p[i] == '+' ? ' ' : s.p[i];
        i += is_escape ? 2 : 0;
    }
    return span_of(to, n);
}

static struct json_pair *room(struct arena *a, struct pairs *p, size_t more)
{
    struct json_pair *list = arena_alloc(a, (p->n + more) * sizeof(*list));
    if (p->n)
        memcpy(list, p->list, p->n * sizeof(*list));
    p->list = list;
    return list + p->n;
}

status pairs_read_form(struct arena *a, struct span text, struct pairs *out)
{
    size_t count = 0;
    struct span part;
    for (struct span rest = text; text.n && span_split(&rest, '&', &part);)
        count++;
    if (count > ADMIN_PAIRS_MAX)
        return ST_LIMIT;
    struct json_pair *to = room(a, out, count);
    for (struct span rest = text; text.n && span_split(&rest, '&', &part);) {
        size_t eq = span_find(part, '=', 0);
        *to++ = (struct json_pair){decoded(a, span_cut(part, 0, eq)), decoded(a, span_from(part, eq + 1))};
    }
    out->n += count;
    return ST_OK;
}

status pairs_read_json(struct arena *a, struct span text, struct pairs *out, const char **why)
{
    struct json_pair *list = NULL;
    size_t count = 0;
    status st = json_read(a, text, &list, &count, why);
    if (st != ST_OK)
        return st;
    struct json_pair *to = room(a, out, count);
    if (count)
        memcpy(to, list, count * sizeof(*to));
    out->n += count;
    return ST_OK;
}

bool pairs_has(const struct pairs *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (span_is(p->list[i].name, name))
            return true;
    return false;
}

struct span pairs_get(const struct pairs *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (span_is(p->list[i].name, name))
            return span_trim(p->list[i].value);
    return SPAN("");
}

bool pairs_is_true(const struct pairs *p, const char *name)
{
    struct span v = pairs_get(p, name);
    return span_is(v, "1") || span_is_nocase(v, "true") || span_is_nocase(v, "on") || span_is_nocase(v, "yes");
}

bool pairs_u64(const struct pairs *p, const char *name, uint64_t max, uint64_t *out)
{
    struct span v = pairs_get(p, name);
    return v.n == 0 || span_u64(v, max, out);
}

/* Digits, perhaps with a point; no sign, exponent or words that strtod would take too. */
static bool real_parse(struct span s, double *out)
{
    char text[32];
    bool is_negative = s.n && s.p[0] == '-';
    unsigned points = 0, digits = 0;
    if (s.n == 0 || s.n >= sizeof(text))
        return false;
    for (size_t i = is_negative; i < s.n; i++) {
        points += s.p[i] == '.';
        digits += ascii_is_digit(s.p[i]);
        if (s.p[i] != '.' && !ascii_is_digit(s.p[i]))
            return false;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *out = strtod(text, NULL);
    return points <= 1 && digits > 0;
}

bool pairs_real(const struct pairs *p, const char *name, double min, double max, double *out, bool *is_there)
{
    struct span v = pairs_get(p, name);
    double d;
    *is_there = v.n > 0;
    if (v.n == 0)
        return true;
    if (!real_parse(v, &d) || d < min || d > max)
        return false;
    *out = d;
    return true;
}

/* Number and unit of "1.5 GB". */
static bool split_unit(struct span text, double *number, struct span *unit)
{
    size_t n = 0;
    while (n < text.n && (ascii_is_digit(text.p[n]) || text.p[n] == '.'))
        n++;
    *unit = span_trim(span_from(text, n));
    return real_parse(span_cut(text, 0, n), number);
}

bool bytes_parse(struct span text, uint64_t *out)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1},
                 {"b", 1},
                 {"bytes", 1},
                 {"k", 1e3},
                 {"kb", 1e3},
                 {"m", 1e6},
                 {"mb", 1e6},
                 {"g", 1e9},
                 {"gb", 1e9},
                 {"t", 1e12},
                 {"tb", 1e12},
                 {"kib", 1024},
                 {"mib", 1 << 20},
                 {"gib", 1024.0 * (1 << 20)},
                 {"tib", 1024.0 * 1024 * (1 << 20)}};
    double v;
    struct span unit;
    if (span_u64(span_trim(text), INT64_MAX, out))
        return true;
    if (!split_unit(span_trim(text), &v, &unit))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (span_is_nocase(unit, units[i].name) && v * units[i].factor < 9e15) { /* exact in a double */
            *out = (uint64_t)(v * units[i].factor);
            return true;
        }
    return false;
}

bool pairs_bytes(const struct pairs *p, const char *name, uint64_t *out)
{
    struct span v = pairs_get(p, name);
    return v.n == 0 || bytes_parse(v, out);
}

bool duration_parse(struct span text, int64_t *out)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1},          {"ms", 1},         {"s", 1000},           {"sec", 1000},         {"m", 60e3},
                 {"min", 60e3},    {"h", 3600e3},     {"hour", 3600e3},      {"hours", 3600e3},     {"d", 86400e3},
                 {"day", 86400e3}, {"days", 86400e3}, {"week", 7 * 86400e3}, {"weeks", 7 * 86400e3}};
    double v;
    struct span unit;
    if (!split_unit(span_trim(text), &v, &unit))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (span_is_nocase(unit, units[i].name) && v * units[i].ms < 1e13) { /* some 300 years */
            *out = (int64_t)(v * units[i].ms);
            return true;
        }
    return false;
}

size_t pairs_lines(struct arena *a, const struct pairs *p, const char *name, size_t max, struct span **out)
{
    size_t count = 0;
    struct span line;
    for (size_t i = 0; i < p->n; i++)
        if (span_is(p->list[i].name, name))
            for (struct span rest = p->list[i].value; span_split(&rest, '\n', &line);)
                count++;
    if (count > max)
        count = max;
    *out = arena_alloc(a, (count + 1) * sizeof(**out));
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!span_is(p->list[i].name, name))
            continue;
        for (struct span rest = p->list[i].value; n < count && span_split(&rest, '\n', &line);) {
            line = span_trim(line);
            if (line.n && line.p[0] != '#')
                (*out)[n++] = line;
        }
    }
    return n;
}
