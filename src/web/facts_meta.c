#include "web/facts_meta.h"

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

/* Commas are meant to be between them. People write "noindex nofollow" and "noindex; nofollow", too, and mean it. What
 * follows a colon is a value ("max-image-preview: none"). */
unsigned facts_robots_content(struct span content)
{
    unsigned flags = 0;
    bool is_value = false;
    for (size_t i = 0; i < content.n;) {
        size_t start = i;
        while (i < content.n && !is_between(content.p[i]))
            i++;
        if (i == start) {
            is_value &= content.p[i++] != ',';
            continue;
        }
        if (!is_value)
            flags |= flags_of(ROBOTS_WORDS, span_cut(content, start, i - start));
        is_value = content.p[i - 1] == ':';
    }
    return flags;
}

unsigned facts_robots_header(struct span value, struct span agent)
{
    unsigned flags = 0;
    bool is_ours = true;
    for (struct span word; span_split(&value, ',', &word);) {
        size_t colon = span_find(word, ':', 0);
        struct span name = span_trim(span_cut(word, 0, colon));
        if (colon < word.n && !flags_of(VALUE_WORDS, name)) {
            is_ours = agent.n && span_eq_nocase(name, agent);
            word = span_from(word, colon + 1);
        }
        if (is_ours)
            flags |= facts_robots_content(word);
    }
    return flags;
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
