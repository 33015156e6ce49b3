/* admin_forget.c - POST /api/v1/forget, GET /api/v1/forget, what its page says, and a part of backups. */
#include <string.h>

#include "coord/admin_internal.h"
#include "coord/forgetting.h"
#include "coord/ingest.h"
#include "store/snapshot.h"
#include "store/store.h"

#define PLACES_A_CALL 10000
#define WHY_MAX 1000
#define FLEET_NAME "/fleet.db"

/* ---- forget ---- */

/* In the one way they are written, one a line. */
static bool read_places(struct ask *r, struct deed *d, struct buf *out)
{
    struct span *lines;
    size_t n = pairs_lines(r->arena, &r->in, "places", PLACES_A_CALL, &lines);
    struct buf why = {0};
    for (size_t i = 0; i < n && d->code == 200; i++) {
        struct places_item item;
        buf_clear(&why);
        status st = places_parse(r->arena, lines[i], &item, &why);
        if (st != ST_OK) {
            deed_fail(d, 400, "invalid", "%.*s: %s.", SPAN_ARG(span_cut(lines[i], 0, 200)),
                      why.n ? buf_cstr(&why) : status_name(st));
            d->field = "places";
            break;
        }
        buf_put(out, item.text);
        buf_putc(out, '\n');
    }
    if (d->code == 200 && !n) {
        deed_fail(d, 400, "invalid", "places is missing: URLs, hosts or .domains, one a line.");
        d->field = "places";
    }
    buf_done(&why);
    return d->code == 200;
}

static void put_answer(struct deed *d, struct span places, const struct forgetting_answer *a)
{
    struct json j = {.out = &d->out};
    struct span line;
    json_open(&j, '{');
    json_key(&j, "places");
    json_open(&j, '[');
    while (places.n && span_split(&places, '\n', &line))
        if (line.n)
            json_text(&j, line);
    json_close(&j, ']');
    put_bool(&j, "done", a->is_done);
    put_u64(&j, "pages", a->pages);
    put_u64(&j, "texts", a->texts);
    put_u64(&j, "warc_records", a->warc_records);
    json_close(&j, '}');
}

/* For the person who pressed the button. */
static void say_done(struct deed *d, const struct forgetting_answer *a, bool is_undo)
{
    if (is_undo)
        buf_puts(&d->message, "It may be crawled again.");
    else if (!a->is_done)
        buf_puts(&d->message, "It is forgotten from now on. What is there of it is being taken out.");
    else
        buf_printf(&d->message, "Forgotten: %llu page%s, %llu text%s and %llu WARC record%s are gone.",
                   (unsigned long long)a->pages, a->pages == 1 ? "" : "s", (unsigned long long)a->texts,
                   a->texts == 1 ? "" : "s", (unsigned long long)a->warc_records, a->warc_records == 1 ? "" : "s");
}

/* A page's form has a box for it; a program that calls means it. */
static bool is_meant(struct ask *r, struct deed *d, bool is_undo)
{
    bool is_sure = is_undo || !r->form_page.n || pairs_is_true(&r->in, "sure");
    if (!is_sure)
        deed_fail_field(d, "sure", "it cannot be undone, so say that it is meant");
    return is_sure;
}

void deed_forget(struct ask *r, struct deed *d)
{
    struct buf places = {0};
    struct forgetting_answer a = {0};
    bool is_undo = pairs_is_true(&r->in, "undo");
    if (read_places(r, d, &places) && is_meant(r, d, is_undo)) {
        forgetting_ask(ingest_forgetting(r->c->ingest), buf_span(&places),
                       span_cut(pairs_get(&r->in, "why"), 0, WHY_MAX), is_undo, &a);
        if (a.st == ST_NOT_FOUND)
            deed_fail(d, 404, "not_found", "One of them is not forgotten. GET /api/v1/forget lists those that are.");
        else if (a.st != ST_OK)
            deed_fail_status(d, a.st, &(struct buf){0});
        else {
            put_answer(d, buf_span(&places), &a);
            say_done(d, &a, is_undo);
            log_write(r->c->o.log, LOG_INFO, "admin", "%s pages=%llu by=%s",
                      is_undo ? "places may be crawled again" : "places are forgotten", (unsigned long long)a.pages,
                      r->who.name);
        }
    }
    buf_done(&places);
}

static status put_item(void *arg, const struct forgotten *f)
{
    struct json *j = arg;
    json_open(j, '{');
    put_text(j, "place", f->place);
    put_time(j, "since", f->at);
    json_key(j, "why");
    json_text_or_null(j, f->why);
    json_close(j, '}');
    return ST_OK;
}

void deed_forgotten(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    struct store *s = NULL;
    struct buf why = {0};
    json_open(&j, '{');
    json_key(&j, "forgotten");
    json_open(&j, '[');
    status st = store_open(r->c->data_dir, STORE_READ, &s, &why); /* beside the one that writes */
    if (st == ST_OK)
        st = store_forgotten_each(s, put_item, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    if (st != ST_OK)
        deed_fail_status(d, st, &why);
    store_free(s);
    buf_done(&why);
}

/* ---- backup ---- */

/* ".backup-PID/fleet.db": into a snapshot that orb backup is making, and nowhere else. */
static bool is_snapshot(struct span to)
{
    uint64_t pid;
    return span_starts(to, SPAN(SNAPSHOT_PREFIX)) && span_ends(to, SPAN(FLEET_NAME)) &&
           span_u64(span_cut(to, sizeof(SNAPSHOT_PREFIX) - 1,
                             to.n - (sizeof(SNAPSHOT_PREFIX) - 1) - (sizeof(FLEET_NAME) - 1)),
                    INT32_MAX, &pid);
}

void deed_backup(struct ask *r, struct deed *d)
{
    struct span to = pairs_get(&r->in, "to");
    struct buf path = {0};
    if (!is_snapshot(to)) {
        deed_fail(d, 400, "invalid", "to is the file in the folder that orb backup makes.");
        d->field = "to";
        return;
    }
    buf_printf(&path, "%s/%.*s", r->c->data_dir, SPAN_ARG(to));
    pthread_mutex_lock(&r->c->lock);
    status st = fleet_copy(r->c->fleet, buf_cstr(&path));
    pthread_mutex_unlock(&r->c->lock);
    if (st != ST_OK)
        deed_fail_status(d, st, &(struct buf){0});
    else
        buf_puts(&d->out, "{}");
    buf_done(&path);
}
