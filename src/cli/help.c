/* help.c - every text that is made from the two tables. */
#include <stdio.h>

#include "cli/command.h"

#define HELP_WIDTH 79

/* Appends `text` word by word, each line of it starting in column `indent`; `column` is where the cursor is. */
static void put_wrapped(struct buf *out, const char *text, size_t column, size_t indent, const char *margin)
{
    struct span rest = span_str(text), word;
    bool is_first = true;
    while (span_split(&rest, ' ', &word)) {
        if (!is_first && column + 1 + word.n > HELP_WIDTH) {
            buf_putc(out, '\n');
            buf_puts(out, margin);
            for (column = strlen(margin); column < indent; column++)
                buf_putc(out, ' ');
        } else if (!is_first) {
            buf_putc(out, ' ');
            column++;
        }
        buf_put(out, word);
        column += word.n;
        is_first = false;
    }
    buf_putc(out, '\n');
}

static void put_group(struct buf *out, command_group group, const char *heading)
{
    buf_printf(out, "\n%s\n", heading);
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i].group == group)
            buf_printf(out, "  %-11s %s\n", command_table[i].name, command_table[i].summary);
}

void help_overview(struct buf *out)
{
    buf_puts(out, "usage: orb COMMAND [OPTION...] [ARGUMENT...]\n\n"
                  "A web crawler: polite, resumable, explainable. To begin: orb crawl https://example.org/\n");
    put_group(out, GROUP_MAIN, "commands");
    put_group(out, GROUP_PLUMBING, "plumbing: one answer a line, for scripts");
    put_group(out, GROUP_ABOUT, "about");
    buf_puts(out, "\n`orb help COMMAND` shows the options of one command, `orb --version` the version.\n"
                  "exit codes: 0 done, 1 the answer is no or only a part was done, 2 usage, 3 bad input,\n"
                  "4 disk or network, 5 internal error\n");
}

void command_page(const struct command *c, struct buf *out)
{
    /* orb-agent is the daemon's page. */
    buf_printf(out, "orb-%s%s", c->name, c->bit == CMD_AGENT ? "-admin" : "");
}

/* ---- what is said of an option ---- */

/* `label` is what stands before a colon: commands, or commands and their verbs, with commas between. False: it is not,
 * and belongs to the text; a verb of `c` alone does. *concerns: one of them is `c`; *verb: the verb of it, or empty. */
static bool read_label(struct span label, const struct command *c, bool *concerns, struct span *verb)
{
    struct span item, mine = {0};
    bool is_mine = false;
    while (span_split(&label, ',', &item)) {
        item = span_trim(item);
        size_t blank = span_find(item, ' ', 0);
        struct span name = span_cut(item, 0, blank), rest = span_from(item, blank + 1);
        if (!command_find(name) || verb_find(c->name, item) || span_find(rest, ' ', 0) < rest.n)
            return false;
        if (span_is(name, c->name)) {
            is_mine = true;
            mine = rest;
        }
    }
    *concerns = is_mine;
    *verb = mine;
    return true;
}

void option_help(opt_id id, const struct command *c, struct buf *out)
{
    struct span rest = span_str(option_table[id].help);
    size_t start = out->n;
    bool keep = true;
    while (rest.n) {
        size_t end = span_search(rest, SPAN("; "), false);
        struct span part = span_cut(rest, 0, end), verb = {0};
        rest = span_from(rest, end + 2);
        size_t colon = span_search(part, SPAN(": "), false);
        if (colon < part.n && read_label(span_cut(part, 0, colon), c, &keep, &verb))
            part = span_from(part, colon + 2);
        if (!keep)
            continue;
        buf_puts(out, out->n > start ? "; " : "");
        if (verb.n)
            buf_printf(out, "%.*s: ", SPAN_ARG(verb));
        buf_put(out, part);
    }
}

bool option_is_shown(opt_id id, const struct command *c)
{
    return option_belongs(id, c->bit) && !(c->bit == CMD_CONFIG && option_table[id].is_setting);
}

struct span option_verbs(opt_id id, const struct command *c)
{
    struct span verbs = span_str(option_table[id].verbs), command;
    return span_split(&verbs, ' ', &command) && span_is(command, c->name) ? verbs : (struct span){0};
}

bool option_is_of_verb(opt_id id, const struct command *c, const struct command_verb *v)
{
    struct span verbs = option_verbs(id, c), name;
    if (!v || !verbs.n)
        return true;
    while (span_split(&verbs, ' ', &name))
        if (span_is(name, v->name))
            return true;
    return false;
}

const char *option_default(opt_id id, const struct command *c)
{
    const struct opt_def *d = &option_table[id];
    if (id == OPT_DATA && c->bit == CMD_DEMO) /* another one each time */
        return NULL;
    return d->type == TYPE_FLAG || !d->value || strcmp(d->value, "0") == 0 ? NULL : d->value;
}

/* ---- the help of a command ---- */

/* What was put since `start` is in the first column of two; `text` goes into the second. */
static void put_second(struct buf *out, size_t start, const char *text)
{
    const size_t indent = 26;
    size_t column = out->n - start;
    if (column + 2 > indent) {
        buf_putc(out, '\n');
        column = 0;
    }
    for (; column < indent; column++)
        buf_putc(out, ' ');
    put_wrapped(out, text, column, indent, "");
}

static void put_option(struct buf *out, opt_id id, const struct command *c)
{
    const struct opt_def *d = &option_table[id];
    size_t start = out->n;
    buf_printf(out, "  %s--%s%s%s", id == OPT_HELP ? "-h, " : "", d->name, d->arg ? " " : "", d->arg ? d->arg : "");
    struct buf text = {0};
    option_help(id, c, &text);
    if (option_default(id, c))
        buf_printf(&text, " (%s)", option_default(id, c));
    put_second(out, start, buf_cstr(&text));
    buf_done(&text);
}

static void put_verbs(struct buf *out, const struct command *c)
{
    buf_puts(out, "\nverbs\n");
    for (size_t i = 0; i < verb_count; i++) {
        const struct command_verb *v = &verb_table[i];
        if (strcmp(v->command, c->name) != 0)
            continue;
        size_t start = out->n;
        buf_printf(out, "  %s%s%s", v->name, v->args[0] ? " " : "", v->args);
        put_second(out, start, v->help);
    }
}

/* What the verb does, as a sentence. */
static void put_verb(struct buf *out, const struct command *c, const struct command_verb *v)
{
    struct buf text = {0};
    buf_printf(&text, "%s. All verbs: orb help %s.", v->help, c->name);
    text.p[0] = (char)(text.p[0] & ~0x20);
    buf_printf(out, "usage: orb %s [OPTION...] %s%s%s\n\n", c->name, v->name, v->args[0] ? " " : "", v->args);
    put_wrapped(out, buf_cstr(&text), 0, 0, "");
    buf_done(&text);
}

void help_command(const struct command *c, const struct command_verb *v, struct buf *out)
{
    if (v) {
        put_verb(out, c, v);
    } else {
        buf_printf(out, "usage: orb %s [OPTION...]%s%s\n\n", c->name, c->args[0] ? " " : "", c->args);
        put_wrapped(out, c->detail, 0, 0, "");
    }
    if (!v && has_verbs(c->name))
        put_verbs(out, c);
    buf_puts(out, "\noptions\n");
    for (opt_id id = 0; id < OPT_COUNT; id++)
        if (option_is_shown(id, c) && option_is_of_verb(id, c, v))
            put_option(out, id, c);
    if (c->bit == CMD_CONFIG)
        buf_puts(out, "  and every setting: see `orb config --sample`\n");
    else
        buf_puts(out, "Flags can be turned off with --no-NAME.");
    buf_puts(out, c->bit == CMD_CONFIG ? "Manual page: " : " Manual page: ");
    command_page(c, out);
    buf_puts(out, "(1)\n");
}

void help_list(struct buf *out)
{
    for (size_t i = 0; i < command_count; i++)
        buf_printf(out, "command %s\n", command_table[i].name);
    for (size_t i = 0; i < command_count; i++) {
        buf_printf(out, "manual %s ", command_table[i].name);
        command_page(&command_table[i], out);
        buf_putc(out, '\n');
    }
    for (opt_id id = 0; id < OPT_COUNT; id++)
        buf_printf(out, "option --%s\n", option_table[id].name);
    for (opt_id id = 0; id < OPT_COUNT; id++)
        if (option_table[id].is_setting)
            buf_printf(out, "setting %s\n", option_table[id].name);
}

void config_sample(struct buf *out)
{
    buf_puts(out, "# Settings of orb: ~/.config/orb/orb.conf, or the file named by --config or ORB_CONFIG.\n"
                  "# One NAME = VALUE a line; # starts a comment line. A command-line option or an\n"
                  "# environment variable (ORB_NAME) is stronger than this file. Settings that take\n"
                  "# lists may be given several times. Values shown are the defaults.\n");
    for (opt_id id = 0; id < OPT_COUNT; id++) {
        const struct opt_def *d = &option_table[id];
        if (!d->is_setting)
            continue;
        buf_puts(out, "\n# ");
        put_wrapped(out, d->help, 2, 2, "# ");
        const char *value = d->value ? d->value : d->type == TYPE_FLAG ? "yes" : d->arg;
        buf_printf(out, "#%s = %s\n", d->name, value);
    }
}

int cmd_help(const struct options *o)
{
    struct buf out = {0};
    const struct command *c = o->arg_count ? command_find(o->args[0]) : NULL;
    if (o->arg_count && !c)
        return complain(EXIT_USAGE, "help %s: no such command: see orb help", o->args[0].p);
    const struct command_verb *v = o->arg_count > 1 ? verb_find(c->name, o->args[1]) : NULL;
    if (o->arg_count > 1 && !v)
        return complain(EXIT_USAGE, "help %s %s: no such verb: see orb help %s", c->name, o->args[1].p, c->name);
    if (opt_flag(o, OPT_LIST))
        help_list(&out);
    else if (opt_flag(o, OPT_MAN) && c)
        manual_command(c, &out);
    else if (opt_flag(o, OPT_MAN))
        manual_overview(&out);
    else if (c)
        help_command(c, v, &out);
    else
        help_overview(&out);
    print_buf(&out);
    buf_done(&out);
    return EXIT_DONE;
}
