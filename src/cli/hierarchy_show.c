/* hierarchy_show.c - `orb hierarchy stats` and `orb hierarchy diff`. */
#include <stdio.h>

#include <stdio.h>

#include "cli/format.h"
#include "cli/hierarchy_cmd.h"
#include "codec/json.h"
#include "place/hierarchy_build.h"
#include "place/holder.h"

#define CHANGES_SHOWN 20 /* of each kind, without --verbose */
#define PRINT_AT_BYTES 65536

/* ---- stats ---- */

struct stats {
    uint64_t nodes_v4, nodes_v6, unary, with_holder, with_country;
    uint64_t by_registry[REGISTRY_OTHER + 1], by_state[REG_LEGACY + 1];
    uint64_t at_depth[256];
};

static void count_nodes(const struct hierarchy *h, struct stats *s)
{
    for (uint32_t i = 1; i <= hierarchy_count(h); i++) {
        struct hierarchy_node n;
        hierarchy_get(h, i, &n);
        s->nodes_v4 += n.first.family == 4;
        s->nodes_v6 += n.first.family == 6;
        s->unary += addr_eq(&n.first, &n.last);
        s->with_holder += n.holder != 0;
        s->with_country += n.country[0] != '\0';
        s->by_registry[n.registry]++;
        s->by_state[n.state]++;
        s->at_depth[n.depth]++;
    }
}

static void put_line(struct buf *out, const char *name, uint64_t n)
{
    struct buf count = {0};
    put_count(&count, n);
    buf_printf(out, "%-18s %12s\n", name, buf_cstr(&count));
    buf_done(&count);
}

static void stats_text(const struct hierarchy *h, const struct stats *s, struct buf *out)
{
    struct span rest = hierarchy_origin(h), line;
    put_line(out, "networks", hierarchy_count(h));
    put_line(out, "  IPv4", s->nodes_v4);
    put_line(out, "  IPv6", s->nodes_v6);
    put_line(out, "  of one address", s->unary);
    put_line(out, "  with a holder", s->with_holder);
    put_line(out, "  with a country", s->with_country);
    put_line(out, "holders", hierarchy_holder_count(h));
    put_line(out, "height", hierarchy_height(h));
    for (unsigned d = 1; d < 256; d++)
        if (s->at_depth[d]) {
            char name[24];
            snprintf(name, sizeof(name), "  at depth %u", d);
            put_line(out, name, s->at_depth[d]);
        }
    buf_puts(out, "made from\n");
    while (rest.n && span_split(&rest, '\n', &line))
        if (line.n) {
            buf_puts(out, span_starts(line, SPAN("file=")) ? "  " : "    ");
            put_safe(out, line);
            buf_putc(out, '\n');
        }
    for (registry_name r = REGISTRY_IANA; r <= REGISTRY_OTHER; r++)
        if (s->by_registry[r])
            put_line(out, registry_name_text(r), s->by_registry[r]);
    for (registry_name r = REGISTRY_IANA; r <= REGISTRY_OTHER; r++)
        if (s->by_registry[r] && registry_licence(r)[0])
            buf_printf(out, "%s\n", registry_licence(r));
}

static void put_counts(struct json *j, const char *key, const uint64_t *counts, size_t n, const char *(*name)(size_t i))
{
    json_key(j, key);
    json_open(j, '{');
    for (size_t i = 1; i < n; i++)
        if (counts[i]) {
            json_key(j, name(i));
            json_u64(j, counts[i]);
        }
    json_close(j, '}');
}

static const char *registry_at(size_t i)
{
    return registry_name_text((registry_name)i);
}

static const char *state_at(size_t i)
{
    return registry_status_text((registry_status)i);
}

static void stats_json(const struct hierarchy *h, const struct stats *s, struct buf *out)
{
    struct json j = {.out = out};
    struct span rest = hierarchy_origin(h), line;
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {{"nodes", hierarchy_count(h)},
                  {"nodes_v4", s->nodes_v4},
                  {"nodes_v6", s->nodes_v6},
                  {"unary", s->unary},
                  {"with_holder", s->with_holder},
                  {"with_country", s->with_country},
                  {"holders", hierarchy_holder_count(h)},
                  {"height", hierarchy_height(h)}};
    json_open(&j, '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        json_key(&j, counts[i].name);
        json_u64(&j, counts[i].n);
    }
    json_key(&j, "at_depth");
    json_open(&j, '[');
    for (unsigned d = 1; d <= hierarchy_height(h) && d < 256; d++)
        json_u64(&j, s->at_depth[d]);
    json_close(&j, ']');
    put_counts(&j, "registries", s->by_registry, REGISTRY_OTHER + 1, registry_at);
    put_counts(&j, "statuses", s->by_state, REG_LEGACY + 1, state_at);
    json_key(&j, "licences");
    json_open(&j, '[');
    for (registry_name r = REGISTRY_IANA; r <= REGISTRY_OTHER; r++)
        if (s->by_registry[r] && registry_licence(r)[0])
            json_str(&j, registry_licence(r));
    json_close(&j, ']');
    json_key(&j, "origin");
    json_open(&j, '[');
    while (rest.n && span_split(&rest, '\n', &line))
        if (line.n)
            json_text(&j, line);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
}

int hierarchy_cmd_stats(const struct options *o)
{
    struct hierarchy_file f;
    struct buf path = {0}, out = {0}, why = {0};
    if (o->arg_count == 2)
        buf_put(&path, o->args[1]);
    else
        hierarchy_file_path(o, &path);
    int code = hierarchy_file_open("stats", buf_cstr(&path), &f);
    if (code == EXIT_DONE) {
        struct stats s = {0};
        if (hierarchy_check(f.h, &why) != ST_OK)
            code = complain(EXIT_IO, "hierarchy stats: %s: %s: build it again", buf_cstr(&path), buf_cstr(&why));
        count_nodes(f.h, &s);
        if (code != EXIT_DONE)
            ;
        else if (opt_flag(o, OPT_JSON))
            stats_json(f.h, &s, &out);
        else
            stats_text(f.h, &s, &out);
        print_buf(&out);
        hierarchy_file_close(&f);
    }
    buf_done(&path);
    buf_done(&out);
    buf_done(&why);
    return code;
}

/* ---- diff ---- */

typedef enum change { CHANGE_GONE, CHANGE_NEW, CHANGE_OTHER, CHANGE_KINDS } change;

struct diff {
    const struct options *o;
    const struct hierarchy *a, *b;
    uint64_t count[CHANGE_KINDS], same;
    struct buf out;
    struct json json;
};

static bool is_same_holder(const struct diff *d, const struct hierarchy_node *x, const struct hierarchy_node *y)
{
    struct span old = hierarchy_holder_name(d->a, x->holder), new = hierarchy_holder_name(d->b, y->holder);
    if (span_eq(old, new))
        return true;
    struct buf f = {0}, g = {0};
    holder_fold(old, &f);
    holder_fold(new, &g);
    bool is_same = span_eq(buf_span(&f), buf_span(&g));
    buf_done(&f);
    buf_done(&g);
    return is_same;
}

static void put_facts(const struct hierarchy *h, const struct hierarchy_node *n, struct buf *out)
{
    buf_printf(out, "%s %s %s ", n->country[0] ? n->country : "--", registry_name_text(n->registry),
               registry_status_text(n->state));
    put_safe(out, hierarchy_holder_name(h, n->holder));
}

/* `x` in the old one, `y` in the new one; one of them may be NULL. */
static void tell(struct diff *d, change kind, const struct hierarchy_node *x, const struct hierarchy_node *y)
{
    static const char signs[] = "-+~", *const names[] = {"gone", "new", "changed"};
    if (++d->count[kind] > CHANGES_SHOWN && !opt_flag(d->o, OPT_VERBOSE))
        return;
    if (opt_flag(d->o, OPT_JSON)) {
        json_open(&d->json, '{');
        json_key(&d->json, "change");
        json_str(&d->json, names[kind]);
        put_node_json(&d->json, y ? d->b : d->a, y ? y : x);
        if (x && y) {
            json_key(&d->json, "before");
            json_open(&d->json, '{');
            put_node_json(&d->json, d->a, x);
            json_close(&d->json, '}');
        }
        json_close(&d->json, '}');
        return;
    }
    buf_printf(&d->out, "%c ", signs[kind]);
    put_range(&d->out, y ? y : x);
    buf_puts(&d->out, "  ");
    if (x)
        put_facts(d->a, x, &d->out);
    if (x && y)
        buf_puts(&d->out, " -> ");
    if (y)
        put_facts(d->b, y, &d->out);
    buf_putc(&d->out, '\n');
    if (d->out.n > PRINT_AT_BYTES)
        print_buf(&d->out);
}

/* The order of nodes: IPv4 first, first address up, last address down. */
static int compare_nodes(const struct hierarchy_node *x, const struct hierarchy_node *y)
{
    if (x->first.family != y->first.family)
        return x->first.family < y->first.family ? -1 : 1;
    int c = memcmp(x->first.b, y->first.b, sizeof(x->first.b));
    return c ? c : -memcmp(x->last.b, y->last.b, sizeof(x->last.b));
}

static void compare(struct diff *d)
{
    uint32_t i = 1, k = 1, n = hierarchy_count(d->a), m = hierarchy_count(d->b);
    while (i <= n || k <= m) {
        struct hierarchy_node x, y;
        hierarchy_get(d->a, i, &x);
        hierarchy_get(d->b, k, &y);
        int c = i > n ? 1 : k > m ? -1 : compare_nodes(&x, &y);
        if (c < 0)
            tell(d, CHANGE_GONE, &x, NULL);
        else if (c > 0)
            tell(d, CHANGE_NEW, NULL, &y);
        else if (strcmp(x.country, y.country) != 0 || x.registry != y.registry || x.state != y.state ||
                 !is_same_holder(d, &x, &y))
            tell(d, CHANGE_OTHER, &x, &y);
        else
            d->same++;
        i += c <= 0;
        k += c >= 0;
    }
}

static void put_totals(struct diff *d)
{
    if (opt_flag(d->o, OPT_JSON)) {
        static const char *const names[] = {"gone", "new", "changed"};
        json_close(&d->json, ']');
        for (int i = 0; i < CHANGE_KINDS; i++) {
            json_key(&d->json, names[i]);
            json_u64(&d->json, d->count[i]);
        }
        json_key(&d->json, "same");
        json_u64(&d->json, d->same);
        json_close(&d->json, '}');
        buf_putc(&d->out, '\n');
        return;
    }
    put_count(&d->out, d->count[CHANGE_GONE]);
    buf_puts(&d->out, " gone, ");
    put_count(&d->out, d->count[CHANGE_NEW]);
    buf_puts(&d->out, " new, ");
    put_count(&d->out, d->count[CHANGE_OTHER]);
    buf_puts(&d->out, " changed, ");
    put_count(&d->out, d->same);
    buf_puts(&d->out, " the same\n");
}

int hierarchy_cmd_diff(const struct options *o)
{
    struct hierarchy_file a = {0}, b = {0};
    int code = hierarchy_file_open("diff", o->args[1].p, &a);
    if (code == EXIT_DONE)
        code = hierarchy_file_open("diff", o->args[2].p, &b);
    if (code == EXIT_DONE) {
        struct diff d = {.o = o, .a = a.h, .b = b.h};
        d.json.out = &d.out;
        if (opt_flag(o, OPT_JSON)) {
            json_open(&d.json, '{');
            json_key(&d.json, "changes");
            json_open(&d.json, '[');
        }
        compare(&d);
        put_totals(&d);
        print_buf(&d.out);
        buf_done(&d.out);
        if (d.count[CHANGE_GONE] + d.count[CHANGE_NEW] + d.count[CHANGE_OTHER] > 0)
            code = EXIT_NO;
    }
    hierarchy_file_close(&a);
    hierarchy_file_close(&b);
    return code;
}
