#include "lab/orders.h"

#include <stdio.h>

#include "codec/json.h"
#include "lab/map/lab_paths.h"

#define WORDS_MAX 8

struct words {
    struct span w[WORDS_MAX];
    size_t n;
};

static void cut_words(struct span line, struct words *out)
{
    struct span word;
    out->n = 0;
    while (line.n && out->n < WORDS_MAX && span_split(&line, ' ', &word)) {
        if (word.n)
            out->w[out->n++] = word;
    }
}

/* Places that a word means: one, or all for "*". False, with an answer: none. */
static bool range(const struct orders *o, struct span word, unsigned *from, unsigned *to, struct buf *answer)
{
    *from = 0;
    *to = (unsigned)map_place_count(o->map);
    if (span_is(word, "*"))
        return true;
    if (!map_find(o->map, word, from)) {
        buf_printf(answer, "error no place is called %.*s\n", SPAN_ARG(word));
        return false;
    }
    *to = *from + 1;
    return true;
}

/* ---- orders ---- */

/* A place's, or by its own name. */
static bool node_of(const struct orders *o, struct span word, unsigned *node)
{
    unsigned place;
    if (!map_find(o->map, word, &place))
        return map_find_node(o->map, word, node);
    *node = map_place(o->map, place)->node;
    return true;
}

static void on_enter(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    unsigned node;
    if (w->n != 2 || !node_of(o, w->w[1], &node)) {
        buf_puts(answer, "error no such place\n");
        return;
    }
    *fd = router_node_fd(o->router, node);
    buf_puts(answer, "ok\n");
}

/* "ok", or what is wrong. */
static void end(status st, struct buf *why, struct buf *answer)
{
    if (st == ST_OK)
        buf_puts(answer, "ok\n");
    else
        buf_printf(answer, "error %s\n", buf_cstr(why));
    buf_done(why);
}

static void on_rtt(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    struct buf why = {0};
    end(lab_rtt(o->map, w->w, w->n, &why), &why, answer);
}

static void on_loss(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    struct buf why = {0};
    end(lab_loss(o->map, w->w, w->n, &why), &why, answer);
}

static void on_bandwidth(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    struct buf why = {0};
    end(lab_bandwidth(o->map, w->w, w->n, &why), &why, answer);
}

static void cut_pairs(struct orders *o, const struct words *w, bool is_cut, struct buf *answer)
{
    unsigned a0, a1, b0, b1, done = 0;
    if (!range(o, w->w[1], &a0, &a1, answer) || !range(o, w->w[2], &b0, &b1, answer))
        return;
    for (unsigned a = a0; a < a1; a++) {
        for (unsigned b = b0; b < b1; b++)
            done += a != b && map_cut_path(o->map, a, b, is_cut) == ST_OK;
    }
    buf_puts(answer, done ? "ok\n" : "error there is no such path\n");
}

static void on_cut(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    bool is_cut = span_is(w->w[0], "cut");
    if (w->n == 3) {
        cut_pairs(o, w, is_cut, answer);
    } else if (w->n == 2) {
        unsigned from, to;
        if (!range(o, w->w[1], &from, &to, answer))
            return;
        for (unsigned i = from; i < to; i++)
            map_cut_place(o->map, i, is_cut);
        buf_puts(answer, "ok\n");
    } else {
        buf_puts(answer, "error cut or heal PLACE [PLACE]\n");
    }
}

static void on_matrix(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    struct buf path = {0}, why = {0};
    status st = ST_INVALID;
    if (w->n == 2) {
        buf_put(&path, w->w[1]);
        st = lab_matrix_file(o->map, buf_cstr(&path), &why);
    } else {
        buf_puts(&why, "matrix FILE");
    }
    end(st, &why, answer);
    buf_done(&path);
}

static void on_places(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    char text[ADDR_TEXT_MAX];
    buf_puts(answer, "ok\n");
    for (unsigned i = 0; i < map_place_count(o->map) && answer->n < CONTROL_ANSWER_MAX / 2; i++) {
        const struct map_place *p = map_place(o->map, i);
        const struct addr *a = p->addr4.family ? &p->addr4 : &p->addr6;
        buf_printf(answer, "%.*s\t%.*s\t%s\n", SPAN_ARG(p->name), SPAN_ARG(map_node(o->map, p->node)->name),
                   a->family ? addr_format(a, text) : "-");
    }
}

static void put_count(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

static void put_us(struct json *j, const char *name, int64_t ns)
{
    json_key(j, name);
    json_real(j, (double)ns / 1000, 1);
}

void orders_figures(const struct router_figures *f, const char *kind, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "link");
    json_str(&j, kind);
    put_count(&j, "packets", f->packets);
    put_count(&j, "bytes", f->bytes);
    put_count(&j, "unreachable", f->unreachable);
    put_count(&j, "strays", f->strays);
    put_count(&j, "cut", f->cut);
    put_count(&j, "dropped", f->dropped);
    put_count(&j, "queue_full", f->queue_full);
    put_count(&j, "lost", f->overflow + f->links.lost_in + f->links.lost_out);
    put_count(&j, "too_long", f->links.too_long);
    put_us(&j, "late_p50_us", lateness_at(&f->lateness, 0.5));
    put_us(&j, "late_p99_us", lateness_at(&f->lateness, 0.99));
    put_us(&j, "late_max_us", f->lateness.max_ns);
    put_us(&j, "late_limit_us", f->late_limit_ns);
    json_key(&j, "valid");
    json_bool(&j, router_is_valid(f));
    json_close(&j, '}');
}

static void put_traffic(struct span node, const struct router_traffic *t, struct json *j)
{
    char name[MAP_NAME_MAX + 1];
    snprintf(name, sizeof(name), "%.*s", SPAN_ARG(node));
    json_key(j, name);
    json_open(j, '{');
    put_count(j, "packets_in", t->packets_in);
    put_count(j, "bytes_in", t->bytes_in);
    put_count(j, "packets_out", t->packets_out);
    put_count(j, "bytes_out", t->bytes_out);
    json_close(j, '}');
}

static void on_traffic(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    unsigned from = 0, to = (unsigned)map_node_count(o->map);
    if (w->n > 2 || (w->n == 2 && !node_of(o, w->w[1], &from))) {
        buf_puts(answer, "error traffic [PLACE]\n");
        return;
    }
    if (w->n == 2)
        to = from + 1;
    struct json j = {.out = answer};
    buf_puts(answer, "ok ");
    json_open(&j, '{');
    for (unsigned i = from; i < to; i++) {
        struct router_traffic t = router_traffic(o->router, i);
        put_traffic(map_node(o->map, i)->name, &t, &j);
    }
    json_close(&j, '}');
    buf_putc(answer, '\n');
}

static void on_limit(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    double ms;
    if (w->n != 2 || !lab_number(w->w[1], MAP_RTT_MAX_MS, &ms)) {
        buf_puts(answer, "error limit MILLISECONDS\n");
        return;
    }
    router_late_limit(o->router, (int64_t)(ms * 1e6));
    buf_puts(answer, "ok\n");
}

static void on_stats(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    struct router_figures f;
    router_figures(o->router, &f);
    buf_puts(answer, "ok ");
    orders_figures(&f, link_kind_name(router_kind(o->router)), answer);
    buf_putc(answer, '\n');
}

static void on_clear(struct orders *o, const struct words *w, struct buf *answer, int *fd)
{
    router_clear(o->router);
    buf_puts(answer, "ok\n");
}

void orders_answer(void *self, struct span line, struct buf *answer, int *fd)
{
    static const struct {
        const char *name;
        void (*fn)(struct orders *o, const struct words *w, struct buf *answer, int *fd);
    } orders[] = {
        {"enter", on_enter},         {"rtt", on_rtt},     {"matrix", on_matrix}, {"loss", on_loss},
        {"bandwidth", on_bandwidth}, {"cut", on_cut},     {"heal", on_cut},      {"stats", on_stats},
        {"traffic", on_traffic},     {"limit", on_limit}, {"clear", on_clear},   {"places", on_places},
    };
    struct words w;
    cut_words(line, &w);
    for (size_t i = 0; w.n && i < sizeof(orders) / sizeof(*orders); i++) {
        if (span_is(w.w[0], orders[i].name)) {
            orders[i].fn(self, &w, answer, fd);
            return;
        }
    }
    buf_puts(answer, "error enter, rtt, matrix, loss, bandwidth, cut, heal, stats, traffic, limit, clear or places\n");
}
