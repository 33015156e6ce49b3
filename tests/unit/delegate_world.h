/* delegate_world.h - small hierarchies and short questions, for tests of delegation. */
#pragma once

#include "test.h"

#include "place/hierarchy_build.h"
#include "plan/delegate.h"

struct range {
    const char *first, *last, *holder; /* holder NULL: not known */
};

struct tree {
    struct buf bytes;
    struct hierarchy *h;
};

static inline struct addr addr_of(const char *text)
{
    struct addr a;
    CHECK_STATUS(text, addr_parse(span_str(text), &a), ST_OK);
    return a;
}

static inline void tree_add(struct hierarchy_builder *b, struct addr first, struct addr last, struct span holder)
{
    struct registry_record r = {.first = first, .last = last, .holder = holder, .registry = REGISTRY_OTHER};
    CHECK_STATUS("range", hierarchy_builder_add(b, &r), ST_OK);
}

static inline struct tree tree_finish(struct hierarchy_builder *b)
{
    struct tree t = {0};
    struct hierarchy_figures figures;
    CHECK_STATUS("build", hierarchy_builder_finish(b, (struct span){0}, &t.bytes, &figures), ST_OK);
    hierarchy_builder_free(b);
    CHECK_STATUS("open", hierarchy_open(buf_span(&t.bytes), &t.h, NULL), ST_OK);
    return t;
}

static inline struct tree tree_of(const struct range *ranges, size_t count)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    for (size_t i = 0; i < count; i++)
        tree_add(b, addr_of(ranges[i].first), addr_of(ranges[i].last), span_str(ranges[i].holder));
    return tree_finish(b);
}

static inline void tree_done(struct tree *t)
{
    hierarchy_free(t->h);
    buf_done(&t->bytes);
}

/* An agent that takes networks; addr NULL: nobody knows where. */
static inline void put_agent(struct delegator *d, uint64_t number, const char *addr)
{
    struct delegator_agent a = {.number = number, .is_open = true, .weight = 1};
    if (addr)
        a.addr = addr_of(addr);
    delegator_agent_put(d, &a);
}

/* A question whose probes can grow. */
struct asked {
    struct delegate_question q;
    struct delegate_probe probes[64];
    struct delegate_answer a;
};

static inline void asked_init(struct asked *k, const char *addr, const char *domain)
{
    *k = (struct asked){.q = {.addr = addr_of(addr), .domain = span_str(domain)}};
}

static inline void asked_probe(struct asked *k, uint64_t agent, double ms)
{
    k->probes[k->q.probe_count++] = (struct delegate_probe){.agent = agent, .ms = ms};
    k->q.probes = k->probes;
}

static inline void check_verdict(const char *label, struct delegator *d, struct asked *k, delegate_verdict verdict)
{
    buf_done(&k->a.why);
    delegator_ask(d, &k->q, &k->a);
    if (k->a.verdict != verdict)
        fail_msg("%s: verdict %d, want %d (%s)", label, k->a.verdict, verdict, buf_cstr(&k->a.why));
}

/* One probe is wanted, from this agent. */
static inline void check_wants(const char *label, struct delegator *d, struct asked *k, uint64_t agent)
{
    check_verdict(label, d, k, DELEGATE_PROBE);
    if (k->a.probe_count != 1 || k->a.probes[0] != agent)
        fail_msg("%s: wants %u probes, the first from %llu (%s)", label, k->a.probe_count,
                 (unsigned long long)k->a.probes[0], buf_cstr(&k->a.why));
    buf_done(&k->a.why);
}

static inline void check_goes_to(const char *label, struct delegator *d, struct asked *k, uint64_t agent)
{
    check_verdict(label, d, k, DELEGATE_TO);
    if (k->a.agent != agent)
        fail_msg("%s: to %llu (%s)", label, (unsigned long long)k->a.agent, buf_cstr(&k->a.why));
    CHECK(label, k->a.why.n > 0);
    buf_done(&k->a.why);
}

static inline void check_owner(const char *label, const struct delegator *d, const char *addr, uint64_t agent)
{
    struct addr a = addr_of(addr);
    uint64_t owner = delegator_owner(d, &a);
    if (owner != agent)
        fail_msg("%s: %s is %llu's, want %llu", label, addr, (unsigned long long)owner, (unsigned long long)agent);
}

static inline void assign(struct delegator *d, const char *addr, const char *domain, uint64_t agent)
{
    delegator_assigned(d, &(struct delegate_question){.addr = addr_of(addr), .domain = span_str(domain)}, agent);
}
