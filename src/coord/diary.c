/* diary.c - what placing did: networks given away, probes, moves and why; by the hour and by the day.
 *
 * One record of the fleet store, written when something has changed, at most once a minute. A kill costs a minute of
 * it; a record that cannot be read costs all of it, and nothing else. */
#include "coord/diary.h"
#include "io/clock.h"
#include "wire/fields.h"

#define SAVE_MS 60000
#define RECORD_BYTES_MAX (1u << 20)
#define RECORD_NAME "diary"
#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)

/* Tags are for good; a new field gets a new one. */
enum { D_HOUR = 1, D_DAY, D_MOVE };
enum { K_AT = 1, K_GIVEN, K_PROBES, K_MOVES }; /* K_MOVES + kind - 1 */
enum { M_AT = 1, M_FROM, M_TO, M_KIND, M_NETWORK, M_WHY };

static const struct {
    const char *name, *text;
} kinds[MOVE_KINDS] = {[MOVE_TRIAL] = {"trial", "first requests showed a nearer agent"},
                       [MOVE_CALIBRATED] = {"calibrated", "the path had become long"},
                       [MOVE_BALANCED] = {"balanced", "its agent had too much"},
                       [MOVE_PINNED] = {"pinned", "a rule says who may have it"},
                       [MOVE_PERSON] = {"person", "a person moved it"},
                       [MOVE_AWAY] = {"away", "its agent had left"}};

const char *move_kind_name(move_kind k)
{
    return k > 0 && k < MOVE_KINDS && kinds[k].name ? kinds[k].name : "other";
}

const char *move_kind_text(move_kind k)
{
    return k > 0 && k < MOVE_KINDS && kinds[k].text ? kinds[k].text : "for another reason";
}

/* ---- noting ---- */

static struct diary_count *slot(struct diary_count *list, size_t size, int64_t at)
{
    struct diary_count *k = &list[(uint64_t)at % size];
    if (k->at != at)
        *k = (struct diary_count){.at = at};
    return k;
}

/* The counts that something which happens now belongs to. */
struct counts_now {
    struct diary_count *hour, *day;
};

static struct counts_now begin_note(struct diary *d)
{
    wall_ms now = clock_wall();
    d->is_dirty = true;
    return (struct counts_now){slot(d->hours, DIARY_HOURS, now / HOUR_MS), slot(d->days, DIARY_DAYS, now / DAY_MS)};
}

void diary_note_given(struct coord *c)
{
    struct counts_now k = begin_note(&c->diary);
    c->diary.given++;
    k.hour->given++;
    k.day->given++;
}

void diary_note_probes(struct coord *c, unsigned count)
{
    struct counts_now k = begin_note(&c->diary);
    c->diary.probes += count;
    k.hour->probes += count;
    k.day->probes += count;
}

static struct diary_move *next_move(struct diary *d)
{
    struct diary_move *m = &d->last[d->move_at];
    d->move_at = (d->move_at + 1) % DIARY_MOVES;
    if (d->move_count < DIARY_MOVES)
        d->move_count++;
    *m = (struct diary_move){0};
    return m;
}

void diary_note_move(struct coord *c, const struct c_network *n, uint64_t from, uint64_t to, move_kind kind)
{
    if (kind >= MOVE_KINDS)
        kind = 0;
    struct counts_now k = begin_note(&c->diary);
    c->diary.moves[kind]++;
    k.hour->moves[kind]++;
    k.day->moves[kind]++;
    struct diary_move *m = next_move(&c->diary);
    m->at = clock_wall();
    m->from = from;
    m->to = to;
    m->kind = kind;
    set_text(m->network, sizeof(m->network), span_str(n->text));
    set_text(m->why, sizeof(m->why), span_str(n->why));
    log_write(c->o.log, LOG_INFO, "assign", "moves network=%s from=%llu to=%llu kind=%s", n->text,
              (unsigned long long)from, (unsigned long long)to, move_kind_name(kind));
}

/* ---- reading ---- */

const struct diary_count *diary_hour(const struct diary *d, int64_t hour)
{
    const struct diary_count *k = &d->hours[(uint64_t)hour % DIARY_HOURS];
    return k->at == hour && hour ? k : NULL;
}

const struct diary_count *diary_day(const struct diary *d, int64_t day)
{
    const struct diary_count *k = &d->days[(uint64_t)day % DIARY_DAYS];
    return k->at == day && day ? k : NULL;
}

const struct diary_move *diary_move_at(const struct diary *d, size_t i)
{
    if (i >= d->move_count)
        return NULL;
    return &d->last[(d->move_at + DIARY_MOVES - 1 - i) % DIARY_MOVES];
}

/* ---- the record ---- */

static void pack_count(struct buf *to, unsigned tag, const struct diary_count *k)
{
    struct buf b = {0};
    if (!k->at)
        return;
    field_i64(&b, K_AT, k->at);
    field_u64_if(&b, K_GIVEN, k->given);
    field_u64_if(&b, K_PROBES, k->probes);
    for (unsigned i = 1; i < MOVE_KINDS; i++)
        field_u64_if(&b, K_MOVES + i - 1, k->moves[i]);
    field_text(to, tag, buf_span(&b));
    buf_done(&b);
}

static bool unpack_count(struct diary_count *list, size_t size, struct span packed)
{
    struct diary_count k = {0};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        if (tag == K_AT)
            k.at = value_i64(v);
        else if (tag == K_GIVEN)
            k.given = value_u64(v);
        else if (tag == K_PROBES)
            k.probes = value_u64(v);
        else if (tag >= K_MOVES && tag < K_MOVES + MOVE_KINDS - 1)
            k.moves[tag - K_MOVES + 1] = value_u64(v);
    }
    if (fields_bad(&f) || k.at <= 0)
        return false;
    *slot(list, size, k.at) = k;
    return true;
}

static void pack_move(struct buf *to, const struct diary_move *m)
{
    struct buf b = {0};
    field_i64(&b, M_AT, m->at);
    field_u64_if(&b, M_FROM, m->from);
    field_u64_if(&b, M_TO, m->to);
    field_u64_if(&b, M_KIND, m->kind);
    field_str(&b, M_NETWORK, m->network);
    field_str(&b, M_WHY, m->why);
    field_text(to, D_MOVE, buf_span(&b));
    buf_done(&b);
}

static bool unpack_move(struct diary *d, struct span packed)
{
    struct diary_move m = {0};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v)) {
        if (tag == M_AT)
            m.at = value_i64(v);
        else if (tag == M_FROM)
            m.from = value_u64(v);
        else if (tag == M_TO)
            m.to = value_u64(v);
        else if (tag == M_KIND)
            m.kind = value_u64(v) < MOVE_KINDS ? (move_kind)value_u64(v) : 0; /* of a newer version */
        else if (tag == M_NETWORK)
            set_text(m.network, sizeof(m.network), v);
        else if (tag == M_WHY)
            set_text(m.why, sizeof(m.why), v);
    }
    if (fields_bad(&f) || m.at <= 0)
        return false;
    *next_move(d) = m;
    return true;
}

static bool unpack_diary(struct diary *d, struct span packed)
{
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    bool is_good = packed.n <= RECORD_BYTES_MAX;
    while (is_good && fields_next(&f, &tag, &v)) {
        if (tag == D_HOUR)
            is_good = unpack_count(d->hours, DIARY_HOURS, v);
        else if (tag == D_DAY)
            is_good = unpack_count(d->days, DIARY_DAYS, v);
        else if (tag == D_MOVE)
            is_good = unpack_move(d, v);
    }
    return is_good && !fields_bad(&f);
}

void diary_open(struct coord *c)
{
    struct buf b = {0};
    status st = fleet_get(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), &b);
    c->diary = (struct diary){0};
    if (st == ST_OK && !unpack_diary(&c->diary, buf_span(&b))) {
        c->diary = (struct diary){0};
        log_write(c->o.log, LOG_WARN, "fleet", "the diary of moves and probes cannot be read: it begins anew");
    } else if (st != ST_OK && st != ST_NOT_FOUND)
        note_trouble(c, st, "read the diary of moves and probes");
    buf_done(&b);
}

void diary_save(struct coord *c)
{
    struct diary *d = &c->diary;
    struct buf b = {0};
    if (!d->is_dirty)
        return;
    for (size_t i = 0; i < DIARY_HOURS; i++)
        pack_count(&b, D_HOUR, &d->hours[i]);
    for (size_t i = 0; i < DIARY_DAYS; i++)
        pack_count(&b, D_DAY, &d->days[i]);
    for (size_t i = d->move_count; i-- > 0;) /* oldest first */
        pack_move(&b, diary_move_at(d, i));
    note_trouble(c, fleet_put(c->fleet, FLEET_SETTING, SPAN(RECORD_NAME), buf_span(&b)),
                 "write down the diary of moves and probes");
    d->is_dirty = false;
    buf_done(&b);
}

void diary_tick(struct coord *c, mono_ms now)
{
    if (c->diary.saved && now - c->diary.saved < SAVE_MS)
        return;
    c->diary.saved = now;
    diary_save(c);
}
