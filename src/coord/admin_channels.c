/* admin_channels.c - channels, networks and tasks in the API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/pinning.h"
#include "coord/recrawling.h"
#include "io/clock.h"

#define SEEDS_SHOWN 100
#define HOSTS_SHOWN 100
#define IMPORT_PROBLEMS_SHOWN 20
#define SORTED_MAX 10000 /* more are listed in no order: agents wait for the lock meanwhile */
#define LISTED_MAX 10000 /* in one answer */

const char *scope_name(channel_scope s)
{
    return s == SCOPE_DOMAIN ? "domain" : s == SCOPE_PREFIX ? "prefix" : "site";
}

const char *network_state_name(network_state s)
{
    static const char *const names[] = {
        [NETWORK_FREE] = "free", [NETWORK_OWNED] = "owned", [NETWORK_LEAVING] = "leaving", [NETWORK_SPLIT] = "split"};
    return names[s];
}

const char *task_state_name(task_state s)
{
    static const char *const names[] = {"waiting", "waiting", "running", "done", "ending", "ended"};
    return (size_t)s < sizeof(names) / sizeof(*names) ? names[s] : "waiting";
}

/* ---- what is shown ---- */

/* ?offset=&limit= of a list of `n`: a list may be longer than an answer should be. */
struct part {
    size_t from, to;
};

static struct part part_of(const struct pairs *in, size_t n)
{
    uint64_t offset = 0, limit = LISTED_MAX;
    if (!pairs_u64(in, "offset", UINT32_MAX, &offset) || offset > n)
        offset = n;
    if (!pairs_u64(in, "limit", LISTED_MAX, &limit))
        limit = LISTED_MAX;
    return (struct part){(size_t)offset, n - offset < limit ? n : (size_t)(offset + limit)};
}

static int by_label(const void *x, const void *y)
{
    const struct c_channel *a = *(struct c_channel *const *)x, *b = *(struct c_channel *const *)y;
    int c = strcmp(a->label, b->label);
    return c ? c : a->id < b->id ? -1 : a->id > b->id;
}

size_t channels_sorted(struct coord *c, struct arena *a, struct c_channel ***out)
{
    struct c_channel **list = arena_alloc(a, (c->channels.n + 1) * sizeof(struct c_channel *));
    size_t n = 0, at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));)
        list[n++] = ch;
    if (n <= SORTED_MAX)
        qsort(list, n, sizeof(struct c_channel *), by_label);
    *out = list;
    return n;
}

static int by_network(const void *x, const void *y)
{
    const struct network *a = &(*(struct c_network *const *)x)->network, *b = &(*(struct c_network *const *)y)->network;
    return memcmp(&a->first, &b->first, sizeof(a->first));
}

size_t networks_sorted(struct coord *c, struct arena *a, uint64_t agent, struct c_network ***out)
{
    struct c_network **list = arena_alloc(a, (c->networks.n + 1) * sizeof(struct c_network *));
    size_t n = 0, at = 0;
    for (struct c_network *w; (w = table_next(&c->networks, &at));)
        if (!agent || (w->agent == agent && w->state != NETWORK_FREE))
            list[n++] = w;
    if (n <= SORTED_MAX)
        qsort(list, n, sizeof(struct c_network *), by_network);
    *out = list;
    return n;
}

void channel_figures_get(const struct c_channel *ch, struct channel_figures *out)
{
    *out = (struct channel_figures){0};
    for (size_t i = 0; i < ch->task_count; i++) {
        const struct c_task *t = ch->tasks[i];
        out->queued += t->is_ended ? 0 : t->progress.queued;
        out->fetched += t->progress.fetched;
        out->unchanged += t->progress.unchanged;
        out->errors += t->progress.errors;
        out->gone += t->progress.gone;
        out->bytes += t->progress.bytes;
        if (t->is_ended)
            continue;
        out->tasks++;
        out->running += t->progress.state == TASK_RUNNING;
        out->done += t->progress.state == TASK_DONE;
        if (out->agent_count < sizeof(out->agents) / sizeof(*out->agents))
            out->agents[out->agent_count++] = t->agent;
    }
    out->is_done = out->tasks && out->done == out->tasks;
}

const char *channel_shown_state(const struct c_channel *ch, const struct channel_figures *f)
{
    if (ch->is_removed)
        return "removed";
    if (ch->is_paused)
        return "paused";
    return f->is_done ? "done" : f->running ? "running" : "waiting";
}

static bool has_workers(const struct coord *c)
{
    bool has = false;
    for (size_t i = 0; i < c->agent_count && !has; i++)
        has = c->agents[i] && agent_may_work(c, c->agents[i]);
    return has;
}

void channel_waits_for(struct coord *c, const struct c_channel *ch, struct buf *out)
{
    bool may_begin = !ch->is_paused && !ch->is_removed;
    for (size_t i = 0; may_begin && i < ch->host_count && !out->n; i++) {
        const struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
        if (h && h->state == HOST_FAILED)
            buf_printf(out, "%s is not found: its name leads nowhere, or not to a public address", h->name);
        else if (h && h->state != HOST_PLACED)
            buf_printf(out, "%s is being looked up", h->name);
        else if (h && h->network && h->network->state == NETWORK_FREE)
            buf_printf(out, "%s has no agent: %s", h->name,
                       !has_workers(c)      ? "none is there that takes networks"
                       : h->network->why[0] ? h->network->why
                                            : "it is being decided whose it is");
    }
}

static const char *name_of(struct coord *c, uint64_t agent)
{
    const struct c_agent *a = agent_get(c, agent);
    return a ? a->name : "";
}

static void put_texts(struct json *j, const char *name, const struct span *list, size_t n, size_t max)
{
    json_key(j, name);
    json_open(j, '[');
    for (size_t i = 0; i < n && i < max; i++)
        json_text(j, list[i]);
    json_close(j, ']');
}

/* coord.lock held. */
static void put_channel(struct coord *c, struct json *j, const struct c_channel *ch, bool is_whole)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct channel_figures f;
    channel_figures_get(ch, &f);
    json_open(j, '{');
    put_id(j, "id", ch->id);
    put_str(j, "label", ch->label);
    put_str(j, "scope", scope_name(o->scope));
    put_u64(j, "depth", o->depth_max);
    put_str(j, "kind", ch->kind == SUMMARY_KEYWORDS ? "keywords" : "text");
    put_bool(j, "warc", ch->wants_warc);
    put_bool(j, "paused", ch->is_paused);
    put_bool(j, "found", ch->is_found);
    put_bool(j, "removed", ch->is_removed);
    put_u64(j, "expected", ch->expected_pages);
    put_str(j, "program", ch->program);
    put_u64(j, "every_ms", (uint64_t)channel_every_ms(ch));
    put_time(j, "added", ch->added);
    put_time(j, "checked", ch->checked);
    json_key(j, "pinned");
    json_text_or_null(j, span_str(name_of(c, ch->pinned_agent)));
    json_key(j, "agents");
    json_open(j, '[');
    for (unsigned i = 0; i < f.agent_count; i++)
        json_str(j, name_of(c, f.agents[i]));
    json_close(j, ']');
    put_u64(j, "tasks", f.tasks);
    put_str(j, "state", channel_shown_state(ch, &f));
    struct buf waits_for = {0};
    if (!f.tasks)
        channel_waits_for(c, ch, &waits_for);
    json_key(j, "waits_for");
    json_text_or_null(j, buf_span(&waits_for));
    buf_done(&waits_for);
    put_u64(j, "fetched", f.fetched);
    put_u64(j, "unchanged", f.unchanged);
    put_u64(j, "queued", f.queued);
    put_u64(j, "errors", f.errors);
    put_u64(j, "gone", f.gone);
    put_u64(j, "bytes", f.bytes);
    put_u64(j, "seed_count", o->seed_count);
    put_texts(j, "seeds", o->seeds, o->seed_count, is_whole ? SIZE_MAX : 1);
    put_u64(j, "host_count", ch->host_count);
    put_recrawl(c, j, ch);
    if (is_whole) {
        put_texts(j, "include", o->include, o->include_count, SIZE_MAX);
        put_texts(j, "exclude", o->exclude, o->exclude_count, SIZE_MAX);
        put_texts(j, "sitemaps", o->lists, o->list_count, SIZE_MAX);
        put_texts(j, "hosts", ch->hosts, ch->host_count, HOSTS_SHOWN);
    }
    json_close(j, '}');
}

void deed_channels(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct c_channel **list;
    bool is_whole = pairs_is_true(&r->in, "whole");
    json_open(&j, '{');
    json_key(&j, "channels");
    json_open(&j, '[');
    pthread_mutex_lock(&r->c->lock);
    size_t n = channels_sorted(r->c, r->arena, &list);
    struct part p = part_of(&r->in, n);
    for (size_t i = p.from; i < p.to; i++)
        put_channel(r->c, &j, list[i], is_whole);
    pthread_mutex_unlock(&r->c->lock);
    json_close(&j, ']');
    put_u64(&j, "total", n);
    json_close(&j, '}');
}

/* By id (hex, as we write it) or by label when only one has it. */
static struct c_channel *find_channel(struct ask *r, struct deed *d)
{
    struct span text = r->args[0];
    uint64_t id = 0;
    bool is_hex = text.n == 16;
    for (size_t i = 0; is_hex && i < text.n; i++) {
        int h = ascii_hex(text.p[i]);
        is_hex = h >= 0;
        id = id << 4 | (uint64_t)(h & 15);
    }
    struct c_channel *found = is_hex ? channel_get(r->c, id) : NULL;
    size_t at = 0, same = 0;
    if (!found && text.n) {
        for (struct c_channel *ch; (ch = table_next(&r->c->channels, &at));)
            if (span_is(text, ch->label)) {
                found = ch;
                same++;
            }
    }
    if (same > 1) {
        deed_fail(d, 409, "ambiguous", "%zu channels are called so. Name one by its id.", same);
        return NULL;
    }
    if (!found)
        deed_fail(d, 404, "not_found",
                  "There is no such channel. orb channel list (GET /api/v1/channels) shows them with their ids.");
    return found;
}

void deed_channel(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    const struct c_channel *ch = find_channel(r, d);
    if (ch)
        put_channel(r->c, &j, ch, true);
    pthread_mutex_unlock(&r->c->lock);
}

/* ---- adding and editing ---- */

static bool bad_field(struct deed *d, const char *name, const char *want)
{
    deed_fail_field(d, name, want);
    return false;
}

/* "example.org" as people write it. */
static struct span with_scheme(struct arena *a, struct span url)
{
    if (span_search(url, SPAN("://"), false) < url.n)
        return url;
    struct buf b = {0};
    buf_puts(&b, "https://");
    buf_put(&b, url);
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

/* Normalised; false: *bad is no http(s) URL. */
static bool normalise(struct arena *a, struct span *urls, size_t n, struct span *bad)
{
    for (size_t i = 0; i < n; i++) {
        struct url u;
        if (url_parse(a, with_scheme(a, urls[i]), NULL, &u) != ST_OK || !url_is_http(&u)) {
            *bad = urls[i];
            return false;
        }
        urls[i] = arena_copy(a, span_cut(u.href, 0, span_find(u.href, '#', 0)));
    }
    return true;
}

static bool read_scope(struct span s, channel_scope *out)
{
    if (span_is(s, "domain"))
        *out = SCOPE_DOMAIN;
    else if (span_is(s, "prefix"))
        *out = SCOPE_PREFIX;
    else if (span_is(s, "site"))
        *out = SCOPE_SITE;
    else
        return s.n == 0;
    return true;
}

static bool read_sitemaps(struct ask *r, struct deed *d, struct channel_opts *o)
{
    struct span *lines, bad;
    if (!pairs_has(&r->in, "sitemaps"))
        return true;
    o->list_count = pairs_lines(r->arena, &r->in, "sitemaps", CHANNEL_LISTS_MAX + 1, &lines);
    o->lists = lines;
    if (normalise(r->arena, lines, o->list_count, &bad))
        return true;
    deed_fail(d, 400, "invalid", "\"%.*s\" is no http or https address. Correct it.", SPAN_ARG(span_cut(bad, 0, 200)));
    d->field = "sitemaps";
    return false;
}

/* Fields that are not sent stay as they are in *o and *f. */
static bool read_form(struct ask *r, struct deed *d, struct channel_opts *o, struct channel_form *f)
{
    const struct pairs *in = &r->in;
    struct span *lines, bad;
    uint64_t depth = o->depth_max;
    if (pairs_has(in, "seeds")) {
        o->seed_count = pairs_lines(r->arena, in, "seeds", CHANNEL_SEEDS_MAX + 1, &lines);
        o->seeds = lines;
        if (!normalise(r->arena, lines, o->seed_count, &bad)) {
            deed_fail(d, 400, "invalid", "\"%.*s\" is no http or https address. Correct it.",
                      SPAN_ARG(span_cut(bad, 0, 200)));
            d->field = "seeds";
            return false;
        }
    }
    if (o->seed_count == 0)
        return bad_field(d, "seeds", "one address or more, one a line");
    if (!read_scope(pairs_get(in, "scope"), &o->scope))
        return bad_field(d, "scope", "site, domain or prefix");
    if (pairs_has(in, "include")) {
        o->include_count = pairs_lines(r->arena, in, "include", CHANNEL_PATTERNS_MAX + 1, &lines);
        o->include = lines;
    }
    if (pairs_has(in, "exclude")) {
        o->exclude_count = pairs_lines(r->arena, in, "exclude", CHANNEL_PATTERNS_MAX + 1, &lines);
        o->exclude = lines;
    }
    if (!read_sitemaps(r, d, o))
        return false;
    if (!pairs_u64(in, "depth", 64, &depth))
        return bad_field(d, "depth", "a number of links up to 64");
    o->depth_max = (unsigned)depth;
    struct span kind = pairs_get(in, "kind");
    if (kind.n && !span_is(kind, "text") && !span_is(kind, "keywords"))
        return bad_field(d, "kind", "text or keywords");
    if (kind.n)
        f->kind = span_is(kind, "keywords") ? SUMMARY_KEYWORDS : SUMMARY_TEXT;
    if (!read_recrawl_rule(r, d, &f->rule))
        return false;
    if (!pairs_u64(in, "expected", 1000000000, &f->expected_pages))
        return bad_field(d, "expected", "a number of pages");
    if (pairs_has(in, "warc"))
        f->wants_warc = pairs_is_true(in, "warc");
    const struct {
        const char *name;
        struct span *to;
        size_t max;
    } texts[] = {{"label", &f->label, COORD_LABEL_MAX}, {"program", &f->program, 33}, {"agent", &f->agent, 65}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (pairs_has(in, texts[i].name))
            *texts[i].to = pairs_get(in, texts[i].name);
        if (texts[i].to->n >= texts[i].max)
            return bad_field(d, texts[i].name, "it is too long");
    }
    return true;
}

/* What no agent could be told. */
static bool is_too_large(const struct channel *ch)
{
    struct buf packed = {0};
    channel_pack(ch, &packed);
    size_t n = packed.n;
    buf_done(&packed);
    return n > COORD_CHANNEL_BYTES;
}

/* coord.lock held. */
static struct c_channel *put_in(struct ask *r, struct deed *d, const struct channel_opts *o, struct channel_form *f,
                                bool is_new_wanted)
{
    struct buf why = {0};
    struct c_channel *ch = NULL;
    status st = channel_new(o, &f->channel, &why);
    const struct c_channel *there = st == ST_OK ? channel_get(r->c, channel_id(f->channel)) : NULL;
    /* One that links led to becomes a person's. */
    if (there && is_new_wanted && !there->is_found && !there->is_removed) {
        buf_puts(&why, "There is a channel with these seeds and this scope. Edit that one.");
        st = ST_EXISTS;
    }
    if (st == ST_OK && is_too_large(f->channel)) {
        buf_printf(&why, "These are more than %u KiB of seeds and patterns. Make several channels of them.",
                   COORD_CHANNEL_BYTES >> 10);
        st = ST_LIMIT;
    }
    if (st == ST_OK)
        st = channel_put(r->c, f, &ch, &why);
    if (st != ST_OK) {
        deed_fail_status(d, st, &why);
        d->field = there && is_new_wanted ? "seeds" : NULL;
    }
    channel_free(f->channel);
    buf_done(&why);
    return st == ST_OK ? ch : NULL;
}

static struct span default_label(struct arena *a, const struct channel_opts *o)
{
    struct url u;
    if (o->seed_count && url_parse(a, o->seeds[0], NULL, &u) == ST_OK)
        return span_cut(u.host, 0, COORD_LABEL_MAX - 1);
    return SPAN("");
}

void deed_channel_add(struct ask *r, struct deed *d)
{
    struct channel_opts o = {.scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.kind = SUMMARY_TEXT};
    struct json j = {.out = &d->out};
    if (!read_form(r, d, &o, &f))
        return;
    if (f.label.n == 0)
        f.label = default_label(r->arena, &o);
    pthread_mutex_lock(&r->c->lock);
    struct c_channel *ch = put_in(r, d, &o, &f, true);
    if (ch) {
        json_open(&j, '{');
        put_id(&j, "id", ch->id);
        put_str(&j, "label", ch->label);
        json_close(&j, '}');
        buf_printf(&d->message, "Added: %s. It starts when its addresses are known and an agent is there.", ch->label);
        log_write(r->c->o.log, LOG_INFO, "admin", "a channel was added id=%016llx by=%s", (unsigned long long)ch->id,
                  r->who.name);
    }
    pthread_mutex_unlock(&r->c->lock);
}

/* One URL a line: each is a channel of its own. The text is the field "lines", or the whole body. */
void deed_channel_import(struct ask *r, struct deed *d)
{
    struct json_pair whole = {SPAN("lines"), r->body};
    struct pairs in = r->is_octets ? (struct pairs){&whole, 1} : r->in;
    struct span *lines;
    size_t n = pairs_lines(r->arena, &in, "lines", CHANNEL_SEEDS_MAX, &lines), added = 0, had = 0, bad_count = 0;
    struct span bad[IMPORT_PROBLEMS_SHOWN];
    struct json j = {.out = &d->out};
    struct channel_opts all = {.seeds = lines, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form form = {.kind = SUMMARY_TEXT};
    if (n == 0) {
        deed_fail(d, 400, "invalid", "There are no addresses in it. Send one a line.");
        d->field = "lines";
        return;
    }
    if (!read_form(r, d, &all, &form))
        return;
    for (size_t i = 0; i < n; i++) {
        struct span url = lines[i], wrong;
        struct deed one = {.code = 200};
        struct c_channel *ch = NULL;
        if (normalise(r->arena, &url, 1, &wrong)) {
            struct channel_opts o = all;
            struct channel_form f = form;
            o.seeds = &url;
            if (f.label.n == 0)
                f.label = default_label(r->arena, &o);
            pthread_mutex_lock(&r->c->lock); /* for each: the agents' calls go on between two */
            ch = put_in(r, &one, &o, &f, true);
            pthread_mutex_unlock(&r->c->lock);
        } else
            one.code = 400;
        added += ch != NULL;
        had += !ch && one.name && strcmp(one.name, "exists") == 0;
        if (!ch && !(one.name && strcmp(one.name, "exists") == 0)) {
            if (bad_count < IMPORT_PROBLEMS_SHOWN)
                bad[bad_count] = lines[i];
            bad_count++;
        }
        buf_done(&one.why);
    }
    json_open(&j, '{');
    put_u64(&j, "added", added);
    put_u64(&j, "there", had);
    put_u64(&j, "bad", bad_count);
    put_texts(&j, "bad_lines", bad, bad_count, IMPORT_PROBLEMS_SHOWN);
    json_close(&j, '}');
    buf_printf(&d->message, "%zu added, %zu were there, %zu are no addresses.", added, had, bad_count);
}

static void edit(struct ask *r, struct deed *d, struct c_channel *ch)
{
    const struct channel_opts *old = channel_get_opts(ch->channel);
    struct channel_opts o = *old;
    const struct c_agent *pinned = agent_get(r->c, ch->pinned_agent);
    struct channel_form f = {.label = arena_copy(r->arena, span_str(ch->label)),
                             .program = arena_copy(r->arena, span_str(ch->program)),
                             .agent = pinned ? arena_copy(r->arena, span_str(pinned->name)) : SPAN(""),
                             .kind = ch->kind,
                             .wants_warc = ch->wants_warc,
                             .is_paused = ch->is_paused,
                             .is_found = ch->is_found,
                             .expected_pages = ch->expected_pages,
                             .rule = ch->recrawl.rule};
    struct buf why = {0};
    struct c_channel *same = ch;
    if (!read_form(r, d, &o, &f))
        return;
    status st = channel_new(&o, &f.channel, &why);
    /* Seeds and scope are what a channel is; with others it is another one. */
    if (st == ST_OK && channel_id(f.channel) != ch->id) {
        buf_puts(&why,
                 "Seeds and scope make a channel and cannot be changed. Add another channel and remove this one.");
        st = ST_EXISTS;
    }
    if (st == ST_OK)
        st = channel_put(r->c, &f, &same, &why);
    if (st != ST_OK)
        deed_fail_status(d, st, &why);
    else
        buf_puts(&d->message, "Changed.");
    channel_free(f.channel);
    buf_done(&why);
}

static void set_paused(struct ask *r, struct c_channel *ch, bool is_paused)
{
    ch->is_paused = is_paused;
    save_channel(r->c, ch);
    assign_channel_changed(r->c, ch);
    recrawling_changed(r->c, ch);
}

/* ---- moving ---- */

static bool read_target(struct ask *r, struct deed *d, uint64_t *to)
{
    struct span name = pairs_get(&r->in, "to");
    const struct c_agent *a = name.n ? agent_by_name(r->c, name) : NULL;
    *to = a ? a->number : 0;
    if (name.n && !a) {
        deed_fail(d, 404, "not_found",
                  "There is no agent of this name. orb agent list (GET /api/v1/agents) shows them.");
        d->field = "to";
    }
    return !name.n || a;
}

static void move_channel(struct ask *r, struct deed *d, struct c_channel *ch)
{
    uint64_t to;
    size_t moved = 0;
    status last = ST_OK;
    if (!read_target(r, d, &to))
        return;
    for (size_t i = 0; i < ch->host_count; i++) {
        struct c_host *h = table_get(&r->c->hosts, siphash(&r->c->key, ch->hosts[i]));
        if (!h || !h->network)
            continue;
        status st = assign_move(r->c, h->network, to, MOVE_PERSON, "an operator moved its channel");
        moved += st == ST_OK;
        if (st != ST_OK && st != ST_EXISTS)
            last = st;
    }
    if (last != ST_OK && !moved)
        deed_fail_status(d, last, &(struct buf){0});
    else
        buf_printf(&d->message, "%zu networks move.", moved);
}

void deed_network_move(struct ask *r, struct deed *d)
{
    struct span text = pairs_get(&r->in, "network");
    uint64_t to;
    pthread_mutex_lock(&r->c->lock);
    struct c_network *n = text.n ? table_get(&r->c->networks, siphash(&r->c->key, text)) : NULL;
    if (!n) {
        deed_fail(d, 404, "not_found", "There is no such network. orb network list (GET /api/v1/networks) shows them.");
        d->field = "network";
    } else if (read_target(r, d, &to) && to && !pinning_allows(r->c, n, to)) {
        const struct pin *pin = pinning_of(r->c, n);
        struct span line = pin ? pin_text(pin) : SPAN("the agent's owner refuses its country");
        deed_fail(d, 409, "pinned", "%s: %.*s", pin ? "A line says who may have it" : "It cannot go there",
                  SPAN_ARG(line));
        d->field = "to";
    } else if (d->code < 400) {
        n->is_fixed = to != 0; /* it stays there, however far that is */
        n->is_trial = n->is_doubted = false;
        status st = assign_move(r->c, n, to, MOVE_PERSON, "an operator moved it");
        if (st != ST_OK)
            deed_fail_status(d, st, &(struct buf){0});
        else {
            buf_puts(&d->out, "{}");
            buf_printf(&d->message, "%s moves when its agent has confirmed.", n->text);
            log_write(r->c->o.log, LOG_INFO, "admin", "a network is moved network=%s by=%s", n->text, r->who.name);
        }
    }
    pthread_mutex_unlock(&r->c->lock);
}

static void recheck_all(struct ask *r, struct deed *d)
{
    bool is_whole = pairs_is_true(&r->in, "whole");
    uint64_t n = 0;
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&r->c->channels, &at));)
        n += recrawling_visit(r->c, ch, clock_wall(), is_whole, true);
    pthread_mutex_unlock(&r->c->lock);
    json_open(&j, '{');
    put_u64(&j, "channels", n);
    json_close(&j, '}');
    buf_printf(&d->message, "Agents look at the pages of %llu channels again.", (unsigned long long)n);
    log_write(r->c->o.log, LOG_INFO, "admin", "channels: recheck all=%llu by=%s", (unsigned long long)n, r->who.name);
}

void deed_channel_do(struct ask *r, struct deed *d)
{
    struct span verb = r->args[1];
    if (span_is(r->args[0], "all") && span_is(verb, "recheck")) {
        recheck_all(r, d);
        return;
    }
    pthread_mutex_lock(&r->c->lock);
    struct c_channel *ch = find_channel(r, d);
    if (!ch) {
        pthread_mutex_unlock(&r->c->lock);
        return;
    }
    uint64_t id = ch->id;
    if (span_is(verb, "edit"))
        edit(r, d, ch);
    else if (span_is(verb, "pause"))
        set_paused(r, ch, true);
    else if (span_is(verb, "resume"))
        set_paused(r, ch, false);
    else if (span_is(verb, "remove")) {
        channel_remove(r->c, ch);
        buf_puts(&d->next, "/channels");
        buf_puts(&d->message, "It goes when its agents have confirmed.");
    } else if (span_is(verb, "recheck")) {
        if (!recrawling_visit(r->c, ch, clock_wall(), pairs_is_true(&r->in, "whole"), false))
            deed_fail(d, 409, "busy", "None of its agents is done with it: it is being crawled now.");
        else
            buf_puts(&d->message, "Its agents look at its pages again.");
    } else if (span_is(verb, "move"))
        move_channel(r, d, ch);
    else
        deed_fail(d, 404, "not_found",
                  "That cannot be done with channels: edit, pause, resume, remove, recheck and move can.");
    pthread_mutex_unlock(&r->c->lock);
    if (d->code < 400) {
        struct json j = {.out = &d->out};
        json_open(&j, '{');
        put_id(&j, "id", id);
        json_close(&j, '}');
        log_write(r->c->o.log, LOG_INFO, "admin", "channel: %.*s id=%016llx by=%s", SPAN_ARG(verb),
                  (unsigned long long)id, r->who.name);
    }
}

/* ---- networks and tasks ---- */

static void put_network(struct coord *c, struct json *j, const struct c_network *n)
{
    json_open(j, '{');
    put_str(j, "network", n->text);
    put_str(j, "state", network_state_name(n->state));
    json_key(j, "agent");
    json_text_or_null(j, span_str(n->state == NETWORK_FREE ? "" : name_of(c, n->agent)));
    json_key(j, "next");
    json_text_or_null(j, span_str(name_of(c, n->next_agent)));
    put_time(j, "since", n->since);
    put_time(j, "met", n->met);
    put_time(j, "decided", n->decided);
    put_u64(j, "asked", n->asked);
    put_str(j, "why", n->why);
    put_real(j, "rtt_ms", n->rtt_us / 1000.0);
    put_real(j, "server_ms", n->server_us / 1000.0);
    put_u64(j, "requests", n->requests);
    put_u64(j, "bytes_a_day", (uint64_t)n->load);
    const struct pin *pin = pinning_of(c, n);
    json_key(j, "pinned");
    json_text_or_null(j, pin ? pin_text(pin) : (struct span){0});
    put_bool(j, "trial", n->is_trial);
    put_bool(j, "provisional", n->is_provisional);
    put_bool(j, "replicated", n->is_replicated);
    put_real(j, "sure", n->sure);
    json_key(j, "probes");
    json_open(j, '[');
    for (size_t i = 0; i < n->probe_count; i++) {
        json_open(j, '{');
        put_str(j, "agent", name_of(c, n->probes[i].agent));
        put_real(j, "ms", n->probes[i].ms);
        json_close(j, '}');
    }
    json_close(j, ']');
    put_u64(j, "hosts", n->host_count);
    json_key(j, "names");
    json_open(j, '[');
    for (size_t i = 0; i < n->host_count && i < HOSTS_SHOWN; i++)
        json_str(j, n->hosts[i]->name);
    json_close(j, ']');
    json_close(j, '}');
}

void deed_networks(struct ask *r, struct deed *d)
{
    struct span name = pairs_get(&r->in, "agent");
    struct json j = {.out = &d->out};
    struct c_network **list;
    pthread_mutex_lock(&r->c->lock);
    const struct c_agent *a = name.n ? agent_by_name(r->c, name) : NULL;
    if (name.n && !a)
        deed_fail(d, 404, "not_found",
                  "There is no agent of this name. orb agent list (GET /api/v1/agents) shows them.");
    else {
        size_t n = networks_sorted(r->c, r->arena, a ? a->number : 0, &list);
        struct part p = part_of(&r->in, n);
        json_open(&j, '{');
        json_key(&j, "networks");
        json_open(&j, '[');
        for (size_t i = p.from; i < p.to; i++)
            put_network(r->c, &j, list[i]);
        json_close(&j, ']');
        put_u64(&j, "total", n);
        json_close(&j, '}');
    }
    pthread_mutex_unlock(&r->c->lock);
}

void deed_tasks(struct ask *r, struct deed *d)
{
    struct span name = pairs_get(&r->in, "agent");
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    json_key(&j, "tasks");
    json_open(&j, '[');
    pthread_mutex_lock(&r->c->lock);
    struct part p = part_of(&r->in, r->c->task_count);
    size_t seen = 0, total = 0;
    for (size_t i = 0; i < r->c->task_count; i++) {
        const struct c_task *t = r->c->tasks[i];
        if (!t || (name.n && !span_is(name, name_of(r->c, t->agent))))
            continue;
        total++;
        if (seen++ < p.from || seen > p.to)
            continue;
        json_open(&j, '{');
        put_u64(&j, "number", t->number);
        put_id(&j, "channel", t->channel->id);
        put_str(&j, "label", t->channel->label);
        put_str(&j, "agent", name_of(r->c, t->agent));
        put_str(&j, "state", t->is_ended ? "ended" : task_state_name(t->progress.state));
        put_u64(&j, "networks", t->network_count);
        put_u64(&j, "queued", t->progress.queued);
        put_u64(&j, "fetched", t->progress.fetched);
        put_u64(&j, "unchanged", t->progress.unchanged);
        put_u64(&j, "errors", t->progress.errors);
        put_u64(&j, "gone", t->progress.gone);
        put_u64(&j, "bytes", t->progress.bytes);
        put_time(&j, "made", t->made);
        json_close(&j, '}');
    }
    pthread_mutex_unlock(&r->c->lock);
    json_close(&j, ']');
    put_u64(&j, "total", total);
    json_close(&j, '}');
}
