/* command.h - the table of commands, and what all of them share: complaints, standard output, input files. */
#pragma once

#include "base/buf.h"
#include "cli/options.h"
#include "cli/verb_table.h"

typedef enum command_group { GROUP_MAIN, GROUP_PLUMBING, GROUP_ABOUT } command_group;

struct command {
    const char *name;
    int (*run)(const struct options *o); /* returns an exit code */
    command_set bit;                     /* CMD_* */
    command_group group;
    const char *args; /* what follows the options, for the usage line */
    size_t args_min, args_max;
    const char *summary; /* one phrase, lower case */
    const char *detail;  /* paragraphs for `orb help NAME` */
};

extern const struct command command_table[];
extern const size_t command_count;

const struct command *command_find(struct span name); /* NULL: none */

int cmd_crawl(const struct options *o);
int cmd_export(const struct options *o);
int cmd_status(const struct options *o);
int cmd_explain(const struct options *o);
int cmd_check(const struct options *o);
int cmd_forget(const struct options *o);
int cmd_prune(const struct options *o);
int cmd_backup(const struct options *o);
int cmd_restore(const struct options *o);
int cmd_search(const struct options *o);
int cmd_serve(const struct options *o);
int cmd_demo(const struct options *o);
int cmd_coordinator(const struct options *o);
int cmd_agent(const struct options *o);
int cmd_channel(const struct options *o);
int cmd_network(const struct options *o);
int cmd_nearest(const struct options *o);
int cmd_program(const struct options *o);
int cmd_key(const struct options *o);
int cmd_config(const struct options *o);
int cmd_help(const struct options *o);
int cmd_completion(const struct options *o);
int cmd_url(const struct options *o);
int cmd_robots(const struct options *o);
int cmd_probe(const struct options *o);
int cmd_sim(const struct options *o);
int cmd_world(const struct options *o);
int cmd_hierarchy(const struct options *o);
int cmd_lab(const struct options *o);
int cmd_import(const struct options *o);
int cmd_warc(const struct options *o);
int cmd_links(const struct options *o);
int cmd_text(const struct options *o);
int cmd_sitemap(const struct options *o);

/* `orb lab`: becomes orb-lab with the same words, whose options are its own. Only returns when it cannot. */
int lab_become(int argc, char *const *argv);

struct backup_report;
/* What is wrong with a backup. An exit code. */
int backup_complain(const char *what, const char *path, status st, struct backup_report *r);

struct arena;
int agent_offer(const struct options *o, struct arena *a); /* a part of cmd_agent */

/* Prints "orb: " and one line, `what was attempted: what went wrong: what to do`, on standard error; returns `code`.
 * Control bytes in the line are escaped. */
int complain(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The exit code that stands for a status. */
int exit_code_of(status st);

/* To standard output, and clears it. False: nobody takes it any more; finish_output tells. */
bool print_buf(struct buf *b);
/* Flushes standard output; `code`, or EXIT_IO with a complaint when not everything could be written. */
int finish_output(int code);

/* A line of text from outside, safe for a terminal; appended. */
void put_safe(struct buf *out, struct span s);

/* The whole file, or standard input for "-". Complains by itself; `what` is the command's name. */
#define INPUT_BYTES_MAX (256u << 20)
int read_input(const char *what, const char *path, struct buf *out);

/* Help texts, from the tables. */
void help_overview(struct buf *out);
/* `v`: of one verb of it alone, when not NULL. */
void help_command(const struct command *c, const struct command_verb *v, struct buf *out);
void help_list(struct buf *out);
void config_sample(struct buf *out);
/* What the help and the manual page of a command say of one of its options; appended, without default and full stop. */
void option_help(opt_id id, const struct command *c, struct buf *out);
/* It is shown there: the settings are options of `orb config` too, and explained with the commands that use them. */
bool option_is_shown(opt_id id, const struct command *c);
/* The verbs of the command that read it, with blanks between; empty: all. */
struct span option_verbs(opt_id id, const struct command *c);
/* The verb reads it. `v` may be NULL: true. */
bool option_is_of_verb(opt_id id, const struct command *c, const struct command_verb *v);
/* Worth telling: flags and zeros say it in their texts. NULL: not. */
const char *option_default(opt_id id, const struct command *c);
void command_page(const struct command *c, struct buf *out); /* "orb-crawl"; appended */

/* The same as manual pages in mdoc(7), without the sections that are written by hand (docs/man/extra). */
void manual_overview(struct buf *out);
void manual_command(const struct command *c, struct buf *out);
