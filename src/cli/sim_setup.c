#include "cli/sim_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/strategy_opts.h"
#include "sim/tsv.h"

/* ---- progress ---- */

void sim_progress(void *arg, size_t done, size_t of)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s %zu of %zu (%.0f %%)", (const char *)arg, done, of,
                of ? 100.0 * (double)done / (double)of : 100.0);
}

void sim_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* ---- opening ---- */

int sim_setup_open(const struct options *o, const char *what, const char *dir, struct sim_setup *out)
{
    struct sim_setup s = {0};
    struct buf why = {0};
    const char *networks = opt_cstr(o, OPT_HIERARCHY);
    if (!networks)
        networks = opt_cstr(o, OPT_NETWORKS);
    status st = ST_OK;
    if (dir)
        st = world_load_part(dir, (size_t)opt_number(o, OPT_FIRST_SITES), &s.world, &why);
    if (st == ST_OK && dir && opt_number(o, OPT_FIRST_AGENTS) > 0)
        world_keep_agents(s.world, (size_t)opt_number(o, OPT_FIRST_AGENTS));
    if (st == ST_OK && dir && !networks)
        networks = world_networks(s.world);
    if (st == ST_OK && networks && networks[0])
        st = tree_open(networks, &s.tree, &why);
    if (st == ST_OK)
        st = cities_read(cities_text(), &s.cities);
    int code = EXIT_DONE;
    if (st == ST_OK)
        *out = s;
    else {
        code = complain(st == ST_NOT_FOUND ? EXIT_INPUT : exit_code_of(st), "%s: %s", what,
                        why.n ? buf_cstr(&why) : status_name(st));
        sim_setup_done(&s);
    }
    buf_done(&why);
    return code;
}

void sim_setup_done(struct sim_setup *s)
{
    tree_free(s->tree);
    world_free(s->world);
    cities_done(&s->cities);
    free(s->order);
    *s = (struct sim_setup){0};
}

/* ---- options of a run ---- */

/* "1.2": in fair shares of the whole load; "500M": bytes a day. */
static int take_capacity(const struct options *o, const char *what, struct delegate_run_opts *out)
{
    struct span text = opt_text(o, OPT_CAPACITY);
    double v, times = 0;
    if (!opt_is_set(o, OPT_CAPACITY))
        return EXIT_DONE;
    char last = text.n ? ascii_lower(text.p[text.n - 1]) : '\0';
    if (last == 'k' || last == 'm' || last == 'g') {
        times = last == 'k' ? 1e3 : last == 'm' ? 1e6 : 1e9;
        text.n--;
    }
    if (!text_real(text, &v) || !(v > 0) || (times == 0 && v > 1000))
        return complain(EXIT_USAGE,
                        "%s: --capacity: \"%s\" is neither a share such as 1.2 nor bytes a day such as 500M", what,
                        opt_cstr(o, OPT_CAPACITY) ? opt_cstr(o, OPT_CAPACITY) : "");
    if (times > 0)
        out->capacity_bytes = v * times;
    else
        out->capacity_share = v;
    return EXIT_DONE;
}

/* Sites by their hosts, each once. */
static int take_order(const struct options *o, const char *what, struct sim_setup *s)
{
    const char *path = opt_cstr(o, OPT_ORDER);
    struct buf text = {0};
    struct table by_host = {0};
    const struct sip_key key = {0};
    size_t all = world_site_count(s->world);
    int code = path ? read_input(what, path, &text) : EXIT_DONE;
    if (!path || code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < all; i++)
        table_put(&by_host, siphash(&key, world_site(s->world, i)->host), (void *)(i + 1));
    free(s->order);
    s->order = mem_alloc(all * sizeof(*s->order));
    s->order_count = 0;
    struct span rest = buf_span(&text), line;
    while (code == EXIT_DONE && span_split(&rest, '\n', &line)) {
        line = span_trim(line);
        uintptr_t at = line.n ? (uintptr_t)table_get(&by_host, siphash(&key, line)) : 0;
        if (at && span_eq(world_site(s->world, at - 1)->host, line)) {
            s->order[s->order_count++] = (uint32_t)(at - 1);
            table_remove(&by_host, siphash(&key, line));
        } else if (line.n) {
            code = complain(EXIT_INPUT, "%s: --order %s: no site \"%.*s\", or it is there twice", what, path,
                            SPAN_ARG(line));
        }
    }
    table_done(&by_host);
    buf_done(&text);
    return code;
}

static bool has_v6(const struct world *w)
{
    for (size_t i = 0; i < world_site_count(w); i++)
        if (world_site(w, i)->addr6.family)
            return true;
    return false;
}

int sim_setup_run(const struct options *o, const char *what, struct sim_setup *s, struct delegate_run_opts *out)
{
    double noise = -100, arrive = 0;
    struct strategy_opts strategy = {0};
    *out = (struct delegate_run_opts){.delegator = {.hierarchy = tree_hierarchy(s->tree), .cities = &s->cities},
                                      .ground = {.spike_every = GROUND_SPIKE_EVERY, .spike_ms = GROUND_SPIKE_MS},
                                      .seed = (uint64_t)opt_number(o, OPT_SEED),
                                      .sites = (size_t)opt_number(o, OPT_SITES),
                                      .days = (unsigned)opt_number(o, OPT_DAYS)};
    int code = strategy_opts_read(o, what, &strategy);
    if (code == EXIT_DONE)
        code = take_real(o, what, OPT_NOISE, 0, 100, &noise);
    if (code == EXIT_DONE)
        code = take_real(o, what, OPT_ARRIVE, 0, 1e9, &arrive);
    out->arrive = arrive / 100;
    if (code == EXIT_DONE)
        code = take_order(o, what, s);
    out->met = s->order;
    out->met_count = s->order_count;
    if (code == EXIT_DONE && !strategy.no_balance)
        code = take_capacity(o, what, out);
    out->delegator.strategy = strategy.strategy;
    out->delegator.threshold_ms = strategy.threshold_ms;
    out->delegator.cost_ms = strategy.cost_ms;
    out->delegator.same_holder = strategy.same_holder;
    out->balance = strategy.balance;
    out->calibration = strategy.calibrate;
    out->ground.noise = noise / 100;
    if (noise == 0)
        out->ground.spike_every = 0; /* none at all */
    out->ground.samples = (unsigned)opt_number(o, OPT_SIM_SAMPLES);
    out->has_drift = opt_is_set(o, OPT_DRIFT);
    bool is_good = sites_family_parse(opt_text(o, OPT_FAMILY), &out->family);
    if (out->has_drift)
        is_good = is_good && drift_parse(opt_text(o, OPT_DRIFT), &out->ground.drift);
    if (code == EXIT_DONE && out->family == SITES_V6 && !has_v6(s->world))
        code = complain(EXIT_USAGE, "%s: --family 6: no site of this world has an IPv6 address", what);
    if (code == EXIT_DONE && !is_good)
        code = complain(EXIT_INTERNAL, "%s: an option has a name that nobody knows", what);
    return code;
}
