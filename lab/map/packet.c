#include "lab/map/packet.h"

#include "base/siphash.h"

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMP6 = 58 };
enum { HEAD4 = 20, HEAD6 = 40, ICMP_HEAD = 8 };
/* What of the packet goes back: RFC 792 wants eight bytes after the header, RFC 4443 as much as fits in 1280. */
#define QUOTE4_MAX 548
#define QUOTE6_MAX (1280 - HEAD6 - ICMP_HEAD)

static const struct sip_key key = {0x6f72622d6c616221, 0x666c6f77666c6f77};

static unsigned get16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
}

/* Protocol and, where there are some, ports. Later fragments have none: they share a flow with their like, and a first
 * fragment may be overtaken by them, which reassembly does not mind. */
static uint64_t flow_of(struct span packet, const struct packet_facts *f, unsigned proto, size_t head, bool is_fragment)
{
    unsigned char text[2 + 16 + 16 + 4] = {f->from.family, (unsigned char)proto};
    memcpy(text + 2, f->from.b, 16);
    memcpy(text + 18, f->to.b, 16);
    if (!is_fragment && (proto == PROTO_TCP || proto == PROTO_UDP) && packet.n >= head + 4)
        memcpy(text + 34, packet.p + head, 4);
    return siphash(&key, span_of(text, sizeof(text)));
}

bool packet_facts(struct span packet, struct packet_facts *out)
{
    const unsigned char *p = (const unsigned char *)packet.p;
    struct packet_facts f = {0};
    if (packet.n >= HEAD4 && p[0] >> 4 == 4) {
        size_t head = (size_t)(p[0] & 15) * 4;
        if (head < HEAD4 || get16(p + 2) < head || get16(p + 2) > packet.n)
            return false;
        f.from.family = f.to.family = 4;
        memcpy(f.from.b, p + 12, 4);
        memcpy(f.to.b, p + 16, 4);
        f.flow = flow_of(packet, &f, p[9], head, (get16(p + 6) & 0x3fff) != 0);
    } else if (packet.n >= HEAD6 && p[0] >> 4 == 6) {
        if (get16(p + 4) + HEAD6 > packet.n)
            return false;
        f.from.family = f.to.family = 6;
        memcpy(f.from.b, p + 8, 16);
        memcpy(f.to.b, p + 24, 16);
        f.flow = flow_of(packet, &f, p[6], HEAD6, false);
    } else {
        return false;
    }
    *out = f;
    return true;
}

static bool addr_is_local(const struct addr *a)
{
    if (a->family == 4)
        return a->b[0] == 0 || a->b[0] == 127 || a->b[0] >= 224 || (a->b[0] == 169 && a->b[1] == 254);
    static const uint8_t zero[16];
    return a->b[0] == 0xff || (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80) || memcmp(a->b, zero, 15) == 0;
}

bool packet_is_local(const struct packet_facts *f)
{
    return addr_is_local(&f->from) || addr_is_local(&f->to);
}

/* ---- unreachable ---- */

static uint32_t sum(uint32_t s, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        s += get16(p + i);
    return n % 2 ? s + ((uint32_t)p[n - 1] << 8) : s;
}

static unsigned fold(uint32_t s)
{
    while (s >> 16)
        s = (s & 0xffff) + (s >> 16);
    return ~s & 0xffff;
}

static size_t unreachable4(struct span packet, const struct packet_facts *f, unsigned char *out)
{
    const unsigned char *p = (const unsigned char *)packet.p;
    size_t head = (size_t)(p[0] & 15) * 4;
    bool is_error = p[9] == PROTO_ICMP && packet.n > head && p[head] != 8 && p[head] != 0; /* other than echo */
    if (is_error || (get16(p + 6) & 0x1fff) != 0)
        return 0;
    size_t quote = packet.n < QUOTE4_MAX ? packet.n : QUOTE4_MAX, n = HEAD4 + ICMP_HEAD + quote;
    memset(out, 0, HEAD4 + ICMP_HEAD);
    out[0] = 0x45;
    put16(out + 2, (unsigned)n);
    out[8] = 64;
    out[9] = PROTO_ICMP;
    memcpy(out + 12, f->to.b, 4);
    memcpy(out + 16, f->from.b, 4);
    put16(out + 10, fold(sum(0, out, HEAD4)));
    out[HEAD4] = 3; /* destination unreachable; code 0: the network */
    memcpy(out + HEAD4 + ICMP_HEAD, p, quote);
    put16(out + HEAD4 + 2, fold(sum(0, out + HEAD4, ICMP_HEAD + quote)));
    return n;
}

static size_t unreachable6(struct span packet, const struct packet_facts *f, unsigned char *out)
{
    const unsigned char *p = (const unsigned char *)packet.p;
    if (p[6] == PROTO_ICMP6 && packet.n > HEAD6 && p[HEAD6] < 128) /* an error */
        return 0;
    size_t quote = packet.n < QUOTE6_MAX ? packet.n : QUOTE6_MAX, body = ICMP_HEAD + quote;
    memset(out, 0, HEAD6 + ICMP_HEAD);
    out[0] = 0x60;
    put16(out + 4, (unsigned)body);
    out[6] = PROTO_ICMP6;
    out[7] = 64;
    memcpy(out + 8, f->to.b, 16);
    memcpy(out + 24, f->from.b, 16);
    out[HEAD6] = 1; /* destination unreachable; code 0: no route */
    memcpy(out + HEAD6 + ICMP_HEAD, p, quote);
    uint32_t pseudo = sum((uint32_t)body + PROTO_ICMP6, out + 8, 32);
    put16(out + HEAD6 + 2, fold(sum(pseudo, out + HEAD6, body)));
    return HEAD6 + body;
}

size_t packet_unreachable(struct span packet, const struct packet_facts *f, unsigned char out[PACKET_MAX])
{
    return f->from.family == 4 ? unreachable4(packet, f, out) : unreachable6(packet, f, out);
}
