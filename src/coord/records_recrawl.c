/* records_recrawl.c - what was learned of channels, and the visits under way, as records of the fleet store. Times in
 * them are the wall's. */
#include <math.h>

#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/recrawling_internal.h"
#include "wire/fields.h"

#define RECORD_NAME "recrawl"

/* Tags are for good; a new field gets a new one. */
enum {
    R_VISITED = 1,
    R_ASKED,
    R_CHANGES,
    R_TIME,
    R_COST,
    R_RANK,
    R_SUBMISSIONS,
    R_SUCCESSES,
    R_UPDATES,
    R_INLINKS,
    R_VISIT,
    R_UNDER_WAY,
    R_TASK,
    R_LAST,
    R_CARRY,
    R_LOSSES,
};
enum { S_STRATEGY = 1, S_OFF, S_CHANGES, S_TIME, S_EPOCH };

/* ---- a channel ---- */

void save_recrawl(struct coord *c, const struct c_channel *ch)
{
    const struct recrawling *p = c->recrawling;
    const struct c_recrawl *r = &ch->recrawl;
    const struct recrawl_history *h = &r->plan.history;
    struct fleet_number key = fleet_number(ch->id);
    struct buf b = {0}, last = {0};
    field_i64(&b, R_VISITED, plan_wall(p, h->visited));
    field_i64(&b, R_ASKED, plan_wall(p, h->asked));
    field_real(&b, R_CHANGES, (double)h->rate.changes);
    field_real(&b, R_TIME, (double)h->rate.time);
    field_real(&b, R_COST, h->cost_ms);
    field_u64_if(&b, R_RANK, h->rank);
    field_u64_if(&b, R_SUBMISSIONS, h->submissions);
    field_u64_if(&b, R_SUCCESSES, h->updates);
    field_u64_if(&b, R_UPDATES, r->updates);
    field_u64_if(&b, R_INLINKS, r->inlinks);
    field_u64_if(&b, R_VISIT, r->visit);
    if (r->asked) {
        field_i64(&b, R_UNDER_WAY, r->asked);
        for (size_t i = 0; i < ch->task_count; i++)
            if (ch->tasks[i]->visit)
                field_u64(&b, R_TASK, ch->tasks[i]->number);
    }
    if (r->last.number) {
        visit_report_pack(&r->last, &last);
        field_text(&b, R_LAST, buf_span(&last));
    }
    field_real(&b, R_CARRY, (double)r->carry);
    field_u64_if(&b, R_LOSSES, r->losses);
    note_trouble(c, fleet_put(c->fleet, FLEET_RECRAWL, span_of(key.b, sizeof(key.b)), buf_span(&b)),
                 "write down what was learned of a channel");
    buf_done(&b);
    buf_done(&last);
}

void forget_recrawl(struct coord *c, const struct c_channel *ch)
{
    struct fleet_number key = fleet_number(ch->id);
    note_trouble(c, fleet_remove(c->fleet, FLEET_RECRAWL, span_of(key.b, sizeof(key.b))),
                 "forget what was learned of a channel");
}

static float real_of(struct span v)
{
    double d = value_real(v);
    return d > 0 && d < 1e30 ? (float)d : 0;
}

/* Marked: visits_restore() counts it. */
static void await_task(struct coord *c, const struct c_channel *ch, uint64_t number)
{
    struct c_task *t = task_get(c, number);
    if (t && t->channel == ch && !t->is_ended)
        t->visit = 1;
}

static status load_recrawl(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    struct c_channel *ch = channel_get(c, fleet_number_of(key));
    struct fields f = fields_of(packed);
    struct span v;
    unsigned tag;
    if (!ch)
        return ST_OK; /* removed just before a kill */
    struct c_recrawl *r = &ch->recrawl;
    struct recrawl_history *h = &r->plan.history;
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case R_VISITED:
            h->visited = value_i64(v) > 0 ? plan_time(c->recrawling, value_i64(v)) : 0;
            break;
        case R_ASKED:
            h->asked = value_i64(v) > 0 ? plan_time(c->recrawling, value_i64(v)) : 0;
            break;
        case R_CHANGES:
            h->rate.changes = real_of(v);
            break;
        case R_TIME:
            h->rate.time = real_of(v);
            break;
        case R_COST:
            h->cost_ms = (double)real_of(v);
            break;
        case R_RANK:
            h->rank = value_u64(v) < RECRAWL_RANKS ? (unsigned)value_u64(v) : RECRAWL_RANKS - 1;
            break;
        case R_SUBMISSIONS:
            h->submissions = (uint32_t)value_u64(v);
            break;
        case R_SUCCESSES:
            h->updates = (uint32_t)value_u64(v);
            break;
        case R_UPDATES:
            r->updates = (uint32_t)value_u64(v);
            break;
        case R_INLINKS:
            r->inlinks = value_u64(v);
            break;
        case R_VISIT:
            r->visit = value_u64(v);
            break;
        case R_UNDER_WAY:
            r->asked = value_i64(v);
            break;
        case R_TASK:
            await_task(c, ch, value_u64(v));
            break;
        case R_LAST:
            if (visit_report_unpack(v, &r->last) != ST_OK)
                r->last = (struct visit_report){0};
            break;
        case R_CARRY:
            r->carry = (float)fmin(fmax(value_real(v), -1), 1);
            break;
        case R_LOSSES:
            r->losses = (unsigned)value_u64(v);
            break;
        default:
            break; /* of a newer version */
        }
    }
    r->now = (struct visit_report){.number = r->visit};
    return fields_bad(&f) ? ST_CORRUPT : ST_OK;
}

status load_recrawls(struct coord *c)
{
    return fleet_each(c->fleet, FLEET_RECRAWL, load_recrawl, c);
}

/* ---- all of them ---- */

void save_recrawling(struct coord *c)
{
    const struct recrawling *p = c->recrawling;
    struct buf b = {0};
    field_str(&b, S_STRATEGY, recrawl_strategy_name(p->strategy));
    field_u64_if(&b, S_OFF, p->is_off);
    field_real(&b, S_CHANGES, p->state.prior.changes);
    field_real(&b, S_TIME, p->state.prior.time);
    field_i64(&b, S_EPOCH, p->epoch);
    note_trouble(c, fleet_put(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), buf_span(&b)),
                 "write down how channels are kept fresh");
    buf_done(&b);
}

void load_recrawling(struct coord *c, struct change_prior *prior)
{
    struct recrawling *p = c->recrawling;
    struct change_prior read = {0};
    struct buf b = {0};
    struct span v;
    unsigned tag;
    status st = fleet_get(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), &b);
    struct fields f = fields_of(buf_span(&b));
    while (st == ST_OK && fields_next(&f, &tag, &v)) {
        if (tag == S_STRATEGY && !recrawl_strategy_parse(v, &p->strategy))
            log_write(c->o.log, LOG_WARN, "recrawl", "a strategy of a newer version: greedy goes on");
        else if (tag == S_OFF)
            p->is_off = value_u64(v) != 0;
        else if (tag == S_CHANGES)
            read.changes = (double)real_of(v);
        else if (tag == S_TIME)
            read.time = (double)real_of(v);
        else if (tag == S_EPOCH)
            p->epoch = value_i64(v);
    }
    if (read.changes > 0 && read.time > 0)
        *prior = read;
    if (st != ST_NOT_FOUND)
        note_trouble(c, st, "read how channels are kept fresh");
    buf_done(&b);
}
