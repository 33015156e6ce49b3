#include "web/domain.h"

#include <libpsl.h>

#define DOMAIN_MAX 255 /* longer than any name in DNS: its own domain */

/* A host whose last label is a number is an IPv4 address: the host parser lets nothing else through. */
static bool is_address(struct span host)
{
    size_t at = host.n;
    while (at > 0 && ascii_is_digit(host.p[at - 1]))
        at--;
    return host.p[0] == '[' || (at < host.n && (at == 0 || host.p[at - 1] == '.'));
}

struct span domain_registered(struct span host)
{
    char name[DOMAIN_MAX + 1];
    if (host.n == 0 || host.n > DOMAIN_MAX || is_address(host) || memchr(host.p, '\0', host.n))
        return host;
    /* libpsl takes a final dot for an empty label. */
    struct span bare = host;
    if (bare.p[bare.n - 1] == '.')
        bare.n--;
    memcpy(name, bare.p, bare.n);
    name[bare.n] = '\0';
    const char *found = psl_registrable_domain(psl_builtin(), name);
    return found ? span_from(host, (size_t)(found - name)) : host;
}
