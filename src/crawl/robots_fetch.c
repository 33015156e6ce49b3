/* robots_fetch.c - one site's robots.txt: the request, its redirects, and what each answer means (RFC 9309 2.3.1). */
#include <stdlib.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "web/charset.h"

static struct span current_url(const struct job *j)
{
    return j->robots_url.n ? j->robots_url : j->lease.url;
}

static void settle(struct shard *s, struct job *j, struct robots *rules)
{
    struct span host = j->lease.host;
    struct buf state = {0};
    s->stats.robots_fetched++;
    if (rules)
        lists_of_robots(s, j, current_url(j), rules);
    frontier_robots(s->frontier, shard_now(s), clock_wall(), j->lease.id, rules, CRAWL_ROBOTS_TTL_MS, &j->result);
    /* Rules and back-off survive a kill: written with the pages of this turn. */
    if (frontier_host_state(s->frontier, shard_now(s), clock_wall(), host, &state) == ST_OK) {
        records_frame(&s->framed, REC_HOST, buf_span(&state));
    }
    buf_done(&state);
    job_free(j);
}

void robots_fetch_start(struct shard *s, struct job *j)
{
    shard_fetch(s, j, j->lease.url, &j->lease.addr);
}

/* ---- redirects ---- */

/* A redirect without end, to no web address or to one that we must not touch counts as "unavailable", which means that
 * everything is allowed (2.3.1.2, 2.3.1.3). */
static void give_up_hop(struct shard *s, struct job *j)
{
    settle(s, j, robots_all(true));
}

/* Where the rules are is known, and nobody is there: as unreachable as a robots.txt that does not answer (2.3.1.4). */
static void hop_is_unreachable(struct shard *s, struct job *j, status st)
{
    crawl_note_host_failure(s->crawl, j->lease.host, st, "robots.txt redirects to a host that has no address");
    j->result.st = st;
    settle(s, j, NULL);
}

static void on_hop_resolved(void *arg, const struct resolved *r)
{
    struct job *j = arg;
    struct shard *s = j->shard;
    s->resolving--;
    if (s->is_quitting || r->st == ST_CANCELLED)
        job_free(j);
    else if (r->st != ST_OK)
        hop_is_unreachable(s, j, r->st);
    else
        shard_fetch(s, j, current_url(j), &r->addrs[0]);
}

static void on_hop_due(void *arg)
{
    struct job *j = arg;
    struct shard *s = j->shard;
    struct arena scratch;
    struct url u;
    struct resolved r;
    for (struct job **at = &s->waiting; *at; at = &(*at)->next)
        if (*at == j) {
            *at = j->next;
            break;
        }
    arena_init(&scratch);
    if (url_parse(&scratch, current_url(j), NULL, &u) != ST_OK) {
        give_up_hop(s, j);
    } else if (s->crawl->o.fetch.proxy.n || span_eq(u.host, j->lease.host)) {
        shard_fetch(s, j, current_url(j), &j->lease.addr);
    } else if (resolver_peek(s->resolver, u.host, &r)) {
        if (r.st == ST_OK)
            shard_fetch(s, j, current_url(j), &r.addrs[0]);
        else
            hop_is_unreachable(s, j, r.st);
    } else {
        s->resolving++;
        resolver_lookup(s->resolver, u.host, on_hop_resolved, j);
    }
    arena_done(&scratch);
}

/* The host stays lent meanwhile, so nothing else is asked of it; the pause is the ordinary one. */
static void follow(struct shard *s, struct job *j, struct span location)
{
    struct url from, to, normal;
    struct arena scratch;
    arena_init(&scratch);
    if (++j->robots_hops > CRAWL_ROBOTS_REDIRECTS_MAX || url_parse(&scratch, current_url(j), NULL, &from) != ST_OK ||
        url_parse(&scratch, url_header_ref(&scratch, location), &from, &to) != ST_OK || !url_is_http(&to) ||
        url_normalise(&scratch, &to, &(struct url_norm){0}, CRAWL_URL_MAX, &normal) != ST_OK ||
        refused_has(s->crawl, &normal)) {
        arena_done(&scratch);
        give_up_hop(s, j);
        return;
    }
    free((char *)j->robots_url.p);
    j->robots_url = span_of(mem_str(normal.href), normal.href.n);
    arena_done(&scratch);
    if (!j->wait)
        j->wait = timer_new(s->loop, on_hop_due, j);
    j->next = s->waiting;
    s->waiting = j;
    int64_t delay = s->crawl->o.delay_ms;
    timer_set(j->wait, delay < 0 ? pace_default.delay_ms : delay);
}

/* ---- the answer ---- */

void robots_fetch_done(struct shard *s, struct job *j, const struct fetch_result *r)
{
    struct crawl *cr = s->crawl;
    int code = r->http_status;
    j->result = frontier_result_of(cr, r, clock_wall());
    if (r->st == ST_REFUSED && j->robots_hops) { /* redirected to an address that we must not touch */
        j->result.st = ST_OK;
        give_up_hop(s, j);
        return;
    }
    if (r->st != ST_OK) {
        crawl_note_host_failure(cr, j->lease.host, r->st, r->why);
        /* An answer that is none of HTTP's business (too long) is no robots.txt; none, or one that was cut off or
         * garbled, is a host in trouble: what it would have forbidden is not known (2.3.1.4). */
        bool is_host = r->st != ST_LIMIT;
        if (!is_host)
            j->result.st = ST_OK;
        settle(s, j, is_host ? NULL : robots_all(true));
        return;
    }
    if (code >= 300 && code < 400 && r->location.n) {
        follow(s, j, r->location);
        return;
    }
    if (code >= 200 && code < 300) {
        settle(s, j, robots_parse(r->body, cr->agent));
    } else if (code >= 500 || code == 429) {
        crawl_note_host_failure(cr, j->lease.host, ST_AGAIN, "robots.txt answers with a server error");
        settle(s, j, NULL);
    } else {
        settle(s, j, robots_all(true));
    }
}
