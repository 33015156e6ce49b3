/* admin_nearest.c - which agent is nearest to an address, as far as is known now: for other crawlers, mirrors and the
 * like, and for people who wonder. */
#include <string.h>

#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "coord/networks.h"
#include "place/hierarchy.h"

#define NEAREST_MAX 100 /* addresses in one call */

static void put_registered(struct coord *c, struct json *j, const struct addr *addr)
{
    struct hierarchy_node node = {0};
    struct network cell = hierarchy_cell(c->hierarchy, addr);
    char text[NETWORK_TEXT_MAX];
    uint32_t at = c->hierarchy ? hierarchy_network(c->hierarchy, addr) : HIERARCHY_NONE;
    if (at != HIERARCHY_NONE)
        hierarchy_get(c->hierarchy, at, &node);
    put_str(j, "network", network_format(&cell, text));
    json_key(j, "holder");
    json_text_or_null(j, node.holder ? hierarchy_holder_name(c->hierarchy, node.holder) : (struct span){0});
    json_key(j, "country");
    json_text_or_null(j, span_str(node.country));
}

static void put_nearest(struct coord *c, struct json *j, const struct addr *addr)
{
    struct delegate_answer answer;
    char text[ADDR_TEXT_MAX];
    const struct c_network *n = network_find(c, addr);
    struct delegate_question q = {.addr = *addr};
    if (n) { /* what was measured to it counts */
        q.probes = n->probes;
        q.probe_count = n->probe_count;
    }
    delegator_ask(c->delegator, &q, &answer);
    json_open(j, '{');
    put_str(j, "ip", addr_format(addr, text));
    put_registered(c, j, addr);
    json_key(j, "agent");
    const struct c_agent *a = agent_get(c, answer.agent);
    json_text_or_null(j, span_str(a ? a->name : ""));
    put_bool(j, "decided", answer.is_known);
    put_u64(j, "probes", q.probe_count);
    json_key(j, "expected_ms");
    if (answer.expected_ms >= 0)
        json_real(j, answer.expected_ms, 1);
    else
        json_null(j);
    json_key(j, "sure");
    if (answer.sure >= 0)
        json_real(j, answer.sure, 3);
    else
        json_null(j);
    put_str(j, "why", n && answer.is_known && n->why[0] ? n->why : buf_cstr(&answer.why));
    json_close(j, '}');
    buf_done(&answer.why);
}

void deed_nearest(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct span rest = pairs_get(&r->in, "ip"), text;
    struct addr addrs[NEAREST_MAX];
    size_t count = 0;
    while (span_split(&rest, ',', &text)) {
        if (count == NEAREST_MAX || addr_parse(span_trim(text), &addrs[count]) != ST_OK) {
            deed_fail(d, 400, "invalid", "ip: one address, or up to 100 with commas between them.");
            return;
        }
        count++;
    }
    if (!count) {
        deed_fail(d, 400, "invalid", "ip is missing: /api/v1/nearest?ip=192.0.2.1");
        return;
    }
    pthread_mutex_lock(&r->c->lock);
    json_open(&j, '{');
    json_key(&j, "nearest");
    json_open(&j, '[');
    for (size_t i = 0; i < count; i++)
        put_nearest(r->c, &j, &addrs[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    pthread_mutex_unlock(&r->c->lock);
}
