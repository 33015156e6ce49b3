/* fuzz_registry.c - any bytes as a registry file. Read whole and in pieces it says the same; a hierarchy of what it
 * says is sound, and has the smallest range of an address that the list has. */
#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "place/hierarchy.h"
#include "place/hierarchy_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANGES_MAX 200 /* compared with; more only cost time */

struct heard {
    struct buf text;
    struct hierarchy_builder *builder; /* NULL: only the text */
    struct registry_record list[RANGES_MAX];
    size_t count;
};

static void on_range(void *self, const struct registry_record *r)
{
    struct heard *h = self;
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX];
    assert(r->holder.n <= REGISTRY_HOLDER_MAX && utf8_is_valid(r->holder));
    assert(r->first.family == r->last.family && memcmp(r->first.b, r->last.b, sizeof(r->first.b)) <= 0);
    buf_printf(&h->text, "%s %s %s %d %d %.*s\n", addr_format(&r->first, first), addr_format(&r->last, last),
               r->country, (int)r->registry, (int)r->state, SPAN_ARG(r->holder));
    if (!h->builder)
        return;
    status st = hierarchy_builder_add(h->builder, r);
    assert(st == ST_OK);
    if (h->count < RANGES_MAX)
        h->list[h->count] = *r;
    h->count++;
}

static void on_organisation(void *self, struct span id, struct span name)
{
    struct heard *h = self;
    buf_printf(&h->text, "%.*s %.*s\n", SPAN_ARG(id), SPAN_ARG(name));
    if (h->builder)
        hierarchy_builder_organisation(h->builder, id, name);
}

static void on_bad(void *self, uint64_t line, const char *why)
{
    struct heard *h = self;
    buf_printf(&h->text, "%llu %s\n", (unsigned long long)line, why);
}

static void hear(struct heard *h, struct span text, size_t piece)
{
    struct registry_sink sink = {on_range, on_organisation, on_bad, h};
    struct registry_reader *r = registry_reader_new(&sink);
    for (size_t at = 0; at < text.n; at += piece)
        registry_reader_feed(r, span_cut(text, at, piece));
    status st = registry_reader_end(r);
    assert(st == ST_OK || (st == ST_UNSUPPORTED && h->count == 0));
    buf_printf(&h->text, "%s %.*s", registry_reader_format(r), SPAN_ARG(registry_reader_serial(r)));
    registry_reader_free(r);
}

static bool holds(const struct registry_record *r, const struct addr *a)
{
    return r->first.family == a->family && memcmp(r->first.b, a->b, sizeof(a->b)) <= 0 &&
           memcmp(r->last.b, a->b, sizeof(a->b)) >= 0;
}

/* No range of the list that holds the address lies inside of the one that was found. */
static void compare(const struct heard *h, const struct hierarchy *tree, const struct addr *a)
{
    struct hierarchy_node n;
    uint32_t node = hierarchy_lookup(tree, a);
    hierarchy_get(tree, node, &n);
    static const struct addr zero;
    for (size_t i = 0; i < h->count; i++) {
        const struct registry_record *r = &h->list[i];
        struct addr all = r->first;
        memset(all.b, 0xFF, all.family == 4 ? 4 : 16);
        bool is_everything = memcmp(r->first.b, zero.b, sizeof(zero.b)) == 0 && addr_eq(&r->last, &all);
        if (!holds(r, a) || is_everything)
            continue;
        assert(node != HIERARCHY_NONE);
        bool is_inside = holds(r, a) && memcmp(r->first.b, n.first.b, 16) >= 0 && memcmp(r->last.b, n.last.b, 16) <= 0;
        assert(!is_inside || (addr_eq(&r->first, &n.first) && addr_eq(&r->last, &n.last)));
    }
}

static void check_hierarchy(struct heard *h)
{
    struct buf bytes = {0};
    struct hierarchy_figures f;
    struct hierarchy *tree = NULL;
    status st = hierarchy_builder_finish(h->builder, SPAN(""), &bytes, &f);
    assert(st == ST_OK);
    st = hierarchy_open(buf_span(&bytes), &tree, NULL);
    assert(st == ST_OK);
    st = hierarchy_check(tree, NULL);
    assert(st == ST_OK);
    for (size_t i = 0; h->count <= RANGES_MAX && i < h->count; i++) {
        /* Of a v4-mapped address the IPv4 one inside is looked up. */
        struct addr first = addr_unmapped(&h->list[i].first), last = addr_unmapped(&h->list[i].last);
        if (first.family == h->list[i].first.family)
            compare(h, tree, &first);
        if (last.family == h->list[i].last.family)
            compare(h, tree, &last);
    }
    hierarchy_free(tree);
    buf_done(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of(data, size);
    struct heard whole = {.builder = hierarchy_builder_new()}, pieces = {.count = 0};
    hear(&whole, text, size ? size : 1);
    hear(&pieces, text, 1 + size % 17);
    assert(span_eq(buf_span(&whole.text), buf_span(&pieces.text)));
    check_hierarchy(&whole);
    hierarchy_builder_free(whole.builder);
    buf_done(&whole.text);
    buf_done(&pieces.text);
    return 0;
}
