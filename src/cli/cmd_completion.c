/* cmd_completion.c - `orb completion`: the tables as a model of what can be completed. */
#include <assert.h>

#include "agent/conf_internal.h"
#include "cli/command.h"
#include "cli/completion.h"

#define WHAT "completion"

/* The first phrase of a text; characters that mean something to a shell, or to its lists of descriptions, are left
 * out. */
static struct span brief(struct arena *a, struct span text)
{
    char *to = arena_alloc(a, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n && text.p[i] != ';' && text.p[i] != '('; i++) {
        char c = text.p[i];
        if (c == ':' && i + 1 < text.n && text.p[i + 1] == ' ')
            c = ',';
        if (!strchr("'\"`\\[]{}:$<>*|", c))
            to[n++] = c;
    }
    while (n && (to[n - 1] == ' ' || to[n - 1] == ','))
        n--;
    return span_of(to, n);
}

/* Tables name values and arguments for people: FILE, [DIR], FILE|NAME... */
static value_kind kind_of_text(const char *text)
{
    struct span s = span_str(text);
    static const struct {
        const char *word;
        value_kind kind;
    } words[] = {{"FILE", VALUE_FILE}, {"PATH", VALUE_FILE}, {"DIR", VALUE_FOLDER}, {"COMMAND", VALUE_COMMAND}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (span_search(s, span_str(words[i].word), false) < s.n)
            return words[i].kind;
    return VALUE_WORD;
}

/* ---- orb ---- */

/* One that is off may be worth naming where it takes back what was said before. */
static bool changes_what_is_there(const struct opt_def *d)
{
    struct span verbs = span_str(d->verbs ? d->verbs : ""), verb;
    while (span_split(&verbs, ' ', &verb))
        if (span_is(verb, "edit") || span_is(verb, "change"))
            return true;
    return false;
}

/* orb sim has the strategies of two things under one name: those of delegation stand first, as a coordinator has them,
 * then those of recrawling. */
static void split_strategies(struct arena *a, struct completion_option *o)
{
    struct span all = span_str(option_table[OPT_SIM_STRATEGY].arg), first = span_str(option_table[OPT_STRATEGY].arg);
    assert(span_starts(all, first));
    o->choices = option_table[OPT_STRATEGY].arg;
    o->verb = "recrawl";
    o->verb_choices = arena_copy(a, span_from(all, first.n + 1)).p;
}

static struct completion_option option_of(struct arena *a, opt_id id, const struct command *c, struct buf *scratch)
{
    const struct opt_def *d = &option_table[id];
    struct completion_option o = {.name = d->name,
                                  .letter = id == OPT_HELP     ? 'h'
                                            : id == OPT_OUTPUT ? 'o'
                                                               : 0,
                                  .may_be_repeated = d->type == TYPE_LIST};
    buf_clear(scratch);
    option_help(id, c, scratch);
    o.help = brief(a, buf_span(scratch));
    if (d->type == TYPE_CHOICE) {
        o.kind = VALUE_CHOICE;
        o.choices = d->arg;
        if (id == OPT_SIM_STRATEGY)
            split_strategies(a, &o);
    } else if (id == OPT_PROGRAM_NAME) {
        o.kind = c->bit == CMD_CHANNEL ? VALUE_WORD : VALUE_FILE;
    } else if (d->type != TYPE_FLAG) {
        o.kind = kind_of_text(d->arg);
    } else {
        bool is_on = d->value && strcmp(d->value, "yes") == 0;
        o.can_be_off = d->is_setting || is_on || changes_what_is_there(d); /* else it is off already */
    }
    return o;
}

static void put_verbs(struct arena *a, struct completion_command *to, const char *name)
{
    to->verbs = arena_alloc(a, verb_count * sizeof(*to->verbs));
    for (size_t i = 0; i < verb_count; i++) {
        const struct command_verb *v = &verb_table[i];
        if (strcmp(v->command, name) == 0)
            to->verbs[to->verb_count++] = (struct completion_verb){
                v->name, v->args[0] ? kind_of_text(v->args) : VALUE_NONE, brief(a, span_str(v->help))};
    }
}

static struct completion of_orb(struct arena *a)
{
    struct completion c = {.program = "orb", .command_count = command_count};
    struct buf scratch = {0};
    c.commands = arena_alloc(a, command_count * sizeof(*c.commands));
    for (size_t i = 0; i < command_count; i++) {
        const struct command *from = &command_table[i];
        struct completion_command *to = &c.commands[i];
        *to = (struct completion_command){.name = from->name,
                                          .help = brief(a, span_str(from->summary)),
                                          .args = from->args[0] ? kind_of_text(from->args) : VALUE_NONE};
        to->options = arena_alloc(a, OPT_COUNT * sizeof(*to->options));
        for (opt_id id = 0; id < OPT_COUNT; id++)
            if (option_belongs(id, from->bit))
                to->options[to->option_count++] = option_of(a, id, from, &scratch);
        put_verbs(a, to, from->name);
    }
    buf_done(&scratch);
    return c;
}

/* ---- orb-agent ---- */

static struct completion of_agent(struct arena *a)
{
    static struct completion_verb verbs[] = {
        {"join", VALUE_WORD, SPAN_INIT("only enrol with a coordinator")},
        {"status", VALUE_NONE, SPAN_INIT("what was asked, done and refused")},
    };
    struct completion c = {.program = "orb-agent", .command_count = 1};
    struct completion_command *to = c.commands = arena_alloc(a, sizeof(*to));
    *to = (struct completion_command){.verbs = verbs, .verb_count = sizeof(verbs) / sizeof(*verbs)};
    to->options = arena_alloc(a, CONF_COUNT * sizeof(*to->options));
    for (conf_id id = 0; id < CONF_COUNT; id++) {
        const struct conf_def *d = &conf_table[id];
        if (d->is_hidden)
            continue;
        bool is_flag = d->type == CONF_IS_FLAG;
        to->options[to->option_count++] =
            (struct completion_option){.name = d->name,
                                       .kind = is_flag                     ? VALUE_NONE
                                               : d->type == CONF_IS_CHOICE ? VALUE_CHOICE
                                                                           : kind_of_text(d->arg),
                                       .choices = d->type == CONF_IS_CHOICE ? d->arg : NULL,
                                       .can_be_off = is_flag && d->is_setting,
                                       .may_be_repeated = d->type == CONF_IS_LIST,
                                       .help = brief(a, span_str(d->help))};
    }
    return c;
}

/* ---- the command ---- */

int cmd_completion(const struct options *o)
{
    static const struct {
        const char *name;
        void (*write)(const struct completion *c, struct buf *out);
    } shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
    const size_t n = sizeof(shells) / sizeof(*shells);
    size_t shell = 0;
    while (shell < n && !span_is(o->args[0], shells[shell].name))
        shell++;
    if (shell == n)
        return complain(EXIT_USAGE, WHAT ": %s: no such shell: give bash, zsh or fish", o->args[0].p);
    bool is_agent = o->arg_count == 2 && span_is(o->args[1], "orb-agent");
    if (o->arg_count == 2 && !is_agent && !span_is(o->args[1], "orb"))
        return complain(EXIT_USAGE, WHAT ": %s: no such program: give orb or orb-agent", o->args[1].p);
    struct arena a;
    struct buf out = {0};
    arena_init(&a);
    struct completion c = is_agent ? of_agent(&a) : of_orb(&a);
    shells[shell].write(&c, &out);
    print_buf(&out);
    buf_done(&out);
    arena_done(&a);
    return EXIT_DONE;
}
