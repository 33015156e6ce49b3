#include "agent/task.h"

#include <stdlib.h>

#include "base/mem.h"
#include "crawl/channel.h"
#include "wire/fields.h"

enum {
    TAG_ORDER = 1,
    TAG_PINNED,
    TAG_STARTED,
    TAG_STATES,
    TAG_TOTALS,
    TAG_RECHECK,
    TAG_RECHECK_PAGES,
    TAG_RECHECK_OLDER,
    TAG_LEAVING,
    TAG_ENDING,
    TAG_RECHECK_WHOLE,
    TAG_VISIT,
    TAG_VISIT_BEGUN,
    TAG_VISIT_FROM,
    TAG_VISITED
};

void texts_put(struct texts *t, struct span text)
{
    t->items = mem_grow(t->items, &t->cap, t->count + 1, sizeof(*t->items));
    t->items[t->count++] = span_of(mem_str(text), text.n);
}

static size_t texts_find(const struct texts *t, struct span text)
{
    size_t i = 0;
    while (i < t->count && !span_eq(t->items[i], text))
        i++;
    return i;
}

bool texts_have(const struct texts *t, struct span text)
{
    return texts_find(t, text) < t->count;
}

bool texts_put_new(struct texts *t, struct span text)
{
    if (texts_have(t, text))
        return false;
    texts_put(t, text);
    return true;
}

void texts_remove(struct texts *t, struct span text)
{
    size_t at = texts_find(t, text);
    if (at == t->count)
        return;
    free((char *)t->items[at].p);
    memmove(&t->items[at], &t->items[at + 1], (t->count - at - 1) * sizeof(*t->items));
    t->count--;
}

void texts_done(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free((char *)t->items[i].p);
    free(t->items);
    *t = (struct texts){0};
}

struct task *task_new(uint64_t number)
{
    struct task *t = mem_alloc(sizeof(*t));
    t->number = number;
    t->kind = SUMMARY_TEXT;
    t->state = TASK_WAITING;
    return t;
}

void task_free(struct task *t)
{
    if (!t)
        return;
    buf_done(&t->packed_channel);
    buf_done(&t->program);
    texts_done(&t->networks);
    texts_done(&t->countries);
    texts_done(&t->hosts);
    texts_done(&t->others);
    texts_done(&t->pinned);
    texts_done(&t->leaving);
    texts_done(&t->seeds);
    texts_done(&t->host_states);
    free(t->known_links);
    free(t);
}

struct network *task_networks(const struct texts *texts, struct arena *a, size_t *count)
{
    struct network *out = arena_alloc(a, (texts->count + 1) * sizeof(*out));
    *count = 0;
    for (size_t i = 0; i < texts->count; i++)
        if (network_parse(texts->items[i], &out[*count]) == ST_OK)
            ++*count;
    return out;
}

/* ---- merging ---- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_links(struct task *t, const uint64_t *links, size_t n)
{
    if (!n || t->known_link_count + n > TASK_LINKS_MAX) /* sending a link again costs bytes, nothing else */
        return;
    t->known_links = mem_grow(t->known_links, &t->known_link_cap, t->known_link_count + n, sizeof(*t->known_links));
    memcpy(t->known_links + t->known_link_count, links, n * sizeof(*links));
    t->known_link_count += n;
    qsort(t->known_links, t->known_link_count, sizeof(*t->known_links), compare_u64);
    size_t kept = 0;
    for (size_t i = 0; i < t->known_link_count; i++)
        if (!kept || t->known_links[kept - 1] != t->known_links[i])
            t->known_links[kept++] = t->known_links[i];
    t->known_link_count = kept;
}

static status check(const struct task *t, const struct task_order *o, uint64_t *channel, struct buf *why)
{
    struct network n;
    for (size_t i = 0; i < o->network_count; i++)
        if (network_parse(o->networks[i], &n) != ST_OK) {
            buf_printf(why, "\"%.*s\" is not a network", SPAN_ARG(span_cut(o->networks[i], 0, 80)));
            return ST_INVALID;
        }
    if (t->seeds.count + o->seed_count > TASK_SEEDS_MAX || t->networks.count + o->network_count > CONTROL_LIST_MAX ||
        t->countries.count + o->country_count > CONTROL_LIST_MAX || t->hosts.count + o->host_count > CONTROL_LIST_MAX) {
        buf_puts(why, "too many seeds or networks wait");
        return ST_LIMIT;
    }
    *channel = t->channel;
    if (o->channel.n) {
        struct channel *c = NULL;
        status st = channel_unpack(o->channel, &c);
        if (st != ST_OK) {
            buf_puts(why, "its channel cannot be read");
            return st;
        }
        *channel = channel_id(c);
        channel_free(c);
    }
    if (!*channel) {
        buf_puts(why, "it has no channel");
        return ST_INVALID;
    }
    return ST_OK;
}

status task_merge(struct task *t, const struct task_order *o, struct buf *why)
{
    uint64_t channel = 0;
    status st = check(t, o, &channel, why);
    if (st != ST_OK)
        return st;
    if (o->channel.n) {
        buf_clear(&t->packed_channel);
        buf_put(&t->packed_channel, o->channel);
        t->channel = channel;
        /* It is told from the beginning, maybe by a coordinator that was restored and knows less of them. */
        texts_done(&t->hosts);
        texts_done(&t->others);
    }
    t->kind = o->kind == SUMMARY_KEYWORDS ? SUMMARY_KEYWORDS : SUMMARY_TEXT;
    t->wants_warc = o->wants_warc;
    if (o->expected_pages)
        t->expected_pages = o->expected_pages;
    buf_clear(&t->program);
    buf_put(&t->program, o->program);
    for (size_t i = 0; i < o->network_count; i++)
        texts_put_new(&t->networks, o->networks[i]);
    for (size_t i = 0; i < o->country_count; i++)
        texts_put_new(&t->countries, o->countries[i]);
    for (size_t i = 0; i < o->host_count; i++) {
        texts_put_new(&t->hosts, o->hosts[i]);
        texts_remove(&t->others, o->hosts[i]);
    }
    for (size_t i = 0; i < o->other_count && t->others.count < CONTROL_LIST_MAX; i++) {
        texts_put_new(&t->others, o->others[i]);
        texts_remove(&t->hosts, o->others[i]);
    }
    for (size_t i = 0; i < o->seed_count; i++)
        texts_put(&t->seeds, o->seeds[i]);
    for (size_t i = 0; i < o->hosts_state_count; i++)
        texts_put(&t->host_states, o->hosts_state[i]);
    add_links(t, o->known_links, o->known_link_count);
    t->is_changed = true;
    return ST_OK;
}

/* ---- the file ---- */

static void put_order(const struct task *t, struct buf *out)
{
    struct buf body = {0};
    struct task_order o = {.task = t->number,
                           .channel = buf_span(&t->packed_channel),
                           .kind = t->kind,
                           .wants_warc = t->wants_warc,
                           .expected_pages = t->expected_pages,
                           .program = buf_span(&t->program),
                           .networks = t->networks.items,
                           .network_count = t->networks.count,
                           .hosts = t->hosts.items,
                           .host_count = t->hosts.count,
                           .seeds = t->seeds.items,
                           .seed_count = t->seeds.count,
                           .known_links = t->known_links,
                           .known_link_count = t->known_link_count,
                           .hosts_state = t->host_states.items,
                           .hosts_state_count = t->host_states.count,
                           .countries = t->countries.items,
                           .country_count = t->countries.count,
                           .others = t->others.items,
                           .other_count = t->others.count};
    task_order_pack(&o, &body);
    field_text(out, TAG_ORDER, buf_span(&body));
    buf_done(&body);
}

static void put_totals(struct buf *out, unsigned tag, const struct task_totals *n)
{
    struct buf totals = {0};
    field_u64(&totals, 1, n->fetched);
    field_u64(&totals, 2, n->unchanged);
    field_u64(&totals, 3, n->errors);
    field_u64(&totals, 4, n->gone);
    field_u64(&totals, 5, n->bytes);
    field_u64(&totals, 6, n->added);
    field_u64(&totals, 7, n->changed);
    field_u64(&totals, 8, n->lists);
    field_text(out, tag, buf_span(&totals));
    buf_done(&totals);
}

static void put_visits(const struct task *t, struct buf *out)
{
    struct buf visited = {0};
    if (t->visit) {
        field_u64(out, TAG_VISIT, t->visit);
        field_i64(out, TAG_VISIT_BEGUN, t->visit_begun);
        put_totals(out, TAG_VISIT_FROM, &t->visit_from);
    }
    if (t->visited.number) {
        visit_report_pack(&t->visited, &visited);
        field_text(out, TAG_VISITED, buf_span(&visited));
    }
    buf_done(&visited);
}

void task_pack(const struct task *t, struct buf *out)
{
    put_order(t, out);
    for (size_t i = 0; i < t->pinned.count; i++)
        field_text(out, TAG_PINNED, t->pinned.items[i]);
    for (size_t i = 0; i < t->leaving.count; i++)
        field_text(out, TAG_LEAVING, t->leaving.items[i]);
    field_u64_if(out, TAG_ENDING, t->is_ending);
    field_u64_if(out, TAG_STARTED, t->is_started);
    field_u64_if(out, TAG_STATES, t->has_states);
    put_totals(out, TAG_TOTALS, &t->now);
    field_u64_if(out, TAG_RECHECK, t->wants_recheck);
    field_u64_if(out, TAG_RECHECK_PAGES, t->recheck_pages);
    field_i64(out, TAG_RECHECK_OLDER, t->recheck_older);
    field_u64_if(out, TAG_RECHECK_WHOLE, t->recheck_whole);
    put_visits(t, out);
}

static void take_totals(struct task_totals *t, struct span packed)
{
    uint64_t *const at[] = {NULL,      &t->fetched, &t->unchanged, &t->errors, &t->gone,
                            &t->bytes, &t->added,   &t->changed,   &t->lists};
    struct fields f = fields_of(packed);
    struct span v;
    unsigned tag;
    while (fields_next(&f, &tag, &v))
        if (tag >= 1 && tag < sizeof(at) / sizeof(*at))
            *at[tag] = value_u64(v);
}

static status take_field(struct task *t, struct arena *a, unsigned tag, struct span v)
{
    struct task_order o;
    struct buf why = {0};
    status st = ST_OK;
    switch (tag) {
    case TAG_ORDER:
        st = task_order_unpack(a, v, &o);
        if (st == ST_OK) {
            t->number = o.task;
            st = task_merge(t, &o, &why);
        }
        break;
    case TAG_PINNED:
        texts_put_new(&t->pinned, v);
        break;
    case TAG_LEAVING:
        texts_put_new(&t->leaving, v);
        break;
    case TAG_ENDING:
        t->is_ending = value_u64(v) != 0;
        break;
    case TAG_STARTED:
        t->is_started = value_u64(v) != 0;
        break;
    case TAG_STATES:
        t->has_states = value_u64(v) != 0;
        break;
    case TAG_TOTALS:
        take_totals(&t->before, v);
        break;
    case TAG_RECHECK:
        t->wants_recheck = value_u64(v) != 0;
        break;
    case TAG_RECHECK_PAGES:
        t->recheck_pages = value_u64(v);
        break;
    case TAG_RECHECK_OLDER:
        t->recheck_older = value_i64(v);
        break;
    case TAG_RECHECK_WHOLE:
        t->recheck_whole = value_u64(v) != 0;
        break;
    case TAG_VISIT:
        t->visit = value_u64(v);
        break;
    case TAG_VISIT_BEGUN:
        t->visit_begun = value_i64(v);
        break;
    case TAG_VISIT_FROM:
        take_totals(&t->visit_from, v);
        break;
    case TAG_VISITED:
        st = visit_report_unpack(v, &t->visited);
        break;
    default:
        break;
    }
    buf_done(&why);
    return st;
}

status task_unpack(struct span packed, struct task **out)
{
    struct task *t = task_new(0);
    struct fields f = fields_of(packed);
    struct arena a;
    struct span v;
    unsigned tag;
    status st = ST_OK;
    arena_init(&a);
    while (st == ST_OK && fields_next(&f, &tag, &v))
        st = take_field(t, &a, tag, v);
    arena_done(&a);
    if (st != ST_OK || fields_bad(&f) || !t->number || !t->channel) {
        task_free(t);
        return ST_CORRUPT;
    }
    t->now = t->before;
    t->is_changed = false;
    *out = t;
    return ST_OK;
}
