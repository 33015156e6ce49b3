/* prober_internal.h - what the kinds of probes share; inside prober*.c only.
 *
 * A probe's timer drives it:
 *
 *     WAITING --timer--> sample begins, ASKING --answer, or timer--> OVER --timer, at once--> next sample, or the end
 *
 * An answer is only written down where it comes in (probe_sample); counting it, and calling back, is done from the
 * timer. So nobody is called back from inside of a socket's or curl's callback, and freeing everything there is safe.
 */
#pragma once

#include <curl/curl.h>

#include "base/buf.h"
#include "io/fetch_guard.h"
#include "io/prober.h"

struct probe;
struct probe_watch;
struct curl_watch;

/* What a kind does. All but `begin` may find nothing to do. */
struct probe_ops {
    void (*begin)(struct probe *q); /* asks for one sample; ends in probe_sample(), maybe at once */
    void (*stop)(struct probe *q);  /* the sample under way is given up: nothing comes of it any more */
    void (*done)(struct probe *q);  /* frees what is kept from sample to sample; after `stop` */
};
extern const struct probe_ops probe_tcp, probe_head, probe_icmp;

typedef enum probe_state { PROBE_WAITING, PROBE_ASKING, PROBE_OVER } probe_state;

struct probe {
    struct probe *next, *prev;
    struct prober *owner; /* borrowed */
    const struct probe_ops *ops;
    struct probe_req req; /* its url is not ours: see `url` */
    struct buf url;
    probe_state state;
    struct timer *timer; /* owned */
    struct probe_result r;
    unsigned asked;
    uint32_t server[PROBE_SAMPLES_MAX];
    struct { /* of the sample that is over */
        status st;
        uint32_t path_us, server_us;
    } last;

    /* TCP and ICMP */
    int fd;                    /* -1: none */
    struct probe_watch *watch; /* owned by libuv once closed */
    int64_t began_us;          /* by the clock that never goes back */
    /* ICMP */
    int64_t sent_us; /* by the wall clock, as the kernel's time stamps are */
    uint64_t token;  /* drawn for the probe: nobody can answer without having seen the question */
    /* HEAD */
    CURL *easy;                   /* owned */
    struct curl_slist connect_to; /* its text is below */
    char connect_text[ADDR_TEXT_MAX + 8];
    int socket; /* curl's */
    uint32_t socket_rtt_us;
    size_t head_bytes;
    bool is_added;
};

struct prober {
    struct loop *loop; /* borrowed */
    struct timer *ready;
    struct probe *waiting, **waiting_end; /* owned; linked by next */
    struct probe *active;                 /* owned */
    unsigned active_count, at_once;
    struct fetch_guard guard;
    char *user_agent, *ca_file; /* owned; NULL: none */
    bool insecure;
    /* HEAD; made for the first one */
    CURLM *multi;
    struct curl_watch *curl;
};

/* The sample is over. Called exactly once for each begun one that was not stopped. */
void probe_sample(struct probe *q, status st, int64_t path_us, int64_t server_us);
/* No more samples are wanted after this one. */
void probe_enough(struct probe *q);

/* Calls fn each time the socket can be read (or written), or is in trouble, until probe_unwatch(), which comes before
 * the socket is closed. False: libuv does not take it. */
bool probe_watch(struct probe *q, int fd, bool is_write, void (*fn)(struct probe *q));
void probe_unwatch(struct probe *q); /* harmless when repeated */
void probe_close(struct probe *q);   /* watch and socket */

/* The kernel's measure of a connection's round trip; 0: it has none. *resent, when not NULL: something was sent again.
 */
uint32_t probe_socket_rtt(int fd, bool *resent);

void probe_head_close(struct prober *p); /* after all probes */
