/* conf.h - what the owner of an agent's machine decided: one table of options that also makes the help and the sample
 * file.
 *
 * A value comes from the command line, else the environment (ORB_AGENT_NAME), else the file (`name = value`), else the
 * table's default; a list is taken whole from the first of these that names it. Nothing that a coordinator says ever
 * gets here. Text in, values or one line of complaint out; only conf_check looks at the machine (its time zones). */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#define CONF_FILE_MAX (1u << 20)
#define CONF_FILE_DEFAULT "/etc/orb/agent.conf"

typedef enum conf_id {
    CONF_HELP,
    CONF_VERSION,
    CONF_SAMPLE_CONFIG,
    CONF_JSON,
    CONF_CONFIG,
    CONF_DATA,
    CONF_JOIN,
    CONF_HOURS,
    CONF_BANDWIDTH,
    CONF_BYTES_A_DAY,
    CONF_MEMORY,
    CONF_DISK,
    CONF_IDLE_ONLY,
    CONF_TASKS,
    CONF_ALLOW_PRIVATE,
    CONF_REFUSE_NETWORK,
    CONF_REFUSE_COUNTRY,
    CONF_REFUSE_SITE,
    CONF_OWN_SITE,
    CONF_OWN_EVERY,
    CONF_PLACE,
    CONF_PROGRAM_KEY,
    CONF_PDF,
    CONF_UPDATE,
    CONF_UPDATE_KEY,
    CONF_SITEMAPS,
    CONF_DELAY,
    CONF_CONTACT,
    CONF_PURPOSE_URL,
    CONF_HOSTS,
    CONF_RESOLVER,
    CONF_CA_FILE,
    CONF_SHARDS,
    CONF_LOG,
    CONF_LOG_LEVEL,
    CONF_QUIET,
    CONF_CLOCK_OFFSET,
    CONF_COUNT
} conf_id;

struct conf_value {
    uint8_t source;
    bool is_set; /* has any value, the default's included */
    int64_t number;
    struct span text; /* NUL-terminated */
    struct span *list;
    size_t list_count, list_cap;
};

struct conf {
    struct arena arena; /* owns all texts */
    struct conf_value v[CONF_COUNT];
    struct span *args; /* what is not an option */
    size_t arg_count, arg_cap;
};

void conf_init(struct conf *c); /* all at their defaults */
void conf_done(struct conf *c);

/* Each adds the values of one source and never overrides a stronger one. False: `err` has one line. */
bool conf_from_args(struct conf *c, int argc, char *const *argv, struct buf *err);
bool conf_from_env(struct conf *c, char *const *envp, struct buf *err);
bool conf_from_text(struct conf *c, const char *path, struct span text, struct buf *err);
/* Values that make no sense, alone or together: hours, networks, keys, URLs. */
bool conf_check(const struct conf *c, struct buf *err);

int64_t conf_number(const struct conf *c, conf_id id);
bool conf_flag(const struct conf *c, conf_id id);
bool conf_is_set(const struct conf *c, conf_id id);
struct span conf_text(const struct conf *c, conf_id id); /* empty when not set */
const char *conf_cstr(const struct conf *c, conf_id id); /* NULL when not set or empty */
const struct span *conf_list(const struct conf *c, conf_id id, size_t *n);

void conf_help(struct buf *out);
void conf_sample(struct buf *out);
