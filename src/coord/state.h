/* state.h - what the coordinator knows, in memory; every change is written through to store/fleet.h. Inside src/coord
 * only.
 *
 * Agents have networks, never single sites. A host is placed by its address in a network; a network has one agent; a
 * task is a channel on an agent and names the networks of that agent which the channel may be crawled in. So a channel
 * whose hosts lie in several networks has several tasks.
 *
 *     channel --hosts--> network --agent--> task (channel, agent) --networks--
 *
 * Everything here is guarded by coord.lock. Who changes what has headers of its own: agents.h, channels.h, assign.h,
 * networks.h, placing.h, pinning.h, balancing.h, orders.h and others; they say when they want the lock held. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/table.h"
#include "codec/zip.h"
#include "coord/coord.h"
#include "coord/identity.h"
#include "crawl/channel.h"
#include "io/httpd.h"
#include "io/loop.h"
#include "plan/balance.h"
#include "plan/calibrate.h"
#include "plan/hours.h"
#include "plan/pins.h"
#include "plan/recrawl.h"
#include "store/fleet.h"
#include "wire/auth.h"
#include "wire/control.h"

#define COORD_AGENTS_MAX 10000
#define COORD_CHANNELS_MAX 1000000
#define COORD_HOSTS_A_CHANNEL 100000
#define COORD_ORDER_BYTES (CONTROL_BYTES_MAX / 2) /* then it becomes several */
#define COORD_ORDERS_WAITING 64                   /* of an agent: what others can do, or can wait, does then */
#define ORDER_ITEM_BYTES 8                        /* of a list in an order: tag and length of an item, at most */
/* Of a packed channel: it goes in one order, with the links that are known with it. */
#define COORD_CHANNEL_BYTES (CONTROL_BYTES_MAX - (256u << 10))
#define COORD_PLACE_MAX 128
#define COORD_LABEL_MAX 128
#define COORD_TOKEN_MS (60ll * 60 * 1000)
#define COORD_PROBATION_PAGES 500         /* of a new agent: until then it gets a small share */
#define COORD_RETRY_HOST_MS (60ll * 1000) /* then twice as long each time */
#define COORD_NETWORK_TEXT 60
#define COORD_PROBATION_NETWORKS 16 /* a new agent has no more while there are others to choose from */
#define COORD_COUNTRIES 1024        /* 0: not known; else of two letters */

/* ---- agents ---- */

/* So many at once, and so many a second for ever: what one agent may cost. */
struct allowance {
    double left;
    mono_ms at; /* 0: never asked */
};

#define COORD_REFUSALS 16 /* of an agent, kept: the newest */
#define COORD_BOOTS 8
struct c_agent {
    uint64_t number;
    unsigned doubts; /* balancing: measurements in a row that it waited for, in place of a move */
    char name[JOIN_NAME_MAX + 1];
    bool is_joined;                  /* false: its token was not used yet */
    struct sign_public key, old_key; /* old_key: packages may still bear it */
    wall_ms added, heard;            /* heard: last signed request */
    struct agent_settings settings;  /* hours points to hours_text */
    char hours_text[HOURS_TEXT_MAX];
    struct hours hours;
    char place[COORD_PLACE_MAX];
    double latitude, longitude;
    bool has_place;
    unsigned char token[32]; /* SHA-256 of its token */
    wall_ms token_until;
    bool is_token_used;
    /* trust */
    uint64_t probation_left; /* pages */
    uint64_t checks_good, checks_bad;
    uint64_t looks_good, looks_bad; /* round trips that it claimed, seen from another agent */
    bool is_demoted;                /* lied: gets nothing until an operator says otherwise */
    uint64_t dropped;               /* visits outside its tasks */
    uint64_t new_sites_today;
    wall_ms new_sites_day;
    unsigned own_sites;            /* of its owner, taken as channels so far */
    unsigned check_left, check_at; /* visits until the next draw, and which of them is checked; not stored */
    /* orders */
    uint64_t orders_given, orders_done;
    uint64_t sequence;                        /* newest package that is here */
    bool is_unsafe;                           /* the disk has not confirmed that it is; not stored */
    uint64_t applied;                         /* all its packages up to this one are in the store; not stored */
    uint64_t packages, package_bytes, visits; /* taken in so far */
    /* not stored */
    struct auth_window window;
    mono_ms heard_mono;    /* 0: not since we started */
    mono_ms answered_mono; /* its last poll; 0: not yet */
    mono_ms lease_until;
    unsigned calls_open;          /* requests under way */
    struct allowance calls, talk; /* how often it may call; how much about it goes into the log */
    struct c_poll *poll;          /* waiting; NULL: none */
    struct buf report;            /* the newest, packed; owned */
    struct buf setup;             /* packed report with a setup, stored; owned */
    struct buf refuses;           /* countries that its owner refuses, by that setup: two letters each; owned */
    struct c_refusal {
        wall_ms at;
        char text[256];
    } refusals[COORD_REFUSALS]; /* what its owner's rules did not allow, oldest first */
    size_t refusal_count;
    struct addr peer; /* it calls from there; family 0: not yet */
    char country[3];  /* "": not known */
    size_t networks;  /* that it has, or is leaving */
    struct c_rtt {
        uint64_t agent;
        uint32_t us;
    } * rtts; /* owned: to other agents, as it measured */
    size_t rtt_count, rtt_cap;
    bool wants_setup;
    mono_ms setup_at;                   /* the newest came */
    uint64_t boot;                      /* of the process that reported last */
    mono_ms boot_heard;                 /* its newest report */
    uint64_t boots_before[COORD_BOOTS]; /* of processes that others came after, newest first; 0: none */
    bool is_dirty;                      /* stored figures changed: written now and then */
    bool was_away;                      /* said in the log */
    bool is_told_open, is_told_asleep;  /* what the delegator thinks */
    unsigned tasks_max, tasks_busy;     /* as it says: that may run at a time; that wait or run besides visits */
    agent_activity activity;
    unsigned visiting;     /* channels whose visit is under way there: recrawling.h */
    unsigned declined;     /* channels whose visit waits because it had no slot, of late */
    bool is_in_step;       /* this process of it knows the orders that it carried out, as far as we do: renumber.c */
    uint64_t given_before; /* not in step: orders up to this one are ours for sure */
    mono_ms reminded;      /* of our newest key; 0: never */
    mono_ms told_anew;     /* it had forgotten some, or we had; 0: never */
    uint64_t ahead;        /* it says that it has taken orders up to this one, which we never gave; 0: no */
    mono_ms ahead_since;
};

/* ---- channels ---- */

/* When it is visited again: recrawling.h. */
struct c_recrawl {
    struct recrawl_rule rule; /* as its operator says: weight without inlinks; a part of the channel's record */
    struct recrawl_view plan; /* as of the last turn of the plan; its times are the plan's */
    int64_t timeout_ms;       /* likewise */
    uint64_t inlinks;         /* a bit for each site that links to it, by its hash */
    uint64_t visit;           /* the newest that was ordered */
    wall_ms asked;            /* a visit is under way since then; 0: none is */
    struct visit_report last; /* the newest that came to an end, all its tasks together */
    float carry;              /* share of a change that was found and not yet told to the plan */
    uint32_t updates;         /* visits that found something new, changed or gone */
    unsigned losses;          /* visits in a row that came to nothing */
    /* not stored */
    struct visit_report now; /* what came of the one under way so far */
    unsigned awaited;        /* tasks that it is not heard of yet */
    wall_ms full_since;      /* its agents have no slot for it since then; 0: they have */
    wall_ms absent_since;    /* a visit is due, and some of its agents do not work since then; 0: they do */
    uint32_t slot;           /* number in the plan + 1, 0: not in it; read and written by the plan's turn alone */
    uint32_t place;          /* in recrawling.under_way, + 1; 0: it is not */
    bool is_planned;         /* in the plan, as soon as its next turn is over */
};

struct c_channel {
    uint64_t id;
    struct channel *channel; /* owned */
    char label[COORD_LABEL_MAX];
    summary_kind kind;
    bool wants_warc, is_paused, is_found; /* found: made from a link, not by a person */
    bool is_own;                          /* made because an agent's owner named the site: takes nothing from others */
    bool is_removed;                      /* goes when its tasks have ended */
    bool was_crawled, wants_links;        /* before it had agents: adopt.c */
    uint64_t expected_pages;
    char program[33];
    wall_ms added, checked; /* checked: last recheck ordered */
    struct c_recrawl recrawl;
    uint64_t pinned_agent; /* 0: by strategy */
    struct span *hosts;    /* owned, each too: names that it reaches, as far as known */
    size_t host_count, host_cap;
    struct c_task **tasks; /* owned array of borrowed: one an agent */
    size_t task_count, task_cap;
    uint64_t *links; /* owned ring: digests of links out of it that are known here */
    size_t link_count, link_at;
};
#define COORD_LINKS_A_CHANNEL 20000

/* ---- hosts and networks ---- */

#define COORD_HOST_NETWORKS 8
typedef enum host_state { HOST_NEW = 1, HOST_ASKED, HOST_PLACED, HOST_FAILED } host_state;

struct c_host {
    char *name; /* owned */
    host_state state;
    struct addr addr;
    struct c_network *network; /* borrowed; NULL until placed */
    mono_ms retry_at;
    unsigned lookups_failed;                  /* in a row; not stored */
    struct network also[COORD_HOST_NETWORKS]; /* where its name leads besides `network`, as we resolved it */
    size_t also_count;
    unsigned strays;             /* times that an agent found it elsewhere */
    uint64_t pinned_agent;       /* whoever has it, wherever it is; 0: by network */
    struct c_channel **channels; /* owned array: those that reach it */
    size_t channel_count, channel_cap;
    struct buf seeds; /* owned: URLs that came before it was placed, '\n' after each */
};
#define COORD_HOST_SEEDS_BYTES (64u << 10)
#define COORD_STRAYS_MAX 3 /* then it stays with the agent that found it elsewhere: its name has many addresses */

/* Why a network changed hands. */
typedef enum move_kind {
    MOVE_TRIAL = 1,  /* its first requests showed that another agent is nearer */
    MOVE_CALIBRATED, /* the path to its agent became long */
    MOVE_BALANCED,   /* its agent had too much */
    MOVE_PINNED,     /* an operator's line says who may have it */
    MOVE_PERSON,     /* a person moved it */
    MOVE_AWAY,       /* its agent left, or was not heard any more */
    MOVE_KINDS
} move_kind;

/* What placing did in an hour or a day. */
struct diary_count {
    int64_t at; /* hours or days since 1970; 0: nothing yet */
    uint64_t given, probes, moves[MOVE_KINDS];
};

struct diary_move {
    wall_ms at;
    uint64_t from, to; /* agents */
    move_kind kind;
    char network[COORD_NETWORK_TEXT], why[160];
};

#define DIARY_HOURS 48
#define DIARY_DAYS 400
#define DIARY_MOVES 256
struct diary {
    uint64_t given, probes, moves[MOVE_KINDS];               /* since we started */
    struct diary_count hours[DIARY_HOURS], days[DIARY_DAYS]; /* one has its place by its number */
    struct diary_move last[DIARY_MOVES];                     /* a ring */
    size_t move_count, move_at;                              /* move_at: where the next one goes */
    bool is_dirty;
    mono_ms saved;
};
/* SPLIT: its sites are in its parts' networks: splitting.c */
typedef enum network_state { NETWORK_FREE = 1, NETWORK_OWNED, NETWORK_LEAVING, NETWORK_SPLIT } network_state;
struct split;

struct c_network {
    struct network network;
    char text[COORD_NETWORK_TEXT];
    network_state state;
    uint64_t agent;
    uint64_t next_agent; /* LEAVING, or FREE and a part: to whom; 0: the strategy decides */
    unsigned leaving;    /* tasks whose end is not confirmed */
    uint64_t was_agent;  /* FREE after it left this one; 0: never had one. Not stored, nor is `move` */
    move_kind move;      /* why it left, or is leaving */
    bool was_lost;     /* its last agent vanished with the URLs it had found: its pages are read anew for their links */
    bool had_agent;    /* somebody crawled it before: its pages' states can be had from us */
    uint64_t distrust; /* what was fetched there below this number was said by somebody who lied */
    wall_ms since;
    wall_ms met;     /* when it was heard of for the first time */
    unsigned asked;  /* probes that were ordered to decide whose it is */
    wall_ms decided; /* when it was settled for the first time whose it is; 0: not yet */
    char why[160];
    /* where it belongs: placing.c */
    struct delegate_probe *probes; /* owned: what was measured to it, one an agent */
    size_t probe_count, probe_cap;
    size_t old_count;    /* of them, the first: from before the path to its agent changed; not stored */
    bool is_trial;       /* given on trial: its agent's first round trip decides */
    bool is_doubted;     /* its agent has become far: being decided anew; not stored */
    bool is_provisional; /* an agent that slept may be better */
    bool is_replicated;  /* answers from several places */
    bool is_fixed;       /* a person moved it: it stays until a person says otherwise */
    double load;         /* bytes a day, of late; 0: nothing is known yet */
    wall_ms load_at;
    float expected_ms, sure; /* as the strategy said; < 0: it had no idea; not stored */
    struct calibration calibration;
    unsigned waiting;           /* probes under way; not stored, nor is the rest */
    uint64_t looked;            /* its agent's claim was, or is being, looked at from elsewhere: this agent's */
    uint64_t spread_to;         /* replicated: an agent that was asked because it has little to do */
    bool is_going;              /* among those that leave in one walk through all tasks */
    uint64_t ending_of;         /* the task that was looked at in that walk, and gives it up already */
    double load_told;           /* as the balancer knows it */
    bool is_probed;             /* counted in coord.probing */
    bool is_deferred;           /* in coord.deferred */
    uint16_t country;           /* 0: not known, or not looked up */
    uint32_t rtt_us, server_us; /* as its agent measured; 0: not yet; not stored */
    uint64_t requests;
    struct c_host **hosts; /* owned array */
    size_t host_count, host_cap;
    struct c_network **parts; /* owned array of borrowed: SPLIT */
    size_t part_count, part_cap;
    struct split *split;  /* owned: LEAVING to be split like this; NULL: it is not */
    uint64_t handed_over; /* number of the blob with packed hosts; 0: none */
};

/* ---- tasks ---- */

struct c_task {
    uint64_t number;
    struct c_channel *channel;
    uint64_t agent;
    bool is_ended;               /* no networks any more */
    struct c_network **networks; /* owned array */
    size_t network_count, network_cap;
    struct c_network **ending; /* owned array: to be given up; the first end_asked of them by end_order */
    size_t ending_count, ending_cap, end_asked;
    uint64_t end_order;      /* number of the order that asks for it; 0: none */
    bool is_end_again;       /* it was asked before, by a number that got lost: so may be what it handed over */
    bool is_end_confirmed;   /* its agent has stopped, */
    uint64_t end_sequence;   /* and everything it found is in its packages up to this one */
    struct c_network **late; /* owned array: taken away unheard; what it found there may still come (late.c), */
    size_t late_count, late_cap;
    uint64_t late_order, late_sequence; /* until this order is done, and packages up to this one; 0: not yet known */
    bool is_dirty;                      /* its agent does not know all of it yet */
    uint64_t last_order;                /* that told its agent about it; 0: none since we started */
    bool has_only_seeds;                /* that its agent does not know */
    bool is_saved;                      /* with them, while that order is not done */
    bool has_channel;                   /* its agent has the channel as it is now */
    bool wants_links;                   /* its agent has to read known pages again: was_lost */
    bool wants_states;                  /* its agent may get the states of pages that were known before */
    struct c_network **handed;          /* owned array: it brings the packed hosts of these */
    size_t handed_count, handed_cap;
    struct task_report progress;   /* newest */
    uint64_t links_told;           /* coord.link_walks, when links into its channel were told last; not stored */
    uint64_t visit;                /* that its agent was asked for, and is not over; 0: none */
    bool is_absent, has_missed;    /* its agent cannot be asked now; was not for the newest visit. Not stored */
    struct task_report visit_from; /* as it was then: for agents that do not count visits */
    struct buf seeds;              /* owned: URLs to send with the next order, '\n' after each */
    size_t seed_count;
    wall_ms made;
};

/* ---- polls ---- */

/* A request whose signature was right. */
struct caller {
    struct auth auth;
    bool knows_old;  /* it was made for the key that the coordinator had before: so is the answer */
    bool is_counted; /* in its agent's calls_open */
};

struct c_poll {
    struct httpd_later *later;
    struct caller caller;
    mono_ms until;
};

struct freshness;
struct ingest;
struct mapped;
struct recrawling;
struct probe_wait;
struct refresh;
struct inbox;
struct admin;
struct limiter;
struct pings;
struct trust;
struct serve;
struct workers;
struct resolver;

struct coord {
    struct coord_opts o;
    char *data_dir;
    struct identity id;
    pthread_rwlock_t id_lock;              /* id: read by every call, written when the key is rotated */
    unsigned char nonce[AUTH_NONCE_BYTES]; /* of this run */
    struct sip_key key;                    /* of the data folder */
    pthread_mutex_t lock;                  /* everything below but the last part */
    struct fleet_store *fleet;
    struct c_agent **agents; /* owned, by number - 1; NULL: removed */
    size_t agent_count, agent_cap;
    struct table channels; /* id -> c_channel, owned */
    struct table hosts;    /* siphash of name -> c_host, owned */
    struct table domains;  /* siphash of registered domain -> first c_channel of scope domain */
    struct table networks; /* siphash of text -> c_network, owned */
    struct c_task **tasks; /* owned, by number - 1; NULL: gone */
    size_t task_count, task_cap;
    struct places *forgotten; /* owned: forgetting.c */
    struct buf forgotten_list;
    uint64_t next_fetch; /* fetch numbers below it are given away */
    uint64_t blobs;      /* number of the newest */
    uint64_t link_walks; /* networks that were given away: each channel's links are told once */
    mono_ms started, agents_saved, packages_pruned, hosts_looked, trials_looked, slow_tick, gathers_until;
    mono_ms orders_again; /* they, or a split, could not be written down: not before then */
    struct delegator *delegator;
    unsigned trusted;          /* agents past their probation that take networks, as of the last tick */
    struct balancer *balancer; /* ids are the keys of `networks` */
    mono_ms balanced;
    bool is_balance_measuring; /* the last tick asked for a measurement: the next one comes sooner */
    unsigned balance_soon;     /* such ticks in a row */
    unsigned refusing;         /* agents whose owners refuse some country */
    struct pins *pins;         /* NULL: none */
    struct buf pins_text;
    uint64_t *among; /* owned: those that a network is pinned to, for one question */
    size_t among_cap;
    struct cities cities;
    struct c_network **sorted; /* owned array: all networks by address; networks.c */
    size_t sorted_count, sorted_cap;
    char *hierarchy_path;
    struct mapped *hierarchy_map;
    struct hierarchy *hierarchy; /* NULL: none */
    int64_t hierarchy_seen;      /* the file as it was */
    mono_ms hierarchy_looked;
    struct refresh *refresh;  /* NULL: the operator has not switched it on */
    struct probe_wait *waits; /* owned: probes under way */
    size_t wait_count, wait_cap;
    unsigned probing[COORD_COUNTRIES]; /* networks on trial that are being probed */
    unsigned decided[COORD_COUNTRIES]; /* that were on trial, in this run */
    struct c_network **deferred;       /* owned array of borrowed: those that wait for their turn */
    size_t deferred_count, deferred_cap;
    uint64_t probe_id; /* of the newest */
    struct diary diary;
    struct freshness *freshness; /* owned: freshness.h */
    struct recrawling *recrawling;
    struct table unsaved; /* records that could not be written: records_again.c */
    bool has_removed;     /* some channel waits to be gone: set generously, cleared by the tick */
    struct trust *trust;
    struct pings *pings;
    struct c_host **wanted; /* owned array: hosts to resolve */
    size_t wanted_count, wanted_cap;
    unsigned resolving;
    bool has_free, has_leaving,
        has_dirty; /* some network or task may need a look: set generously, cleared by the tick */
    /* threads and servers */
    struct loop *loop;
    struct timer *tick;
    struct waker *waker;
    struct signals *signals;
    struct resolver *resolver;
    struct httpd *httpd;
    struct serve *serve;
    struct workers *workers;
    struct limiter *strangers, *refusals, *all_refusals; /* calls without a proof; lines in the log about them */
    atomic_ullong troubles;                              /* that note_trouble was told of */
    atomic_ullong untold;                                /* refusals without a line of their own */
    struct httpd_counts told_counts;                     /* as of the last line about connections; the loop's thread */
    mono_ms told_at;
    struct inbox *inbox;
    struct ingest *ingest;
    struct admin *admin;
    bool is_stopping;
};

/* ---- records.c: to and from the fleet store; lock held ---- */
MUST_USE status records_load(struct coord *c, struct buf *why);
/* A text of fixed size: cut to fit, with a NUL. */
void set_text(char *to, size_t size, struct span from);
void save_agent(struct coord *c, struct c_agent *a);
void remove_agent(struct coord *c, const struct c_agent *a); /* its number is not given again */
void save_channel(struct coord *c, const struct c_channel *ch);
void save_channel_host(struct coord *c, const struct c_channel *ch); /* the host that it has last */
/* With all its hosts, or not at all. */
MUST_USE status remove_channel(struct coord *c, const struct c_channel *ch);
void save_host(struct coord *c, const struct c_host *h);
void save_network(struct coord *c, const struct c_network *n);
void save_task(struct coord *c, const struct c_task *t);
void save_number(struct coord *c, const char *name, uint64_t value);
uint64_t load_number(struct coord *c, const char *name); /* 0: never saved */
/* Writes once more what could not be written when it was saved: the disk was full. */
void records_save_again(struct coord *c);
void records_free(struct coord *c);
/* Something could not be read or written: said, and counted. Any thread. */
void note_trouble(struct coord *c, status st, const char *doing);
