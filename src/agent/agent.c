/* agent.c - the agent as a whole: its clocks and its state, opening and closing, joining; then its threads run. */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "agent/refusal_list.h"
#include "io/clock.h"
#include "io/in_lab.h"
#include "io/entropy.h"
#include "store/file.h"

/* ---- clocks and waiting ---- */

wall_ms agent_wall(void *arg)
{
    return clock_wall() + ((struct agent *)arg)->clock_offset;
}

mono_ms agent_mono(void *arg)
{
    return clock_mono();
}

void agent_wake(struct agent *a)
{
    pthread_mutex_lock(&a->lock);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

void agent_wait(struct agent *a, int64_t ms)
{
    struct timespec until = clock_in(ms < 60000 ? ms : 60000);
    pthread_cond_timedwait(&a->changed, &a->lock, &until);
}

/* ---- state ---- */

status agent_save(struct agent *a)
{
    struct buf packed = {0};
    pthread_mutex_lock(&a->save_lock);
    pthread_mutex_lock(&a->lock);
    a->state.quota_day = a->gov.quota_day;
    a->state.quota_bytes = a->gov.quota_bytes;
    a->state.bandwidth = a->bandwidth;
    state_pack(&a->state, &packed);
    a->is_state_dirty = false;
    uint64_t done = a->state.orders_done;
    pthread_mutex_unlock(&a->lock);
    status st = state_write(a->data, buf_span(&packed));
    pthread_mutex_lock(&a->lock);
    if (st == ST_OK)
        a->orders_saved = done;
    else
        a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&a->save_lock);
    buf_done(&packed);
    return st;
}

void agent_refused(struct agent *a, struct span text)
{
    struct buf safe = {0};
    pthread_mutex_lock(&a->lock);
    state_refused(&a->state, agent_wall(a), text);
    a->is_state_dirty = true;
    pthread_mutex_unlock(&a->lock);
    log_escape(&safe, text, STATE_TEXT_MAX);
    log_write(a->log, LOG_INFO, "owner", "refused: %s", buf_cstr(&safe));
    buf_done(&safe);
}

static void note_refused(void *arg, struct span host, const struct addr *addr, struct span rule)
{
    char text[ADDR_TEXT_MAX];
    struct buf b = {0};
    buf_put(&b, span_cut(host, 0, 255));
    if (addr->family)
        buf_printf(&b, " at %s", addr_format(addr, text));
    buf_printf(&b, ": %.*s", SPAN_ARG(rule));
    agent_refused(arg, buf_span(&b));
    buf_done(&b);
}

/* ---- opening and closing ---- */

static void make_user_agent(struct agent *a)
{
    struct span purpose = conf_text(a->conf, CONF_PURPOSE_URL), contact = conf_text(a->conf, CONF_CONTACT);
    buf_puts(&a->user_agent, "orbweaver/" ORB_VERSION_SHORT);
    if (purpose.n || contact.n) {
        buf_puts(&a->user_agent, purpose.n ? " (+" : " (");
        buf_put(&a->user_agent, purpose);
        buf_puts(&a->user_agent, purpose.n && contact.n ? "; " : "");
        buf_put(&a->user_agent, contact);
        buf_putc(&a->user_agent, ')');
    }
}

static void say(struct buf *why, const char *doing, status st)
{
    if (!why->n)
        buf_printf(why, "%s: %s", doing, st == ST_IO ? strerror(errno) : status_name(st));
}

static void init(struct agent *a, const struct agent_opts *o)
{
    pthread_condattr_t attr;
    *a = (struct agent){.conf = o->conf,
                        .data = conf_cstr(o->conf, CONF_DATA),
                        .log = o->log,
                        .version = o->version,
                        .is_trial = o->is_trial,
                        .clock_offset = conf_number(o->conf, CONF_CLOCK_OFFSET),
                        .started = clock_mono(),
                        .progress = o->progress,
                        .progress_arg = o->progress_arg,
                        .wants_setup = true};
    a->orders_end = &a->orders;
    pthread_mutex_init(&a->lock, NULL);
    pthread_mutex_init(&a->save_lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
    state_init(&a->state);
    arena_init(&a->snapshot.arena);
    machine_load_init(&a->load);
    make_user_agent(a);
}

static void done(struct agent *a)
{
    orders_stop(a);
    orders_free(a);
    tasks_free(a->tasks);
    programs_free(a->programs);
    package_sink_free(a->sink);
    timings_free(a->timings);
    probes_free(a->probes); /* asks the gate until then */
    gate_free(a->gate);
    places_free(a->own_refusals);
    spool_free(a->spool);
    session_free(a->session);
    state_done(&a->state);
    sign_wipe(&a->key, sizeof(a->key));
    arena_done(&a->snapshot.arena);
    buf_done(&a->user_agent);
    buf_done(&a->hosts_text);
    buf_done(&a->trouble);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    pthread_mutex_destroy(&a->save_lock);
}

/* Folder, key and state: what joining needs, too. */
static status open_basics(struct agent *a, struct buf *why)
{
    status st = file_mkdir(a->data);
    if (st != ST_OK) {
        say(why, "make the data folder", st);
        return st;
    }
    st = key_open(a->data, &a->key);
    if (st != ST_OK) {
        say(why, "read or make agent.key", st);
        return st;
    }
    st = state_load(&a->state, a->data);
    if (st != ST_OK && st != ST_NOT_FOUND) {
        say(why, "read agent.state", st);
        return st;
    }
    a->session =
        session_new(&(struct session_opts){.key = &a->key, .user_agent = buf_span(&a->user_agent), .log = a->log});
    if (a->state.has_identity)
        session_set_peer(a->session, &(struct session_peer){buf_span(&a->state.base), a->state.identity,
                                                            span_str(a->state.pin), a->state.agent});
    return ST_OK;
}

static void read_settings(struct agent *a)
{
    struct agent_settings s;
    struct buf why = {0};
    bool has = a->state.settings.n && agent_settings_unpack(buf_span(&a->state.settings), &s) == ST_OK;
    limits_make(a->conf, has ? &s : NULL, &a->limits, &why);
    if (why.n)
        log_write(a->log, LOG_WARN, "agent", "hours are not understood and count as closed: %s", buf_cstr(&why));
    buf_done(&why);
}

static void wake_all(void *arg)
{
    agent_wake(arg);
}

static status open_rest(struct agent *a, struct buf *why)
{
    size_t n;
    size_t country_count;
    const struct span *refused = conf_list(a->conf, CONF_REFUSE_NETWORK, &n);
    const struct span *countries = conf_list(a->conf, CONF_REFUSE_COUNTRY, &country_count);
    uint64_t sent_most;
    const char *hosts = conf_cstr(a->conf, CONF_HOSTS);
    status st = entropy_draw(&a->boot, sizeof(a->boot));
    if (st == ST_OK && hosts) {
        st = file_read(hosts, 64u << 20, &a->hosts_text);
        if (st != ST_OK)
            say(why, "read --hosts", st);
    }
    read_settings(a);
    sent_most = a->limits.disk_bytes / 4 < SPOOL_SENT_BYTES ? a->limits.disk_bytes / 4 : SPOOL_SENT_BYTES;
    if (st == ST_OK)
        st = spool_new(&(struct spool_opts){.data = a->data, .sent_bytes = sent_most}, &a->spool);
    a->gate = gate_new(&(struct gate_opts){.refused = refused,
                                           .refused_count = n,
                                           .countries = countries,
                                           .country_count = country_count,
                                           .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                                           .now = agent_mono,
                                           .note_refused = note_refused,
                                           .arg = a});
    a->timings = timings_new(a->boot);
    if (st == ST_OK)
        st = refusal_list_own(a->conf, &a->own_refusals);
    a->probes = probes_new(
        &(struct probes_opts){.user_agent = buf_span(&a->user_agent),
                              .ca_file = conf_text(a->conf, CONF_CA_FILE),
                              .allow_private = conf_flag(a->conf, CONF_ALLOW_PRIVATE),
                              .dns = {.server = conf_text(a->conf, CONF_RESOLVER), .hosts = buf_span(&a->hosts_text)},
                              .delay_ms = conf_number(a->conf, CONF_DELAY),
                              .in_lab = in_lab(),
                              .gate = a->gate,
                              .refused = a->own_refusals,
                              .note_refused = note_refused,
                              .ready = wake_all,
                              .arg = a,
                              .log = a->log});
    if (st == ST_OK)
        st = tasks_new(&(struct tasks_opts){a->data, a->gate, a->spool, a->log}, &a->tasks);
    if (st == ST_OK)
        st = programs_new(a->data, a->conf, a->log, &a->programs);
    if (st != ST_OK) {
        say(why, "open the data folder", st);
        return st;
    }
    a->sink = package_sink_new(&(struct package_sink_opts){.gate = a->gate,
                                                           .spool = a->spool,
                                                           .timings = a->timings,
                                                           .wall = agent_wall,
                                                           .mono = agent_mono,
                                                           .published = wake_all,
                                                           .arg = a,
                                                           .log = a->log});
    package_sink_set_names(a->sink, a->state.agent, &a->state.identity, &a->key);
    package_sink_set_limits(a->sink, a->limits.package_bytes, a->limits.package_age_ms);
    gov_init(&a->gov, a->state.quota_day, a->state.quota_bytes);
    a->totals_before = a->state.totals;
    a->sent_before = a->state.totals.bytes_sent;
    a->crawled_at_start = a->state.totals.bytes_crawled;
    a->bandwidth = a->state.bandwidth;
    a->orders_taken = a->orders_saved = a->state.orders_done;
    return ST_OK;
}

/* ---- joining ---- */

static void keep_joined(struct agent *a, const struct session_joined *j)
{
    struct state *s = &a->state;
    bool is_same =
        s->has_identity && s->agent == j->agent && bytes_equal(s->identity.b, j->identity.b, SIGN_PUBLIC_BYTES);
    if (!is_same) { /* orders of another coordinator, or to another agent, are none of ours */
        s->orders_done = 0;
        buf_clear(&s->settings);
        while (s->outcome_count)
            state_outcome_remove(s, s->outcomes[0].number);
    }
    buf_clear(&s->base);
    buf_put(&s->base, buf_span(&j->base));
    s->identity = j->identity;
    s->has_identity = true;
    memcpy(s->pin, j->pin, sizeof(s->pin));
    s->agent = j->agent;
    memcpy(s->name, j->name, sizeof(s->name));
}

static status join(struct agent *a, struct span line, struct buf *why)
{
    struct join_line j;
    struct session_joined joined;
    if (line.n > JOIN_LINE_MAX || join_line_parse(span_trim(line), &j) != ST_OK) {
        buf_puts(why, "not a line to join with: it reads orb://HOST:PORT/TOKEN#FINGERPRINT");
        return ST_INVALID;
    }
    if (a->state.has_identity) {
        struct digest256 f = digest_sha256(span_of(a->state.identity.b, SIGN_PUBLIC_BYTES));
        if (bytes_equal(f.b, j.fingerprint.b, sizeof(f.b)))
            return ST_EXISTS;
        buf_puts(why, "this folder belongs to an agent of another coordinator: choose another --data");
        return ST_REFUSED;
    }
    status st = session_join(a->session, &j, a->version, &joined, why);
    sign_wipe(&j, sizeof(j));
    if (st != ST_OK)
        return st;
    keep_joined(a, &joined);
    session_joined_done(&joined);
    st = agent_save(a);
    if (st != ST_OK)
        say(why, "write agent.state", st);
    else
        log_write(a->log, LOG_INFO, "agent", "joined as name=%s number=%llu", a->state.name,
                  (unsigned long long)a->state.agent);
    return st;
}

status agent_join(const struct agent_opts *o, struct span line, struct buf *why)
{
    struct agent a;
    init(&a, o);
    status st = open_basics(&a, why);
    if (st == ST_OK)
        st = join(&a, line, why);
    done(&a);
    return st;
}

/* ---- running ---- */

static status run_threads(struct agent *a, struct buf *why)
{
    pthread_t link, carrier;
    bool has_link = pthread_create(&link, NULL, link_thread, a) == 0;
    bool has_carrier = has_link && pthread_create(&carrier, NULL, carrier_thread, a) == 0;
    status st = has_carrier ? running_until_end(a, why) : ST_IO;
    pthread_mutex_lock(&a->lock);
    a->is_stopping = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    session_cancel(a->session);
    if (has_link)
        pthread_join(link, NULL);
    if (has_carrier)
        pthread_join(carrier, NULL);
    return st;
}

status agent_run(const struct agent_opts *o, agent_end *end, struct update_try *update, struct buf *why)
{
    struct agent a;
    init(&a, o);
    status st = open_basics(&a, why);
    if (st == ST_OK && !a.state.has_identity) {
        buf_puts(why, "not enrolled: give --join with the line that the coordinator shows");
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK)
        st = open_rest(&a, why);
    if (st == ST_OK) {
        machine_be_modest();
        running_begin(&a);
        log_write(a.log, LOG_INFO, "agent", "begins name=%s number=%llu version=%.*s", a.state.name,
                  (unsigned long long)a.state.agent, SPAN_ARG(a.version));
        st = run_threads(&a, why);
        if (st == ST_OK || running_may_go_on(st))
            running_save(&a);
        log_write(a.log, LOG_INFO, "agent", "ends");
    }
    *end = a.end;
    *update = a.update;
    done(&a);
    return st;
}

void update_try_done(struct update_try *u)
{
    buf_done(&u->version);
    buf_done(&u->digest);
    buf_done(&u->sig);
}
