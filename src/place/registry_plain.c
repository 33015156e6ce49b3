/* registry_plain.c - tables: tabs between columns, or the commas of IANA's registries.
 *
 *     prefix<TAB>country<TAB>holder             a head line may be there
 *     1.0.0.0/24<TAB>AU<TAB>13335<TAB>anycast   a number as holder is that of an autonomous system
 *
 *     Prefix,Designation,Date,WHOIS,RDAP,Status [1],Note
 *     003/8,Administered by ARIN,1994-05,whois.arin.net,"https://rdap.arin.net/registry
 *     http://rdap.arin.net/registry",LEGACY,
 */
#include <stdio.h>

#include "base/utf8.h"
#include "place/registry_internal.h"

/* ---- tabs ---- */

static bool is_head_name(struct span s)
{
    static const char *const names[] = {"prefix", "network", "net", "range", "cidr", "address"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (span_is_nocase(s, names[i]))
            return true;
    return false;
}

bool plain_looks_like(struct span line)
{
    struct addr first, last;
    struct span name = span_trim(span_cut(line, 0, span_find(line, '\t', 0)));
    return registry_range(name, &first, &last) || (name.n < line.n && is_head_name(name));
}

void plain_line(struct registry_reader *r, struct span line)
{
    struct span rest = line, f[3] = {{0}, {0}, {0}};
    struct registry_record rec = {0};
    uint64_t as;
    char as_text[16];
    if (span_trim(line).n == 0 || line.p[0] == '#')
        return;
    for (size_t i = 0; i < 3 && span_split(&rest, '\t', &f[i]);)
        i++;
    bool is_first = !r->has_head;
    r->has_head = true;
    if (!registry_range(f[0], &rec.first, &rec.last)) {
        if (!is_first || !is_head_name(span_trim(f[0])))
            registry_bad(r, r->line, "no range of addresses");
        return;
    }
    if (!registry_country(f[1], rec.country)) {
        registry_bad(r, r->line, "no country code");
        return;
    }
    f[2] = span_trim(f[2]);
    if (span_u64(f[2], UINT32_MAX, &as)) {
        int n = snprintf(as_text, sizeof(as_text), "AS%u", (unsigned)as);
        if (as)
            rec.holder = span_of(as_text, (size_t)n);
    } else
        rec.holder = utf8_cut(registry_text(r, f[2]), REGISTRY_HOLDER_MAX);
    r->sink.range(r->sink.self, &rec);
}

/* ---- commas ---- */

#define CSV_COLUMNS_MAX 32

enum { CSV_PREFIX, CSV_HOLDER, CSV_STATUS, CSV_COUNTRY };

/* Cuts the next field off *rest, without its quotes; a doubled quote inside stays doubled, which no field that we look
 * at has. False: no more. */
static bool csv_field(struct span *rest, struct span *out)
{
    if (!rest->p)
        return false;
    size_t at = 0;
    bool is_quoted = false;
    for (; at < rest->n && (is_quoted || rest->p[at] != ','); at++)
        if (rest->p[at] == '"')
            is_quoted = !is_quoted;
    struct span f = span_trim(span_cut(*rest, 0, at));
    if (f.n >= 2 && f.p[0] == '"' && f.p[f.n - 1] == '"')
        f = span_cut(f, 1, f.n - 2);
    *out = f;
    *rest = at == rest->n ? (struct span){NULL, 0} : span_from(*rest, at + 1);
    return true;
}

static bool is_csv_head(struct span line)
{
    struct span name;
    return csv_field(&line, &name) && line.p && is_head_name(name);
}

bool csv_looks_like(struct span line)
{
    struct addr first, last;
    struct span name, rest = line;
    return is_csv_head(line) || (csv_field(&rest, &name) && rest.p && registry_range(name, &first, &last));
}

/* Which column is what; IANA's order when there is no head. */
static void csv_head(struct registry_reader *r, struct span line, bool is_head)
{
    static const struct {
        const char *begin;
        int what;
    } names[] = {{"designation", CSV_HOLDER},
                 {"holder", CSV_HOLDER},
                 {"organi", CSV_HOLDER},
                 {"status", CSV_STATUS},
                 {"country", CSV_COUNTRY}};
    static const int iana[4] = {[CSV_PREFIX] = 0, [CSV_HOLDER] = 1, [CSV_STATUS] = 5, [CSV_COUNTRY] = -1};
    memcpy(r->column, iana, sizeof(r->column));
    r->has_head = true;
    r->csv_registry = REGISTRY_IANA;
    if (!is_head)
        return;
    struct span name;
    if (span_search(line, SPAN("designation"), true) == line.n)
        r->csv_registry = REGISTRY_NONE;
    r->column[CSV_HOLDER] = r->column[CSV_STATUS] = -1;
    for (int at = 0; csv_field(&line, &name) && at < CSV_COLUMNS_MAX; at++)
        for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
            if (span_starts_nocase(name, span_str(names[i].begin)) && r->column[names[i].what] < 0)
                r->column[names[i].what] = at;
}

static void csv_record(struct registry_reader *r, struct span text)
{
    struct span columns[CSV_COLUMNS_MAX], f[4] = {{0}, {0}, {0}, {0}};
    int n = 0;
    if (!r->has_head) {
        bool is_head = is_csv_head(text);
        csv_head(r, text, is_head);
        if (is_head)
            return;
    }
    while (n < CSV_COLUMNS_MAX && csv_field(&text, &columns[n]))
        n++;
    for (int i = 0; i < 4; i++)
        if (r->column[i] >= 0 && r->column[i] < n)
            f[i] = columns[r->column[i]];
    struct registry_record rec = {.registry = r->csv_registry, .state = registry_status_of(f[CSV_STATUS])};
    const char *why = !registry_range(f[CSV_PREFIX], &rec.first, &rec.last) ? "no range of addresses"
                      : !registry_country(f[CSV_COUNTRY], rec.country)      ? "no country code"
                                                                            : NULL;
    if (why) {
        registry_bad(r, r->record_line, why);
        return;
    }
    if (span_starts_nocase(f[CSV_HOLDER], SPAN("Administered by ")))
        f[CSV_HOLDER] = span_trim(span_from(f[CSV_HOLDER], sizeof("Administered by ") - 1));
    if (rec.state != REG_RESERVED && rec.state != REG_AVAILABLE)
        rec.holder = utf8_cut(registry_text(r, f[CSV_HOLDER]), REGISTRY_HOLDER_MAX);
    r->sink.range(r->sink.self, &rec);
}

static bool has_open_quote(struct span s)
{
    bool is_open = false;
    for (size_t i = 0; i < s.n; i++)
        is_open ^= s.p[i] == '"';
    return is_open;
}

void csv_line(struct registry_reader *r, struct span line)
{
    if (r->record.n == 0) {
        if (span_trim(line).n == 0 || line.p[0] == '#')
            return;
        r->record_line = r->line;
        if (!has_open_quote(line)) {
            csv_record(r, line);
            return;
        }
    } else
        buf_putc(&r->record, '\n');
    if (r->record.n + line.n > REGISTRY_OBJECT_MAX) {
        registry_bad(r, r->record_line, "quotes that are never closed");
        buf_clear(&r->record);
        return;
    }
    bool closes = r->record.n > 0 && has_open_quote(line);
    buf_put(&r->record, line);
    if (closes) {
        csv_record(r, buf_span(&r->record));
        buf_clear(&r->record);
    }
}

void csv_end(struct registry_reader *r)
{
    if (r->record.n)
        registry_bad(r, r->record_line, "quotes that are never closed");
}
