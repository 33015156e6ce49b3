#include "web/date.h"

#define MINUTE_S 60
#define HOUR_S 3600
#define DAY_S 86400
#define ZONE_HOURS_MAX 14 /* the farthest from UTC that there is */

struct date {
    int year, month, day, hour, minute, second; /* month from 1 */
    int zone_s;                                 /* east of UTC */
};

static const char month_names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

/* Days from 1970-01-01 to a date of the Gregorian calendar; years run from March, so that leap days come last. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static bool is_real(const struct date *d)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = d->year % 4 == 0 && (d->year % 100 != 0 || d->year % 400 == 0);
    if (d->month < 1 || d->month > 12)
        return false;
    int length = lengths[d->month - 1] + (d->month == 2 && is_leap);
    bool is_midnight = d->hour == 24 && d->minute == 0 && d->second == 0;
    return d->year >= 1 && d->day >= 1 && d->day <= length && (d->hour <= 23 || is_midnight) && d->minute <= 59 &&
           d->second <= 60;
}

static wall_ms wall_of(const struct date *d)
{
    int64_t s = days_of(d->year, d->month, d->day) * DAY_S + d->hour * HOUR_S + d->minute * MINUTE_S + d->second;
    return (s - d->zone_s) * 1000;
}

/* ---- pieces ---- */

static bool eat(struct span *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = span_from(*s, 1);
    return true;
}

static void skip_space(struct span *s)
{
    while (s->n && ascii_is_space(s->p[0]))
        *s = span_from(*s, 1);
}

/* From `least` to `most` digits, as many as there are. */
static bool eat_number(struct span *s, size_t least, size_t most, int *out)
{
    size_t n = 0;
    int v = 0;
    for (; n < s->n && n < most && ascii_is_digit(s->p[n]); n++)
        v = v * 10 + (s->p[n] - '0');
    if (n < least)
        return false;
    *s = span_from(*s, n);
    *out = v;
    return true;
}

static struct span eat_word(struct span *s)
{
    size_t n = 0;
    while (n < s->n && ascii_is_alpha(s->p[n]))
        n++;
    struct span word = span_cut(*s, 0, n);
    *s = span_from(*s, n);
    return word;
}

/* "+01:00", "-0530", "+1": what follows the sign. */
static bool eat_offset(struct span *s, int sign, struct date *d)
{
    int hours = 0, minutes = 0;
    if (!eat_number(s, 1, 2, &hours))
        return false;
    (void)eat(s, ':');
    (void)eat_number(s, 2, 2, &minutes);
    if (hours > ZONE_HOURS_MAX || minutes > 59)
        return false;
    d->zone_s = sign * (hours * HOUR_S + minutes * MINUTE_S);
    return true;
}

/* Names of RFC 822; others are taken for UTC, as RFC 2822 has it. */
static void read_zone_name(struct span name, struct date *d)
{
    static const struct {
        const char *name;
        int hours;
    } known[] = {{"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5}, {"MST", -7},
                 {"MDT", -6}, {"PST", -8}, {"PDT", -7}, {"CET", 1},  {"CEST", 2}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (span_is_nocase(name, known[i].name))
            d->zone_s = known[i].hours * HOUR_S;
}

/* The rest of a date: nothing, "Z", a name or an offset. */
static bool eat_zone(struct span *s, struct date *d)
{
    skip_space(s);
    if (eat(s, '+'))
        return eat_offset(s, 1, d);
    if (eat(s, '-'))
        return eat_offset(s, -1, d);
    read_zone_name(eat_word(s), d);
    return true;
}

/* "08:49", "08:49:37", "08:49:37.25". */
static bool eat_time(struct span *s, struct date *d)
{
    int fraction;
    if (!eat_number(s, 1, 2, &d->hour) || !eat(s, ':') || !eat_number(s, 2, 2, &d->minute))
        return false;
    if (eat(s, ':') && !eat_number(s, 2, 2, &d->second))
        return false;
    if (eat(s, '.') || eat(s, ','))
        while (eat_number(s, 1, 1, &fraction)) {
        }
    return true;
}

/* ---- the two forms ---- */

/* 1997, 1997-07, 1997-07-16, 19970716, 1997-07-16T19:20+01:00, 1997-07-16T19:20:30.45Z. */
static bool read_w3c(struct span s, struct date *d)
{
    *d = (struct date){.month = 1, .day = 1};
    if (!eat_number(&s, 4, 4, &d->year))
        return false;
    bool is_basic = s.n >= 4 && ascii_is_digit(s.p[0]);
    if (!is_basic && !s.n)
        return true;
    if ((!is_basic && !eat(&s, '-')) || !eat_number(&s, 2, 2, &d->month))
        return false;
    if (!is_basic && !s.n)
        return true;
    if ((!is_basic && !eat(&s, '-')) || !eat_number(&s, 2, 2, &d->day))
        return false;
    if (eat(&s, 'T') || eat(&s, 't') || eat(&s, ' ')) {
        skip_space(&s);
        if (!eat_time(&s, d))
            return false;
    }
    return eat_zone(&s, d) && span_trim(s).n == 0;
}

static bool eat_month(struct span *s, int *out)
{
    struct span word = eat_word(s);
    for (int i = 0; word.n >= 3 && i < 12; i++)
        if (span_starts_nocase(word, span_of(month_names + i * 3, 3))) {
            *out = i + 1;
            return true;
        }
    return false;
}

/* RFC 2822, 4.3: two digits below 50 are of this century, three digits count from 1900. */
static int full_year(int year, size_t digits)
{
    if (digits == 2)
        return year < 50 ? 2000 + year : 1900 + year;
    return digits == 3 ? 1900 + year : year;
}

/* "Sat, 07 Sep 2002 00:00:01 GMT", "7 Sep 02 00:00 +0100", "Sat, 7 September 2002". */
static bool read_rfc822(struct span s, struct date *d)
{
    *d = (struct date){0};
    (void)eat_word(&s); /* whatever the day is called, the number counts */
    (void)eat(&s, '.');
    (void)eat(&s, ',');
    skip_space(&s);
    if (!eat_number(&s, 1, 2, &d->day))
        return false;
    (void)eat(&s, '-');
    skip_space(&s);
    if (!eat_month(&s, &d->month))
        return false;
    (void)eat(&s, '-');
    skip_space(&s);
    size_t before = s.n;
    if (!eat_number(&s, 2, 4, &d->year))
        return false;
    d->year = full_year(d->year, before - s.n);
    skip_space(&s);
    if (s.n && !eat_time(&s, d))
        return false;
    return eat_zone(&s, d); /* what follows is a comment: "(CEST)" */
}

bool date_read(struct span text, wall_ms *out)
{
    struct date d;
    text = span_trim(text);
    if (text.n > DATE_TEXT_MAX)
        return false;
    if ((!read_w3c(text, &d) && !read_rfc822(text, &d)) || !is_real(&d))
        return false;
    *out = wall_of(&d);
    return true;
}

void date_put(struct buf *out, wall_ms at)
{
    int64_t s = at / 1000 - (at % 1000 < 0);
    int64_t days = s / DAY_S - (s % DAY_S < 0), rest = s - days * DAY_S;
    /* Back from days, by the same years that run from March. */
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153;
    int64_t month = m < 10 ? m + 3 : m - 9;
    year += era * 400 + (month <= 2);
    if (year < 0 || year > 9999)
        return;
    buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)month, (int)(of_year - (153 * m + 2) / 5 + 1),
               (int)(rest / HOUR_S), (int)(rest / MINUTE_S % 60), (int)(rest % 60));
}
