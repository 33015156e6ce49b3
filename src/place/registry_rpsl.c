/* registry_rpsl.c - databases of objects: attributes a line each, an empty line between two objects.
 *
 *     inetnum:      192.0.2.0 - 192.0.2.255        what the object is, by its first attribute
 *     descr:        Example Networks               the first of several counts
 *     remarks:      goes on in lines that
 *                   begin with a blank, a tab
 *     +             or a plus                      (an empty line of a value)
 *     country:      NL # a comment
 *     org:          ORG-EX1-RIPE                   a reference: the name is in an object of its own
 *
 * Only networks (inetnum, inet6num, and the "net" of location databases) and organisations are looked at. */
#include <stdio.h>

#include "base/utf8.h"
#include "place/registry_internal.h"

#define AS_TEXT_MAX 16
#define FIELD_MAX 1024 /* bytes of a value that are kept: names are cut far below */

static const struct {
    const char *name;
    rpsl_field field;
} attributes[] = {
    {"country", RPSL_COUNTRY}, {"status", RPSL_STATUS},     {"source", RPSL_SOURCE},
    {"org", RPSL_ORG},         {"org-name", RPSL_ORG_NAME}, {"owner", RPSL_OWNER},
    {"descr", RPSL_DESCR},     {"netname", RPSL_NETNAME},   {"aut-num", RPSL_AUT_NUM},
};

/* A name in front of a colon, from the line's first byte on. */
static bool split_attribute(struct span line, struct span *name, struct span *value)
{
    size_t colon = span_find(line, ':', 0);
    if (colon == 0 || colon == line.n)
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!ascii_is_alpha(line.p[i]) && !ascii_is_digit(line.p[i]) && !strchr("-_*", line.p[i]))
            return false;
    *name = span_cut(line, 0, colon);
    *value = span_from(line, colon + 1);
    return true;
}

bool rpsl_looks_like(struct span line)
{
    struct span name, value;
    return split_attribute(line, &name, &value) && (ascii_is_alpha(name.p[0]) || name.p[0] == '*');
}

static struct span without_comment(struct span value)
{
    return span_trim(span_cut(value, 0, span_find(value, '#', 0)));
}

static void append(struct registry_reader *r, rpsl_field field, struct span value)
{
    struct buf *b = &r->fields[field];
    value = without_comment(value);
    if (value.n == 0 || b->n >= FIELD_MAX)
        return;
    if (b->n)
        buf_putc(b, ' ');
    buf_put(b, span_cut(value, 0, FIELD_MAX));
}

static struct span field(const struct registry_reader *r, rpsl_field f)
{
    return buf_span(&r->fields[f]);
}

/* ---- whole objects ---- */

/* Objects that say "not ours": a registry's database covers all addresses, and these fill the gaps. */
static bool is_placeholder(struct span netname)
{
    static const char *const names[] = {"NON-RIPE-NCC-MANAGED", "IANA-BLK", "IANA-NETBLOCK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (span_starts_nocase(netname, span_str(names[i])))
            return true;
    return false;
}

static struct span holder_of(struct registry_reader *r, struct registry_record *rec, char as[AS_TEXT_MAX])
{
    static const rpsl_field by_worth[] = {RPSL_OWNER, RPSL_DESCR, RPSL_NETNAME};
    struct span number = field(r, RPSL_AUT_NUM);
    uint64_t n;
    if (field(r, RPSL_ORG).n) {
        rec->is_holder_ref = true;
        return field(r, RPSL_ORG);
    }
    for (size_t i = 0; i < sizeof(by_worth) / sizeof(*by_worth); i++)
        if (field(r, by_worth[i]).n)
            return field(r, by_worth[i]);
    if (span_starts_nocase(number, SPAN("AS")))
        number = span_from(number, 2);
    if (!span_u64(number, UINT32_MAX, &n) || n == 0)
        return SPAN("");
    return span_of(as, (size_t)snprintf(as, AS_TEXT_MAX, "AS%u", (unsigned)n));
}

static void end_network(struct registry_reader *r)
{
    struct registry_record rec = {.registry = registry_name_of(field(r, RPSL_SOURCE)),
                                  .state = registry_status_of(field(r, RPSL_STATUS))};
    char as[AS_TEXT_MAX];
    if (is_placeholder(field(r, RPSL_NETNAME)))
        return;
    if (!registry_range(field(r, RPSL_RANGE), &rec.first, &rec.last)) {
        registry_bad(r, r->object_line, "no range of addresses");
        return;
    }
    if (!registry_country(field(r, RPSL_COUNTRY), rec.country))
        registry_bad(r, r->object_line, "no country code: the network is taken without");
    rec.holder = utf8_cut(registry_text(r, holder_of(r, &rec, as)), REGISTRY_HOLDER_MAX);
    r->sink.range(r->sink.self, &rec);
}

static void end_organisation(struct registry_reader *r)
{
    struct span id = field(r, RPSL_RANGE), name = field(r, RPSL_ORG_NAME);
    if (id.n == 0 || name.n == 0)
        registry_bad(r, r->object_line, "an organisation without a name");
    else if (r->sink.organisation)
        r->sink.organisation(r->sink.self, id, utf8_cut(registry_text(r, name), REGISTRY_HOLDER_MAX));
}

void rpsl_end(struct registry_reader *r)
{
    if (r->object == RPSL_NETWORK)
        end_network(r);
    else if (r->object == RPSL_ORGANISATION)
        end_organisation(r);
    if (r->object == RPSL_NETWORK || r->object == RPSL_ORGANISATION)
        for (int i = 0; i < RPSL_FIELDS; i++) {
            buf_clear(&r->fields[i]);
            r->has_field[i] = false;
        }
    r->object = RPSL_OUTSIDE;
    r->field = RPSL_NO_FIELD;
}

/* ---- lines ---- */

static void begin(struct registry_reader *r, struct span name, struct span value)
{
    bool is_network =
        span_is_nocase(name, "inetnum") || span_is_nocase(name, "inet6num") || span_is_nocase(name, "net");
    r->object = is_network ? RPSL_NETWORK : span_is_nocase(name, "organisation") ? RPSL_ORGANISATION : RPSL_OTHER;
    r->object_line = r->line;
    r->field = r->object == RPSL_OTHER ? RPSL_NO_FIELD : RPSL_RANGE;
    if (r->field == RPSL_RANGE)
        append(r, RPSL_RANGE, value);
}

static void take_attribute(struct registry_reader *r, struct span name, struct span value)
{
    r->field = RPSL_NO_FIELD;
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
        rpsl_field f = attributes[i].field;
        if (!span_is_nocase(name, attributes[i].name) || r->has_field[f])
            continue;
        r->has_field[f] = true;
        r->field = f;
        append(r, f, value);
    }
}

void rpsl_line(struct registry_reader *r, struct span line)
{
    struct span name, value;
    if (line.n == 0 || span_trim(line).n == 0) {
        rpsl_end(r);
        return;
    }
    if (line.p[0] == '#' || line.p[0] == '%')
        return;
    if (line.p[0] == ' ' || line.p[0] == '\t' || line.p[0] == '+') {
        if (r->object == RPSL_OUTSIDE)
            registry_bad(r, r->line, "a continuation of nothing");
        else if (r->field != RPSL_NO_FIELD)
            append(r, r->field, span_from(line, 1));
        return;
    }
    if (!split_attribute(line, &name, &value)) {
        if (r->object != RPSL_OTHER)
            registry_bad(r, r->line, "no attribute: no name and colon");
        return;
    }
    if (r->object == RPSL_OUTSIDE)
        begin(r, name, value);
    else if (r->object != RPSL_OTHER)
        take_attribute(r, name, value);
}
