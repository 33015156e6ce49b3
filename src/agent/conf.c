#include "agent/conf.h"

#include <assert.h>
#include <stdlib.h>

#include "agent/conf_internal.h"
#include "base/mem.h"
#include "codec/armor.h"
#include "codec/sign.h"
#include "io/zones.h"
#include "place/addr.h"
#include "plan/hours.h"
#include "web/places.h"
#include "web/url.h"

#define HELP_WIDTH 79
#define HELP_INDENT 26
#define LINE_TEXT_MAX 256 /* contact, purpose, place: they travel */

enum { FROM_DEFAULT, FROM_FILE, FROM_ENV, FROM_FLAG };

/* ---- values ---- */

static bool parse_flag(struct span s, int64_t *out)
{
    static const char *const yes[] = {"yes", "true", "on", "1"}, *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < 4; i++)
        if (span_is_nocase(s, yes[i]) || span_is_nocase(s, no[i])) {
            *out = span_is_nocase(s, yes[i]);
            return true;
        }
    return false;
}

static int64_t unit_of(conf_type type, struct span suffix, int64_t bare)
{
    static const struct {
        const char *name;
        conf_type type;
        int64_t times;
    } units[] = {{"k", CONF_IS_SIZE, 1 << 10},     {"M", CONF_IS_SIZE, 1 << 20},     {"G", CONF_IS_SIZE, 1 << 30},
                 {"ms", CONF_IS_DURATION, 1},      {"s", CONF_IS_DURATION, 1000},    {"m", CONF_IS_DURATION, 60000},
                 {"h", CONF_IS_DURATION, 3600000}, {"d", CONF_IS_DURATION, 86400000}};
    if (!suffix.n)
        return type == CONF_IS_DURATION ? bare : 1;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (units[i].type == type && span_is_nocase(suffix, units[i].name))
            return units[i].times;
    return 0;
}

static bool parse_number(const struct conf_def *d, struct span s, int64_t *out)
{
    bool is_negative = d->type == CONF_IS_OFFSET && s.n && s.p[0] == '-';
    size_t digits = 0;
    uint64_t v;
    int64_t product;
    s = span_from(s, is_negative ? 1 : 0);
    while (digits < s.n && ascii_is_digit(s.p[digits]))
        digits++;
    int64_t times = unit_of(d->type, span_from(s, digits), d->unit_ms);
    if (!times || !span_u64(span_cut(s, 0, digits), INT64_MAX, &v) ||
        __builtin_mul_overflow((int64_t)v, times, &product))
        return false;
    *out = is_negative ? -product : product;
    return *out >= d->min && *out <= d->max;
}

static bool is_choice(const char *choices, struct span s)
{
    struct span rest = span_str(choices), part;
    while (span_split(&rest, '|', &part))
        if (span_eq(part, s))
            return true;
    return false;
}

static const char *want_of(const struct conf_def *d)
{
    switch (d->type) {
    case CONF_IS_FLAG:
        return "yes or no";
    case CONF_IS_SIZE:
        return "a size in range: bytes, or a number with k, M or G";
    case CONF_IS_DURATION:
        return "a time in range: a number, or one with ms, s, m, h or d";
    case CONF_IS_CHOICE:
        return "one of the choices: see --help";
    default:
        return "a number in range";
    }
}

/* Checks `text` and stores it, unless a stronger source has spoken. */
static bool put(struct conf *c, conf_id id, uint8_t source, const char *where, struct span text, struct buf *err)
{
    const struct conf_def *d = &conf_table[id];
    struct conf_value *v = &c->v[id];
    int64_t number = 0;
    bool ok = true;
    if (d->type == CONF_IS_FLAG)
        ok = parse_flag(text, &number);
    else if (d->type == CONF_IS_CHOICE)
        ok = is_choice(d->arg, text);
    else if (d->type != CONF_IS_TEXT && d->type != CONF_IS_LIST)
        ok = parse_number(d, text, &number);
    if (!ok) {
        buf_printf(err, "%s: \"%.*s\" is not %s", where, SPAN_ARG(text), want_of(d));
        return false;
    }
    if (v->is_set && v->source > source)
        return true;
    if (d->type == CONF_IS_LIST) {
        if (v->source != source)
            v->list_count = 0;
        v->list = mem_grow(v->list, &v->list_cap, v->list_count + 1, sizeof(*v->list));
        v->list[v->list_count++] = arena_copy(&c->arena, text);
    }
    v->source = source;
    v->is_set = true;
    v->number = number;
    v->text = arena_copy(&c->arena, text);
    return true;
}

void conf_init(struct conf *c)
{
    struct buf err = {0};
    *c = (struct conf){0};
    arena_init(&c->arena);
    for (conf_id id = 0; id < CONF_COUNT; id++)
        if (conf_table[id].value) {
            bool ok = put(c, id, FROM_DEFAULT, conf_table[id].name, span_str(conf_table[id].value), &err);
            assert(ok);
        }
    buf_done(&err);
}

void conf_done(struct conf *c)
{
    for (conf_id id = 0; id < CONF_COUNT; id++)
        free(c->v[id].list);
    free(c->args);
    arena_done(&c->arena);
    *c = (struct conf){0};
}

static bool find(struct span name, conf_id *out)
{
    for (conf_id id = 0; id < CONF_COUNT; id++)
        if (span_is(name, conf_table[id].name)) {
            *out = id;
            return true;
        }
    return false;
}

/* ---- sources ---- */

static bool take_option(struct conf *c, int argc, char *const *argv, int *i, struct buf *err)
{
    struct span word = span_from(span_str(argv[*i]), 2), value = {0};
    size_t eq = span_find(word, '=', 0);
    struct span name = span_cut(word, 0, eq);
    bool has_value = eq < word.n, is_negated = false;
    conf_id id = CONF_COUNT;
    if (!find(name, &id)) {
        is_negated = span_starts(name, SPAN("no-")) && find(span_from(name, 3), &id) &&
                     conf_table[id].type == CONF_IS_FLAG && !has_value;
        if (!is_negated) {
            buf_printf(err, "--%.*s: no such option: see --help", SPAN_ARG(name));
            return false;
        }
    }
    if (has_value)
        value = span_from(word, eq + 1);
    else if (conf_table[id].type == CONF_IS_FLAG)
        value = is_negated ? SPAN("no") : SPAN("yes");
    else if (*i + 1 < argc)
        value = span_str(argv[++*i]);
    else {
        buf_printf(err, "--%s: its value is missing: give --%s %s", conf_table[id].name, conf_table[id].name,
                   conf_table[id].arg);
        return false;
    }
    struct buf where = {0};
    buf_printf(&where, "--%s", conf_table[id].name);
    bool ok = put(c, id, FROM_FLAG, buf_cstr(&where), value, err);
    buf_done(&where);
    return ok;
}

bool conf_from_args(struct conf *c, int argc, char *const *argv, struct buf *err)
{
    for (int i = 0; i < argc; i++) {
        bool ok = true;
        if (strcmp(argv[i], "-h") == 0)
            ok = put(c, CONF_HELP, FROM_FLAG, "-h", SPAN("yes"), err);
        else if (argv[i][0] == '-' && argv[i][1] == '-')
            ok = take_option(c, argc, argv, &i, err);
        else if (argv[i][0] == '-' && argv[i][1]) {
            buf_printf(err, "%s: no such option: options are words with two dashes, see --help", argv[i]);
            ok = false;
        } else {
            c->args = mem_grow(c->args, &c->arg_cap, c->arg_count + 1, sizeof(*c->args));
            c->args[c->arg_count++] = arena_copy(&c->arena, span_str(argv[i]));
        }
        if (!ok)
            return false;
    }
    return true;
}

static void env_name(conf_id id, struct buf *out)
{
    buf_puts(out, "ORB_AGENT_");
    for (const char *p = conf_table[id].name; *p; p++)
        buf_putc(out, *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
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

bool conf_from_env(struct conf *c, char *const *envp, struct buf *err)
{
    struct buf name = {0};
    bool ok = true;
    for (conf_id id = 0; id < CONF_COUNT && ok; id++) {
        if (!conf_table[id].is_setting && id != CONF_CONFIG)
            continue;
        buf_clear(&name);
        env_name(id, &name);
        struct span value = env_find(envp, buf_span(&name)), part;
        bool is_list = conf_table[id].type == CONF_IS_LIST;
        if (value.n && !is_list)
            ok = put(c, id, FROM_ENV, buf_cstr(&name), value, err);
        while (ok && value.n && is_list && span_split(&value, '\n', &part))
            if (span_trim(part).n)
                ok = put(c, id, FROM_ENV, buf_cstr(&name), span_trim(part), err);
    }
    buf_done(&name);
    return ok;
}

static bool take_line(struct conf *c, const char *where, struct span line, struct buf *err)
{
    conf_id id = CONF_COUNT;
    line = span_trim(line);
    if (line.n == 0 || line.p[0] == '#')
        return true;
    size_t eq = span_find(line, '=', 0);
    struct span name = span_trim(span_cut(line, 0, eq));
    if (eq == line.n || !find(name, &id) || !conf_table[id].is_setting) {
        buf_printf(err, "%s: no setting \"%.*s\": write NAME = VALUE, see orb-agent --sample-config", where,
                   SPAN_ARG(name));
        return false;
    }
    return put(c, id, FROM_FILE, where, span_trim(span_from(line, eq + 1)), err);
}

bool conf_from_text(struct conf *c, const char *path, struct span text, struct buf *err)
{
    struct buf where = {0};
    struct span line;
    bool ok = true;
    for (unsigned n = 1; ok && span_split(&text, '\n', &line); n++) {
        buf_clear(&where);
        buf_printf(&where, "%s line %u", path, n);
        ok = take_line(c, buf_cstr(&where), line, err);
    }
    buf_done(&where);
    return ok;
}

/* ---- what makes no sense ---- */

static bool bad(struct buf *err, conf_id id, struct span value, const char *want)
{
    buf_printf(err, "--%s: \"%.*s\": %s", conf_table[id].name, SPAN_ARG(value), want);
    return false;
}

static bool check_lines(const struct conf *c, struct buf *err)
{
    static const conf_id one_line[] = {CONF_CONTACT, CONF_PURPOSE_URL, CONF_PLACE};
    for (size_t i = 0; i < sizeof(one_line) / sizeof(*one_line); i++) {
        struct span s = conf_text(c, one_line[i]);
        bool ok = s.n <= LINE_TEXT_MAX;
        for (size_t at = 0; at < s.n; at++)
            ok &= (unsigned char)s.p[at] >= 0x20 && s.p[at] != 0x7F;
        if (!ok)
            return bad(err, one_line[i], SPAN("..."), "not one line of at most 256 bytes without control characters");
    }
    return true;
}

static bool check_sites(const struct conf *c, struct buf *err)
{
    size_t n;
    const struct span *sites = conf_list(c, CONF_OWN_SITE, &n);
    struct arena a;
    bool ok = true;
    arena_init(&a);
    for (size_t i = 0; i < n && ok; i++) {
        struct url u;
        if (url_parse(&a, sites[i], NULL, &u) != ST_OK || !url_is_http(&u))
            ok = bad(err, CONF_OWN_SITE, sites[i], "not an http or https URL");
    }
    arena_done(&a);
    return ok;
}

static bool check_keys(const struct conf *c, struct buf *err)
{
    size_t n;
    const struct span *keys = conf_list(c, CONF_PROGRAM_KEY, &n);
    struct sign_public key;
    for (size_t i = 0; i < n; i++)
        if (base64url_get(keys[i], key.b, sizeof(key.b)) != ST_OK)
            return bad(err, CONF_PROGRAM_KEY, keys[i], "not a public key");
    struct span update = conf_text(c, CONF_UPDATE_KEY);
    if (update.n && base64url_get(update, key.b, sizeof(key.b)) != ST_OK)
        return bad(err, CONF_UPDATE_KEY, update, "not a public key");
    return true;
}

static bool check_refused_sites(const struct conf *c, struct buf *err)
{
    size_t n;
    const struct span *places = conf_list(c, CONF_REFUSE_SITE, &n);
    bool is_good = true;
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; is_good && i < n; i++) {
        struct places_item item;
        is_good = places_parse(&a, places[i], &item, NULL) == ST_OK ||
                  bad(err, CONF_REFUSE_SITE, places[i], "not a place such as example.org or https://example.org/a*");
    }
    arena_done(&a);
    return is_good;
}

bool conf_check(const struct conf *c, struct buf *err)
{
    struct hours hours;
    struct network network;
    size_t n;
    if (!conf_cstr(c, CONF_DATA))
        return bad(err, CONF_DATA, SPAN(""), "give a folder");
    if (hours_parse(conf_text(c, CONF_HOURS), &hours, err) != ST_OK)
        return false;
    if (hours.zone[0] && !zone_is_known(hours.zone))
        return bad(err, CONF_HOURS, span_str(hours.zone), "this machine knows no such time zone");
    const struct span *refused = conf_list(c, CONF_REFUSE_NETWORK, &n);
    for (size_t i = 0; i < n; i++)
        if (network_parse(refused[i], &network) != ST_OK)
            return bad(err, CONF_REFUSE_NETWORK, refused[i], "not a prefix such as 192.0.2.0/24");
    refused = conf_list(c, CONF_REFUSE_COUNTRY, &n);
    for (size_t i = 0; i < n; i++)
        if (refused[i].n != 2 || !ascii_is_alpha(refused[i].p[0]) || !ascii_is_alpha(refused[i].p[1]))
            return bad(err, CONF_REFUSE_COUNTRY, refused[i], "not two letters such as DE");
    if (!check_refused_sites(c, err))
        return false;
    return check_lines(c, err) && check_sites(c, err) && check_keys(c, err);
}

/* ---- reading values ---- */

int64_t conf_number(const struct conf *c, conf_id id)
{
    return c->v[id].number;
}

bool conf_flag(const struct conf *c, conf_id id)
{
    return c->v[id].number != 0;
}

bool conf_is_set(const struct conf *c, conf_id id)
{
    return c->v[id].is_set;
}

struct span conf_text(const struct conf *c, conf_id id)
{
    return c->v[id].text;
}

const char *conf_cstr(const struct conf *c, conf_id id)
{
    return c->v[id].text.n ? c->v[id].text.p : NULL;
}

const struct span *conf_list(const struct conf *c, conf_id id, size_t *n)
{
    *n = c->v[id].list_count;
    return c->v[id].list;
}

/* ---- texts made from the table ---- */

static void put_wrapped(struct buf *out, const char *text, size_t column, size_t indent, const char *margin)
{
    struct span rest = span_str(text), word;
    bool is_first = true;
    while (span_split(&rest, ' ', &word)) {
        if (!is_first && column + 1 + word.n > HELP_WIDTH) {
            buf_printf(out, "\n%s", margin);
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

static void put_option(struct buf *out, const struct conf_def *d)
{
    size_t start = out->n;
    struct buf text = {0};
    buf_printf(out, "  --%s%s%s", d->name, d->arg ? " " : "", d->arg ? d->arg : "");
    size_t column = out->n - start;
    if (column + 2 > HELP_INDENT) {
        buf_putc(out, '\n');
        column = 0;
    }
    for (; column < HELP_INDENT; column++)
        buf_putc(out, ' ');
    buf_puts(&text, d->help);
    if (d->type != CONF_IS_FLAG && d->value && strcmp(d->value, "0") != 0)
        buf_printf(&text, " (%s)", d->value);
    put_wrapped(out, buf_cstr(&text), column, HELP_INDENT, "");
    buf_done(&text);
}

void conf_help(struct buf *out)
{
    buf_puts(out, "usage: orb-agent [OPTION...]           run until stopped\n"
                  "       orb-agent join LINE [OPTION...] only enrol with a coordinator\n"
                  "       orb-agent status [OPTION...]    what was asked, done and refused\n\n"
                  "Crawls for a coordinator, within what the owner of this machine allows.\n\noptions\n");
    for (conf_id id = 0; id < CONF_COUNT; id++)
        if (!conf_table[id].is_hidden)
            put_option(out, &conf_table[id]);
    buf_puts(out, "Flags can be turned off with --no-NAME.\n");
}

void conf_sample(struct buf *out)
{
    buf_puts(out, "# Settings of orb-agent: " CONF_FILE_DEFAULT ", or the file named by --config or ORB_AGENT_CONFIG.\n"
                  "# One NAME = VALUE a line; # starts a comment line. A command-line option or an\n"
                  "# environment variable (ORB_AGENT_NAME) is stronger than this file. Settings that take\n"
                  "# lists may be given several times. Values shown are the defaults. A coordinator\n"
                  "# cannot change anything in here.\n");
    for (conf_id id = 0; id < CONF_COUNT; id++) {
        const struct conf_def *d = &conf_table[id];
        if (!d->is_setting || d->is_hidden)
            continue;
        buf_puts(out, "\n# ");
        put_wrapped(out, d->help, 2, 2, "# ");
        buf_printf(out, "#%s = %s\n", d->name, d->value ? d->value : d->arg);
    }
}
