#include "index/text/url_words.h"

struct url_parts {
    struct span host, path, query;
};

static size_t port_at(struct span site)
{
    size_t from = span_starts(site, SPAN("[")) ? span_find(site, ']', 0) : 0;
    return span_find(site, ':', from);
}

/* The URL is a normalised one; anything else gives some parts too. */
static struct url_parts split_url(struct span url)
{
    struct url_parts p = {0};
    url = span_cut(url, 0, URL_WORDS_BYTES_MAX);
    size_t scheme = span_search(url, SPAN("://"), false);
    struct span rest = scheme < url.n ? span_from(url, scheme + 3) : url;
    rest = span_cut(rest, 0, span_find(rest, '#', 0));
    size_t query = span_find(rest, '?', 0);
    p.query = span_from(rest, query + 1);
    rest = span_cut(rest, 0, query);
    size_t slash = span_find(rest, '/', 0);
    p.path = span_from(rest, slash);
    p.host = span_cut(rest, 0, slash);
    size_t at = span_find(p.host, '@', 0);
    if (at < p.host.n)
        p.host = span_from(p.host, at + 1);
    p.host = span_cut(p.host, 0, port_at(p.host));
    return p;
}

static struct span without_extension(struct span path)
{
    static const char *const extensions[] = {".html", ".htm",  ".xhtml", ".shtml", ".php",
                                             ".asp",  ".aspx", ".jsp",   ".cgi"};
    for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
        size_t n = strlen(extensions[i]);
        if (path.n > n && span_is_nocase(span_from(path, path.n - n), extensions[i]))
            return span_cut(path, 0, path.n - n);
    }
    return path;
}

static void put_decoded(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '%' && i + 2 < s.n && ascii_hex(s.p[i + 1]) >= 0 && ascii_hex(s.p[i + 2]) >= 0) {
            buf_putc(out, (char)(ascii_hex(s.p[i + 1]) << 4 | ascii_hex(s.p[i + 2])));
            i += 2;
        } else {
            buf_putc(out, s.p[i] == '+' ? ' ' : s.p[i]);
        }
    }
}

void url_words(struct buf *out, struct span url)
{
    struct url_parts p = split_url(url);
    if (span_starts_nocase(p.host, SPAN("www.")))
        p.host = span_from(p.host, 4);
    buf_put(out, p.host);
    buf_putc(out, ' ');
    put_decoded(out, without_extension(p.path));
    if (p.query.n) {
        buf_putc(out, ' ');
        put_decoded(out, p.query);
    }
}

unsigned url_depth(struct span url)
{
    struct span path = split_url(url).path, part;
    unsigned depth = 0;
    while (span_split(&path, '/', &part))
        depth += part.n > 0;
    return depth;
}

static bool is_address(struct span host)
{
    if (span_starts(host, SPAN("[")))
        return true;
    for (size_t i = 0; i < host.n; i++)
        if (!ascii_is_digit(host.p[i]) && host.p[i] != '.')
            return false;
    return host.n > 0;
}

/* `site` and what follows each dot of its host. */
static void add_suffixes(struct span site, struct site_names *out)
{
    struct span host = span_cut(site, 0, port_at(site));
    unsigned labels = 1;
    for (size_t i = 0; i < host.n; i++)
        labels += host.p[i] == '.';
    out->names[out->count++] = site;
    if (is_address(host))
        return;
    for (size_t dot = span_find(host, '.', 0); dot < host.n; dot = span_find(host, '.', dot + 1))
        if (--labels < SITE_SUFFIXES_MAX && dot + 1 < host.n)
            out->names[out->count++] = span_from(site, dot + 1);
}

void site_names(struct span site, struct site_names *out)
{
    out->count = 0;
    size_t port = port_at(site);
    if (port < site.n)
        add_suffixes(site, out);
    if (port)
        add_suffixes(span_cut(site, 0, port), out);
}
