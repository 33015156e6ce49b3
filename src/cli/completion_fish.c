/* completion_fish.c - a script for fish 3 and later. */
#include "cli/completion.h"

/* Which command the line is of, and whether its verb is there; fish's own functions look for a word anywhere. */
static const char functions[] = "function __orb_is\n"
                                "    set -l words (commandline -opc)\n"
                                "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
                                "end\n"
                                "function __orb_has_verb\n"
                                "    set -l words (commandline -opc)\n"
                                "    __orb_is $argv[1]; or return 1\n"
                                "    for word in $words[3..-1]\n"
                                "        contains -- $word $argv[2..-1]; and return 0\n"
                                "    end\n"
                                "    return 1\n"
                                "end\n"
                                "function __orb_needs_verb\n"
                                "    __orb_is $argv[1]; and not __orb_has_verb $argv\n"
                                "end\n";

static const char agent_functions[] = "function __orb_agent_has_verb\n"
                                      "    for word in (commandline -opc)\n"
                                      "        contains -- $word $argv; and return 0\n"
                                      "    end\n"
                                      "    return 1\n"
                                      "end\n";

/* The beginning of a line about one command, or about the program when it has none. */
static void begin(const struct completion *c, const struct completion_command *of, struct buf *out)
{
    buf_printf(out, "complete -c %s", c->program);
    if (of->name)
        buf_printf(out, " -n '__orb_is %s'", of->name);
}

static void put_value(const struct completion_option *o, struct buf *out)
{
    if (o->kind == VALUE_FILE)
        buf_puts(out, " -r -F");
    else if (o->kind == VALUE_FOLDER)
        buf_puts(out, " -x -a '(__fish_complete_directories)'");
    else if (o->kind != VALUE_NONE)
        buf_puts(out, " -x");
}

static void put_choices(const char *choices, struct buf *out)
{
    buf_puts(out, " -a '");
    for (const char *p = choices; *p; p++)
        buf_putc(out, *p == '|' ? ' ' : *p);
    buf_putc(out, '\'');
}

static void put_option(const struct completion *c, const struct completion_command *of,
                       const struct completion_option *o, struct buf *out)
{
    if (o->verb)
        buf_printf(out, "complete -c %s -n '__orb_is %s; and not __orb_has_verb %s %s'", c->program, of->name, of->name,
                   o->verb);
    else
        begin(c, of, out);
    if (o->letter)
        buf_printf(out, " -s %c", o->letter);
    buf_printf(out, " -l %s", o->name);
    put_value(o, out);
    if (o->kind == VALUE_CHOICE)
        put_choices(o->choices, out);
    buf_printf(out, " -d '%.*s'\n", SPAN_ARG(o->help));
    if (o->verb) {
        buf_printf(out, "complete -c %s -n '__orb_has_verb %s %s' -l %s -x", c->program, of->name, o->verb, o->name);
        put_choices(o->verb_choices, out);
        buf_printf(out, " -d '%.*s'\n", SPAN_ARG(o->help));
    }
    if (o->can_be_off) {
        begin(c, of, out);
        buf_printf(out, " -l no-%s -d 'not %.*s'\n", o->name, SPAN_ARG(o->help));
    }
}

static void put_verb_condition(const struct completion_command *of, const char *function, struct buf *out)
{
    buf_printf(out, " -n '%s%s%s", function, of->name ? " " : "", of->name ? of->name : "");
    for (size_t i = 0; i < of->verb_count; i++)
        buf_printf(out, " %s", of->verbs[i].name);
    buf_putc(out, '\'');
}

static void put_verbs(const struct completion *c, const struct completion_command *of, struct buf *out)
{
    for (size_t i = 0; i < of->verb_count; i++) {
        const struct completion_verb *v = &of->verbs[i];
        buf_printf(out, "complete -c %s", c->program);
        put_verb_condition(of, of->name ? "__orb_needs_verb" : "not __orb_agent_has_verb", out);
        buf_printf(out, " -a %s -d '%.*s'\n", v->name, SPAN_ARG(v->help));
        if (v->args == VALUE_FILE || v->args == VALUE_FOLDER)
            buf_printf(out, "complete -c %s -n '__orb_has_verb %s %s' %s\n", c->program, of->name, v->name,
                       v->args == VALUE_FILE ? "-F" : "-a '(__fish_complete_directories)'");
    }
}

static void put_args(const struct completion *c, const struct completion_command *of, struct buf *out)
{
    if (of->args != VALUE_FILE && of->args != VALUE_FOLDER && of->args != VALUE_COMMAND)
        return;
    begin(c, of, out);
    if (of->args == VALUE_FILE) {
        buf_puts(out, " -F\n");
    } else if (of->args == VALUE_FOLDER) {
        buf_puts(out, " -a '(__fish_complete_directories)'\n");
    } else {
        buf_puts(out, " -a '");
        for (size_t i = 0; i < c->command_count; i++)
            buf_printf(out, "%s%s", i ? " " : "", c->commands[i].name);
        buf_puts(out, "'\n");
    }
}

void completion_fish(const struct completion *c, struct buf *out)
{
    bool has_commands = c->commands[0].name != NULL;
    buf_printf(out, "# Completion of %s for fish; made by orb completion fish.\n", c->program);
    buf_puts(out, has_commands ? functions : agent_functions);
    buf_printf(out, "complete -c %s -f\n", c->program);
    for (size_t i = 0; i < c->command_count; i++) {
        const struct completion_command *of = &c->commands[i];
        if (of->name)
            buf_printf(out, "complete -c %s -n 'test (count (commandline -opc)) -eq 1' -a %s -d '%.*s'\n", c->program,
                       of->name, SPAN_ARG(of->help));
        for (size_t k = 0; k < of->option_count; k++)
            put_option(c, of, &of->options[k], out);
        if (of->verb_count)
            put_verbs(c, of, out);
        else
            put_args(c, of, out);
    }
}
