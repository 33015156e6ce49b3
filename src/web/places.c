#include "web/places.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

#define PLACE_URL_MAX 2048 /* as of pages */

struct places {
    struct arena arena;
    struct sip_key key;
    struct table hosts; /* hash of a host's name -> the places that name it, a chain */
    size_t count;
};

/* ---- one place ---- */

static status bad(struct buf *why, const char *what)
{
    if (why && !why->n)
        buf_puts(why, what);
    return ST_INVALID;
}

static void set_text(struct arena *a, struct places_item *p, const char *before, struct span middle, const char *behind)
{
    struct buf b = {0};
    buf_puts(&b, before);
    buf_put(&b, middle);
    buf_puts(&b, behind);
    p->text = arena_copy(a, buf_span(&b));
    buf_done(&b);
}

/* "example.org." is the same host as "example.org", said more exactly. With two dots it is no name at all: "1.." would
 * become an address. */
static struct span bare(struct span host)
{
    bool is_said = host.n > 1 && span_ends(host, SPAN(".")) && !span_ends(host, SPAN(".."));
    return is_said ? span_cut(host, 0, host.n - 1) : host;
}

/* Other signs than '.' and '*' are folded to these. Such a name would be read back as a domain, or not at all. */
static bool has_odd_host(const struct url *u)
{
    return span_starts(u->host, SPAN(".")) || span_find(u->host, '*', 0) < u->host.n;
}

/* "host" or "host:port", with the rules of URLs for what a name may be. */
static status parse_host(struct arena *a, struct span text, struct places_item *p, struct buf *why)
{
    struct buf href = {0};
    struct url u;
    for (size_t i = 0; i < text.n; i++)
        if (ascii_is_space(text.p[i]) || strchr("/?#@\\*", text.p[i]))
            return bad(why, "neither a URL nor a host");
    buf_puts(&href, "http://");
    buf_put(&href, text);
    buf_puts(&href, "/");
    status st = url_parse(a, buf_span(&href), NULL, &u);
    buf_done(&href);
    if (st != ST_OK || !url_is_http(&u) || has_odd_host(&u))
        return bad(why, "neither a URL nor a host");
    /* A port that is written is meant, also the one that http has anyway. */
    size_t port = text.n;
    while (port > 0 && ascii_is_digit(text.p[port - 1]))
        port--;
    bool has_port = port > 0 && port < text.n && text.p[port - 1] == ':';
    if (has_port && !u.port)
        return bad(why, "there is no port 0");
    p->host = bare(u.host);
    p->port = has_port ? u.port : 0;
    return ST_OK;
}

static status parse_domain(struct arena *a, struct span text, struct places_item *p, struct buf *why)
{
    status st = parse_host(a, text, p, why);
    if (st != ST_OK)
        return st;
    if (p->port)
        return bad(why, "a domain has no port");
    if (p->host.n && (p->host.p[0] == '[' || ascii_is_digit(p->host.p[p->host.n - 1])))
        return bad(why, "an address has nothing under it");
    p->kind = PLACES_DOMAIN;
    set_text(a, p, ".", p->host, "");
    return ST_OK;
}

static status parse_site(struct arena *a, struct span text, struct places_item *p, struct buf *why)
{
    char port[16];
    status st = parse_host(a, text, p, why);
    if (st != ST_OK)
        return st;
    p->kind = PLACES_HOST;
    struct buf b = {0};
    if (p->port)
        buf_printf(&b, ":%d", p->port);
    memcpy(port, b.n ? buf_cstr(&b) : "", b.n + 1);
    buf_done(&b);
    set_text(a, p, "", p->host, port);
    return ST_OK;
}

/* The beginning of URLs: a sign stands for what follows while it is read, or "/list?" would become "/list", and "/."
 * the whole folder. */
#define FOLLOWS "x"

static struct span with_sign(struct arena *a, struct span text)
{
    struct buf b = {0};
    buf_put(&b, text);
    buf_puts(&b, FOLLOWS);
    struct span copy = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return copy;
}

static struct span without_sign(struct span s)
{
    return span_cut(s, 0, s.n - strlen(FOLLOWS));
}

static status parse_url(struct arena *a, struct span text, bool is_folder, struct places_item *p, struct buf *why)
{
    struct url parsed, *u = arena_alloc(a, sizeof(*u));
    /* Of a beginning no parameter is dropped: what is left would have more than was meant. */
    const struct url_norm none = {0}, *norm = is_folder ? &none : &url_norm_default;
    if (is_folder && span_find(text, '#', 0) < text.n)
        return bad(why, "what stands behind a # is not part of an address: leave it out");
    if (url_parse(a, is_folder ? with_sign(a, text) : text, NULL, &parsed) != ST_OK || !url_is_http(&parsed) ||
        has_odd_host(&parsed) || url_normalise(a, &parsed, norm, PLACE_URL_MAX, u) != ST_OK)
        return bad(why, "not an http or https URL");
    if (!u->port)
        return bad(why, "there is no port 0");
    if (is_folder && !span_ends(url_request_target(u), SPAN(FOLLOWS))) /* it became a part of the host */
        return bad(why, "a * stands behind the / of a host: to name a host leave it out");
    p->kind = is_folder ? PLACES_FOLDER : PLACES_PAGE;
    p->host = bare(u->host);
    p->port = u->has_explicit_port ? u->port : 0;
    p->rest = is_folder ? without_sign(url_request_target(u)) : url_request_target(u);
    set_text(a, p, "", is_folder ? without_sign(u->href) : u->href, is_folder ? "*" : "");
    return ST_OK;
}

status places_parse(struct arena *a, struct span text, struct places_item *out, struct buf *why)
{
    *out = (struct places_item){0};
    text = span_trim(text);
    if (!text.n)
        return bad(why, "it is empty");
    if (text.n > PLACES_TEXT_MAX)
        return ST_LIMIT;
    size_t colon = span_search(text, SPAN("://"), false);
    if (colon == text.n) {
        if (span_starts(text, SPAN("*.")))
            return parse_domain(a, span_from(text, 2), out, why);
        if (text.p[0] == '.')
            return parse_domain(a, span_from(text, 1), out, why);
        if (span_find(text, '/', 0) < text.n)
            return bad(why, "a URL begins with http:// or https://");
        return parse_site(a, text, out, why);
    }
    bool is_folder = text.p[text.n - 1] == '*';
    if (is_folder)
        text.n--;
    if (span_find(text, '*', 0) < text.n)
        return bad(why, "a * may only stand at its end");
    struct span behind = span_from(text, colon + 3);
    if (span_find(behind, '/', 0) == behind.n && !is_folder) {
        if (!span_starts_nocase(text, SPAN("http://")) && !span_starts_nocase(text, SPAN("https://")))
            return bad(why, "not an http or https URL");
        return parse_site(a, behind, out, why);
    }
    return parse_url(a, text, is_folder, out, why);
}

static bool is_under(struct span host, struct span domain)
{
    return span_ends(host, domain) && (host.n == domain.n || host.p[host.n - domain.n - 1] == '.');
}

/* Bytes of a '*' at `at`, in either way of writing it; 0: there is none. */
static size_t star_at(struct span s, size_t at)
{
    if (at < s.n && s.p[at] == '*')
        return 1;
    return span_starts_nocase(span_from(s, at), SPAN("%2a")) ? 3 : 0;
}

/* In a place a '*' stands for what may follow, so one of the address itself is written %2A there. */
static bool begins_with(struct span target, struct span rest, bool is_all)
{
    size_t i = 0, k = 0;
    while (k < rest.n) {
        size_t a = star_at(target, i), b = star_at(rest, k);
        if (!a != !b || (!a && (i == target.n || target.p[i] != rest.p[k])))
            return false;
        i += a ? a : 1;
        k += b ? b : 1;
    }
    return !is_all || i == target.n;
}

static bool has_as_written(const struct places_item *p, const struct url *u)
{
    if (p->kind == PLACES_DOMAIN)
        return is_under(bare(u->host), p->host);
    if (!span_eq(p->host, bare(u->host)))
        return false;
    if (p->kind == PLACES_HOST)
        return !p->port || p->port == u->port;
    if (p->port != (u->has_explicit_port ? u->port : 0))
        return false;
    return begins_with(url_request_target(u), p->rest, p->kind == PLACES_PAGE);
}

/* Parameters that say nothing of the page (url_norm_default) are there where a folder keeps them, and in archives of
 * others. False: the URL has none. */
static bool drop_params(struct arena *a, const struct url *u, struct url *out)
{
    return u->has_query && url_normalise(a, u, &url_norm_default, URL_INPUT_MAX, out) == ST_OK &&
           !span_eq(out->href, u->href);
}

bool places_item_has(const struct places_item *p, const struct url *u)
{
    struct arena a;
    struct url plain;
    arena_init(&a);
    bool has = has_as_written(p, u) || (drop_params(&a, u, &plain) && has_as_written(p, &plain));
    arena_done(&a);
    return has;
}

/* ---- sets ---- */

struct places *places_new(const struct sip_key *key)
{
    struct places *ps = mem_alloc(sizeof(*ps));
    arena_init(&ps->arena);
    ps->key = *key;
    return ps;
}

void places_free(struct places *ps)
{
    if (!ps)
        return;
    table_done(&ps->hosts);
    arena_done(&ps->arena);
    free(ps);
}

status places_add(struct places *ps, struct span text, struct buf *why)
{
    struct places_item p;
    status st = ps->count < PLACES_MAX ? places_parse(&ps->arena, text, &p, why) : ST_LIMIT;
    if (st != ST_OK)
        return st;
    uint64_t hash = siphash(&ps->key, p.host);
    for (const struct places_item *q = table_get(&ps->hosts, hash); q; q = q->next)
        if (span_eq(q->text, p.text))
            return ST_OK;
    struct places_item *kept = arena_alloc(&ps->arena, sizeof(*kept));
    *kept = p;
    kept->next = table_get(&ps->hosts, hash);
    table_put(&ps->hosts, hash, kept);
    ps->count++;
    return ST_OK;
}

bool places_have(const struct places *ps, struct span text)
{
    struct arena a;
    struct places_item p;
    bool has = false;
    arena_init(&a);
    if (places_parse(&a, text, &p, NULL) == ST_OK)
        for (const struct places_item *q = table_get(&ps->hosts, siphash(&ps->key, p.host)); q && !has; q = q->next)
            has = span_eq(q->text, p.text);
    arena_done(&a);
    return has;
}

size_t places_count(const struct places *ps)
{
    return ps ? ps->count : 0;
}

/* The host, then every domain that it is under: places stand with the name they are written with. */
static const struct places_item *find_as_written(const struct places *ps, const struct url *u, bool *has_any)
{
    for (struct span name = bare(u->host); name.n;) {
        for (const struct places_item *p = table_get(&ps->hosts, siphash(&ps->key, name)); p; p = p->next) {
            *has_any = true;
            if (has_as_written(p, u))
                return p;
        }
        name = span_from(name, span_find(name, '.', 0) + 1);
    }
    return NULL;
}

const struct places_item *places_find(const struct places *ps, const struct url *u)
{
    bool has_any = false;
    if (!places_count(ps) || !u->has_host)
        return NULL;
    const struct places_item *p = find_as_written(ps, u, &has_any);
    if (p || !has_any)
        return p;
    struct arena a;
    struct url plain;
    arena_init(&a);
    if (drop_params(&a, u, &plain))
        p = find_as_written(ps, &plain, &has_any);
    arena_done(&a);
    return p;
}

bool places_have_address(const struct places *ps, struct span address)
{
    static const struct url_norm none = {0};
    struct arena a;
    struct url u, normal;
    arena_init(&a);
    bool has = url_parse(&a, address, NULL, &u) == ST_OK && url_is_http(&u) &&
               url_normalise(&a, &u, &none, URL_INPUT_MAX, &normal) == ST_OK && places_find(ps, &normal);
    arena_done(&a);
    return has;
}

bool places_have_host(const struct places *ps, struct span host)
{
    if (!places_count(ps))
        return false;
    host = bare(host);
    for (struct span name = host; name.n;) {
        for (const struct places_item *p = table_get(&ps->hosts, siphash(&ps->key, name)); p; p = p->next)
            if ((p->kind == PLACES_HOST && !p->port && span_eq(p->host, host)) ||
                (p->kind == PLACES_DOMAIN && is_under(host, p->host)))
                return true;
        name = span_from(name, span_find(name, '.', 0) + 1);
    }
    return false;
}

/* ---- lists ---- */

bool places_next_line(struct span *rest, unsigned *line, struct span *place, struct span *note)
{
    struct span text;
    if (!*line &&
        span_starts(*rest, SPAN("\xef\xbb\xbf"))) /* some editors begin a file with it, and it cannot be seen */
        *rest = span_from(*rest, 3);
    while (span_split(rest, '\n', &text)) {
        ++*line;
        text = span_trim(text);
        if (!text.n || text.p[0] == '#')
            continue;
        size_t n = 0;
        while (n < text.n && !ascii_is_space(text.p[n]))
            n++;
        *place = span_cut(text, 0, n);
        *note = span_trim(span_from(text, n));
        if (note->n && note->p[0] == '#')
            *note = span_trim(span_from(*note, 1));
        return true;
    }
    return false;
}

status places_add_list(struct places *ps, struct span list, struct buf *why)
{
    struct span place, note;
    unsigned line = 0;
    status st = list.n <= PLACES_LIST_MAX ? ST_OK : ST_LIMIT;
    while (st == ST_OK && places_next_line(&list, &line, &place, &note)) {
        struct buf reason = {0};
        st = places_add(ps, place, &reason);
        if (st != ST_OK && why && !why->n)
            buf_printf(why, "line %u: %.*s: %s", line, SPAN_ARG(span_cut(place, 0, 200)),
                       reason.n ? buf_cstr(&reason) : status_name(st));
        buf_done(&reason);
    }
    return st;
}
