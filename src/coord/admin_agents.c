/* admin_agents.c - agents in the API: listed, shown, registered, told what to do. */
#include <stdlib.h>
#include <string.h>

#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "io/clock.h"

/* ---- what is shown ---- */

static int by_agent_name(const void *x, const void *y)
{
    return strcmp((*(struct c_agent *const *)x)->name, (*(struct c_agent *const *)y)->name);
}

size_t agents_sorted(struct coord *c, struct arena *a, struct c_agent ***out)
{
    struct c_agent **list = arena_alloc(a, (c->agent_count + 1) * sizeof(struct c_agent *));
    size_t n = 0;
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i] && c->agents[i]->name[0])
            list[n++] = c->agents[i];
    qsort(list, n, sizeof(struct c_agent *), by_agent_name);
    *out = list;
    return n;
}

/* What each agent has, by number - 1: one pass over all, not one an agent. coord.lock held. */
struct load {
    uint64_t networks, tasks;
};

static struct load *loads_of(const struct coord *c, struct arena *arena)
{
    struct load *l =
        memset(arena_alloc(arena, (c->agent_count + 1) * sizeof(*l)), 0, (c->agent_count + 1) * sizeof(*l));
    size_t at = 0;
    for (const struct c_network *w; (w = table_next(&c->networks, &at));)
        if (w->state != NETWORK_FREE && w->agent && w->agent <= c->agent_count)
            l[w->agent - 1].networks++;
    for (size_t i = 0; i < c->task_count; i++) {
        const struct c_task *t = c->tasks[i];
        if (t && !t->is_ended && t->agent && t->agent <= c->agent_count)
            l[t->agent - 1].tasks++;
    }
    return l;
}

static void put_limits(struct json *j, const struct c_agent *a)
{
    json_key(j, "limits");
    json_open(j, '{');
    put_u64(j, "bytes_a_day", a->settings.bytes_a_day);
    put_u64(j, "bytes_per_s", a->settings.bytes_per_s);
    put_u64(j, "memory", a->settings.memory_bytes);
    put_u64(j, "disk", a->settings.disk_bytes);
    put_bool(j, "idle_only", a->settings.idle_only);
    put_u64(j, "tasks", a->settings.tasks_max);
    json_close(j, '}');
}

static void put_figures(struct json *j, const struct figures *f)
{
    put_str(j, "activity", activity_name(f->activity));
    put_str(j, "version", f->version);
    put_real(j, "pages_per_s", f->pages_per_s);
    json_key(j, "error_share");
    if (f->error_share < 0)
        json_null(j);
    else
        json_real(j, f->error_share, 3);
    put_u64(j, "requests", f->said.requests);
    put_u64(j, "pages", f->said.pages);
    put_u64(j, "errors", f->said.errors);
    put_u64(j, "bytes_crawled", f->said.bytes_crawled);
    put_u64(j, "bytes_sent", f->said.bytes_sent);
    put_u64(j, "queue", f->queue);
    put_u64(j, "hosts_waiting", f->hosts_waiting);
    put_u64(j, "spool_packages", f->spool_packages);
    put_u64(j, "spool_bytes", f->spool_bytes);
    put_u64(j, "memory_used", f->memory);
    put_u64(j, "disk_free", f->disk_free);
    put_u64(j, "uptime_s", (uint64_t)f->uptime_ms / 1000);
    put_errors_by_kind(j, &f->said);
}

/* coord.lock held. The members of an agent's object, without its braces. */
static void put_agent(struct ask *r, struct json *j, const struct c_agent *a, const struct load *load)
{
    struct figures f;
    figures_of(r->a, a->number, &f);
    put_str(j, "name", a->name);
    put_u64(j, "number", a->number);
    put_str(j, "state", agent_shown_state(r->c, a));
    put_str(j, "presence", presence_name(agent_presence_of(r->c, a)));
    put_str(j, "wanted", agent_state_name(a->settings.state));
    put_bool(j, "joined", a->is_joined);
    put_time(j, "added", a->added);
    put_time(j, "heard", a->heard);
    json_key(j, "heard_s");
    if (a->heard)
        json_i64(j, clock_wall() > a->heard ? (clock_wall() - a->heard) / 1000 : 0);
    else
        json_null(j);
    put_text(j, "hours", span_str(a->hours_text));
    put_bool(j, "in_hours", agent_is_in_hours(a, clock_wall()));
    put_str(j, "place", a->place);
    json_key(j, "latitude");
    if (a->has_place)
        json_real(j, a->latitude, 5);
    else
        json_null(j);
    json_key(j, "longitude");
    if (a->has_place)
        json_real(j, a->longitude, 5);
    else
        json_null(j);
    put_limits(j, a);
    put_figures(j, &f);
    put_u64(j, "packages", a->packages);
    put_u64(j, "package_bytes", a->package_bytes);
    put_u64(j, "visits", a->visits);
    put_u64(j, "networks", load[a->number - 1].networks);
    put_u64(j, "tasks", load[a->number - 1].tasks);
    put_u64(j, "orders_given", a->orders_given);
    put_u64(j, "orders_done", a->orders_done);
    json_key(j, "trust");
    json_open(j, '{');
    put_bool(j, "demoted", a->is_demoted);
    put_u64(j, "probation_left", a->probation_left);
    put_u64(j, "checks_good", a->checks_good);
    put_u64(j, "checks_bad", a->checks_bad);
    put_u64(j, "visits_dropped", a->dropped);
    json_close(j, '}');
}

void deed_agents(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct c_agent **list;
    json_open(&j, '{');
    json_key(&j, "agents");
    json_open(&j, '[');
    pthread_mutex_lock(&r->c->lock);
    size_t n = agents_sorted(r->c, r->arena, &list);
    const struct load *load = loads_of(r->c, r->arena);
    for (size_t i = 0; i < n; i++) {
        json_open(&j, '{');
        put_agent(r, &j, list[i], load);
        json_close(&j, '}');
    }
    pthread_mutex_unlock(&r->c->lock);
    json_close(&j, ']');
    json_close(&j, '}');
}

static void put_setup(struct json *j, const struct agent_setup *s)
{
    json_key(j, "setup");
    json_open(j, '{');
    put_u64(j, "cores", s->cores);
    put_u64(j, "memory", s->memory_bytes);
    put_u64(j, "disk", s->disk_bytes);
    put_u64(j, "bandwidth_bytes_per_s", s->bandwidth_bytes_per_s);
    put_text(j, "system", s->system);
    put_text(j, "machine", s->machine);
    put_text(j, "zone", s->zone);
    put_text(j, "place", s->place);
    put_text(j, "address", s->address);
    json_key(j, "own_sites");
    json_open(j, '[');
    for (size_t i = 0; i < s->own_site_count; i++)
        json_text(j, s->own_sites[i]);
    json_close(j, ']');
    json_close(j, '}');
}

void put_program_report(struct json *j, const struct program_report *p)
{
    put_text(j, "name", p->name);
    put_u64(j, "serial", p->serial);
    put_u64(j, "pages", p->pages);
    put_u64(j, "errors", p->errors);
    put_bool(j, "fallback", p->is_fallback);
    put_text(j, "last_error", p->last_error);
}

/* Programs of the newest report; the set-up of the one that had it; the newest refusals. coord.lock held. */
static void put_reports(struct ask *r, struct json *j, const struct c_agent *a)
{
    struct report rep;
    bool is_read = a->report.n && report_unpack(r->arena, buf_span(&a->report), &rep) == ST_OK;
    json_key(j, "programs");
    json_open(j, '[');
    for (size_t i = 0; is_read && i < rep.program_count; i++) {
        const struct program_report *p = &rep.programs[i];
        json_open(j, '{');
        put_program_report(j, p);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "refused");
    json_open(j, '[');
    for (size_t i = 0; i < a->refusal_count; i++)
        json_str(j, a->refusals[i].text);
    json_close(j, ']');
    if (a->setup.n && report_unpack(r->arena, buf_span(&a->setup), &rep) == ST_OK && rep.has_setup)
        put_setup(j, &rep.setup);
    else {
        json_key(j, "setup");
        json_null(j);
    }
}

static struct c_agent *find_agent(struct ask *r, struct deed *d)
{
    struct c_agent *a = r->args[0].n ? agent_by_name(r->c, r->args[0]) : NULL;
    if (!a)
        deed_fail(d, 404, "not_found",
                  "There is no agent of this name. orb agent list (GET /api/v1/agents) shows them.");
    return a;
}

void deed_agent(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    struct c_agent *a = find_agent(r, d);
    if (a) {
        json_open(&j, '{');
        put_agent(r, &j, a, loads_of(r->c, r->arena));
        put_reports(r, &j, a);
        if (pairs_is_true(&r->in, "history"))
            put_agent_history(r, &j, a->number);
        json_close(&j, '}');
    }
    pthread_mutex_unlock(&r->c->lock);
}

/* ---- registering and changing ---- */

static bool bad_field(struct deed *d, const char *name, const char *want)
{
    deed_fail_field(d, name, want);
    return false;
}

/* Fields that are not sent stay as they are in *f. */
static bool read_form(struct ask *r, struct deed *d, struct agent_form *f)
{
    const struct pairs *in = &r->in;
    struct agent_settings *s = &f->settings;
    uint64_t tasks = s->tasks_max;
    bool has_lat = f->has_place, has_lon = f->has_place;
    const struct {
        const char *name;
        uint64_t *to;
    } sizes[] = {{"bytes_a_day", &s->bytes_a_day},
                 {"bytes_per_s", &s->bytes_per_s},
                 {"memory", &s->memory_bytes},
                 {"disk", &s->disk_bytes}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (pairs_has(in, sizes[i].name) && pairs_get(in, sizes[i].name).n == 0)
            *sizes[i].to = 0; /* an emptied field: no limit */
        if (!pairs_bytes(in, sizes[i].name, sizes[i].to))
            return bad_field(d, sizes[i].name, "a number of bytes such as 500 MB or 64 MiB, or nothing for no limit");
    }
    if (pairs_has(in, "tasks") && pairs_get(in, "tasks").n == 0)
        tasks = 0;
    if (!pairs_u64(in, "tasks", 10000, &tasks))
        return bad_field(d, "tasks", "a number up to 10000");
    s->tasks_max = (unsigned)tasks;
    if (pairs_has(in, "latitude") || pairs_has(in, "longitude")) {
        if (!pairs_real(in, "latitude", -90, 90, &f->latitude, &has_lat))
            return bad_field(d, "latitude", "degrees from -90 to 90, such as 35.17");
        if (!pairs_real(in, "longitude", -180, 180, &f->longitude, &has_lon))
            return bad_field(d, "longitude", "degrees from -180 to 180, such as 33.36");
        if (has_lat != has_lon)
            return bad_field(d, has_lat ? "longitude" : "latitude", "latitude and longitude are needed, or neither");
        f->has_place = has_lat;
    }
    /* A form's box that is not ticked is not sent; the form says that it has one. */
    if (pairs_has(in, "idle_only") || r->form_page.n)
        s->idle_only = pairs_is_true(in, "idle_only");
    f->is_trusted = pairs_is_true(in, "trusted");
    if (pairs_has(in, "place"))
        f->place = pairs_get(in, "place");
    if (pairs_has(in, "hours"))
        f->hours = pairs_get(in, "hours");
    if (f->place.n >= COORD_PLACE_MAX)
        return bad_field(d, "place", "up to 127 bytes of text");
    struct span zone = pairs_get(in, "zone"); /* the form asks for it apart */
    if (zone.n && f->hours.n) {
        struct buf b = {0};
        buf_put(&b, f->hours);
        buf_putc(&b, ' ');
        buf_put(&b, zone);
        f->hours = arena_copy(r->arena, buf_span(&b));
        buf_done(&b);
    }
    return true;
}

/* Hours and zone are one text when they are looked at: which of the two fields was it? */
static const char *field_of_hours(const struct pairs *in)
{
    struct hours h;
    struct buf why = {0};
    bool is_good = hours_parse(pairs_get(in, "hours"), &h, &why) == ST_OK;
    buf_done(&why);
    return is_good ? "zone" : "hours";
}

static void put_line(struct json *j, const char *name, const struct buf *line)
{
    struct buf text = {0};
    buf_printf(&text, "orb-agent --join %.*s", SPAN_ARG(buf_span(line)));
    put_str(j, "name", name);
    put_text(j, "line", buf_span(&text));
    put_text(j, "join", buf_span(line));
    buf_done(&text);
}

/* The page of the agent shows its line until it has joined. */
static void remember_line(struct ask *r, struct deed *d, const struct c_agent *a, const struct buf *line)
{
    session_line_put(r->a, &r->who, a->number, buf_span(line));
    buf_clear(&d->next);
    buf_printf(&d->next, "/agents/%s", a->name);
}

void deed_agent_add(struct ask *r, struct deed *d)
{
    struct agent_form f = {.name = pairs_get(&r->in, "name")};
    struct buf line = {0}, why = {0};
    struct c_agent *a = NULL;
    if (!read_form(r, d, &f))
        return;
    pthread_mutex_lock(&r->c->lock);
    status st = agent_add(r->c, &f, &a, &line, &why);
    if (st == ST_OK)
        programs_greet(r->c, a);
    pthread_mutex_unlock(&r->c->lock);
    if (st != ST_OK) {
        deed_fail_status(d, st, &why);
        if (st == ST_EXISTS || !join_name_is_good(f.name))
            d->field = "name";
        else if (st == ST_INVALID)
            d->field = field_of_hours(&r->in);
    } else {
        struct json j = {.out = &d->out};
        json_open(&j, '{');
        put_line(&j, a->name, &line);
        json_close(&j, '}');
        remember_line(r, d, a, &line);
        log_write(r->c->o.log, LOG_INFO, "admin", "an agent was added name=%s by=%s", a->name, r->who.name);
    }
    sign_wipe(line.p, line.n);
    buf_done(&line);
    buf_done(&why);
}

static void change(struct ask *r, struct deed *d, struct c_agent *a)
{
    struct buf why = {0};
    struct agent_form f = {.name = span_str(a->name),
                           .place = arena_copy(r->arena, span_str(a->place)),
                           .hours = arena_copy(r->arena, span_str(a->hours_text)),
                           .settings = a->settings,
                           .latitude = a->latitude,
                           .longitude = a->longitude,
                           .has_place = a->has_place};
    if (read_form(r, d, &f)) {
        status st = agent_change(r->c, a, &f, &why);
        if (st != ST_OK) {
            deed_fail_status(d, st, &why);
            if (st == ST_INVALID)
                d->field = field_of_hours(&r->in);
        } else
            buf_puts(&d->message, "Changed. The agent hears of it with its next call.");
    }
    buf_done(&why);
}

static void invite(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    struct buf line = {0};
    status st = agent_invite(r->c, a, &line);
    if (st != ST_OK) {
        deed_fail_status(d, st, &(struct buf){0});
    } else {
        put_line(j, a->name, &line);
        remember_line(r, d, a, &line);
    }
    sign_wipe(line.p, line.n);
    buf_done(&line);
}

static void do_pause(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_set_state(r->c, a, AGENT_PAUSE);
    buf_puts(&d->message, "Paused. It keeps what it has and goes on when resumed.");
}

static void do_resume(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_set_state(r->c, a, AGENT_RUN);
    buf_puts(&d->message, "Resumed.");
}

static void do_drain(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_set_state(r->c, a, AGENT_DRAIN);
    buf_puts(&d->message, "Draining: its networks go to other agents.");
}

static void do_kill(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_order(r->c, a, ORDER_QUIT, SPAN(""));
    buf_puts(&d->message, "It will send what it has and end. It has to be started again on its machine.");
}

static void do_remove(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_remove(r->c, a);
    buf_puts(&d->next, "/agents");
    buf_puts(&d->message, "The agent was removed: its key is worth nothing any more.");
}

static void do_change(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    change(r, d, a);
}

static void do_rekey(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    agent_order(r->c, a, ORDER_REKEY, SPAN(""));
    buf_puts(&d->message, "It will make a new key with its next call.");
}

static void do_trust(struct ask *r, struct deed *d, struct c_agent *a, struct json *j)
{
    a->is_demoted = false;
    a->checks_bad = 0;
    a->probation_left = COORD_PROBATION_PAGES;
    save_agent(r->c, a);
    agent_tell_delegator(r->c, a);
    buf_puts(&d->message, "It is trusted again, on probation.");
}

void deed_agent_do(struct ask *r, struct deed *d)
{
    static const struct {
        const char *verb;
        void (*fn)(struct ask *r, struct deed *d, struct c_agent *a, struct json *j);
    } verbs[] = {{"pause", do_pause},   {"resume", do_resume}, {"drain", do_drain},
                 {"kill", do_kill},     {"remove", do_remove}, {"invite", invite},
                 {"change", do_change}, {"rekey", do_rekey},   {"trust", do_trust}};
    struct json j = {.out = &d->out};
    size_t v = 0;
    while (v < sizeof(verbs) / sizeof(*verbs) && !span_is(r->args[1], verbs[v].verb))
        v++;
    if (v == sizeof(verbs) / sizeof(*verbs)) {
        deed_fail(d, 404, "not_found",
                  "That cannot be done with agents: pause, resume, drain, kill, remove, invite, change, rekey and "
                  "trust can.");
        return;
    }
    json_open(&j, '{');
    pthread_mutex_lock(&r->c->lock);
    struct c_agent *a = find_agent(r, d);
    if (a) {
        char name[JOIN_NAME_MAX + 1];
        memcpy(name, a->name, sizeof(name));
        verbs[v].fn(r, d, a, &j);
        if (d->code < 400)
            log_write(r->c->o.log, LOG_INFO, "admin", "agent: %s name=%s by=%s", verbs[v].verb, name, r->who.name);
    }
    pthread_mutex_unlock(&r->c->lock);
    json_close(&j, '}');
}
