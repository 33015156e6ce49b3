/* explain.c - "why is this URL not crawled?": walks the same decisions as the crawl, on what the folder holds. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/pack.h"
#include "codec/json.h"
#include "crawl/engine.h"
#include "plan/change_words.h"
#include "plan/page_rate.h"
#include "plan/trap.h"
#include "store/fleet.h"
#include "store/groups.h"
#include "web/simhash.h"

#define MEMBERS_SHOWN 20 /* of a group of near-duplicates */

/* ---- two outputs at once: a line for people, a member for programs ---- */

static void line(struct explain *e, const char *label, struct span value)
{
    buf_printf(&e->lines, "%-16s ", label);
    log_escape(&e->lines, value, 4096);
    buf_putc(&e->lines, '\n');
}

static void fact(struct explain *e, const char *name, const char *label, struct span value)
{
    line(e, label, value);
    struct json j = {.out = &e->json, .needs_comma = true};
    json_key(&j, name);
    json_text(&j, value);
}

static void fact_f(struct explain *e, const char *name, const char *label, const char *fmt, ...) PRINTF_LIKE(4, 5);
static void fact_f(struct explain *e, const char *name, const char *label, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    fact(e, name, label, buf_span(&b));
    buf_done(&b);
}

static void fact_time(struct explain *e, const char *name, const char *label, wall_ms at)
{
    struct tm tm;
    time_t t = (time_t)(at / 1000);
    char text[32];
    gmtime_r(&t, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    fact(e, name, label, span_str(text));
}

/* ---- the page ---- */

struct question {
    struct explain *e;
    const char *dir;
    struct store *store;
    struct arena arena;
    struct url url;
    uint64_t key;
    uint64_t channel;    /* of the page, 0: not visited */
    struct buf channels; /* what each channel of the folder says of the URL */
    unsigned depth;
    bool is_visited, is_in_scope, is_refused, is_forgotten;
    bool is_seen, is_away; /* in the set of known URLs; new all the same */
    bool has_content;      /* it can be searched */
    bool is_fleet;         /* a coordinator's: it knows the channels, and agents what waits */
};

static void say_timings(struct explain *e, const struct page *p)
{
    const struct {
        const char *name;
        int32_t us;
    } parts[] = {{"dns", p->dns_us},
                 {"connect", p->connect_us},
                 {"tls", p->tls_us},
                 {"first byte", p->first_byte_us},
                 {"total", p->total_us}};
    struct buf b = {0};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i].us > 0) /* a kept-alive connection has no connect and no handshake */
            buf_printf(&b, "%s%s %.1f ms", b.n ? ", " : "", parts[i].name, parts[i].us / 1000.0);
    if (b.n)
        fact(e, "timing", "timing", buf_span(&b));
    buf_done(&b);
}

static const char *state_of(const struct page *p)
{
    switch ((visit_outcome)p->outcome) {
    case VISIT_NEW:
    case VISIT_CHANGED:
    case VISIT_UNCHANGED:
        return "fetched";
    case VISIT_REDIRECT:
        return "redirect";
    case VISIT_GONE:
        return "gone";
    case VISIT_REFUSED:
        return "refused";
    case VISIT_ERROR:
        break;
    }
    return "error";
}

static void say_history(struct explain *e, struct span history)
{
    struct buf b = {0};
    wall_ms at = 0;
    bool changed;
    while (store_history_next(&history, &at, &changed))
        buf_putc(&b, changed ? 'C' : '.');
    if (b.n)
        fact(e, "history", "history", buf_span(&b));
    buf_done(&b);
}

/* ---- near-duplicates ---- */

static status note_url(void *arg, const struct page *p)
{
    buf_put(arg, p->url);
    return ST_OK;
}

static void say_group(struct question *q, const struct group *g)
{
    struct explain *e = q->e;
    struct buf url = {0};
    struct json j = {.out = &e->json, .needs_comma = true};
    if (g->flags & GROUPS_UNFOLLOWED)
        fact(e, "canonical_ignored", "canonical", SPAN("not followed: that page is not there, or has another text"));
    if (g->pages > 1) {
        buf_printf(&e->lines, "%-16s %u pages, of which a search shows one\n", "alike", g->pages);
        json_key(&j, "alike");
        json_u64(&j, g->pages);
    }
    if (g->first != q->key && store_page_get(q->store, g->first, note_url, &url) == ST_OK) {
        fact(e, "near_dup_of", "near-duplicate", buf_span(&url));
        buf_printf(&e->lines, "%-16s %u of %u bits%s\n", "differs in", g->distance, SIMHASH_BITS,
                   g->flags & GROUPS_CANONICAL ? ", and names it as canonical" : "");
        json_key(&j, "near_dup_distance");
        json_u64(&j, g->distance);
        json_key(&j, "near_dup_by_canonical");
        json_bool(&j, g->flags & GROUPS_CANONICAL);
    }
    buf_done(&url);
}

/* Whom the page stands for. */
static void say_members(struct question *q, const struct groups *groups, const struct group *g)
{
    uint64_t keys[MEMBERS_SHOWN];
    struct explain *e = q->e;
    struct buf url = {0};
    struct json j = {.out = &e->json, .needs_comma = true};
    struct group member;
    size_t n = g->first == q->key && g->pages > 1 ? groups_members(groups, q->key, keys, MEMBERS_SHOWN) : 0;
    if (!n)
        return;
    json_key(&j, "near_dups");
    json_open(&j, '[');
    for (size_t i = 0; i < n; i++) {
        buf_clear(&url);
        if (!groups_get(groups, keys[i], &member) || store_page_get(q->store, keys[i], note_url, &url) != ST_OK)
            continue;
        json_open(&j, '{');
        json_key(&j, "url");
        json_text(&j, buf_span(&url));
        json_key(&j, "distance");
        json_u64(&j, member.distance);
        json_key(&j, "by_canonical");
        json_bool(&j, member.flags & GROUPS_CANONICAL);
        json_close(&j, '}');
        line(e, "similar", buf_span(&url));
    }
    json_close(&j, ']');
    if (g->pages - 1 > n)
        buf_printf(&e->lines, "%-16s %zu more: orb search --similar shows them\n", "and", g->pages - 1 - n);
    buf_done(&url);
}

static void say_near_duplicates(struct question *q)
{
    struct buf path = {0};
    struct group g;
    groups_path(q->dir, &path);
    struct groups *groups = groups_open(path.p);
    if (groups_look(groups, q->key, &g)) {
        say_group(q, &g);
        say_members(q, groups, &g);
    }
    groups_release(groups);
    buf_done(&path);
}

static void say_rate(struct explain *e, uint64_t packed)
{
    struct buf words = {0};
    double factor, days = page_rate_days(packed, &factor);
    if (!packed)
        return;
    change_words_range(&words, 1 / days, factor);
    fact(e, "rate", "changes", buf_span(&words));
    buf_done(&words);
}

static status say_page(void *arg, const struct page *p)
{
    struct question *q = arg;
    struct explain *e = q->e;
    q->is_visited = true;
    q->channel = p->channel;
    q->depth = p->depth;
    e->state = state_of(p);
    fact_time(e, "visited", "last visit", p->at);
    if (p->http_status)
        fact_f(e, "http_status", "answer", "%u", p->http_status);
    if (p->failure != ST_OK)
        fact(e, "failure", "failure", span_str(status_name((status)p->failure)));
    if (p->reason.n)
        fact(e, "reason", p->outcome == VISIT_REFUSED ? "robots.txt rule" : "reason", p->reason);
    if (p->redirect.n)
        fact(e, "redirect", "redirects to", p->redirect);
    if (p->title.n)
        fact(e, "title", "title", p->title);
    if (p->content_type.n)
        fact(e, "content_type", "type", p->content_type);
    if (p->address.n)
        fact(e, "address", "address", p->address);
    say_timings(e, p);
    fact_f(e, "bytes", "bytes", "%" PRIu64 " received, %" PRIu64 " decoded, %" PRIu64 " of text", p->wire_bytes,
           p->body_bytes, p->text_bytes);
    fact_f(e, "visits", "visits", "%u, %u found a change", p->visits, p->changes);
    say_history(e, p->history);
    say_rate(e, p->rate);
    fact_f(e, "depth", "depth", "%u links from a seed", p->depth);
    if (p->canonical.n)
        fact(e, "canonical", "canonical", p->canonical);
    q->has_content = p->content != 0;
    if (p->page_flags & PAGE_LIST)
        fact_f(e, "list", "list", "a sitemap or a feed: %sitself is not searched in",
               p->reason.n ? "" : "what it lists is followed, ");
    else if (p->page_flags & PAGE_SKIPPED)
        fact_f(e, "program", "program", "left out of the index by skip()");
    else if (p->page_flags)
        fact_f(e, "robots", "page asks", "%s%s%s%s", p->page_flags & PAGE_NOINDEX ? "noindex " : "",
               p->page_flags & PAGE_NOFOLLOW ? "nofollow " : "", p->page_flags & PAGE_NOARCHIVE ? "noarchive " : "",
               p->page_flags & PAGE_NOSNIPPET ? "nosnippet" : "");
    return ST_OK;
}

/* ---- channels ---- */

static const char *verdict_text(channel_verdict v)
{
    switch (v) {
    case CHANNEL_YES:
        return "in scope";
    case CHANNEL_OUT_OF_SCOPE:
        return "out of scope: widen with --scope domain, or give it as a seed";
    case CHANNEL_NOT_INCLUDED:
        return "no --include pattern matches";
    case CHANNEL_EXCLUDED:
        return "excluded by";
    case CHANNEL_TOO_DEEP:
        return "too deep: raise --depth";
    case CHANNEL_FORGOTTEN: /* said by itself */
        break;
    }
    return "?";
}

static status say_channel(void *arg, uint64_t id, struct span packed)
{
    struct question *q = arg;
    struct channel *c;
    status st = channel_unpack(packed, &c);
    if (st != ST_OK)
        return st;
    struct span pattern = {0};
    const struct channel_opts *o = channel_get_opts(c);
    channel_verdict v = channel_check(c, &q->url, q->depth, &pattern);
    q->is_in_scope |= v == CHANNEL_YES;
    buf_printf(&q->channels, "%s%.*s%s: %s%s%.*s", q->channels.n ? "; " : "",
               SPAN_ARG(o->seed_count ? o->seeds[0] : SPAN("")), o->seed_count > 1 ? " and others" : "",
               verdict_text(v), pattern.n ? " " : "", SPAN_ARG(pattern));
    channel_free(c);
    return ST_OK;
}

/* ---- is it forgotten? ---- */

static status say_forgotten(void *arg, const struct forgotten *f)
{
    struct question *q = arg;
    struct places_item place;
    char since[16];
    struct tm tm;
    time_t t = (time_t)(f->at / 1000);
    if (places_parse(&q->arena, f->place, &place, NULL) != ST_OK || !places_item_has(&place, &q->url))
        return ST_OK;
    gmtime_r(&t, &tm);
    strftime(since, sizeof(since), "%Y-%m-%d", &tm);
    fact_f(q->e, "forgotten", "forgotten", "since %s, as %.*s%s%.*s", since, SPAN_ARG(f->place), f->why.n ? ": " : "",
           SPAN_ARG(f->why));
    q->is_forgotten = true;
    q->e->state = "forgotten";
    return ST_END;
}

/* ---- the host ---- */

static void say_robots(struct question *q, const struct frontier_info *i)
{
    struct span site = url_site(&q->arena, &q->url);
    for (size_t k = 0; k < i->site_count; k++) {
        const struct frontier_site_info *s = &i->sites[k];
        if (!span_eq(s->site, site))
            continue;
        if (s->robots_failing_since)
            fact_time(q->e, "robots_failing_since", "robots.txt fails", s->robots_failing_since);
        if (!s->rules) {
            fact(q->e, "robots_txt", "robots.txt", SPAN("not known yet"));
            return;
        }
        struct robots_verdict v = robots_check(s->rules, url_request_target(&q->url));
        q->is_refused = !v.allowed;
        if (v.rule.n)
            fact_f(q->e, "robots_txt", "robots.txt", "%s by line %u: %.*s", v.allowed ? "allowed" : "disallowed",
                   v.line, SPAN_ARG(v.rule));
        else
            fact(q->e, "robots_txt", "robots.txt", SPAN("allowed: no rule matches"));
        if (robots_crawl_delay_ms(s->rules) >= 0)
            fact_f(q->e, "crawl_delay", "crawl-delay", "%.1f s", (double)robots_crawl_delay_ms(s->rules) / 1000);
        return;
    }
    fact(q->e, "robots_txt", "robots.txt", SPAN("not asked for yet"));
}

static status say_host(void *arg, struct span host, struct span packed)
{
    struct question *q = arg;
    struct explain *e = q->e;
    struct frontier_info i;
    status st = frontier_info_read(packed, &i);
    if (st != ST_OK)
        return st;
    fact_f(e, "host", "host", "%.*s: %" PRIu64 " URLs wait, %" PRIu64 " requests so far", SPAN_ARG(i.name), i.queued,
           i.requests);
    fact_f(e, "delay", "pause", "%.1f s between requests", (double)i.delay_ms / 1000);
    if (i.borne_ms > 0)
        fact(e, "borne", "slowed", SPAN("one request at a time, and fewer, since it answered 429 (too many requests)"));
    if (i.failures || i.is_given_up)
        fact_f(e, "host_failure", "host trouble", "%s, %u times in a row%s", status_name(i.last_failure), i.failures,
               i.is_given_up ? "; left until the next run" : "");
    if (i.failures && !i.is_given_up)
        fact_time(e, "not_before", "not before", i.next_ok);
    if (i.server_ms >= 0)
        fact_f(e, "server_time", "server time", "%.1f ms, path %.1f ms", i.server_ms, i.rtt_ms < 0 ? 0 : i.rtt_ms);
    if (i.traps)
        fact_f(e, "traps", "traps", "%" PRIu64 " URLs of this host were parked as traps", i.traps);
    if (i.traps_seen && q->url.has_query &&
        trap_peek(i.traps_seen, store_key(q->store), q->url.path) >= TRAP_VARIANTS_MAX) {
        fact(e, "trap", "trap", SPAN("this path has too many query variants: parked"));
        if (!q->is_visited)
            e->state = "parked";
    }
    say_robots(q, &i);
    frontier_info_done(&i);
    return ST_OK;
}

/* ---- is it waiting? ---- */

static status find_link(void *arg, uint8_t type, struct span payload)
{
    struct question *q = arg;
    struct summary sum;
    struct arena a;
    if (type != REC_SUMMARY)
        return ST_OK;
    arena_init(&a);
    status st = summary_unpack(&a, payload, &sum);
    bool has = false;
    for (size_t i = 0; st == ST_OK && i < sum.link_count; i++)
        has |= sum.links[i].key == q->key && (sum.links[i].flags & SUMMARY_LINK_NEW);
    arena_done(&a);
    return has ? ST_EXISTS : ST_OK;
}

/* Unlike the crawl this reads key files one by one, without taking the folder over. */
static void find_seen(struct question *q, struct span payload)
{
    struct buf dir = {0};
    buf_printf(&dir, "%s/seen", q->dir);
    q->is_seen |= seen_record_has(buf_cstr(&dir), payload, q->key);
    buf_done(&dir);
}

static void find_away(struct question *q, struct span payload)
{
    struct unpack u = unpack_of(payload);
    while (!unpack_at_end(&u) && !u.bad)
        q->is_away |= unpack_u64(&u) == q->key;
}

static status find_known(void *arg, uint8_t type, struct span payload)
{
    if (type == REC_SEEN)
        find_seen(arg, payload);
    if (type == REC_AWAY)
        find_away(arg, payload);
    return type == REC_HOST ? ST_END : ST_OK; /* those are the rest */
}

/* It was taken out, and the crawl has not been told yet. */
static status find_unseen(void *arg, uint64_t number, uint64_t key)
{
    struct question *q = arg;
    q->is_away |= key == q->key;
    return q->is_away ? ST_END : ST_OK;
}

static bool is_known(struct question *q)
{
    struct buf path = {0};
    struct records_info info;
    buf_printf(&path, "%s/checkpoint", q->dir);
    status st = records_read(buf_cstr(&path), KIND_CHECKPOINT, find_known, q, &info);
    if (q->is_seen && !q->is_away)
        st = store_unsee_each(q->store, find_unseen, q);
    bool is = q->is_seen && !q->is_away;
    DIR *d = is ? NULL : opendir(q->dir);
    for (struct dirent *e; st != ST_EXISTS && d && (e = readdir(d));) {
        if (strncmp(e->d_name, "journal-", 8) != 0)
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", q->dir, e->d_name);
        st = records_read(buf_cstr(&path), KIND_JOURNAL, find_link, q, &info);
    }
    if (d)
        closedir(d);
    buf_done(&path);
    return is || st == ST_EXISTS;
}

static void decide_state(struct question *q)
{
    struct explain *e = q->e;
    if (q->is_visited || e->state)
        return;
    if (trap_repeats(q->url.path)) {
        fact(e, "trap", "trap", SPAN("a path segment repeats too often: parked"));
        e->state = "parked";
    } else if (q->is_fleet) {
        e->state = "not visited";
    } else if (!q->is_in_scope) {
        e->state = "out of scope";
    } else if (q->is_refused) {
        e->state = "refused";
    } else {
        e->state = is_known(q) ? "waiting" : "unknown";
    }
    if (!strcmp(e->state, "waiting"))
        fact(e, "queue", "queue", SPAN("found by a link and waiting for its turn"));
    if (!strcmp(e->state, "unknown"))
        fact(e, "queue", "queue", SPAN("no link to it was found so far"));
}

status crawl_explain(const char *data_dir, struct span url, struct explain *out, struct buf *why)
{
    struct question q = {.e = out, .dir = data_dir};
    *out = (struct explain){0};
    arena_init(&q.arena);
    status st = store_open(data_dir, STORE_READ, &q.store, why);
    if (st == ST_OK) {
        st = url_parse(&q.arena, url, NULL, &q.url);
        if (st != ST_OK)
            buf_puts(why, "not an http or https URL");
    }
    if (st == ST_OK) {
        q.key = siphash(store_key(q.store), q.url.href);
        struct json j = {.out = &out->json};
        json_open(&j, '{');
        json_key(&j, "url");
        json_text(&j, q.url.href);
        out->url = span_of(mem_str(q.url.href), q.url.href.n);
        st = store_page_get(q.store, q.key, say_page, &q);
        wall_ms listed;
        if ((st == ST_OK || st == ST_NOT_FOUND) && store_listed_get(q.store, q.key, &listed) == ST_OK)
            fact_time(out, "listed", "listed change", listed);
        if (q.has_content)
            say_near_duplicates(&q);
        q.is_fleet = fleet_is_there(data_dir);
        if (st == ST_OK || st == ST_NOT_FOUND)
            st = q.is_fleet ? ST_OK : store_channel_each(q.store, say_channel, &q);
        if (st == ST_OK) {
            st = store_forgotten_each(q.store, say_forgotten, &q);
            st = st == ST_END ? ST_OK : st;
        }
        if (st == ST_OK && q.channels.n && !q.is_forgotten)
            fact(out, "channel", "channel", buf_span(&q.channels));
        if (st == ST_OK && !q.is_fleet)
            st = store_host_get(q.store, q.url.host, say_host, &q);
        if (st == ST_NOT_FOUND)
            st = ST_OK;
        if (st == ST_OK)
            decide_state(&q);
        struct buf all = {0};
        buf_printf(&all, "%-16s %s\n", "state", out->state ? out->state : "unknown");
        buf_put(&all, buf_span(&out->lines));
        buf_done(&out->lines);
        out->lines = all;
        json_key(&j, "state");
        json_str(&j, out->state ? out->state : "unknown");
        json_close(&j, '}');
        if (st != ST_OK)
            buf_puts(why, status_name(st));
    }
    store_free(q.store);
    buf_done(&q.channels);
    arena_done(&q.arena);
    if (st != ST_OK)
        explain_done(out);
    return st;
}

void explain_done(struct explain *e)
{
    free((char *)e->url.p);
    buf_done(&e->lines);
    buf_done(&e->json);
    *e = (struct explain){0};
}
