#include "lab/serve/arpa.h"

/* Cuts the last label off. */
static struct span last_label(struct span *rest)
{
    size_t at = rest->n;
    while (at > 0 && rest->p[at - 1] != '.')
        at--;
    struct span label = span_from(*rest, at);
    rest->n = at > 0 ? at - 1 : 0;
    return label;
}

static bool take4(struct span label, struct network *net)
{
    uint64_t v;
    if (net->bits == 32 || !span_u64(label, 255, &v) || (label.n > 1 && label.p[0] == '0'))
        return false;
    net->first.b[net->bits / 8] = (uint8_t)v;
    net->bits += 8;
    return true;
}

static bool take6(struct span label, struct network *net)
{
    int v = label.n == 1 ? ascii_hex(label.p[0]) : -1;
    if (net->bits == 128 || v < 0)
        return false;
    net->first.b[net->bits / 8] |= (uint8_t)(net->bits % 8 ? v : v << 4);
    net->bits += 4;
    return true;
}

bool arpa_parse(struct span host, struct network *out)
{
    struct network net = {0};
    if (!span_eq_nocase(last_label(&host), SPAN("arpa")))
        return false;
    struct span kind = last_label(&host);
    net.first.family = span_eq_nocase(kind, SPAN("in-addr")) ? 4 : span_eq_nocase(kind, SPAN("ip6")) ? 6 : 0;
    if (net.first.family == 0)
        return false;
    while (host.n) {
        struct span label = last_label(&host);
        if (!(net.first.family == 4 ? take4(label, &net) : take6(label, &net)))
            return false;
    }
    *out = net;
    return true;
}
