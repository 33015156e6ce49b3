/* manual.c - manual pages from the tables of commands, verbs and options, in mdoc(7).
 *
 * They have every section whose content the program knows. What people write by hand (examples, files) is in
 * docs/man/extra; tools/make-manuals joins both when the program is built. */
#include "cli/command.h"

/* The day on which the texts last changed; pages that are built again stay the same bytes. */
#define MANUAL_DATE "November 16, 2026"

/* ---- text ---- */

static void put_escaped(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\')
            buf_puts(out, "\\e");
        else if (s.p[i] == '-')
            buf_puts(out, "\\-");
        else
            buf_putc(out, s.p[i]);
    }
}

static bool is_punctuation(char c)
{
    return strchr(".,;:()'\"`", c) != NULL;
}

/* One word of a text: options and what stands in `backticks` are bold, `arg`, the name of a value, is italic. */
static void put_word(struct buf *out, struct span word, const char *arg, bool *in_code)
{
    size_t from = 0, to = word.n;
    while (from < to && is_punctuation(word.p[from]))
        from++;
    while (to > from && is_punctuation(word.p[to - 1]))
        to--;
    struct span core = span_cut(word, from, to - from), before = span_cut(word, 0, from), after = span_from(word, to);
    bool opens = span_find(before, '`', 0) < before.n, closes = span_find(after, '`', 0) < after.n;
    bool is_bold = opens || *in_code || span_starts(core, SPAN("--"));
    bool is_italic = !is_bold && arg && span_is(core, arg);
    *in_code = (opens || *in_code) && !closes;
    for (size_t i = 0; i < before.n; i++)
        if (before.p[i] != '`')
            buf_putc(out, before.p[i]);
    buf_puts(out, is_bold ? "\\fB" : is_italic ? "\\fI" : "");
    put_escaped(out, core);
    buf_puts(out, is_bold || is_italic ? "\\fR" : "");
    for (size_t i = 0; i < after.n; i++)
        if (after.p[i] != '`')
            buf_putc(out, after.p[i]);
}

/* A text in lines of one sentence each, as mdoc wants it. */
static void put_text(struct buf *out, struct span text, const char *arg)
{
    struct span word;
    bool at_start = true, in_code = false;
    while (span_split(&text, ' ', &word)) {
        if (word.n == 0)
            continue;
        if (at_start)
            buf_puts(out, word.p[0] == '.' || word.p[0] == '\'' ? "\\&" : "");
        else
            buf_putc(out, ' ');
        put_word(out, word, arg, &in_code);
        at_start = word.n > 1 && span_ends(word, SPAN(".")) && !span_ends(word, SPAN("..."));
        if (at_start)
            buf_putc(out, '\n');
    }
    if (!at_start)
        buf_putc(out, '\n');
}

/* Phrases of a table as a sentence. */
static void put_sentence(struct buf *out, struct span phrases, const char *arg)
{
    struct buf text = {0};
    buf_put(&text, phrases);
    bool is_name = phrases.n > 1 && phrases.p[0] != ascii_lower(phrases.p[0]);
    size_t word = span_find(phrases, ' ', 0);
    bool is_label = word > 0 && word < phrases.n && phrases.p[word - 1] == ':'; /* a verb, which is never a capital */
    if (text.n && !is_name && !is_label && text.p[0] >= 'a' && text.p[0] <= 'z')
        text.p[0] = (char)(text.p[0] - 32);
    buf_putc(&text, '.');
    put_text(out, buf_span(&text), arg);
    buf_done(&text);
}

/* ---- macros ---- */

static void put_words(struct buf *out, const char *macro, struct span words)
{
    bool has_dots = span_ends(words, SPAN("..."));
    if (has_dots)
        words = span_cut(words, 0, words.n - 3);
    buf_printf(out, " %s %.*s%s", macro, SPAN_ARG(words), has_dots ? " ..." : "");
}

/* `[BASE] URL... | -` as macros, each with a blank before it. */
static void put_args(struct buf *out, const char *args)
{
    struct span rest = span_str(args), word;
    while (rest.n && span_split(&rest, ' ', &word)) {
        if (span_is(word, "|")) {
            buf_puts(out, " |");
        } else if (span_is(word, "-")) {
            buf_puts(out, " Cm \\-");
        } else if (span_starts(word, SPAN("[")) && span_ends(word, SPAN("]"))) {
            buf_puts(out, " Oo");
            put_words(out, "Ar", span_cut(word, 1, word.n - 2));
            buf_puts(out, " Oc");
        } else {
            put_words(out, "Ar", word);
        }
    }
}

static void put_option(struct buf *out, opt_id id, const struct command *c)
{
    const struct opt_def *d = &option_table[id];
    buf_puts(out, id == OPT_HELP ? ".It Fl h , " : id == OPT_OUTPUT ? ".It Fl o Ar PATH , " : ".It ");
    buf_printf(out, "Fl Fl %s", d->name);
    if (d->type == TYPE_CHOICE) {
        struct span rest = span_str(d->arg), choice;
        for (bool is_first = true; span_split(&rest, '|', &choice); is_first = false)
            buf_printf(out, "%s%.*s", is_first ? " Cm " : " | ", SPAN_ARG(choice));
    } else if (d->arg) {
        buf_printf(out, " Ar %s", d->arg);
    }
    buf_putc(out, '\n');
    struct buf text = {0};
    option_help(id, c, &text);
    put_sentence(out, buf_span(&text), d->arg);
    if (option_default(id, c))
        buf_printf(out, "The default is\n.Li %s .\n", option_default(id, c));
    struct span verbs = option_verbs(id, c), verb;
    buf_puts(out, verbs.n ? "Read by\n" : "");
    while (span_split(&verbs, ' ', &verb)) {
        const char *then = span_find(verbs, ' ', 0) < verbs.n ? " ," : verbs.n ? "\nand" : " .";
        buf_printf(out, ".Cm %.*s%s\n", SPAN_ARG(verb), then);
    }
    buf_done(&text);
}

static void put_title(struct buf *out, const char *page, const char *summary)
{
    buf_puts(out, ".\\\" Made from the tables of the program (orb help --man) and docs/man/extra.\n.Dd " MANUAL_DATE
                  "\n.Dt ");
    for (const char *c = page; *c; c++)
        buf_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
    buf_printf(out, " 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n", page, summary);
}

static void put_exit_status(struct buf *out)
{
    static const char *const meanings[] = {
        "done",
        "the answer is no, or only a part was done",
        "the command line makes no sense",
        "bad input",
        "disk or network",
        "internal error",
    };
    buf_puts(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds -compact\n");
    for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
        buf_printf(out, ".It %zu\n%s\n", i, meanings[i]);
    buf_puts(out, ".El\n");
}

/* ---- pages ---- */

static void put_synopsis(struct buf *out, const struct command *c, const char *verb, const char *args)
{
    struct buf words = {0};
    buf_printf(out, ".Nm orb\n.Cm %s%s%s\n.Op Ar option ...\n", c->name, verb ? " " : "", verb ? verb : "");
    put_args(&words, args);
    if (words.n)
        buf_printf(out, ".%s\n", buf_cstr(&words) + 1);
    buf_done(&words);
}

static void put_verbs(struct buf *out, const struct command *c)
{
    buf_puts(out, ".Ss Verbs\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < verb_count; i++) {
        const struct command_verb *v = &verb_table[i];
        if (strcmp(v->command, c->name) != 0)
            continue;
        buf_printf(out, ".It Cm %s", v->name);
        put_args(out, v->args);
        buf_putc(out, '\n');
        put_sentence(out, span_str(v->help), NULL);
    }
    buf_puts(out, ".El\n");
}

/* Settings of the command may stand in the environment and in the config file. */
static void put_settings(struct buf *out, const struct command *c)
{
    struct buf names = {0};
    for (opt_id id = 0; id < OPT_COUNT; id++) {
        if (!option_table[id].is_setting || !option_is_shown(id, c))
            continue;
        buf_puts(&names, names.n ? " ,\n.Ev " : ".Ev ");
        option_env_name(id, &names);
    }
    if (names.n)
        buf_printf(out,
                   ".Sh ENVIRONMENT\n%s .\n.Pp\nEach is the option of that name; lists have one value a line.\n"
                   "The same names without\n.Li ORB_\n"
                   "and in small letters are settings of the config file.\n"
                   "The command line is stronger than the environment, which is stronger than the file.\n",
                   buf_cstr(&names));
    buf_done(&names);
}

void manual_command(const struct command *c, struct buf *out)
{
    struct buf page = {0};
    command_page(c, &page);
    put_title(out, buf_cstr(&page), c->summary);
    buf_puts(out, ".Sh SYNOPSIS\n");
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verb_table[i].command, c->name) == 0)
            put_synopsis(out, c, verb_table[i].name, verb_table[i].args);
    if (!has_verbs(c->name))
        put_synopsis(out, c, NULL, c->args);
    buf_puts(out, ".Sh DESCRIPTION\n");
    put_text(out, span_str(c->detail), NULL);
    if (has_verbs(c->name))
        put_verbs(out, c);
    buf_puts(out, ".Ss Options\nFlags can be turned off with\n.Fl Fl no- Ns Ar NAME .\n.Bl -tag -width Ds\n");
    for (opt_id id = 0; id < OPT_COUNT; id++)
        if (option_is_shown(id, c))
            put_option(out, id, c);
    buf_puts(out, ".El\n");
    if (c->bit == CMD_CONFIG)
        buf_puts(out, ".Pp\nEvery setting is an option of this command too; see\n.Ic orb config --sample .\n");
    put_settings(out, c);
    put_exit_status(out);
    buf_puts(out, ".Sh SEE ALSO\n.Xr orb 1\n");
    buf_done(&page);
}

static void put_group(struct buf *out, command_group group, const char *heading, const char *text)
{
    struct buf page = {0};
    buf_printf(out, ".Ss %s\n%s.Bl -tag -width Ds\n", heading, text);
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = &command_table[i];
        if (c->group != group)
            continue;
        buf_clear(&page);
        command_page(c, &page);
        buf_printf(out, ".It Nm Cm %s", c->name);
        put_args(out, c->args);
        buf_putc(out, '\n');
        put_sentence(out, span_str(c->summary), NULL);
        buf_printf(out, "See\n.Xr %s 1 .\n", buf_cstr(&page));
    }
    buf_puts(out, ".El\n");
    buf_done(&page);
}

void manual_overview(struct buf *out)
{
    put_title(out, "orb", "polite, resumable web crawler and search engine");
    buf_puts(out,
             ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n.Op Ar argument ...\n.Nm\n.Fl Fl version\n"
             ".Sh DESCRIPTION\n.Nm\n"
             "fetches the pages of web sites into a data folder and makes them searchable.\n"
             "It asks robots.txt first, never hurries a host, and can be stopped or killed at any moment: the same "
             "command\ngoes on where it was.\n"
             "On one machine that is all; with a coordinator, agents in many places crawl what is near to them.\n"
             ".Pp\nResults go to standard output, everything else to standard error.\n"
             "Text from remote sites is shown with control characters escaped.\n");
    put_group(out, GROUP_MAIN, "Commands", "");
    put_group(out, GROUP_PLUMBING, "Plumbing", "For scripts: one line of output for each answer.\n");
    put_group(out, GROUP_ABOUT, "About", "");
    put_exit_status(out);
}
