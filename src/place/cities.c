#include "place/cities.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NUMBER_BYTES_MAX 24

/* Digits with a sign and a point, nothing else that strtod would take. */
static bool read_degrees(struct span s, float *out)
{
    char text[NUMBER_BYTES_MAX + 1];
    bool has_digit = false;
    if (s.n > NUMBER_BYTES_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        text[i] = s.p[i];
        has_digit |= ascii_is_digit(s.p[i]);
        if (!ascii_is_digit(s.p[i]) && s.p[i] != '.' && !(i == 0 && s.p[i] == '-'))
            return false;
    }
    text[s.n] = '\0';
    char *end;
    *out = strtof(text, &end);
    return has_digit && *end == '\0';
}

static bool read_country(struct span s, char out[3])
{
    if (s.n != 2 || s.p[0] < 'A' || s.p[0] > 'Z' || s.p[1] < 'A' || s.p[1] > 'Z')
        return false;
    memcpy(out, s.p, 2);
    out[2] = '\0';
    return true;
}

static bool read_line(struct span line, struct city *out)
{
    struct span part[5], rest = line;
    uint64_t people;
    for (size_t i = 0; i < 5; i++)
        if (!span_split(&rest, '\t', &part[i]))
            return false;
    if (rest.p || !read_country(part[0], out->country) || !part[1].n || !span_u64(part[4], UINT32_MAX, &people))
        return false;
    out->name = part[1];
    out->people = (uint32_t)people;
    return read_degrees(part[2], &out->spot.latitude) && read_degrees(part[3], &out->spot.longitude) &&
           spot_is_valid(out->spot);
}

static bool comes_after(const struct city *a, const struct city *b)
{
    int order = strcmp(a->country, b->country);
    return order > 0 || (order == 0 && a->people <= b->people);
}

status cities_read(struct span text, struct cities *out)
{
    struct cities c = {0};
    size_t cap = 0;
    struct span line, head;
    status st = span_split(&text, '\n', &head) && span_starts(head, SPAN("country\t")) ? ST_OK : ST_INVALID;
    while (st == ST_OK && span_split(&text, '\n', &line)) {
        if (!line.n && !text.n)
            break; /* after the last line end */
        struct city city;
        if (c.count == CITIES_MAX)
            st = ST_LIMIT;
        else if (!read_line(line, &city) || (c.count && !comes_after(&city, &c.list[c.count - 1])))
            st = ST_INVALID;
        else {
            c.list = mem_grow(c.list, &cap, c.count + 1, sizeof(*c.list));
            c.list[c.count++] = city;
        }
    }
    if (st != ST_OK) {
        cities_done(&c);
        return st;
    }
    *out = c;
    return ST_OK;
}

void cities_done(struct cities *c)
{
    free(c->list);
    *c = (struct cities){0};
}

/* The first city whose country is not before `country`, or after it. */
static size_t bound(const struct cities *c, const char *country, bool is_upper)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(c->list[mid].country, country, 2);
        if (order < 0 || (is_upper && order == 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct city *cities_named(const struct cities *c, struct span name)
{
    const struct city *best = NULL;
    size_t comma = span_find(name, ',', 0);
    struct span country = comma < name.n ? span_trim(span_from(name, comma + 1)) : (struct span){0};
    name = span_trim(span_cut(name, 0, comma));
    for (size_t i = 0; i < c->count; i++) {
        const struct city *at = &c->list[i];
        if (span_eq_nocase(at->name, name) && (!country.n || span_is_nocase(country, at->country)) &&
            (!best || at->people > best->people))
            best = at;
    }
    return best;
}

const struct city *cities_of(const struct cities *c, const char country[3], size_t *count)
{
    size_t first = bound(c, country, false);
    *count = bound(c, country, true) - first;
    return c->list ? c->list + first : NULL;
}

const struct city *cities_near(const struct cities *c, struct spot spot)
{
    const struct city *best = NULL;
    double least = 0;
    for (size_t i = 0; i < c->count; i++) {
        double km = geo_km(c->list[i].spot, spot);
        if (!best || km < least) {
            best = &c->list[i];
            least = km;
        }
    }
    return best;
}
