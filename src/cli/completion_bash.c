/* completion_bash.c - a script for bash 4 and later; it needs no other package. */
#include "cli/completion.h"

/* Names of the options of these kinds, each with its dashes and a blank before it. */
static void put_names(const struct completion_command *c, value_kind from, value_kind to, struct buf *out)
{
    for (size_t i = 0; i < c->option_count; i++) {
        const struct completion_option *o = &c->options[i];
        if (o->kind < from || o->kind > to)
            continue;
        if (o->letter)
            buf_printf(out, " -%c", o->letter);
        buf_printf(out, " --%s", o->name);
        if (o->can_be_off)
            buf_printf(out, " --no-%s", o->name);
    }
}

static void put_list(const char *variable, const struct completion_command *c, value_kind from, value_kind to,
                     struct buf *out)
{
    size_t before = out->n;
    buf_printf(out, "        %s='", variable);
    size_t start = out->n;
    put_names(c, from, to, out);
    if (out->n > start)
        buf_puts(out, " '\n");
    else
        out->n = before;
}

static const char *rest_of(value_kind kind)
{
    return kind == VALUE_FILE ? "file" : kind == VALUE_FOLDER ? "folder" : kind == VALUE_COMMAND ? "command" : "";
}

/* `case $variable in a | b) rest=file ;; esac`, for the verbs that something follows. */
static void put_verbs(const struct completion_command *c, struct buf *out)
{
    buf_puts(out, "        verbs='");
    for (size_t i = 0; i < c->verb_count; i++)
        buf_printf(out, "%s%s", i ? " " : "", c->verbs[i].name);
    buf_puts(out, "'\n");
    for (size_t i = 0; i < c->verb_count; i++)
        if (*rest_of(c->verbs[i].args))
            buf_printf(out, "        [[ $verb == %s ]] && rest=%s\n", c->verbs[i].name, rest_of(c->verbs[i].args));
}

/* `verb`: after that one; NULL: after any. */
static void put_words(const char *option, const char *verb, const char *choices, struct buf *out)
{
    buf_printf(out, "        [[ $option == --%s", option);
    if (verb)
        buf_printf(out, " && $verb == %s", verb);
    buf_puts(out, " ]] && choices='");
    for (const char *p = choices; *p; p++)
        buf_putc(out, *p == '|' ? ' ' : *p);
    buf_puts(out, "'\n");
}

static void put_choices(const struct completion_command *c, struct buf *out)
{
    for (size_t i = 0; i < c->option_count; i++) {
        const struct completion_option *o = &c->options[i];
        if (o->kind == VALUE_CHOICE)
            put_words(o->name, NULL, o->choices, out);
        if (o->kind == VALUE_CHOICE && o->verb)
            put_words(o->name, o->verb, o->verb_choices, out);
    }
}

static void put_command(const struct completion_command *c, struct buf *out)
{
    put_list("flags", c, VALUE_NONE, VALUE_NONE, out);
    put_list("valued", c, VALUE_WORD, VALUE_FOLDER, out);
    put_list("files", c, VALUE_FILE, VALUE_FILE, out);
    put_list("folders", c, VALUE_FOLDER, VALUE_FOLDER, out);
    if (*rest_of(c->args) && c->verb_count == 0)
        buf_printf(out, "        rest=%s\n", rest_of(c->args));
}

/* A value may stand in a word of its own or after `=`, which is a word too: bash breaks lines there. */
static const char words_of_line[] =
    "    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
    "    local flags='' valued='' files='' folders='' choices='' verbs='' verb='' rest='' word i\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=''\n"
    "    elif [[ $option == = && $COMP_CWORD -gt 2 ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n";

static const char find_verb[] = "    for ((i = first; i < COMP_CWORD; i++)); do\n"
                                "        word=${COMP_WORDS[i]}\n"
                                "        if [[ $valued == *\" $word \"* ]]; then\n"
                                "            [[ ${COMP_WORDS[i+1]} == = ]] && ((i++))\n"
                                "            ((i++))\n"
                                "        elif [[ $word != -* ]]; then\n"
                                "            verb=$word\n"
                                "            break\n"
                                "        fi\n"
                                "    done\n";

static const char answer[] =
    "    if [[ $valued == *\" $option \"* ]]; then\n"
    "        rest=''\n"
    "        [[ $files == *\" $option \"* ]] && rest=file\n"
    "        [[ $folders == *\" $option \"* ]] && rest=folder\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$flags $valued\" -- \"$cur\")\n"
    "        return\n"
    "    elif [[ $verbs && ! $verb ]]; then\n"
    "        choices=$verbs rest=''\n"
    "    else\n"
    "        choices=''\n"
    "    fi\n"
    "    case $rest in\n"
    "    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
    "    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
    "    command) mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\") ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\") ;;\n"
    "    esac\n";

/* What depends on the verb and on the option before the word, once both are known. */
static void put_second(const struct completion *c, struct buf *out)
{
    bool has_commands = c->commands[0].name != NULL;
    if (has_commands)
        buf_puts(out, "    case $command in\n");
    for (size_t i = 0; i < c->command_count; i++) {
        if (has_commands)
            buf_printf(out, "    %s)\n", c->commands[i].name);
        put_choices(&c->commands[i], out);
        if (c->commands[i].verb_count)
            put_verbs(&c->commands[i], out);
        if (has_commands)
            buf_puts(out, "        ;;\n");
    }
    if (has_commands)
        buf_puts(out, "    esac\n");
}

void completion_bash(const struct completion *c, struct buf *out)
{
    bool has_commands = c->commands[0].name != NULL;
    struct buf function = {0};
    for (const char *p = c->program; *p; p++)
        buf_putc(&function, *p == '-' ? '_' : *p);
    buf_printf(out, "# Completion of %s for bash; made by orb completion bash.\n_%s() {\n%s", c->program,
               buf_cstr(&function), words_of_line);
    buf_printf(out, "    local first=%d commands='", has_commands ? 2 : 1);
    for (size_t i = 0; has_commands && i < c->command_count; i++)
        buf_printf(out, "%s%s", i ? " " : "", c->commands[i].name);
    buf_puts(out, "'\n");
    if (has_commands)
        buf_puts(out, "    if ((COMP_CWORD == 1)); then\n"
                      "        mapfile -t COMPREPLY < <(compgen -W \"$commands --help --version\" -- \"$cur\")\n"
                      "        return\n"
                      "    fi\n"
                      "    case $command in\n");
    for (size_t i = 0; i < c->command_count; i++) {
        if (has_commands)
            buf_printf(out, "    %s)\n", c->commands[i].name);
        put_command(&c->commands[i], out);
        if (has_commands)
            buf_puts(out, "        ;;\n");
    }
    buf_puts(out, has_commands ? "    esac\n" : "");
    buf_puts(out, find_verb);
    put_second(c, out);
    buf_puts(out, answer);
    buf_printf(out, "}\ncomplete -F _%s %s\n", buf_cstr(&function), c->program);
    buf_done(&function);
}
