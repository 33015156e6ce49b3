/* explain_folder.c - what a coordinator's folder alone says of a URL, while no coordinator runs on it. */
#include <errno.h>

#include "base/mem.h"
#include "coord/channels.h"
#include "coord/explain.h"
#include "coord/networks.h"

status coord_explain_folder(const char *data_dir, struct span url, struct buf *json, struct buf *why)
{
    struct coord *c = mem_alloc(sizeof(*c));
    struct buf path = {0};
    struct arena a;
    struct url u;
    struct addr addr;
    arena_init(&a);
    pthread_mutex_init(&c->lock, NULL);
    pthread_rwlock_init(&c->id_lock, NULL);
    c->data_dir = mem_str(span_str(data_dir));
    c->o.data_dir = c->data_dir;
    buf_printf(&path, "%s/hierarchy", data_dir);
    c->hierarchy_path = mem_str(buf_span(&path));
    status st = explain_parse(&a, url, &u);
    if (st != ST_OK)
        buf_puts(why, "not an http or https URL");
    if (st == ST_OK)
        st = fleet_open(data_dir, &c->fleet, why);
    if (st == ST_OK)
        st = records_load(c, why);
    if (st == ST_OK) {
        struct json j = {.out = json};
        struct buf ignored = {0};
        channels_index(c);
        networks_index(c);
        if (networks_open_hierarchy(c, &ignored) != ST_OK) { /* damaged: all else is as good */
            c->hierarchy = NULL;
            c->hierarchy_map = NULL;
        }
        (void)explain_address(c, &u, &addr);
        explain_put(c, &u, &addr, &j);
        buf_done(&ignored);
    }
    if (st != ST_OK && !why->n)
        buf_puts(why, st == ST_IO ? strerror(errno) : status_name(st));
    coord_free(c);
    buf_done(&path);
    arena_done(&a);
    return st;
}
