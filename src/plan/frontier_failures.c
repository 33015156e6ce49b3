/* frontier_failures.c - who is blamed when no answer comes: our own line, a host, one site (scheme and port) of it,
 * or the page. */
#include "plan/frontier_internal.h"

#define SILENT_HOSTS 3      /* fall silent one after the other, and nobody answers in between: it is not them */
#define LINE_RETRY_MS 10000 /* then each is tried again after that */
#define LINE_MAX_MS (15ll * 60 * 1000) /* but not for ever: they may be the last ones, and gone */
#define SMOOTHING 0.25                 /* weight of the newest server time */

/* ---- failures of a host ---- */

/* Waiting does not mend it. What answers and speaks no HTTP at all is another kind of server. */
static bool is_definite(const struct frontier_result *r)
{
    return r->st == ST_DNS || r->st == ST_CONNECT || r->st == ST_TLS || r->st == ST_REFUSED ||
           (r->st == ST_PROTOCOL && !r->http_status);
}

/* No connection, and addresses that were not tried yet. */
static bool has_other_addr(const struct host *h, const struct frontier_result *r)
{
    return (r->st == ST_CONNECT || r->st == ST_TIMEOUT) && h->failures + 1 < h->addr_choices;
}

/* Nobody answers, and several did before: that is our line, or the machine slept. Hosts are not blamed for it. */
static bool is_silence(const struct host *h, const struct frontier_result *r)
{
    return h->successes > 0 && (r->st == ST_TIMEOUT || r->st == ST_CONNECT || r->st == ST_DNS);
}

bool failure_is_our_line(const struct frontier *f, const struct host *h, const struct frontier_result *r)
{
    unsigned silent = f->silent + (h->silent_in != f->silence);
    if (f->is_silent_long && !f->is_doubted)
        return false;
    return is_silence(h, r) && silent >= (f->is_doubted ? 1 : SILENT_HOSTS);
}

/* True: it is the line. */
static bool note_silence(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r)
{
    if (!f->silent)
        f->silent_since = now;
    f->is_silent_long = now - f->silent_since > LINE_MAX_MS;
    bool is_line = failure_is_our_line(f, h, r);
    if (is_silence(h, r) && h->silent_in != f->silence) {
        h->silent_in = f->silence;
        f->silent++;
    }
    f->is_down |= is_line;
    return is_line;
}

/* Somebody answered. When the line was down, those who fell silent with it are asked again at once. */
static void end_silence(struct frontier *f, mono_ms now)
{
    uint64_t silence = f->silence;
    bool was_down = f->is_down;
    size_t at = 0;
    if (!f->silent)
        return;
    f->silence++;
    f->silent = 0;
    f->is_down = f->is_silent_long = false;
    for (struct host *h; was_down && (h = table_next(&f->hosts, &at));) {
        if (h->silent_in != silence)
            continue;
        h->failures = 0;
        if (h->next_ok > now + h->pace.delay_ms)
            h->next_ok = now + h->pace.delay_ms;
        host_update(f, h);
    }
}

/* A host that never answered in this run and fails in a way that waiting does not mend is given up at once: a misspelt
 * name must not keep a person waiting. One that did answer gets its back-off first. A host given up keeps all its URLs
 * for the next run. */
bool host_gives_up(const struct host *h, const struct frontier_result *r)
{
    bool hopeless = h->successes == 0 && is_definite(r) && !has_other_addr(h, r);
    return hopeless || r->st == ST_REFUSED || h->failures + 1 >= FRONTIER_HOST_FAILURES_MAX;
}

static void sites_begin_anew(struct host *h)
{
    for (size_t i = 0; i < h->site_count; i++) {
        h->sites[i].failures = 0;
        h->sites[i].away_until = 0;
    }
}

/* The server knows best how long; we only never come back sooner than the ordinary delay. */
static int64_t wait_asked_for(const struct frontier *f, const struct host *h, const struct frontier_result *r)
{
    int64_t asked = r->retry_after_ms, most = f->o.pace.retry_after_max_ms;
    if (asked > most)
        asked = most;
    return asked > h->pace.delay_ms ? asked : h->pace.delay_ms;
}

void host_failed(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r)
{
    if (note_silence(f, h, now, r)) {
        h->last_failure = r->st;
        mono_ms next = now + LINE_RETRY_MS + (int64_t)rng_below(&f->rng, LINE_RETRY_MS / 2);
        h->next_ok = next > h->next_ok ? next : h->next_ok;
        return;
    }
    bool other = has_other_addr(h, r);
    h->is_given_up |= host_gives_up(h, r);
    if (h->is_given_up)
        sites_begin_anew(h);
    h->failures++;
    h->failures_total++;
    h->last_failure = r->st;
    h->last_http = r->st == ST_OK ? r->http_status : 0;
    if (h->last_http == 429)
        pace_complained(&h->borne, &f->o.pace, h->pace.delay_ms);
    int64_t wait = other ? h->pace.delay_ms : pace_backoff(&f->o.pace, h->failures, &f->rng);
    if (r->st == ST_CONNECT || r->st == ST_TIMEOUT)
        h->addr_expires = 0; /* look again: it may have moved, or has another */
    if (r->retry_after_ms >= 0)
        wait = wait_asked_for(f, h, r);
    if (now + wait > h->next_ok)
        h->next_ok = now + wait;
}

void host_failed_again(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r)
{
    if (r->retry_after_ms >= 0 && now + wait_asked_for(f, h, r) > h->next_ok)
        h->next_ok = now + wait_asked_for(f, h, r);
}

/* ---- failures of a site ---- */

bool site_is_away(const struct site *s, mono_ms now)
{
    return s->away_until > now;
}

int host_other_site(const struct host *h, unsigned site, mono_ms now)
{
    for (unsigned i = 0; i < h->site_count; i++)
        if (i != site && !site_is_away(&h->sites[i], now))
            return (int)i;
    return -1;
}

/* Nobody at this scheme or port, or with a bad certificate or another protocol, and the host answers at another one, or
 * was not asked there yet: that is no failure of the host, which has pages that can be had. */
bool failure_is_of_site(const struct host *h, unsigned site, mono_ms now, const struct frontier_result *r)
{
    bool may_be = r->st == ST_CONNECT || r->st == ST_TLS || r->st == ST_TIMEOUT || r->st == ST_PROTOCOL;
    if (h->sites[site].has_answered || !may_be)
        return false;
    return h->successes > 0 || (!has_other_addr(h, r) && host_other_site(h, site, now) >= 0);
}

void site_failed(struct site *s, mono_ms now, status st)
{
    s->last_failure = st;
    if (++s->failures < FRONTIER_SITE_FAILURES_MAX)
        return;
    s->failures = 0;
    s->away_until = now + FRONTIER_SITE_AWAY_MS;
}

void site_answered(struct site *s)
{
    s->has_answered = true;
    s->failures = 0;
    s->away_until = 0;
}

/* ---- failures of a page ---- */

/* It failed before, and the host has answered since. A server that says how long to wait speaks for all of it. */
bool failure_is_of_page(const struct host *h, const struct entry *e, const struct frontier_result *r)
{
    bool may_be = r->st == ST_TIMEOUT || r->st == ST_CONNECT || (r->st == ST_OK && r->http_status == 503);
    return may_be && r->retry_after_ms < 0 && e->tries > 0 && h->failures == 0 && h->successes > 0;
}

/* ---- answers ---- */

/* The pause after a request, by what is known of the host now. */
void host_rest(struct frontier *f, struct host *h, mono_ms now)
{
    host_repace(f, h);
    if (h->pace.delay_ms > 0 && now + h->pace.delay_ms > h->next_ok)
        h->next_ok = now + h->pace.delay_ms;
}

void host_answered(struct frontier *f, struct host *h, mono_ms now, const struct frontier_result *r, bool is_older)
{
    bool was_down = f->is_down;
    end_silence(f, now);
    h->successes++;
    if (!is_older) {
        h->failures = 0;
        h->last_failure = ST_OK;
        h->last_http = r->http_status;
    }
    pace_answered(&h->borne, &f->o.pace);
    if (r->connect_us > 0) {
        double rtt = r->connect_us / 1000.0;
        if (h->rtt_ms < 0 || rtt < h->rtt_ms)
            h->rtt_ms = rtt;
    }
    if (was_down) /* that took so long because of the line */
        return;
    double server = r->total_us / 1000.0 - (r->connect_us > 0 ? r->connect_us / 1000.0 : 0);
    if (h->rtt_ms > 0)
        server -= h->rtt_ms; /* the request's own round trip */
    if (server < 0)
        server = 0;
    h->server_ms = h->server_ms < 0 ? server : h->server_ms + SMOOTHING * (server - h->server_ms);
}

void frontier_doubt(struct frontier *f, bool is_doubted)
{
    f->is_doubted = is_doubted;
}

void frontier_revive(struct frontier *f, mono_ms now)
{
    size_t at = 0;
    for (struct host *h; (h = table_next(&f->hosts, &at));) {
        sites_begin_anew(h);
        if (!h->is_given_up)
            continue;
        h->is_given_up = false;
        h->failures = 0;
        h->next_ok = now + h->pace.delay_ms;
        host_update(f, h);
    }
}
