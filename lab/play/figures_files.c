/* figures_files.c - figures that somebody else has counted already: the router, and the steps. */
#include <math.h>

#include "lab/play/figures_internal.h"

static void put_lateness(struct figures_run *r, const struct json_node *router)
{
    if (json_member(router, "late_p99_us")->kind != NODE_NUMBER)
        return;
    figures_put_str(r->out, "late_p99_ms", json_member_number(router, "late_p99_us") / 1000);
    figures_put_str(r->out, "late_max_ms", json_member_number(router, "late_max_us") / 1000);
    figures_put_str(r->out, "dropped", json_member_number(router, "lost") + json_member_number(router, "too_long"));
}

/* The search engine's side: all that came to hq and left it, packets whole. */
static void put_traffic(struct figures_run *r, const struct json_node *traffic)
{
    const struct json_node *hq = json_member(traffic, "hq");
    if (hq->kind != NODE_OBJECT)
        return;
    double bytes = json_member_number(hq, "bytes_in") + json_member_number(hq, "bytes_out");
    figures_put_str(r->out, "bytes_engine", bytes);
    figures_put_str(r->out, "bytes_engine_over_fetched", bytes / figures_or(r->out, "bytes_fetched", NAN));
}

status figures_of_router(struct figures_run *r)
{
    static const struct {
        const char *file;
        void (*put)(struct figures_run *r, const struct json_node *n);
    } files[] = {{"router.json", put_lateness}, {"traffic.json", put_traffic}};
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < sizeof(files) / sizeof(*files); i++) {
        struct arena a = {0};
        const struct json_node *n;
        st = figures_json(r, files[i].file, &a, &n);
        if (st == ST_OK)
            files[i].put(r, n);
        st = st == ST_NOT_FOUND ? ST_OK : st;
        arena_done(&a);
    }
    return st;
}

status figures_of_steps(struct figures_run *r)
{
    struct buf text = {0};
    struct span rest, line, name;
    size_t number = 0;
    double value;
    status st = figures_read(r, "took.tsv", &text);
    rest = buf_span(&text);
    while (st == ST_OK && span_split(&rest, '\n', &line)) {
        number++;
        if (!span_trim(line).n)
            continue;
        if (!span_split(&line, '\t', &name) || !name.n || !figures_number(line, &value)) {
            buf_printf(r->why, "%s/took.tsv:%zu: no figure", r->folder, number);
            st = ST_INVALID;
        } else
            figures_put(r->out, name, value);
    }
    buf_done(&text);
    return st;
}
