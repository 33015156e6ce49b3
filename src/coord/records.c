/* records.c - the coordinator's state as records of the fleet store. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/channels.h"
#include "coord/forgetting.h"
#include "coord/records.h"
#include "web/domain.h"
#include "wire/fields.h"

#define OLD_EVERY_MS (24ll * 3600 * 1000)

/* Tags are for good; a new field gets a new one. */
enum {
    A_NAME = 1,
    A_JOINED,
    A_KEY,
    A_ADDED,
    A_HEARD,
    A_SETTINGS,
    A_PLACE,
    A_LATITUDE,
    A_LONGITUDE,
    A_TOKEN,
    A_TOKEN_UNTIL,
    A_PROBATION,
    A_CHECKS_GOOD,
    A_CHECKS_BAD,
    A_DEMOTED,
    A_DROPPED,
    A_ORDERS_GIVEN,
    A_ORDERS_DONE,
    A_SEQUENCE,
    A_PACKAGES,
    A_PACKAGE_BYTES,
    A_VISITS,
    A_SETUP,
    A_TOKEN_USED,
    A_OLD_KEY,
    A_OWN_SITES,
    A_PEER,
    A_RTT,
    A_LOOKS_GOOD,
    A_LOOKS_BAD
};
enum {
    C_CHANNEL = 1,
    C_LABEL,
    C_KIND,
    C_WARC,
    C_PAUSED,
    C_FOUND,
    C_EXPECTED,
    C_PROGRAM,
    C_EVERY,
    C_ADDED,
    C_CHECKED,
    C_PINNED,
    C_HOST,
    C_REMOVED,
    C_CRAWLED,
    C_LINKS,
    C_OWN,
    C_WEIGHT,
    C_NEVER,
    C_AT_MOST,
    C_AT_LEAST,
};
enum { R_AGENT = 1, R_US };
enum {
    T_CHANNEL = 1,
    T_AGENT,
    T_ENDED,
    T_NETWORK,
    T_ENDING,
    T_END_ORDER,
    T_SEEDS,
    T_MADE,
    T_END_ASKED,
    T_DIRTY,
    T_HAS_CHANNEL,
    T_STATES,
    T_HANDED,
    T_LINKS,
    T_CONFIRMED,
    T_END_SEQUENCE,
    T_LATE,
    T_LATE_ORDER,
    T_LATE_SEQUENCE,
    T_END_AGAIN
};

void set_text(char *to, size_t size, struct span from)
{
    size_t n = from.n < size - 1 ? from.n : size - 1;
    memcpy(to, from.p ? from.p : "", n);
    to[n] = '\0';
}

void note_trouble(struct coord *c, status st, const char *doing)
{
    if (st == ST_OK)
        return;
    atomic_fetch_add(&c->troubles, 1);
    log_write(c->o.log, LOG_ERROR, "fleet", "cannot %s what=\"%s\"", doing,
              st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st));
}

static void put_number(struct coord *c, fleet_kind kind, uint64_t number, const struct buf *b, const char *doing)
{
    struct fleet_number key = fleet_number(number);
    record_put(c, kind, span_of(key.b, sizeof(key.b)), buf_span(b), doing);
}

/* ---- agents ---- */

void save_agent(struct coord *c, struct c_agent *a)
{
    struct buf b = {0}, settings = {0};
    agent_settings_pack(&a->settings, &settings);
    field_str(&b, A_NAME, a->name);
    field_u64_if(&b, A_JOINED, a->is_joined);
    field_text(&b, A_KEY, span_of((const char *)a->key.b, sizeof(a->key.b)));
    field_text(&b, A_OLD_KEY, span_of((const char *)a->old_key.b, sizeof(a->old_key.b)));
    field_i64(&b, A_ADDED, a->added);
    field_i64(&b, A_HEARD, a->heard);
    field_text(&b, A_SETTINGS, buf_span(&settings));
    field_str(&b, A_PLACE, a->place);
    if (a->has_place) {
        field_real(&b, A_LATITUDE, a->latitude);
        field_real(&b, A_LONGITUDE, a->longitude);
    }
    field_text(&b, A_TOKEN, span_of((const char *)a->token, sizeof(a->token)));
    field_i64(&b, A_TOKEN_UNTIL, a->token_until);
    field_u64_if(&b, A_TOKEN_USED, a->is_token_used);
    field_u64_if(&b, A_PROBATION, a->probation_left);
    field_u64_if(&b, A_CHECKS_GOOD, a->checks_good);
    field_u64_if(&b, A_CHECKS_BAD, a->checks_bad);
    field_u64_if(&b, A_LOOKS_GOOD, a->looks_good);
    field_u64_if(&b, A_LOOKS_BAD, a->looks_bad);
    field_u64_if(&b, A_DEMOTED, a->is_demoted);
    field_u64_if(&b, A_DROPPED, a->dropped);
    field_u64_if(&b, A_ORDERS_GIVEN, a->orders_given);
    field_u64_if(&b, A_ORDERS_DONE, a->orders_done);
    field_u64_if(&b, A_SEQUENCE, a->sequence);
    field_u64_if(&b, A_PACKAGES, a->packages);
    field_u64_if(&b, A_PACKAGE_BYTES, a->package_bytes);
    field_u64_if(&b, A_VISITS, a->visits);
    field_text_if(&b, A_SETUP, buf_span(&a->setup));
    field_u64_if(&b, A_OWN_SITES, a->own_sites);
    char peer[ADDR_TEXT_MAX];
    if (a->peer.family)
        field_str(&b, A_PEER, addr_format(&a->peer, peer));
    for (size_t i = 0; i < a->rtt_count; i++) {
        struct buf rtt = {0};
        field_u64(&rtt, R_AGENT, a->rtts[i].agent);
        field_u64(&rtt, R_US, a->rtts[i].us);
        field_text(&b, A_RTT, buf_span(&rtt));
        buf_done(&rtt);
    }
    put_number(c, FLEET_AGENT, a->number, &b, "write down an agent");
    a->is_dirty = false;
    buf_done(&b);
    buf_done(&settings);
}

void remove_agent(struct coord *c, const struct c_agent *a)
{
    put_number(c, FLEET_AGENT, a->number, &(struct buf){0}, "forget an agent");
}

static void take_settings(struct c_agent *a, struct span packed)
{
    struct buf why = {0};
    if (agent_settings_unpack(packed, &a->settings) != ST_OK)
        a->settings = (struct agent_settings){.state = AGENT_RUN};
    set_text(a->hours_text, sizeof(a->hours_text), a->settings.hours);
    a->settings.hours = span_str(a->hours_text);
    if (hours_parse(a->settings.hours, &a->hours, &why) != ST_OK)
        a->hours = (struct hours){0};
    buf_done(&why);
}

static void unpack_rtt(struct c_agent *a, struct span packed)
{
    struct c_rtt r = {0};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        if (tag == R_AGENT)
            r.agent = value_u64(v);
        else if (tag == R_US)
            r.us = (uint32_t)value_u64(v);
    }
    a->rtts = mem_grow(a->rtts, &a->rtt_cap, a->rtt_count + 1, sizeof(*a->rtts));
    a->rtts[a->rtt_count++] = r;
}

static void read_agent(struct c_agent *a, struct span packed)
{
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case A_NAME:
            set_text(a->name, sizeof(a->name), v);
            break;
        case A_JOINED:
            a->is_joined = value_u64(v) != 0;
            break;
        case A_KEY:
            if (v.n == sizeof(a->key.b))
                memcpy(a->key.b, v.p, v.n);
            break;
        case A_OLD_KEY:
            if (v.n == sizeof(a->old_key.b))
                memcpy(a->old_key.b, v.p, v.n);
            break;
        case A_ADDED:
            a->added = value_i64(v);
            break;
        case A_HEARD:
            a->heard = value_i64(v);
            break;
        case A_SETTINGS:
            take_settings(a, v);
            break;
        case A_PLACE:
            set_text(a->place, sizeof(a->place), v);
            break;
        case A_LATITUDE:
            a->latitude = value_real(v);
            a->has_place = true;
            break;
        case A_LONGITUDE:
            a->longitude = value_real(v);
            break;
        case A_TOKEN:
            if (v.n == sizeof(a->token))
                memcpy(a->token, v.p, v.n);
            break;
        case A_TOKEN_UNTIL:
            a->token_until = value_i64(v);
            break;
        case A_TOKEN_USED:
            a->is_token_used = value_u64(v) != 0;
            break;
        case A_PROBATION:
            a->probation_left = value_u64(v);
            break;
        case A_CHECKS_GOOD:
            a->checks_good = value_u64(v);
            break;
        case A_CHECKS_BAD:
            a->checks_bad = value_u64(v);
            break;
        case A_LOOKS_GOOD:
            a->looks_good = value_u64(v);
            break;
        case A_LOOKS_BAD:
            a->looks_bad = value_u64(v);
            break;
        case A_DEMOTED:
            a->is_demoted = value_u64(v) != 0;
            break;
        case A_DROPPED:
            a->dropped = value_u64(v);
            break;
        case A_ORDERS_GIVEN:
            a->orders_given = value_u64(v);
            break;
        case A_ORDERS_DONE:
            a->orders_done = value_u64(v);
            break;
        case A_SEQUENCE:
            a->sequence = value_u64(v);
            break;
        case A_PACKAGES:
            a->packages = value_u64(v);
            break;
        case A_PACKAGE_BYTES:
            a->package_bytes = value_u64(v);
            break;
        case A_VISITS:
            a->visits = value_u64(v);
            break;
        case A_PEER: /* what cannot be read is seen again */
            if (addr_parse(v, &a->peer) != ST_OK)
                a->peer = (struct addr){0};
            break;
        case A_RTT:
            unpack_rtt(a, v);
            break;
        case A_OWN_SITES:
            a->own_sites = (unsigned)value_u64(v);
            break;
        case A_SETUP:
            buf_put(&a->setup, v);
            break;
        default:
            break; /* of a newer version */
        }
    }
}

static status load_agent(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    uint64_t number = fleet_number_of(key);
    if (number == 0 || number > COORD_AGENTS_MAX)
        return ST_CORRUPT;
    c->agents = mem_grow(c->agents, &c->agent_cap, number, sizeof(struct c_agent *));
    while (c->agent_count < number)
        c->agents[c->agent_count++] = NULL;
    if (!packed.n) /* removed: its number is not given again */
        return ST_OK;
    struct c_agent *a = mem_alloc(sizeof(*a));
    a->number = number;
    a->settings.state = AGENT_RUN;
    a->wants_setup = true;
    read_agent(a, packed);
    c->agents[number - 1] = a;
    return ST_OK;
}

/* ---- channels ---- */

/* The record of a channel has the hosts that were known when it was written. Those that come later are written down a
 * few at a time, under the channel's key with a number behind it: a record of all of them for each would be as many
 * times longer as there are. The list only grows, so what stands in both is the same. */
#define HOSTS_A_PIECE 64

struct piece_key {
    char b[16];
};

static struct piece_key piece_key(uint64_t channel, size_t piece)
{
    struct piece_key k;
    memcpy(k.b, fleet_number(channel).b, 8);
    memcpy(k.b + 8, fleet_number(piece).b, 8);
    return k;
}

void save_channel_host(struct coord *c, const struct c_channel *ch)
{
    struct buf b = {0};
    size_t piece = (ch->host_count - 1) / HOSTS_A_PIECE;
    struct piece_key key = piece_key(ch->id, piece);
    for (size_t i = piece * HOSTS_A_PIECE; i < ch->host_count; i++)
        field_text(&b, C_HOST, ch->hosts[i]);
    record_put(c, FLEET_CHANNEL, span_of(key.b, sizeof(key.b)), buf_span(&b), "write down a host of a channel");
    buf_done(&b);
}

status remove_channel(struct coord *c, const struct c_channel *ch)
{
    struct fleet_number id = fleet_number(ch->id);
    bool is_ours = !fleet_is_begun(c->fleet);
    status st = is_ours ? fleet_begin(c->fleet) : ST_OK;
    if (st == ST_OK)
        st = fleet_remove(c->fleet, FLEET_CHANNEL, fleet_number_span(&id));
    for (size_t i = 0; st == ST_OK && i * HOSTS_A_PIECE < ch->host_count; i++) {
        struct piece_key key = piece_key(ch->id, i);
        st = fleet_remove(c->fleet, FLEET_CHANNEL, span_of(key.b, sizeof(key.b)));
    }
    if (is_ours && st == ST_OK)
        st = fleet_commit(c->fleet, false);
    else if (is_ours)
        fleet_rollback(c->fleet);
    return st;
}

void save_channel(struct coord *c, const struct c_channel *ch)
{
    struct buf b = {0}, packed = {0};
    channel_pack(ch->channel, &packed);
    field_text(&b, C_CHANNEL, buf_span(&packed));
    field_str(&b, C_LABEL, ch->label);
    field_u64(&b, C_KIND, ch->kind);
    field_u64_if(&b, C_WARC, ch->wants_warc);
    field_u64_if(&b, C_PAUSED, ch->is_paused);
    field_u64_if(&b, C_FOUND, ch->is_found);
    field_u64_if(&b, C_EXPECTED, ch->expected_pages);
    field_str(&b, C_PROGRAM, ch->program);
    field_i64(&b, C_ADDED, ch->added);
    field_i64(&b, C_CHECKED, ch->checked);
    field_u64_if(&b, C_PINNED, ch->pinned_agent);
    if (ch->recrawl.rule.weight > 0)
        field_real(&b, C_WEIGHT, ch->recrawl.rule.weight);
    field_u64_if(&b, C_NEVER, ch->recrawl.rule.is_never);
    field_i64(&b, C_AT_MOST, ch->recrawl.rule.at_most_every);
    field_i64(&b, C_AT_LEAST, ch->recrawl.rule.at_least_every);
    field_u64_if(&b, C_REMOVED, ch->is_removed);
    field_u64_if(&b, C_OWN, ch->is_own);
    field_u64_if(&b, C_CRAWLED, ch->was_crawled);
    field_u64_if(&b, C_LINKS, ch->wants_links);
    for (size_t i = 0; i < ch->host_count; i++)
        field_text(&b, C_HOST, ch->hosts[i]);
    put_number(c, FLEET_CHANNEL, ch->id, &b, "write down a channel");
    buf_done(&b);
    buf_done(&packed);
}

static void add_host_name(struct c_channel *ch, struct span name)
{
    ch->hosts = mem_grow(ch->hosts, &ch->host_cap, ch->host_count + 1, sizeof(*ch->hosts));
    ch->hosts[ch->host_count++] = span_of(mem_str(name), name.n);
}

/* Comes behind the record of its channel, and after the pieces before it. */
static void load_piece(struct coord *c, struct span key, struct span packed)
{
    struct c_channel *ch = table_get(&c->channels, fleet_number_of(span_cut(key, 0, 8)));
    size_t at = (size_t)fleet_number_of(span_from(key, 8)) * HOSTS_A_PIECE;
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    for (; ch && fields_next(&f, &tag, &v); at++)
        if (tag == C_HOST && at == ch->host_count)
            add_host_name(ch, v);
}

static status load_channel(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    if (key.n == sizeof(struct piece_key)) {
        load_piece(c, key, packed);
        return ST_OK;
    }
    struct c_channel *ch = mem_alloc(sizeof(*ch));
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    ch->id = fleet_number_of(key);
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case C_CHANNEL:
            if (!ch->channel && channel_unpack(v, &ch->channel) != ST_OK)
                ch->channel = NULL;
            break;
        case C_LABEL:
            set_text(ch->label, sizeof(ch->label), v);
            break;
        case C_KIND:
            ch->kind = value_u64(v) == SUMMARY_KEYWORDS ? SUMMARY_KEYWORDS : SUMMARY_TEXT;
            break;
        case C_WARC:
            ch->wants_warc = value_u64(v) != 0;
            break;
        case C_PAUSED:
            ch->is_paused = value_u64(v) != 0;
            break;
        case C_FOUND:
            ch->is_found = value_u64(v) != 0;
            break;
        case C_EXPECTED:
            ch->expected_pages = value_u64(v);
            break;
        case C_PROGRAM:
            set_text(ch->program, sizeof(ch->program), v);
            break;
        case C_EVERY: /* of before there was a plan: a day was what nobody had asked for */
            if (value_i64(v) != OLD_EVERY_MS && value_i64(v) >= 0)
                channel_set_every(&ch->recrawl.rule, value_i64(v));
            break;
        case C_WEIGHT:
            ch->recrawl.rule.weight = value_real(v);
            break;
        case C_NEVER:
            ch->recrawl.rule.is_never = value_u64(v) != 0;
            break;
        case C_AT_MOST:
            ch->recrawl.rule.at_most_every = value_i64(v);
            break;
        case C_AT_LEAST:
            ch->recrawl.rule.at_least_every = value_i64(v);
            break;
        case C_ADDED:
            ch->added = value_i64(v);
            break;
        case C_CHECKED:
            ch->checked = value_i64(v);
            break;
        case C_PINNED:
            ch->pinned_agent = value_u64(v);
            break;
        case C_HOST:
            add_host_name(ch, v);
            break;
        case C_REMOVED:
            ch->is_removed = value_u64(v) != 0;
            break;
        case C_OWN:
            ch->is_own = value_u64(v) != 0;
            break;
        case C_CRAWLED:
            ch->was_crawled = value_u64(v) != 0;
            break;
        case C_LINKS:
            ch->wants_links = value_u64(v) != 0;
            break;
        default:
            break;
        }
    }
    if (!ch->channel) {
        free(ch);
        return ST_CORRUPT;
    }
    table_put(&c->channels, ch->id, ch);
    c->has_removed |= ch->is_removed;
    return ST_OK;
}

/* ---- tasks ---- */

void save_task(struct coord *c, const struct c_task *t)
{
    struct buf b = {0};
    field_u64(&b, T_CHANNEL, t->channel->id);
    field_u64(&b, T_AGENT, t->agent);
    field_u64_if(&b, T_ENDED, t->is_ended);
    for (size_t i = 0; i < t->network_count; i++)
        field_str(&b, T_NETWORK, t->networks[i]->text);
    for (size_t i = 0; i < t->ending_count; i++)
        field_str(&b, T_ENDING, t->ending[i]->text);
    for (size_t i = 0; i < t->late_count; i++)
        field_str(&b, T_LATE, t->late[i]->text);
    field_u64_if(&b, T_LATE_ORDER, t->late_order);
    field_u64_if(&b, T_LATE_SEQUENCE, t->late_sequence);
    field_u64_if(&b, T_END_ORDER, t->end_order);
    field_text_if(&b, T_SEEDS, buf_span(&t->seeds));
    field_i64(&b, T_MADE, t->made);
    field_u64_if(&b, T_END_ASKED, t->end_asked);
    field_u64_if(&b, T_DIRTY, t->is_dirty);
    field_u64_if(&b, T_HAS_CHANNEL, t->has_channel);
    field_u64_if(&b, T_STATES, t->wants_states);
    field_u64_if(&b, T_LINKS, t->wants_links);
    field_u64_if(&b, T_CONFIRMED, t->is_end_confirmed);
    field_u64_if(&b, T_END_SEQUENCE, t->end_sequence);
    field_u64_if(&b, T_END_AGAIN, t->is_end_again);
    for (size_t i = 0; i < t->handed_count; i++)
        field_str(&b, T_HANDED, t->handed[i]->text);
    put_number(c, FLEET_TASK, t->number, &b, "write down a task");
    buf_done(&b);
}

static void add_network(struct coord *c, struct c_network ***list, size_t *count, size_t *cap, struct span text)
{
    struct c_network *n = table_get(&c->networks, siphash(&c->key, text));
    if (!n)
        return;
    *list = mem_grow(*list, cap, *count + 1, sizeof(struct c_network *));
    (*list)[(*count)++] = n;
}

bool record_filter_task(struct span packed, const struct places *places, struct buf *out)
{
    struct fields f = fields_of(packed);
    bool is_changed = false;
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        struct buf seeds = {0};
        if (tag == T_SEEDS) {
            is_changed |= forgetting_filter_lines(places, v, &seeds, NULL);
            v = buf_span(&seeds);
        }
        field_text(out, tag, v);
        buf_done(&seeds);
    }
    return is_changed;
}

static status load_task(void *arg, struct span key, struct span packed)
{
    struct coord *c = arg;
    uint64_t number = fleet_number_of(key);
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v, rest;
    if (number == 0 || number > COORD_CHANNELS_MAX * 16ull)
        return ST_CORRUPT;
    c->tasks = mem_grow(c->tasks, &c->task_cap, number, sizeof(struct c_task *));
    while (c->task_count < number)
        c->tasks[c->task_count++] = NULL;
    struct c_task *t = mem_alloc(sizeof(*t));
    t->number = number;
    while (fields_next(&f, &tag, &v)) {
        switch (tag) {
        case T_CHANNEL:
            t->channel = table_get(&c->channels, value_u64(v));
            break;
        case T_AGENT:
            t->agent = value_u64(v);
            break;
        case T_ENDED:
            t->is_ended = value_u64(v) != 0;
            break;
        case T_NETWORK:
            add_network(c, &t->networks, &t->network_count, &t->network_cap, v);
            break;
        case T_ENDING:
            add_network(c, &t->ending, &t->ending_count, &t->ending_cap, v);
            break;
        case T_LATE:
            add_network(c, &t->late, &t->late_count, &t->late_cap, v);
            break;
        case T_LATE_ORDER:
            t->late_order = value_u64(v);
            break;
        case T_LATE_SEQUENCE:
            t->late_sequence = value_u64(v);
            break;
        case T_END_ORDER:
            t->end_order = value_u64(v);
            break;
        case T_SEEDS:
            buf_put(&t->seeds, v);
            rest = v;
            while (span_split(&rest, '\n', &v))
                t->seed_count += v.n > 0;
            break;
        case T_MADE:
            t->made = value_i64(v);
            break;
        case T_END_ASKED:
            t->end_asked = (size_t)value_u64(v);
            break;
        case T_DIRTY:
            t->is_dirty = value_u64(v) != 0;
            break;
        case T_HAS_CHANNEL:
            t->has_channel = value_u64(v) != 0;
            break;
        case T_CONFIRMED:
            t->is_end_confirmed = value_u64(v) != 0;
            break;
        case T_END_SEQUENCE:
            t->end_sequence = value_u64(v);
            break;
        case T_END_AGAIN:
            t->is_end_again = value_u64(v) != 0;
            break;
        case T_LINKS:
            t->wants_links = value_u64(v) != 0;
            break;
        case T_STATES:
            t->wants_states = value_u64(v) != 0;
            break;
        case T_HANDED:
            add_network(c, &t->handed, &t->handed_count, &t->handed_cap, v);
            break;
        default:
            break;
        }
    }
    if (!t->channel) {
        buf_done(&t->seeds);
        free(t->networks);
        free(t->ending);
        free(t->late);
        free(t->handed);
        free(t);
        return ST_OK; /* its channel was removed just before a kill */
    }
    for (size_t i = 0; i < t->ending_count; i++)
        t->ending[i]->leaving++;
    if (t->end_asked > t->ending_count)
        t->end_asked = t->ending_count;
    c->tasks[number - 1] = t;
    channel_add_task(t->channel, t);
    return ST_OK;
}

/* ---- all of it ---- */

void save_number(struct coord *c, const char *name, uint64_t value)
{
    struct fleet_number n = fleet_number(value);
    note_trouble(c, fleet_put(c->fleet, FLEET_SETTING, span_str(name), span_of(n.b, sizeof(n.b))),
                 "write down a number");
}

uint64_t load_number(struct coord *c, const char *name)
{
    struct buf b = {0};
    uint64_t n =
        fleet_get(c->fleet, FLEET_SETTING, span_str(name), &b) == ST_OK && b.n == 8 ? fleet_number_of(buf_span(&b)) : 0;
    buf_done(&b);
    return n;
}

/* Channels know their hosts by name; hosts know their channels. */
static void link_hosts(struct coord *c)
{
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));)
        for (size_t i = 0; i < ch->host_count; i++) {
            struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
            if (!h)
                continue;
            h->channels = mem_grow(h->channels, &h->channel_cap, h->channel_count + 1, sizeof(struct c_channel *));
            h->channels[h->channel_count++] = ch;
        }
}

static status note_waiting(void *arg, const struct fleet_package *p)
{
    struct coord *c = arg;
    struct c_agent *a = agent_get(c, p->agent);
    if (a && p->sequence <= a->applied)
        a->applied = p->sequence - 1;
    return ST_OK;
}

status records_load(struct coord *c, struct buf *why)
{
    const struct {
        fleet_kind kind;
        fleet_fn *fn;
        const char *what;
    } kinds[] = {{FLEET_AGENT, load_agent, "agents"},
                 {FLEET_CHANNEL, load_channel, "channels"},
                 {FLEET_NETWORK, load_network, "networks"},
                 {FLEET_HOST, load_host, "hosts"},
                 {FLEET_TASK, load_task, "tasks"}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        status st = fleet_each(c->fleet, kinds[i].kind, kinds[i].fn, c);
        if (st != ST_OK) {
            buf_printf(why, "the %s in fleet.db: %s", kinds[i].what, status_name(st));
            return st;
        }
    }
    link_hosts(c);
    for (size_t i = 0; i < c->agent_count; i++)
        if (c->agents[i])
            c->agents[i]->applied = c->agents[i]->sequence;
    status waiting = fleet_package_waiting(c->fleet, note_waiting, c);
    if (waiting != ST_OK) {
        buf_printf(why, "the packages in fleet.db: %s", status_name(waiting));
        return waiting;
    }
    c->has_free = c->has_leaving = c->has_dirty = true;
    c->next_fetch = load_number(c, "next_fetch");
    c->blobs = load_number(c, "blobs");
    if (c->next_fetch == 0)
        c->next_fetch = 1;
    return ST_OK;
}
