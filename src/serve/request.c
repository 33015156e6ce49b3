#include "serve/request.h"

#define HOST_BYTES_MAX 255

static struct span decoded(struct arena *a, struct span s)
{
    char *to = arena_bytes(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int hi = i + 2 < s.n && s.p[i] == '%' ? ascii_hex(s.p[i + 1]) : -1, lo = hi < 0 ? -1 : ascii_hex(s.p[i + 2]);
        if (hi >= 0 && lo >= 0) {
            to[n++] = (char)(hi << 4 | lo);
            i += 2;
        } else
            to[n++] = s.p[i] == '+' ? ' ' : s.p[i];
    }
    return span_of(to, n);
}

struct span request_param(struct arena *a, struct span query, const char *name)
{
    struct span part;
    while (span_split(&query, '&', &part)) {
        size_t eq = span_find(part, '=', 0);
        if (span_is(span_cut(part, 0, eq), name))
            return decoded(a, span_from(part, eq + 1));
    }
    return SPAN("");
}

bool request_number(struct arena *a, struct span query, const char *name, uint64_t missing, uint64_t max, uint64_t *out)
{
    struct span text = request_param(a, query, name);
    if (text.n == 0) {
        *out = missing;
        return true;
    }
    return span_u64(text, max, out);
}

struct span request_host_name(struct span host)
{
    size_t close = host.n && host.p[0] == '[' ? span_find(host, ']', 0) : 0;
    return span_cut(host, 0, span_find(host, ':', close));
}

bool request_host_is_plain(struct span host)
{
    struct span name = request_host_name(host), port = span_from(host, name.n);
    uint64_t number;
    if (name.n == 0 || host.n > HOST_BYTES_MAX || (port.n && !span_u64(span_from(port, 1), 65535, &number)))
        return false;
    struct addr a;
    if (name.p[0] == '[')
        return addr_parse(name, &a) == ST_OK;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return true;
}

bool request_host_is_loopback(struct span host)
{
    struct span name = request_host_name(host);
    struct addr a;
    if (!request_host_is_plain(host))
        return false;
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    struct span localhost = SPAN("localhost");
    if (span_eq_nocase(name, localhost))
        return true;
    if (name.n > localhost.n && name.p[name.n - localhost.n - 1] == '.' &&
        span_eq_nocase(span_from(name, name.n - localhost.n), localhost))
        return true;
    return addr_parse(name, &a) == ST_OK && addr_classify(&a) == ADDR_LOOPBACK;
}

status request_listen_parse(struct span text, struct addr *addr, int *port)
{
    struct span name = request_host_name(text), rest = span_from(text, name.n);
    struct addr a = {4, {127, 0, 0, 1}};
    uint64_t number;
    if (text.n == 0)
        return ST_INVALID;
    if (rest.n == 0 && span_u64(text, 65535, &number))
        name = SPAN(""); /* a port alone */
    else if (rest.n == 0)
        number = REQUEST_PORT_DEFAULT;
    else if (rest.n < 2 || !span_u64(span_from(rest, 1), 65535, &number))
        return ST_INVALID;
    if (span_is(name, "*"))
        a = (struct addr){.family = 6}; /* [::] takes IPv4 too */
    else if (name.n && !span_is_nocase(name, "localhost") && addr_parse(name, &a) != ST_OK)
        return ST_INVALID;
    *addr = a;
    *port = (int)number;
    return ST_OK;
}
