#include "lab/serve/sites.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"

static const struct sip_key key = {0x6c61622077656220, 0x736974657369746e};

struct sites {
    struct table by_host, by_addr, by_both; /* values are index + 1 */
};

static uint64_t host_key(struct span host)
{
    char lower[256];
    size_t n = host.n < sizeof(lower) ? host.n : sizeof(lower);
    for (size_t i = 0; i < n; i++)
        lower[i] = ascii_lower(host.p[i]);
    return siphash(&key, span_of(lower, n));
}

static uint64_t addr_key(const struct addr *a)
{
    unsigned char text[17] = {a->family};
    memcpy(text + 1, a->b, 16);
    return siphash(&key, span_of(text, sizeof(text)));
}

static uint64_t both_key(struct span host, const struct addr *a)
{
    return host_key(host) * 0x9e3779b97f4a7c15 ^ addr_key(a);
}

static void put_new(struct table *t, uint64_t id, size_t site)
{
    if (!table_get(t, id))
        table_put(t, id, (void *)(uintptr_t)(site + 1));
}

static bool get(const struct table *t, uint64_t id, size_t *out)
{
    uintptr_t v = (uintptr_t)table_get(t, id);
    if (v)
        *out = v - 1;
    return v != 0;
}

struct sites *sites_new(const struct lab *lab)
{
    struct sites *s = mem_alloc(sizeof(*s));
    size_t site;
    for (size_t i = 0; i < lab->site_count; i++) {
        const struct lab_site *mine = &lab->sites[i];
        const struct addr *own[] = {&mine->addr4, &mine->addr6};
        put_new(&s->by_host, host_key(mine->host), i);
        for (size_t k = 0; k < 2; k++) {
            if (own[k]->family) {
                put_new(&s->by_addr, addr_key(own[k]), i);
                put_new(&s->by_both, both_key(mine->host, own[k]), i);
            }
        }
    }
    for (size_t i = 0; i < lab->name_count; i++) { /* one more that a name stands for, somewhere */
        const struct lab_name *n = &lab->names[i];
        if (get(&s->by_host, host_key(n->host), &site))
            put_new(&s->by_both, both_key(n->host, &n->addr), site);
    }
    return s;
}

void sites_free(struct sites *s)
{
    if (!s)
        return;
    table_done(&s->by_host);
    table_done(&s->by_addr);
    table_done(&s->by_both);
    free(s);
}

bool sites_find(const struct sites *s, struct span host, size_t *out)
{
    return get(&s->by_host, host_key(host), out);
}

bool sites_asked(const struct sites *s, struct span host, const struct addr *local, size_t *out)
{
    size_t site;
    bool is_loopback = local->family == 4 && local->b[0] == 127; /* outside of a lab, for tests */
    if (!get(&s->by_host, host_key(host), &site))
        return get(&s->by_addr, addr_key(local), out);
    if (!is_loopback && !get(&s->by_both, both_key(host, local), &site))
        return false;
    *out = site;
    return true;
}
