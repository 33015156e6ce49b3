#include "lab/serve/dns.h"

#include <math.h>

#include "lab/serve/arpa.h"

/* RFC 1035, RFC 1876 for LOC, RFC 6891 for the OPT record. */
enum { HEAD = 12, RECORD_HEAD = 12, CLASS_IN = 1, CLASS_ANY = 255 };
enum { TYPE_A = 1, TYPE_SOA = 6, TYPE_PTR = 12, TYPE_AAAA = 28, TYPE_LOC = 29, TYPE_OPT = 41, TYPE_ANY = 255 };
enum { RCODE_OK = 0, RCODE_FORMAT = 1, RCODE_NAME = 3, RCODE_NOT_DONE = 4, RCODE_REFUSED = 5 };
#define NAME_MAX_BYTES 255
#define LABEL_MAX 63
#define LOC_SEA_LEVEL 10000000 /* centimetres above -100 km */
#define UDP_PLAIN_MAX 512
#define OPT_BYTES 11

struct query {
    struct span host; /* labels with dots, in `text` */
    size_t end;       /* where the question ends */
    unsigned type, class;
    size_t udp_max; /* 0: no OPT record */
    char text[NAME_MAX_BYTES + 1];
};

struct writer {
    unsigned char *p;
    size_t n, room;
    bool is_cut; /* something did not fit */
};

static unsigned get16(struct span s, size_t at)
{
    return (unsigned)(unsigned char)s.p[at] << 8 | (unsigned char)s.p[at + 1];
}

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
}

static void put32(unsigned char *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

/* ---- reading ---- */

static bool read_name(struct span s, size_t *at, struct query *q)
{
    size_t n = 0;
    for (;;) {
        if (*at >= s.n)
            return false;
        size_t len = (unsigned char)s.p[(*at)++];
        if (len == 0)
            break;
        if (len > LABEL_MAX || *at + len > s.n || n + len + 1 > NAME_MAX_BYTES) /* a question needs no compression */
            return false;
        if (n)
            q->text[n++] = '.';
        memcpy(q->text + n, s.p + *at, len);
        n += len;
        *at += len;
    }
    q->host = span_of(q->text, n);
    return true;
}

static bool read_query(struct span s, struct query *q)
{
    size_t at = HEAD;
    *q = (struct query){0};
    if (get16(s, 4) != 1 || !read_name(s, &at, q) || at + 4 > s.n)
        return false;
    q->type = get16(s, at);
    q->class = get16(s, at + 2);
    q->end = at + 4;
    /* An OPT record, when it is what follows. */
    if (get16(s, 6) == 0 && get16(s, 8) == 0 && get16(s, 10) > 0 && q->end + OPT_BYTES <= s.n && s.p[q->end] == 0 &&
        get16(s, q->end + 1) == TYPE_OPT) {
        unsigned says = get16(s, q->end + 3);
        q->udp_max = says < UDP_PLAIN_MAX ? UDP_PLAIN_MAX : says;
    }
    return true;
}

/* ---- writing ---- */

/* Room for `n` bytes of a record, or the answer is cut short. */
static unsigned char *room_for(struct writer *w, size_t n)
{
    if (w->n + n > w->room) {
        w->is_cut = true;
        return NULL;
    }
    w->n += n;
    return w->p + w->n - n;
}

/* A record about the name of the question; its data is to be filled in. NULL: no room. */
static unsigned char *put_record(struct writer *w, unsigned type, size_t bytes)
{
    unsigned char *p = room_for(w, RECORD_HEAD + bytes);
    if (!p)
        return NULL;
    put16(p, 0xc000 | HEAD);
    put16(p + 2, type);
    put16(p + 4, CLASS_IN);
    put32(p + 6, DNS_TTL_S);
    put16(p + 10, (unsigned)bytes);
    return p + RECORD_HEAD;
}

static unsigned put_addrs(struct writer *w, const struct addr *addrs, size_t count, unsigned type)
{
    unsigned done = 0;
    size_t bytes = type == TYPE_A ? 4 : 16;
    for (unsigned char *p; done < count && (p = put_record(w, type, bytes)); done++)
        memcpy(p, addrs[done].b, bytes);
    return done;
}

/* A host as labels; false: it is none (a lab file may have named anything). */
static bool labels_of(struct span host, unsigned char to[NAME_MAX_BYTES], size_t *n)
{
    struct span label;
    size_t at = 0;
    while (host.n && span_split(&host, '.', &label)) {
        if (label.n == 0 || label.n > LABEL_MAX || at + label.n + 2 > NAME_MAX_BYTES)
            return false;
        to[at++] = (unsigned char)label.n;
        memcpy(to + at, label.p, label.n);
        at += label.n;
    }
    to[at++] = 0;
    *n = at;
    return true;
}

static unsigned put_hosts(struct writer *w, const struct names *n, const struct addr *a)
{
    struct span hosts[NAMES_ADDRS_MAX];
    size_t count = names_of(n, a, hosts);
    unsigned done = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char labels[NAME_MAX_BYTES], *p;
        size_t bytes;
        if (labels_of(hosts[i], labels, &bytes) && (p = put_record(w, TYPE_PTR, bytes))) {
            memcpy(p, labels, bytes);
            done++;
        }
    }
    return done;
}

/* Thousandths of a second of arc, with the equator or Greenwich in the middle of the 32 bits. */
static uint32_t arc(float degrees)
{
    return (uint32_t)((int64_t)(UINT32_C(1) << 31) + llround((double)degrees * 3600000.0));
}

/* RFC 1876, with the sizes that it has where nothing is said: a thing of a metre, known to 10 km and 10 m; at sea
 * level.
 */
static unsigned put_spot(struct writer *w, struct spot s)
{
    unsigned char *p = put_record(w, TYPE_LOC, 16);
    if (!p)
        return 0;
    memcpy(p, (const unsigned char[]){0, 0x12, 0x16, 0x13}, 4);
    put32(p + 4, arc(s.latitude));
    put32(p + 8, arc(s.longitude));
    put32(p + 12, LOC_SEA_LEVEL);
    return 1;
}

static bool wants(const struct query *q, unsigned type)
{
    return q->type == type || q->type == TYPE_ANY;
}

static unsigned put_host(struct writer *w, const struct names *n, int place, const struct query *q)
{
    static const struct {
        unsigned type;
        int family;
    } kinds[] = {{TYPE_A, 4}, {TYPE_AAAA, 6}};
    unsigned answers = 0;
    struct spot spot;
    for (size_t i = 0; i < 2; i++) {
        struct addr addrs[NAMES_ADDRS_MAX];
        size_t count = 0;
        if (wants(q, kinds[i].type) && names_find(n, q->host, place, kinds[i].family, addrs, &count))
            answers += put_addrs(w, addrs, count, kinds[i].type);
    }
    if (wants(q, TYPE_LOC) && names_spot(n, q->host, &spot))
        answers += put_spot(w, spot);
    return answers;
}

static unsigned put_records(struct writer *w, const struct names *n, int place, const struct query *q, unsigned *rcode)
{
    struct network net;
    unsigned answers = 0;
    bool exists = names_exist(n, q->host);
    if (arpa_parse(q->host, &net)) {
        exists = exists || names_within(n, &net);
        if (wants(q, TYPE_PTR) && net.bits == (net.first.family == 4 ? 32 : 128))
            answers = put_hosts(w, n, &net.first);
    } else if (exists) {
        answers = put_host(w, n, place, q);
    }
    *rcode = exists ? RCODE_OK : RCODE_NAME;
    return answers;
}

/* Of the root, because all names are ours. It says for how long it is true that there is nothing (RFC 2308). */
static unsigned put_authority(struct writer *w)
{
    static const unsigned char names[] = "\003dns\000\012hostmaster\003dns"; /* with the zero of the literal */
    size_t bytes = sizeof(names) + 20;
    bool was_cut = w->is_cut;
    unsigned char *p = room_for(w, 11 + bytes);
    w->is_cut = was_cut; /* an answer without it is still whole */
    if (!p)
        return 0;
    p[0] = 0;
    put16(p + 1, TYPE_SOA);
    put16(p + 3, CLASS_IN);
    put32(p + 5, DNS_TTL_S);
    put16(p + 9, (unsigned)bytes);
    memcpy(p + 11, names, sizeof(names));
    p += 11 + sizeof(names);
    put32(p, 1);          /* serial */
    put32(p + 4, 3600);   /* refresh */
    put32(p + 8, 600);    /* retry */
    put32(p + 12, 86400); /* expire */
    put32(p + 16, DNS_TTL_S);
    return 1;
}

static void put_opt(struct writer *w)
{
    unsigned char *p = w->p + w->n;
    memset(p, 0, OPT_BYTES);
    put16(p + 1, TYPE_OPT);
    put16(p + 3, DNS_UDP_MAX);
    w->n += OPT_BYTES;
}

size_t dns_answer(const struct names *n, int place, struct span query, bool is_udp, size_t room, unsigned char *out)
{
    struct query q;
    unsigned rcode = RCODE_OK, answers = 0, authority = 0;
    if (query.n < HEAD || (unsigned char)query.p[2] & 0x80) /* an answer: not ours to answer */
        return 0;
    bool is_read = read_query(query, &q);
    unsigned opcode = (unsigned char)query.p[2] >> 3 & 15;
    size_t may = !is_udp ? DNS_TCP_MAX : q.udp_max > DNS_UDP_MAX ? DNS_UDP_MAX : q.udp_max ? q.udp_max : UDP_PLAIN_MAX;
    struct writer w = {.p = out, .n = HEAD, .room = room < may ? room : may};
    bool has_opt = is_read && q.udp_max > 0;
    if (has_opt)
        w.room -= OPT_BYTES;
    if (!is_read) {
        rcode = RCODE_FORMAT;
    } else {
        memcpy(out + HEAD, query.p + HEAD, q.end - HEAD);
        w.n = q.end;
        if (opcode != 0)
            rcode = RCODE_NOT_DONE;
        else if (q.class != CLASS_IN && q.class != CLASS_ANY)
            rcode = RCODE_REFUSED;
        else
            answers = put_records(&w, n, place, &q, &rcode);
        if ((rcode == RCODE_OK || rcode == RCODE_NAME) && answers == 0 && !w.is_cut)
            authority = put_authority(&w);
    }
    if (has_opt)
        put_opt(&w);
    memcpy(out, query.p, 2);
    out[2] = (unsigned char)(0x84 | (query.p[2] & 0x79) | (w.is_cut ? 0x02 : 0)); /* answer, authoritative */
    out[3] = (unsigned char)rcode;
    put16(out + 4, is_read);
    put16(out + 6, answers);
    put16(out + 8, authority);
    put16(out + 10, has_opt);
    return w.n;
}
