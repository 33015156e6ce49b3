/* registry_names.c - what registries and their states are called, and what each wants said with its data. */
#include "place/hierarchy.h"

const char *registry_name_text(registry_name r)
{
    static const char *const names[] = {"", "iana", "afrinic", "apnic", "arin", "lacnic", "ripencc", "other"};
    return (size_t)r < sizeof(names) / sizeof(*names) ? names[r] : "";
}

const char *registry_status_text(registry_status s)
{
    static const char *const names[] = {"", "allocated", "assigned", "reserved", "available", "legacy"};
    return (size_t)s < sizeof(names) / sizeof(*names) ? names[s] : "";
}

/* Our words for the conditions at the head of each registry's files, and where they stand. */
const char *registry_licence(registry_name r)
{
    switch (r) {
    case REGISTRY_IANA:
        return "IANA: number registries of the Internet Assigned Numbers Authority, free to use; "
               "https://www.iana.org/numbers";
    case REGISTRY_AFRINIC:
        return "AFRINIC: subject to the AFRINIC Database Terms and Conditions; https://afrinic.net/whois/terms";
    case REGISTRY_APNIC:
        return "APNIC: free to use, APNIC answers for no loss or damage from it; databases for Internet operations "
               "only; https://www.apnic.net/db/rir-stats-format.html";
    case REGISTRY_ARIN:
        return "ARIN: subject to the ARIN Whois Terms of Use; https://www.arin.net/resources/registry/whois/tou/";
    case REGISTRY_LACNIC:
        return "LACNIC: subject to LACNIC's terms for use of its data; https://www.lacnic.net/";
    case REGISTRY_RIPENCC:
        return "RIPE NCC: subject to the RIPE Database Terms and Conditions; "
               "https://www.ripe.net/manage-ips-and-asns/db/support/documentation/terms";
    default:
        return "";
    }
}
