/* test_help.c - what is made from the tables of commands, verbs and options: help, manual pages, completion. */
#include "test.h"

#include "cli/command.h"
#include "cli/completion.h"

static const struct command *find(const char *name)
{
    const struct command *c = command_find(span_str(name));
    if (!c)
        fail_msg("no command %s", name);
    return c;
}

static void tells_of_an_option_what_concerns_the_command(void **state)
{
    static const struct {
        opt_id id;
        const char *command, *want;
    } cases[] = {
        {OPT_ALL, "export", "every URL that was visited, not only good pages"},
        {OPT_ALL, "links", "other schemes than http(s) too"},
        {OPT_DATA, "crawl", "data folder; made when missing"},
        {OPT_DATA, "search", "data folder"},
        {OPT_DATA, "demo", "data folder; new or empty, and kept; not given: a temporary one, which is removed"},
        {OPT_CONTACT, "crawl",
         "mail address or URL for site owners, part of the user agent; asked once on a terminal and kept in the data "
         "folder"},
        {OPT_CONTACT, "coordinator",
         "mail address or URL for site owners, part of the user agent; kept in the data folder, and given to the agent "
         "of --with-agent"},
        {OPT_CONTACT, "probe", "mail address or URL for site owners, part of the user agent"},
        {OPT_PROXY, "coordinator",
         "send requests through this proxy; http_proxy and its like are ignored; for --refresh-registries only"},
        {OPT_CA_FILE, "coordinator",
         "trust the certificate authorities in FILE (PEM) instead of the system's; for --refresh-registries, and the "
         "agent of --with-agent"},
        {OPT_WARC, "crawl", "keep every answer as it came in WARC files in DIR"},
        {OPT_WARC, "forget", "take the records out of the WARC files in DIR, too"},
        {OPT_INDEX, "backup", "take the index along"},
        {OPT_KEY, "program", "sign: the secret key, made by orb key new"},
        {OPT_KEY, "agent", "offer: the secret key, made by orb key new"},
        {OPT_AGENT, "channel", "always crawled by this agent"},
        {OPT_AGENT, "network", "list: only this agent's"},
        {OPT_PROGRAM_NAME, "key", "new: file of the new key"},
        {OPT_WORLD, "sim", "the world: a folder made by orb world make"},
        {OPT_HIERARCHY, "sim", "the registry hierarchy, made by orb hierarchy build; in place of the world's networks"},
        {OPT_PAGES, "crawl", "stop when the folder holds N good pages, all runs together; 0 = no limit"},
    };
    struct buf text = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        buf_clear(&text);
        option_help(cases[i].id, find(cases[i].command), &text);
        if (!span_is(buf_span(&text), cases[i].want))
            fail_msg("--%s of %s: \"%s\"", option_table[cases[i].id].name, cases[i].command, buf_cstr(&text));
    }
    buf_done(&text);
}

static void the_folder_of_the_demo_has_no_name_of_its_own(void **state)
{
    assert_string_equal(option_default(OPT_DATA, find("crawl")), "orb-data");
    assert_null(option_default(OPT_DATA, find("demo")));
}

static void says_something_of_every_option(void **state)
{
    struct buf text = {0};
    for (size_t i = 0; i < command_count; i++)
        for (opt_id id = 0; id < OPT_COUNT; id++) {
            if (!option_is_shown(id, &command_table[i]))
                continue;
            buf_clear(&text);
            option_help(id, &command_table[i], &text);
            if (text.n < 4)
                fail_msg("--%s of %s: \"%s\"", option_table[id].name, command_table[i].name, buf_cstr(&text));
        }
    buf_done(&text);
}

static void commands_that_take_a_verb_have_verbs(void **state)
{
    for (size_t i = 0; i < command_count; i++) {
        struct span args = span_str(command_table[i].args);
        bool wants = span_starts(args, SPAN("VERB")) || span_starts(args, SPAN("SHELL"));
        if (wants != has_verbs(command_table[i].name))
            fail_msg("%s: %s", command_table[i].name, wants ? "no verbs" : "verbs, and no VERB in its usage");
    }
    for (size_t i = 0; i < verb_count; i++)
        (void)find(verb_table[i].command);
}

/* Each option of the help is an entry of the page, and each verb too. */
static void page_has_what_the_help_has(void **state)
{
    struct buf page = {0}, want = {0};
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = &command_table[i];
        buf_clear(&page);
        manual_command(c, &page);
        for (opt_id id = 0; id < OPT_COUNT; id++) {
            buf_clear(&want);
            buf_printf(&want, "Fl Fl %s", option_table[id].name);
            if (option_is_shown(id, c) && span_search(buf_span(&page), buf_span(&want), false) == page.n)
                fail_msg("%s: no %s", c->name, buf_cstr(&want));
        }
        for (size_t k = 0; k < verb_count; k++) {
            buf_clear(&want);
            buf_printf(&want, ".It Cm %s", verb_table[k].name);
            if (strcmp(verb_table[k].command, c->name) == 0 &&
                span_search(buf_span(&page), buf_span(&want), false) == page.n)
                fail_msg("%s: no %s", c->name, buf_cstr(&want));
        }
    }
    buf_done(&page);
    buf_done(&want);
}

/* A line of text that begins with a dot or an apostrophe would be taken for a macro. */
static void text_is_never_a_macro(void **state)
{
    static const char *const macros[] = {".\\\"", ".Dd", ".Dt", ".Os", ".Sh", ".Ss", ".Nm", ".Nd", ".Op", ".Cm", ".Ar",
                                         ".Oo",   ".Bl", ".It", ".El", ".Pp", ".Li", ".Fl", ".Ev", ".Ic", ".Xr"};
    struct buf page = {0};
    for (size_t i = 0; i <= command_count; i++) {
        buf_clear(&page);
        if (i == command_count)
            manual_overview(&page);
        else
            manual_command(&command_table[i], &page);
        struct span rest = buf_span(&page), line;
        while (span_split(&rest, '\n', &line)) {
            bool is_known = line.n == 0 || (line.p[0] != '.' && line.p[0] != '\'');
            for (size_t k = 0; k < sizeof(macros) / sizeof(*macros); k++)
                is_known |= span_starts(line, span_str(macros[k]));
            if (!is_known)
                fail_msg("%s: %.*s", i == command_count ? "orb" : command_table[i].name, SPAN_ARG(line));
        }
    }
    buf_done(&page);
}

static void the_agents_page_is_not_the_daemons(void **state)
{
    struct buf page = {0};
    command_page(find("agent"), &page);
    assert_string_equal(buf_cstr(&page), "orb-agent-admin");
    buf_clear(&page);
    command_page(find("crawl"), &page);
    assert_string_equal(buf_cstr(&page), "orb-crawl");
    buf_done(&page);
}

static void completion_says_it_to_each_shell(void **state)
{
    static struct completion_option options[] = {
        {.name = "scope", .kind = VALUE_CHOICE, .choices = "a|b", .help = SPAN_INIT("what belongs to it")},
        {.name = "json", .can_be_off = true, .help = SPAN_INIT("as JSON")},
        {.name = "data", .kind = VALUE_FOLDER, .help = SPAN_INIT("folder")},
    };
    static struct completion_verb verbs[] = {{"add", VALUE_FILE, SPAN_INIT("make one")}};
    static struct completion_command commands[] = {{.name = "go",
                                                    .help = SPAN_INIT("do it"),
                                                    .options = options,
                                                    .option_count = 3,
                                                    .verbs = verbs,
                                                    .verb_count = 1}};
    static const struct completion c = {"prog", commands, 1};
    static const struct {
        void (*write)(const struct completion *c, struct buf *out);
        const char *const want[5];
    } shells[] = {
        {completion_bash,
         {"flags=' --json --no-json '", "valued=' --scope --data '", "choices='a b'", "verbs='add'",
          "complete -F _prog prog"}},
        {completion_zsh,
         {"#compdef prog", "'--scope=[what belongs to it]:scope:(a b)'", "'--no-json[not as JSON]'",
          "add\\:\"make one\"", "_files -/"}},
        {completion_fish,
         {"-l scope -x -a 'a b'", "-l no-json", "__fish_complete_directories", "-a add -d 'make one'",
          "-a go -d 'do it'"}},
    };
    for (size_t i = 0; i < 3; i++) {
        struct buf out = {0};
        shells[i].write(&c, &out);
        for (size_t k = 0; k < 5; k++)
            if (span_search(buf_span(&out), span_str(shells[i].want[k]), false) == out.n)
                fail_msg("shell %zu: no \"%s\" in: %s", i, shells[i].want[k], buf_cstr(&out));
        buf_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_of_an_option_what_concerns_the_command),
        cmocka_unit_test(the_folder_of_the_demo_has_no_name_of_its_own),
        cmocka_unit_test(says_something_of_every_option),
        cmocka_unit_test(commands_that_take_a_verb_have_verbs),
        cmocka_unit_test(page_has_what_the_help_has),
        cmocka_unit_test(text_is_never_a_macro),
        cmocka_unit_test(the_agents_page_is_not_the_daemons),
        cmocka_unit_test(completion_says_it_to_each_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
