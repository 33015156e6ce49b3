#include "plan/change_words.h"

#include <math.h>

static const struct {
    double seconds;
    const char *name;
} units[] = {{86400, " days"}, {3600, " h"}, {60, " min"}, {1, " s"}};
#define UNITS (sizeof(units) / sizeof(*units))
#define GAP_MAX_DAYS 3650
#define FACTOR_MAX 300 /* from minutes to a year */

/* The unit in which it is more than one. */
static size_t unit_of(double seconds)
{
    size_t i = 0;
    while (i + 1 < UNITS && seconds < 1.5 * units[i].seconds)
        i++;
    return i;
}

static void put_time_span(struct buf *out, double seconds)
{
    size_t i = unit_of(seconds);
    buf_printf(out, "%.0f%s", fmax(seconds / units[i].seconds, 1), units[i].name);
}

void change_words_gap(struct buf *out, double rate_a_day)
{
    if (rate_a_day * GAP_MAX_DAYS < 1)
        buf_puts(out, "10 years or more");
    else
        put_time_span(out, 86400 / rate_a_day);
}

void change_words_range(struct buf *out, double rate_a_day, double factor)
{
    if (rate_a_day * GAP_MAX_DAYS < 1) {
        buf_puts(out, "hardly ever");
        return;
    }
    double middle = 86400 / rate_a_day, low = middle / factor, high = middle * factor;
    size_t i = unit_of(middle);
    if (factor > FACTOR_MAX) {
        buf_puts(out, "not known yet, perhaps every ");
        put_time_span(out, middle);
        return;
    }
    buf_puts(out, "about every ");
    put_time_span(out, middle);
    if (!(factor > 1))
        return;
    buf_puts(out, ", between ");
    bool is_endless = high > GAP_MAX_DAYS * 86400.0;
    if (low >= 0.95 * units[i].seconds && unit_of(high) == i && !is_endless) { /* one unit for all three is said once */
        buf_printf(out, "%.0f and %.0f", low / units[i].seconds, high / units[i].seconds);
        return;
    }
    put_time_span(out, low);
    buf_puts(out, " and ");
    if (is_endless)
        buf_puts(out, "10 years or more");
    else
        put_time_span(out, high);
}
