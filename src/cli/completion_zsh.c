/* completion_zsh.c - a script for zsh: a function of its completion system, _orb, autoloaded from fpath. */
#include "cli/completion.h"

static const char *action_of(value_kind kind)
{
    return kind == VALUE_FILE ? "_files" : kind == VALUE_FOLDER ? "_files -/" : " ";
}

static void put_words(const char *choices, struct buf *out)
{
    for (const char *p = choices; *p; p++)
        buf_putc(out, *p == '|' ? ' ' : *p);
}

static void put_choices(const struct completion_option *o, struct buf *out)
{
    buf_printf(out, ":%s:%s", o->name, o->verb ? "{ " : "(");
    if (o->verb) {
        buf_printf(out, "if [[ -n ${words[(r)%s]} ]]; then compadd ", o->verb);
        put_words(o->verb_choices, out);
        buf_puts(out, "; else compadd ");
    }
    put_words(o->choices, out);
    buf_puts(out, o->verb ? "; fi }" : ")");
}

static void put_option(const struct completion_option *o, struct buf *out)
{
    const char *again = o->may_be_repeated ? "*" : "";
    if (o->letter)
        buf_printf(out, " \\\n        '%s-%c[%.*s]", again, o->letter, SPAN_ARG(o->help));
    for (int is_long = o->letter ? 0 : 1; is_long < 2; is_long++) {
        if (is_long)
            buf_printf(out, " \\\n        '%s--%s%s[%.*s]", again, o->name, o->kind == VALUE_NONE ? "" : "=",
                       SPAN_ARG(o->help));
        if (o->kind == VALUE_CHOICE)
            put_choices(o, out);
        else if (o->kind != VALUE_NONE)
            buf_printf(out, ":%s:%s", o->name, action_of(o->kind));
        buf_putc(out, '\'');
    }
    if (o->can_be_off)
        buf_printf(out, " \\\n        '--no-%s[not %.*s]'", o->name, SPAN_ARG(o->help));
}

/* Verbs of one kind of argument as a pattern, (a|b); false: there are none. */
static bool put_pattern(const struct completion_command *c, value_kind kind, struct buf *out)
{
    size_t start = out->n;
    for (size_t i = 0; i < c->verb_count; i++)
        if (c->verbs[i].args == kind)
            buf_printf(out, "%s%s", out->n > start ? "|" : "", c->verbs[i].name);
    return out->n > start;
}

static void put_verbs(const struct completion_command *c, struct buf *out)
{
    struct buf pattern = {0};
    buf_puts(out, " \\\n        '1:verb:((");
    for (size_t i = 0; i < c->verb_count; i++)
        buf_printf(out, "%s%s\\:\"%.*s\"", i ? " " : "", c->verbs[i].name, SPAN_ARG(c->verbs[i].help));
    buf_puts(out, "))' \\\n        '*:argument:{ ");
    for (value_kind kind = VALUE_FILE; kind <= VALUE_FOLDER; kind++) {
        buf_clear(&pattern);
        if (put_pattern(c, kind, &pattern))
            buf_printf(out, "[[ -n ${words[(r)(%s)]} ]] && %s; ", buf_cstr(&pattern), action_of(kind));
    }
    buf_puts(out, "}'");
    buf_done(&pattern);
}

static void put_arguments(const struct completion_command *c, struct buf *out)
{
    buf_puts(out, "_arguments -S");
    for (size_t i = 0; i < c->option_count; i++)
        put_option(&c->options[i], out);
    if (c->verb_count)
        put_verbs(c, out);
    else if (c->args == VALUE_COMMAND)
        buf_puts(out, " \\\n        '1:command:_orb_commands'");
    else if (c->args != VALUE_NONE)
        buf_printf(out, " \\\n        '*:argument:%s'", action_of(c->args));
    buf_putc(out, '\n');
}

void completion_zsh(const struct completion *c, struct buf *out)
{
    bool has_commands = c->commands[0].name != NULL;
    buf_printf(out, "#compdef %s\n# Completion of %s for zsh; made by orb completion zsh.\n\n", c->program, c->program);
    if (!has_commands) {
        put_arguments(&c->commands[0], out);
        return;
    }
    buf_printf(out, "_%s_commands() {\n    local -a commands\n    commands=(\n", c->program);
    for (size_t i = 0; i < c->command_count; i++)
        buf_printf(out, "        '%s:%.*s'\n", c->commands[i].name, SPAN_ARG(c->commands[i].help));
    buf_puts(out, "    )\n    _describe -t commands command commands\n}\n\n");
    buf_printf(out,
               "if (( CURRENT == 2 )); then\n    _%s_commands\n    return\nfi\n"
               "# From here on the command is as a program of its own.\n"
               "shift words\n(( CURRENT-- ))\ncase $words[1] in\n",
               c->program);
    for (size_t i = 0; i < c->command_count; i++) {
        buf_printf(out, "%s)\n    ", c->commands[i].name);
        put_arguments(&c->commands[i], out);
        buf_puts(out, "    ;;\n");
    }
    buf_puts(out, "esac\n");
}
