#include "web/facts_meta.h"

#include "web/date.h"
#include "web/facts.h"

struct word {
    const char *name;
    unsigned flags;
};

static const struct word REL_WORDS[] = {
    {"nofollow", REL_NOFOLLOW},
    {"ugc", REL_UGC},
    {"sponsored", REL_SPONSORED},
    {"next", REL_NEXT},
    {"prev", REL_NEXT},
    {"previous", REL_NEXT},
    {"alternate", REL_ALTERNATE},
    {"canonical", REL_CANONICAL},
    {"sitemap", REL_SITEMAP},
    {"stylesheet", REL_STYLESHEET},
    {NULL, 0},
};

static const struct word ROBOTS_WORDS[] = {
    {"noindex", PAGE_NOINDEX},     {"nofollow", PAGE_NOFOLLOW},   {"none", PAGE_NOINDEX | PAGE_NOFOLLOW},
    {"noarchive", PAGE_NOARCHIVE}, {"nosnippet", PAGE_NOSNIPPET}, {NULL, 0},
};

/* Words of X-Robots-Tag that have a colon of their own; any other word before a colon names an agent. */
static const struct word VALUE_WORDS[] = {
    {"unavailable_after", 1}, {"max-snippet", 1}, {"max-image-preview", 1}, {"max-video-preview", 1}, {NULL, 0},
};

static unsigned flags_of(const struct word *words, struct span s)
{
    for (; words->name; words++)
        if (span_is_nocase(s, words->name))
            return words->flags;
    return 0;
}

unsigned facts_rel(struct span rel)
{
    unsigned flags = 0;
    for (size_t i = 0; i < rel.n;) {
        size_t start = i;
        while (i < rel.n && !ascii_is_space(rel.p[i]))
            i++;
        if (i > start)
            flags |= flags_of(REL_WORDS, span_cut(rel, start, i - start));
        else
            i++;
    }
    return flags;
}

static bool is_between(char c)
{
    return c == ',' || c == ';' || ascii_is_space(c);
}

static size_t skip_spaces(struct span s, size_t at)
{
    while (at < s.n && ascii_is_space(s.p[at]))
        at++;
    return at;
}

/* A date up to a comma; it may have one of its own ("Fri, 25 Jun 2010 15:00:00 GMT"). */
static bool read_date(struct span s, wall_ms *when)
{
    size_t end = span_find(s, ',', 0), next = end < s.n ? span_find(s, ',', end + 1) : end;
    return date_read(span_trim(span_cut(s, 0, end)), when) || date_read(span_trim(span_cut(s, 0, next)), when);
}

/* The value behind a colon. Returns where its first word ends: what else a date has are no words that wish anything. */
static size_t read_value(struct span name, struct span s, wall_ms now, unsigned *flags)
{
    wall_ms when;
    size_t start = skip_spaces(s, 0), end = start;
    while (end < s.n && !is_between(s.p[end]))
        end++;
    if (span_is_nocase(name, "unavailable_after") && read_date(s, &when) && when < now)
        *flags |= PAGE_NOINDEX;
    if (span_is_nocase(name, "max-snippet") && span_is(span_cut(s, start, end - start), "0"))
        *flags |= PAGE_NOSNIPPET;
    return end;
}

/* Commas are meant to be between wishes. People write "noindex nofollow" and "noindex; nofollow", too, and mean it.
 * With `agent`, a name and a colon after a comma say whom the wishes behind it are for. */
static unsigned read_wishes(struct span s, const struct span *agent, wall_ms now)
{
    unsigned all = 0;
    bool is_first = true, is_ours = true;
    for (size_t i = 0; i < s.n;) {
        unsigned wish = 0;
        size_t start = i;
        while (i < s.n && !is_between(s.p[i]) && s.p[i] != ':')
            i++;
        struct span word = span_cut(s, start, i - start);
        size_t colon = skip_spaces(s, i);
        if (colon < s.n && s.p[colon] == ':') {
            bool is_agent = agent && is_first && !flags_of(VALUE_WORDS, word);
            i = colon + 1;
            if (is_agent)
                is_ours = agent->n && span_eq_nocase(word, *agent);
            else
                i += read_value(word, span_from(s, i), now, &wish);
            is_first = false;
        } else if (word.n) {
            wish = flags_of(ROBOTS_WORDS, word);
            is_first = false;
        } else {
            is_first |= s.p[i++] == ',';
        }
        all |= is_ours ? wish : 0;
    }
    return all;
}

unsigned facts_robots_content(struct span content, wall_ms now)
{
    return read_wishes(content, NULL, now);
}

unsigned facts_robots_header(struct span value, struct span agent, wall_ms now)
{
    return read_wishes(value, &agent, now);
}

static struct span skip_space(struct span s)
{
    while (s.n && ascii_is_space(s.p[0]))
        s = span_from(s, 1);
    return s;
}

/* Without "url =", when it is there. */
static struct span skip_url_word(struct span s)
{
    if (!span_starts_nocase(s, SPAN("url")))
        return s;
    struct span after = skip_space(span_from(s, 3));
    return after.n && after.p[0] == '=' ? skip_space(span_from(after, 1)) : s;
}

bool facts_refresh_url(struct span content, struct span *url, bool *is_at_once)
{
    struct span s = skip_space(content);
    size_t digits = 0;
    bool is_zero = true;
    for (; digits < s.n && ascii_is_digit(s.p[digits]); digits++)
        is_zero &= s.p[digits] == '0';
    if (!digits && !(s.n && s.p[0] == '.'))
        return false;
    while (s.n && (ascii_is_digit(s.p[0]) || s.p[0] == '.'))
        s = span_from(s, 1);
    if (!s.n || (s.p[0] != ';' && s.p[0] != ',' && !ascii_is_space(s.p[0])))
        return false;
    s = skip_space(s);
    if (s.n && (s.p[0] == ';' || s.p[0] == ','))
        s = skip_space(span_from(s, 1));
    s = skip_url_word(s);
    if (s.n && (s.p[0] == '"' || s.p[0] == '\''))
        s = span_cut(s, 1, span_find(s, s.p[0], 1) - 1);
    if (!s.n)
        return false;
    *url = s;
    *is_at_once = is_zero;
    return true;
}
