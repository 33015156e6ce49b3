/* admin_internal.h - what the files of the administration share. Inside src/coord/admin*.c only.
 *
 * A request comes in on a thread of the server (admin.c), which looks at Host, length and who asks; the rest is a job
 * for a worker: a route's function makes an answer. There are two kinds of them: deeds (the JSON API, and the forms of
 * the pages, which are the same deeds) and pages. A deed that fails says so in a sentence; a form's failure is shown on
 * the page that has the form, filled in as it was.
 *
 * Two locks: coord.lock for what the coordinator knows, admin.lock for people, sessions and figures, which may be taken
 * inside the other and never the other way round. */
#pragma once

#include <pthread.h>
#include <stdio.h>

#include "base/arena.h"
#include "codec/json.h"
#include "codec/json_read.h"
#include "coord/admin.h"
#include "coord/networks.h"
#include "io/workers.h"
#include "serve/asset.h"
#include "serve/limit.h"

#define ADMIN_BODY_MAX (64u << 10)
#define ADMIN_TEXT_MAX (1u << 20)    /* a program or a list of URLs, from people who are known */
#define ADMIN_UPDATE_MAX (64u << 20) /* an orb-agent, from an admin */
#define ADMIN_PAIRS_MAX 512          /* fields of a form */
#define ADMIN_ROWS_MAX 500           /* of a table on a page; the API has them all */

/* ---- people and sessions (admin_login.c) ---- */

typedef enum admin_role { ROLE_NONE, ROLE_METRICS, ROLE_VIEWER, ROLE_OPERATOR, ROLE_ADMIN } admin_role;

#define PERSON_NAME_MAX 32
#define PEOPLE_MAX 1000
#define SESSIONS_MAX 1000
#define SESSION_MS (12ll * 3600 * 1000)
#define SETUP_MS (15ll * 60 * 1000)
#define SECRET_BYTES 16
#define SECRET_TEXT 23 /* base64url and NUL */

struct person {
    char name[PERSON_NAME_MAX + 1];
    admin_role role;
    char hash[160];
    wall_ms added;
};

struct session {
    struct digest256 key; /* SHA-256 of the cookie: a look into our memory gives no session away */
    char name[PERSON_NAME_MAX + 1];
    char csrf[SECRET_TEXT];
    mono_ms used;     /* 0: free slot */
    char flash[256];  /* shown once, on the next page */
    uint64_t line_of; /* `line` is what this agent joins with: shown while it is good */
    char line[640];
};

/* Who asks. */
struct who {
    admin_role role;
    char name[PERSON_NAME_MAX + 1];
    char csrf[SECRET_TEXT]; /* empty: came with a token, nothing to forge */
    struct digest256 session;
};

/* ---- figures (admin_figures.c) ---- */

#define FIGURES_STEP_MS 2000
#define FIGURES_SAMPLES 1800 /* an hour */
#define FIGURES_MARKS 16     /* of an agent: the last half minute */
#define FIGURES_TEXT 48
#define HISTORY_STEP_MS 10000 /* of one agent */
#define HISTORY_SAMPLES 360   /* an hour */

/* What an agent counts. */
struct figures_counts {
    uint64_t requests, pages, bytes_crawled, bytes_sent, errors;
    uint64_t by_kind[ERROR_KINDS]; /* gone pages and closed ones too, which are not among the errors */
};

/* What an agent last said about itself, short. */
struct figures {
    uint64_t agent; /* 0: free */
    mono_ms heard;  /* of the report it is from */
    bool has_said;  /* a report was read */
    agent_activity activity;
    char version[FIGURES_TEXT], machine[FIGURES_TEXT];
    struct figures_counts said;  /* goes back when the agent was killed before it wrote them down, or was set up anew */
    struct figures_counts grown; /* the same, but never goes back while the coordinator runs */
    uint64_t queue, hosts_waiting;
    uint64_t spool_packages, spool_bytes, memory, disk_free, disk, sequence;
    int64_t uptime_ms;
    double pages_per_s, crawled_per_s, sent_per_s, errors_per_min,
        error_share; /* share: of the last requests; < 0: too few */
    float by_kind_per_min[ERROR_KINDS];
    struct figures_mark {
        mono_ms at;
        struct figures_counts n; /* grown */
    } marks[FIGURES_MARKS];
    unsigned mark_count, mark_at;
};

/* An hour of an agent, every ten seconds. */
struct history {
    struct history_sample {
        wall_ms at;
        double pages_per_s, crawled_per_s, sent_per_s;
        uint64_t queue, spool_bytes;
        float by_kind_per_min[ERROR_KINDS];
    } samples[HISTORY_SAMPLES];
    size_t n, at;
    mono_ms sampled;
};

struct figures_sample {
    wall_ms at;
    double pages_per_s, packages_per_min, crawled_per_s, sent_per_s, errors_per_min;
    uint64_t queue, errors, there, waiting, spool_bytes;
    float by_kind_per_min[ERROR_KINDS];
};

/* Of all agents together, and of the coordinator. */
struct figures_total {
    wall_ms at;
    unsigned agents, joined, there, away, resting, paused, demoted; /* resting: outside their hours */
    uint64_t channels, networks, networks_free, networks_leaving, hosts, tasks;
    struct figures_counts said;
    uint64_t queue, spool_packages, spool_bytes;
    uint64_t packages, package_bytes, visits, dropped;
    double pages_per_s, packages_per_min, crawled_per_s, sent_per_s, errors_per_min;
    double by_kind_per_min[ERROR_KINDS];
    uint64_t disk_free, disk; /* the coordinator's */
};

typedef enum agent_presence {
    PRESENCE_INVITED = 1,
    PRESENCE_THERE,
    PRESENCE_RESTING, /* its hours are over, and it is silent */
    PRESENCE_AWAY,
    PRESENCE_REMOVED,
} agent_presence;

struct admin {
    struct coord *c; /* borrowed */
    struct httpd *httpd;
    struct workers *work, *passwords; /* Argon2 takes 64 MiB and a tenth of a second: two at a time */
    struct assets *assets;
    struct limiter *by_address, *by_name; /* of tries to log in */
    struct span public_host;              /* of the options' public_url; empty: none */
    bool is_https;                        /* public_url is */
    bool is_loopback;
    char cookie_name[24];
    struct digest256 token, metrics_token; /* SHA-256 of them */
    pthread_mutex_t lock;                  /* all below */
    struct person *people;                 /* owned array */
    size_t person_count, person_cap;
    struct session sessions[SESSIONS_MAX];
    char setup_key[SECRET_TEXT]; /* "": none */
    mono_ms setup_until;
    struct figures *figures; /* owned array, by agent number - 1 */
    size_t figures_cap;
    struct history **histories; /* owned array, each too, as figures; NULL: never heard */
    size_t histories_cap;
    struct figures_total total;
    struct figures_sample *ring; /* owned: FIGURES_SAMPLES */
    size_t ring_at, ring_n;
    uint64_t ring_packages[32]; /* ingest's counter, newest first: packages a minute */
    unsigned ring_packages_n;
    mono_ms sampled, counted;
    struct kept_slot {
        struct kept *newest; /* owned, shared with who looks at it (admin_kept.h); NULL: not yet */
        bool is_being_made;  /* the next one */
    } near, fresh;
};

/* ---- a request ---- */

struct pairs {
    struct json_pair *list; /* in the arena */
    size_t n;
};

struct ask {
    struct admin *a;
    struct coord *c;
    struct arena *arena;
    bool is_post;
    struct span path, query; /* as sent; query without '?' */
    struct span body;
    bool is_json, is_octets; /* Content-Type of the body */
    struct pairs in;         /* of the query, and of the body */
    struct span args[2];     /* what stands for the '*' of the route */
    struct span form_page;   /* a page's form: where to go back to; empty: a call of the API */
    struct span error;       /* shown on top of the page: the form was not right, */
    struct span form_action; /* of that form, */
    const char *error_field; /* this field of it (NULL: none in particular), */
    struct span error_hint;  /* because of this */
    bool is_form_sent;       /* the form that is being written is that form (form_begin) */
    struct addr peer;
    bool is_secure; /* people reach us by https: for cookies */
    struct who who;
};

/* What came of a deed. */
struct deed {
    int code;           /* 200 before */
    const char *name;   /* of the error, for programs: "not_found" */
    struct buf why;     /* for people: what to do about it */
    const char *field;  /* the one that is not right; NULL: none in particular */
    const char *hint;   /* shown next to it; NULL: why */
    struct buf out;     /* JSON */
    struct buf next;    /* the page to go to; empty: ask.form_page */
    struct buf head;    /* more headers */
    const char *plain;  /* Content-Type when `out` is not JSON */
    struct buf message; /* shown on the next page */
};

typedef void deed_fn(struct ask *r, struct deed *d);
typedef void admin_page_fn(struct ask *r, struct httpd_answer *ans);

/* The deed did not work. */
void deed_fail(struct deed *d, int code, const char *name, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* A field is not right. `want`: what it should be, as in "a number up to 100". */
void deed_fail_field(struct deed *d, const char *field, const char *want);
/* The same for a status, with `why` (may be empty) of whoever gave it. */
void deed_fail_status(struct deed *d, status st, const struct buf *why);

/* ---- fields of requests (admin_pairs.c); pure ---- */
MUST_USE status pairs_read_form(struct arena *a, struct span text, struct pairs *out); /* adds; ST_LIMIT */
MUST_USE status pairs_read_json(struct arena *a, struct span text, struct pairs *out, const char **why);
bool pairs_has(const struct pairs *p, const char *name);
struct span pairs_get(const struct pairs *p, const char *name); /* trimmed; empty when not there */
bool pairs_is_true(const struct pairs *p, const char *name);    /* "1", "true", "on", "yes" */
/* False: it is there and is no number, or above max. Not there, or empty: *out is left as it is. */
bool pairs_u64(const struct pairs *p, const char *name, uint64_t max, uint64_t *out);
bool pairs_real(const struct pairs *p, const char *name, double min, double max, double *out, bool *is_there);
/* "10 GB", "64MiB", "5000", "1.5 MB": a number of bytes, as people write it. */
bool bytes_parse(struct span text, uint64_t *out);
bool pairs_bytes(const struct pairs *p, const char *name, uint64_t *out);
/* "90 s", "15 min", "12 h", "2 days", "0": milliseconds, as is a number alone. */
bool duration_parse(struct span text, int64_t *out);
/* Every line of every field of the name, trimmed, without empty lines and those that begin with '#'. */
size_t pairs_lines(struct arena *a, const struct pairs *p, const char *name, size_t max, struct span **out);

/* ---- admin_login.c ---- */
MUST_USE status login_open(struct admin *a, struct buf *why); /* people, tokens, the setup key */
void login_tick(struct admin *a, mono_ms now);
/* Looks at cookie and Authorization. */
void login_who(struct admin *a, struct span cookie, struct span authorization, struct who *out);
const char *role_name(admin_role r);
bool role_parse(struct span s, admin_role *out);
/* A message for the session's next page. */
void session_flash_put(struct admin *a, const struct who *w, struct span text);
void session_flash_take(struct admin *a, const struct who *w, struct buf *out);
/* The line that an agent joins with, for the page of the agent. */
void session_line_put(struct admin *a, const struct who *w, uint64_t agent, struct span line);
void session_line_get(struct admin *a, const struct who *w, uint64_t agent, struct buf *out);
bool admin_has_people(struct admin *a);
bool setup_key_is_right(struct admin *a, struct span key);
deed_fn deed_login, deed_logout, deed_setup, deed_people, deed_person_add, deed_person_do;

/* ---- admin_figures.c ---- */
void figures_tick(struct admin *a, mono_ms now);
agent_presence agent_presence_of(const struct coord *c, const struct c_agent *a); /* coord.lock held */
/* One word for people: what matters most of presence, orders and trust. coord.lock held. */
const char *agent_shown_state(const struct coord *c, const struct c_agent *a);
const char *presence_name(agent_presence p);
const char *activity_name(agent_activity a);
const char *agent_state_name(agent_state s);
void figures_of(struct admin *a, uint64_t agent, struct figures *out); /* zero when it never reported */
void figures_total_get(struct admin *a, struct figures_total *out);
void figures_free(struct admin *a);
/* For people: "no such name". Our own text, safe in HTML. */
const char *error_kind_text(error_kind k);
/* A member "errors_by_kind": every kind and its count. */
void put_errors_by_kind(struct json *j, const struct figures_counts *n);
/* A member "history". */
void put_agent_history(struct ask *r, struct json *j, uint64_t agent);

#define ALERT_DISK_SHARE 0.05
#define ALERT_ERROR_SHARE 0.20
#define ALERTS_MAX 200
struct alert {
    const char *kind;              /* "away", "disk", "errors", "inbox", "trust" */
    char agent[JOIN_NAME_MAX + 1]; /* "": the coordinator */
    char text[200];
};
size_t alerts_get(struct admin *a, struct alert *out, size_t max); /* takes both locks, one after the other */
deed_fn deed_overview;                                             /* admin_overview.c */
deed_fn deed_metrics;                                              /* admin_metrics.c */

/* ---- admin_agents.c, admin_channels.c, admin_programs.c ---- */
deed_fn deed_agents, deed_agent, deed_agent_add, deed_agent_do;
deed_fn deed_channels, deed_channel, deed_channel_add, deed_channel_import, deed_channel_do;
deed_fn deed_networks, deed_network_move, deed_tasks;
deed_fn deed_nearest;                             /* admin_nearest.c */
deed_fn deed_pins, deed_pins_set;                 /* admin_pins.c */
deed_fn deed_explain;                             /* admin_explain.c */
deed_fn deed_forget, deed_forgotten, deed_backup; /* admin_forget.c */
deed_fn deed_near;                                /* admin_near_json.c */
deed_fn deed_fresh;                               /* admin_fresh_json.c */
deed_fn deed_hierarchy;                           /* admin_hierarchy.c */
deed_fn deed_recrawl, deed_recrawl_set;           /* admin_recrawl.c */
/* Fields that are not sent stay as they are. */
bool read_recrawl_rule(struct ask *r, struct deed *d, struct recrawl_rule *rule);
void put_recrawl(struct coord *c, struct json *j, const struct c_channel *ch); /* coord.lock held */
deed_fn deed_programs, deed_program_push, deed_program_do, deed_rotate, deed_update;

#define PROGRAMS_MAX 200
struct program_row {
    char name[33], by[PERSON_NAME_MAX + 1];
    uint64_t serial, bytes;
    wall_ms pushed;
    bool is_removed, is_for_all;
};
/* Sorted by name, newest serial first; coord.lock held. */
size_t programs_list(struct coord *c, struct program_row *out, size_t max);

/* Agents by name, channels by label: pointers are good while coord.lock is held. */
size_t agents_sorted(struct coord *c, struct arena *a, struct c_agent ***out);
void put_program_report(struct json *j, const struct program_report *p); /* members of an object that is open */
size_t channels_sorted(struct coord *c, struct arena *a, struct c_channel ***out);
size_t networks_sorted(struct coord *c, struct arena *a, uint64_t agent, struct c_network ***out);
const char *network_state_name(network_state s);
const char *task_state_name(task_state s);
const char *scope_name(channel_scope s);
/* Sums over a channel's tasks. */
struct channel_figures {
    uint64_t queued, fetched, unchanged, errors, gone, bytes;
    unsigned tasks, running, done;
    bool is_done;       /* every task is, and there is one */
    uint64_t agents[4]; /* the first few */
    unsigned agent_count;
};
void channel_figures_get(const struct c_channel *ch, struct channel_figures *out);
/* What keeps a channel that waits from being crawled, about its first host that has not begun; "": nothing that a
 * person could do something about. coord.lock held. */
void channel_waits_for(struct coord *c, const struct c_channel *ch, struct buf *out);
const char *channel_shown_state(const struct c_channel *ch, const struct channel_figures *f);

/* ---- pages (admin_pages*.c) ---- */
admin_page_fn page_overview, page_agents, page_agent_new, page_agent, page_channels, page_channel, page_networks,
    page_programs, page_people, page_login, page_setup, page_near, page_hierarchy, page_forgotten, page_fresh,
    page_fresh_sites;
/* A page with a message, for people. */
void admin_message(struct ask *r, struct httpd_answer *ans, int code, const char *heading, struct span text);
/* The page that has the form which was sent, by its path. NULL: none. Fills in r->args. */
admin_page_fn *admin_page_by_path(struct ask *r, struct span path);

static inline void put_u64(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}
static inline void put_real(struct json *j, const char *name, double v)
{
    json_key(j, name);
    json_real(j, v, 3);
}
static inline void put_bool(struct json *j, const char *name, bool v)
{
    json_key(j, name);
    json_bool(j, v);
}
static inline void put_text(struct json *j, const char *name, struct span v)
{
    json_key(j, name);
    json_text(j, v);
}
static inline void put_str(struct json *j, const char *name, const char *v)
{
    json_key(j, name);
    json_str(j, v);
}
/* As text: JSON numbers are not exact above 2^53 everywhere. */
static inline void put_id(struct json *j, const char *name, uint64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)id);
    put_str(j, name, text);
}
static inline void put_time(struct json *j, const char *name, wall_ms v) /* null: never */
{
    json_key(j, name);
    if (v)
        json_i64(j, v);
    else
        json_null(j);
}
