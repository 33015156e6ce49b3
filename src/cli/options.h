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

/* One bit a command; the command table names them. An enum has no room for so many. */
typedef uint64_t command_set;
#define CMD_BIT(n) ((command_set)1 << (n))
#define CMD_CRAWL CMD_BIT(0)
#define CMD_EXPORT CMD_BIT(1)
#define CMD_STATUS CMD_BIT(2)
#define CMD_EXPLAIN CMD_BIT(3)
#define CMD_DEMO CMD_BIT(4)
#define CMD_CONFIG CMD_BIT(5)
#define CMD_HELP CMD_BIT(6)
#define CMD_URL CMD_BIT(7)
#define CMD_ROBOTS CMD_BIT(8)
#define CMD_LINKS CMD_BIT(9)
#define CMD_TEXT CMD_BIT(10)
#define CMD_SEARCH CMD_BIT(11)
#define CMD_SERVE CMD_BIT(12)
#define CMD_CHECK CMD_BIT(13)
#define CMD_PROGRAM CMD_BIT(14)
#define CMD_KEY CMD_BIT(15)
#define CMD_COORDINATOR CMD_BIT(16)
#define CMD_AGENT CMD_BIT(17)
#define CMD_CHANNEL CMD_BIT(18)
#define CMD_NETWORK CMD_BIT(19)
#define CMD_PROBE CMD_BIT(20)
#define CMD_SIM CMD_BIT(21)
#define CMD_WORLD CMD_BIT(22)
#define CMD_HIERARCHY CMD_BIT(23)
#define CMD_NEAREST CMD_BIT(24)
#define CMD_LAB CMD_BIT(25)
#define CMD_COMPLETION CMD_BIT(26)
#define CMD_IMPORT CMD_BIT(27)
#define CMD_WARC CMD_BIT(28)
#define CMD_SITEMAP CMD_BIT(29)
#define CMD_FORGET CMD_BIT(30)
#define CMD_PRUNE CMD_BIT(31)
#define CMD_BACKUP CMD_BIT(32)
#define CMD_RESTORE CMD_BIT(33)
#define CMD_ALL (CMD_BIT(34) - 1)

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
    OPT_SITEMAP,
    OPT_SITEMAPS,
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
    OPT_PDF,
    OPT_DOCUMENTS,
    OPT_WARC,
    OPT_WARC_COMPRESSION,
    OPT_WARC_SIZE,
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
    OPT_SIMILAR,
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
    OPT_THRESHOLD,
    OPT_SAME_HOLDER,
    OPT_COST,
    OPT_CALIBRATION,
    OPT_CALIBRATION_FACTOR,
    OPT_BALANCE,
    OPT_REFRESH_REGISTRIES,
    OPT_REFRESH_EVERY,
    OPT_REFRESH_FROM,
    OPT_LEASE,
    OPT_MOVE_AFTER,
    OPT_CHECK_EVERY,
    OPT_DISCOVER,
    OPT_RECRAWL,
    OPT_RECRAWL_CEILING,
    OPT_RECRAWL_PAGES,
    OPT_RECRAWL_TIME_SCALE,
    OPT_PLACE,
    OPT_AT,
    OPT_HOURS,
    OPT_BYTES_A_DAY,
    OPT_BANDWIDTH,
    OPT_MEMORY,
    OPT_DISK,
    OPT_IDLE_ONLY,
    OPT_TRUSTED,
    OPT_TASKS,
    OPT_LABEL,
    OPT_KIND,
    OPT_EVERY,
    OPT_WEIGHT,
    OPT_NEVER,
    OPT_AT_MOST_EVERY,
    OPT_AT_LEAST_EVERY,
    OPT_AGENT,
    OPT_WHOLE,
    OPT_WITH_AGENT,
    OPT_PROGRAM_NAME,
    OPT_RELEASE,
    OPT_EXPECTED,
    OPT_CHANNEL_WARC,
    OPT_PROBE_KIND,
    OPT_SAMPLES,
    OPT_AT_ONCE,
    OPT_GAP,
    OPT_PORT,
    OPT_PUBLIC_URL,
    OPT_QUERY_RATE,
    OPT_SAMPLE,
    OPT_LIST,
    OPT_MAN,
    OPT_FORGOTTEN,
    OPT_WHY,
    OPT_UNDO,
    OPT_DRY_RUN,
    OPT_KEEP_GONE,
    OPT_KEEP_DAYS,
    OPT_KEEP_WARC,
    OPT_KEEP_WARC_DAYS,
    OPT_OPT_OUT,
    OPT_JSON,
    /* After all others: names that other commands have with other values are looked up there first. */
    OPT_WORLD,
    OPT_NETWORKS,
    OPT_HIERARCHY,
    OPT_CAPACITY,
    OPT_FAMILY,
    OPT_DRIFT,
    OPT_DAYS,
    OPT_NOISE,
    OPT_ARRIVE,
    OPT_ORDER,
    OPT_SIM_SAMPLES,
    OPT_SEED,
    OPT_SITES,
    OPT_WORLD_AGENTS,
    OPT_FIRST_AGENTS,
    OPT_FIRST_SITES,
    OPT_MODEL,
    OPT_MATRIX,
    OPT_NODES,
    OPT_SIM_STRATEGY,
    OPT_STEPS,
    OPT_SIM_CHANNELS,
    OPT_ENCOURAGEMENT,
    OPT_CEILING,
    OPT_SWING,
    OPT_CHANGES,
    OPT_FIND_RANKS,
    OPT_OUTPUT,
    OPT_IN,
    OPT_VERBOSE,
    OPT_FROM,
    OPT_RPSL,
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
    command_set commands;
    bool is_setting; /* may stand in the environment and in the config file */
    const char
        *help; /* `crawl: one thing; channel, key new: another`: what is only of some commands, see option_help */
    const char *verbs; /* a command and those verbs of it that read it, with blanks between; NULL: all do */
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
int options_from_args(struct options *o, command_set command, int argc, char *const *argv, struct buf *err);
int options_from_env(struct options *o, command_set command, char *const *envp, struct buf *err);
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

bool option_belongs(opt_id id, command_set command);
/* "ORB_PER_HOST" */
void option_env_name(opt_id id, struct buf *out);
/* Prints the values of one option as one would write them, a list's with `sep` between. */
void option_format(const struct options *o, opt_id id, const char *sep, struct buf *out);

/* Steps to turn `a` into `b`: insert, drop, change, swap neighbours. For "did you mean". */
unsigned edit_distance(struct span a, struct span b);
/* A distance at which the one is a likely misspelling of the other. */
bool is_near(struct span given, struct span name, unsigned distance);
