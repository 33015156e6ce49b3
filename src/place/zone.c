#include "place/zone.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"

#define HEAD_BYTES 44
#define OFFSET_MAX 93600  /* 26 hours: beyond what any clock was set to (RFC 8536 section 3.2) */
#define RULE_TIME_MAX 167 /* hours: RFC 8536 section 3.3.1 */
#define DAY 86400

/* "M3.5.0/3": the day and second of a year when clocks change. */
struct turn {
    char kind; /* 'M' month.week.day, 'J' day 1..365 without 29 February, '0' day 0..365 */
    int month, week, day;
    int32_t second;
};

struct zone {
    int64_t *times;   /* owned: when the offset becomes offsets[i + 1] */
    int32_t *offsets; /* owned: time_count + 1; the first is for all before */
    size_t time_count;
    bool has_rule, has_summer;
    int32_t winter, summer; /* offsets of the rule */
    struct turn begin, end; /* of summer time */
};

/* ---- the file ---- */

struct head {
    uint8_t version;
    uint32_t utc, standard, leap, time, type, chars;
};

static uint32_t get_be32(struct unpack *u)
{
    uint32_t v = unpack_u32(u);
    return __builtin_bswap32(v);
}

static bool read_head(struct unpack *u, struct head *h)
{
    if (!span_eq(unpack_bytes(u, 4), SPAN("TZif")))
        return false;
    h->version = unpack_u8(u);
    (void)unpack_bytes(u, 15);
    h->utc = get_be32(u);
    h->standard = get_be32(u);
    h->leap = get_be32(u);
    h->time = get_be32(u);
    h->type = get_be32(u);
    h->chars = get_be32(u);
    /* With a file of at most ZONE_FILE_MAX no count is larger; so the sums below cannot overflow. */
    return !u->bad && h->utc <= ZONE_FILE_MAX && h->standard <= ZONE_FILE_MAX && h->leap <= ZONE_FILE_MAX &&
           h->time <= ZONE_FILE_MAX && h->type && h->type <= 256 && h->chars <= ZONE_FILE_MAX;
}

static size_t data_bytes(const struct head *h, size_t time_bytes)
{
    return h->time * (time_bytes + 1) + h->type * 6 + h->chars + h->leap * (time_bytes + 4) + h->standard + h->utc;
}

static int64_t time_at(struct span times, size_t i, size_t bytes)
{
    uint64_t v = 0;
    for (size_t k = 0; k < bytes; k++)
        v = v << 8 | (unsigned char)times.p[i * bytes + k];
    return bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

static bool type_offset(struct span types, size_t type, int32_t *out)
{
    if (type >= types.n / 6)
        return false;
    *out = (int32_t)time_at(span_cut(types, type * 6, 4), 0, 4);
    return *out >= -OFFSET_MAX && *out <= OFFSET_MAX;
}

static bool read_table(struct span data, const struct head *h, size_t time_bytes, struct zone *z)
{
    struct span times = span_cut(data, 0, h->time * time_bytes);
    struct span which = span_cut(data, times.n, h->time);
    struct span types = span_cut(data, times.n + which.n, h->type * 6);
    z->times = mem_alloc((h->time + 1) * sizeof(*z->times));
    z->offsets = mem_alloc((h->time + 1) * sizeof(*z->offsets));
    z->time_count = h->time;
    if (!type_offset(types, 0, &z->offsets[0]))
        return false;
    for (size_t i = 0; i < h->time; i++) {
        z->times[i] = time_at(times, i, time_bytes);
        if ((i && z->times[i] <= z->times[i - 1]) || !type_offset(types, (unsigned char)which.p[i], &z->offsets[i + 1]))
            return false;
    }
    return true;
}

/* ---- the rule at the end: "EET-2EEST,M3.5.0/3,M10.5.0/4" ---- */

static bool skip_name(struct span *s)
{
    size_t n = 0;
    if (s->n && s->p[0] == '<') {
        n = span_find(*s, '>', 0) + 1;
    } else {
        while (n < s->n && ascii_is_alpha(s->p[n]))
            n++;
    }
    if (n < 3 || n > s->n)
        return false;
    *s = span_from(*s, n);
    return true;
}

static bool take(struct span *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = span_from(*s, 1);
    return true;
}

static bool take_number(struct span *s, int max, int *out)
{
    size_t n = 0;
    uint64_t v;
    while (n < s->n && n < 4 && ascii_is_digit(s->p[n]))
        n++;
    if (!span_u64(span_cut(*s, 0, n), (uint64_t)max, &v))
        return false;
    *s = span_from(*s, n);
    *out = (int)v;
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct span *s, int32_t *out)
{
    int h, m = 0, sec = 0;
    bool is_minus = take(s, '-');
    if (!is_minus)
        (void)take(s, '+');
    if (!take_number(s, RULE_TIME_MAX, &h) || (take(s, ':') && !take_number(s, 59, &m)) ||
        (take(s, ':') && !take_number(s, 59, &sec)))
        return false;
    *out = (h * 3600 + m * 60 + sec) * (is_minus ? -1 : 1);
    return true;
}

static bool take_turn(struct span *s, struct turn *t)
{
    *t = (struct turn){.kind = '0', .second = 7200};
    if (!take(s, ','))
        return false;
    if (take(s, 'M')) {
        t->kind = 'M';
        if (!take_number(s, 12, &t->month) || !t->month || !take(s, '.') || !take_number(s, 5, &t->week) || !t->week ||
            !take(s, '.') || !take_number(s, 6, &t->day))
            return false;
    } else {
        if (take(s, 'J'))
            t->kind = 'J';
        if (!take_number(s, 365, &t->day) || (t->kind == 'J' && !t->day))
            return false;
    }
    return !take(s, '/') || take_time(s, &t->second);
}

static bool read_rule(struct span s, struct zone *z)
{
    int32_t west;
    if (!s.n)
        return true;
    if (!skip_name(&s) || !take_time(&s, &west) || west < -OFFSET_MAX || west > OFFSET_MAX)
        return false;
    z->has_rule = true;
    z->winter = -west;
    if (!s.n)
        return true;
    z->has_summer = true;
    z->summer = z->winter + 3600;
    if (!skip_name(&s))
        return false;
    if (s.n && s.p[0] != ',') {
        if (!take_time(&s, &west) || west < -OFFSET_MAX || west > OFFSET_MAX)
            return false;
        z->summer = -west;
    }
    return take_turn(&s, &z->begin) && take_turn(&s, &z->end) && !s.n;
}

static bool read_file(struct span tzif, struct zone *z)
{
    struct unpack u = unpack_of(tzif);
    struct head h;
    size_t time_bytes = 4;
    if (!read_head(&u, &h))
        return false;
    if (h.version >= '2') {
        (void)unpack_bytes(&u, data_bytes(&h, time_bytes)); /* the same in 32 bits, for readers of old */
        time_bytes = 8;
        if (!read_head(&u, &h))
            return false;
    }
    struct span data = unpack_bytes(&u, data_bytes(&h, time_bytes));
    if (u.bad || !read_table(data, &h, time_bytes, z))
        return false;
    if (h.version < '2')
        return true;
    struct span foot = span_of(u.at, (size_t)(u.end - u.at));
    if (foot.n < 2 || foot.p[0] != '\n' || foot.p[foot.n - 1] != '\n')
        return false;
    return read_rule(span_cut(foot, 1, foot.n - 2), z);
}

status zone_new(struct span tzif, struct zone **out)
{
    if (tzif.n > ZONE_FILE_MAX)
        return ST_LIMIT;
    struct zone *z = mem_alloc(sizeof(*z));
    if (!read_file(tzif, z)) {
        zone_free(z);
        return ST_CORRUPT;
    }
    *out = z;
    return ST_OK;
}

void zone_free(struct zone *z)
{
    if (!z)
        return;
    free(z->times);
    free(z->offsets);
    free(z);
}

/* ---- asking ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Days from 1970-01-01 to the first of March of a year, from which on leap days are at the end. */
static int64_t march_first(int64_t year)
{
    return 365 * year + floor_div(year, 4) - floor_div(year, 100) + floor_div(year, 400) - 719468;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int64_t new_year(int64_t year)
{
    return march_first(year) - 59 - is_leap(year);
}

static int64_t year_of(int64_t day)
{
    int64_t year = 1970 + floor_div(day * 400, 146097);
    while (new_year(year) > day)
        year--;
    while (new_year(year + 1) <= day)
        year++;
    return year;
}

static int64_t turn_day(const struct turn *t, int64_t year)
{
    static const int before[2][13] = {{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
                                      {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366}};
    bool leap = is_leap(year);
    if (t->kind == '0')
        return new_year(year) + t->day;
    if (t->kind == 'J')
        return new_year(year) + t->day - 1 + (leap && t->day >= 60);
    int64_t first = new_year(year) + before[leap][t->month - 1];
    int64_t weekday = (first % 7 + 7 + 4) % 7; /* 1970-01-01 was a Thursday; 0 is Sunday */
    int64_t day = first + (t->day - weekday + 7) % 7 + 7 * (t->week - 1);
    int64_t next_month = new_year(year) + before[leap][t->month];
    return day >= next_month ? day - 7 : day; /* week 5 is the last, which may be the fourth */
}

static int32_t rule_offset(const struct zone *z, int64_t second)
{
    if (!z->has_summer)
        return z->winter;
    int64_t year = year_of(floor_div(second + z->winter, DAY));
    int64_t begin = turn_day(&z->begin, year) * DAY + z->begin.second - z->winter;
    int64_t end = turn_day(&z->end, year) * DAY + z->end.second - z->summer;
    bool is_summer = begin < end ? second >= begin && second < end : !(second >= end && second < begin);
    return is_summer ? z->summer : z->winter;
}

int32_t zone_offset(const struct zone *z, wall_ms at)
{
    int64_t second = floor_div(at, 1000);
    if (z->has_rule && (!z->time_count || second >= z->times[z->time_count - 1]))
        return rule_offset(z, second);
    size_t low = 0, high = z->time_count; /* how many changes were before */
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (z->times[mid] <= second)
            low = mid + 1;
        else
            high = mid;
    }
    return z->offsets[low];
}

bool zone_name_is_good(struct span name)
{
    if (!name.n || name.n >= ZONE_NAME_MAX || name.p[0] == '/' || name.p[name.n - 1] == '/')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '_' && c != '-' && c != '+' && c != '/')
            return false;
    }
    return span_search(name, SPAN("//"), false) == name.n;
}
