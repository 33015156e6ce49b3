/* The links that pages are full of, without the state machine: look at each byte once, copy twice, done.
 *
 *     href     "../img/a.png?x=1#top"
 *     scan     path [0,12) with dot segments, query [13,16), fragment [17,20): all bytes mean themselves
 *     write    base up to its last '/', then the path segment by segment, then the rest in one piece
 *
 * Anything that would be encoded, decoded or judged (a space, "%2e", a byte outside ASCII, a host in capitals or that
 * ends in a digit label) makes the scan give up. */
#include "web/url_internal.h"

#define ENC(c)                                                                                                        \
    ((c) <= 0x1F || (c) >= 0x7F                                                                                       \
         ? URL_ENC_C0 | URL_ENC_FRAGMENT | URL_ENC_QUERY | URL_ENC_SPECIAL_QUERY | URL_ENC_PATH | URL_ENC_USERINFO    \
     : (c) == ' ' || (c) == '"' || (c) == '<' || (c) == '>'                                                           \
         ? URL_ENC_FRAGMENT | URL_ENC_QUERY | URL_ENC_SPECIAL_QUERY | URL_ENC_PATH | URL_ENC_USERINFO                 \
     : (c) == '#' ? URL_ENC_QUERY | URL_ENC_SPECIAL_QUERY | URL_ENC_PATH | URL_ENC_USERINFO                           \
     : (c) == '`' ? URL_ENC_FRAGMENT | URL_ENC_PATH | URL_ENC_USERINFO                                                \
     : (c) == '?' || (c) == '^' || (c) == '{' || (c) == '}' ? URL_ENC_PATH | URL_ENC_USERINFO                         \
     : (c) == '\''                                          ? URL_ENC_SPECIAL_QUERY                                   \
     : (c) == '/' || (c) == ':' || (c) == ';' || (c) == '=' || (c) == '@' || ((c) >= '[' && (c) <= ']') || (c) == '|' \
         ? URL_ENC_USERINFO                                                                                           \
         : 0)
#define DIGIT_OR_LOWER(c) (((c) >= '0' && (c) <= '9') || ((c) >= 'a' && (c) <= 'z'))
#define HOST(c) (DIGIT_OR_LOWER(c) || (c) == '-' || (c) == '_' || (c) == '.' ? URL_PLAIN_HOST : 0)
#define UNRESERVED(c)                                                                                        \
    (DIGIT_OR_LOWER(c) || ((c) >= 'A' && (c) <= 'Z') || (c) == '-' || (c) == '_' || (c) == '.' || (c) == '~' \
         ? URL_UNRESERVED                                                                                    \
         : 0)
#define LOOK(c) (ENC(c) & URL_ENC_PATH || (c) == '.' || (c) == '%' || (c) == '\\' ? URL_LOOK_IN_PATH : 0)
#define CLASS(c) (ENC(c) | HOST(c) | UNRESERVED(c) | LOOK(c))
#define CLASS4(c) CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define CLASS16(c) CLASS4(c), CLASS4((c) + 4), CLASS4((c) + 8), CLASS4((c) + 12)
#define CLASS64(c) CLASS16(c), CLASS16((c) + 16), CLASS16((c) + 32), CLASS16((c) + 48)

const uint16_t url_class[256] = {CLASS64(0), CLASS64(64), CLASS64(128), CLASS64(192)};

int url_default_port(struct span scheme)
{
    static const struct {
        const char *name;
        int port;
    } known[] = {{"https", 443}, {"http", 80}, {"wss", 443}, {"ws", 80}, {"ftp", 21}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (span_is(scheme, known[i].name))
            return known[i].port;
    return -1;
}

void url_move(struct url *u, const char *to)
{
    const char *from = u->href.p;
    struct span *parts[] = {&u->scheme, &u->username, &u->password, &u->host, &u->path, &u->query, &u->fragment};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        parts[i]->p = to + (parts[i]->p - from);
    u->href.p = to;
}

/* What the scan found: ends of the path and of the query within the input. */
struct tail {
    size_t path_end, query_end;
    bool has_dots; /* a "." or ".." segment, perhaps */
};

static bool scan_path(struct span s, size_t start, struct tail *t)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at = start;
    t->has_dots = false;
    for (;; at++) {
        while (at < s.n && !(url_class[p[at]] & URL_LOOK_IN_PATH))
            at++;
        if (at == s.n || p[at] == '?' || p[at] == '#')
            break;
        if (p[at] == '.')
            t->has_dots |= at == start || p[at - 1] == '/';
        else if (p[at] != '%' || (s.n - at > 2 && p[at + 1] == '2' && (p[at + 2] | 0x20) == 'e'))
            return false;
    }
    t->path_end = at;
    return true;
}

static bool scan_tail(struct span s, size_t start, struct tail *t)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (!scan_path(s, start, t))
        return false;
    size_t at = t->path_end;
    if (at < s.n && p[at] == '?') {
        do
            at++;
        while (at < s.n && !(url_class[p[at]] & URL_ENC_SPECIAL_QUERY));
        if (at < s.n && p[at] != '#')
            return false;
    }
    t->query_end = at;
    while (++at < s.n)
        if (url_class[p[at]] & URL_ENC_FRAGMENT)
            return false;
    return true;
}

/* Copies a path with its dot segments taken out. `to` follows a '/': the first of the path, at `root`, or a later one.
 */
static char *put_path(char *to, const char *root, struct span path)
{
    while (path.n) {
        size_t end = span_find(path, '/', 0);
        struct span segment = {path.p, end};
        size_t step = end < path.n ? end + 1 : end;
        if (span_eq(segment, SPAN(".."))) {
            if (to - 1 > root)
                to--;
            while (to[-1] != '/')
                to--;
        } else if (!span_eq(segment, SPAN("."))) {
            memcpy(to, path.p, step);
            to += step;
        }
        path = span_from(path, step);
    }
    return to;
}

/* Ends `u`, whose text and path begin in `text` and go on at `to`, with the path, query and fragment in `s`. */
static void put_tail(struct url *u, char *text, char *to, struct span s, size_t at, const struct tail *t)
{
    struct span path = {s.p + at, t->path_end - at};
    if (t->has_dots) {
        to = put_path(to, u->path.p, path);
    } else {
        memcpy(to, path.p, path.n);
        to += path.n;
    }
    size_t query_n = t->query_end - t->path_end, fragment_n = s.n - t->query_end;
    memcpy(to, s.p + t->path_end, query_n + fragment_n);
    to[query_n + fragment_n] = '\0';
    u->path.n = (size_t)(to - u->path.p);
    u->has_query = query_n > 0;
    u->query = (struct span){to + u->has_query, query_n - u->has_query};
    to += query_n;
    u->has_fragment = fragment_n > 0;
    u->fragment = (struct span){to + u->has_fragment, fragment_n - u->has_fragment};
    u->href = (struct span){text, (size_t)(to + fragment_n - text)};
}

/* `keep` bytes of the base, then `s` from `at`. */
static status resolve(struct arena *a, struct span s, const struct url *base, size_t keep, size_t at, struct url *out)
{
    struct tail t;
    if (!scan_tail(s, at, &t))
        return ST_AGAIN;
    char *text = arena_bytes(a, keep + s.n - at + 1);
    struct url u = *base;
    memcpy(text, base->href.p, keep);
    url_move(&u, text);
    put_tail(&u, text, text + keep, s, at, &t);
    *out = u;
    return ST_OK;
}

/* "#x", or nothing at all: the base with another fragment. */
static status resolve_fragment(struct arena *a, struct span s, const struct url *base, struct url *out)
{
    size_t keep = base->href.n - base->fragment.n - base->has_fragment;
    for (size_t i = 1; i < s.n; i++)
        if (url_class[(unsigned char)s.p[i]] & URL_ENC_FRAGMENT)
            return ST_AGAIN;
    char *text = arena_bytes(a, keep + s.n + 1);
    struct url u = *base;
    memcpy(text, base->href.p, keep);
    url_move(&u, text);
    if (s.n)
        memcpy(text + keep, s.p, s.n);
    text[keep + s.n] = '\0';
    u.href.n = keep + s.n;
    u.has_fragment = s.n > 0;
    u.fragment = (struct span){text + keep + u.has_fragment, s.n - u.has_fragment};
    *out = u;
    return ST_OK;
}

/* Four numbers as the serialiser would write them. */
static bool is_plain_ipv4(struct span s)
{
    struct span part;
    uint64_t v;
    unsigned n = 0;
    while (span_split(&s, '.', &part)) {
        n++;
        if (part.n > 3 || !span_u64(part, 255, &v) || (part.p[0] == '0' && part.n > 1))
            return false;
    }
    return n == 4;
}

/* The end of a host that is a plain name or a plain address, or `at`. A last label that begins with a digit may be part
 * of an address in another form. */
static size_t scan_host(struct span s, size_t at)
{
    size_t end = at, label = at;
    for (; end < s.n && (url_class[(unsigned char)s.p[end]] & URL_PLAIN_HOST); end++)
        if (s.p[end] == '.')
            label = end + 1;
    if (label == end || (ascii_is_digit(s.p[label]) && !is_plain_ipv4(span_cut(s, at, end - at))))
        return at;
    return end;
}

static bool ends_authority(struct span s, size_t at)
{
    return at == s.n || s.p[at] == '/' || s.p[at] == '?' || s.p[at] == '#';
}

/* ":8080" at `at`: its end, or `at` when it is not as the serialiser would write it. */
static size_t scan_port(struct span s, size_t at, int *port)
{
    uint64_t v;
    size_t end = at + 1;
    while (end < s.n && ascii_is_digit(s.p[end]))
        end++;
    if (end == at + 1 || s.p[at + 1] == '0' || !span_u64(span_cut(s, at + 1, end - at - 1), 65535, &v))
        return at;
    *port = (int)v;
    return end;
}

/* `s` has an authority at `at`, after "//"; `scheme` goes before it. */
static status parse_absolute(struct arena *a, struct span s, size_t at, struct span scheme, struct url *out)
{
    int default_port = scheme.n == 5 ? 443 : 80, port = default_port;
    size_t host_end = scan_host(s, at), end = host_end;
    struct tail t;
    if (host_end == at)
        return ST_AGAIN;
    if (end < s.n && s.p[end] == ':')
        end = scan_port(s, host_end, &port);
    if (!ends_authority(s, end))
        return ST_AGAIN;
    size_t keep_end = port == default_port ? host_end : end;
    size_t tail = end < s.n && s.p[end] == '/' ? end + 1 : end;
    if (!scan_tail(s, tail, &t))
        return ST_AGAIN;
    char *text = arena_bytes(a, scheme.n + 3 + (keep_end - at) + 1 + (s.n - tail) + 1), *to = text + scheme.n + 3;
    memcpy(text, scheme.p, scheme.n);
    memcpy(text + scheme.n, "://", 3);
    memcpy(to, s.p + at, keep_end - at);
    struct url u = {
        .scheme = {text, scheme.n},
        .username = {to, 0},
        .password = {to, 0},
        .host = {to, host_end - at},
        .path = {to + (keep_end - at), 0},
        .port = port,
        .has_explicit_port = port != default_port,
        .has_host = true,
        .is_special = true,
    };
    to += keep_end - at;
    *to++ = '/';
    put_tail(&u, text, to, s, tail, &t);
    *out = u;
    return ST_OK;
}

/* Whether a scheme stands at the start: then the reference is not relative. */
static bool has_scheme(struct span s)
{
    size_t at = 0;
    while (at < s.n &&
           (ascii_is_alpha(s.p[at]) || ascii_is_digit(s.p[at]) || s.p[at] == '+' || s.p[at] == '-' || s.p[at] == '.'))
        at++;
    return at < s.n && s.p[at] == ':' && ascii_is_alpha(s.p[0]);
}

static status parse_relative(struct arena *a, struct span s, const struct url *base, struct url *out)
{
    size_t path = (size_t)(base->path.p - base->href.p), keep = path + base->path.n;
    if (s.n == 0 || s.p[0] == '#')
        return resolve_fragment(a, s, base, out);
    if (s.p[0] == '?')
        return resolve(a, s, base, keep, 0, out);
    if (s.p[0] == '/')
        return resolve(a, s, base, path + 1, 1, out);
    while (base->href.p[keep - 1] != '/')
        keep--;
    return resolve(a, s, base, keep, 0, out);
}

status url_parse_fast(struct arena *a, struct span input, const struct url *base, struct url *out)
{
    struct span s = input;
    bool has_base = base && url_is_http(base);
    if (input.n > URL_INPUT_MAX || (has_base && base->href.n + input.n > URL_HREF_MAX - 16))
        return ST_AGAIN;
    while (s.n && (unsigned char)s.p[0] <= ' ') {
        s.p++;
        s.n--;
    }
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    if (span_starts(s, SPAN("https://")))
        return parse_absolute(a, s, 8, SPAN("https"), out);
    if (span_starts(s, SPAN("http://")))
        return parse_absolute(a, s, 7, SPAN("http"), out);
    if (!has_base || has_scheme(s))
        return ST_AGAIN;
    if (span_starts(s, SPAN("//")))
        return parse_absolute(a, s, 2, base->scheme, out);
    return parse_relative(a, s, base, out);
}
