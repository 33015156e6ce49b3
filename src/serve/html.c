#include "serve/html.h"

#include <stdio.h>
#include <time.h>

#include "base/utf8.h"
#include "web/url.h"

#define CRUMB_BYTES_MAX 48
#define CRUMBS_MAX 4 /* after the site; those in the middle become an ellipsis */

void html_text(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n;) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x80) {
            buf_put_utf8(out, utf8_next(s, &i, NULL));
            continue;
        }
        i++;
        switch (c) {
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        case '\'':
            buf_puts(out, "&#39;");
            break;
        default:
            buf_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
        }
    }
}

void html_query_value(struct buf *out, struct span s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (ascii_is_alpha((char)c) || ascii_is_digit((char)c) || c == '-' || c == '.' || c == '_' || c == '~')
            buf_putc(out, (char)c);
        else if (c == ' ')
            buf_putc(out, '+');
        else {
            buf_putc(out, '%');
            buf_putc(out, hex[c >> 4]);
            buf_putc(out, hex[c & 15]);
        }
    }
}

void html_marked(struct buf *out, const struct marked *m)
{
    size_t at = 0;
    for (size_t i = 0; i < m->mark_count; i++) {
        size_t from = m->marks[i].at, n = m->marks[i].bytes;
        if (n == 0 || from < at || from > m->text.n || n > m->text.n - from)
            continue;
        html_text(out, span_cut(m->text, at, from - at));
        buf_puts(out, "<mark>");
        html_text(out, span_cut(m->text, from, n));
        buf_puts(out, "</mark>");
        at = from + n;
    }
    html_text(out, span_from(m->text, at));
}

bool html_href(struct buf *out, struct arena *a, struct span url)
{
    struct url u;
    if (url_parse(a, url, NULL, &u) != ST_OK || !url_is_http(&u))
        return false;
    html_text(out, u.href);
    return true;
}

/* ---- breadcrumbs ---- */

/* %xx decoded; the segment as it is when the result would not be plain visible text. */
static struct span decoded(struct arena *a, struct span s)
{
    char *to = arena_bytes(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int hi = i + 2 < s.n && s.p[i] == '%' ? ascii_hex(s.p[i + 1]) : -1, lo = hi < 0 ? -1 : ascii_hex(s.p[i + 2]);
        bool is_escape = hi >= 0 && lo >= 0;
        to[n++] = is_escape ? (char)(hi << 4 | lo) : s.p[i];
        i += is_escape ? 2 : 0;
    }
    struct span result = span_of(to, n);
    bool valid = true;
    for (size_t i = 0; i < n && valid;) {
        uint32_t cp = utf8_next(result, &i, &valid);
        /* Invisible characters and those that change the direction of writing can make an address look like another. */
        bool is_hidden = cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x200b && cp <= 0x200f) ||
                         (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff ||
                         cp == 0x61c || cp == '/';
        valid &= !is_hidden;
    }
    return valid ? result : s;
}

static void put_crumb(struct buf *out, struct arena *a, struct span segment)
{
    struct span text = decoded(a, segment), cut = utf8_cut(text, CRUMB_BYTES_MAX);
    buf_puts(out, "<span class=\"sep\" aria-hidden=\"true\"> \xe2\x80\xba </span><span>");
    html_text(out, cut);
    buf_puts(out, cut.n < text.n ? "\xe2\x80\xa6</span>" : "</span>");
}

void html_breadcrumbs(struct buf *out, struct arena *a, struct span url)
{
    struct url u;
    if (url_parse(a, url, NULL, &u) != ST_OK || !url_is_http(&u)) {
        html_text(out, utf8_cut(url, 4 * CRUMB_BYTES_MAX));
        return;
    }
    buf_puts(out, "<span class=\"host\">");
    html_text(out, u.host);
    if (u.has_explicit_port)
        buf_printf(out, ":%d", u.port);
    buf_puts(out, "</span>");
    struct span rest = u.path, segment;
    size_t count = 0, number = 0;
    for (struct span r = rest; span_split(&r, '/', &segment);)
        count += segment.n > 0;
    while (span_split(&rest, '/', &segment)) {
        if (segment.n == 0)
            continue;
        number++;
        bool is_middle = count > CRUMBS_MAX && number > 2 && number < count - 1;
        if (!is_middle)
            put_crumb(out, a, segment);
        else if (number == 3)
            put_crumb(out, a, SPAN("\xe2\x80\xa6"));
    }
    if (u.has_query && u.query.n) {
        char *q = arena_bytes(a, u.query.n + 1);
        q[0] = '?';
        memcpy(q + 1, u.query.p, u.query.n);
        put_crumb(out, a, span_of(q, u.query.n + 1));
    }
}

/* ---- small texts ---- */

void html_count(struct buf *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

void html_bytes(struct buf *out, uint64_t n)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    double v = (double)n;
    size_t unit = 0;
    for (; v >= 999.5 && unit + 1 < sizeof(units) / sizeof(*units); unit++)
        v /= 1000;
    buf_printf(out, unit == 0 || v >= 99.95 ? "%.0f %s" : "%.1f %s", v, units[unit]);
}

void html_date(struct buf *out, wall_ms t)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t s = (time_t)(t / 1000);
    struct tm tm;
    if (t <= 0 || !gmtime_r(&s, &tm))
        return;
    int year = tm.tm_year + 1900;
    buf_printf(out, "<time datetime=\"%04d-%02d-%02d\">%d %.3s %d</time>", year, tm.tm_mon + 1, tm.tm_mday, tm.tm_mday,
               months + (size_t)tm.tm_mon * 3, year);
}

void html_duration(struct buf *out, int64_t seconds)
{
    int64_t s = seconds < 0 ? 0 : seconds;
    if (s < 120)
        buf_printf(out, "%lld s", (long long)s);
    else if (s < 7200)
        buf_printf(out, "%lld min", (long long)(s / 60));
    else if (s < 172800)
        buf_printf(out, "%lld h %lld min", (long long)(s / 3600), (long long)(s / 60 % 60));
    else
        buf_printf(out, "%lld days", (long long)(s / 86400));
}

void html_language(struct buf *out, struct span code)
{
    static const char *const names[][2] = {
        {"af", "Afrikaans"},  {"ar", "Arabic"},     {"az", "Azerbaijani"}, {"be", "Belarusian"}, {"bg", "Bulgarian"},
        {"bn", "Bengali"},    {"bs", "Bosnian"},    {"ca", "Catalan"},     {"cs", "Czech"},      {"cy", "Welsh"},
        {"da", "Danish"},     {"de", "German"},     {"el", "Greek"},       {"en", "English"},    {"eo", "Esperanto"},
        {"es", "Spanish"},    {"et", "Estonian"},   {"eu", "Basque"},      {"fa", "Persian"},    {"fi", "Finnish"},
        {"fil", "Filipino"},  {"fr", "French"},     {"ga", "Irish"},       {"gl", "Galician"},   {"gu", "Gujarati"},
        {"he", "Hebrew"},     {"hi", "Hindi"},      {"hr", "Croatian"},    {"hu", "Hungarian"},  {"hy", "Armenian"},
        {"id", "Indonesian"}, {"is", "Icelandic"},  {"it", "Italian"},     {"ja", "Japanese"},   {"ka", "Georgian"},
        {"kk", "Kazakh"},     {"km", "Khmer"},      {"kn", "Kannada"},     {"ko", "Korean"},     {"la", "Latin"},
        {"lo", "Lao"},        {"lt", "Lithuanian"}, {"lv", "Latvian"},     {"mk", "Macedonian"}, {"ml", "Malayalam"},
        {"mn", "Mongolian"},  {"mr", "Marathi"},    {"ms", "Malay"},       {"mt", "Maltese"},    {"my", "Burmese"},
        {"nb", "Norwegian"},  {"ne", "Nepali"},     {"nl", "Dutch"},       {"nn", "Nynorsk"},    {"no", "Norwegian"},
        {"pa", "Punjabi"},    {"pl", "Polish"},     {"pt", "Portuguese"},  {"ro", "Romanian"},   {"ru", "Russian"},
        {"si", "Sinhala"},    {"sk", "Slovak"},     {"sl", "Slovenian"},   {"sq", "Albanian"},   {"sr", "Serbian"},
        {"sv", "Swedish"},    {"sw", "Swahili"},    {"ta", "Tamil"},       {"te", "Telugu"},     {"th", "Thai"},
        {"tl", "Tagalog"},    {"tr", "Turkish"},    {"uk", "Ukrainian"},   {"ur", "Urdu"},       {"uz", "Uzbek"},
        {"vi", "Vietnamese"}, {"yi", "Yiddish"},    {"zh", "Chinese"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (span_is(code, names[i][0])) {
            buf_puts(out, names[i][1]);
            return;
        }
    html_text(out, code);
}

void html_template(struct buf *out, struct span text, const struct html_fill *fills, size_t fill_count)
{
    for (;;) {
        size_t at = span_search(text, SPAN("{{"), false);
        buf_put(out, span_cut(text, 0, at));
        if (at == text.n)
            return;
        text = span_from(text, at + 2);
        size_t end = span_search(text, SPAN("}}"), false);
        struct span name = span_cut(text, 0, end);
        for (size_t i = 0; i < fill_count; i++)
            if (span_is(name, fills[i].name)) {
                if (fills[i].is_html)
                    buf_put(out, fills[i].value);
                else
                    html_text(out, fills[i].value);
            }
        text = span_from(text, end + 2);
    }
}
