#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "lab/map/lab.h"
#include "lab/map/lab_world.h"

#define WORDS_MAX 64
#define WORLDS_MAX 8
#define DNS_RTT_DEFAULT_MS 1.0

/* Places must be known before paths: the lines are gone through twice. */
typedef enum pass { PASS_PLACES, PASS_PATHS } pass;

struct reader {
    struct lab *lab;
    const char *dir; /* borrowed */
    pass pass;
    struct lab_world worlds[WORLDS_MAX];
    size_t world_count, world_at;
    struct span words[WORDS_MAX];
    size_t n;
    struct buf *why;
};

/* ---- small things ---- */

static status fail(struct reader *r, status st, const char *fmt, ...) PRINTF_LIKE(3, 4);
static status fail(struct reader *r, status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(r->why, fmt, ap);
    va_end(ap);
    return st;
}

static struct span lower(struct arena *a, struct span s)
{
    struct span c = arena_copy(a, s);
    for (size_t i = 0; i < c.n; i++)
        ((char *)(uintptr_t)c.p)[i] = ascii_lower(c.p[i]);
    return c;
}

static void path_in(struct reader *r, struct span name, struct buf *out)
{
    if (r->dir[0] && name.n && name.p[0] != '/')
        buf_printf(out, "%s/", r->dir);
    buf_put(out, name);
}

/* "key=value"; false: another key, or none. */
static bool option(struct span word, const char *name, struct span *value)
{
    struct span k = span_str(name);
    if (word.n <= k.n || !span_starts(word, k) || word.p[k.n] != '=')
        return false;
    *value = span_from(word, k.n + 1);
    return true;
}

static status number_option(struct reader *r, struct span value, uint64_t max, uint64_t *out)
{
    return span_u64(value, max, out)
               ? ST_OK
               : fail(r, ST_INVALID, "\"%.*s\" is no number up to %llu", SPAN_ARG(value), (unsigned long long)max);
}

/* ---- place NAME[@NODE] ADDR[/BITS]... ---- */

/* 192.0.2.0/24 stands for the network and, as its host, 192.0.2.1; 192.0.2.7/24 has its host; 192.0.2.7 is alone. */
static bool parse_prefix(struct span text, struct network *net, struct addr *host)
{
    size_t slash = span_find(text, '/', 0);
    uint64_t bits;
    struct addr a;
    if (addr_parse(span_cut(text, 0, slash), &a) != ST_OK)
        return false;
    unsigned whole = a.family == 4 ? 32 : 128;
    if (slash == text.n)
        bits = whole;
    else if (!span_u64(span_from(text, slash + 1), whole, &bits))
        return false;
    *net = (struct network){.first = a, .bits = (uint8_t)bits};
    *host = a;
    for (unsigned i = 0; i < whole; i++) {
        if (i >= bits)
            net->first.b[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
    }
    if (bits < whole && addr_eq(&net->first, &a))
        host->b[whole / 8 - 1] |= 1;
    return true;
}

static status on_place(struct reader *r)
{
    if (r->n < 3)
        return fail(r, ST_INVALID, "place NAME[@NODE] ADDRESS[/BITS]...");
    struct span name = r->words[1];
    size_t at = span_find(name, '@', 0);
    struct span node = span_from(name, at + 1);
    unsigned place;
    status st = map_add_place(r->lab->map, span_cut(name, 0, at), node, &place);
    if (st != ST_OK)
        return fail(r, st, "place %.*s: %s", SPAN_ARG(name), status_name(st));
    for (size_t i = 2; i < r->n; i++) {
        struct network net;
        struct addr host;
        if (!parse_prefix(r->words[i], &net, &host))
            return fail(r, ST_INVALID, "%.*s is no address", SPAN_ARG(r->words[i]));
        st = map_add_prefix(r->lab->map, place, &net, &host);
        if (st != ST_OK)
            return fail(r, st, "%.*s: %s", SPAN_ARG(r->words[i]), status_name(st));
    }
    return ST_OK;
}

/* ---- rtt, loss, bandwidth, matrix ---- */

static status on_rtt(struct reader *r)
{
    return lab_rtt(r->lab->map, r->words, r->n, r->why);
}

static status on_loss(struct reader *r)
{
    return lab_loss(r->lab->map, r->words, r->n, r->why);
}

static status on_bandwidth(struct reader *r)
{
    return lab_bandwidth(r->lab->map, r->words, r->n, r->why);
}

static status on_matrix(struct reader *r)
{
    if (r->n != 2)
        return fail(r, ST_INVALID, "matrix FILE");
    struct buf path = {0};
    path_in(r, r->words[1], &path);
    status st = lab_matrix_file(r->lab->map, buf_cstr(&path), r->why);
    buf_done(&path);
    return st;
}

/* ---- world DIR [agents=N] [sites=N] [hq=AGENT] [dns-rtt=MS] ---- */

static status find_agent(struct reader *r, const struct world *w, struct span name, size_t *out)
{
    for (size_t i = 0; i < world_agent_count(w); i++) {
        if (span_eq(world_agent(w, i)->name, name)) {
            *out = i;
            return ST_OK;
        }
    }
    return fail(r, ST_NOT_FOUND, "the world has no agent %.*s", SPAN_ARG(name));
}

static status world_option(struct reader *r, struct lab_world *w, struct span word)
{
    struct span value;
    uint64_t n;
    status st;
    if (option(word, "agents", &value)) {
        st = number_option(r, value, MAP_NODES_MAX, &n);
        if (st == ST_OK)
            w->agents = n;
    } else if (option(word, "sites", &value)) {
        st = number_option(r, value, LAB_SITES_MAX, &n);
        if (st == ST_OK)
            w->sites = n;
    } else if (option(word, "hq", &value)) {
        st = find_agent(r, w->world, value, &w->hq);
    } else if (option(word, "dns-rtt", &value)) {
        st = lab_number(value, MAP_RTT_MAX_MS, &w->dns_rtt_ms) ? ST_OK : fail(r, ST_INVALID, "dns-rtt=MILLISECONDS");
    } else {
        st = fail(r, ST_INVALID, "a world has no option %.*s", SPAN_ARG(word));
    }
    return st;
}

static status on_world(struct reader *r)
{
    if (r->pass == PASS_PATHS)
        return lab_world_paths(r->lab, &r->worlds[r->world_at++], r->why);
    if (r->n < 2)
        return fail(r, ST_INVALID, "world FOLDER [agents=N] [sites=N] [hq=AGENT] [dns-rtt=MS]");
    if (r->world_count == WORLDS_MAX)
        return fail(r, ST_LIMIT, "more than %d worlds", WORLDS_MAX);
    struct lab_world *w = &r->worlds[r->world_count];
    *w = (struct lab_world){.agents = SIZE_MAX, .sites = SIZE_MAX, .dns_rtt_ms = DNS_RTT_DEFAULT_MS};
    struct buf path = {0};
    path_in(r, r->words[1], &path);
    status st = world_load(buf_cstr(&path), &w->world, r->why);
    buf_done(&path);
    if (st == ST_OK)
        r->world_count++;
    for (size_t i = 2; st == ST_OK && i < r->n; i++)
        st = world_option(r, w, r->words[i]);
    return st == ST_OK ? lab_world_places(r->lab, w, r->why) : st;
}

/* ---- site, name, dns, seed ---- */

static status add_name(struct reader *r, struct span host, const struct addr *a, int place)
{
    struct lab *l = r->lab;
    if (l->name_count == LAB_NAMES_MAX)
        return fail(r, ST_LIMIT, "more than %d names", LAB_NAMES_MAX);
    l->names = mem_grow(l->names, &l->name_cap, l->name_count + 1, sizeof(*l->names));
    l->names[l->name_count++] = (struct lab_name){host, *a, place};
    return ST_OK;
}

static status spot_word(struct reader *r, struct span host, struct span value)
{
    struct spot spot;
    if (!lab_spot_parse(value, &spot))
        return fail(r, ST_INVALID, "loc=LATITUDE,LONGITUDE, in degrees");
    lab_add_spot(r->lab, host, spot);
    return ST_OK;
}

static status site_word(struct reader *r, struct lab_site *s, struct span word)
{
    struct span value;
    struct addr a;
    bool is_option;
    if (option(word, "loc", &value))
        return spot_word(r, s->host, value);
    status st = lab_site_option(s, word, &is_option, r->why);
    if (st != ST_OK || is_option)
        return st;
    if (addr_parse(word, &a) != ST_OK)
        return fail(r, ST_INVALID, "%.*s is no address", SPAN_ARG(word));
    unsigned place;
    if (!map_at(r->lab->map, &a, &place))
        return fail(r, ST_NOT_FOUND, "no place has %.*s", SPAN_ARG(word));
    struct addr *mine = a.family == 4 ? &s->addr4 : &s->addr6;
    if (mine->family)
        return fail(r, ST_EXISTS, "a site has one address of a family");
    *mine = a;
    return add_name(r, s->host, &a, -1);
}

static status on_site(struct reader *r)
{
    if (r->n < 3)
        return fail(r, ST_INVALID,
                    "site HOST ADDRESS... [pages=N] [bytes=N] [think=MS] [change=PER_DAY] [errors=PERCENT] "
                    "[limit=PER_S] [loc=LAT,LON]");
    struct lab *l = r->lab;
    if (l->site_count == LAB_SITES_MAX)
        return fail(r, ST_LIMIT, "more than %d sites", LAB_SITES_MAX);
    struct lab_site s = lab_site_default();
    s.host = lower(&l->arena, r->words[1]);
    for (size_t i = 2; i < r->n; i++) {
        status st = site_word(r, &s, r->words[i]);
        if (st != ST_OK)
            return st;
    }
    l->sites = mem_grow(l->sites, &l->site_cap, l->site_count + 1, sizeof(*l->sites));
    l->sites[l->site_count++] = s;
    return ST_OK;
}

static status on_name(struct reader *r)
{
    struct span host = r->n > 1 ? lower(&r->lab->arena, r->words[1]) : (struct span){0}, value;
    int place = -1;
    size_t end = r->n;
    for (; end > 2; end--) { /* options come last */
        unsigned from;
        if (option(r->words[end - 1], "from", &value)) {
            if (!map_find(r->lab->map, value, &from))
                return fail(r, ST_NOT_FOUND, "no place is called %.*s", SPAN_ARG(value));
            place = (int)from;
        } else if (option(r->words[end - 1], "loc", &value)) {
            status st = spot_word(r, host, value);
            if (st != ST_OK)
                return st;
        } else {
            break;
        }
    }
    if (end < 3)
        return fail(r, ST_INVALID, "name HOST ADDRESS... [from=PLACE] [loc=LAT,LON]");
    for (size_t i = 2; i < end; i++) {
        struct addr a;
        if (addr_parse(r->words[i], &a) != ST_OK)
            return fail(r, ST_INVALID, "%.*s is no address", SPAN_ARG(r->words[i]));
        status st = add_name(r, host, &a, place);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static status on_dns(struct reader *r)
{
    if (r->n != 2 || addr_parse(r->words[1], &r->lab->dns) != ST_OK)
        return fail(r, ST_INVALID, "dns ADDRESS");
    return ST_OK;
}

static status on_seed(struct reader *r)
{
    if (r->n != 2 || !span_u64(r->words[1], UINT64_MAX, &r->lab->seed))
        return fail(r, ST_INVALID, "seed NUMBER");
    return ST_OK;
}

/* ---- the file ---- */

static const struct verb {
    const char *name;
    bool in[2]; /* pass */
    status (*fn)(struct reader *r);
} verbs[] = {
    {"place", {true, false}, on_place},
    {"world", {true, true}, on_world},
    {"rtt", {false, true}, on_rtt},
    {"loss", {false, true}, on_loss},
    {"bandwidth", {false, true}, on_bandwidth},
    {"matrix", {false, true}, on_matrix},
    {"site", {false, true}, on_site},
    {"name", {false, true}, on_name},
    {"dns", {true, false}, on_dns},
    {"seed", {true, false}, on_seed},
};

static void cut_words(struct reader *r, struct span line, bool *is_long)
{
    r->n = 0;
    *is_long = false;
    line = span_cut(line, 0, span_find(line, '#', 0));
    for (size_t at = 0; at < line.n;) {
        while (at < line.n && ascii_is_space(line.p[at]))
            at++;
        size_t start = at;
        while (at < line.n && !ascii_is_space(line.p[at]))
            at++;
        if (at == start)
            break;
        *is_long = r->n == WORDS_MAX;
        if (*is_long)
            break;
        r->words[r->n++] = span_cut(line, start, at - start);
    }
}

static status do_line(struct reader *r, struct span line)
{
    bool is_long;
    cut_words(r, line, &is_long);
    if (is_long)
        return fail(r, ST_LIMIT, "more than %d words in a line", WORDS_MAX);
    if (r->n == 0)
        return ST_OK;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
        if (span_is(r->words[0], verbs[i].name))
            return verbs[i].in[r->pass] ? verbs[i].fn(r) : ST_OK;
    }
    return fail(r, ST_INVALID,
                "a line begins with place, world, rtt, matrix, loss, bandwidth, site, name, dns or seed");
}

static status do_pass(struct reader *r, struct span text, size_t *line_number)
{
    status st = ST_OK;
    struct span line;
    *line_number = 0;
    while (st == ST_OK && text.n && span_split(&text, '\n', &line)) {
        ++*line_number;
        st = do_line(r, line);
    }
    return st;
}

static status parse(struct span text, const char *dir, const char *label, struct lab *out, struct buf *why)
{
    struct lab l = {.map = map_new(), .seed = 1};
    struct buf what = {0};
    struct reader r = {.lab = &l, .dir = dir, .why = &what};
    size_t line = 0;
    arena_init(&l.arena);
    status st = do_pass(&r, text, &line);
    if (st == ST_OK && map_node_count(l.map) == 0) {
        buf_puts(&what, "no places");
        st = ST_INVALID;
    }
    if (st == ST_OK) {
        map_seal(l.map);
        r.pass = PASS_PATHS;
        st = do_pass(&r, text, &line);
    }
    for (size_t i = 0; i < r.world_count; i++)
        world_free(r.worlds[i].world);
    if (st == ST_OK) {
        *out = l;
    } else {
        buf_printf(why, "%s:%zu: ", label, line);
        buf_put(why, buf_span(&what));
        lab_done(&l);
    }
    buf_done(&what);
    return st;
}

status lab_parse(struct span text, const char *dir, struct lab *out, struct buf *why)
{
    return parse(text, dir, "line", out, why);
}

status lab_load(const char *path, struct lab *out, struct buf *why)
{
    struct stat s;
    struct buf text = {0}, dir = {0};
    status st = ST_OK;
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        buf_puts(&text, "world .\n");
        buf_puts(&dir, path);
    } else {
        const char *slash = strrchr(path, '/');
        buf_put(&dir, slash ? span_of(path, slash == path ? 1 : (size_t)(slash - path)) : (struct span){0});
        st = lab_read(path, &text);
        if (st != ST_OK)
            buf_printf(why, "read %s: %s", path, st == ST_IO ? strerror(errno) : status_name(st));
    }
    if (st == ST_OK)
        st = parse(buf_span(&text), buf_cstr(&dir), path, out, why);
    buf_done(&text);
    buf_done(&dir);
    return st;
}

void lab_done(struct lab *l)
{
    map_free(l->map);
    free(l->sites);
    free(l->names);
    free(l->spots);
    arena_done(&l->arena);
    *l = (struct lab){0};
}
