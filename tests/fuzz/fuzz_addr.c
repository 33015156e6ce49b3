/* Addresses and prefixes: agree with the C library on what is one, and survive a round trip. */
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "place/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_addr(struct span text)
{
    struct addr a, back;
    char copy[64] = "";
    uint8_t want[16] = {0};
    bool ok = addr_parse(text, &a) == ST_OK;
    if (text.n < sizeof(copy) && (text.n == 0 || (text.p[0] != '[' && !memchr(text.p, '\0', text.n)))) {
        if (text.n)
            memcpy(copy, text.p, text.n);
        int family = inet_pton(AF_INET, copy, want) == 1 ? 4 : inet_pton(AF_INET6, copy, want) == 1 ? 6 : 0;
        assert(ok == (family != 0));
        assert(!ok || (a.family == family && memcmp(a.b, want, family == 4 ? 4 : 16) == 0));
    }
    if (!ok)
        return;
    char to[ADDR_TEXT_MAX];
    addr_format(&a, to);
    assert(strlen(to) < ADDR_TEXT_MAX);
    assert(addr_parse(span_str(to), &back) == ST_OK && addr_eq(&a, &back));
    struct network n = addr_network(&a), again;
    char net[NETWORK_TEXT_MAX];
    assert(network_has(&n, &a));
    assert(network_parse(span_str(network_format(&n, net)), &again) == ST_OK && network_eq(&n, &again));
    struct addr plain = addr_unmapped(&a);
    assert(addr_classify(&a) == addr_classify(&plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of(data, size);
    struct network n;
    char to[NETWORK_TEXT_MAX];
    check_addr(text);
    if (network_parse(text, &n) == ST_OK) {
        struct network back;
        assert(network_parse(span_str(network_format(&n, to)), &back) == ST_OK && network_eq(&n, &back));
        assert(network_has(&n, &n.first));
    }
    return 0;
}
