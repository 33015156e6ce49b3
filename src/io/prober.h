/* prober.h - measures round trips: TCP connect, HTTP HEAD, ICMP echo.
 *
 * Knows nothing of names, robots or politeness between probes: the caller resolves, asks robots.txt before it asks for
 * a HEAD, and counts. Addresses and ports are refused as by the fetcher. Of one probe the samples are taken one after
 * the other, with a gap; two lost ones before any came end it, and so does a HEAD that is answered with 429 or 503.
 *
 * Where the times come from. TCP: the kernel's own measure, from SYN to SYN-ACK, of the fresh connection; a refused
 * connection is a round trip too (somebody answered), timed by the clock. A connection whose SYN had to be sent again
 * counts as lost unless the kernel knows the round trip all the same. HEAD: the same for the path, a connection a
 * sample; the server's part is from the request to the first byte of the answer, without one round trip. ICMP: when
 * the kernel received the reply, against when it was asked for; over datagram sockets, which a system may keep from
 * ordinary users (net.ipv4.ping_group_range): ST_UNSUPPORTED then.
 *
 * Comes back exactly once through `done`, never from inside prober_start(). One loop, one thread. */
#pragma once

#include "io/loop.h"
#include "place/addr.h"

#define PROBE_SAMPLES_MAX 16

typedef enum probe_kind { PROBE_TCP = 1, PROBE_HEAD, PROBE_ICMP } probe_kind; /* the numbers travel: wire/control.h */
bool probe_kind_parse(struct span name, probe_kind *out);                     /* "tcp", "head", "icmp" */
const char *probe_kind_name(probe_kind k);                                    /* never NULL */

struct prober;

struct prober_opts {
    bool allow_private;     /* loopback, private and the like may be probed */
    struct span user_agent; /* of HEAD; as all texts here copied */
    struct span ca_file;    /* of HEAD over TLS; empty = the system's */
    bool insecure;          /* no certificate checks */
    unsigned at_once;       /* probes under way, more wait; 0: 32 */
};

MUST_USE status prober_new(struct loop *l, const struct prober_opts *o, struct prober **out);
/* Those under way come back with ST_CANCELLED and must not be made anew from there. Allowed inside `done`. NULL is
 * fine. */
void prober_free(struct prober *p);

struct probe_result {
    /* ST_OK: at least one sample. Else why not: ST_REFUSED (address or port), ST_INVALID (URL or port), ST_UNSUPPORTED
     * (ICMP is not allowed here), ST_CANCELLED; of the last sample: ST_TIMEOUT, ST_CONNECT, ST_TLS, ST_PROTOCOL,
     * ST_LIMIT (head too long), ST_IO. */
    status st;
    probe_kind kind;
    struct addr addr;
    unsigned samples, lost;
    uint32_t min_us, median_us;            /* of the path; of an even number the lower of the two in the middle */
    uint32_t server_us;                    /* HEAD: median of what the server took beyond the path; else 0 */
    int http_status;                       /* HEAD: of the last answer; else 0 */
    uint64_t head_bytes;                   /* HEAD: of requests and answers, without what TLS and TCP add; else 0 */
    uint32_t sample_us[PROBE_SAMPLES_MAX]; /* of the path, in order */
};
typedef void probe_fn(void *arg, const struct probe_result *r);

struct probe_req {
    probe_kind kind;
    struct addr addr;
    int port;         /* TCP */
    struct span url;  /* HEAD: normalised; copied */
    unsigned samples; /* 0: 3; at most PROBE_SAMPLES_MAX */
    int gap_ms;       /* between two; 0: 200; negative: none */
    int timeout_ms;   /* of a sample; 0: 3,000, for a HEAD 10,000 */
    probe_fn *done;
    void *arg; /* borrowed */
};
void prober_start(struct prober *p, const struct probe_req *req);
