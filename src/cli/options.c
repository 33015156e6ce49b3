#include "cli/options.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/in_lab.h"
#include "web/url.h"

#define EDIT_TEXT_MAX 64 /* names and their misspellings are short */

/* ---- values ---- */

static bool parse_flag(struct span s, int64_t *out)
{
    static const char *const yes[] = {"yes", "true", "on", "1"}, *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        if (span_is_nocase(s, yes[i]) || span_is_nocase(s, no[i])) {
            *out = span_is_nocase(s, yes[i]);
            return true;
        }
    }
    return false;
}

struct suffix {
    const char *name;
    int64_t times;
};

static const struct suffix size_suffixes[] = {{"k", 1 << 10},   {"M", 1 << 20},   {"G", 1 << 30}, {"KiB", 1 << 10},
                                              {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};
static const struct suffix time_suffixes[] = {{"ms", 1},          {"s", 1000},         {"m", 60 * 1000},
                                              {"h", 3600 * 1000}, {"d", 86400 * 1000}, {NULL, 0}};

/* A number with an optional suffix; a bare one counts `unit` each. False: not a number. Too large becomes INT64_MAX,
 * which is past every option's range. */
static bool parse_scaled(struct span s, const struct suffix *suffix, int64_t unit, int64_t *out)
{
    size_t digits = 0;
    while (digits < s.n && ascii_is_digit(s.p[digits]))
        digits++;
    struct span rest = span_from(s, digits);
    int64_t times = rest.n == 0 ? unit : 0;
    for (; suffix && suffix->name && times == 0; suffix++)
        if (span_is_nocase(rest, suffix->name))
            times = suffix->times;
    if (digits == 0 || times == 0)
        return false;
    uint64_t v;
    int64_t product;
    if (!span_u64(span_cut(s, 0, digits), INT64_MAX, &v) || __builtin_mul_overflow((int64_t)v, times, &product))
        product = INT64_MAX;
    *out = product;
    return true;
}

static bool is_choice(const char *choices, struct span s)
{
    struct span rest = span_str(choices), part;
    while (span_split(&rest, '|', &part))
        if (span_eq(part, s))
            return true;
    return false;
}

static void say_choices(const char *choices, struct buf *err)
{
    for (; *choices; choices++) {
        if (*choices == '|')
            buf_puts(err, ", ");
        else
            buf_putc(err, *choices);
    }
}

static int bad_value(struct buf *err, const char *where, struct span text, const char *want)
{
    buf_printf(err, "%s: \"", where);
    buf_put(err, text);
    buf_printf(err, "\" is not %s", want);
    return EXIT_USAGE;
}

static int parse_number(const struct opt_def *d, const char *where, struct span text, int64_t *out, struct buf *err)
{
    bool ok = d->type == TYPE_INT    ? parse_scaled(text, NULL, 1, out)
              : d->type == TYPE_SIZE ? parse_scaled(text, size_suffixes, 1, out)
                                     : parse_scaled(text, time_suffixes, d->unit_ms, out);
    if (!ok)
        return bad_value(err, where, text,
                         d->type == TYPE_INT    ? "a number: give decimal digits"
                         : d->type == TYPE_SIZE ? "a size: give bytes, or a number with k, M or G"
                                                : "a time: give a number, or one with ms, s, m, h or d");
    if (*out >= d->min && *out <= d->max)
        return EXIT_DONE;
    const char *unit = d->type == TYPE_DURATION ? " ms" : d->type == TYPE_SIZE ? " bytes" : "";
    buf_printf(err, "%s: ", where);
    buf_put(err, text);
    buf_printf(err, " is out of range: give %lld to %lld%s", (long long)d->min, (long long)d->max, unit);
    return EXIT_USAGE;
}

static void list_add(struct options *o, struct opt_value *v, struct span text)
{
    v->list = mem_grow(v->list, &v->list_cap, v->list_count + 1, sizeof(*v->list));
    v->list[v->list_count++] = arena_copy(&o->arena, text);
}

/* Checks `text` and stores it, unless a stronger source has spoken. `where` names the place for the complaint. */
static int put(struct options *o, opt_id id, opt_source source, const char *where, struct span text, struct buf *err)
{
    const struct opt_def *d = &option_table[id];
    struct opt_value *v = &o->v[id];
    int64_t number = 0;
    int code = EXIT_DONE;
    if (d->type == TYPE_FLAG && !parse_flag(text, &number))
        code = bad_value(err, where, text, "yes or no");
    else if (d->type == TYPE_CHOICE && !is_choice(d->arg, text)) {
        code = bad_value(err, where, text, "one of ");
        say_choices(d->arg, err);
    } else if (d->type == TYPE_INT || d->type == TYPE_SIZE || d->type == TYPE_DURATION)
        code = parse_number(d, where, text, &number, err);
    if (code != EXIT_DONE || (v->is_set && v->source > source))
        return code;
    if (d->type == TYPE_LIST) {
        if (v->source != source)
            v->list_count = 0;
        list_add(o, v, text);
    }
    v->source = source;
    v->is_set = true;
    v->number = number;
    v->text = arena_copy(&o->arena, text);
    return EXIT_DONE;
}

void options_init(struct options *o)
{
    *o = (struct options){0};
    arena_init(&o->arena);
    struct buf err = {0};
    for (opt_id id = 0; id < OPT_COUNT; id++)
        if (option_table[id].value) {
            int code = put(o, id, FROM_DEFAULT, option_table[id].name, span_str(option_table[id].value), &err);
            assert(code == EXIT_DONE);
        }
    buf_done(&err);
}

void options_done(struct options *o)
{
    for (opt_id id = 0; id < OPT_COUNT; id++)
        free(o->v[id].list);
    free(o->args);
    arena_done(&o->arena);
    *o = (struct options){0};
}

/* ---- names ---- */

unsigned edit_distance(struct span a, struct span b)
{
    unsigned row[3][EDIT_TEXT_MAX + 1];
    if (a.n > EDIT_TEXT_MAX || b.n > EDIT_TEXT_MAX)
        return EDIT_TEXT_MAX;
    for (unsigned j = 0; j <= b.n; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        cur[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned best = up[j - 1] + (a.p[i - 1] != b.p[j - 1]);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = cur[j - 1] + 1 < best ? cur[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            cur[j] = best;
        }
    }
    return row[a.n % 3][b.n];
}

bool is_near(struct span given, struct span name, unsigned distance)
{
    size_t shorter = given.n < name.n ? given.n : name.n;
    return distance <= 1 + shorter / 4 && distance < shorter;
}

bool option_belongs(opt_id id, command_set command)
{
    return (option_table[id].commands & command) != 0;
}

/* `name` is an option of a command in `commands`. */
static bool find_option(struct span name, command_set commands, opt_id *out)
{
    for (opt_id id = 0; id < OPT_COUNT; id++)
        if (option_belongs(id, commands) && span_is(name, option_table[id].name)) {
            *out = id;
            return true;
        }
    return false;
}

static void say_nearest(struct span name, command_set commands, bool settings_only, const char *dashes, struct buf *err)
{
    const char *best = NULL;
    unsigned best_distance = EDIT_TEXT_MAX;
    for (opt_id id = 0; id < OPT_COUNT; id++) {
        if (!option_belongs(id, commands) || (settings_only && !option_table[id].is_setting))
            continue;
        unsigned d = edit_distance(name, span_str(option_table[id].name));
        if (d < best_distance) {
            best = option_table[id].name;
            best_distance = d;
        }
    }
    if (best && is_near(name, span_str(best), best_distance))
        buf_printf(err, ": did you mean %s%s?", dashes, best);
}

/* ---- command line ---- */

static int unknown_option(struct span name, command_set command, struct buf *err)
{
    opt_id id;
    buf_puts(err, "--");
    buf_put(err, name);
    if (find_option(name, CMD_ALL, &id)) {
        buf_puts(err, ": not an option of this command: see its --help");
        return EXIT_USAGE;
    }
    buf_puts(err, ": no such option");
    size_t before = err->n;
    say_nearest(name, command, false, "--", err);
    if (err->n == before)
        buf_puts(err, ": see --help");
    return EXIT_USAGE;
}

/* One "--name", "--name=value" or "--name value"; *i is moved past a value taken from the next word. */
static int take_option(struct options *o, command_set command, int argc, char *const *argv, int *i, struct buf *err)
{
    struct span word = span_from(span_str(argv[*i]), 2), value = {0};
    size_t eq = span_find(word, '=', 0);
    bool has_value = eq < word.n;
    struct span name = span_cut(word, 0, eq);
    bool is_negated = false;
    opt_id id = OPT_COUNT;
    if (has_value)
        value = span_from(word, eq + 1);
    if (!find_option(name, command, &id)) {
        is_negated = span_starts(name, SPAN("no-")) && find_option(span_from(name, 3), command, &id) &&
                     option_table[id].type == TYPE_FLAG && id != OPT_HELP;
        if (!is_negated)
            return unknown_option(name, command, err);
    }
    const struct opt_def *d = &option_table[id];
    if (is_negated && has_value) {
        buf_printf(err, "--no-%s: takes no value", d->name);
        return EXIT_USAGE;
    }
    if (d->type == TYPE_FLAG && !has_value)
        value = is_negated ? SPAN("no") : SPAN("yes");
    else if (!has_value) {
        if (*i + 1 >= argc) {
            buf_printf(err, "--%s: its value is missing: give --%s ", d->name, d->name);
            buf_puts(err, d->arg);
            return EXIT_USAGE;
        }
        value = span_str(argv[++*i]);
    }
    struct buf where = {0};
    buf_printf(&where, "--%s", d->name);
    int code = put(o, id, FROM_FLAG, buf_cstr(&where), value, err);
    buf_done(&where);
    return code;
}

static void take_arg(struct options *o, const char *word)
{
    o->args = mem_grow(o->args, &o->arg_cap, o->arg_count + 1, sizeof(*o->args));
    o->args[o->arg_count++] = arena_copy(&o->arena, span_str(word));
}

int options_from_args(struct options *o, command_set command, int argc, char *const *argv, struct buf *err)
{
    bool only_args = false;
    for (int i = 0; i < argc; i++) {
        const char *w = argv[i];
        int code = EXIT_DONE;
        if (only_args || w[0] != '-' || w[1] == '\0')
            take_arg(o, w);
        else if (strcmp(w, "--") == 0)
            only_args = true;
        else if (strcmp(w, "-h") == 0)
            code = put(o, OPT_HELP, FROM_FLAG, "-h", SPAN("yes"), err);
        else if (strcmp(w, "-o") == 0 && option_belongs(OPT_OUTPUT, command)) {
            if (i + 1 < argc)
                code = put(o, OPT_OUTPUT, FROM_FLAG, "-o", span_str(argv[++i]), err);
            else {
                buf_puts(err, "-o: its value is missing: give -o PATH");
                code = EXIT_USAGE;
            }
        } else if (command == CMD_SEARCH && w[1] != '-') /* -word: without it */
            take_arg(o, w);
        else if (w[1] == '-')
            code = take_option(o, command, argc, argv, &i, err);
        else {
            buf_printf(err, "%s: no such option: options are words with two dashes, see --help", w);
            code = EXIT_USAGE;
        }
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

/* ---- environment ---- */

void option_env_name(opt_id id, struct buf *out)
{
    buf_puts(out, "ORB_");
    for (const char *c = option_table[id].name; *c; c++)
        buf_putc(out, *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
}

static struct span env_find(char *const *envp, struct span name)
{
    for (; envp && *envp; envp++) {
        struct span line = span_str(*envp);
        if (span_starts(line, name) && line.n > name.n && line.p[name.n] == '=')
            return span_from(line, name.n + 1);
    }
    return (struct span){0};
}

int options_from_env(struct options *o, command_set command, char *const *envp, struct buf *err)
{
    struct buf name = {0};
    int code = EXIT_DONE;
    for (opt_id id = 0; id < OPT_COUNT && code == EXIT_DONE; id++) {
        if (!option_table[id].is_setting || !option_belongs(id, command))
            continue;
        buf_clear(&name);
        option_env_name(id, &name);
        struct span value = env_find(envp, buf_span(&name)), part;
        if (value.n == 0)
            continue;
        if (option_table[id].type != TYPE_LIST) {
            code = put(o, id, FROM_ENV, buf_cstr(&name), value, err);
            continue;
        }
        while (code == EXIT_DONE && span_split(&value, '\n', &part))
            if (span_trim(part).n)
                code = put(o, id, FROM_ENV, buf_cstr(&name), span_trim(part), err);
    }
    buf_done(&name);
    return code;
}

/* ---- config file ---- */

static int take_line(struct options *o, const char *where, unsigned line_number, struct span line, struct buf *err)
{
    opt_id id = OPT_COUNT;
    line = span_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return EXIT_DONE;
    size_t eq = span_find(line, '=', 0);
    if (eq == line.n) {
        buf_printf(err, "%s: no '=' in it: write NAME = VALUE", where);
        return EXIT_INPUT;
    }
    struct span name = span_trim(span_cut(line, 0, eq)), value = span_trim(span_from(line, eq + 1));
    if (!find_option(name, CMD_ALL, &id) || !option_table[id].is_setting) {
        buf_printf(err, "%s: no setting is called \"", where);
        buf_put(err, name);
        buf_putc(err, '"');
        size_t before = err->n;
        say_nearest(name, CMD_ALL, true, "", err);
        if (err->n == before)
            buf_puts(err, ": see orb config --sample");
        return EXIT_INPUT;
    }
    int code = put(o, id, FROM_FILE, where, value, err);
    if (code == EXIT_DONE && o->v[id].source == FROM_FILE)
        o->v[id].line = line_number;
    return code == EXIT_DONE ? EXIT_DONE : EXIT_INPUT;
}

int options_from_text(struct options *o, const char *path, struct span text, struct buf *err)
{
    struct buf where = {0};
    struct span line;
    int code = EXIT_DONE;
    if (span_starts(text, SPAN("\xEF\xBB\xBF")))
        text = span_from(text, 3);
    for (unsigned n = 1; code == EXIT_DONE && span_split(&text, '\n', &line); n++) {
        buf_clear(&where);
        buf_printf(&where, "%s line %u", path, n);
        code = take_line(o, buf_cstr(&where), n, line, err);
    }
    buf_done(&where);
    return code;
}

/* ---- contradictions ---- */

static bool has_control(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7F)
            return true;
    return false;
}

static bool is_header_line(struct span s)
{
    size_t colon = span_find(s, ':', 0);
    if (colon == 0 || colon == s.n || has_control(s))
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!ascii_is_alpha(s.p[i]) && !ascii_is_digit(s.p[i]) && !strchr("!#$%&'*+-.^_`|~", s.p[i]))
            return false;
    return true;
}

/* Looked at here because curl's words about one that it does not understand have its password in them. */
static bool is_proxy(struct span s)
{
    static const char *const schemes[] = {"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
    size_t end = span_search(s, SPAN("://"), false);
    struct span rest = end < s.n ? span_from(s, end + 3) : s;
    bool is_known = end == s.n;
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        is_known |= end < s.n && span_is_nocase(span_cut(s, 0, end), schemes[i]);
    struct arena a;
    struct url u;
    struct buf as_http = {0};
    arena_init(&a);
    buf_puts(&as_http, "http://");
    buf_put(&as_http, rest);
    bool is_fine = is_known && !has_control(s) && url_parse(&a, buf_span(&as_http), NULL, &u) == ST_OK &&
                   span_is(u.path, "/") && !u.has_query && !u.has_fragment;
    buf_done(&as_http);
    arena_done(&a);
    return is_fine;
}

int options_check(const struct options *o, struct buf *err)
{
    static const opt_id one_line[] = {OPT_CONTACT, OPT_PURPOSE_URL, OPT_USER_AGENT};
    for (size_t i = 0; i < sizeof(one_line) / sizeof(*one_line); i++)
        if (has_control(opt_text(o, one_line[i])) || opt_text(o, one_line[i]).n > 256) {
            buf_printf(err, "--%s: not one line of at most 256 bytes without control characters",
                       option_table[one_line[i]].name);
            return EXIT_USAGE;
        }
    size_t n;
    const struct span *headers = opt_list(o, OPT_HEADER, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_header_line(headers[i])) {
            buf_puts(err, "--header: not a header line: write \"Name: value\"");
            return EXIT_USAGE;
        }
    if (opt_text(o, OPT_PROXY).n && !is_proxy(opt_text(o, OPT_PROXY))) {
        buf_puts(err, "--proxy: not the address of a proxy: write http://HOST:PORT, https://... or socks5h://...");
        return EXIT_USAGE;
    }
    if (opt_flag(o, OPT_INSECURE) && opt_is_set(o, OPT_CA_FILE)) {
        buf_puts(err, "--insecure and --ca-file contradict each other: give one of them");
        return EXIT_USAGE;
    }
    if (opt_flag(o, OPT_QUIET) && opt_flag(o, OPT_PROGRESS)) {
        buf_puts(err, "--quiet and --progress contradict each other: give one of them");
        return EXIT_USAGE;
    }
    if (opt_is_set(o, OPT_USER_AGENT) && opt_text(o, OPT_USER_AGENT).n == 0) {
        buf_puts(err, "--user-agent: empty: a crawler says who it is");
        return EXIT_USAGE;
    }
    bool is_hasty = opt_number(o, OPT_DELAY) < 250 || opt_number(o, OPT_PER_HOST) > 2;
    opt_list(o, OPT_OWN_SITE, &n);
    if (is_hasty && n == 0 && !opt_flag(o, OPT_ALLOW_PRIVATE) && !in_lab()) {
        buf_puts(err, "--delay under 250 or --per-host over 2: too hasty for sites of others: name your own with "
                      "--own-site HOST, or give --allow-private for private addresses");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

/* ---- reading values ---- */

int64_t opt_number(const struct options *o, opt_id id)
{
    return o->v[id].number;
}

bool opt_flag(const struct options *o, opt_id id)
{
    assert(option_table[id].type == TYPE_FLAG);
    return o->v[id].number != 0;
}

bool opt_is_set(const struct options *o, opt_id id)
{
    return o->v[id].is_set;
}

struct span opt_text(const struct options *o, opt_id id)
{
    return o->v[id].text;
}

const char *opt_cstr(const struct options *o, opt_id id)
{
    return o->v[id].text.n ? o->v[id].text.p : NULL;
}

const struct span *opt_list(const struct options *o, opt_id id, size_t *n)
{
    assert(option_table[id].type == TYPE_LIST);
    *n = o->v[id].list_count;
    return o->v[id].list;
}

bool opt_is(const struct options *o, opt_id id, const char *choice)
{
    return span_is(o->v[id].text, choice);
}

void option_format(const struct options *o, opt_id id, const char *sep, struct buf *out)
{
    const struct opt_value *v = &o->v[id];
    if (option_table[id].type == TYPE_FLAG)
        buf_puts(out, !v->is_set ? "" : v->number ? "yes" : "no");
    else if (option_table[id].type != TYPE_LIST)
        buf_put(out, v->text);
    for (size_t i = 0; i < v->list_count; i++) {
        buf_puts(out, i ? sep : "");
        buf_put(out, v->list[i]);
    }
}
