#include "web/url.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "codec/glob.h"
#include "web/url_internal.h"

/* Names that mean one thing wherever they are seen. Left out on purpose: sid, s, id, ref, source, session, sessionid
 * and session_id, which as often name a story, a site or a talk; losing a page is worse than fetching it twice. */
static const struct span default_drop[] = {
#define NAME(lit)            \
    {                        \
        lit, sizeof(lit) - 1 \
    }
    /* campaign marks */
    NAME("utm_*"),
    NAME("mtm_*"),
    NAME("pk_campaign"),
    NAME("pk_kwd"),
    NAME("_openstat"),
    NAME("mkt_tok"),
    /* click ids */
    NAME("fbclid"),
    NAME("gclid"),
    NAME("gclsrc"),
    NAME("gbraid"),
    NAME("wbraid"),
    NAME("dclid"),
    NAME("msclkid"),
    NAME("yclid"),
    NAME("ysclid"),
    NAME("twclid"),
    NAME("ttclid"),
    NAME("igshid"),
    NAME("li_fat_id"),
    NAME("s_kwcid"),
    NAME("wickedid"),
    /* visitors and mail recipients */
    NAME("mc_cid"),
    NAME("mc_eid"),
    NAME("_ga"),
    NAME("_gl"),
    NAME("_hsenc"),
    NAME("_hsmi"),
    NAME("__hssc"),
    NAME("__hstc"),
    NAME("__hsfp"),
    NAME("hsctatracking"),
    NAME("vero_id"),
    NAME("oly_anon_id"),
    NAME("oly_enc_id"),
    /* sessions */
    NAME("phpsessid"),
    NAME("jsessionid"),
    NAME("aspsessionid*"),
    NAME("cfid"),
    NAME("cftoken"),
    NAME("oscsid"),
    NAME("zenid"),
#undef NAME
};

const struct url_norm url_norm_default = {default_drop, sizeof(default_drop) / sizeof(default_drop[0]), false};

/* The patterns behind a filter of their first two letters: most names fail it and cost one look. */
struct dropper {
    const struct url_norm *norm;
    uint64_t pairs[4];   /* bit pair_bit() of each pattern's first two bytes */
    bool takes_any_pair; /* some pattern has a wildcard there, or is shorter */
};

static unsigned pair_bit(struct span s)
{
    return ((unsigned char)ascii_lower(s.p[0]) * 31u + (unsigned char)ascii_lower(s.p[1])) & 255;
}

static bool is_wild(char c)
{
    return c == '*' || c == '?' || c == '\\';
}

static struct dropper dropper_of(const struct url_norm *norm)
{
    struct dropper d = {.norm = norm};
    for (size_t i = 0; i < norm->drop_param_count; i++) {
        struct span glob = norm->drop_params[i];
        if (glob.n < 2 || is_wild(glob.p[0]) || is_wild(glob.p[1]))
            d.takes_any_pair = true;
        else
            d.pairs[pair_bit(glob) >> 6] |= UINT64_C(1) << (pair_bit(glob) & 63);
    }
    return d;
}

static bool is_dropped(const struct dropper *d, struct span name)
{
    if (!d->takes_any_pair && (name.n < 2 || !(d->pairs[pair_bit(name) >> 6] >> (pair_bit(name) & 63) & 1)))
        return false;
    for (size_t i = 0; i < d->norm->drop_param_count; i++)
        if (glob_match_nocase(d->norm->drop_params[i], name))
            return true;
    return false;
}

static struct span name_of(struct span param)
{
    param.n = span_find(param, '=', 0);
    return param;
}

static bool has_dropped_param(const struct dropper *d, struct span query)
{
    struct span rest = query, param;
    while (span_split(&rest, '&', &param))
        if (is_dropped(d, name_of(param)))
            return true;
    return false;
}

static bool has_byte(struct span s, char c)
{
    return s.n && memchr(s.p, c, s.n);
}

static bool is_normal(const struct url *u, const struct dropper *d)
{
    if (u->username.n || u->password.n || u->has_fragment || has_byte(u->path, '%') || has_byte(u->path, ';'))
        return false;
    return !u->has_query ||
           (u->query.n && !d->norm->sort_params && !has_byte(u->query, '%') && !has_dropped_param(d, u->query));
}

static size_t count_byte(struct span s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

/* %7e -> ~, %c3 -> %C3, a '%' that begins no escape -> %25. At most two bytes more for each '%'. */
static char *put_escapes(char *to, struct span s)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.n; i++) {
        int hi = 2, lo = 5;
        if (s.p[i] != '%') {
            *to++ = s.p[i];
            continue;
        }
        if (s.n - i > 2 && ascii_hex(s.p[i + 1]) >= 0 && ascii_hex(s.p[i + 2]) >= 0) {
            hi = ascii_hex(s.p[i + 1]);
            lo = ascii_hex(s.p[i + 2]);
            i += 2;
        }
        if (url_class[hi << 4 | lo] & URL_UNRESERVED) {
            *to++ = (char)(hi << 4 | lo);
        } else {
            *to++ = '%';
            *to++ = hex[hi];
            *to++ = hex[lo];
        }
    }
    return to;
}

static char *put_span(char *to, struct span s)
{
    if (s.n)
        memmove(to, s.p, s.n); /* within one buffer at times */
    return to + s.n;
}

static char *put_text(char *to, struct span s)
{
    return has_byte(s, '%') ? put_escapes(to, s) : put_span(to, s);
}

/* Rewrites one segment at `to` without its dropped ";name=value". "..;x=1" is left: what remains would be a dot
 * segment. */
static char *drop_segment_params(const struct dropper *d, char *to, struct span segment)
{
    struct span rest = segment, param;
    if (!span_split(&rest, ';', &param) || span_eq(param, SPAN(".")) || span_eq(param, SPAN("..")))
        return put_span(to, segment);
    to = put_span(to, param);
    while (span_split(&rest, ';', &param)) {
        if (has_byte(param, '=') && is_dropped(d, name_of(param)))
            continue;
        *to++ = ';';
        to = put_span(to, param);
    }
    return to;
}

/* In place; returns the new end. */
static char *drop_path_params(const struct dropper *d, char *path, size_t n)
{
    struct span rest = {path + 1, n - 1}, segment;
    char *to = path;
    if (!has_byte(rest, ';'))
        return path + n;
    while (span_split(&rest, '/', &segment)) {
        *to++ = '/';
        to = drop_segment_params(d, to, segment);
    }
    return to;
}

static char *drop_query_params(const struct dropper *d, char *query, size_t n)
{
    struct span rest = {query, n}, param;
    char *to = query;
    bool is_first = true;
    while (span_split(&rest, '&', &param)) {
        if (is_dropped(d, name_of(param)))
            continue;
        if (!is_first)
            *to++ = '&';
        to = put_span(to, param);
        is_first = false;
    }
    return to;
}

/* By name; those of one name keep their order. */
static int compare_params(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int c = span_cmp(name_of(*x), name_of(*y));
    return c ? c : (x->p > y->p) - (x->p < y->p);
}

static void sort_params(char *query, size_t n)
{
    struct span all = {query, n}, param;
    size_t count = 0, cap = count_byte(all, '&') + 1;
    struct span *params = mem_alloc(cap * sizeof(*params)), rest = all;
    struct buf sorted = {0};
    while (span_split(&rest, '&', &param))
        params[count++] = param;
    qsort(params, count, sizeof(*params), compare_params);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(&sorted, '&');
        buf_put(&sorted, params[i]);
    }
    put_span(query, buf_span(&sorted));
    buf_done(&sorted);
    free(params);
}

static void put_query(const struct dropper *d, struct url *u, char *to, struct span query)
{
    char *start = to + 1, *end = put_text(start, query);
    *to = '?';
    end = drop_query_params(d, start, (size_t)(end - start));
    if (end == start) {
        u->query = (struct span){to, 0};
        return;
    }
    u->has_query = true;
    u->query = (struct span){start, (size_t)(end - start)};
    if (d->norm->sort_params)
        sort_params(start, u->query.n);
}

static void rewrite(struct arena *a, const struct url *in, const struct dropper *d, struct url *out)
{
    struct span target = url_request_target(in);
    size_t site = in->scheme.n + 3, authority = (size_t)(in->path.p - in->host.p);
    char *text = arena_bytes(a, site + authority + target.n + 2 * count_byte(target, '%') + 2);
    char *host = put_span(text, span_cut(in->href, 0, site)), *path = put_span(host, span_of(in->host.p, authority));
    char *end = put_text(path, in->path);
    end = drop_path_params(d, path, (size_t)(end - path));
    struct url u = {
        .scheme = {text, in->scheme.n},
        .username = {host, 0},
        .password = {host, 0},
        .host = {host, in->host.n},
        .path = {path, (size_t)(end - path)},
        .query = {end, 0},
        .port = in->port,
        .has_explicit_port = in->has_explicit_port,
        .has_host = true,
        .is_special = true,
    };
    if (in->has_query)
        put_query(d, &u, end, in->query);
    end = (char *)u.query.p + u.query.n;
    *end = '\0';
    u.href = (struct span){text, (size_t)(end - text)};
    u.fragment = (struct span){end, 0};
    *out = u;
}

status url_normalise(struct arena *a, const struct url *in, const struct url_norm *norm, size_t max, struct url *out)
{
    struct url u = *in;
    if (!url_is_http(in))
        return ST_UNSUPPORTED;
    struct dropper d = {.norm = norm};
    if (in->has_query || has_byte(in->path, ';'))
        d = dropper_of(norm);
    if (!is_normal(in, &d))
        rewrite(a, in, &d, &u);
    if (u.href.n > max)
        return ST_LIMIT;
    *out = u;
    return ST_OK;
}
