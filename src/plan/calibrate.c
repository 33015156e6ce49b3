#include "plan/calibrate.h"

#include <math.h>

#include "base/pack.h"

#define CALM_MS ((int64_t)CALIBRATE_CALM_DAYS * 24 * 3600 * 1000)
#define VERSION 1
/* As TCP smooths its round trips (RFC 6298): an eighth of the news, a quarter of how far off it was. */
#define NEWS 8
#define NEWS_DEV 4
#define TIME_MAX ((int64_t)1 << 52)
#define SETTLED 8 /* samples until the smoothed value may lower what is remembered */

bool calibrate_rule_parse(struct span name, calibrate_rule *out)
{
    if (!span_is(name, "path") && !span_is(name, "papers"))
        return false;
    *out = span_is(name, "path") ? CALIBRATE_PATH : CALIBRATE_PAPERS;
    return true;
}

const char *calibrate_rule_name(calibrate_rule r)
{
    return r == CALIBRATE_PAPERS ? "papers" : "path";
}

static bool is_papers(const struct calibrate_opts *o)
{
    return o->rule == CALIBRATE_PAPERS;
}

double calibrate_floor_ms(const struct calibrate_opts *o)
{
    if (o->floor_ms > 0)
        return o->floor_ms;
    return is_papers(o) ? 0 : CALIBRATE_FLOOR_MS;
}

unsigned calibrate_times(const struct calibrate_opts *o)
{
    unsigned times = o->times ? o->times : is_papers(o) ? CALIBRATE_TIMES_PAPERS : CALIBRATE_TIMES;
    return times < UINT8_MAX ? times : UINT8_MAX;
}

/* By the factor and by the floor, both. */
double calibrate_limit_ms(const struct calibrate_opts *o, double base_ms)
{
    double by_factor = base_ms * (o->factor > 0 ? o->factor : CALIBRATE_FACTOR);
    double by_floor = base_ms + calibrate_floor_ms(o);
    return by_factor > by_floor ? by_factor : by_floor;
}

static bool is_high(const struct calibration *c, const struct calibrate_opts *o, double ms)
{
    return c->base_ms > 0 && ms > calibrate_limit_ms(o, (double)c->base_ms);
}

static void smooth(float *mean, float *dev, double ms)
{
    if (*mean <= 0) {
        *mean = (float)ms;
        *dev = (float)(ms / 2);
        return;
    }
    double off = ms - (double)*mean;
    *dev += (float)((fabs(off) - (double)*dev) / NEWS_DEV);
    *mean += (float)(off / NEWS);
}

/* What is remembered goes down with the path, never up: a path that gets worse little by little is noticed as well. */
static void remember(struct calibration *c, const struct calibrate_opts *o)
{
    float now = is_papers(o) ? c->total_ms : c->path_ms;
    if (c->base_ms <= 0 || (c->samples >= SETTLED && now < c->base_ms))
        c->base_ms = now;
}

bool calibrate_note(struct calibration *c, const struct calibrate_opts *o, double path_ms, double total_ms, wall_ms now)
{
    double ms = is_papers(o) ? total_ms : path_ms;
    if (!(ms > 0 && ms < 1e6))
        return false; /* no measurement */
    if (is_high(c, o, ms)) {
        c->high_ms = c->high && c->high_ms < (float)ms ? c->high_ms : (float)ms;
        c->high += c->high < UINT8_MAX;
        return c->high >= calibrate_times(o) && now >= c->quiet_until;
    }
    c->high = 0;
    c->samples += c->samples < UINT32_MAX;
    if (path_ms > 0)
        smooth(&c->path_ms, &c->path_dev_ms, path_ms);
    if (total_ms > 0)
        smooth(&c->total_ms, &c->total_dev_ms, total_ms);
    remember(c, o);
    return false;
}

double calibration_ms(const struct calibration *c)
{
    if (c->high)
        return (double)c->high_ms;
    return c->base_ms > 0 ? (double)(c->path_ms > 0 ? c->path_ms : c->total_ms) : -1;
}

bool calibrate_is_worth(const struct calibrate_opts *o, double was_ms, double would_be_ms)
{
    double gain = was_ms - would_be_ms;
    return gain > 0 && gain >= calibrate_floor_ms(o);
}

void calibrate_decided(struct calibration *c, const struct calibrate_opts *o, double ms, wall_ms now)
{
    int64_t back_off = o->back_off > 0 ? o->back_off : CALIBRATE_BACK_OFF_MS;
    bool is_first = c->base_ms <= 0 && !c->samples;
    if (now - c->quiet_until > CALM_MS)
        c->decisions = 0;
    struct calibration next = {.quiet_until = is_first ? c->quiet_until : now + (back_off << c->decisions),
                               .decisions = c->decisions};
    if (!is_first && next.decisions < CALIBRATE_BACK_OFF_DOUBLINGS)
        next.decisions++;
    if (ms > 0 && !is_papers(o)) { /* how long its server takes there, only requests can tell */
        next.base_ms = next.path_ms = (float)ms;
        next.path_dev_ms = (float)(ms / 2);
    }
    *c = next;
}

/* ---- bytes ---- */

static void pack_float(struct buf *b, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    pack_u32(b, bits);
}

static float unpack_float(struct unpack *u)
{
    uint32_t bits = unpack_u32(u);
    float f;
    memcpy(&f, &bits, sizeof(f));
    if (!(f >= 0 && f < 1e7f))
        u->bad = true;
    return u->bad ? 0 : f;
}

void calibration_pack(const struct calibration *c, struct buf *out)
{
    const float figures[] = {c->path_ms, c->path_dev_ms, c->total_ms, c->total_dev_ms, c->base_ms, c->high_ms};
    pack_u8(out, VERSION);
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
        pack_float(out, figures[i]);
    pack_u32(out, c->samples);
    pack_u8(out, c->high);
    pack_u8(out, c->decisions);
    pack_u64(out, (uint64_t)c->quiet_until);
}

status calibration_unpack(struct span packed, struct calibration *out)
{
    struct unpack u = unpack_of(packed);
    struct calibration c = {0};
    float *figures[] = {&c.path_ms, &c.path_dev_ms, &c.total_ms, &c.total_dev_ms, &c.base_ms, &c.high_ms};
    uint8_t version = unpack_u8(&u);
    if (!u.bad && version != VERSION)
        return version > VERSION ? ST_NEWER : ST_CORRUPT;
    for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
        *figures[i] = unpack_float(&u);
    c.samples = unpack_u32(&u);
    c.high = unpack_u8(&u);
    c.decisions = unpack_u8(&u);
    c.quiet_until = (wall_ms)unpack_u64(&u);
    if (u.bad || !unpack_at_end(&u) || c.decisions > CALIBRATE_BACK_OFF_DOUBLINGS || c.quiet_until < 0 ||
        c.quiet_until > TIME_MAX)
        return ST_CORRUPT;
    *out = c;
    return ST_OK;
}
