/* A file is read twice: once to see whether some group names us (else those of "*" count), once to keep the rules of
 * the groups that count. A rule is kept as written, for people, and normalised, for matching; both lie in one block of
 * text:
 *
 *     text   Disallow: /shop/%7Ejoe$ /shop/~joe Allow: /shop Sitemap-URL ...
 *            `---- shown ----------' `-pattern' `-- both --'
 *
 * Rules are sorted so that the first that matches decides. */
#include "web/robots.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/pack.h"
#include "web/charset.h"

struct piece {
    uint32_t at, n; /* of robots.text */
};

struct rule {
    struct piece shown;   /* "Disallow: /private" */
    struct piece pattern; /* normalised, without '$' and '*' at its end */
    struct piece query;   /* the same with the query encoded; used when is_query */
    uint32_t weight;      /* octets of the normalised pattern, '$' and '*' included */
    uint32_t line;
    uint64_t head, head_mask; /* the first eight octets before any '*', for a quick no */
    bool is_allow, is_end, is_query;
};

struct robots {
    struct buf text;
    struct rule *rules;     /* owned */
    struct piece *sitemaps; /* owned */
    size_t rule_count, rule_cap, sitemap_count, sitemap_cap;
    int64_t delay_ms; /* -1: none */
    bool is_none;     /* nothing is allowed */
};

static struct span piece_span(const struct robots *r, struct piece p)
{
    return (struct span){r->text.p + p.at, p.n};
}

static struct piece text_add(struct robots *r, struct span s)
{
    struct piece p = {(uint32_t)r->text.n, (uint32_t)s.n};
    buf_put(&r->text, s);
    return p;
}

/* Normalising and matching */

static bool is_unreserved(unsigned char c)
{
    return ascii_is_alpha((char)c) || ascii_is_digit((char)c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static char *put_encoded(char *to, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    *to++ = '%';
    *to++ = hex[c >> 4];
    *to++ = hex[c & 15];
    return to;
}

/* The form in which octets are compared, appended to *out. `is_pattern` leaves '*' a wildcard; elsewhere it and '$' are
 * what a rule writes as %2A and %24. `encode_query` gives the form of RFC 9309 table 1 for what follows the first '?'.
 */
static void normalise(struct span in, bool is_pattern, bool encode_query, struct buf *out)
{
    bool in_query = false;
    char *to = buf_room(out, 3 * in.n + 1);
    for (size_t i = 0; i < in.n; i++) {
        unsigned char c = (unsigned char)in.p[i];
        if (is_unreserved(c)) {
            *to++ = (char)c;
            continue;
        }
        if (c == '%' && in.n - i > 2 && ascii_hex(in.p[i + 1]) >= 0 && ascii_hex(in.p[i + 2]) >= 0) {
            unsigned char v = (unsigned char)(ascii_hex(in.p[i + 1]) << 4 | ascii_hex(in.p[i + 2]));
            if (is_unreserved(v))
                *to++ = (char)v;
            else
                to = put_encoded(to, v);
            i += 2;
            continue;
        }
        bool is_delim = c != 0 && strchr(":/?#[]@", c);
        bool is_kept = is_delim ? !(in_query && encode_query) : c != 0 && strchr("%!&'()+,;=", c);
        if (is_kept || (is_pattern && c == '*'))
            *to++ = (char)c;
        else
            to = put_encoded(to, c);
        in_query = in_query || c == '?';
    }
    out->n = (size_t)(to - out->p);
}

/* Both normalised. Every search starts where the last one ended and a failed one is the last, so no octet of the text
 * is looked at twice. */
static bool match(struct span pattern, bool is_end, struct span text, uint64_t *steps)
{
    size_t star = span_find(pattern, '*', 0);
    *steps += star;
    if (star > text.n || (star && memcmp(pattern.p, text.p, star) != 0))
        return false;
    if (star == pattern.n)
        return !is_end || text.n == pattern.n;
    size_t at = star;
    for (;;) {
        size_t from = star + 1;
        star = span_find(pattern, '*', from);
        struct span part = span_cut(pattern, from, star - from);
        bool is_last = star >= pattern.n;
        if (part.n > text.n - at)
            return false;
        if (is_last && is_end) {
            *steps += part.n;
            return span_ends(span_from(text, at), part);
        }
        const char *hit = part.n ? memmem(text.p + at, text.n - at, part.p, part.n) : text.p + at;
        size_t next = hit ? (size_t)(hit - text.p) + part.n : text.n;
        *steps += next - at + part.n;
        if (!hit || is_last)
            return hit != NULL;
        at = next;
    }
}

/* Takes '$' and trailing '*' off a pattern, neither of which changes what is left to match but for *is_end. */
static struct span pattern_core(struct span pattern, bool *is_end)
{
    *is_end = pattern.n && pattern.p[pattern.n - 1] == '$';
    if (*is_end)
        pattern.n--;
    while (pattern.n && pattern.p[pattern.n - 1] == '*') {
        pattern.n--;
        *is_end = false;
    }
    return pattern;
}

/* Has it characters after a '?' for which table 1 matters? */
static bool has_query_delims(struct span s)
{
    for (size_t i = span_find(s, '?', 0) + 1; i < s.n; i++) {
        if (strchr(":/?#[]@%", s.p[i]) && s.p[i])
            return true;
    }
    return false;
}

bool robots_match(struct span pattern, struct span target, uint64_t *steps)
{
    uint64_t ignored = 0;
    bool is_end, found = false;
    struct span core = pattern_core(pattern, &is_end);
    target = target.n ? target : SPAN("/");
    for (int encode = 0; encode <= has_query_delims(core) && !found; encode++) {
        struct buf p = {0}, t = {0};
        normalise(core, true, encode, &p);
        normalise(target, false, encode, &t);
        found = match(buf_span(&p), is_end, buf_span(&t), steps ? steps : &ignored);
        buf_done(&p);
        buf_done(&t);
    }
    return found;
}

static uint64_t first_eight(struct span s)
{
    uint64_t v = 0;
    if (s.n)
        memcpy(&v, s.p, s.n < sizeof(v) ? s.n : sizeof(v));
    return v;
}

/* Building */

/* Stores the normalised form, on top of the written one where they are equal. */
static struct piece add_pattern(struct robots *r, struct piece written, struct span core, bool encode_query)
{
    struct piece p = {(uint32_t)r->text.n, 0};
    normalise(core, true, encode_query, &r->text);
    p.n = (uint32_t)(r->text.n - p.at);
    if (span_eq(piece_span(r, p), core)) {
        r->text.n = p.at;
        p.at = written.at;
    }
    return p;
}

/* `path` is as written, not empty, and not of r->text. */
static void add_rule(struct robots *r, bool is_allow, struct span path, uint32_t line)
{
    if (r->rule_count >= ROBOTS_RULES_MAX || (path.p[0] != '/' && path.p[0] != '*'))
        return;
    struct rule rule = {.is_allow = is_allow, .line = line};
    rule.shown = text_add(r, is_allow ? SPAN("Allow: ") : SPAN("Disallow: "));
    struct piece written = text_add(r, path);
    rule.shown.n += written.n;
    struct span core = pattern_core(path, &rule.is_end);
    rule.pattern = add_pattern(r, written, core, false);
    rule.weight = rule.pattern.n + (uint32_t)(path.n - core.n);
    rule.is_query = has_query_delims(core);
    if (rule.is_query)
        rule.query = add_pattern(r, written, core, true);
    struct span pattern = piece_span(r, rule.pattern);
    struct span head = span_cut(pattern, 0, span_find(pattern, '*', 0));
    rule.head = first_eight(head);
    rule.head_mask = first_eight(span_cut(SPAN("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 0, head.n));
    r->rules = mem_grow(r->rules, &r->rule_cap, r->rule_count + 1, sizeof(*r->rules));
    r->rules[r->rule_count++] = rule;
}

static void add_sitemap(struct robots *r, struct span url)
{
    if (r->sitemap_count >= ROBOTS_SITEMAPS_MAX || url.n == 0 || url.n > ROBOTS_SITEMAP_BYTES_MAX)
        return;
    for (size_t i = 0; i < r->sitemap_count; i++) {
        if (span_eq(robots_sitemap(r, i), url))
            return;
    }
    r->sitemaps = mem_grow(r->sitemaps, &r->sitemap_cap, r->sitemap_count + 1, sizeof(*r->sitemaps));
    r->sitemaps[r->sitemap_count++] = text_add(r, url);
}

static int rule_order(const void *a, const void *b)
{
    const struct rule *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->is_allow != y->is_allow)
        return x->is_allow ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void finish(struct robots *r)
{
    if (r->rule_count) {
        qsort(r->rules, r->rule_count, sizeof(*r->rules), rule_order);
        r->rules = mem_realloc(r->rules, r->rule_count * sizeof(*r->rules));
        r->rule_cap = r->rule_count;
    }
    if (r->text.n) {
        r->text.p = mem_realloc(r->text.p, r->text.n);
        r->text.cap = r->text.n;
    }
}

struct robots *robots_all(bool allowed)
{
    struct robots *r = mem_alloc(sizeof(*r));
    r->delay_ms = -1;
    r->is_none = !allowed;
    return r;
}

void robots_free(struct robots *r)
{
    if (!r)
        return;
    buf_done(&r->text);
    free(r->rules);
    free(r->sitemaps);
    free(r);
}

/* Parsing */

typedef enum key { KEY_OTHER, KEY_AGENT, KEY_ALLOW, KEY_DISALLOW, KEY_SITEMAP, KEY_DELAY } key;

static key key_of(struct span s)
{
    static const struct {
        const char *name;
        key key;
    } keys[] = {
        {"user-agent", KEY_AGENT},   {"disallow", KEY_DISALLOW}, {"allow", KEY_ALLOW},      {"sitemap", KEY_SITEMAP},
        {"crawl-delay", KEY_DELAY},  {"useragent", KEY_AGENT},   {"user agent", KEY_AGENT}, {"useg-agent", KEY_AGENT},
        {"dissallow", KEY_DISALLOW}, {"dissalow", KEY_DISALLOW}, {"disalow", KEY_DISALLOW}, {"diasllow", KEY_DISALLOW},
        {"disallaw", KEY_DISALLOW},  {"desallow", KEY_DISALLOW}, {"site-map", KEY_SITEMAP}, {"crawldelay", KEY_DELAY},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (span_is_nocase(s, keys[i].name))
            return keys[i].key;
    }
    return KEY_OTHER;
}

struct lines {
    struct span rest;
    uint32_t number; /* of the line last read */
};

static bool next_line(struct lines *in, struct span *line)
{
    if (in->rest.n == 0)
        return false;
    size_t end = 0;
    while (end < in->rest.n && in->rest.p[end] != '\n' && in->rest.p[end] != '\r')
        end++;
    *line = span_cut(in->rest, 0, end);
    bool is_crlf = in->rest.n - end >= 2 && in->rest.p[end] == '\r' && in->rest.p[end + 1] == '\n';
    in->rest = span_from(in->rest, end + (is_crlf ? 2 : 1));
    in->number++;
    return true;
}

/* The next line with a key and a colon, without its comment. */
static bool next_record(struct lines *in, key *k, struct span *value)
{
    struct span line;
    while (next_line(in, &line)) {
        line.n = span_find(line, '#', 0);
        size_t colon = span_find(line, ':', 0);
        if (colon == line.n)
            continue;
        *k = key_of(span_trim(span_cut(line, 0, colon)));
        *value = span_trim(span_from(line, colon + 1));
        return true;
    }
    return false;
}

static struct span product_token(struct span s)
{
    size_t n = 0;
    while (n < s.n && (ascii_is_alpha(s.p[n]) || ascii_is_digit(s.p[n]) || s.p[n] == '-' || s.p[n] == '_'))
        n++;
    return span_cut(s, 0, n);
}

/* Does a User-agent value name `token`? The empty token stands for everybody. */
static bool names(struct span value, struct span token)
{
    if (token.n == 0)
        return value.n && value.p[0] == '*' && (value.n == 1 || ascii_is_space(value.p[1]));
    return span_eq_nocase(product_token(value), token);
}

static bool has_group(struct span body, struct span token)
{
    struct lines in = {body, 0};
    key k;
    struct span value;
    while (next_record(&in, &k, &value)) {
        if (k == KEY_AGENT && names(value, token))
            return true;
    }
    return false;
}

/* Seconds, with a fraction; what follows the number is ignored. -1: no number. */
static int64_t delay_of(struct span s)
{
    int64_t ms = 0, unit = 1000;
    bool has_digit = false, in_fraction = false;
    for (size_t i = 0; i < s.n && ms < ROBOTS_DELAY_MS_MAX; i++) {
        if (s.p[i] == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (!ascii_is_digit(s.p[i]))
            break;
        has_digit = true;
        if (in_fraction)
            ms += (unit /= 10) * (s.p[i] - '0');
        else
            ms = ms * 10 + unit * (s.p[i] - '0');
    }
    if (!has_digit)
        return -1;
    return ms < ROBOTS_DELAY_MS_MAX ? ms : ROBOTS_DELAY_MS_MAX;
}

static void read_groups(struct robots *r, struct span body, struct span token)
{
    struct lines in = {body, 0};
    bool in_agents = false, is_ours = false;
    key k;
    struct span value;
    while (next_record(&in, &k, &value)) {
        if (k == KEY_AGENT) {
            is_ours = (in_agents && is_ours) || names(value, token);
            in_agents = true;
        } else if (k == KEY_ALLOW || k == KEY_DISALLOW) {
            in_agents = false;
            if (is_ours && value.n)
                add_rule(r, k == KEY_ALLOW, value, in.number);
        } else if (k == KEY_DELAY && is_ours) {
            int64_t ms = delay_of(value);
            r->delay_ms = ms > r->delay_ms ? ms : r->delay_ms;
        } else if (k == KEY_SITEMAP) {
            add_sitemap(r, value);
        }
    }
}

/* Past the ceiling only whole lines count: half a rule is another rule. */
static struct span cut_body(struct span body)
{
    if (body.n <= ROBOTS_BYTES_MAX)
        return body;
    body.n = ROBOTS_BYTES_MAX;
    while (body.n && body.p[body.n - 1] != '\n' && body.p[body.n - 1] != '\r')
        body.n--;
    return body;
}

struct robots *robots_parse(struct span body, struct span agent)
{
    struct robots *r = robots_all(true);
    struct arena a;
    arena_init(&a);
    if (span_starts(body, SPAN("\xFE\xFF")) || span_starts(body, SPAN("\xFF\xFE"))) {
        struct charset_result utf8;
        body = span_cut(body, 0, 2 * ROBOTS_BYTES_MAX);
        body = charset_decode(&a, body, SPAN(""), false, 4 * ROBOTS_BYTES_MAX, &utf8) == ST_OK ? utf8.text : SPAN("");
    } else if (span_starts(body, SPAN("\xEF\xBB\xBF"))) {
        body = span_from(body, 3);
    }
    body = cut_body(body);
    struct span token = product_token(span_trim(agent));
    if (token.n && !has_group(body, token))
        token = SPAN("");
    read_groups(r, body, token);
    finish(r);
    arena_done(&a);
    return r;
}

/* Asking */

struct robots_verdict robots_check(const struct robots *r, struct span target)
{
    struct robots_verdict v = {.allowed = true};
    if (span_is(target, "/robots.txt"))
        return v;
    v.allowed = !r->is_none;
    if (target.n == 0)
        target = SPAN("/");
    struct buf plain = {0}, encoded = {0};
    uint64_t steps = 0;
    if (r->rule_count)
        normalise(target, false, false, &plain);
    uint64_t head = first_eight(buf_span(&plain));
    for (size_t i = 0; i < r->rule_count; i++) {
        const struct rule *rule = &r->rules[i];
        if ((head ^ rule->head) & rule->head_mask && !rule->is_query)
            continue;
        bool found = match(piece_span(r, rule->pattern), rule->is_end, buf_span(&plain), &steps);
        if (!found && rule->is_query) {
            if (encoded.n == 0)
                normalise(target, false, true, &encoded);
            found = match(piece_span(r, rule->query), rule->is_end, buf_span(&encoded), &steps);
        }
        if (found) {
            v.allowed = rule->is_allow;
            v.rule = piece_span(r, rule->shown);
            v.line = rule->line;
            break;
        }
    }
    buf_done(&plain);
    buf_done(&encoded);
    return v;
}

int64_t robots_crawl_delay_ms(const struct robots *r)
{
    return r->delay_ms;
}

size_t robots_rule_count(const struct robots *r)
{
    return r->rule_count;
}

size_t robots_sitemap_count(const struct robots *r)
{
    return r->sitemap_count;
}

struct span robots_sitemap(const struct robots *r, size_t i)
{
    return piece_span(r, r->sitemaps[i]);
}

size_t robots_bytes(const struct robots *r)
{
    return sizeof(*r) + r->text.cap + r->rule_cap * sizeof(*r->rules) + r->sitemap_cap * sizeof(*r->sitemaps);
}

/* Keeping: only what was written is packed; the rest is worked out again. */

#define PACK_VERSION 1
#define FLAG_NONE 1  /* nothing is allowed */
#define FLAG_DELAY 2 /* a Crawl-delay follows */

void robots_pack(const struct robots *r, struct buf *out)
{
    pack_u8(out, PACK_VERSION);
    pack_u8(out, (uint8_t)((r->is_none ? FLAG_NONE : 0) | (r->delay_ms >= 0 ? FLAG_DELAY : 0)));
    if (r->delay_ms >= 0)
        pack_var(out, (uint64_t)r->delay_ms);
    pack_var(out, r->rule_count);
    for (size_t i = 0; i < r->rule_count; i++) {
        const struct rule *rule = &r->rules[i];
        struct span shown = piece_span(r, rule->shown);
        pack_var(out, (uint64_t)rule->line << 1 | rule->is_allow);
        pack_text(out, span_from(shown, span_find(shown, ' ', 0) + 1));
    }
    pack_var(out, r->sitemap_count);
    for (size_t i = 0; i < r->sitemap_count; i++)
        pack_text(out, robots_sitemap(r, i));
}

static bool unpack_rules(struct unpack *u, struct robots *r)
{
    uint64_t rules = unpack_var(u);
    if (rules > ROBOTS_RULES_MAX)
        return false;
    size_t total = 0;
    for (uint64_t i = 0; i < rules && !u->bad; i++) {
        uint64_t head = unpack_var(u);
        struct span path = unpack_text(u, ROBOTS_BYTES_MAX);
        total += path.n;
        if (u->bad || path.n == 0 || total > ROBOTS_BYTES_MAX || head >> 1 > UINT32_MAX)
            return false;
        add_rule(r, head & 1, path, (uint32_t)(head >> 1));
    }
    uint64_t sitemaps = unpack_var(u);
    for (uint64_t i = 0; i < sitemaps && !u->bad; i++)
        add_sitemap(r, unpack_text(u, ROBOTS_SITEMAP_BYTES_MAX));
    return r->rule_count == rules && r->sitemap_count == sitemaps;
}

status robots_unpack(struct span packed, struct robots **out)
{
    struct unpack u = unpack_of(packed);
    uint8_t version = unpack_u8(&u), flags = unpack_u8(&u);
    if (!u.bad && version > PACK_VERSION)
        return ST_NEWER;
    struct robots *r = robots_all(!(flags & FLAG_NONE));
    if (flags & FLAG_DELAY) {
        uint64_t ms = unpack_var(&u);
        r->delay_ms = ms <= ROBOTS_DELAY_MS_MAX ? (int64_t)ms : -1;
        u.bad = u.bad || ms > ROBOTS_DELAY_MS_MAX;
    }
    if (version != PACK_VERSION || !unpack_rules(&u, r) || u.bad || !unpack_at_end(&u)) {
        robots_free(r);
        return ST_CORRUPT;
    }
    finish(r);
    *out = r;
    return ST_OK;
}
