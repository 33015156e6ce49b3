/* player_end.c - the end of a run: what figures are made of is gathered, and everybody ends. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/play/player_internal.h"
#include "store/file.h"

#define AGENTS_END_MS 30000 /* they send what they have */
#define OTHERS_END_MS 20000
#define HURRY_MS 1000
#define APPLY_MS 30000 /* the coordinator takes in what came */
#define CALM_LOOKS 3   /* so often in a row nothing waits */

/* ---- while everybody runs ---- */

static status write_file(struct play *p, const char *name, struct buf *text)
{
    if (text->n && text->p[text->n - 1] != '\n')
        buf_putc(text, '\n');
    status st = file_replace(play_path(p, name), buf_span(text));
    return st == ST_OK ? st : play_fail(p, ST_IO, "write %s: %s", name, strerror(errno));
}

/* One that does not answer, or does not know the order, leaves its file out. */
static status save_answer(struct play *p, const char *target, const char *file)
{
    const struct json_node *answer;
    struct buf raw = {0};
    status st = play_ask(p, target, &raw, &answer) == ST_OK ? write_file(p, file, &raw) : ST_OK;
    buf_done(&raw);
    return st;
}

static status save_order(struct play *p, const char *order, const char *file)
{
    struct buf path = {0}, answer = {0};
    const char *box = getenv(BOX_FOLDER_VARIABLE);
    buf_printf(&path, "%s/%s", box ? box : "", ORDERS_SOCKET);
    status st = play_tell(buf_cstr(&path), span_str(order), &answer) == ST_OK ? write_file(p, file, &answer) : ST_OK;
    buf_done(&path);
    buf_done(&answer);
    return st;
}

static status gather(struct play *p)
{
    struct buf answer = {0};
    status st = ST_OK;
    if (p->servers.is_wanted && play_tell(play_servers_socket(p), SPAN("flush"), &answer) != ST_OK)
        play_say(p, "the servers do not take orders: the ledger may lack its end");
    buf_done(&answer);
    if (p->run->crawler == CRAWLER_FLEET)
        st = save_answer(p, "/api/v1/networks", "networks.json");
    if (st == ST_OK && p->run->crawler == CRAWLER_FLEET)
        st = save_answer(p, "/api/v1/agents", "agents.json");
    if (st == ST_OK)
        st = save_order(p, "stats", "router.json");
    return st == ST_OK ? save_order(p, "traffic", "traffic.json") : st;
}

/* ---- ending ---- */

static size_t end_agents(struct play *p, int64_t grace_ms)
{
    struct process **list = mem_alloc((p->agent_count + 1) * sizeof(struct process *));
    for (size_t i = 0; i < p->agent_count; i++) {
        list[i] = &p->agents[i].actor.process;
        p->agents[i].actor.is_wanted = false;
    }
    size_t killed = process_end(list, p->agent_count, grace_ms);
    free(list);
    return killed;
}

static void end_others(struct play *p, int64_t grace_ms)
{
    struct process *list[] = {&p->coordinator.process, &p->servers.process};
    p->coordinator.is_wanted = p->servers.is_wanted = false;
    process_end(list, 2, grace_ms);
}

/* Packages that came are on its disk; pages are what it makes of them. */
static status wait_for_applying(struct play *p)
{
    mono_ms deadline = clock_mono() + APPLY_MS;
    const struct json_node *answer;
    status st = ST_OK;
    for (unsigned calm = 0; st == ST_OK && calm < CALM_LOOKS && clock_mono() < deadline;) {
        st = play_pause(p, PLAY_STEP_MS);
        if (st != ST_OK || play_ask(p, "/api/v1/overview", NULL, &answer) != ST_OK)
            break;
        calm = json_member_number(json_member(answer, "ingest"), "waiting") > 0 ? 0 : calm + 1;
    }
    return st;
}

static status export_pages(struct play *p)
{
    struct args args = {0};
    args_adds(&args, p->orb, "export", "--data", p->data, "--states");
    unlink(play_path(p, "pages.jsonl"));
    status st = play_command(p, &args, "pages.jsonl", "export.err", PLAY_COMMAND_MS);
    args_done(&args);
    return st;
}

/* ---- the same in simulation ---- */

/* Those of the coordinator's options that decide who gets what. */
static void add_strategy(const struct words *from, struct args *to)
{
    static const char *const names[] = {"--strategy", "--threshold",   "--same-holder",       "--cost",
                                        "--balance",  "--calibration", "--calibration-factor"};
    for (size_t i = 0; i < from->n; i++) {
        size_t equal = span_find(from->w[i], '=', 0);
        struct span name = span_cut(from->w[i], 0, equal);
        bool is_known = false;
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
            is_known |= span_is(name, names[k]);
        if (!is_known)
            continue;
        args_add(to, from->w[i]);
        if (equal == from->w[i].n && i + 1 < from->n)
            args_add(to, from->w[++i]);
    }
}

/* "agents=4" of the world's line is the first four, here as there; of a world that is made it is "first=4". */
static void add_part(const struct words *world, struct args *to)
{
    static const struct {
        struct span key;
        const char *option;
    } parts[] = {{SPAN_INIT("first="), "--first-agents"},
                 {SPAN_INIT("agents="), "--first-agents"},
                 {SPAN_INIT("sites="), "--first-sites"}};
    bool is_made = world->n > 0 && span_is(world->w[0], "make");
    for (size_t i = 1; i < world->n; i++) {
        for (size_t k = is_made ? 0 : 1; k < (is_made ? 1 : 3); k++) {
            if (!span_starts(world->w[i], parts[k].key))
                continue;
            args_adds(to, parts[k].option);
            args_add(to, span_from(world->w[i], parts[k].key.n));
        }
    }
}

static status simulate(struct play *p)
{
    struct args args = {0};
    if (p->run->crawler != CRAWLER_FLEET || access(play_path(p, "world"), F_OK) != 0)
        return ST_OK;
    char arrive[32];
    /* All at once is as many as there are; our round trips have next to no noise. */
    snprintf(arrive, sizeof(arrive), "%.6g", p->run->arrive > 0 ? 100 * p->run->arrive : 100.0 * LAB_SITES_MAX);
    args_adds(&args, p->orb, "sim", "delegate", "--world", "world", "--json", "--noise", "0", "--arrive", arrive);
    if (play_write_order(p) == ST_OK)
        args_adds(&args, "--order", "order");
    if (p->hierarchy[0])
        args_adds(&args, "--hierarchy", p->hierarchy);
    add_strategy(&p->run->coordinator, &args);
    add_part(&p->run->world, &args);
    for (size_t i = 0; i < p->run->variable_count; i++) {
        if (!span_is(p->run->variables[i].name, "repeat"))
            continue;
        args_adds(&args, "--seed");
        args_add(&args, p->run->variables[i].value);
    }
    unlink(play_path(p, "sim.json"));
    status st = play_command(p, &args, "sim.json", "sim.err", PLAY_COMMAND_MS);
    args_done(&args);
    return st;
}

/* ---- all of it ---- */

static status end_well(struct play *p)
{
    bool has_data = p->run->crawler != CRAWLER_NONE;
    status st = gather(p);
    size_t killed = end_agents(p, AGENTS_END_MS);
    if (killed) {
        play_note(p, "events.tsv", "%.3f\t%zu agents did not end and were killed\n", play_since_begin(p), killed);
        play_say(p, "%zu agents did not end and were killed", killed);
    }
    if (st == ST_OK && p->run->crawler == CRAWLER_FLEET)
        st = wait_for_applying(p);
    if (st == ST_OK && has_data)
        st = export_pages(p);
    end_others(p, OTHERS_END_MS);
    return st == ST_OK ? simulate(p) : st;
}

status play_end(struct play *p, bool is_good)
{
    status st = ST_OK;
    p->step = NULL;
    if (is_good)
        st = end_well(p);
    else
        st = gather(p); /* for whoever looks for the reason */
    end_agents(p, HURRY_MS);
    end_others(p, HURRY_MS);
    if (p->is_hierarchy_of_run)
        unlink(p->hierarchy);
    return st;
}
