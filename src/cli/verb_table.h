/* verb_table.h - the verbs of commands that have some; help, manual pages and completion follow them. */
#pragma once

#include "base/span.h"

struct command_verb {
    const char *command;
    const char *name;
    const char *args; /* what follows it; "" for nothing */
    const char *help; /* one or more phrases, lower case, without a full stop at the end */
};

extern const struct command_verb verb_table[]; /* those of a command stand together */
extern const size_t verb_count;

bool has_verbs(const char *command);
/* The verb of a command that is called `name`; NULL: there is none. */
const struct command_verb *verb_find(const char *command, struct span name);
