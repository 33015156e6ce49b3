#include "io/fetch_header.h"

#include "io/fetcher.h"

#define HEAD_TEXT_MAX (1u << 20) /* values kept of one response; the fetcher's own ceiling is lower */
#define SECOND_MS 1000
#define DAY_MS (86400 * (int64_t)SECOND_MS)
#define RETRY_AFTER_MAX_S (36500 * (uint64_t)86400)

void heads_clear(struct heads *h)
{
    buf_clear(&h->text);
    buf_clear(&h->lines);
    h->keeps_lines = false;
    h->has = 0;
    h->bytes = 0;
    h->http_status = 0;
    h->http_version = 0;
    h->is_inside = h->is_complete = false;
}

void heads_done(struct heads *h)
{
    buf_done(&h->text);
    buf_done(&h->lines);
}

struct span heads_get(const struct heads *h, head_id id)
{
    if (!(h->has & 1u << id))
        return (struct span){0};
    return h->text.p ? span_of(h->text.p + h->value[id].at, h->value[id].n) : (struct span){0};
}

void heads_fill(const struct heads *h, struct fetch_result *r)
{
    r->http_status = h->http_status;
    r->http_version = h->http_version;
    r->content_type = heads_get(h, HEAD_CONTENT_TYPE);
    r->etag = heads_get(h, HEAD_ETAG);
    r->last_modified = heads_get(h, HEAD_LAST_MODIFIED);
    r->location = heads_get(h, HEAD_LOCATION);
    r->retry_after = heads_get(h, HEAD_RETRY_AFTER);
    r->date = heads_get(h, HEAD_DATE);
    r->content_encoding = heads_get(h, HEAD_CONTENT_ENCODING);
    r->disposition = heads_get(h, HEAD_DISPOSITION);
    r->robots_tags = heads_get(h, HEAD_ROBOTS_TAGS);
    r->link_canonical = heads_get(h, HEAD_LINK_CANONICAL);
    r->refresh = heads_get(h, HEAD_REFRESH);
}

/* "HTTP/1.1 200 OK", "HTTP/2 200". */
static void status_line(struct heads *h, struct span line)
{
    if (!span_starts_nocase(line, SPAN("HTTP/")) || line.n < 6 || !ascii_is_digit(line.p[5]))
        return;
    size_t bytes = h->bytes;
    bool keeps_lines = h->keeps_lines;
    heads_clear(h);
    h->bytes = bytes;
    h->keeps_lines = keeps_lines;
    h->is_inside = true;
    int minor = line.n > 7 && line.p[6] == '.' && ascii_is_digit(line.p[7]) ? line.p[7] - '0' : 0;
    h->http_version = (line.p[5] - '0') * 10 + minor;
    size_t at = span_find(line, ' ', 0);
    while (at < line.n && line.p[at] == ' ')
        at++;
    for (int i = 0; i < 3 && at < line.n && ascii_is_digit(line.p[at]); i++, at++)
        h->http_status = h->http_status * 10 + (line.p[at] - '0');
}

static void keep(struct heads *h, head_id id, struct span value)
{
    if (h->text.n + value.n + 1 > HEAD_TEXT_MAX)
        return;
    h->value[id].at = (uint32_t)h->text.n;
    h->value[id].n = (uint32_t)value.n;
    h->has |= 1u << id;
    buf_put(&h->text, value);
}

/* Joins to what is there, in a new place: another value may have been written since. */
static void keep_more(struct heads *h, head_id id, struct span value, char between)
{
    struct span old = heads_get(h, id);
    if (h->text.n + old.n + value.n + 1 > HEAD_TEXT_MAX)
        return;
    uint32_t at = (uint32_t)h->text.n;
    if (old.n) {
        buf_room(&h->text, old.n + 1);
        buf_put(&h->text, heads_get(h, id));
        buf_putc(&h->text, between);
    }
    buf_put(&h->text, value);
    h->value[id].at = at;
    h->value[id].n = (uint32_t)(h->text.n - at);
    h->has |= 1u << id;
}

/* Which header a name is, HEAD_MAX when it is none of ours. The length tells nearly all apart. */
static head_id name_id(struct span name)
{
    static const struct {
        struct span name;
        head_id id;
    } known[] = {
        {SPAN_INIT("date"), HEAD_DATE},
        {SPAN_INIT("etag"), HEAD_ETAG},
        {SPAN_INIT("link"), HEAD_LINK_CANONICAL},
        {SPAN_INIT("refresh"), HEAD_REFRESH},
        {SPAN_INIT("location"), HEAD_LOCATION},
        {SPAN_INIT("retry-after"), HEAD_RETRY_AFTER},
        {SPAN_INIT("content-type"), HEAD_CONTENT_TYPE},
        {SPAN_INIT("x-robots-tag"), HEAD_ROBOTS_TAGS},
        {SPAN_INIT("last-modified"), HEAD_LAST_MODIFIED},
        {SPAN_INIT("content-length"), HEAD_CONTENT_LENGTH},
        {SPAN_INIT("content-encoding"), HEAD_CONTENT_ENCODING},
        {SPAN_INIT("content-disposition"), HEAD_DISPOSITION},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known) && known[i].name.n <= name.n; i++)
        if (known[i].name.n == name.n && span_eq_nocase(known[i].name, name))
            return known[i].id;
    return HEAD_MAX;
}

void heads_line(struct heads *h, struct span line)
{
    h->bytes += line.n;
    if (h->is_complete)
        return;
    if (line.n <= 2 && span_trim(line).n == 0) {
        h->is_complete = h->http_status >= 200 || h->http_status == 101;
        h->is_inside = false;
        return;
    }
    if (!h->is_inside) {
        status_line(h, line);
        return;
    }
    size_t colon = span_find(line, ':', 0);
    if (h->keeps_lines && colon < line.n && h->lines.n + line.n < HEAD_TEXT_MAX) {
        buf_put(&h->lines, span_trim(line));
        buf_putc(&h->lines, '\n');
    }
    head_id id = colon == line.n ? HEAD_MAX : name_id(span_cut(line, 0, colon));
    if (id == HEAD_MAX)
        return;
    struct span value = span_trim(span_from(line, colon + 1));
    if (id == HEAD_ROBOTS_TAGS)
        keep_more(h, id, value, '\n');
    else if (id == HEAD_CONTENT_ENCODING)
        keep_more(h, id, value, ','); /* codings one around the other may stand on lines of their own */
    else if (h->has & 1u << id)
        return; /* the first one counts */
    else if (id != HEAD_LINK_CANONICAL || link_canonical(value, &value))
        keep(h, id, value);
}

/* The parameter value at *at: a token, or a quoted string without its quotes (escapes left in). */
static struct span param_value(struct span v, size_t *at)
{
    size_t start = *at;
    if (start < v.n && v.p[start] == '"') {
        size_t i = start + 1;
        while (i < v.n && v.p[i] != '"')
            i += v.p[i] == '\\' ? 2 : 1;
        *at = i < v.n ? i + 1 : v.n;
        return span_cut(v, start + 1, (i < v.n ? i : v.n) - start - 1);
    }
    size_t i = start;
    while (i < v.n && v.p[i] != ';' && v.p[i] != ',')
        i++;
    *at = i;
    return span_trim(span_cut(v, start, i - start));
}

static bool has_word(struct span list, struct span word)
{
    size_t at = 0;
    while (at < list.n) {
        size_t end = at;
        while (end < list.n && !ascii_is_space(list.p[end]))
            end++;
        if (span_eq_nocase(span_cut(list, at, end - at), word))
            return true;
        at = end + 1;
    }
    return false;
}

static void skip_space(struct span v, size_t *at)
{
    while (*at < v.n && ascii_is_space(v.p[*at]))
        (*at)++;
}

/* The parameters from *at to the comma after them; true when they say rel=canonical of this page. */
static bool params_say_canonical(struct span v, size_t *at)
{
    bool has_rel = false, is_canonical = false, has_anchor = false;
    while (*at < v.n && v.p[*at] != ',') {
        if (v.p[*at] == ';' || ascii_is_space(v.p[*at])) {
            (*at)++;
            continue;
        }
        size_t start = *at;
        while (*at < v.n && v.p[*at] != '=' && v.p[*at] != ';' && v.p[*at] != ',')
            (*at)++;
        struct span name = span_trim(span_cut(v, start, *at - start)), value = {0};
        if (*at < v.n && v.p[*at] == '=') {
            (*at)++;
            skip_space(v, at);
            value = param_value(v, at);
        }
        has_anchor |= span_is_nocase(name, "anchor");
        if (!has_rel && span_is_nocase(name, "rel")) {
            has_rel = true;
            is_canonical = has_word(value, SPAN("canonical"));
        }
    }
    return is_canonical && !has_anchor;
}

bool link_canonical(struct span v, struct span *target)
{
    size_t at = 0;
    while (at < v.n) {
        if (v.p[at] == ',' || ascii_is_space(v.p[at])) {
            at++;
            continue;
        }
        if (v.p[at] != '<')
            return false;
        size_t end = span_find(v, '>', at);
        if (end == v.n)
            return false;
        struct span uri = span_trim(span_cut(v, at + 1, end - at - 1));
        at = end + 1;
        if (params_say_canonical(v, &at) && uri.n) {
            *target = uri;
            return true;
        }
    }
    return false;
}

bool type_is_page(struct span type)
{
    size_t semicolon = span_find(type, ';', 0), comma = span_find(type, ',', 0);
    type = span_trim(span_cut(type, 0, semicolon < comma ? semicolon : comma));
    if (span_find(type, '/', 0) == type.n)
        return true; /* none, or not one: browsers look at the bytes then */
    return span_is_nocase(type, "text/html") || span_is_nocase(type, "application/xhtml+xml") ||
           span_is_nocase(type, "text/plain");
}

/* Dates. One reader for the three forms:
 *   Sun, 06 Nov 1994 08:49:37 GMT    IMF-fixdate
 *   Sunday, 06-Nov-94 08:49:37 GMT   RFC 850
 *   Sun Nov  6 08:49:37 1994         asctime */

struct date {
    int year, month, day, hour, minute, second; /* month from 1 */
};

static bool eat(struct span *s, struct span what)
{
    if (!span_starts_nocase(*s, what))
        return false;
    *s = span_from(*s, what.n);
    return true;
}

static bool eat_number(struct span *s, size_t digits, int *out)
{
    int v = 0;
    if (s->n < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (!ascii_is_digit(s->p[i]))
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *s = span_from(*s, digits);
    *out = v;
    return true;
}

static bool eat_month(struct span *s, int *out)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (eat(s, span_of(names + i * 3, 3))) {
            *out = i + 1;
            return true;
        }
    return false;
}

static bool eat_time(struct span *s, struct date *d)
{
    return eat_number(s, 2, &d->hour) && eat(s, SPAN(":")) && eat_number(s, 2, &d->minute) && eat(s, SPAN(":")) &&
           eat_number(s, 2, &d->second);
}

/* What follows the short name of the day: "" or the rest of the long one. */
static bool eat_day_name(struct span *s, bool *is_long)
{
    static const struct {
        struct span name, rest;
    } days[] = {{SPAN_INIT("Mon"), SPAN_INIT("day")},    {SPAN_INIT("Tue"), SPAN_INIT("sday")},
                {SPAN_INIT("Wed"), SPAN_INIT("nesday")}, {SPAN_INIT("Thu"), SPAN_INIT("rsday")},
                {SPAN_INIT("Fri"), SPAN_INIT("day")},    {SPAN_INIT("Sat"), SPAN_INIT("urday")},
                {SPAN_INIT("Sun"), SPAN_INIT("day")}};
    for (size_t i = 0; i < sizeof(days) / sizeof(*days); i++)
        if (eat(s, days[i].name)) {
            *is_long = eat(s, days[i].rest);
            return true;
        }
    return false;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; years run from March, so that leap days come last. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static bool date_is_real(const struct date *d)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = d->year % 4 == 0 && (d->year % 100 != 0 || d->year % 400 == 0);
    int length = lengths[d->month - 1] + (d->month == 2 && is_leap);
    return d->year >= 1 && d->day >= 1 && d->day <= length && d->hour <= 23 && d->minute <= 59 && d->second <= 60;
}

static wall_ms date_wall(const struct date *d)
{
    int64_t s = days_of(d->year, d->month, d->day) * 86400 + d->hour * 3600 + d->minute * 60 + d->second;
    return s * SECOND_MS;
}

/* RFC 9110, 5.6.7: a two-digit year that seems more than 50 years ahead is the latest past year that ends so. */
static int full_year(const struct date *d, wall_ms now)
{
    int64_t this_year = 1970 + now / (DAY_MS * 146097 / 400);
    struct date guess = *d;
    guess.year = (int)(this_year / 100 * 100) + d->year + 100;
    while (guess.year > 1900) {
        struct date back = guess;
        back.year -= 50;
        if (date_wall(&back) <= now)
            break;
        guess.year -= 100;
    }
    return guess.year;
}

bool fetch_date(struct span value, wall_ms now, wall_ms *out)
{
    struct span s = span_trim(value);
    struct date d = {0};
    bool is_long = false, ok = false;
    if (!eat_day_name(&s, &is_long))
        return false;
    if (is_long) {
        ok = eat(&s, SPAN(", ")) && eat_number(&s, 2, &d.day) && eat(&s, SPAN("-")) && eat_month(&s, &d.month) &&
             eat(&s, SPAN("-")) && eat_number(&s, 2, &d.year) && eat(&s, SPAN(" ")) && eat_time(&s, &d) &&
             eat(&s, SPAN(" GMT"));
        if (ok)
            d.year = full_year(&d, now);
    } else if (eat(&s, SPAN(", "))) {
        ok = eat_number(&s, 2, &d.day) && eat(&s, SPAN(" ")) && eat_month(&s, &d.month) && eat(&s, SPAN(" ")) &&
             eat_number(&s, 4, &d.year) && eat(&s, SPAN(" ")) && eat_time(&s, &d) && eat(&s, SPAN(" GMT"));
    } else {
        ok = eat(&s, SPAN(" ")) && eat_month(&s, &d.month) && eat(&s, SPAN(" ")) &&
             (eat(&s, SPAN(" ")) ? eat_number(&s, 1, &d.day) : eat_number(&s, 2, &d.day)) && eat(&s, SPAN(" ")) &&
             eat_time(&s, &d) && eat(&s, SPAN(" ")) && eat_number(&s, 4, &d.year);
    }
    if (!ok || s.n != 0 || !date_is_real(&d))
        return false;
    *out = date_wall(&d);
    return true;
}

int64_t fetch_retry_after_ms(struct span value, wall_ms now)
{
    value = span_trim(value);
    uint64_t seconds;
    wall_ms when;
    if (span_u64(value, RETRY_AFTER_MAX_S, &seconds))
        return (int64_t)seconds * SECOND_MS;
    size_t digits = 0;
    while (digits < value.n && ascii_is_digit(value.p[digits]))
        digits++;
    if (value.n && digits == value.n)
        return (int64_t)RETRY_AFTER_MAX_S * SECOND_MS;
    if (!fetch_date(value, now, &when))
        return -1;
    return when > now ? when - now : 0;
}
