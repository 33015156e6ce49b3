/* admin_near_json.c - GET /api/v1/near: what the page of nearness shows, for programs. */
#include "coord/admin_near.h"
#include "coord/agents.h"
#include "coord/diary.h"
#include "io/clock.h"

#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)

static void put_ms(struct json *j, const char *name, double ms)
{
    json_key(j, name);
    if (ms >= 0)
        json_real(j, ms, 1);
    else
        json_null(j);
}

static void put_sums(struct json *j, const struct near_sums *s)
{
    put_u64(j, "networks", s->networks);
    put_u64(j, "measured", s->measured);
    put_ms(j, "now_ms", near_mean_now(s));
    put_ms(j, "best_ms", near_mean_best(s));
}

static void put_spot(struct json *j, struct spot s, bool is_known)
{
    json_key(j, "latitude");
    if (is_known)
        json_real(j, (double)s.latitude, 4);
    else
        json_null(j);
    json_key(j, "longitude");
    if (is_known)
        json_real(j, (double)s.longitude, 4);
    else
        json_null(j);
}

static void put_view(struct json *j, const struct near_view *v)
{
    static const char *const sources[] = {NULL, "registered", "address"};
    json_key(j, "totals");
    json_open(j, '{');
    put_sums(j, &v->all);
    put_u64(j, "near", v->near);
    put_u64(j, "trial", v->trial);
    put_u64(j, "provisional", v->provisional);
    put_u64(j, "replicated", v->replicated);
    put_u64(j, "without_agent", v->free);
    put_u64(j, "place_unknown", v->unplaced);
    json_close(j, '}');
    json_key(j, "agents");
    json_open(j, '[');
    for (size_t i = 0; i < v->agent_count; i++) {
        const struct near_agent *a = &v->agents[i];
        json_open(j, '{');
        put_str(j, "name", a->name);
        put_str(j, "state", a->state);
        put_str(j, "place", a->place);
        put_spot(j, a->spot, a->source != NEAR_NOWHERE);
        json_key(j, "placed_by");
        json_text_or_null(j, span_str(sources[a->source]));
        put_sums(j, &a->sums);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "places");
    json_open(j, '[');
    for (size_t i = 0; i < v->flow_count; i++) {
        const struct near_flow *f = &v->flows[i];
        json_open(j, '{');
        put_str(j, "agent", v->agents[f->agent].name);
        json_key(j, "city");
        json_text_or_null(j, f->city);
        json_key(j, "country");
        json_text_or_null(j, span_str(f->country));
        put_spot(j, f->spot, true);
        put_sums(j, &f->sums);
        json_close(j, '}');
    }
    json_close(j, ']');
    put_u64(j, "places_total", v->flow_all);
    json_key(j, "farthest");
    json_open(j, '[');
    for (size_t i = 0; i < v->pair_count && v->pairs[i].now_ms > v->pairs[i].best_ms; i++) {
        const struct near_pair *p = &v->pairs[i];
        char text[NETWORK_TEXT_MAX];
        json_open(j, '{');
        put_str(j, "network", network_format(&p->network, text));
        put_str(j, "agent", v->agents[p->agent].name);
        put_ms(j, "now_ms", (double)p->now_ms);
        json_key(j, "best_agent");
        json_text_or_null(j, span_str(p->best < v->agent_count ? v->agents[p->best].name : ""));
        put_ms(j, "best_ms", (double)p->best_ms);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_count(struct json *j, const struct diary_count *k, int64_t step_ms)
{
    json_open(j, '{');
    put_time(j, "at", k->at * step_ms);
    put_u64(j, "given", k->given);
    put_u64(j, "probes", k->probes);
    json_key(j, "moves");
    json_open(j, '{');
    for (int i = 0; i < MOVE_KINDS; i++)
        if (k->moves[i])
            put_u64(j, move_kind_name((move_kind)i), k->moves[i]);
    json_close(j, '}');
    json_close(j, '}');
}

static void put_agent_name(struct coord *c, struct json *j, const char *name, uint64_t number)
{
    const struct c_agent *a = agent_get(c, number);
    json_key(j, name);
    json_text_or_null(j, span_str(a ? a->name : ""));
}

/* coord.lock held. */
static void put_diary(struct coord *c, struct json *j)
{
    wall_ms now = clock_wall();
    json_key(j, "hours");
    json_open(j, '[');
    for (int64_t at = now / HOUR_MS - DIARY_HOURS + 1; at <= now / HOUR_MS; at++)
        if (diary_hour(&c->diary, at))
            put_count(j, diary_hour(&c->diary, at), HOUR_MS);
    json_close(j, ']');
    json_key(j, "days");
    json_open(j, '[');
    for (int64_t at = now / DAY_MS - DIARY_DAYS + 1; at <= now / DAY_MS; at++)
        if (diary_day(&c->diary, at))
            put_count(j, diary_day(&c->diary, at), DAY_MS);
    json_close(j, ']');
    json_key(j, "moves");
    json_open(j, '[');
    const struct diary_move *m;
    for (size_t i = 0; (m = diary_move_at(&c->diary, i)); i++) {
        json_open(j, '{');
        put_time(j, "at", m->at);
        put_str(j, "network", m->network);
        put_agent_name(c, j, "from", m->from);
        put_agent_name(c, j, "to", m->to);
        put_str(j, "kind", move_kind_name(m->kind));
        put_str(j, "why", m->why);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void deed_near(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    const struct near_view *v = near_view_get(r->a);
    json_open(&j, '{');
    put_time(&j, "at", v->at);
    put_view(&j, v);
    near_view_done(r->a, v);
    pthread_mutex_lock(&r->c->lock);
    put_diary(r->c, &j);
    pthread_mutex_unlock(&r->c->lock);
    json_close(&j, '}');
}
