/* explain_changes.c - what would make another agent have a network, in sentences. They say what placing.c, assign.c and
 * plan/calibrate.h do. */
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/explain.h"
#include "coord/pinning.h"
#include "io/clock.h"

#define ASLEEP_SHOWN 4

static const char *name_of(struct coord *c, uint64_t agent)
{
    const struct c_agent *a = agent_get(c, agent);
    return a ? a->name : "its agent";
}

static void put_ms(struct buf *out, double ms)
{
    buf_printf(out, ms < 100 ? "%.1f ms" : "%.0f ms", ms);
}

static void put_span_of_time(struct buf *out, int64_t ms)
{
    if (ms % 3600000 == 0)
        buf_printf(out, "%lld h", (long long)(ms / 3600000));
    else if (ms % 60000 == 0)
        buf_printf(out, "%lld min", (long long)(ms / 60000));
    else
        buf_printf(out, "%.0f s", (double)ms / 1000);
}

static void put_times(struct buf *out, unsigned times)
{
    static const char *const words[] = {"never", "once", "twice in a row", "three times in a row",
                                        "four times in a row"};
    if (times < sizeof(words) / sizeof(*words))
        buf_puts(out, words[times]);
    else
        buf_printf(out, "%u times in a row", times);
}

/* "tokyo (12.5 ms guessed)" */
static void put_other(struct coord *c, const struct delegate_estimate *e, struct buf *out)
{
    buf_printf(out, "%s (", name_of(c, e->agent));
    put_ms(out, e->ms);
    buf_puts(out, e->is_measured ? " measured)" : " guessed)");
}

static void say_longer_path(struct coord *c, const struct c_network *n, const struct delegate_estimate *others,
                            size_t count, struct buf *out)
{
    const struct calibrate_opts *o = &c->o.calibrate;
    bool is_papers = o->rule == CALIBRATE_PAPERS;
    double base = (double)n->calibration.base_ms, limit = calibrate_limit_ms(o, base), floor = calibrate_floor_ms(o);
    if (!(base > 0)) {
        buf_printf(out, "%s from %s grow, once they are known\n", is_papers ? "whole requests" : "round trips",
                   name_of(c, n->agent));
        return;
    }
    buf_printf(out, "%s from %s above ", is_papers ? "whole requests" : "paths", name_of(c, n->agent));
    put_ms(out, limit);
    buf_putc(out, ' ');
    put_times(out, calibrate_times(o));
    if (limit > base + floor)
        buf_printf(out, " (%g times ", limit / base);
    else
        buf_printf(out, " (%g ms more than ", floor);
    put_ms(out, base);
    buf_putc(out, ')');
    if (count && !is_papers && limit > floor) {
        bool is_near = others[0].ms < limit - floor;
        buf_puts(out, ": then whoever is measured below ");
        put_ms(out, limit - floor);
        buf_puts(out, is_near ? ", perhaps " : "; the next nearest, ");
        put_other(c, &others[0], out);
        buf_puts(out, is_near ? "" : ", is not");
    }
    if (n->calibration.quiet_until > clock_wall()) {
        buf_puts(out, "; not in the next ");
        put_span_of_time(out, (n->calibration.quiet_until - clock_wall() + 59999) / 60000 * 60000);
    }
    buf_putc(out, '\n');
}

static void say_asleep(struct coord *c, struct buf *out)
{
    unsigned shown = 0;
    for (size_t i = 0; i < c->agent_count && shown <= ASLEEP_SHOWN; i++) {
        const struct c_agent *a = c->agents[i];
        if (!a || !a->is_joined || agent_is_in_hours(a, clock_wall()))
            continue;
        if (shown == ASLEEP_SHOWN)
            buf_puts(out, " and others");
        else
            buf_printf(out, "%s%s", shown ? ", " : "an agent that sleeps now wakes: ", a->name);
        shown++;
    }
    if (shown)
        buf_putc(out, '\n');
}

void explain_changes(struct coord *c, const struct c_network *n, const struct delegate_estimate *others, size_t count,
                     struct buf *out)
{
    int64_t silence = c->o.move_after_ms ? c->o.move_after_ms : COORD_MOVE_AFTER_MS;
    delegate_strategy strategy = c->o.strategy ? c->o.strategy : DELEGATE_LEARNED;
    uint64_t pinned = assign_pinned(c, n);
    const char *own = name_of(c, n->agent);
    if (n->state == NETWORK_LEAVING) {
        buf_printf(out, "it moves as soon as %s has stopped, or its lease is over\n", own);
        return;
    }
    if (pinned)
        buf_printf(out, "the channel that is pinned to %s gets another agent, or goes\n", name_of(c, pinned));
    else if (n->is_fixed)
        buf_puts(out, "it stays where a person put it\n");
    else if (n->is_trial)
        buf_printf(out, "the first round trip that %s reports: it has it on trial\n", own);
    else if (n->is_doubted)
        buf_printf(out, "it is being decided anew: %u probes are under way\n", n->waiting);
    else if (strategy != DELEGATE_HASH && strategy != DELEGATE_RANDOM)
        say_longer_path(c, n, others, count, out);
    if (n->is_provisional && !pinned && !n->is_fixed)
        say_asleep(c, out);
    buf_printf(out, "%s leaves, is full, or is not heard for ", own);
    put_span_of_time(out, silence);
    buf_puts(out, " in its hours");
    if (count) {
        buf_puts(out, ": then ");
        put_other(c, &others[0], out);
    }
    buf_putc(out, '\n');
    const struct pin *line = pinning_of(c, n);
    if (line)
        buf_printf(out, "the line that says who may have it goes (orb network unpin): %.*s\n",
                   SPAN_ARG(pin_text(line)));
    buf_printf(out, "a person moves it (orb network move %s AGENT)%s\n", n->text,
               pinned ? "" : ", or pins a channel in it to another agent");
}
