#include "index/search/query_value.h"

#include "web/lang.h"
#include "web/url.h"

/* ---- dates ---- */

#define YEAR_MIN 1900
#define YEAR_MAX 9999

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int64_t year, int month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Seconds from 1970 to the first second of a day; month 13 is January of the next year. */
static int64_t day_start(int64_t year, int month, int day)
{
    if (month == 13) {
        year++;
        month = 1;
    }
    int64_t before = year - 1;
    int64_t days = before * 365 + before / 4 - before / 100 + before / 400;
    for (int m = 1; m < month; m++)
        days += month_days(year, m);
    return (days + day - 1 - 719162) * 86400; /* 719,162 days from the year 1 to 1970 */
}

bool query_date(struct span s, int64_t *start_s, int64_t *end_s)
{
    uint64_t part[3] = {0, 1, 1};
    unsigned n = 0;
    for (size_t at = 0; at <= s.n;) {
        size_t end = at;
        while (end < s.n && ascii_is_digit(s.p[end]))
            end++;
        if (end < s.n && s.p[end] != '-' && s.p[end] != '/' && s.p[end] != '.')
            return false;
        if (n == 3 || end - at > (n == 0 ? 4u : 2u) || !span_u64(span_cut(s, at, end - at), YEAR_MAX, &part[n]))
            return false;
        n++;
        at = end + 1;
    }
    if (n == 0 || part[0] < YEAR_MIN || part[1] < 1 || part[1] > 12)
        return false;
    int64_t year = (int64_t)part[0];
    int month = (int)part[1], day = (int)part[2];
    if (day < 1 || day > month_days(year, month))
        return false;
    *start_s = day_start(year, month, day);
    *end_s = n == 1 ? day_start(year + 1, 1, 1) : n == 2 ? day_start(year, month + 1, 1) : *start_s + INT64_C(86400);
    return true;
}

/* ---- languages ---- */

/* English and own names, folded as the analyzer folds them, and the codes of countries that people take for those of
 * languages. lang_known has the codes themselves. */
static const struct {
    const char *name, *code;
} languages[] = {
    {"afrikaans", "af"},  {"albanian", "sq"},   {"arabic", "ar"},     {"armenian", "hy"},   {"azerbaijani", "az"},
    {"basque", "eu"},     {"belarusian", "be"}, {"bengali", "bn"},    {"bosnian", "bs"},    {"bulgarian", "bg"},
    {"burmese", "my"},    {"catalan", "ca"},    {"chinese", "zh"},    {"croatian", "hr"},   {"czech", "cs"},
    {"danish", "da"},     {"dutch", "nl"},      {"english", "en"},    {"esperanto", "eo"},  {"estonian", "et"},
    {"finnish", "fi"},    {"french", "fr"},     {"galician", "gl"},   {"georgian", "ka"},   {"german", "de"},
    {"greek", "el"},      {"gujarati", "gu"},   {"hebrew", "he"},     {"hindi", "hi"},      {"hungarian", "hu"},
    {"icelandic", "is"},  {"indonesian", "id"}, {"irish", "ga"},      {"italian", "it"},    {"japanese", "ja"},
    {"kannada", "kn"},    {"kazakh", "kk"},     {"khmer", "km"},      {"korean", "ko"},     {"lao", "lo"},
    {"latin", "la"},      {"latvian", "lv"},    {"lithuanian", "lt"}, {"macedonian", "mk"}, {"malay", "ms"},
    {"malayalam", "ml"},  {"maltese", "mt"},    {"marathi", "mr"},    {"mongolian", "mn"},  {"nepali", "ne"},
    {"norwegian", "no"},  {"persian", "fa"},    {"farsi", "fa"},      {"polish", "pl"},     {"portuguese", "pt"},
    {"punjabi", "pa"},    {"romanian", "ro"},   {"russian", "ru"},    {"serbian", "sr"},    {"slovak", "sk"},
    {"slovenian", "sl"},  {"spanish", "es"},    {"swahili", "sw"},    {"swedish", "sv"},    {"tagalog", "tl"},
    {"tamil", "ta"},      {"telugu", "te"},     {"thai", "th"},       {"turkish", "tr"},    {"ukrainian", "uk"},
    {"urdu", "ur"},       {"uzbek", "uz"},      {"vietnamese", "vi"}, {"welsh", "cy"},      {"yiddish", "yi"},
    {"deutsch", "de"},    {"francais", "fr"},   {"espanol", "es"},    {"italiano", "it"},   {"portugues", "pt"},
    {"nederlands", "nl"}, {"svenska", "sv"},    {"dansk", "da"},      {"norsk", "no"},      {"suomi", "fi"},
    {"polski", "pl"},     {"cestina", "cs"},    {"magyar", "hu"},     {"romana", "ro"},     {"turkce", "tr"},
    {"русский", "ru"},    {"українська", "uk"}, {"ελληνικα", "el"},   {"中文", "zh"},       {"日本語", "ja"},
    {"한국어", "ko"},     {"jp", "ja"},         {"cn", "zh"},         {"cz", "cs"},         {"dk", "da"},
    {"gr", "el"},         {"kr", "ko"},         {"ua", "uk"},
};

static lang_code by_name(struct span name)
{
    for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
        if (span_is(name, languages[i].name))
            return lang_code_of(span_str(languages[i].code));
    return 0;
}

lang_code query_language(struct analyzer *an, struct span s)
{
    size_t n = 0;
    lang_code lang = by_name(s);
    analyze_begin(an);
    analyze_text(an, s, 0, 0);
    struct token *t = analyze_tokens(an, &n);
    if (!lang && n && t[0].position == 0 && !t[0].is_whole)
        lang = by_name(t[0].term->text);
    return lang ? lang : lang_code_of(span_str(lang_known(s)));
}

/* ---- sites ---- */

status query_site(struct arena *a, struct span s, struct span *host, struct span *path)
{
    struct url u;
    if (!span_starts_nocase(s, SPAN("http://")) && !span_starts_nocase(s, SPAN("https://"))) {
        if (span_starts(s, SPAN("*.")))
            s = span_from(s, 2);
        while (s.n && (*s.p == '.' || *s.p == '/'))
            s = span_from(s, 1);
        if (s.n == 0)
            return ST_INVALID;
        char *p = arena_bytes(a, s.n + 7);
        memcpy(p, "http://", 7);
        memcpy(p + 7, s.p, s.n);
        s = span_of(p, s.n + 7);
    }
    status st = url_parse(a, s, NULL, &u);
    if (st != ST_OK)
        return ST_INVALID;
    struct span h = u.host;
    while (h.n && h.p[h.n - 1] == '.')
        h.n--;
    if (h.n == 0)
        return ST_INVALID;
    if (u.has_explicit_port) {
        char port[8];
        size_t n = 0;
        for (unsigned v = (unsigned)u.port; v || n == 0; v /= 10)
            port[n++] = (char)('0' + v % 10);
        char *p = arena_bytes(a, h.n + 1 + n), *at = p + h.n;
        memcpy(p, h.p, h.n);
        *at++ = ':';
        while (n)
            *at++ = port[--n];
        h = span_of(p, (size_t)(at - p));
    }
    *host = h;
    *path = url_request_target(&u);
    return ST_OK;
}
