/* registry_rir.c - the registries' statistics files, "delegated" and "delegated-extended".
 *
 *     2.3|apnic|20190909|300||20190906|+1000                              version line
 *     apnic|*|ipv4|*|100|summary                                          summary lines
 *     apnic|AU|ipv4|1.0.0.0|256|20110811|assigned|A91872ED                first address, how many
 *     apnic|JP|ipv6|2001:200::|35|19990813|allocated|A92D9378             first address, length of prefix
 *     lacnic||ipv4|24.152.4.0|1024||available                             nobody's
 *
 * The eighth field, where there is one, is an opaque id: the same for all that one holder has at this registry. */
#include "base/utf8.h"
#include "place/hierarchy_format.h"
#include "place/registry_internal.h"

enum { RIR_REGISTRY, RIR_COUNTRY, RIR_TYPE, RIR_START, RIR_VALUE, RIR_DATE, RIR_STATUS, RIR_OPAQUE, RIR_FIELDS };

static size_t split(struct span line, struct span f[RIR_FIELDS])
{
    size_t n = 0;
    memset(f, 0, RIR_FIELDS * sizeof(*f));
    while (n < RIR_FIELDS && span_split(&line, '|', &f[n]))
        n++;
    return n;
}

static bool is_version(struct span s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]) && s.p[i] != '.')
            return false;
        digits += s.p[i] != '.';
    }
    return digits > 0;
}

bool rir_looks_like(struct span line)
{
    struct span f[RIR_FIELDS];
    size_t n = split(line, f);
    if (n < 5)
        return false;
    return is_version(f[RIR_REGISTRY]) || span_is(f[RIR_TYPE], "ipv4") || span_is(f[RIR_TYPE], "ipv6") ||
           span_is(f[RIR_TYPE], "asn");
}

/* NULL: *first and *last are right; else what is wrong. */
static const char *take_range(const struct span f[RIR_FIELDS], struct addr *first, struct addr *last)
{
    unsigned family = span_is(f[RIR_TYPE], "ipv4") ? 4 : 6;
    uint64_t value;
    if (addr_parse(f[RIR_START], first) != ST_OK || first->family != family)
        return "no address of that type";
    wide from = wide_of(first);
    if (family == 4) {
        if (!span_u64(f[RIR_VALUE], (uint64_t)1 << 32, &value) || value == 0 || from + value > (wide)1 << 32)
            return "no count of addresses";
        *last = addr_of_wide(4, from + value - 1);
        return NULL;
    }
    if (!span_u64(f[RIR_VALUE], 128, &value))
        return "no length of a prefix";
    wide host = value == 0 ? ~(wide)0 : ((wide)1 << (128 - value)) - 1;
    if ((from & host) != 0)
        return "the address has bits behind its prefix";
    *last = addr_of_wide(6, from | host);
    return NULL;
}

/* version|registry|serial|records|first date|last date|time zone */
static void take_version(struct registry_reader *r, const struct span f[RIR_FIELDS])
{
    uint64_t number;
    if (span_u64(f[RIR_TYPE], UINT64_MAX, &number) && f[RIR_TYPE].n < sizeof(r->serial)) {
        memcpy(r->serial, f[RIR_TYPE].p, f[RIR_TYPE].n);
        r->serial[f[RIR_TYPE].n] = '\0';
    }
}

void rir_line(struct registry_reader *r, struct span line)
{
    struct span f[RIR_FIELDS];
    line = span_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return;
    size_t n = split(line, f);
    if (n > 5 && is_version(f[RIR_REGISTRY])) {
        take_version(r, f);
        return;
    }
    if (n > 5 && (span_is(f[RIR_DATE], "summary") || span_is(f[RIR_TYPE], "asn")))
        return;
    if (n <= RIR_STATUS) {
        registry_bad(r, r->line, "too few fields");
        return;
    }
    struct registry_record rec = {
        .registry = registry_name_of(f[RIR_REGISTRY]), .state = registry_status_of(f[RIR_STATUS]), .is_opaque = true};
    const char *why = !span_is(f[RIR_TYPE], "ipv4") && !span_is(f[RIR_TYPE], "ipv6")
                          ? "neither ipv4 nor ipv6 nor asn"
                          : take_range(f, &rec.first, &rec.last);
    if (!why && !registry_country(f[RIR_COUNTRY], rec.country))
        why = "no country code";
    if (!why && rec.state == REG_UNKNOWN)
        why = "no status known";
    if (why) {
        registry_bad(r, r->line, why);
        return;
    }
    if (n > RIR_OPAQUE)
        r->format = FORMAT_RIR_EXTENDED;
    if (rec.state != REG_AVAILABLE && rec.state != REG_RESERVED)
        rec.holder = utf8_cut(registry_text(r, span_trim(f[RIR_OPAQUE])), REGISTRY_HOLDER_MAX);
    r->sink.range(r->sink.self, &rec);
}
