/* options.h - every option of every command, from one table: parsing, environment, config file, help and manual follow
 * it.
 *
 * A value comes from the command line, else the environment (ORB_NAME), else the config file (`name = value`), else the
 * table's default; a list is taken whole from the first of these that names it. Pure: text in, values or one line of
 * complaint out. The options own all text they hand out. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO = 1,       /* the answer is no, or only a part was done */
    EXIT_USAGE = 2,    /* the command line makes no sense */
    EXIT_INPUT = 3,    /* what was given to work on is bad */
    EXIT_IO = 4,       /* disk or network */
    EXIT_INTERNAL = 5, /* our fault */
};

/* One bit a command; the command table names them. */
enum {
    CMD_CRAWL = 1 << 0,
    CMD_EXPORT = 1 << 1,
    CMD_STATUS = 1 << 2,
    CMD_EXPLAIN = 1 << 3,
    CMD_DEMO = 1 << 4,
    CMD_CONFIG = 1 << 5,
    CMD_HELP = 1 << 6,
    CMD_URL = 1 << 7,
    CMD_ROBOTS = 1 << 8,
    CMD_LINKS = 1 << 9,
    CMD_TEXT = 1 << 10,
    CMD_SEARCH = 1 << 11,
    CMD_SERVE = 1 << 12,
    CMD_CHECK = 1 << 13,
    CMD_PROGRAM = 1 << 14,
    CMD_KEY = 1 << 15,
    CMD_COORDINATOR = 1 << 16,
    CMD_AGENT = 1 << 17,
    CMD_CHANNEL = 1 << 18,
    CMD_NETWORK = 1 << 19,
    CMD_ALL = (1 << 20) - 1,
};

typedef enum opt_id {
    OPT_HELP,
    OPT_CONFIG,
    OPT_DATA,
    OPT_PAGES,
    OPT_DEPTH,
    OPT_SCOPE,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_SEEDS,
    OPT_DELAY,
    OPT_PER_HOST,
    OPT_JOBS,
    OPT_SHARDS,
    OPT_RATE,
    OPT_MAX_TIME,
    OPT_OWN_SITE,
    OPT_ALLOW_PRIVATE,
    OPT_CONTACT,
    OPT_PURPOSE_URL,
    OPT_USER_AGENT,
    OPT_HEADER,
    OPT_PROXY,
    OPT_CA_FILE,
    OPT_INSECURE,
    OPT_RESOLVER,
    OPT_HOSTS,
    OPT_KEEP_PARAMS,
    OPT_DROP_PARAM,
    OPT_FRONTIER_MIB,
    OPT_INDEX,
    OPT_INDEX_MIB,
    OPT_LOG,
    OPT_LOG_LEVEL,
    OPT_PROGRESS,
    OPT_QUIET,
    OPT_FORMAT,
    OPT_ALL,
    OPT_STATES,
    OPT_CHANNEL,
    OPT_NORMALISE,
    OPT_EXPLAIN,
    OPT_BASE,
    OPT_KEY,
    OPT_SERIAL,
    OPT_LIMIT,
    OPT_OFFSET,
    OPT_OPEN,
    OPT_REPAIR,
    OPT_CHECK,
    OPT_AGENTS,
    OPT_LISTEN,
    OPT_ADMIN_LISTEN,
    OPT_PLAIN,
    OPT_TLS_CERT,
    OPT_TLS_KEY,
    OPT_PUBLIC_HOST,
    OPT_STRATEGY,
    OPT_LEASE,
    OPT_MOVE_AFTER,
    OPT_CHECK_EVERY,
    OPT_DISCOVER,
    OPT_PLACE,
    OPT_HOURS,
    OPT_BYTES_A_DAY,
    OPT_BANDWIDTH,
    OPT_MEMORY,
    OPT_DISK,
    OPT_IDLE_ONLY,
    OPT_TASKS,
    OPT_LABEL,
    OPT_KIND,
    OPT_EVERY,
    OPT_AGENT,
    OPT_WHOLE,
    OPT_WITH_AGENT,
    OPT_PROGRAM_NAME,
    OPT_RELEASE,
    OPT_EXPECTED,
    OPT_PUBLIC_URL,
    OPT_QUERY_RATE,
    OPT_SAMPLE,
    OPT_LIST,
    OPT_JSON,
    OPT_COUNT
} opt_id;

typedef enum opt_type {
    TYPE_FLAG,     /* --name, --no-name; yes or no elsewhere */
    TYPE_INT,      /* decimal */
    TYPE_SIZE,     /* bytes; k, M, G for powers of 1,024 */
    TYPE_DURATION, /* ms, s, m, h, d; a bare number counts `unit_ms` each */
    TYPE_TEXT,
    TYPE_LIST, /* may be given several times; one a line in the environment */
    TYPE_CHOICE,
} opt_type;

struct opt_def {
    const char *name;
    opt_type type;
    const char *arg; /* what the help calls its value; NULL for flags; the choices, with '|' between, for TYPE_CHOICE */
    const char *value; /* default as one would write it; NULL: none */
    int64_t min, max;
    int64_t unit_ms;
    unsigned commands;
    bool is_setting; /* may stand in the environment and in the config file */
    const char *help;
};

extern const struct opt_def option_table[OPT_COUNT];

typedef enum opt_source { FROM_DEFAULT, FROM_FILE, FROM_ENV, FROM_FLAG } opt_source;

struct opt_value {
    opt_source source;
    bool is_set; /* has any value, the default's included */
    int64_t number;
    struct span text; /* as given; of a list the first */
    struct span *list;
    size_t list_count, list_cap;
    unsigned line; /* in the config file */
};

struct options {
    struct arena arena;
    struct opt_value v[OPT_COUNT];
    struct span *args; /* what is not an option; NUL-terminated texts */
    size_t arg_count, arg_cap;
};

#define OPTIONS_FILE_MAX (1u << 20)

void options_init(struct options *o); /* all at their defaults */
void options_done(struct options *o);

/* These add the values of one source and never override a stronger one, so their order does not matter. They return an
 * exit code; when it is not EXIT_DONE, `err` has one line without "orb:". `command` is one CMD_ bit. */
int options_from_args(struct options *o, unsigned command, int argc, char *const *argv, struct buf *err);
int options_from_env(struct options *o, unsigned command, char *const *envp, struct buf *err);
int options_from_text(struct options *o, const char *path, struct span text, struct buf *err);
/* Contradictions between options. */
int options_check(const struct options *o, struct buf *err);

int64_t opt_number(const struct options *o, opt_id id);
bool opt_flag(const struct options *o, opt_id id);
bool opt_is_set(const struct options *o, opt_id id);
struct span opt_text(const struct options *o, opt_id id); /* empty when not set; a NUL follows it */
const char *opt_cstr(const struct options *o, opt_id id); /* NULL when not set or empty */
const struct span *opt_list(const struct options *o, opt_id id, size_t *n);
bool opt_is(const struct options *o, opt_id id, const char *choice);

bool option_belongs(opt_id id, unsigned command);
/* "ORB_PER_HOST" */
void option_env_name(opt_id id, struct buf *out);
/* Prints the values of one option as one would write them, a list's with `sep` between. */
void option_format(const struct options *o, opt_id id, const char *sep, struct buf *out);

/* Steps to turn `a` into `b`: insert, drop, change, swap neighbours. For "did you mean". */
unsigned edit_distance(struct span a, struct span b);
/* A distance at which the one is a likely misspelling of the other. */
bool is_near(struct span given, struct span name, unsigned distance);
