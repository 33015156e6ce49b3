/* control.h - what coordinator and agent say to each other besides packages: the agent's report, the coordinator's
 * orders.
 *
 * An agent polls: its report goes up, and the answer, at once or when there is something to say, has orders. Orders to
 * an agent are numbered from 1 without gaps and carried out in that order; the report says up to which number they are
 * done, and what came of those that have an outcome. The coordinator keeps an order until then, so a lost answer is
 * simply given again. An enum value that we do not know (of a newer version) is read as 0, but for order.kind, which is
 * kept, outcome.st and probe_report.st, which become ST_PROTOCOL, and agent_settings.state, which becomes AGENT_PAUSE:
 * whatever it is, it is not "run". Unpacking gives ST_INVALID (no such message) or ST_LIMIT (a list is longer than
 * CONTROL_LIST_MAX, or CONTROL_ORDERS_MAX). Unpacked texts point into the packed bytes; arrays are made in the arena.
 * Pure; docs/formats/wire.md has every field. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "wire/fields.h"

/* The version that travels (hello, report, and the 1 of paths.h): whoever has another one cannot be talked to. */
#define WIRE_VERSION 1
#define WIRE_VERSION_MIN 1
/* Grows with every field, kind or column that is added. It does not travel: readers skip what they do not know. Names
 * the recordings of tests/data/exchange, which hold the code to that. */
#define WIRE_MINOR 9
#define CONTROL_BYTES_MAX (1u << 20) /* of a report or a poll's answer: orders beyond it wait for the next */
/* What an agent takes: a channel of very many seeds, out of a crawl without agents, cannot be cut in pieces. */
#define CONTROL_ANSWER_MAX (16u << 20)
#define CONTROL_LIST_MAX 100000 /* elements of any list in a message */
#define CONTROL_ORDERS_MAX 256  /* in one answer */

static inline bool wire_version_fits(unsigned version)
{
    return version >= WIRE_VERSION_MIN && version <= WIRE_VERSION;
}

/* ---- orders ---- */

typedef enum order_kind {
    ORDER_SETTINGS = 1, /* struct agent_settings: replaces those before */
    ORDER_TASK,         /* struct task_order: begin, or change (more networks, more seeds) */
    ORDER_END_TASK,     /* struct end_order: stop it, hand its state over */
    ORDER_RECHECK,      /* struct recheck_order: look at the known pages of a task again */
    ORDER_FETCH,        /* struct fetch_order: fetch these pages for a comparison; results in the outcome */
    ORDER_PROGRAM,      /* struct program_order */
    ORDER_UPDATE,       /* struct update_order: a newer orb-agent is there */
    ORDER_IDENTITY,     /* struct identity_order: the coordinator has a new key */
    ORDER_REKEY,        /* no body: make a new key of your own */
    ORDER_QUIT,         /* no body: finish packages, then end; the process is not started again by itself */
    ORDER_PROBE,        /* struct probe_order: measure round trips; the results come with later reports */
    ORDER_REFUSE,       /* struct refuse_order: places (web/places.h) that nothing is asked of */
    ORDER_TOLD,         /* struct told_order: pages whose site says that they have changed */
} order_kind;

struct order {
    uint64_t number;
    order_kind kind; /* may be one that we do not know: reported as not understood */
    struct span body;
};

/* They are looked at first when the task is rechecked; nothing is asked for because of it. */
#define TOLD_PIECE_MAX (256u << 10) /* bytes of URLs in an order */
struct told_order {
    uint64_t task;
    wall_ms at;       /* then somebody said so */
    struct span urls; /* one a line */
};
void told_order_pack(const struct told_order *o, struct buf *out);
MUST_USE status told_order_unpack(struct span packed, struct told_order *out); /* ST_CORRUPT */

/* The list comes in pieces of up to REFUSE_PIECE_MAX bytes; the first one replaces the list before. */
#define REFUSE_PIECE_MAX (256u << 10)
struct refuse_order {
    bool is_first;
    struct span places; /* one a line */
};
void refuse_order_pack(const struct refuse_order *o, struct buf *out);
MUST_USE status refuse_order_unpack(struct span packed, struct refuse_order *out); /* ST_CORRUPT */

typedef enum agent_state { AGENT_RUN = 1, AGENT_PAUSE, AGENT_DRAIN } agent_state; /* drain: finish tasks, take none */

/* 0 means: no limit, or the default. Limits that the owner set on the agent's machine win when they are lower. */
struct agent_settings {
    agent_state state;
    struct span hours; /* plan/hours.h; empty: always */
    uint64_t bytes_a_day, bytes_per_s, memory_bytes, disk_bytes;
    bool idle_only;
    unsigned tasks_max;
    uint64_t package_bytes; /* uncompressed, before one is closed */
    int64_t package_age_ms; /* or after so long */
    int64_t poll_ms;        /* between two reports when nothing happens */
};

typedef enum summary_kind { SUMMARY_TEXT = 1, SUMMARY_KEYWORDS } summary_kind;

struct task_order {
    uint64_t task;
    struct span channel; /* packed: crawl/channel.h; empty: as before */
    summary_kind kind;
    bool wants_warc;
    uint64_t expected_pages;
    struct span program; /* name, or empty */
    uint64_t states;     /* pages whose states can be fetched from the coordinator (GET .../states): known before */
    const struct span *networks; /* prefixes as text: the agent fetches from these alone */
    size_t network_count;
    const struct span *hosts; /* and from these names wherever they are: pinned, or of the owner */
    size_t host_count;
    const struct span *seeds; /* URLs besides the channel's: links that other agents found */
    size_t seed_count;
    const uint64_t *known_links; /* digests (64 bits of BLAKE2b) of URLs outside the channel that need not be sent */
    size_t known_link_count;
    const struct span *hosts_state; /* packed hosts (plan/frontier.h) from the agent that had them before */
    size_t hosts_state_count;
    const struct span *countries; /* "DE 192.0.2.0/24": where its networks are registered, as far as known */
    size_t country_count;
    const struct span *others; /* names that other agents have wherever they are, also in these networks */
    size_t other_count;
};

struct end_order {
    uint64_t task;
    const struct span *networks; /* only these; none: the whole task */
    size_t network_count;
};

struct recheck_order {
    uint64_t task;
    uint64_t pages_max; /* 0: all */
    wall_ms older_than; /* 0: whenever they were visited last */
    bool is_whole;      /* without conditions: unchanged pages come whole, and their program sees them */
    uint64_t visit;     /* its number, which grows: the report says when it is over; 0: nobody waits for that */
};

struct fetch_order {
    const struct span *urls;
    size_t url_count;
};

struct program_order {
    struct span name;
    uint64_t serial;
    bool is_removed;
    struct span bytes; /* the signed program as a file has it: mobile/program.h */
};

struct update_order {
    struct span version;
    struct span digest; /* BLAKE2b-256 of the program file: its name under GET .../blob/ */
    uint64_t bytes;
    struct span sig;     /* by the release key, over version, machine, digest */
    struct span machine; /* "x86_64-linux-gnu" */
};

struct identity_order {
    struct span identity; /* new public key */
    struct span sig;      /* by the old one */
};

/* One measurement of a round trip. */
struct probe_ask {
    uint64_t id;         /* the coordinator's, for the result */
    struct span url;     /* of the site; the agent resolves its host for itself. Empty: only an address */
    struct span address; /* probe this one and no other; empty: the one that the host's name has there */
    uint16_t port;       /* 0: the URL's, or 443 */
    unsigned kind;       /* 1 TCP connect, 2 HTTP HEAD, 3 ICMP echo (io/prober.h); 0, and what the agent does not know:
                            it chooses */
    unsigned samples;    /* 0: 3 */
};

struct probe_order {
    const struct probe_ask *probes;
    size_t probe_count;
};

void order_pack(const struct order *o, struct buf *out);
MUST_USE status order_unpack(struct span packed, struct order *out);
void agent_settings_pack(const struct agent_settings *s, struct buf *out);
MUST_USE status agent_settings_unpack(struct span packed, struct agent_settings *out);
void task_order_pack(const struct task_order *t, struct buf *out);
MUST_USE status task_order_unpack(struct arena *a, struct span packed, struct task_order *out);
void end_order_pack(const struct end_order *e, struct buf *out);
MUST_USE status end_order_unpack(struct arena *a, struct span packed, struct end_order *out);
void recheck_order_pack(const struct recheck_order *r, struct buf *out);
MUST_USE status recheck_order_unpack(struct span packed, struct recheck_order *out);
void fetch_order_pack(const struct fetch_order *f, struct buf *out);
MUST_USE status fetch_order_unpack(struct arena *a, struct span packed, struct fetch_order *out);
void program_order_pack(const struct program_order *p, struct buf *out);
MUST_USE status program_order_unpack(struct span packed, struct program_order *out);
void update_order_pack(const struct update_order *u, struct buf *out);
MUST_USE status update_order_unpack(struct span packed, struct update_order *out);
void identity_order_pack(const struct identity_order *i, struct buf *out);
MUST_USE status identity_order_unpack(struct span packed, struct identity_order *out);
void probe_order_pack(const struct probe_order *p, struct buf *out);
MUST_USE status probe_order_unpack(struct arena *a, struct span packed, struct probe_order *out);

/* ---- reports ---- */

/* What came of an order. */
struct outcome {
    uint64_t number; /* the order's */
    status st;       /* ST_REFUSED: the owner's rules; ST_UNSUPPORTED: not understood */
    struct span why;
    const struct span *parts; /* ORDER_END_TASK: packed hosts; ORDER_FETCH: packed fetched_page, one a URL */
    size_t part_count;
};

struct fetched_page {
    struct span url;
    uint16_t http_status;
    uint64_t digest; /* of the text */
    uint64_t sketch; /* SimHash of its words: texts that differ in a date are close */
    struct span address;
    uint64_t words_sketch; /* of its words without their order; 0: an agent of before this field, or no words */
    struct span text;      /* all of it, where that is no more than FETCHED_TEXT_MAX bytes: a key, not a page */
};
#define FETCHED_TEXT_MAX 256

void fetched_page_pack(const struct fetched_page *p, struct buf *out);
MUST_USE status fetched_page_unpack(struct span packed, struct fetched_page *out);

typedef enum task_state { TASK_WAITING = 1, TASK_RUNNING, TASK_DONE, TASK_ENDING, TASK_ENDED } task_state;

/* A recheck that came to an end: nothing of the task waited any more. */
struct visit_report {
    uint64_t number; /* recheck_order.visit */
    uint64_t looked; /* at so many pages: */
    uint64_t changed, added, gone, failed;
    int64_t took_ms;
    wall_ms changed_at; /* the newest change, where the site says when; 0: it does not */
    uint64_t told;      /* pages that lists or the site say have changed, and that it did not look at since */
};

struct task_report {
    uint64_t task;
    task_state state;
    uint64_t queued, fetched, unchanged, errors, gone, bytes;
    bool has_visit;            /* false: none came to an end, or an agent of before this field */
    struct visit_report visit; /* the newest */
};

/* A host of a task that turned out to live in a network that is not the agent's. */
struct stray_host {
    uint64_t task;
    struct span host, address;
};

/* Round trips and server times of a network since the last report. */
struct network_timing {
    struct span network;
    uint64_t requests;
    uint32_t rtt_min_us, rtt_median_us, server_median_us, total_median_us;
    uint64_t bytes; /* of answers, at the socket; 0: an agent of before this field, or none */
};

/* What goes wrong with a request, in kinds that mean the same to every version. The numbers are for ever; one that a
 * reader does not know is ERROR_OTHER to it. */
typedef enum error_kind {
    ERROR_OTHER,
    ERROR_DNS,      /* the name does not resolve */
    ERROR_CONNECT,  /* no connection */
    ERROR_TLS,      /* the certificate or the handshake is bad */
    ERROR_TIMEOUT,  /* no answer, or not all of it, in time */
    ERROR_PROTOCOL, /* no HTTP, or a broken answer */
    ERROR_LIMIT,    /* passes a ceiling of ours: head, body, decompressed size */
    ERROR_REFUSED,  /* the address may not be asked */
    ERROR_INVALID,  /* a URL that cannot be asked for */
    ERROR_HTTP_4XX, /* but for 404 and 410 */
    ERROR_HTTP_5XX,
    ERROR_GONE,   /* 404, 410: an answer, and not counted among the errors */
    ERROR_ROBOTS, /* robots.txt says no: neither asked nor counted among the errors */
    ERROR_KINDS
} error_kind;

/* For programs: "dns", "http_5xx". Never NULL. */
const char *error_kind_name(error_kind k);
bool error_kind_is_counted(error_kind k); /* among a report's errors */
error_kind error_kind_of_status(status st);

struct error_count {
    error_kind kind;
    uint64_t count;
};

struct program_report {
    struct span name;
    uint64_t serial, pages, errors;
    bool is_fallback; /* an older version runs because the newest failed */
    struct span last_error;
};

/* What came of a probe. */
struct probe_report {
    uint64_t id;
    status st;                  /* ST_OK: at least one sample. ST_REFUSED: the owner's rules, or robots.txt */
    unsigned kind;              /* as carried out */
    struct span address;        /* that the agent reached, or would have */
    unsigned samples, lost;     /* that came, and that did not */
    uint32_t min_us, median_us; /* of the path */
    uint32_t server_us;         /* HEAD: what the server took beyond the path */
};

/* What the agent found when it set itself up. */
struct agent_setup {
    unsigned cores;
    uint64_t memory_bytes, disk_bytes, bandwidth_bytes_per_s; /* bandwidth: measured to the coordinator; 0: not yet */
    struct span system, machine, zone, place, address;        /* place: as its owner wrote it */
    const struct span *own_sites;                             /* of its owner: to be pinned to it */
    size_t own_site_count;
    const struct span *refused_countries; /* two letters each: its owner wants no networks there */
    size_t refused_country_count;
};

typedef enum agent_activity {
    ACTIVITY_WORKING = 1,
    ACTIVITY_IDLE,
    ACTIVITY_PAUSED,
    ACTIVITY_BUSY_MACHINE, /* idle-only, and somebody uses the machine */
    ACTIVITY_SPOOL_FULL,
    ACTIVITY_DISK_FULL,
    ACTIVITY_QUOTA, /* the bytes of this day are used up */
    ACTIVITY_DRAINED,
} agent_activity;

struct report {
    uint16_t wire_version;
    struct span version;  /* of the program */
    uint64_t boot;        /* drawn when the process started */
    uint64_t orders_done; /* all orders up to this number are done */
    agent_activity activity;
    uint64_t sequence; /* of the newest package made */
    uint64_t spool_packages, spool_bytes;
    uint64_t requests, pages, bytes_crawled, bytes_sent, errors; /* since the agent was set up */
    uint64_t queue, hosts_waiting;
    uint64_t memory_bytes, disk_free_bytes;
    int64_t uptime_ms;
    bool has_setup;
    struct agent_setup setup;
    const struct outcome *outcomes;
    size_t outcome_count;
    const struct task_report *tasks;
    size_t task_count;
    const struct stray_host *strays;
    size_t stray_count;
    const struct network_timing *timings;
    size_t timing_count;
    const struct program_report *programs;
    size_t program_count;
    const struct span *refused; /* texts for people: what the owner's rules did not allow */
    size_t refused_count;
    /* Since the agent was set up, as `errors`; kinds of 0 are left out. What an agent older than this list counts in
     * `errors` is of no kind. */
    const struct error_count *errors_by_kind;
    size_t error_kind_count;
    const struct probe_report *probes;
    size_t probe_count;
    unsigned tasks_max;  /* that may run at a time, by all limits; 0: an agent of before this field */
    unsigned tasks_busy; /* that wait or run, visits of known pages not counted */
    /* The highest order that it has in line, or carried out: what comes with a number up to it is no news to it. 0:
     * none, or an agent of before this field. */
    uint64_t orders_taken;
};

void visit_report_pack(const struct visit_report *v, struct buf *out);
MUST_USE status visit_report_unpack(struct span packed, struct visit_report *out);
void report_pack(const struct report *r, struct buf *out);
MUST_USE status report_unpack(struct arena *a, struct span packed, struct report *out);

struct poll_answer {
    int64_t lease_ms; /* the agent may go on so long without hearing from us */
    uint64_t have;    /* all its packages up to this number are safe here */
    bool wants_setup; /* the next report should have it */
    const struct order *orders;
    size_t order_count;
};

void poll_answer_pack(const struct poll_answer *p, struct buf *out);
MUST_USE status poll_answer_unpack(struct arena *a, struct span packed, struct poll_answer *out);
