#include "sim/world_make.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "codec/zip.h"
#include "sim/draw.h"
#include "sim/world.h"
#include "sim/world_model.h"
#include "sim/world_nets.h"
#include "store/file.h"

#define REPLICAS 24
#define ANYCAST_MS 1.0     /* of a matrix world */
#define ACCESS_SITE_MS 4.0 /* of a matrix world: as the model's */
#define PAGES_MAX 20000
#define PLOTS_A_SITE 20       /* most sites are alone in their network in small worlds ... */
#define PLOTS_MANY 200000     /* ... and share it in large ones: from here on one for two sites */
#define PACK_FROM (16u << 20) /* networks.tsv is packed when it is larger */
#define FLUSH_BYTES (1u << 20)
#define REDRAWS_MAX 1000
#define TELL_EVERY 4096

struct maker {
    const struct world_make_opts *opts;
    struct places places;
    struct nets *nets;
    struct model *model; /* NULL: there is a matrix */
    uint32_t *agent_place;
    struct buf *agent_name;
    struct addr *agent_addr;
    bool has_rtt; /* rtt.tsv is written */
    struct world_make_figures figures;
};

/* ---- files ---- */

struct out_file {
    int fd;
    struct buf text;
    status st;
    int err;
};

static status failed(struct buf *why, const char *dir, const char *name, int err)
{
    log_escape(why, span_str(dir), 4096);
    buf_printf(why, "/%s: %s", name, strerror(err));
    return err == ENOSPC || err == EDQUOT ? ST_FULL : ST_IO;
}

static struct out_file out_open(const char *dir, const char *name)
{
    struct out_file f = {.st = ST_OK};
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    f.fd = open(buf_cstr(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (f.fd < 0) {
        f.st = ST_IO;
        f.err = errno;
    }
    buf_done(&path);
    return f;
}

static void out_flush(struct out_file *f)
{
    if (f->st == ST_OK) {
        f->st = file_write_all(f->fd, buf_span(&f->text));
        f->err = errno;
    }
    buf_clear(&f->text);
}

static void out_some(struct out_file *f)
{
    if (f->text.n >= FLUSH_BYTES)
        out_flush(f);
}

static status out_close(struct out_file *f, const char *dir, const char *name, struct buf *why)
{
    out_flush(f);
    if (f->fd >= 0 && close(f->fd) != 0 && f->st == ST_OK) {
        f->st = ST_IO;
        f->err = errno;
    }
    buf_done(&f->text);
    return f->st == ST_OK ? ST_OK : failed(why, dir, name, f->err);
}

/* ---- agents ---- */

/* Letters from U+00C0 on without their marks; '-': none. */
static const char plain_letters[] = "AAAAAAACEEEEIIIIDNOOOOO-OUUUUYTsaaaaaaaceeeeiiiidnooooo-ouuuuyty"
                                    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLlNnNnNnnNn"
                                    "OoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

/* Names are what agents may be called: ASCII letters, without spaces, since they are columns of tables too. */
static void put_agent_name(const struct maker *m, size_t i, struct buf *out)
{
    const struct place_spot *place = &m->places.list[m->agent_place[i]];
    struct span name = place->name;
    size_t begin = out->n;
    for (size_t at = 0; at < name.n;) {
        bool is_valid;
        uint32_t code = utf8_next(name, &at, &is_valid);
        if (code < 0x80 && (ascii_is_alpha((char)code) || ascii_is_digit((char)code) || code == '-'))
            buf_putc(out, (char)code);
        else if (code >= 0xc0 && code - 0xc0 < sizeof(plain_letters) - 1 && plain_letters[code - 0xc0] != '-')
            buf_putc(out, plain_letters[code - 0xc0]);
    }
    if (out->n == begin)
        buf_puts(out, place->country);
    size_t same = 0;
    for (size_t j = 0; j < i; j++)
        same += m->agent_place[j] == m->agent_place[i] ||
                span_eq(m->places.list[m->agent_place[j]].name, m->places.list[m->agent_place[i]].name);
    if (same)
        buf_printf(out, "%zu", same + 1);
}

/* The heaviest of a few: who offers an agent is more often in a large city than a site is. */
static size_t agent_place(const struct maker *m, struct rng *r, const bool *is_taken)
{
    size_t best = SIZE_MAX;
    for (int tries = 0, good = 0; good < 3 && (tries < 200 || best == SIZE_MAX); tries++) {
        size_t place = places_draw(&m->places, r);
        if (is_taken[place] && tries < 200)
            continue;
        good++;
        if (best == SIZE_MAX || places_weight(&m->places, place) > places_weight(&m->places, best))
            best = place;
    }
    return best;
}

static void place_agents(struct maker *m)
{
    size_t n = m->opts->agents;
    struct rng r = draw_for(m->opts->seed, DRAW_AGENTS, 0, 0);
    bool *is_taken = mem_alloc(m->places.count);
    m->agent_place = mem_alloc(n * sizeof(*m->agent_place));
    m->agent_name = mem_alloc(n * sizeof(*m->agent_name));
    m->agent_addr = mem_alloc(n * sizeof(*m->agent_addr));
    for (size_t i = 0; i < n; i++) {
        size_t place = agent_place(m, &r, is_taken);
        is_taken[place] = true;
        m->agent_place[i] = (uint32_t)place;
        put_agent_name(m, i, &m->agent_name[i]);
        const struct plot *p = nets_at(m->nets, place, &r);
        for (int tries = 0; !nets_address(m->nets, p, &r, &m->agent_addr[i]) && tries < 100; tries++)
            p = nets_at(m->nets, place, &r);
    }
    free(is_taken);
}

static struct model_place model_place_of(const struct maker *m, size_t place)
{
    struct model_place p = {.spot = m->places.list[place].spot};
    memcpy(p.country, m->places.list[place].country, sizeof(p.country));
    return p;
}

static void make_model(struct maker *m)
{
    struct model_opts o;
    struct rng r = draw_for(m->opts->seed, DRAW_REPLICA, 0, 0);
    model_defaults(m->opts->seed, &o);
    m->model = model_new(&o);
    for (int i = 0; i < REPLICAS; i++) {
        struct model_place p = model_place_of(m, places_draw(&m->places, &r));
        model_add_replica(m->model, &p);
    }
    for (size_t i = 0; i < m->opts->agents; i++) {
        struct model_place p = model_place_of(m, m->agent_place[i]);
        model_add_agent(m->model, buf_span(&m->agent_name[i]), &p);
    }
}

static void put_spot(struct buf *out, const struct place_spot *p)
{
    buf_printf(out, "%s\t%.4f\t%.4f", p->country, (double)p->spot.latitude, (double)p->spot.longitude);
}

static status write_agents(const struct maker *m, const char *dir, struct buf *why)
{
    struct out_file f = out_open(dir, "agents.tsv");
    buf_puts(&f.text, "name\tip\tcountry\tlat\tlon\n");
    for (size_t i = 0; i < m->opts->agents; i++) {
        char addr[ADDR_TEXT_MAX];
        buf_put(&f.text, buf_span(&m->agent_name[i]));
        buf_printf(&f.text, "\t%s\t", addr_format(&m->agent_addr[i], addr));
        put_spot(&f.text, &m->places.list[m->agent_place[i]]);
        buf_putc(&f.text, '\n');
    }
    return out_close(&f, dir, "agents.tsv", why);
}

static void put_hundredths(struct buf *out, uint32_t v)
{
    char digits[16];
    size_t n = sizeof(digits);
    digits[--n] = (char)('0' + v % 10);
    digits[--n] = (char)('0' + v / 10 % 10);
    digits[--n] = '.';
    v /= 100;
    do
        digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    buf_put(out, span_of(digits + n, sizeof(digits) - n));
}

static uint32_t matrix_hundredths(const struct maker *m, size_t a, size_t b)
{
    double ms = (double)m->places.ms[a * m->places.count + b];
    return ms < 0 ? UINT32_MAX : (uint32_t)(ms * 100 + 0.5);
}

static uint32_t between_agents(const struct maker *m, size_t a, size_t b)
{
    if (m->model)
        return model_between_agents(m->model, a, b);
    uint32_t v = matrix_hundredths(m, m->agent_place[a], m->agent_place[b]);
    return v == UINT32_MAX ? 99900 : v;
}

static void put_agent_head(const struct maker *m, const char *first, struct buf *out)
{
    buf_puts(out, first);
    for (size_t i = 0; i < m->opts->agents; i++) {
        buf_putc(out, '\t');
        buf_put(out, buf_span(&m->agent_name[i]));
    }
    buf_putc(out, '\n');
}

static status write_agent_rtt(const struct maker *m, const char *dir, struct buf *why)
{
    struct out_file f = out_open(dir, "agent_rtt.tsv");
    put_agent_head(m, "agent", &f.text);
    for (size_t i = 0; i < m->opts->agents; i++) {
        buf_put(&f.text, buf_span(&m->agent_name[i]));
        for (size_t j = 0; j < m->opts->agents; j++) {
            buf_putc(&f.text, '\t');
            put_hundredths(&f.text, between_agents(m, i, j));
        }
        buf_putc(&f.text, '\n');
        out_some(&f);
    }
    return out_close(&f, dir, "agent_rtt.tsv", why);
}

/* ---- sites ---- */

struct site {
    const struct plot *plot;
    struct addr addr, addr6;
    struct buf host;
    uint32_t pages, bytes;
    double changes, importance;
};

/* Every agent has a known round trip to the place. */
static bool is_reachable(const struct maker *m, size_t place)
{
    if (m->model)
        return true;
    for (size_t i = 0; i < m->opts->agents; i++)
        if (matrix_hundredths(m, m->agent_place[i], place) == UINT32_MAX)
            return false;
    return true;
}

static bool draw_site(struct maker *m, struct rng *r, size_t number, struct site *s)
{
    bool is_good = false;
    for (int tries = 0; !is_good && tries < REDRAWS_MAX; tries++) {
        s->plot = nets_plot(m->nets, rng_below(r, nets_count(m->nets)));
        is_good = is_reachable(m, s->plot->place) && nets_address(m->nets, s->plot, r, &s->addr);
    }
    if (!is_good)
        return false;
    s->addr6 = nets_address6(s->plot, r);
    buf_clear(&s->host);
    buf_printf(&s->host, "site%zu.%c%c.example", number, s->plot->country[0] | 0x20, s->plot->country[1] | 0x20);
    double pages = 8 * draw_pareto(r, 1.1);
    s->pages = pages > PAGES_MAX ? PAGES_MAX : (uint32_t)pages;
    s->bytes = (uint32_t)draw_lognormal(r, 10.2, 0.8);
    s->changes = draw_lognormal(r, -1.5, 1.6);
    s->importance = draw_pareto(r, 1.3);
    return true;
}

static void put_site(const struct maker *m, const struct site *s, struct buf *out)
{
    char text[ADDR_TEXT_MAX];
    buf_put(out, buf_span(&s->host));
    buf_printf(out, "\t%s\t", addr_format(&s->addr, text));
    put_spot(out, &m->places.list[s->plot->place]);
    buf_putc(out, '\t');
    nets_holder_name(m->nets, s->plot, out);
    buf_printf(out, "\t%u\t%u\t%.4f\t%.2f\t%d\t%s\n", s->pages, s->bytes, s->changes, s->importance,
               s->plot->is_anycast, s->addr6.family ? addr_format(&s->addr6, text) : "");
}

static uint32_t matrix_anycast(const struct maker *m, size_t agent)
{
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < m->places.count; i++) {
        uint32_t v = matrix_hundredths(m, m->agent_place[agent], i);
        best = v < best ? v : best;
    }
    return best + (uint32_t)(ANYCAST_MS * 100);
}

static void put_rtt_row(struct maker *m, const struct site *s, struct buf *out)
{
    const uint32_t *paths = NULL;
    uint32_t access;
    if (m->model) {
        struct model_place p = model_place_of(m, s->plot->place);
        paths = model_paths(m->model, s->plot->is_anycast ? MODEL_EVERYWHERE : model_place(m->model, &p));
        access = model_access_site(m->model, buf_span(&s->host));
    } else {
        struct rng r = draw_for(m->opts->seed, DRAW_ACCESS_SITE, draw_hash(m->opts->seed, buf_span(&s->host)), 0);
        access = (uint32_t)(draw_exponential(&r, ACCESS_SITE_MS) * 100 + 0.5);
    }
    buf_put(out, buf_span(&s->host));
    for (size_t i = 0; i < m->opts->agents; i++) {
        uint32_t v = paths                 ? paths[i] + model_access_agent(m->model, i)
                     : s->plot->is_anycast ? matrix_anycast(m, i)
                                           : matrix_hundredths(m, m->agent_place[i], s->plot->place);
        buf_putc(out, '\t');
        put_hundredths(out, v + access);
    }
    buf_putc(out, '\n');
}

static status write_sites(struct maker *m, const char *dir, struct buf *why)
{
    struct out_file sites = out_open(dir, "sites.tsv"), rtt = {.fd = -1, .st = ST_OK};
    struct site s = {0};
    struct rng r = draw_for(m->opts->seed, DRAW_SITES, 0, 0);
    status st = ST_OK, closed;
    if (m->has_rtt) {
        rtt = out_open(dir, "rtt.tsv");
        put_agent_head(m, "host", &rtt.text);
    }
    buf_puts(&sites.text, "host\tip\tcountry\tlat\tlon\tholder\tpages\tbytes_per_page\tchanges_per_day\timportance\t"
                          "anycast\taddr6\n");
    for (size_t i = 0; st == ST_OK && i < m->opts->sites; i++) {
        if (!draw_site(m, &r, i, &s)) {
            buf_puts(why, "no network has a place that every agent reaches: is the matrix too thin?");
            st = ST_INVALID;
            break;
        }
        put_site(m, &s, &sites.text);
        m->figures.sites6 += s.addr6.family != 0;
        m->figures.anycast += s.plot->is_anycast;
        if (m->has_rtt)
            put_rtt_row(m, &s, &rtt.text);
        out_some(&sites);
        out_some(&rtt);
        if (m->opts->tell && i % TELL_EVERY == 0)
            m->opts->tell(m->opts->arg, i, m->opts->sites);
        if (sites.st != ST_OK || rtt.st != ST_OK)
            break;
    }
    buf_done(&s.host);
    closed = out_close(&sites, dir, "sites.tsv", st == ST_OK ? why : &(struct buf){0});
    st = st == ST_OK ? closed : st;
    if (!m->has_rtt)
        return st;
    closed = out_close(&rtt, dir, "rtt.tsv", st == ST_OK ? why : &(struct buf){0});
    return st == ST_OK ? closed : st;
}

/* ---- networks, model ---- */

static status write_networks(const struct maker *m, const char *dir, struct buf *why)
{
    struct buf text = {0}, packed = {0};
    nets_write(m->nets, &text);
    bool is_packed = text.n > PACK_FROM;
    const char *name = is_packed ? "networks.tsv.zst" : "networks.tsv";
    if (is_packed)
        zip_zstd(buf_span(&text), 6, &packed);
    struct out_file f = out_open(dir, name);
    f.text = is_packed ? packed : text;
    if (is_packed)
        buf_done(&text);
    return out_close(&f, dir, name, why);
}

static status write_model(const struct maker *m, const char *dir, struct buf *why)
{
    struct out_file f = out_open(dir, "model.tsv");
    model_write(m->model, &f.text);
    return out_close(&f, dir, "model.tsv", why);
}

/* ---- all of it ---- */

static status prepare_dir(const char *dir, struct buf *why)
{
    struct buf path = {0};
    status st = file_mkdir(dir);
    if (st != ST_OK) {
        buf_printf(why, "%s: %s", dir, strerror(errno));
        return st;
    }
    buf_printf(&path, "%s/sites.tsv", dir);
    if (access(buf_cstr(&path), F_OK) == 0) {
        buf_printf(why, "%s: there is a world in it", dir);
        st = ST_EXISTS;
    }
    buf_done(&path);
    return st;
}

static status find_places(struct maker *m, struct buf *why)
{
    const struct world_make_opts *o = m->opts;
    uint64_t cells = (uint64_t)o->agents * o->sites, max = o->matrix_max ? o->matrix_max : WORLD_MAKE_MATRIX_MAX;
    if (o->agents == 0 || o->agents > WORLD_AGENTS_MAX || o->sites == 0 || o->sites > WORLD_SITES_MAX) {
        buf_printf(why, "1 to %d agents and 1 to %d sites are possible", WORLD_AGENTS_MAX, WORLD_SITES_MAX);
        return ST_LIMIT;
    }
    m->has_rtt = cells <= max;
    if (!o->matrix) {
        places_from_cities(o->cities, &m->places);
        return ST_OK;
    }
    if (!m->has_rtt) {
        buf_printf(why, "with a matrix up to %llu round trips are possible", (unsigned long long)max);
        return ST_LIMIT;
    }
    return places_from_matrix(o->matrix, o->nodes, o->cities, &m->places, why);
}

static status find_networks(struct maker *m, struct buf *why)
{
    const struct world_make_opts *o = m->opts;
    if (o->hierarchy) {
        status st = nets_of_hierarchy(&m->places, o->seed, o->hierarchy, &m->nets);
        if (st != ST_OK)
            buf_puts(why, "no network with a holder lies in a country that has places");
        return st;
    }
    m->nets = nets_made_up(&m->places, o->seed);
    size_t wanted = o->sites * PLOTS_A_SITE, many = PLOTS_MANY + o->sites / 2;
    nets_grow(m->nets, wanted < many ? wanted : many);
    return ST_OK;
}

status world_make(const struct world_make_opts *o, const char *dir, struct world_make_figures *out, struct buf *why)
{
    struct maker m = {.opts = o};
    arena_init(&m.places.text);
    status st = prepare_dir(dir, why);
    if (st == ST_OK)
        st = find_places(&m, why);
    if (st == ST_OK)
        st = find_networks(&m, why);
    if (st == ST_OK) {
        place_agents(&m);
        if (!o->matrix)
            make_model(&m);
        st = write_agents(&m, dir, why);
    }
    if (st == ST_OK && m.has_rtt)
        st = write_agent_rtt(&m, dir, why);
    if (st == ST_OK && !m.has_rtt)
        st = write_model(&m, dir, why);
    if (st == ST_OK)
        st = write_networks(&m, dir, why);
    if (st == ST_OK)
        st = write_sites(&m, dir, why); /* last: it is what makes the folder a world */
    m.figures.places = m.places.count;
    m.figures.plots = m.nets ? nets_count(m.nets) : 0;
    m.figures.has_model = !m.has_rtt;
    if (st == ST_OK)
        *out = m.figures;
    for (size_t i = 0; m.agent_name && i < o->agents; i++)
        buf_done(&m.agent_name[i]);
    free(m.agent_name);
    free(m.agent_place);
    free(m.agent_addr);
    model_free(m.model);
    nets_free(m.nets);
    places_done(&m.places);
    return st;
}
