/* assign.c - from channels to tasks: hosts are placed in networks, and networks are given to agents.
 *
 * Nothing here waits. A change marks tasks and networks; assign_tick, some times a second, turns what is marked into
 * orders, so that many changes become few orders. When a network moves (assign_moves.c), the new owner is told only
 * after the old one has confirmed that it stopped, or after its lease has run out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/assign_internal.h"
#include "coord/balancing.h"
#include "coord/channels.h"
#include "coord/diary.h"
#include "coord/late.h"
#include "coord/networks.h"
#include "coord/orders.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "io/clock.h"

#define SEEDS_BYTES_MAX (256u << 10) /* of a task: what does not fit is found again by its own crawl, or later */

/* ---- small things ---- */

void assign_list_add(struct c_network ***list, size_t *count, size_t *cap, struct c_network *n)
{
    *list = mem_grow(*list, cap, *count + 1, sizeof(struct c_network *));
    (*list)[(*count)++] = n;
}

bool assign_list_has(struct c_network *const *list, size_t count, const struct c_network *n)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == n)
            return true;
    return false;
}

struct c_task *task_get(struct coord *c, uint64_t number)
{
    return number && number <= c->task_count ? c->tasks[number - 1] : NULL;
}

static void task_dispose(struct c_task *t)
{
    buf_done(&t->seeds);
    free(t->networks);
    free(t->ending);
    free(t->late);
    free(t->handed);
    free(t);
}

static void host_dispose(struct c_host *h)
{
    buf_done(&h->seeds);
    free(h->channels);
    free(h->name);
    free(h);
}

static struct c_task *task_of(struct coord *c, const struct c_channel *ch, uint64_t agent)
{
    for (size_t i = 0; i < ch->task_count; i++)
        if (ch->tasks[i]->agent == agent)
            return ch->tasks[i];
    return NULL;
}

static struct c_task *task_make(struct coord *c, struct c_channel *ch, uint64_t agent)
{
    struct c_task *t = mem_alloc(sizeof(*t));
    c->tasks = mem_grow(c->tasks, &c->task_cap, c->task_count + 1, sizeof(struct c_task *));
    c->tasks[c->task_count++] = t;
    t->number = c->task_count;
    t->channel = ch;
    t->agent = agent;
    t->made = clock_wall();
    t->progress = (struct task_report){.task = t->number, .state = TASK_WAITING};
    channel_add_task(ch, t);
    return t;
}

void assign_dirty(struct coord *c, struct c_task *t)
{
    t->is_dirty = true;
    t->has_only_seeds = false;
    c->has_dirty = true;
    save_task(c, t);
}

/* What the last owner of the network handed over goes with this task. */
void assign_hand(struct coord *c, struct c_task *t, struct c_network *n)
{
    if (!n->handed_over)
        return;
    if (!assign_list_has(t->handed, t->handed_count, n))
        assign_list_add(&t->handed, &t->handed_count, &t->handed_cap, n);
    assign_dirty(c, t);
}

/* ---- hosts ---- */

static void want_address(struct coord *c, struct c_host *h)
{
    c->wanted = mem_grow(c->wanted, &c->wanted_cap, c->wanted_count + 1, sizeof(struct c_host *));
    c->wanted[c->wanted_count++] = h;
    if (c->waker)
        waker_wake(c->waker);
}

static bool reaches(const struct c_host *h, const struct c_channel *ch)
{
    for (size_t i = 0; i < h->channel_count; i++)
        if (h->channels[i] == ch)
            return true;
    return false;
}

static void know_channel(struct coord *c, struct c_host *h, struct c_channel *ch, struct span name)
{
    if (reaches(h, ch))
        return;
    h->channels = mem_grow(h->channels, &h->channel_cap, h->channel_count + 1, sizeof(struct c_channel *));
    h->channels[h->channel_count++] = ch;
    ch->hosts = mem_grow(ch->hosts, &ch->host_cap, ch->host_count + 1, sizeof(*ch->hosts));
    ch->hosts[ch->host_count++] = span_of(mem_str(name), name.n);
    save_channel_host(c, ch);
}

/* The channel is to be crawled in a network: by the agent that has it. */
static void cover(struct coord *c, struct c_channel *ch, struct c_network *n)
{
    if (ch->is_paused)
        return;
    /* A site that an agent's owner calls his own does not get the agent a network that somebody else has: anybody can
     * say so. A person can still move it. */
    if (n->state == NETWORK_OWNED && ch->pinned_agent && !ch->is_own && n->agent != ch->pinned_agent &&
        agent_get(c, ch->pinned_agent)) {
        if (assign_move(c, n, ch->pinned_agent, MOVE_PINNED, "a channel in it is pinned to this agent") == ST_OK)
            return;
    }
    if (n->state == NETWORK_FREE)
        c->has_free = true;
    if (n->state != NETWORK_OWNED)
        return;
    struct c_task *t = task_of(c, ch, n->agent);
    if (!t)
        t = task_make(c, ch, n->agent);
    if (assign_list_has(t->networks, t->network_count, n))
        return;
    assign_list_add(&t->networks, &t->network_count, &t->network_cap, n);
    late_remove(t, n);
    t->is_ended = false;
    t->wants_states |= n->had_agent || ch->was_crawled;
    t->wants_links |= n->was_lost || ch->wants_links;
    assign_dirty(c, t);
}

static void flush_seeds(struct coord *c, struct c_host *h)
{
    struct buf seeds = h->seeds;
    struct span rest = buf_span(&seeds), url;
    h->seeds = (struct buf){0};
    while (span_split(&rest, '\n', &url))
        for (size_t i = 0; url.n && i < h->channel_count; i++)
            assign_seed(c, h->channels[i], h, url);
    buf_done(&seeds);
}

struct c_host *assign_host(struct coord *c, struct c_channel *ch, struct span name)
{
    uint64_t key = siphash(&c->key, name);
    struct c_host *h = table_get(&c->hosts, key);
    if (ch->host_count >= COORD_HOSTS_A_CHANNEL && !(h && reaches(h, ch)))
        return NULL;
    if (!h) {
        h = mem_alloc(sizeof(*h));
        h->name = mem_str(name);
        h->state = HOST_NEW;
        table_put(&c->hosts, key, h);
        save_host(c, h);
        want_address(c, h);
    }
    know_channel(c, h, ch, name);
    if (h->network)
        cover(c, ch, h->network);
    return h;
}

void assign_seed(struct coord *c, struct c_channel *ch, struct c_host *h, struct span url)
{
    struct c_task *t = h->network && h->network->state == NETWORK_OWNED ? task_of(c, ch, h->network->agent) : NULL;
    struct buf *to = t ? &t->seeds : &h->seeds;
    if (to->n + url.n > (t ? SEEDS_BYTES_MAX : COORD_HOST_SEEDS_BYTES))
        return;
    buf_put(to, url);
    buf_puts(to, "\n");
    if (t) {
        t->seed_count++;
        t->has_only_seeds |= !t->is_dirty;
        t->is_dirty = c->has_dirty = true; /* written down with the order, or by the next save */
        t->is_saved = false;
    }
}

/* A host has come into a network that tasks have already. */
static void read_again(struct coord *c, struct c_host *h, struct c_network *n)
{
    for (size_t i = 0; i < h->channel_count; i++) {
        struct c_task *t = n->state == NETWORK_OWNED ? task_of(c, h->channels[i], n->agent) : NULL;
        if (!t || !assign_list_has(t->networks, t->network_count, n))
            continue; /* cover does it */
        t->wants_states = t->wants_links = true;
        assign_dirty(c, t);
    }
}

static void lead_to(struct c_host *h, const struct network *net)
{
    for (size_t i = 0; i < h->also_count; i++)
        if (network_eq(&h->also[i], net))
            return;
    if (h->also_count < COORD_HOST_NETWORKS)
        h->also[h->also_count++] = *net;
}

void assign_addresses(struct coord *c, struct c_host *h, const struct addr *addrs, size_t n)
{
    h->also_count = 0;
    for (size_t i = 0; i < n; i++) {
        struct network net = addr_network(&addrs[i]);
        lead_to(h, &net);
    }
}

static void leave_network(struct c_host *h)
{
    struct c_network *n = h->network;
    for (size_t i = n ? n->host_count : 0; i-- > 0;) /* many go together, those that came last first */
        if (n->hosts[i] == h) {
            n->hosts[i] = n->hosts[--n->host_count];
            break;
        }
    h->network = NULL;
}

/* A name that is not there is asked for once a day in the end; when nobody answers, that may be over any moment. */
static int64_t retry_after(struct c_host *h, status st)
{
    int64_t wait = COORD_RETRY_HOST_MS, most = st == ST_TIMEOUT ? 15 * COORD_RETRY_HOST_MS : 1440 * COORD_RETRY_HOST_MS;
    if (st == ST_REFUSED)
        wait *= 60;
    for (unsigned i = 0; i < h->lookups_failed && wait < most; i++)
        wait *= 2;
    h->lookups_failed++;
    return wait < most ? wait : most;
}

void assign_resolved(struct coord *c, struct c_host *h, status st, const struct addr *addr)
{
    if (st == ST_OK && !c->o.allow_private && addr_classify(addr) != ADDR_PUBLIC)
        st = ST_REFUSED;
    if (st != ST_OK) {
        struct buf name = {0};
        log_escape(&name, span_str(h->name), 256);
        log_write(c->o.log, LOG_INFO, "assign", "a host cannot be placed host=%s why=\"%s\"", buf_cstr(&name),
                  st == ST_REFUSED ? "its address is private: see --allow-private" : status_name(st));
        buf_done(&name);
        h->state = h->network ? HOST_PLACED : HOST_FAILED;
        h->retry_at = clock_mono() + retry_after(h, st);
        return;
    }
    struct c_network *n = network_at(c, addr, span_str(h->name)), *was = h->network;
    if (h->network != n) {
        if (h->network) /* what was found there is on its way */
            lead_to(h, &h->network->network);
        leave_network(h);
        h->network = n;
        if (was && was->agent != n->agent) { /* what waited there is lost: its pages are read again for their links */
            n->had_agent = n->was_lost = true;
            read_again(c, h, n);
        }
        n->hosts = mem_grow(n->hosts, &n->host_cap, n->host_count + 1, sizeof(struct c_host *));
        n->hosts[n->host_count++] = h;
    }
    h->addr = *addr;
    h->state = HOST_PLACED;
    h->lookups_failed = 0;
    save_host(c, h);
    for (size_t i = 0; i < h->channel_count; i++)
        cover(c, h->channels[i], n);
    if (was != n) { /* each host is a part of the load */
        balancing_network(c, n);
        if (was)
            balancing_network(c, was);
    }
    if (n->state == NETWORK_OWNED)
        flush_seeds(c, h);
}

void assign_forget_host(struct coord *c, struct c_host *h)
{
    struct c_network *n = h->network;
    size_t kept = 0;
    leave_network(h);
    if (n)
        balancing_network(c, n);
    for (size_t i = 0; i < c->wanted_count; i++)
        if (c->wanted[i] != h)
            c->wanted[kept++] = c->wanted[i];
    c->wanted_count = kept;
    note_trouble(c, fleet_remove(c->fleet, FLEET_HOST, span_str(h->name)), "forget a host");
    table_remove(&c->hosts, siphash(&c->key, span_str(h->name)));
    host_dispose(h);
}

void assign_forget_hosts(struct coord *c)
{
    struct c_host **list = NULL;
    size_t n = 0, cap = 0, at = 0;
    for (struct c_host *h; (h = table_next(&c->hosts, &at));)
        if (!h->channel_count) {
            list = mem_grow(list, &cap, n + 1, sizeof(struct c_host *));
            list[n++] = h;
        }
    for (size_t i = 0; i < n; i++)
        assign_forget_host(c, list[i]);
    free(list);
}

/* Whoever has a network that its name may lead to would think that it is his: all that meet it are told whose it is. */
static void pin_host(struct coord *c, struct c_host *h, uint64_t agent)
{
    h->pinned_agent = agent;
    save_host(c, h);
    for (size_t i = 0; i < h->channel_count; i++)
        for (size_t k = 0; k < h->channels[i]->task_count; k++)
            if (!h->channels[i]->tasks[k]->is_ended)
                assign_dirty(c, h->channels[i]->tasks[k]);
}

void assign_stray(struct coord *c, struct c_agent *a, struct c_task *t, struct span host, const struct addr *addr)
{
    struct c_host *h = table_get(&c->hosts, siphash(&c->key, host));
    if (!h || h->pinned_agent || !reaches(h, t->channel))
        return;
    if (h->network && network_has(&h->network->network, addr))
        return; /* it is where we think, and another agent's: this one had it from the channel's seeds */
    /* Where a host is not, only the agent can say that has it; or any, when we could not find it ourselves. */
    if (h->network ? h->network->agent != a->number : h->state != HOST_FAILED)
        return;
    if (++h->strays > COORD_STRAYS_MAX && h->network && h->network->state == NETWORK_OWNED) {
        pin_host(c, h, h->network->agent);
        return;
    }
    assign_resolved(c, h, ST_OK, addr);
}

/* ---- networks ---- */

/* Who a channel in the network is pinned to. A person's word counts; that of an agent's owner only while nothing else
 * is there. */
uint64_t assign_pinned(struct coord *c, const struct c_network *n)
{
    uint64_t owner = 0;
    bool has_others = false;
    for (size_t i = 0; i < n->host_count; i++)
        for (size_t k = 0; k < n->hosts[i]->channel_count; k++) {
            const struct c_channel *ch = n->hosts[i]->channels[k];
            struct c_agent *a = agent_get(c, ch->pinned_agent);
            bool may = a && agent_may_work(c, a);
            if (may && !ch->is_own)
                return a->number;
            has_others |= !ch->is_own || (owner && owner != ch->pinned_agent);
            if (may)
                owner = a->number;
        }
    return has_others ? 0 : owner;
}

void assign_place(struct coord *c, struct c_network *n, uint64_t to, uint64_t not_agent)
{
    struct c_agent *a = agent_get(c, to);
    uint64_t pinned = assign_pinned(c, n);
    if (a && agent_may_work(c, a) && pinning_allows(c, n, to))
        assign_give(c, n, to, n->why);
    else if (pinned && pinning_allows(c, n, pinned))
        assign_give(c, n, pinned, "a channel in it is pinned to this agent");
    else
        placing_ask(c, n, not_agent);
}

void assign_give(struct coord *c, struct c_network *n, uint64_t agent, const char *why)
{
    char kept[sizeof(n->why)];
    snprintf(kept, sizeof(kept), "%s", why);
    struct c_agent *a = agent_get(c, agent);
    if (a)
        a->networks++;
    n->agent = agent;
    n->next_agent = 0;
    n->rtt_us = n->server_us = 0; /* of the one before */
    n->state = NETWORK_OWNED;
    n->since = clock_wall();
    memcpy(n->why, kept, sizeof(n->why));
    placing_given(c, n);
    struct delegate_question q = placing_question(c, n);
    if (!n->is_trial && !n->network.parts) /* else the strategy is asked again; or it never is */
        delegator_assigned(c->delegator, &q, agent);
    struct c_task *last = NULL;
    uint64_t walk = ++c->link_walks;
    for (size_t i = 0; i < n->host_count; i++) {
        struct c_host *h = n->hosts[i];
        for (size_t k = 0; k < h->channel_count; k++) {
            cover(c, h->channels[k], n);
            struct c_task *t = task_of(c, h->channels[k], agent);
            if (t && assign_list_has(t->networks, t->network_count, n)) /* one that is paused is told nothing */
                last = t;
            /* Seeds that the old owner had not begun with are not in what it hands over. Once a channel: all of its
             * hosts are told of. */
            if (n->had_agent && t && t->links_told != walk) {
                t->links_told = walk;
                channel_tell_links(c, h->channels[k], n, 0);
            }
        }
        if (h->pinned_agent && h->pinned_agent != agent) /* wherever it is, it goes with its network */
            pin_host(c, h, agent);
        flush_seeds(c, h);
    }
    if (last)
        assign_hand(c, last, n);
    if (!n->had_agent)
        diary_note_given(c);
    if (n->was_agent && n->was_agent != agent)
        diary_note_move(c, n, n->was_agent, agent, n->move);
    n->was_agent = 0;
    n->had_agent = true;
    save_network(c, n);
    balancing_network(c, n);
    log_write(c->o.log, LOG_INFO, "assign", "network=%s agent=%llu why=\"%s\"", n->text, (unsigned long long)agent,
              n->why);
}

void assign_distrust(struct coord *c, uint64_t agent)
{
    size_t at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));)
        if (n->agent == agent && n->state != NETWORK_FREE) {
            n->distrust = c->next_fetch;
            n->was_lost = true;
            save_network(c, n);
        }
}

uint64_t assign_distrust_of(struct coord *c, const struct url *u)
{
    const struct c_host *h = table_get(&c->hosts, siphash(&c->key, u->host));
    return h && h->network ? h->network->distrust : 0;
}

/* ---- channels ---- */

void assign_channel_changed(struct coord *c, struct c_channel *ch)
{
    for (size_t i = 0; i < ch->task_count; i++) {
        ch->tasks[i]->has_channel = false;
        assign_dirty(c, ch->tasks[i]);
    }
    if (ch->is_paused)
        assign_channel_ends(c, ch);
    else
        for (size_t i = 0; i < ch->host_count; i++) {
            struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
            if (!h || !h->network)
                continue;
            cover(c, ch, h->network);
            struct c_task *t = task_of(c, ch, h->network->agent);
            if (t && assign_list_has(t->networks, t->network_count, h->network))
                assign_hand(c, t, h->network); /* what waited when it was paused */
        }
}

/* Hosts that it had yet to bring go with another channel of their network; or wait until there is one. */
static void pass_on_hosts(struct coord *c, struct c_task *t)
{
    for (size_t i = 0; i < t->handed_count; i++)
        for (size_t k = 0; k < c->task_count; k++) {
            struct c_task *other = c->tasks[k];
            if (!other || other == t || !assign_list_has(other->networks, other->network_count, t->handed[i]))
                continue;
            assign_hand(c, other, t->handed[i]);
            break;
        }
    t->handed_count = 0;
}

void assign_channel_ends(struct coord *c, struct c_channel *ch)
{
    for (size_t i = 0; i < ch->task_count; i++) {
        struct c_task *t = ch->tasks[i];
        pass_on_hosts(c, t);
        for (size_t k = 0; k < t->network_count; k++) {
            if (assign_list_has(t->ending, t->ending_count, t->networks[k]))
                continue;
            assign_list_add(&t->ending, &t->ending_count, &t->ending_cap, t->networks[k]);
            t->networks[k]->leaving++;
        }
        t->network_count = 0;
        assign_dirty(c, t);
    }
}

void assign_drop_tasks(struct coord *c, struct c_channel *ch)
{
    for (size_t i = 0; i < ch->task_count; i++) {
        struct c_task *t = ch->tasks[i];
        struct fleet_number key = fleet_number(t->number);
        note_trouble(c, fleet_remove(c->fleet, FLEET_TASK, span_of(key.b, sizeof(key.b))), "forget a task");
        c->tasks[t->number - 1] = NULL;
        task_dispose(t);
    }
    ch->task_count = 0;
}

/* ---- now and then ---- */

static void retry_hosts(struct coord *c, mono_ms now)
{
    size_t at = 0;
    if (now - c->hosts_looked < 5000)
        return;
    c->hosts_looked = now;
    for (struct c_host *h; (h = table_next(&c->hosts, &at));)
        if (h->state == HOST_FAILED && now >= h->retry_at) {
            h->state = HOST_NEW;
            want_address(c, h);
        }
}

void assign_tick(struct coord *c, mono_ms now)
{
    retry_hosts(c, now);
    assign_look_at_networks(c, now);
    if (!c->has_dirty || now < c->orders_again)
        return;
    status st = ST_OK;
    c->has_dirty = false;
    /* Those that bring handed-over hosts come last: queues name channels that the others make known. */
    for (int with_hosts = 0; with_hosts < 2; with_hosts++)
        for (size_t i = 0; i < c->task_count; i++) {
            struct c_task *t = c->tasks[i];
            if (t && t->is_dirty && (t->handed_count > 0) == with_hosts && st == ST_OK)
                st = orders_of_task(c, t);
            c->has_dirty |= t && t->is_dirty;
        }
    if (st != ST_OK)
        c->orders_again = now + ORDERS_AGAIN_MS;
}

static bool list_covers(struct c_network *const *list, size_t count, const struct addr *addr)
{
    for (size_t i = 0; i < count; i++)
        if (network_has(&list[i]->network, addr))
            return true;
    return false;
}

/* The address of a visit is the agent's word. Where the host is, is ours: a host that others have is theirs, unless its
 * name leads to several networks and one of them is the agent's. */
static bool may_be_there(const struct c_host *h, uint64_t agent, const struct addr *addr)
{
    if (!h || !h->network || h->network->agent == agent)
        return true;
    for (size_t i = 0; i < h->also_count; i++)
        if (network_has(&h->also[i], addr))
            return true;
    return false;
}

bool assign_allows(struct coord *c, uint64_t agent, const struct c_task *t, const struct url *u, struct span address,
                   bool is_list)
{
    struct addr addr;
    struct channel *ch = t->channel->channel;
    if (t->agent != agent ||
        (channel_check(ch, u, 0, NULL) != CHANNEL_YES && !(is_list && channel_takes_list(ch, u, 0))))
        return false;
    const struct c_host *h = table_get(&c->hosts, siphash(&c->key, u->host));
    if (h && h->pinned_agent == agent)
        return true;
    if (!address.n) /* no connection was made: refused by robots.txt, or no answer */
        return h && h->network && h->network->agent == agent;
    return addr_parse(address, &addr) == ST_OK &&
           (list_covers(t->networks, t->network_count, &addr) || list_covers(t->ending, t->ending_count, &addr)) &&
           may_be_there(h, agent, &addr);
}

void assign_free(struct coord *c)
{
    size_t at = 0;
    for (size_t i = 0; i < c->task_count; i++) {
        if (c->tasks[i])
            task_dispose(c->tasks[i]);
    }
    free(c->tasks);
    for (struct c_host *h; (h = table_next(&c->hosts, &at));)
        host_dispose(h);
    table_done(&c->hosts);
    at = 0;
    for (struct c_network *n; (n = table_next(&c->networks, &at));) {
        free(n->hosts);
        free(n->probes);
        free(n->parts);
        free(n->split);
        free(n);
    }
    table_done(&c->networks);
    free(c->wanted);
}
