/* completion.h - what a shell may complete of a program, and scripts that tell it to bash, zsh and fish.
 *
 * The model is made from the tables of options and commands (cmd_completion.c); a script is text made from the model
 * alone. Pure; everything in the model is borrowed from the tables or from one arena. */
#pragma once

#include "base/buf.h"

typedef enum value_kind {
    VALUE_NONE,    /* a flag: nothing follows */
    VALUE_WORD,    /* something that a shell cannot know */
    VALUE_CHOICE,  /* one of a few words */
    VALUE_FILE,    /* a file, or a folder on the way to one */
    VALUE_FOLDER,  /* a folder */
    VALUE_COMMAND, /* a command of the program */
} value_kind;

struct completion_option {
    const char *name; /* without its dashes */
    char letter;      /* `-o` for 'o'; 0: none */
    value_kind kind;
    const char *choices;              /* of VALUE_CHOICE, with '|' between */
    const char *verb, *verb_choices;  /* after this verb they are others; NULL: after none */
    bool can_be_off, may_be_repeated; /* --no-NAME is worth offering */
    struct span help;                 /* a short phrase, without quotes, colons, brackets and the like */
};

struct completion_verb {
    const char *name;
    value_kind args; /* what follows it */
    struct span help;
};

struct completion_command {
    const char *name; /* NULL: the only one, of a program without commands */
    struct span help;
    value_kind args; /* what follows, where there are no verbs */
    struct completion_option *options;
    size_t option_count;
    struct completion_verb *verbs;
    size_t verb_count;
};

struct completion {
    const char *program;
    struct completion_command *commands;
    size_t command_count;
};

void completion_bash(const struct completion *c, struct buf *out);
void completion_zsh(const struct completion *c, struct buf *out);
void completion_fish(const struct completion *c, struct buf *out);
