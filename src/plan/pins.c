#include "plan/pins.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "place/holder.h"
#include "web/url.h"

#define NAME_MAX_BYTES 256u /* of a word */

/* In the order of precision. */
typedef enum pin_kind { PIN_SITE, PIN_NETWORK, PIN_HOLDER, PIN_COUNTRY, PIN_ALL } pin_kind;
static const char kind_names[][8] = {"site", "network", "holder", "country", "all"};

/* An agent, the agents of a country, or those of a group. */
struct target {
    enum { TO_AGENT, TO_COUNTRY, TO_GROUP } kind;
    struct span name; /* in the arena */
};

struct targets {
    struct target *list; /* in the arena */
    size_t count;
};

struct pin {
    pin_kind kind;
    struct span key; /* in the arena: the host, the folded holder, the country; bits and bytes of a network */
    struct targets to;
    struct span text;
    unsigned line;
};

struct group {
    struct span name;
    struct targets members;
    struct span text;
    unsigned line;
};

struct pins {
    struct arena arena;
    struct pin *pins; /* owned, by kind and key */
    size_t count, cap;
    struct group *groups; /* owned */
    size_t group_count, group_cap;
};

/* ---- groups that are always there ---- */

/* ISO 3166 codes by continent, as GeoNames has them; the members of the European Union. */
static const struct {
    const char *name, *countries;
} built_in[] = {
    {"africa", "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW "
               "MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW"},
    {"antarctica", "AQ BV GS HM TF"},
    {"asia", "AE AF AM AZ BD BH BN BT CC CN CX GE HK ID IL IN IO IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY "
             "NP OM PH PK PS QA SA SG SY TH TJ TM TR TW UZ VN YE"},
    {"eu", "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK"},
    {"europe", "AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC "
               "MD ME MK MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA XK"},
    {"north-america", "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM "
                      "PR SV SX TC TT US VC VG VI"},
    {"oceania", "AS AU CK FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TL TO TV UM VU WF WS"},
    {"south-america", "AR BO BR CL CO EC FK GF GY PE PY SR UY VE"},
};

static const char *built_in_countries(struct span group)
{
    for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++)
        if (span_is_nocase(group, built_in[i].name))
            return built_in[i].countries;
    return NULL;
}

static bool is_country(struct span s)
{
    return s.n == 2 && ascii_is_alpha(s.p[0]) && ascii_is_alpha(s.p[1]);
}

/* "country:DE" */
static bool country_of_name(struct span name, struct span *country)
{
    struct span prefix = SPAN("country:");
    if (!span_starts_nocase(name, prefix) || !is_country(span_from(name, prefix.n)))
        return false;
    *country = span_from(name, prefix.n);
    return true;
}

bool pins_group_has(struct span group, const char *country)
{
    struct span of, code = span_str(country);
    if (code.n != 2)
        return false;
    if (country_of_name(group, &of))
        return span_eq_nocase(of, code);
    const char *list = built_in_countries(group);
    for (; list && *list; list += list[2] ? 3 : 2)
        if (span_eq_nocase(span_of(list, 2), code))
            return true;
    return false;
}

/* ---- words ---- */

/* One line being read. */
struct reader {
    struct pins *p;
    struct span rest, text;
    unsigned line;
    struct buf *why;
};

static status complain(const struct reader *r, const char *what, struct span word)
{
    if (r->why) {
        buf_printf(r->why, "line %u: %s", r->line, what);
        if (word.n) {
            buf_puts(r->why, ": \"");
            buf_put(r->why, utf8_cut(word, 64));
            buf_putc(r->why, '"');
        }
    }
    return ST_INVALID;
}

static size_t mark_bytes(struct span s)
{
    if (s.n && (s.p[0] == ',' || s.p[0] == '='))
        return 1;
    return span_starts(s, SPAN("->")) ? 2 : 0;
}

/* The next of: a word, "a word in quotes", ",", "=", "->". Empty at the end of the line; quotes that do not end are a
 * word up to there. */
static struct span next_word(struct reader *r, bool *is_quoted)
{
    struct span s = r->rest = span_trim(r->rest);
    *is_quoted = s.n && s.p[0] == '"';
    if (*is_quoted) {
        size_t end = span_find(s, '"', 1);
        r->rest = span_from(s, end + 1);
        return span_cut(s, 1, end - 1);
    }
    size_t n = mark_bytes(s);
    if (n == 0)
        while (n < s.n && s.p[n] != '"' && !ascii_is_space(s.p[n]) && !mark_bytes(span_from(s, n)))
            n++;
    r->rest = span_from(s, n);
    return span_cut(s, 0, n);
}

static bool is_mark(struct span word, bool is_quoted, const char *mark)
{
    return !is_quoted && span_is(word, mark);
}

static status read_name(struct reader *r, const char *missing, struct span *out)
{
    bool is_quoted;
    struct span word = next_word(r, &is_quoted);
    if (!word.n || (!is_quoted && mark_bytes(word)))
        return complain(r, missing, word);
    if (word.n > NAME_MAX_BYTES)
        return complain(r, "too long a name", word);
    if (!utf8_is_valid(word))
        return complain(r, "not UTF-8", (struct span){0});
    *out = word;
    return ST_OK;
}

static status expect(struct reader *r, const char *mark, const char *missing)
{
    bool is_quoted;
    struct span word = next_word(r, &is_quoted);
    return is_mark(word, is_quoted, mark) ? ST_OK : complain(r, missing, word);
}

/* ---- targets ---- */

static void keep_targets(struct pins *p, struct targets *to, const struct target *list, size_t count)
{
    to->count = count;
    to->list = arena_alloc(&p->arena, count * sizeof(*list));
    for (size_t i = 0; i < count; i++)
        to->list[i] = (struct target){list[i].kind, arena_copy(&p->arena, list[i].name)};
}

/* "geneva, milan, country:CH" when `is_group`, else "agent paris, group alps". */
static status read_targets(struct reader *r, bool is_group, struct targets *to)
{
    struct target list[PINS_NAMES_MAX];
    for (size_t count = 0; count < PINS_NAMES_MAX; count++) {
        struct span kind = SPAN("agent"), name, country;
        status st = is_group ? ST_OK : read_name(r, "agent or group expected", &kind);
        if (st == ST_OK && !span_is(kind, "agent") && !span_is(kind, "group"))
            st = complain(r, "neither agent nor group", kind);
        if (st == ST_OK)
            st = read_name(r, "name expected", &name);
        if (st != ST_OK)
            return st;
        list[count] = (struct target){span_is(kind, "group") ? TO_GROUP : TO_AGENT, name};
        if ((is_group || span_is(kind, "group")) && country_of_name(name, &country))
            list[count] = (struct target){TO_COUNTRY, country};
        bool is_quoted;
        struct span mark = next_word(r, &is_quoted);
        if (!mark.n && !is_quoted) {
            keep_targets(r->p, to, list, count + 1);
            return ST_OK;
        }
        if (!is_mark(mark, is_quoted, ","))
            return complain(r, "comma or end of line expected", mark);
    }
    (void)complain(r, "too many names", (struct span){0});
    return ST_LIMIT;
}

/* ---- lines ---- */

/* A name that only a URL could have. */
static bool has_url_marks(struct span name)
{
    for (size_t i = 0; i < name.n; i++)
        if (strchr("/\\?#@", name.p[i]))
            return true;
    return false;
}

static status host_key(struct reader *r, struct span name, struct span *key)
{
    struct arena scratch;
    struct buf text = {0};
    struct url u;
    arena_init(&scratch);
    buf_puts(&text, "http://");
    buf_put(&text, name);
    buf_putc(&text, '/');
    status st = url_parse(&scratch, buf_span(&text), NULL, &u);
    /* Only an IPv6 address has a colon; anything else with one has a port. */
    bool is_host = st == ST_OK && u.has_host && u.host.n && !has_url_marks(name) &&
                   (u.host.p[0] == '[' ? name.p[name.n - 1] == ']' : !memchr(name.p, ':', name.n));
    struct span host = is_host ? u.host : (struct span){0};
    if (host.n && host.p[host.n - 1] == '.')
        host.n--;
    if (host.n)
        *key = arena_copy(&r->p->arena, host);
    buf_done(&text);
    arena_done(&scratch);
    return host.n ? ST_OK : complain(r, "not a host", name);
}

/* Sorts by family and length, so that a search can go from small networks to large ones. */
static struct span network_key(struct arena *a, const struct network *n)
{
    char *key = arena_bytes(a, 2 + sizeof(n->first.b));
    key[0] = (char)n->first.family;
    key[1] = (char)n->bits;
    memcpy(key + 2, n->first.b, sizeof(n->first.b));
    return span_of(key, 2 + sizeof(n->first.b));
}

static status holder_key(struct reader *r, struct span name, struct span *key)
{
    struct buf folded = {0};
    holder_fold(name, &folded);
    bool has_name = folded.n > 0;
    if (has_name)
        *key = arena_copy(&r->p->arena, buf_span(&folded));
    buf_done(&folded);
    return has_name ? ST_OK : complain(r, "not a name", name);
}

static struct span upper_copy(struct arena *a, struct span s)
{
    char *p = arena_bytes(a, s.n);
    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_is_alpha(s.p[i]) ? (char)(s.p[i] & ~0x20) : s.p[i];
    return span_of(p, s.n);
}

static status read_key(struct reader *r, pin_kind kind, struct span *key)
{
    struct span name = {0};
    struct network n;
    *key = (struct span){0};
    if (kind == PIN_ALL)
        return ST_OK;
    status st = read_name(r, "name expected", &name);
    if (st != ST_OK)
        return st;
    if (kind == PIN_SITE)
        return host_key(r, name, key);
    if (kind == PIN_HOLDER)
        return holder_key(r, name, key);
    if (kind == PIN_COUNTRY && !is_country(name))
        return complain(r, "not a country of two letters", name);
    if (kind == PIN_NETWORK && network_parse(name, &n) != ST_OK)
        return complain(r, "not a network such as 192.0.2.0/24", name);
    *key = kind == PIN_COUNTRY ? upper_copy(&r->p->arena, name) : network_key(&r->p->arena, &n);
    return ST_OK;
}

static status read_pin(struct reader *r, pin_kind kind)
{
    struct pins *p = r->p;
    struct pin pin = {.kind = kind, .line = r->line};
    status st = read_key(r, kind, &pin.key);
    if (st == ST_OK)
        st = expect(r, "->", "-> expected");
    if (st == ST_OK)
        st = read_targets(r, false, &pin.to);
    if (st != ST_OK)
        return st;
    pin.text = arena_copy(&p->arena, r->text);
    p->pins = mem_grow(p->pins, &p->cap, p->count + 1, sizeof(*p->pins));
    p->pins[p->count++] = pin;
    return ST_OK;
}

static status read_group(struct reader *r)
{
    struct pins *p = r->p;
    struct group g = {.line = r->line};
    struct span name, country;
    status st = read_name(r, "name of a group expected", &name);
    if (st == ST_OK && (built_in_countries(name) || country_of_name(name, &country)))
        st = complain(r, "that group is always there", name);
    if (st == ST_OK)
        st = expect(r, "=", "= expected");
    if (st == ST_OK)
        st = read_targets(r, true, &g.members);
    if (st != ST_OK)
        return st;
    g.name = arena_copy(&p->arena, name);
    g.text = arena_copy(&p->arena, r->text);
    for (size_t i = 0; i < p->group_count; i++)
        if (span_eq(p->groups[i].name, g.name))
            return complain(r, "that group was there before", name);
    if (p->group_count == PINS_GROUPS_MAX) {
        (void)complain(r, "too many groups", (struct span){0});
        return ST_LIMIT;
    }
    p->groups = mem_grow(p->groups, &p->group_cap, p->group_count + 1, sizeof(*p->groups));
    p->groups[p->group_count++] = g;
    return ST_OK;
}

/* '#' begins a comment at the start of a line and after a blank, outside of quotes. */
static struct span without_comment(struct span line)
{
    bool is_quoted = false;
    for (size_t i = 0; i < line.n; i++) {
        is_quoted ^= line.p[i] == '"';
        if (line.p[i] == '#' && !is_quoted && (i == 0 || ascii_is_space(line.p[i - 1])))
            return span_cut(line, 0, i);
    }
    return line;
}

static status read_line(struct reader *r)
{
    struct span word;
    r->text = r->rest = span_trim(without_comment(r->text));
    if (!r->rest.n)
        return ST_OK;
    if (r->p->count + r->p->group_count == PINS_MAX) {
        (void)complain(r, "too many lines", (struct span){0});
        return ST_LIMIT;
    }
    status st = read_name(r, "site, network, holder, country, all or group expected", &word);
    if (st != ST_OK)
        return st;
    if (span_is(word, "group"))
        return read_group(r);
    for (size_t k = 0; k < sizeof(kind_names) / sizeof(*kind_names); k++)
        if (span_is(word, kind_names[k]))
            return read_pin(r, (pin_kind)k);
    return complain(r, "none of site, network, holder, country, all, group", word);
}

/* ---- the whole ---- */

static int pin_cmp(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return span_cmp(x->key, y->key);
}

static const struct group *group_get(const struct pins *p, struct span name)
{
    for (size_t i = 0; i < p->group_count; i++)
        if (span_eq(p->groups[i].name, name))
            return &p->groups[i];
    return NULL;
}

static status check_all(struct reader *r)
{
    struct pins *p = r->p;
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->pins[i].to.count; k++) {
            const struct target *t = &p->pins[i].to.list[k];
            r->line = p->pins[i].line;
            if (t->kind == TO_GROUP && !built_in_countries(t->name) && !group_get(p, t->name))
                return complain(r, "no such group", t->name);
        }
    if (p->count)
        qsort(p->pins, p->count, sizeof(*p->pins), pin_cmp);
    for (size_t i = 1; i < p->count; i++)
        if (pin_cmp(&p->pins[i - 1], &p->pins[i]) == 0) {
            r->line = p->pins[i].line > p->pins[i - 1].line ? p->pins[i].line : p->pins[i - 1].line;
            return complain(r, "said before", p->pins[i].text);
        }
    return ST_OK;
}

status pins_read(struct span text, struct pins **out, struct buf *why)
{
    struct pins *p = mem_alloc(sizeof(*p));
    struct reader r = {.p = p, .why = why};
    struct span rest = text;
    arena_init(&p->arena);
    status st = text.n > PINS_TEXT_MAX ? ST_LIMIT : ST_OK;
    if (st != ST_OK && why)
        buf_puts(why, "too long a text");
    while (st == ST_OK && span_split(&rest, '\n', &r.text)) {
        r.line++;
        st = read_line(&r);
    }
    if (st == ST_OK)
        st = check_all(&r);
    if (st == ST_OK)
        *out = p;
    else
        pins_free(p);
    return st;
}

void pins_free(struct pins *p)
{
    if (!p)
        return;
    arena_done(&p->arena);
    free(p->pins);
    free(p->groups);
    free(p);
}

size_t pins_count(const struct pins *p)
{
    return p->count;
}

/* ---- finding ---- */

static const struct pin *get(const struct pins *p, pin_kind kind, struct span key)
{
    struct pin wanted = {.kind = kind, .key = key};
    return p->count ? bsearch(&wanted, p->pins, p->count, sizeof(*p->pins), pin_cmp) : NULL;
}

static bool has_kind(const struct pins *p, pin_kind kind)
{
    size_t from = 0, to = p->count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (p->pins[mid].kind < kind)
            from = mid + 1;
        else
            to = mid;
    }
    return from < p->count && p->pins[from].kind == kind;
}

static const struct pin *find_site(const struct pins *p, struct span host)
{
    if (host.n && host.p[host.n - 1] == '.')
        host.n--;
    while (host.n) {
        const struct pin *pin = get(p, PIN_SITE, host);
        if (pin)
            return pin;
        host = span_from(host, span_find(host, '.', 0) + 1);
    }
    return NULL;
}

static const struct pin *find_network(const struct pins *p, const struct addr *addr)
{
    struct addr a = addr_unmapped(addr);
    char key[2 + sizeof(a.b)];
    if (!a.family || !has_kind(p, PIN_NETWORK))
        return NULL;
    key[0] = (char)a.family;
    for (int bits = a.family == 4 ? 32 : 128; bits >= 0; bits--) {
        if (bits < 128)
            a.b[bits / 8] &= (uint8_t)(0xff00 >> bits % 8);
        key[1] = (char)bits;
        memcpy(key + 2, a.b, sizeof(a.b));
        const struct pin *pin = get(p, PIN_NETWORK, span_of(key, sizeof(key)));
        if (pin)
            return pin;
    }
    return NULL;
}

static const struct pin *find_holder(const struct pins *p, struct span holder)
{
    struct buf folded = {0};
    if (!holder.n || !has_kind(p, PIN_HOLDER))
        return NULL;
    holder_fold(holder, &folded);
    const struct pin *pin = folded.n ? get(p, PIN_HOLDER, buf_span(&folded)) : NULL;
    buf_done(&folded);
    return pin;
}

static const struct pin *find_country(const struct pins *p, const char country[3])
{
    char upper[2];
    if (!is_country(span_str(country)))
        return NULL;
    upper[0] = (char)(country[0] & ~0x20);
    upper[1] = (char)(country[1] & ~0x20);
    return get(p, PIN_COUNTRY, span_of(upper, 2));
}

const struct pin *pins_find(const struct pins *p, const struct pin_site *s)
{
    const struct pin *pin = find_site(p, s->host);
    if (!pin)
        pin = find_network(p, &s->addr);
    if (!pin)
        pin = find_holder(p, s->holder);
    if (!pin)
        pin = find_country(p, s->country);
    return pin ? pin : get(p, PIN_ALL, (struct span){0});
}

struct span pin_text(const struct pin *pin)
{
    return pin->text;
}

unsigned pin_line(const struct pin *pin)
{
    return pin->line;
}

/* How much a line leaves open: the shorter a name or a prefix, the more. */
static size_t width(const struct pin *p)
{
    if (p->kind == PIN_SITE)
        return SIZE_MAX - p->key.n;
    return p->kind == PIN_NETWORK ? 128u - (unsigned char)p->key.p[1] : 0;
}

bool pin_is_before(const struct pin *a, const struct pin *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (width(a) != width(b))
        return width(a) < width(b);
    return a->line < b->line;
}

static bool is_member(const struct pins *p, const struct targets *to, const struct pin_agent *a)
{
    for (size_t i = 0; i < to->count; i++) {
        const struct target *t = &to->list[i];
        const struct group *g = t->kind == TO_GROUP ? group_get(p, t->name) : NULL;
        if (t->kind == TO_AGENT && span_eq(t->name, a->name))
            return true;
        if (t->kind == TO_COUNTRY && span_eq_nocase(t->name, span_str(a->country)))
            return true;
        if (g && is_member(p, &g->members, a)) /* groups have no groups in them */
            return true;
        if (t->kind == TO_GROUP && !g && pins_group_has(t->name, a->country))
            return true;
    }
    return false;
}

size_t pin_agents(const struct pins *p, const struct pin *pin, const struct pin_agent *agents, size_t count,
                  uint64_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (is_member(p, &pin->to, &agents[i]))
            out[n++] = agents[i].number;
    return n;
}

static void each_agent(const struct targets *to, struct span text, unsigned line, pins_name_fn *fn, void *arg)
{
    for (size_t i = 0; i < to->count; i++)
        if (to->list[i].kind == TO_AGENT)
            fn(arg, to->list[i].name, text, line);
}

void pins_each_agent(const struct pins *p, pins_name_fn *fn, void *arg)
{
    for (size_t i = 0; i < p->count; i++)
        each_agent(&p->pins[i].to, p->pins[i].text, p->pins[i].line, fn, arg);
    for (size_t i = 0; i < p->group_count; i++)
        each_agent(&p->groups[i].members, p->groups[i].text, p->groups[i].line, fn, arg);
}
