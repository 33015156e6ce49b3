/* cmd_world.c - `orb world`: makes worlds for simulation and the lab, and tells what is in one. */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/sim_setup.h"
#include "codec/json.h"
#include "sim/tree.h"
#include "sim/world.h"
#include "sim/world_make.h"

static void put_made(const struct world_make_opts *w, const struct world_make_figures *f, const char *dir, bool is_json,
                     struct buf *out)
{
    if (is_json) {
        struct json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "world");
        json_str(&j, dir);
        const struct {
            const char *name;
            uint64_t value;
        } counts[] = {{"agents", w->agents},  {"sites", w->sites},       {"seed", w->seed},      {"places", f->places},
                      {"networks", f->plots}, {"sites_ipv6", f->sites6}, {"anycast", f->anycast}};
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
            json_key(&j, counts[i].name);
            json_u64(&j, counts[i].value);
        }
        json_key(&j, "model");
        json_bool(&j, f->has_model);
        json_close(&j, '}');
        buf_putc(out, '\n');
        return;
    }
    buf_printf(out, "%s: ", dir);
    put_count(out, w->agents);
    buf_puts(out, " agents and ");
    put_count(out, w->sites);
    buf_puts(out, " sites (");
    put_count(out, f->sites6);
    buf_puts(out, " with IPv6, ");
    put_count(out, f->anycast);
    buf_puts(out, " anycast) at ");
    put_count(out, f->places);
    buf_puts(out, " places in ");
    put_count(out, f->plots);
    buf_printf(out, " networks; round trips %s\n", f->has_model ? "by model.tsv" : "in rtt.tsv");
}

static int make(const struct options *o)
{
    struct cities cities = {0};
    struct tree *tree = NULL;
    struct buf why = {0}, out = {0};
    struct world_make_figures figures;
    const char *dir = opt_cstr(o, OPT_OUTPUT), *networks = opt_cstr(o, OPT_NETWORKS);
    if (!dir)
        return complain(EXIT_USAGE, "world make: where to? give -o DIR");
    if (opt_is_set(o, OPT_MATRIX) && opt_is(o, OPT_MODEL, "geo") && o->v[OPT_MODEL].source == FROM_FLAG)
        return complain(EXIT_USAGE, "world make: --model and --matrix contradict each other: give one of them");
    struct world_make_opts w = {.seed = (uint64_t)opt_number(o, OPT_SEED),
                                .agents = (size_t)opt_number(o, OPT_WORLD_AGENTS),
                                .sites = (size_t)opt_number(o, OPT_SITES),
                                .cities = &cities,
                                .matrix = opt_cstr(o, OPT_MATRIX),
                                .nodes = opt_cstr(o, OPT_NODES),
                                .tell = sim_progress,
                                .arg = (void *)(uintptr_t) "orb world: sites"};
    if (w.sites == 0)
        w.sites = 1000;
    status st = cities_read(cities_text(), &cities);
    if (st == ST_OK && networks)
        st = tree_open(networks, &tree, &why);
    w.hierarchy = tree_hierarchy(tree);
    if (st == ST_OK)
        st = world_make(&w, dir, &figures, &why);
    sim_progress_end();
    int code = EXIT_DONE;
    if (st == ST_OK) {
        put_made(&w, &figures, dir, opt_flag(o, OPT_JSON), &out);
        print_buf(&out);
    } else
        code = complain(st == ST_EXISTS ? EXIT_INPUT : exit_code_of(st), "world make: %s",
                        why.n ? buf_cstr(&why) : status_name(st));
    tree_free(tree);
    cities_done(&cities);
    buf_done(&why);
    buf_done(&out);
    return code;
}

int cmd_world(const struct options *o)
{
    if (span_is(o->args[0], "make"))
        return make(o);
    return complain(EXIT_USAGE, "world: make is the only verb: see orb help world");
}
