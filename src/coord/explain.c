#include "coord/explain.h"

#include <stdio.h>

#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/networks.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "io/clock.h"
#include "web/domain.h"

status explain_parse(struct arena *a, struct span text, struct url *out)
{
    struct url typed;
    status st = url_parse(a, text, NULL, &typed);
    if (st == ST_OK && !url_is_http(&typed))
        st = ST_INVALID;
    return st == ST_OK ? url_normalise(a, &typed, &url_norm_default, EXPLAIN_URL_MAX, out) : st;
}

static struct c_host *host_of(struct coord *c, const struct url *u)
{
    return table_get(&c->hosts, siphash(&c->key, u->host));
}

bool explain_address(struct coord *c, const struct url *u, struct addr *out)
{
    const struct c_host *h = host_of(c, u);
    *out = h ? h->addr : (struct addr){0};
    return !h;
}

static const char *name_of(struct coord *c, uint64_t agent)
{
    const struct c_agent *a = agent_get(c, agent);
    return a ? a->name : "";
}

static void put_name(struct coord *c, struct json *j, const char *key, uint64_t agent)
{
    json_key(j, key);
    json_text_or_null(j, span_str(name_of(c, agent)));
}

static void put_ms(struct json *j, const char *key, double ms) /* below 0, null: not known */
{
    json_key(j, key);
    if (ms >= 0)
        json_real(j, ms, 1);
    else
        json_null(j);
}

static void put_share(struct json *j, const char *key, double share)
{
    json_key(j, key);
    if (share >= 0)
        json_real(j, share, 3);
    else
        json_null(j);
}

/* ---- where it is registered ---- */

static void put_range(struct json *j, const struct hierarchy_node *n)
{
    char first[ADDR_TEXT_MAX], last[ADDR_TEXT_MAX], text[2 * NETWORK_TEXT_MAX];
    for (unsigned bits = 0; bits <= 128; bits++) { /* a prefix where it is one */
        struct network net = {.first = n->first, .bits = (uint8_t)bits};
        struct addr end = n->first;
        bool is_first = true;
        if (n->first.family == 4 && bits > 32)
            break;
        for (unsigned i = bits; i < (n->first.family == 4 ? 32u : 128u); i++) {
            is_first &= !(n->first.b[i / 8] & 0x80 >> i % 8);
            end.b[i / 8] |= (uint8_t)(0x80 >> i % 8);
        }
        if (is_first && addr_eq(&end, &n->last)) {
            put_str(j, "network", network_format(&net, text));
            return;
        }
    }
    snprintf(text, sizeof(text), "%s-%s", addr_format(&n->first, first), addr_format(&n->last, last));
    put_str(j, "network", text);
}

static void put_path(struct coord *c, struct json *j, const struct addr *addr)
{
    struct hierarchy_node n;
    uint32_t at = c->hierarchy && addr->family ? hierarchy_lookup(c->hierarchy, addr) : HIERARCHY_NONE;
    json_key(j, "path");
    json_open(j, '[');
    for (unsigned left = 256; at != HIERARCHY_NONE && left; at = n.parent, left--) {
        hierarchy_get(c->hierarchy, at, &n);
        json_open(j, '{');
        put_range(j, &n);
        json_key(j, "holder");
        json_text_or_null(j, hierarchy_holder_name(c->hierarchy, n.holder));
        json_key(j, "country");
        json_text_or_null(j, span_str(n.country));
        json_key(j, "registry");
        json_text_or_null(j, span_str(registry_name_text(n.registry)));
        json_key(j, "status");
        json_text_or_null(j, span_str(registry_status_text(n.state)));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_network(struct coord *c, struct json *j, const struct addr *addr, const struct c_network *n)
{
    struct hierarchy_node node = {0};
    char text[NETWORK_TEXT_MAX] = "";
    if (addr->family) {
        struct network cell = n ? n->network : hierarchy_cell(c->hierarchy, addr);
        uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, addr) : HIERARCHY_NONE;
        network_format(&cell, text);
        if (at != HIERARCHY_NONE)
            hierarchy_get(c->hierarchy, at, &node);
    }
    json_key(j, "network");
    json_text_or_null(j, span_str(text));
    json_key(j, "holder");
    json_text_or_null(j, node.holder ? hierarchy_holder_name(c->hierarchy, node.holder) : (struct span){0});
    json_key(j, "country");
    json_text_or_null(j, span_str(node.country));
    put_path(c, j, addr);
}

/* ---- channels ---- */

static void put_channel(struct json *j, struct c_channel *ch, const struct url *u)
{
    static const char *const verdicts[] = {[CHANNEL_YES] = "in scope",
                                           [CHANNEL_OUT_OF_SCOPE] = "out of scope",
                                           [CHANNEL_NOT_INCLUDED] = "no include pattern matches",
                                           [CHANNEL_EXCLUDED] = "excluded",
                                           [CHANNEL_TOO_DEEP] = "too deep",
                                           [CHANNEL_FORGOTTEN] = "forgotten"};
    struct span pattern = {0};
    char id[24];
    channel_verdict v = channel_check(ch->channel, u, 0, &pattern);
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)ch->id);
    json_open(j, '{');
    put_str(j, "id", id);
    put_str(j, "label", ch->label);
    put_bool(j, "in_scope", v == CHANNEL_YES);
    put_str(j, "verdict", verdicts[v]);
    json_key(j, "pattern");
    json_text_or_null(j, pattern);
    put_bool(j, "paused", ch->is_paused);
    json_close(j, '}');
}

static void put_channels(struct coord *c, struct json *j, const struct c_host *h, const struct url *u)
{
    struct c_channel *wide[EXPLAIN_CHANNELS];
    json_key(j, "channels");
    json_open(j, '[');
    if (h)
        for (size_t i = 0; i < h->channel_count && i < EXPLAIN_CHANNELS; i++)
            put_channel(j, h->channels[i], u);
    else
        for (size_t i = 0, n = channels_of_url(c, u, wide, EXPLAIN_CHANNELS); i < n; i++)
            put_channel(j, wide[i], u);
    json_close(j, ']');
}

/* ---- who has it ---- */

/* All that the strategy has an idea of but `agent`. */
static size_t others_of(struct coord *c, const struct delegate_question *q, uint64_t agent,
                        struct delegate_estimate out[EXPLAIN_ESTIMATES])
{
    size_t n = c->delegator ? delegator_estimates(c->delegator, q, out, EXPLAIN_ESTIMATES) : 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (out[i].agent != agent)
            out[kept++] = out[i];
    return kept;
}

static void put_others(struct coord *c, struct json *j, const struct delegate_estimate *list, size_t n)
{
    json_key(j, "others");
    json_open(j, '[');
    for (size_t i = 0; i < n && i < EXPLAIN_OTHERS; i++) {
        json_open(j, '{');
        put_name(c, j, "agent", list[i].agent);
        put_ms(j, "ms", list[i].ms);
        put_bool(j, "measured", list[i].is_measured);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_probes(struct coord *c, struct json *j, const struct c_network *n)
{
    char text[ADDR_TEXT_MAX];
    json_key(j, "probes");
    json_open(j, '[');
    for (size_t i = 0; n && i < n->probe_count; i++) {
        const struct delegate_probe *p = &n->probes[i];
        json_open(j, '{');
        put_name(c, j, "agent", p->agent);
        put_ms(j, "ms", p->ms);
        json_key(j, "reached");
        json_text_or_null(j, span_str(p->reached.family ? addr_format(&p->reached, text) : ""));
        json_close(j, '}');
    }
    json_close(j, ']');
    put_u64(j, "probes_waiting", n ? n->waiting : 0);
}

static void put_lines(struct json *j, const char *key, struct span text)
{
    struct span line;
    json_key(j, key);
    json_open(j, '[');
    while (text.n && span_split(&text, '\n', &line))
        if (line.n)
            json_text(j, line);
    json_close(j, ']');
}

/* Somebody has it, or did a moment ago. */
static void put_decided(struct coord *c, struct json *j, const struct c_network *n)
{
    struct delegate_question q = placing_question(c, n);
    struct delegate_estimate others[EXPLAIN_ESTIMATES];
    size_t count = others_of(c, &q, n->agent, others);
    struct buf changes = {0};
    double now_ms = calibration_ms(&n->calibration);
    for (size_t i = 0; i < n->probe_count && !(now_ms > 0); i++)
        if (n->probes[i].agent == n->agent)
            now_ms = n->probes[i].ms;
    put_name(c, j, "agent", n->agent);
    put_bool(j, "decided", true);
    put_time(j, "since", n->since);
    put_ms(j, "expected_ms", n->expected_ms > 0 ? (double)n->expected_ms : -1);
    put_ms(j, "now_ms", now_ms > 0 ? now_ms : -1);
    put_share(j, "sure", (double)n->sure);
    put_probes(c, j, n);
    put_others(c, j, others, count);
    put_str(j, "why", n->why);
    if (c->delegator)
        explain_changes(c, n, others, count, &changes);
    put_lines(j, "changes", buf_span(&changes));
    buf_done(&changes);
}

/* Nobody has it: who would get it now, as far as can be told without a probe? */
static void put_guess(struct coord *c, struct json *j, const struct url *u, const struct addr *addr,
                      const struct c_network *n, bool is_wanted)
{
    struct delegate_answer answer = {.expected_ms = -1, .sure = -1};
    struct delegate_question q = {.addr = *addr, .domain = domain_registered(u->host)};
    struct delegate_estimate others[EXPLAIN_ESTIMATES];
    struct buf changes = {0};
    const struct pin *line = n ? pinning_of(c, n) : NULL;
    if (n) { /* with what was measured, and who may have it */
        q = placing_question(c, n);
        q.addr = *addr;
        q.domain = domain_registered(u->host);
    }
    if (c->delegator && addr->family)
        delegator_ask(c->delegator, &q, &answer);
    put_name(c, j, "agent", answer.agent);
    put_bool(j, "decided", false);
    put_time(j, "since", 0);
    put_ms(j, "expected_ms", answer.expected_ms > 0 ? answer.expected_ms : -1);
    put_ms(j, "now_ms", -1);
    put_share(j, "sure", answer.sure);
    put_probes(c, j, n);
    put_others(c, j, others, addr->family ? others_of(c, &q, answer.agent, others) : 0);
    put_str(j, "why", buf_cstr(&answer.why));
    if (!is_wanted)
        buf_printf(&changes, "somebody asks for it: orb channel add %.*s\n", SPAN_ARG(u->href));
    else if (n && n->waiting)
        buf_printf(&changes, "probes are under way: %u\n", n->waiting);
    else if (c->delegator && addr->family && !answer.agent && line)
        buf_printf(&changes, "an agent comes that the line allows: %.*s\n", SPAN_ARG(pin_text(line)));
    else if (c->delegator && addr->family && !answer.agent)
        buf_puts(&changes, "an agent comes that may work\n");
    put_lines(j, "changes", buf_span(&changes));
    buf_done(&changes);
    buf_done(&answer.why);
}

/* ---- all of it ---- */

static const char *host_state_name(const struct c_host *h)
{
    static const char *const names[] = {
        [HOST_NEW] = "new", [HOST_ASKED] = "asked", [HOST_PLACED] = "placed", [HOST_FAILED] = "failed"};
    return h ? names[h->state] : "";
}

void explain_put(struct coord *c, const struct url *u, const struct addr *addr, struct json *j)
{
    const struct c_host *h = host_of(c, u);
    const struct c_network *n = h && h->network ? h->network : addr->family ? network_find(c, addr) : NULL;
    bool is_decided = n && n->state != NETWORK_FREE;
    char text[ADDR_TEXT_MAX] = "";
    if (addr->family)
        addr_format(addr, text);
    json_open(j, '{');
    put_text(j, "url", u->href);
    put_text(j, "host", u->host);
    json_key(j, "host_state");
    json_text_or_null(j, span_str(host_state_name(h)));
    json_key(j, "address");
    json_text_or_null(j, span_str(text));
    put_bool(j, "private", addr->family && addr_classify(addr) != ADDR_PUBLIC);
    put_network(c, j, addr, n);
    put_channels(c, j, h, u);
    put_bool(j, "running", c->delegator != NULL);
    json_key(j, "strategy"); /* of a stopped one: as it will be told when it starts */
    if (c->delegator)
        json_str(j, delegate_strategy_name(c->o.strategy ? c->o.strategy : DELEGATE_LEARNED));
    else
        json_null(j);
    json_key(j, "state");
    json_text_or_null(j, span_str(n ? network_state_name(n->state) : ""));
    put_name(c, j, "next", n ? n->next_agent : 0);
    put_bool(j, "trial", is_decided && n->is_trial);
    put_bool(j, "doubted", is_decided && n->is_doubted);
    put_bool(j, "provisional", is_decided && n->is_provisional);
    put_bool(j, "replicated", is_decided && n->is_replicated);
    put_bool(j, "fixed", is_decided && n->is_fixed);
    const struct pin *line = n ? pinning_of(c, n) : NULL;
    json_key(j, "line");
    json_text_or_null(j, line ? pin_text(line) : (struct span){0});
    put_name(c, j, "pinned", h && h->pinned_agent ? h->pinned_agent : n ? assign_pinned(c, n) : 0);
    if (is_decided)
        put_decided(c, j, n);
    else
        put_guess(c, j, u, addr, n, h != NULL);
    json_close(j, '}');
}
