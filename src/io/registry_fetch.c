#include "io/registry_fetch.h"

/* As the registries publish them; the three databases are those that may be had without asking. */
const struct registry_source registry_sources[] = {
    {REGISTRY_IANA, "https://www.iana.org/assignments/ipv4-address-space/ipv4-address-space.csv", false},
    {REGISTRY_IANA,
     "https://www.iana.org/assignments/ipv6-unicast-address-assignments/ipv6-unicast-address-assignments.csv", false},
    {REGISTRY_AFRINIC, "https://ftp.afrinic.net/pub/stats/afrinic/delegated-afrinic-extended-latest", false},
    {REGISTRY_APNIC, "https://ftp.apnic.net/stats/apnic/delegated-apnic-extended-latest", false},
    {REGISTRY_ARIN, "https://ftp.arin.net/pub/stats/arin/delegated-arin-extended-latest", false},
    {REGISTRY_LACNIC, "https://ftp.lacnic.net/pub/stats/lacnic/delegated-lacnic-extended-latest", false},
    {REGISTRY_RIPENCC, "https://ftp.ripe.net/pub/stats/ripencc/delegated-ripencc-extended-latest", false},
    {REGISTRY_RIPENCC, "https://ftp.ripe.net/ripe/dbase/split/ripe.db.organisation.gz", true},
    {REGISTRY_RIPENCC, "https://ftp.ripe.net/ripe/dbase/split/ripe.db.inetnum.gz", true},
    {REGISTRY_RIPENCC, "https://ftp.ripe.net/ripe/dbase/split/ripe.db.inet6num.gz", true},
    {REGISTRY_APNIC, "https://ftp.apnic.net/apnic/whois/apnic.db.organisation.gz", true},
    {REGISTRY_APNIC, "https://ftp.apnic.net/apnic/whois/apnic.db.inetnum.gz", true},
    {REGISTRY_APNIC, "https://ftp.apnic.net/apnic/whois/apnic.db.inet6num.gz", true},
    {REGISTRY_AFRINIC, "https://ftp.afrinic.net/pub/dbase/afrinic.db.gz", true},
};

const size_t registry_source_count = sizeof(registry_sources) / sizeof(*registry_sources);

const char *registry_source_name(const struct registry_source *s)
{
    return strrchr(s->url, '/') + 1;
}

status registry_fetch(const struct registry_source *s, const char *dir, const char *from, const struct download_opts *o,
                      struct download_result *out, struct buf *why)
{
    struct buf url = {0}, path = {0};
    struct download_opts with_names = *o;
    struct span base = span_str(from);
    while (base.n && base.p[base.n - 1] == '/')
        base.n--;
    if (base.n)
        buf_printf(&url, "%.*s/%s", SPAN_ARG(base), registry_source_name(s));
    else
        buf_puts(&url, s->url);
    buf_printf(&path, "%s/%s", dir, registry_source_name(s));
    with_names.url = buf_cstr(&url);
    with_names.path = buf_cstr(&path);
    status st = download(&with_names, out, why);
    buf_done(&url);
    buf_done(&path);
    return st;
}
