#include "place/registry.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "place/hierarchy_format.h"
#include "place/registry_internal.h"

#define STRANGE_MAX 100 /* lines of no known format: the file is none of ours */

/* ---- lines ---- */

struct registry_reader *registry_reader_new(const struct registry_sink *sink)
{
    struct registry_reader *r = mem_alloc(sizeof(*r));
    r->sink = *sink;
    r->field = RPSL_NO_FIELD;
    return r;
}

void registry_reader_free(struct registry_reader *r)
{
    if (!r)
        return;
    buf_done(&r->partial);
    buf_done(&r->latin);
    buf_done(&r->record);
    for (int i = 0; i < RPSL_FIELDS; i++)
        buf_done(&r->fields[i]);
    free(r);
}

const char *registry_reader_format(const struct registry_reader *r)
{
    static const char *const names[] = {"", "rir", "rir-extended", "rpsl", "plain", "csv", ""};
    return names[r->format];
}

struct span registry_reader_serial(const struct registry_reader *r)
{
    return span_str(r->serial);
}

void registry_bad(struct registry_reader *r, uint64_t line, const char *why)
{
    if (r->sink.bad)
        r->sink.bad(r->sink.self, line, why);
}

/* Which format a file is in is told by the first line that says something. */
static registry_format sniff(struct span line)
{
    if (rir_looks_like(line))
        return FORMAT_RIR;
    if (csv_looks_like(line))
        return FORMAT_CSV;
    if (plain_looks_like(line))
        return FORMAT_PLAIN;
    return rpsl_looks_like(line) ? FORMAT_RPSL : FORMAT_UNKNOWN;
}

static bool is_comment(struct span line)
{
    return line.n > 0 && (line.p[0] == '#' || line.p[0] == '%');
}

static void take_line(struct registry_reader *r, struct span line)
{
    r->line++;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (r->line == 1 && span_starts(line, SPAN("\xEF\xBB\xBF")))
        line = span_from(line, 3);
    if (r->format == FORMAT_UNKNOWN) {
        if (span_trim(line).n == 0 || is_comment(line))
            return;
        r->format = sniff(line);
        if (r->format == FORMAT_UNKNOWN) {
            registry_bad(r, r->line, "not like any format known");
            if (++r->strange == STRANGE_MAX)
                r->format = FORMAT_NONE;
            return;
        }
    }
    switch (r->format) {
    case FORMAT_RIR:
    case FORMAT_RIR_EXTENDED:
        rir_line(r, line);
        break;
    case FORMAT_RPSL:
        rpsl_line(r, line);
        break;
    case FORMAT_PLAIN:
        plain_line(r, line);
        break;
    case FORMAT_CSV:
        csv_line(r, line);
        break;
    default:
        break;
    }
}

static void take_partial(struct registry_reader *r)
{
    if (r->is_skipping) {
        r->line++;
        registry_bad(r, r->line, "the line is too long");
    } else
        take_line(r, buf_span(&r->partial));
    r->is_skipping = false;
    buf_clear(&r->partial);
}

static void keep_partial(struct registry_reader *r, struct span rest)
{
    if (r->is_skipping || rest.n > REGISTRY_OBJECT_MAX - r->partial.n) {
        r->is_skipping = true;
        buf_clear(&r->partial);
        return;
    }
    buf_put(&r->partial, rest);
}

void registry_reader_feed(struct registry_reader *r, struct span piece)
{
    while (piece.n && r->format != FORMAT_NONE) {
        size_t end = span_find(piece, '\n', 0);
        struct span line = span_cut(piece, 0, end);
        bool is_whole = end < piece.n;
        if (is_whole && r->partial.n == 0 && !r->is_skipping && line.n <= REGISTRY_OBJECT_MAX)
            take_line(r, line);
        else {
            keep_partial(r, line);
            if (is_whole)
                take_partial(r);
        }
        piece = span_from(piece, end + 1);
    }
}

status registry_reader_end(struct registry_reader *r)
{
    if (r->partial.n || r->is_skipping)
        take_partial(r);
    if (r->format == FORMAT_RPSL)
        rpsl_end(r);
    else if (r->format == FORMAT_CSV)
        csv_end(r);
    return r->format == FORMAT_UNKNOWN || r->format == FORMAT_NONE ? ST_UNSUPPORTED : ST_OK;
}

/* ---- what the formats share ---- */

struct span registry_text(struct registry_reader *r, struct span s)
{
    if (utf8_is_valid(s))
        return s;
    buf_clear(&r->latin);
    for (size_t i = 0; i < s.n; i++)
        buf_put_utf8(&r->latin, (unsigned char)s.p[i]);
    return buf_span(&r->latin);
}

/* The bits of an address behind a prefix of this length. */
static wide host_bits(unsigned family, unsigned bits)
{
    unsigned all = family == 4 ? 32 : 128;
    return bits == 0 ? (family == 4 ? UINT32_MAX : ~(wide)0) : ((wide)1 << (all - bits)) - 1;
}

/* "24.232/16", "010/8": up to four numbers, leading zeros and all; what is missing is zero. */
static bool short_prefix(struct span text, struct addr *first, struct addr *last)
{
    size_t slash = span_find(text, '/', 0), n = 0;
    struct span rest = span_cut(text, 0, slash), part;
    struct addr a = {.family = 4};
    uint64_t v, bits;
    if (slash == text.n || !span_u64(span_from(text, slash + 1), 32, &bits))
        return false;
    while (span_split(&rest, '.', &part)) {
        if (n == 4 || part.n > 3 || !span_u64(part, 255, &v))
            return false;
        a.b[n++] = (uint8_t)v;
    }
    wide host = host_bits(4, (unsigned)bits);
    if (n == 0 || (wide_of(&a) & host) != 0)
        return false;
    *first = a;
    *last = addr_of_wide(4, wide_of(&a) | host);
    return true;
}

static bool two_addresses(struct span text, struct addr *first, struct addr *last)
{
    size_t dash = span_find(text, '-', 0);
    if (dash == text.n)
        dash = span_find(text, '>', 0);
    if (dash == text.n)
        return addr_parse(text, first) == ST_OK && addr_parse(text, last) == ST_OK;
    struct span from = span_trim(span_cut(text, 0, dash)), to = span_trim(span_from(text, dash + 1));
    return addr_parse(from, first) == ST_OK && addr_parse(to, last) == ST_OK && first->family == last->family &&
           wide_of(first) <= wide_of(last);
}

bool registry_range(struct span text, struct addr *first, struct addr *last)
{
    struct network n;
    text = span_trim(text);
    if (network_parse(text, &n) == ST_OK) {
        *first = n.first;
        *last = addr_of_wide(n.first.family, wide_of(&n.first) | host_bits(n.first.family, n.bits));
        return true;
    }
    return two_addresses(text, first, last) || short_prefix(text, first, last);
}

bool registry_country(struct span text, char out[3])
{
    text = span_trim(text);
    memset(out, 0, 3);
    if (text.n == 0 || span_is(text, "*") || span_is(text, "-") || span_is(text, "??") || span_is_nocase(text, "ZZ"))
        return true;
    if (text.n != 2 || !ascii_is_alpha(text.p[0]) || !(ascii_is_alpha(text.p[1]) || ascii_is_digit(text.p[1])))
        return false;
    for (int i = 0; i < 2; i++)
        out[i] = text.p[i] >= 'a' && text.p[i] <= 'z' ? (char)(text.p[i] - 0x20) : text.p[i];
    return true;
}

registry_name registry_name_of(struct span text)
{
    if (span_is_nocase(text, "ripe") || span_is_nocase(text, "ripe-grs"))
        return REGISTRY_RIPENCC;
    for (registry_name r = REGISTRY_IANA; r < REGISTRY_OTHER; r++)
        if (span_is_nocase(text, registry_name_text(r)))
            return r;
    return text.n ? REGISTRY_OTHER : REGISTRY_NONE;
}

registry_status registry_status_of(struct span text)
{
    static const struct {
        const char *word;
        registry_status state;
    } words[] = {
        {"allocated", REG_ALLOCATED},   {"assigned", REG_ASSIGNED},     {"reserved", REG_RESERVED},
        {"available", REG_AVAILABLE},   {"legacy", REG_LEGACY},         {"sub-allocated", REG_ALLOCATED},
        {"reallocated", REG_ALLOCATED}, {"reassigned", REG_ASSIGNED},   {"lir-partitioned", REG_ALLOCATED},
        {"aggregated", REG_ASSIGNED},   {"unallocated", REG_AVAILABLE}, {"early-registration", REG_LEGACY},
    };
    text = span_trim(text);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (span_starts_nocase(text, span_str(words[i].word)))
            return words[i].state;
    return REG_UNKNOWN;
}
