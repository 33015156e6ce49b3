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
            buf_printf(out, "  %-9s %s\n", command_table[i].name, command_table[i].summary);
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

static void put_option(struct buf *out, opt_id id)
{
    const size_t indent = 26;
    const struct opt_def *d = &option_table[id];
    size_t start = out->n;
    buf_printf(out, "  %s--%s%s%s", id == OPT_HELP ? "-h, " : "", d->name, d->arg ? " " : "", d->arg ? d->arg : "");
    size_t column = out->n - start;
    if (column + 2 > indent) {
        buf_putc(out, '\n');
        column = 0;
    }
    for (; column < indent; column++)
        buf_putc(out, ' ');
    struct buf text = {0};
    buf_puts(&text, d->help);
    bool is_plain_default = d->type == TYPE_FLAG || !d->value || strcmp(d->value, "0") == 0;
    if (!is_plain_default)
        buf_printf(&text, " (%s)", d->value);
    put_wrapped(out, buf_cstr(&text), column, indent, "");
    buf_done(&text);
}

void help_command(const struct command *c, struct buf *out)
{
    buf_printf(out, "usage: orb %s [OPTION...]%s%s\n\n", c->name, c->args[0] ? " " : "", c->args);
    put_wrapped(out, c->detail, 0, 0, "");
    buf_puts(out, "\noptions\n");
    for (opt_id id = 0; id < OPT_COUNT; id++)
        /* The settings are options of `orb config` too; `orb help crawl` explains them. */
        if (option_belongs(id, c->bit) && !(c->bit == CMD_CONFIG && option_table[id].is_setting))
            put_option(out, id);
    if (c->bit == CMD_CONFIG)
        buf_puts(out, "  and every setting: see `orb config --sample`\n");
    else
        buf_puts(out, "Flags can be turned off with --no-NAME.\n");
}

void help_list(struct buf *out)
{
    for (size_t i = 0; i < command_count; i++)
        buf_printf(out, "command %s\n", command_table[i].name);
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
    if (opt_flag(o, OPT_LIST))
        help_list(&out);
    else if (o->arg_count == 0)
        help_overview(&out);
    else {
        const struct command *c = command_find(o->args[0]);
        if (!c)
            return complain(EXIT_USAGE, "help %s: no such command: see orb help", o->args[0].p);
        help_command(c, &out);
    }
    print_buf(&out);
    buf_done(&out);
    return EXIT_DONE;
}
