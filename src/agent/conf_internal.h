/* conf_internal.h - the shape of the option table; for conf.c, conf_table.c, and whoever completes its options. */
#pragma once

#include "agent/conf.h"

typedef enum conf_type {
    CONF_IS_FLAG,     /* --name, --no-name; yes or no elsewhere */
    CONF_IS_INT,      /* decimal */
    CONF_IS_OFFSET,   /* decimal, maybe with a minus sign */
    CONF_IS_SIZE,     /* bytes; k, M, G for powers of 1,024 */
    CONF_IS_DURATION, /* ms, s, m, h, d; a bare number counts `unit_ms` each */
    CONF_IS_TEXT,
    CONF_IS_LIST, /* may be given several times; one a line in the environment */
    CONF_IS_CHOICE,
} conf_type;

struct conf_def {
    const char *name;
    conf_type type;
    const char *arg;   /* what the help calls its value; the choices, with '|' between */
    const char *value; /* default as one would write it; NULL: none */
    int64_t min, max, unit_ms;
    bool is_setting; /* may stand in the environment and in the file */
    const char *help;
    bool is_hidden; /* not in help and manual */
};

extern const struct conf_def conf_table[CONF_COUNT];
