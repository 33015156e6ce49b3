#include "apply/opt_out.h"

#include <errno.h>

#include "apply/apply.h"

#define NOTE_MAX 500

static bool is_of_list(const struct forgotten *f)
{
    return span_is(f->why, OPT_OUT_REASON) || span_starts(f->why, SPAN(OPT_OUT_REASON ": "));
}

/* ---- what is to be refused ---- */

static status add_other(void *arg, const struct forgotten *f)
{
    return is_of_list(f) ? ST_OK : places_add(arg, f->place, NULL);
}

status opt_out_places(struct store *s, struct span list, struct places **out, struct buf *why)
{
    struct places *places = places_new(store_key(s));
    status st = places_add_list(places, list, why);
    if (st == ST_OK)
        st = store_forgotten_each(s, add_other, places);
    if (st == ST_OK)
        *out = places;
    else
        places_free(places);
    return st;
}

/* ---- what is remembered ---- */

struct gone {
    const struct places *listed;
    struct buf places; /* '\n' after each */
    size_t count;
};

static status note_gone(void *arg, const struct forgotten *f)
{
    struct gone *g = arg;
    if (is_of_list(f) && !places_have(g->listed, f->place)) {
        buf_put(&g->places, f->place);
        buf_putc(&g->places, '\n');
        g->count++;
    }
    return ST_OK;
}

static status remove_gone(struct store *s, const struct places *listed, size_t *count)
{
    struct gone g = {.listed = listed};
    struct span place;
    status st = store_forgotten_each(s, note_gone, &g);
    struct span rest = buf_span(&g.places);
    while (st == ST_OK && rest.n && span_split(&rest, '\n', &place))
        st = place.n ? store_forgotten_remove(s, place) : ST_OK;
    *count = g.count;
    buf_done(&g.places);
    return st;
}

static status add_line(struct store *s, struct span place, struct span note, wall_ms now)
{
    struct arena a;
    struct places_item item;
    struct buf why = {0};
    arena_init(&a);
    buf_puts(&why, OPT_OUT_REASON);
    if (note.n)
        buf_printf(&why, ": %.*s", SPAN_ARG(span_cut(note, 0, NOTE_MAX)));
    status st = places_parse(&a, place, &item, NULL);
    if (st == ST_OK)
        st = store_forgotten_put(s, &(struct forgotten){item.text, now, buf_span(&why)});
    buf_done(&why);
    arena_done(&a);
    return st;
}

static status load_known(void *arg, const struct forgotten *f)
{
    return places_add(arg, f->place, NULL);
}

static status add_new(struct store *s, struct span list, wall_ms now, size_t *count)
{
    struct places *known = places_new(store_key(s));
    struct span place, note;
    unsigned line = 0;
    status st = store_forgotten_each(s, load_known, known);
    while (st == ST_OK && places_next_line(&list, &line, &place, &note)) {
        size_t before = places_count(known);
        st = places_add(known, place, NULL);
        if (st != ST_OK || places_count(known) == before)
            continue;
        st = add_line(s, place, note, now);
        ++*count;
    }
    places_free(known);
    return st;
}

status opt_out_apply(struct store *s, struct span list, wall_ms now, struct opt_out_change *out, struct buf *why)
{
    struct places *listed = places_new(store_key(s));
    *out = (struct opt_out_change){0};
    status st = places_add_list(listed, list, why);
    if (st == ST_OK)
        st = store_begin(s);
    bool is_open = st == ST_OK;
    if (st == ST_OK)
        st = remove_gone(s, listed, &out->removed);
    if (st == ST_OK)
        st = add_new(s, list, now, &out->added);
    if (st == ST_OK && out->added)
        st = apply_forget_soon(s);
    if (st == ST_OK)
        st = store_commit(s);
    int saved = errno;
    if (st != ST_OK && is_open)
        store_rollback(s);
    places_free(listed);
    errno = saved;
    return st == ST_OK ? store_sync(s) : st;
}

/* ---- what is forgotten without a list ---- */

static status note_list(void *arg, const struct forgotten *f)
{
    *(bool *)arg = is_of_list(f);
    return ST_OK;
}

status opt_out_forget_anyway(struct store *s, const struct forgotten *f)
{
    struct forgotten now = *f;
    struct buf quoted = {0};
    bool was_listed = false;
    if (is_of_list(f)) { /* it would be taken for a line of a list */
        buf_printf(&quoted, "\"%.*s\"", SPAN_ARG(f->why));
        now.why = buf_span(&quoted);
    }
    status st = store_forgotten_get(s, f->place, note_list, &was_listed);
    if (st == ST_OK && was_listed)
        st = store_forgotten_remove(s, f->place);
    if (st == ST_OK || st == ST_NOT_FOUND)
        st = store_forgotten_put(s, &now);
    buf_done(&quoted);
    return st;
}
