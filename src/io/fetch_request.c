#include "io/fetch_request.h"

#include <string.h>

#define CONDITION_BYTES_MAX (8u << 10) /* of a stored ETag or date that is sent back */

bool fetch_url_is_clean(struct span url)
{
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7F)
            return false;
    return true;
}

/* What comes after "http://" or "https://". */
static struct span behind_scheme(struct span url)
{
    size_t at = span_search(url, SPAN("://"), false);
    return span_from(url, at + 3);
}

static struct span authority(struct span rest)
{
    size_t end = 0;
    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    return span_cut(rest, 0, end);
}

bool fetch_url_host(struct span url, struct span *host)
{
    *host = authority(behind_scheme(url));
    return host->n && span_find(*host, '@', 0) == host->n;
}

struct span fetch_url_site(struct span url)
{
    struct span host = authority(behind_scheme(url));
    return span_of(url.p, (size_t)(host.p + host.n - url.p));
}

void fetch_condition(struct buf *to, struct span name, struct span value)
{
    buf_clear(to);
    if (value.n == 0 || value.n > CONDITION_BYTES_MAX)
        return;
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
            return;
    buf_put(to, name);
    buf_put(to, value);
}

void fetch_request_header(struct buf *headers, struct span line)
{
    size_t colon = span_find(line, ':', 0);
    struct span name = span_cut(line, 0, colon), value = span_trim(span_from(line, colon + 1));
    bool is_bare = colon == line.n && span_ends(line, SPAN(";"));
    if (is_bare)
        name.n--;
    else if (!value.n)
        return;
    buf_put(headers, name);
    buf_putc(headers, ':');
    if (value.n)
        buf_putc(headers, ' ');
    buf_put(headers, value);
    buf_puts(headers, "\r\n");
}

bool fetch_header_is_secret(struct span line)
{
    static const struct span words[] = {SPAN_INIT("auth"),   SPAN_INIT("cookie"), SPAN_INIT("token"),
                                        SPAN_INIT("key"),    SPAN_INIT("secret"), SPAN_INIT("password"),
                                        SPAN_INIT("session")};
    size_t end = span_find(line, ':', 0);
    struct span name = span_cut(line, 0, end);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (span_search(name, words[i], true) < name.n)
            return true;
    return false;
}

void fetch_request_hide(struct buf *request)
{
    size_t kept = 0;
    bool is_first = true;
    struct span rest = buf_span(request), line;
    while (rest.n) {
        size_t end = span_find(rest, '\n', 0);
        line = span_cut(rest, 0, end < rest.n ? end + 1 : end);
        rest = span_from(rest, line.n);
        if (is_first || !fetch_header_is_secret(line)) { /* the first one has the URL */
            memmove(request->p + kept, line.p, line.n);
            kept += line.n;
        }
        is_first = false;
    }
    request->n = kept;
}

static bool has_host(struct span headers)
{
    struct span line;
    while (headers.n && span_split(&headers, '\n', &line))
        if (span_starts_nocase(line, SPAN("host:")))
            return true;
    return false;
}

static void put_line(struct buf *out, struct span name, struct span value)
{
    buf_put(out, name);
    buf_put(out, value);
    buf_puts(out, "\r\n");
}

void fetch_request_write(const struct fetch_request_parts *parts, struct buf *out)
{
    struct span rest = behind_scheme(parts->url), host = authority(rest);
    struct span target = span_from(rest, host.n);
    target.n = span_find(target, '#', 0);
    buf_clear(out);
    buf_put(out, parts->is_head ? SPAN("HEAD ") : SPAN("GET "));
    if (!target.n || target.p[0] != '/')
        buf_putc(out, '/');
    put_line(out, target, SPAN(" HTTP/1.1"));
    if (!has_host(parts->headers))
        put_line(out, SPAN("Host: "), host);
    for (int i = 0; i < 2; i++)
        if (parts->conditions[i].n)
            put_line(out, parts->conditions[i], SPAN(""));
    buf_put(out, parts->headers);
    buf_puts(out, "\r\n");
}
