/* looks.c - lies about distance: one in twenty networks that an agent won is measured from another agent too. */
#include "coord/agents.h"
#include "coord/placing.h"
#include "coord/trust.h"
#include "io/clock.h"
#include "plan/sanity.h"

/* Those on probation only where there is nobody else. */
static struct c_agent *looker(struct coord *c, const struct c_network *n)
{
    for (int is_new = 0; is_new <= 1; is_new++) {
        size_t count = 0, at;
        for (size_t i = 0; i < c->agent_count; i++) {
            const struct c_agent *a = c->agents[i];
            count +=
                a && a->number != n->agent && a->is_told_open && !a->is_told_asleep && is_new == !!a->probation_left;
        }
        if (!count)
            continue;
        at = sanity_looker(&c->key, &n->network, n->agent, count);
        for (size_t i = 0; i < c->agent_count; i++) {
            struct c_agent *a = c->agents[i];
            if (a && a->number != n->agent && a->is_told_open && !a->is_told_asleep && is_new == !!a->probation_left &&
                at-- == 0)
                return a;
        }
    }
    return NULL;
}

void looks_won(struct coord *c, struct c_network *n)
{
    const struct delegate_probe *own = placing_probe_of(n, n->agent);
    if (n->looked == n->agent || n->is_replicated || !own || own->ms < 0 ||
        !sanity_wants_look(&c->key, &n->network, n->agent))
        return;
    struct c_agent *a = looker(c, n);
    if (!a)
        return;
    n->looked = n->agent;
    placing_look(c, n, a);
}

static struct sanity_report report_of(const struct coord *c, const struct c_agent *a, const struct delegate_probe *p)
{
    return (struct sanity_report){.agent = p->agent,
                                  .ms = p->ms,
                                  .reached = p->reached,
                                  .has_spot = a->has_place,
                                  .spot = {(float)a->latitude, (float)a->longitude},
                                  .is_trusted = !a->probation_left};
}

static double between(const struct c_agent *a, const struct c_agent *b)
{
    for (size_t i = 0; i < a->rtt_count; i++)
        if (a->rtts[i].agent == b->number)
            return a->rtts[i].us / 1000.0;
    return -1;
}

void looks_result(struct coord *c, struct c_network *n, const struct delegate_probe *p)
{
    struct c_agent *a = agent_get(c, n->agent), *by = agent_get(c, p->agent);
    const struct delegate_probe *own = placing_probe_of(n, n->agent);
    if (!a || !by || !own || n->looked != n->agent)
        return;
    struct sanity_second s = {.claim = report_of(c, a, own),
                              .look = report_of(c, by, p),
                              .between_ms = between(a, by) >= 0 ? between(a, by) : between(by, a),
                              .is_replicated = n->is_replicated};
    sanity_look look = sanity_judge_look(c->hierarchy, &s);
    if (look == LOOK_UNSURE)
        return;
    a->looks_good += look == LOOK_GOOD;
    a->looks_bad += look == LOOK_BAD;
    a->is_dirty = true;
    if (look == LOOK_GOOD)
        return;
    if (agent_may_be_logged(a))
        log_write(c->o.log, LOG_WARN, "trust", "a round trip that cannot be agent=%s network=%s ms=%.1f by=%s ms=%.1f",
                  a->name, n->text, own->ms, by->name, p->ms);
    if (sanity_is_liar(a->looks_good, a->looks_bad))
        trust_demote(c, a, "the round trips that it claims cannot be");
}
