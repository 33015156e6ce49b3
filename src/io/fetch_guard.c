#include "io/fetch_guard.h"

#include <ifaddrs.h>

#include "io/sockaddr.h"

void fetch_guard_init(struct fetch_guard *g, bool allow_private)
{
    struct ifaddrs *all = NULL;
    g->allow_private = allow_private;
    g->own_count = 0;
    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *i = all; i && g->own_count < FETCH_GUARD_OWN_MAX; i = i->ifa_next)
        if (i->ifa_addr && addr_of_sockaddr(i->ifa_addr).family != 0)
            g->own[g->own_count++] = addr_of_sockaddr(i->ifa_addr);
    freeifaddrs(all);
}

static bool is_own(const struct fetch_guard *g, const struct addr *a)
{
    for (unsigned i = 0; i < g->own_count; i++)
        if (addr_eq(&g->own[i], a))
            return true;
    return false;
}

bool fetch_guard_allows(const struct fetch_guard *g, const struct addr *a)
{
    struct addr plain = addr_unmapped(a);
    addr_class c = addr_classify(&plain);
    if (c == ADDR_RESERVED)
        return false;
    return g->allow_private || (c == ADDR_PUBLIC && !is_own(g, &plain));
}

int fetch_url_port(struct span url, bool *is_https)
{
    *is_https = span_starts(url, SPAN("https://"));
    if (!*is_https && !span_starts(url, SPAN("http://")))
        return -1;
    struct span host = span_from(url, *is_https ? 8 : 7);
    size_t end = 0, at = 0;
    while (end < host.n && host.p[end] != '/' && host.p[end] != '?' && host.p[end] != '#')
        end++;
    host.n = end;
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] == '@')
            at = i + 1;
    host = span_from(host, at);
    size_t bracket = span_find(host, ']', 0);
    size_t colon = span_find(host, ':', bracket < host.n ? bracket : 0);
    uint64_t port;
    if (host.n == 0)
        return -1;
    if (colon + 1 >= host.n)
        return *is_https ? 443 : 80;
    return span_u64(span_from(host, colon + 1), 65535, &port) ? (int)port : -1;
}
