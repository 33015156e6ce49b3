#include "crawl/channel.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "codec/glob.h"
#include "codec/regex.h"
#include "web/document.h"
#include "web/domain.h"

#define PACK_VERSION 2
#define PACK_PLAIN 1 /* without lists: what older agents read */
#define TEXT_MAX 65536

struct pattern {
    struct span text;    /* owned by the channel's arena, as given */
    struct regex *regex; /* owned; NULL: a glob */
};

/* One place that belongs to the channel: what a seed (or the target of a seed's redirect) stands for. */
struct place {
    struct span host;   /* SITE: host; DOMAIN: registered domain */
    int port;           /* SITE: explicit port, or 0 for the default one of either scheme */
    struct span prefix; /* PREFIX: "https://host/folder/" */
};

struct channel {
    struct arena arena;
    struct channel_opts opts; /* arrays in the arena */
    uint64_t id;
    struct pattern *include, *exclude;
    struct place *places;
    size_t place_count, place_cap;
    const struct places *refused; /* borrowed; NULL: none */
};

static struct span *copy_spans(struct arena *a, const struct span *from, size_t n)
{
    struct span *to = arena_alloc(a, n * sizeof(*to));
    for (size_t i = 0; i < n; i++)
        to[i] = arena_copy(a, from[i]);
    return to;
}

static struct place place_of(struct channel *c, const struct url *u)
{
    struct place p = {0};
    size_t slash = u->path.n;
    switch (c->opts.scope) {
    case SCOPE_SITE:
        p.host = arena_copy(&c->arena, u->host);
        p.port = u->has_explicit_port ? u->port : 0;
        break;
    case SCOPE_DOMAIN:
        p.host = arena_copy(&c->arena, domain_registered(u->host));
        break;
    case SCOPE_PREFIX:
        while (slash > 0 && u->path.p[slash - 1] != '/')
            slash--;
        p.prefix = arena_copy(&c->arena, span_of(u->href.p, (size_t)(u->path.p - u->href.p) + slash));
        break;
    }
    return p;
}

static bool place_has(const struct channel *c, const struct place *p, const struct url *u)
{
    switch (c->opts.scope) {
    case SCOPE_SITE:
        return p->port == (u->has_explicit_port ? u->port : 0) && span_eq(p->host, u->host);
    case SCOPE_DOMAIN:
        return span_eq(p->host, domain_registered(u->host));
    case SCOPE_PREFIX:
        return span_starts(u->href, p->prefix);
    }
    return false;
}

static bool is_in_scope(const struct channel *c, const struct url *u)
{
    for (size_t i = 0; i < c->place_count; i++)
        if (place_has(c, &c->places[i], u))
            return true;
    return false;
}

void channel_widen(struct channel *c, const struct url *u)
{
    if (is_in_scope(c, u))
        return;
    c->places = mem_grow(c->places, &c->place_cap, c->place_count + 1, sizeof(*c->places));
    c->places[c->place_count++] = place_of(c, u);
}

static status patterns_new(struct channel *c, const struct span *texts, size_t n, struct pattern **out, struct buf *why)
{
    *out = arena_alloc(&c->arena, n * sizeof(**out));
    memset(*out, 0, n * sizeof(**out));
    for (size_t i = 0; i < n; i++) {
        struct pattern *p = &(*out)[i];
        p->text = texts[i];
        if (!span_starts(p->text, SPAN("re:")))
            continue;
        status st = regex_new(span_from(p->text, 3), &p->regex, why);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static bool pattern_matches(const struct pattern *p, struct span href)
{
    return p->regex ? regex_find(p->regex, href) == ST_OK : glob_match(p->text, href);
}

static uint64_t id_of(const struct channel_opts *o)
{
    struct buf b = {0};
    pack_u8(&b, (uint8_t)o->scope);
    for (size_t i = 0; i < o->seed_count; i++)
        pack_text(&b, o->seeds[i]);
    uint64_t id = digest_blake2b64(buf_span(&b));
    buf_done(&b);
    return id ? id : 1;
}

static status add_seeds(struct channel *c, struct buf *why)
{
    struct arena scratch;
    arena_init(&scratch);
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < c->opts.seed_count; i++) {
        struct url u;
        st = url_parse(&scratch, c->opts.seeds[i], NULL, &u);
        if (st == ST_OK && !url_is_http(&u))
            st = ST_INVALID;
        if (st == ST_OK)
            channel_widen(c, &u);
        else if (why)
            buf_printf(why, "not an http or https URL: %.*s", SPAN_ARG(c->opts.seeds[i]));
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    return st;
}

static status check_lists(const struct channel *c, struct buf *why)
{
    struct arena scratch;
    status st = ST_OK;
    arena_init(&scratch);
    for (size_t i = 0; st == ST_OK && i < c->opts.list_count; i++) {
        struct url u;
        arena_reset(&scratch);
        st = url_parse(&scratch, c->opts.lists[i], NULL, &u);
        if (st == ST_OK && !url_is_http(&u))
            st = ST_INVALID;
        if (st != ST_OK && why)
            buf_printf(why, "not an http or https URL: %.*s", SPAN_ARG(c->opts.lists[i]));
    }
    arena_done(&scratch);
    return st;
}

status channel_new(const struct channel_opts *opts, struct channel **out, struct buf *why)
{
    if (opts->seed_count > CHANNEL_SEEDS_MAX || opts->include_count > CHANNEL_PATTERNS_MAX ||
        opts->exclude_count > CHANNEL_PATTERNS_MAX || opts->list_count > CHANNEL_LISTS_MAX) {
        if (why)
            buf_puts(why, "too many seeds, patterns or sitemaps");
        return ST_LIMIT;
    }
    struct channel *c = mem_alloc(sizeof(*c));
    arena_init(&c->arena);
    c->opts = *opts;
    c->opts.seeds = copy_spans(&c->arena, opts->seeds, opts->seed_count);
    c->opts.include = copy_spans(&c->arena, opts->include, opts->include_count);
    c->opts.exclude = copy_spans(&c->arena, opts->exclude, opts->exclude_count);
    c->opts.lists = copy_spans(&c->arena, opts->lists, opts->list_count);
    c->id = id_of(&c->opts);
    status st = patterns_new(c, c->opts.include, opts->include_count, &c->include, why);
    if (st == ST_OK)
        st = patterns_new(c, c->opts.exclude, opts->exclude_count, &c->exclude, why);
    if (st == ST_OK)
        st = add_seeds(c, why);
    if (st == ST_OK)
        st = check_lists(c, why);
    if (st == ST_OK)
        *out = c;
    else
        channel_free(c);
    return st;
}

void channel_free(struct channel *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->include && i < c->opts.include_count; i++)
        regex_free(c->include[i].regex);
    for (size_t i = 0; c->exclude && i < c->opts.exclude_count; i++)
        regex_free(c->exclude[i].regex);
    free(c->places);
    arena_done(&c->arena);
    free(c);
}

uint64_t channel_id(const struct channel *c)
{
    return c->id;
}

const struct channel_opts *channel_get_opts(const struct channel *c)
{
    return &c->opts;
}

channel_verdict channel_check(struct channel *c, const struct url *u, unsigned depth, struct span *pattern)
{
    if (places_find(c->refused, u))
        return CHANNEL_FORGOTTEN;
    if (!is_in_scope(c, u))
        return CHANNEL_OUT_OF_SCOPE;
    if (depth > c->opts.depth_max)
        return CHANNEL_TOO_DEEP;
    bool included = c->opts.include_count == 0 || depth == 0;
    for (size_t i = 0; !included && i < c->opts.include_count; i++)
        included = pattern_matches(&c->include[i], u->href);
    if (!included)
        return CHANNEL_NOT_INCLUDED;
    for (size_t i = 0; i < c->opts.exclude_count; i++)
        if (pattern_matches(&c->exclude[i], u->href)) {
            if (pattern)
                *pattern = c->exclude[i].text;
            return CHANNEL_EXCLUDED;
        }
    return CHANNEL_YES;
}

static struct span place_host(const struct place *p)
{
    struct span rest = span_from(p->prefix, span_search(p->prefix, SPAN("://"), false) + 3);
    size_t n = 0;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != ':')
        n++;
    return p->host.n ? p->host : span_cut(rest, 0, n);
}

/* An IPv6 address has colons of its own, and no domain: then only what is in scope is near. */
static bool is_near(const struct channel *c, const struct url *u)
{
    struct span domain = domain_registered(u->host);
    if (is_in_scope(c, u))
        return true;
    for (size_t i = 0; i < c->place_count; i++) {
        struct span host = place_host(&c->places[i]);
        if (span_ends(host, domain) && span_eq(domain_registered(host), domain))
            return true;
    }
    return false;
}

static bool is_given_list(const struct channel *c, const struct url *u)
{
    for (size_t i = 0; i < c->opts.list_count; i++)
        if (span_eq(c->opts.lists[i], u->href))
            return true;
    return false;
}

bool channel_takes_list(struct channel *c, const struct url *u, unsigned depth)
{
    if (depth > c->opts.depth_max || (!is_near(c, u) && !is_given_list(c, u)) ||
        (c->refused && places_find(c->refused, u)))
        return false;
    for (size_t i = 0; i < c->opts.exclude_count; i++)
        if (pattern_matches(&c->exclude[i], u->href))
            return false;
    return true;
}

void channel_refuse(struct channel *c, const struct places *places)
{
    c->refused = places;
}

static void pack_spans(struct buf *out, const struct span *s, size_t n)
{
    pack_var(out, n);
    for (size_t i = 0; i < n; i++)
        pack_text(out, s[i]);
}

void channel_pack(const struct channel *c, struct buf *out)
{
    pack_u8(out, c->opts.list_count ? PACK_VERSION : PACK_PLAIN);
    pack_u8(out, (uint8_t)c->opts.scope);
    pack_var(out, c->opts.depth_max);
    pack_spans(out, c->opts.seeds, c->opts.seed_count);
    pack_spans(out, c->opts.include, c->opts.include_count);
    pack_spans(out, c->opts.exclude, c->opts.exclude_count);
    if (c->opts.list_count)
        pack_spans(out, c->opts.lists, c->opts.list_count);
    pack_var(out, c->place_count);
    for (size_t i = 0; i < c->place_count; i++) {
        pack_text(out, c->places[i].host);
        pack_var(out, (uint64_t)c->places[i].port);
        pack_text(out, c->places[i].prefix);
    }
}

static struct span *unpack_spans(struct arena *a, struct unpack *u, size_t max, size_t *n)
{
    uint64_t count = unpack_var(u);
    if (count > max)
        u->bad = true;
    if (u->bad)
        return NULL;
    struct span *s = arena_alloc(a, (size_t)count * sizeof(*s));
    for (uint64_t i = 0; i < count; i++)
        s[i] = unpack_text(u, TEXT_MAX);
    *n = (size_t)count;
    return s;
}

static status unpack_places(struct channel *c, struct unpack *u)
{
    uint64_t n = unpack_var(u);
    if (n > CHANNEL_SEEDS_MAX * 2)
        return ST_CORRUPT;
    c->place_count = 0;
    for (uint64_t i = 0; i < n && !u->bad; i++) {
        c->places = mem_grow(c->places, &c->place_cap, c->place_count + 1, sizeof(*c->places));
        struct place *p = &c->places[c->place_count++];
        p->host = arena_copy(&c->arena, unpack_text(u, TEXT_MAX));
        p->port = (int)unpack_var(u);
        p->prefix = arena_copy(&c->arena, unpack_text(u, TEXT_MAX));
    }
    return u->bad || !unpack_at_end(u) ? ST_CORRUPT : ST_OK;
}

status channel_unpack(struct span packed, struct channel **out)
{
    struct unpack u = unpack_of(packed);
    struct arena scratch;
    struct channel_opts o = {0};
    struct channel *c = NULL;
    uint8_t version = unpack_u8(&u);
    if (version != PACK_VERSION && version != PACK_PLAIN)
        return u.bad ? ST_CORRUPT : ST_NEWER;
    arena_init(&scratch);
    o.scope = (channel_scope)unpack_u8(&u);
    o.depth_max = (unsigned)unpack_var(&u);
    o.seeds = unpack_spans(&scratch, &u, CHANNEL_SEEDS_MAX, &o.seed_count);
    o.include = unpack_spans(&scratch, &u, CHANNEL_PATTERNS_MAX, &o.include_count);
    o.exclude = unpack_spans(&scratch, &u, CHANNEL_PATTERNS_MAX, &o.exclude_count);
    if (version == PACK_VERSION)
        o.lists = unpack_spans(&scratch, &u, CHANNEL_LISTS_MAX, &o.list_count);
    status st = u.bad || o.scope > SCOPE_PREFIX ? ST_CORRUPT : channel_new(&o, &c, NULL);
    if (st == ST_OK)
        st = unpack_places(c, &u);
    if (st == ST_OK) {
        *out = c;
        c = NULL;
    }
    channel_free(c);
    arena_done(&scratch);
    return st;
}

static bool place_eq(const struct place *a, const struct place *b)
{
    return a->port == b->port && span_eq(a->host, b->host) && span_eq(a->prefix, b->prefix);
}

static bool spans_eq(const struct span *a, size_t an, const struct span *b, size_t bn)
{
    bool is_same = an == bn;
    for (size_t i = 0; is_same && i < an; i++)
        is_same = span_eq(a[i], b[i]);
    return is_same;
}

bool channel_is_narrower(const struct channel *c, const struct channel *old)
{
    const struct channel_opts *a = &c->opts, *b = &old->opts;
    return a->depth_max < b->depth_max || !spans_eq(a->include, a->include_count, b->include, b->include_count) ||
           !spans_eq(a->exclude, a->exclude_count, b->exclude, b->exclude_count);
}

bool channel_wants_no_more(struct channel *c, const struct url *u, unsigned depth)
{
    channel_verdict v = depth ? channel_check(c, u, depth, NULL) : CHANNEL_YES;
    /* Sitemaps and feeds need not be included; what is called like one may be one. */
    if (v == CHANNEL_NOT_INCLUDED)
        return document_kind_of(SPAN("application/octet-stream"), u->href) != DOCUMENT_LIST;
    return v == CHANNEL_TOO_DEEP || v == CHANNEL_EXCLUDED;
}

void channel_adopt(struct channel *c, const struct channel *old)
{
    for (size_t i = 0; i < old->place_count; i++) {
        const struct place *p = &old->places[i];
        bool has = false;
        for (size_t k = 0; k < c->place_count; k++)
            has |= place_eq(p, &c->places[k]);
        if (has)
            continue;
        c->places = mem_grow(c->places, &c->place_cap, c->place_count + 1, sizeof(*c->places));
        c->places[c->place_count++] =
            (struct place){arena_copy(&c->arena, p->host), p->port, arena_copy(&c->arena, p->prefix)};
    }
}
