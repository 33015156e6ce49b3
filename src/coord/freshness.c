/* freshness.c - how fresh copies were, by the hour and by the day. */
#include "coord/freshness.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "wire/fields.h"

#define LOOK_MS 20000
#define SAVE_MS 60000
#define RECORD_BYTES_MAX (1u << 20)
#define RECORD_NAME "freshness"
#define NUMBER_MAX (1ull << 48) /* of any sum: so much never comes together */
#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)

/* Tags are for good; a new field gets a new one. */
enum { F_HOUR = 1, F_DAY };
enum {
    K_AT = 1,
    K_LOOKS,
    K_FRESH,
    K_CHANNELS,
    K_DUE,
    K_QUEUED,
    K_RUNNING,
    K_SUBMITTED,
    K_UPDATED,
    K_UNCHANGED,
    K_LOST
};

/* ---- looking ---- */

static struct freshness_count *slot(struct freshness_count *list, size_t size, int64_t at)
{
    struct freshness_count *k = &list[(uint64_t)at % size];
    if (k->at != at)
        *k = (struct freshness_count){.at = at};
    return k;
}

static uint64_t grown(uint64_t *told, uint64_t now)
{
    uint64_t by = now > *told ? now - *told : 0;
    *told = now;
    return by;
}

void freshness_note(struct freshness *f, wall_ms now, const struct recrawling_figures *g)
{
    struct freshness_count *list[] = {slot(f->hours, FRESHNESS_HOURS, now / HOUR_MS),
                                      slot(f->days, FRESHNESS_DAYS, now / DAY_MS)};
    uint64_t submitted = grown(&f->submitted, g->submitted), done = grown(&f->done, g->done),
             updated = grown(&f->updated, g->updated), lost = grown(&f->lost, g->lost);
    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
        struct freshness_count *k = list[i];
        if (g->channels) { /* without any nothing is fresh, nor stale */
            double fresh = g->freshness < 0 ? 0 : g->freshness > 1 ? 1 : g->freshness;
            k->looks++;
            k->fresh += (uint64_t)(fresh * FRESHNESS_WHOLE + 0.5);
            k->channels += g->channels;
            k->due += g->due;
            k->queued += g->queued;
            k->running += g->running;
        }
        k->submitted += submitted;
        k->updated += updated;
        k->unchanged += done > updated ? done - updated : 0;
        k->lost += lost;
    }
    f->is_dirty = true;
}

void freshness_look(struct coord *c)
{
    struct recrawling_figures g;
    wall_ms now = clock_wall();
    if (!c->freshness)
        return;
    recrawling_figures_get(c, now, &g);
    if (g.channels || g.submitted != c->freshness->submitted)
        freshness_note(c->freshness, now, &g);
}

/* ---- reading ---- */

const struct freshness_count *freshness_hour(const struct freshness *f, int64_t hour)
{
    const struct freshness_count *k = &f->hours[(uint64_t)hour % FRESHNESS_HOURS];
    return k->at == hour && hour ? k : NULL;
}

const struct freshness_count *freshness_day(const struct freshness *f, int64_t day)
{
    const struct freshness_count *k = &f->days[(uint64_t)day % FRESHNESS_DAYS];
    return k->at == day && day ? k : NULL;
}

double freshness_mean(const struct freshness_count *k, uint64_t sum)
{
    return k->looks ? (double)sum / (double)k->looks : -1;
}

/* ---- the record ---- */

static uint64_t *number_of(struct freshness_count *k, unsigned tag)
{
    uint64_t *const list[] = {[K_LOOKS] = &k->looks,         [K_FRESH] = &k->fresh,
                              [K_CHANNELS] = &k->channels,   [K_DUE] = &k->due,
                              [K_QUEUED] = &k->queued,       [K_RUNNING] = &k->running,
                              [K_SUBMITTED] = &k->submitted, [K_UPDATED] = &k->updated,
                              [K_UNCHANGED] = &k->unchanged, [K_LOST] = &k->lost};
    return tag > K_AT && tag <= K_LOST ? list[tag] : NULL;
}

static void pack_count(struct buf *to, unsigned tag, struct freshness_count *k)
{
    struct buf b = {0};
    if (!k->at)
        return;
    field_i64(&b, K_AT, k->at);
    for (unsigned i = K_AT + 1; i <= K_LOST; i++)
        field_u64_if(&b, i, *number_of(k, i));
    field_text(to, tag, buf_span(&b));
    buf_done(&b);
}

static bool unpack_count(struct freshness_count *list, size_t size, struct span packed)
{
    struct freshness_count k = {0};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    bool is_good = true;
    while (fields_next(&f, &tag, &v)) {
        uint64_t *number = number_of(&k, tag);
        if (tag == K_AT)
            k.at = value_i64(v);
        else if (number)
            is_good &= (*number = value_u64(v)) <= NUMBER_MAX;
    }
    if (!is_good || fields_bad(&f) || k.at <= 0 || k.looks > UINT32_MAX || k.fresh > k.looks * FRESHNESS_WHOLE)
        return false;
    *slot(list, size, k.at) = k;
    return true;
}

void freshness_pack(struct freshness *f, struct buf *to)
{
    for (size_t i = 0; i < FRESHNESS_HOURS; i++)
        pack_count(to, F_HOUR, &f->hours[i]);
    for (size_t i = 0; i < FRESHNESS_DAYS; i++)
        pack_count(to, F_DAY, &f->days[i]);
}

bool freshness_unpack(struct freshness *to, struct span packed)
{
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    bool is_good = packed.n <= RECORD_BYTES_MAX;
    while (is_good && fields_next(&f, &tag, &v)) {
        if (tag == F_HOUR)
            is_good = unpack_count(to->hours, FRESHNESS_HOURS, v);
        else if (tag == F_DAY)
            is_good = unpack_count(to->days, FRESHNESS_DAYS, v);
    }
    return is_good && !fields_bad(&f);
}

void freshness_open(struct coord *c)
{
    struct buf b = {0};
    status st = fleet_get(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), &b);
    c->freshness = mem_alloc(sizeof(*c->freshness));
    if (st == ST_OK && !freshness_unpack(c->freshness, buf_span(&b))) {
        *c->freshness = (struct freshness){0};
        log_write(c->o.log, LOG_WARN, "fleet", "the record of freshness cannot be read: it begins anew");
    } else if (st != ST_OK && st != ST_NOT_FOUND)
        note_trouble(c, st, "read the record of freshness");
    buf_done(&b);
}

void freshness_save(struct coord *c)
{
    struct freshness *f = c->freshness;
    struct buf b = {0};
    if (!f || !f->is_dirty)
        return;
    freshness_pack(f, &b);
    note_trouble(c, fleet_put(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), buf_span(&b)),
                 "write down the record of freshness");
    f->is_dirty = false;
    buf_done(&b);
}

void freshness_free(struct coord *c)
{
    free(c->freshness);
    c->freshness = NULL;
}

void freshness_sample(struct coord *c, mono_ms now)
{
    struct freshness *f = c->freshness;
    if (!f->looked || now - f->looked >= LOOK_MS) {
        f->looked = now;
        freshness_look(c);
    }
    if (!f->saved || now - f->saved >= SAVE_MS) {
        f->saved = now;
        freshness_save(c);
    }
}
