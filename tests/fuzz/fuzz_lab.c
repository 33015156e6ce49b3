/* fuzz_lab.c - what the lab takes from others: DNS queries, IP packets, lab files, tables of round trips and what it is
 * told while it runs. The first byte says which. */
#include <assert.h>

#include "lab/map/lab.h"
#include "lab/map/lab_paths.h"
#include "lab/map/packet.h"
#include "lab/serve/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sample[] =
    "place hq 20.0.0.1 2a00:1::1\nplace far 20.1.0.0/24\nrtt hq far 5\nsite a.example 20.1.0.2\n"
    "name geo.example 20.1.0.2 2a00:1::1\nname geo.example 20.0.0.1 from=far\n"
    "name spot.example 20.1.0.2 loc=48.86,2.35\n";

/* Made once; names borrow it. */
static const struct names *the_names(void)
{
    static struct lab l;
    static struct names *n;
    struct buf why = {0};
    if (n)
        return n;
    status st = lab_parse(span_str(sample), ".", &l, &why);
    assert(st == ST_OK);
    return n = names_new(&l);
}

static void query(struct span q)
{
    const struct names *n = the_names();
    unsigned char out[DNS_TCP_MAX];
    for (int place = -1; place < 2; place++) {
        size_t udp = dns_answer(n, place, q, true, DNS_UDP_MAX, out);
        assert(udp == 0 || (udp >= 12 && udp <= DNS_UDP_MAX && out[2] & 0x80));
        assert(dns_answer(n, place, span_of(out, udp), true, DNS_UDP_MAX, out) == 0); /* no answers to answers */
        size_t tcp = dns_answer(n, place, q, false, sizeof(out), out);
        assert(tcp >= udp);
    }
}

static void packet(struct span p)
{
    struct packet_facts f, back;
    unsigned char out[PACKET_MAX];
    if (p.n > PACKET_MAX || !packet_facts(p, &f))
        return;
    (void)packet_is_local(&f);
    size_t n = packet_unreachable(p, &f, out);
    if (n == 0)
        return;
    bool is_packet = packet_facts(span_of(out, n), &back);
    assert(is_packet && addr_eq(&back.to, &f.from));
    assert(packet_unreachable(span_of(out, n), &back, out) == 0);
}

/* Lines that name other files are left out. */
static void file(struct span text)
{
    struct lab l;
    struct buf why = {0};
    if (span_search(text, SPAN("world"), false) < text.n || span_search(text, SPAN("matrix"), false) < text.n)
        return;
    if (lab_parse(text, "/nonexistent", &l, &why) == ST_OK) {
        for (unsigned i = 0; i < map_place_count(l.map); i++) {
            const struct map_place *p = map_place(l.map, i);
            const struct addr *a = p->addr4.family ? &p->addr4 : &p->addr6;
            unsigned at;
            assert(a->family && map_at(l.map, a, &at));
            assert(map_path(l.map, i, at).rtt_ms >= 0);
        }
        lab_done(&l);
    } else {
        assert(why.n > 0);
    }
    buf_done(&why);
}

/* A table, and lines of a control socket as orders.c cuts them. */
static void changes(struct span text)
{
    typedef status order(struct map * m, const struct span *words, size_t n, struct buf *why);
    static order *const orders[] = {lab_rtt, lab_loss, lab_bandwidth};
    struct lab l;
    struct buf why = {0};
    struct span line, words[8];
    status st = lab_parse(span_str(sample), ".", &l, &why);
    assert(st == ST_OK);
    st = lab_matrix(l.map, text, &why);
    assert(st == ST_OK || why.n > 0);
    while (span_split(&text, '\n', &line)) {
        size_t n = 0;
        while (n < 8 && span_split(&line, ' ', &words[n]))
            n++;
        for (size_t i = 0; n && i < sizeof(orders) / sizeof(*orders); i++) {
            buf_clear(&why);
            st = orders[i](l.map, words, n, &why);
            assert(st == ST_OK || why.n > 0);
        }
    }
    for (unsigned i = 0; i < map_place_count(l.map); i++)
        for (unsigned k = 0; k < map_place_count(l.map); k++)
            assert(map_path(l.map, i, k).rtt_ms >= 0);
    lab_done(&l);
    buf_done(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct span rest = span_of(data + 1, size - 1);
    static void (*const readers[])(struct span) = {query, packet, file, changes};
    readers[data[0] % 4](rest);
    return 0;
}
