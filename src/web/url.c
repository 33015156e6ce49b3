/* The basic URL parser of the URL Standard (https://url.spec.whatwg.org/), state overrides left out.
 *
 * The states appear as functions in the order a URL runs through them. Each appends to one buffer, which is the
 * serialised URL from the start, and notes where its part lies:
 *
 *     "../x y?q"  against  "http://u@h/a/b/c#f"
 *     relative:  "http://u@h/a/b/c"      the base up to its path
 *     shorten:   "http://u@h/a/b"        the last segment goes
 *     path:      "http://u@h/a" -> "http://u@h/a/x%20y"
 *     query:     "http://u@h/a/x%20y?q"
 *
 * A path is a list of segments, each written with the '/' before it: "" is the empty list, "/" the list of one empty
 * segment. That is what makes shortening a cut at the last '/'. */
#include "web/url.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "web/url_host.h"
#include "web/url_internal.h"

struct part {
    size_t at, n;
};

struct build {
    struct span in; /* without tabs and newlines, valid UTF-8 */
    size_t at;
    const struct url *base;
    struct buf out;
    struct part scheme, username, password, host, path, query, fragment;
    int port; /* explicit; -1: none */
    bool has_host, has_query, has_fragment, is_special, is_file, has_opaque_path;
};

static int peek(const struct build *b)
{
    return b->at < b->in.n ? (unsigned char)b->in.p[b->at] : -1;
}

static struct span rest_of(const struct build *b)
{
    return span_from(b->in, b->at);
}

static bool is_slash(const struct build *b, int c)
{
    return c == '/' || (b->is_special && c == '\\');
}

static struct span part_span(const struct build *b, struct part p)
{
    return (struct span){b->out.p + p.at, p.n};
}

static void put_encoded(struct buf *out, struct span s, unsigned set)
{
    static const char hex[] = "0123456789ABCDEF";
    char *to = buf_room(out, s.n * 3);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (url_class[c] & set) {
            to[n++] = '%';
            to[n++] = hex[c >> 4];
            to[n++] = hex[c & 15];
        } else {
            to[n++] = (char)c;
        }
    }
    out->n += n;
}

/* ---- fragment, query, paths ---- */

static void parse_fragment(struct build *b)
{
    if (peek(b) != '#')
        return;
    buf_putc(&b->out, '#');
    b->has_fragment = true;
    b->fragment.at = b->out.n;
    put_encoded(&b->out, span_from(b->in, b->at + 1), URL_ENC_FRAGMENT);
    b->fragment.n = b->out.n - b->fragment.at;
    b->at = b->in.n;
}

static void parse_query(struct build *b)
{
    if (peek(b) == '?') {
        size_t end = span_find(b->in, '#', b->at);
        buf_putc(&b->out, '?');
        b->has_query = true;
        b->query.at = b->out.n;
        put_encoded(&b->out, span_cut(b->in, b->at + 1, end - b->at - 1),
                    b->is_special ? URL_ENC_SPECIAL_QUERY : URL_ENC_QUERY);
        b->query.n = b->out.n - b->query.at;
        b->at = end;
    }
    parse_fragment(b);
}

static void parse_opaque_path(struct build *b)
{
    size_t end = b->at;
    while (end < b->in.n && b->in.p[end] != '?' && b->in.p[end] != '#')
        end++;
    struct span path = span_cut(b->in, b->at, end - b->at);
    b->has_opaque_path = true;
    b->path.at = b->out.n;
    put_encoded(&b->out, path, URL_ENC_C0);
    /* A final space would be lost when the URL is parsed again without what follows. */
    if (end < b->in.n && path.n && path.p[path.n - 1] == ' ') {
        b->out.n--;
        buf_puts(&b->out, "%20");
    }
    b->path.n = b->out.n - b->path.at;
    b->at = end;
    parse_query(b);
}

static bool is_drive_letter(struct span s)
{
    return s.n == 2 && ascii_is_alpha(s.p[0]) && (s.p[1] == ':' || s.p[1] == '|');
}

/* "C:", "C|/x", "C:?": a drive letter that ends there. */
static bool starts_with_drive_letter(struct span s)
{
    if (s.n < 2 || !is_drive_letter(span_cut(s, 0, 2)))
        return false;
    return s.n == 2 || s.p[2] == '/' || s.p[2] == '\\' || s.p[2] == '?' || s.p[2] == '#';
}

static void shorten_path(struct build *b)
{
    struct span path = part_span(b, b->path);
    if (b->is_file && path.n == 3 && is_drive_letter(span_from(path, 1)) && path.p[2] == ':')
        return;
    while (b->path.n > 0 && b->out.p[b->path.at + --b->path.n] != '/')
        ;
    b->out.n = b->path.at + b->path.n;
}

/* 1 for "." and its escaped spellings, 2 for "..", 0 for anything else. */
static int dot_count(struct span s)
{
    int dots = 0;
    for (size_t i = 0; i < s.n; dots++) {
        if (dots == 2)
            return 0;
        if (s.p[i] == '.')
            i++;
        else if (span_starts_nocase(span_from(s, i), SPAN("%2e")))
            i += 3;
        else
            return 0;
    }
    return dots;
}

static void put_segment(struct build *b, struct span s)
{
    bool is_drive = b->is_file && b->path.n == 0 && is_drive_letter(s);
    buf_putc(&b->out, '/');
    if (is_drive) {
        buf_putc(&b->out, s.p[0]);
        buf_putc(&b->out, ':');
    } else {
        put_encoded(&b->out, s, URL_ENC_PATH);
    }
    b->path.n = b->out.n - b->path.at;
}

/* The path state: `at` is at the first byte of a segment. */
static void parse_path(struct build *b)
{
    for (;;) {
        size_t end = b->at;
        while (end < b->in.n && !is_slash(b, b->in.p[end]) && b->in.p[end] != '?' && b->in.p[end] != '#')
            end++;
        struct span segment = span_cut(b->in, b->at, end - b->at);
        bool is_last = end == b->in.n || !is_slash(b, b->in.p[end]);
        int dots = dot_count(segment);
        if (dots == 2)
            shorten_path(b);
        if (dots == 0)
            put_segment(b, segment);
        else if (is_last)
            put_segment(b, SPAN(""));
        b->at = end;
        if (is_last)
            break;
        b->at++;
    }
    parse_query(b);
}

static void start_path(struct build *b)
{
    b->path = (struct part){b->out.n, 0};
}

static void parse_path_start(struct build *b)
{
    int c = peek(b);
    start_path(b);
    if (!b->is_special && (c < 0 || c == '?' || c == '#')) {
        parse_query(b);
        return;
    }
    if (is_slash(b, c))
        b->at++;
    parse_path(b);
}

/* ---- authority ---- */

static void put_credentials(struct build *b, struct span s)
{
    size_t colon = span_find(s, ':', 0);
    struct span password = span_from(s, colon + 1);
    b->username.at = b->out.n;
    put_encoded(&b->out, span_cut(s, 0, colon), URL_ENC_USERINFO);
    b->username.n = b->out.n - b->username.at;
    b->password.at = b->out.n;
    if (password.n) {
        buf_putc(&b->out, ':');
        b->password.at = b->out.n;
        put_encoded(&b->out, password, URL_ENC_USERINFO);
        b->password.n = b->out.n - b->password.at;
    }
    if (b->username.n || b->password.n)
        buf_putc(&b->out, '@');
}

static status put_host(struct build *b, struct span s)
{
    b->host.at = b->out.n;
    b->has_host = true;
    status st = url_host_parse(s, !b->is_special, &b->out);
    b->host.n = b->out.n - b->host.at;
    return st;
}

static status put_port(struct build *b, struct span digits)
{
    uint64_t port;
    if (digits.n == 0)
        return ST_OK;
    if (!span_u64(digits, 65535, &port))
        return ST_INVALID;
    if ((int)port == url_default_port(part_span(b, b->scheme)))
        return ST_OK;
    b->port = (int)port;
    buf_printf(&b->out, ":%d", b->port);
    return ST_OK;
}

/* "host", "host:port", "[::1]:port". */
static status parse_host_and_port(struct build *b, struct span s)
{
    size_t end = 0;
    bool in_brackets = false;
    for (; end < s.n && (in_brackets || s.p[end] != ':'); end++) {
        if (s.p[end] == '[')
            in_brackets = true;
        else if (s.p[end] == ']')
            in_brackets = false;
    }
    if (end == 0 && (b->is_special || s.n))
        return ST_INVALID;
    status st = put_host(b, span_cut(s, 0, end));
    return st == ST_OK ? put_port(b, span_from(s, end + 1)) : st;
}

static status parse_authority(struct build *b)
{
    size_t end = b->at;
    while (end < b->in.n && !is_slash(b, b->in.p[end]) && b->in.p[end] != '?' && b->in.p[end] != '#')
        end++;
    struct span authority = span_cut(b->in, b->at, end - b->at);
    const char *sign = authority.n ? memrchr(authority.p, '@', authority.n) : NULL;
    buf_puts(&b->out, "//");
    b->username.at = b->password.at = b->out.n;
    if (sign) {
        size_t n = (size_t)(sign - authority.p);
        put_credentials(b, span_cut(authority, 0, n));
        authority = span_from(authority, n + 1);
        if (authority.n == 0)
            return ST_INVALID;
    }
    status st = parse_host_and_port(b, authority);
    if (st != ST_OK)
        return st;
    b->at = end;
    parse_path_start(b);
    return ST_OK;
}

static status parse_special_authority(struct build *b)
{
    while (is_slash(b, peek(b)))
        b->at++;
    return parse_authority(b);
}

/* ---- relative references ---- */

/* Starts with the base's text up to the end of `upto`; the parts in it keep their places. */
static void copy_base(struct build *b, struct span upto)
{
    const struct url *base = b->base;
    const char *from = base->href.p;
    buf_clear(&b->out);
    buf_put(&b->out, span_of(from, (size_t)(upto.p + upto.n - from)));
    b->scheme = (struct part){0, base->scheme.n};
    b->username = (struct part){(size_t)(base->username.p - from), base->username.n};
    b->password = (struct part){(size_t)(base->password.p - from), base->password.n};
    b->host = (struct part){(size_t)(base->host.p - from), base->host.n};
    b->port = base->has_explicit_port ? base->port : -1;
    b->has_host = base->has_host;
    b->is_special = base->is_special;
    b->is_file = span_is(base->scheme, "file");
}

static void copy_base_authority(struct build *b)
{
    const char *end = b->base->has_host ? b->base->path.p : b->base->scheme.p + b->base->scheme.n + 1;
    copy_base(b, span_of(b->base->href.p, (size_t)(end - b->base->href.p)));
    start_path(b);
}

/* The base's authority and path. Its "/." before a path of "//" is left out: finish() decides on it anew. */
static void copy_base_path(struct build *b)
{
    copy_base_authority(b);
    buf_put(&b->out, b->base->path);
    b->path.n = b->base->path.n;
    b->has_opaque_path = b->base->has_opaque_path;
}

static void copy_base_query(struct build *b)
{
    if (!b->base->has_query)
        return;
    buf_putc(&b->out, '?');
    b->has_query = true;
    b->query = (struct part){b->out.n, b->base->query.n};
    buf_put(&b->out, b->base->query);
}

/* What follows a base's path: nothing, a query, a fragment; or a path that replaces its last segment. */
static void parse_after_base_path(struct build *b, bool keep_last_segment)
{
    int c = peek(b);
    if (c < 0 || c == '#') {
        copy_base_query(b);
        parse_fragment(b);
    } else if (c == '?') {
        parse_query(b);
    } else {
        if (!keep_last_segment)
            shorten_path(b);
        parse_path(b);
    }
}

static status parse_relative(struct build *b)
{
    b->is_special = b->base->is_special;
    if (!is_slash(b, peek(b))) {
        copy_base_path(b);
        parse_after_base_path(b, false);
        return ST_OK;
    }
    b->at++;
    if (is_slash(b, peek(b))) {
        buf_clear(&b->out);
        buf_put(&b->out, b->base->scheme);
        b->scheme = (struct part){0, b->base->scheme.n};
        buf_putc(&b->out, ':');
        b->at++;
        return b->is_special ? parse_special_authority(b) : parse_authority(b);
    }
    copy_base_authority(b);
    parse_path(b);
    return ST_OK;
}

/* ---- file ---- */

static void put_file_start(struct build *b)
{
    buf_clear(&b->out);
    buf_puts(&b->out, "file://");
    b->scheme = (struct part){0, 4};
    b->username.at = b->password.at = b->out.n;
    b->host = (struct part){b->out.n, 0};
    b->has_host = true;
    start_path(b);
}

static status parse_file_host(struct build *b)
{
    size_t end = b->at;
    while (end < b->in.n && !is_slash(b, b->in.p[end]) && b->in.p[end] != '?' && b->in.p[end] != '#')
        end++;
    struct span host = span_cut(b->in, b->at, end - b->at);
    if (is_drive_letter(host)) {
        parse_path(b);
        return ST_OK;
    }
    if (host.n) {
        status st = put_host(b, host);
        if (st != ST_OK)
            return st;
        if (span_is(part_span(b, b->host), "localhost")) {
            b->out.n = b->host.at;
            b->host.n = 0;
        }
    }
    b->at = end;
    parse_path_start(b);
    return ST_OK;
}

/* "/x" against a base on a drive stays on it. */
static void keep_base_drive(struct build *b)
{
    struct span path = b->base->path, drive = span_cut(path, 1, 2);
    bool on_drive = is_drive_letter(drive) && drive.p[1] == ':' && (path.n == 3 || path.p[3] == '/');
    copy_base_authority(b);
    if (on_drive && !starts_with_drive_letter(rest_of(b)))
        put_segment(b, drive);
}

static status parse_file(struct build *b)
{
    bool has_file_base = b->base && span_is(b->base->scheme, "file");
    b->is_special = b->is_file = true;
    put_file_start(b);
    if (is_slash(b, peek(b))) {
        b->at++;
        if (is_slash(b, peek(b))) {
            b->at++;
            return parse_file_host(b);
        }
        if (has_file_base)
            keep_base_drive(b);
        parse_path(b);
        return ST_OK;
    }
    if (!has_file_base) {
        parse_path(b);
        return ST_OK;
    }
    bool is_drive = starts_with_drive_letter(rest_of(b));
    if (is_drive)
        copy_base_authority(b);
    else
        copy_base_path(b);
    parse_after_base_path(b, is_drive);
    return ST_OK;
}

/* ---- scheme ---- */

static bool is_scheme_byte(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '+' || c == '-' || c == '.';
}

static bool take_scheme(struct build *b)
{
    size_t n = 0;
    if (b->in.n == 0 || !ascii_is_alpha(b->in.p[0]))
        return false;
    while (n < b->in.n && is_scheme_byte(b->in.p[n]))
        n++;
    if (n == b->in.n || b->in.p[n] != ':')
        return false;
    for (size_t i = 0; i < n; i++)
        buf_putc(&b->out, ascii_lower(b->in.p[i]));
    buf_putc(&b->out, ':');
    b->scheme = (struct part){0, n};
    b->at = n + 1;
    return true;
}

static status parse_after_scheme(struct build *b)
{
    struct span scheme = part_span(b, b->scheme);
    if (span_is(scheme, "file"))
        return parse_file(b);
    b->is_special = url_default_port(scheme) >= 0;
    if (b->is_special) {
        bool same = b->base && span_eq(b->base->scheme, scheme);
        if (same && !span_starts(rest_of(b), SPAN("//")))
            return parse_relative(b);
        return parse_special_authority(b);
    }
    if (span_starts(rest_of(b), SPAN("//"))) {
        b->at += 2;
        return parse_authority(b);
    }
    start_path(b);
    if (peek(b) != '/') {
        parse_opaque_path(b);
        return ST_OK;
    }
    b->at++;
    parse_path(b);
    return ST_OK;
}

static status parse_without_scheme(struct build *b)
{
    if (!b->base || (b->base->has_opaque_path && peek(b) != '#'))
        return ST_INVALID;
    if (b->base->has_opaque_path) {
        copy_base_path(b);
        parse_after_base_path(b, true);
        return ST_OK;
    }
    return span_is(b->base->scheme, "file") ? parse_file(b) : parse_relative(b);
}

/* ---- before and after ---- */

/* Strips white space at the ends; inside it drops tabs and newlines and mends the UTF-8, in `mended` when need be. */
static struct span clean_input(struct span s, struct buf *mended)
{
    while (s.n && (unsigned char)s.p[0] <= ' ') {
        s.p++;
        s.n--;
    }
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    if (s.n == 0 || (!memchr(s.p, '\t', s.n) && !memchr(s.p, '\n', s.n) && !memchr(s.p, '\r', s.n) && utf8_is_valid(s)))
        return s;
    for (size_t at = 0; at < s.n;) {
        uint32_t cp = utf8_next(s, &at, NULL);
        if (cp != '\t' && cp != '\n' && cp != '\r')
            buf_put_utf8(mended, cp);
    }
    return buf_span(mended);
}

/* Without a host a path that begins with "//" would read as one. */
static void guard_path(struct build *b)
{
    if (b->has_host || b->has_opaque_path || !span_starts(part_span(b, b->path), SPAN("//")))
        return;
    size_t at = b->path.at;
    buf_puts(&b->out, "/.");
    memmove(b->out.p + at + 2, b->out.p + at, b->out.n - at - 2);
    memcpy(b->out.p + at, "/.", 2);
    b->path.at += 2;
    b->query.at += 2;
    b->fragment.at += 2;
}

static struct span place(struct span href, struct part p)
{
    return (struct span){href.p + (p.at <= href.n ? p.at : href.n), p.n};
}

static void finish(struct build *b, struct arena *a, struct url *out)
{
    guard_path(b);
    if (!b->has_host)
        b->username.at = b->password.at = b->host.at = b->scheme.n + 1;
    if (!b->has_query)
        b->query.at = b->path.at + b->path.n;
    if (!b->has_fragment)
        b->fragment.at = b->out.n;
    struct span href = arena_copy(a, buf_span(&b->out));
    int port = b->port >= 0 ? b->port : url_default_port(part_span(b, b->scheme));
    *out = (struct url){
        .href = href,
        .scheme = place(href, b->scheme),
        .username = place(href, b->username),
        .password = place(href, b->password),
        .host = place(href, b->host),
        .path = place(href, b->path),
        .query = place(href, b->query),
        .fragment = place(href, b->fragment),
        .port = b->has_host ? port : -1,
        .has_explicit_port = b->port >= 0,
        .has_host = b->has_host,
        .has_query = b->has_query,
        .has_fragment = b->has_fragment,
        .is_special = b->is_special,
        .has_opaque_path = b->has_opaque_path,
    };
}

status url_parse_slow(struct arena *a, struct span input, const struct url *base, struct url *out)
{
    struct buf mended = {0};
    struct build b = {.base = base, .port = -1};
    if (input.n > URL_INPUT_MAX)
        return ST_LIMIT;
    b.in = clean_input(input, &mended);
    status st = take_scheme(&b) ? parse_after_scheme(&b) : parse_without_scheme(&b);
    if (st == ST_OK && b.out.n > URL_HREF_MAX)
        st = ST_LIMIT;
    if (st == ST_OK)
        finish(&b, a, out);
    buf_done(&b.out);
    buf_done(&mended);
    return st;
}

bool url_is_http(const struct url *u)
{
    return u->has_host && u->scheme.n >= 4 && u->scheme.n <= 5 && memcmp(u->scheme.p, "https", u->scheme.n) == 0;
}

struct span url_site(struct arena *a, const struct url *u)
{
    size_t end = (size_t)(u->path.p - u->href.p);
    if (u->username.n == 0 && u->password.n == 0)
        return span_cut(u->href, 0, end);
    size_t scheme = u->scheme.n + 3, host = (size_t)(u->host.p - u->href.p);
    char *p = arena_bytes(a, scheme + end - host + 1);
    memcpy(p, u->href.p, scheme);
    memcpy(p + scheme, u->host.p, end - host);
    p[scheme + end - host] = '\0';
    return (struct span){p, scheme + end - host};
}

struct span url_request_target(const struct url *u)
{
    size_t n = u->path.n + (u->has_query ? u->query.n + 1 : 0);
    return (struct span){u->path.p, n};
}

status url_parse(struct arena *a, struct span input, const struct url *base, struct url *out)
{
    status st = url_parse_fast(a, input, base, out);
    return st == ST_AGAIN ? url_parse_slow(a, input, base, out) : st;
}

struct span url_header_ref(struct arena *a, struct span value)
{
    static const char hex[] = "0123456789ABCDEF";
    if (utf8_is_valid(value) || value.n > URL_INPUT_MAX)
        return value;
    char *text = arena_bytes(a, value.n * 3);
    size_t n = 0;
    for (size_t i = 0; i < value.n; i++) {
        unsigned char c = (unsigned char)value.p[i];
        if (c < 0x80) {
            text[n++] = (char)c;
            continue;
        }
        text[n++] = '%';
        text[n++] = hex[c >> 4];
        text[n++] = hex[c & 15];
    }
    return span_of(text, n);
}
