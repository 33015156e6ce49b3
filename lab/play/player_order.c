/* player_order.c - in which order the coordinator met the sites, for a simulator that is to meet them likewise: what is
 * probed depends on who came first. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/json_tree.h"
#include "lab/play/player_internal.h"
#include "store/file.h"

struct met {
    double at;
    size_t place; /* in the answer: what came in the same millisecond stays in its order */
    struct span host;
};

static int by_time(const void *a, const void *b)
{
    const struct met *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static size_t collect(const struct json_node *networks, struct met **out)
{
    size_t n = 0, cap = 0;
    for (const struct json_node *net = json_member(networks, "networks")->children; net; net = net->next)
        for (const struct json_node *name = json_member(net, "names")->children; name; name = name->next) {
            *out = mem_grow(*out, &cap, n + 1, sizeof(**out));
            (*out)[n] = (struct met){.at = json_member_number(net, "met"), .place = n, .host = name->text};
            n++;
        }
    return n;
}

status play_write_order(struct play *p)
{
    struct arena a = {0};
    struct buf text = {0};
    struct met *met = NULL;
    const struct json_node *networks;
    status st = file_read(play_path(p, "networks.json"), JSON_TREE_BYTES_MAX, &text);
    if (st == ST_OK)
        st = json_tree(&a, buf_span(&text), &networks);
    if (st == ST_OK) {
        size_t n = collect(networks, &met);
        if (n)
            qsort(met, n, sizeof(*met), by_time);
        buf_clear(&text);
        for (size_t i = 0; i < n; i++)
            buf_printf(&text, "%.*s\n", SPAN_ARG(met[i].host));
        st = file_replace(play_path(p, "order"), buf_span(&text));
    }
    free(met);
    buf_done(&text);
    arena_done(&a);
    return st;
}
