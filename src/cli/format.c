#include "cli/format.h"

#include <stdio.h>
#include <time.h>

void put_count(struct buf *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

void put_bytes(struct buf *out, uint64_t n)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)n;
    size_t unit = 0;
    while (v >= 999.95 && unit + 1 < sizeof(units) / sizeof(*units)) {
        v /= 1000;
        unit++;
    }
    buf_printf(out, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void put_clock(struct buf *out, uint64_t seconds)
{
    unsigned long long d = seconds / 86400, h = seconds / 3600 % 24, m = seconds / 60 % 60, s = seconds % 60;
    if (d)
        buf_printf(out, "%llud %02llu:%02llu", d, h, m);
    else if (h)
        buf_printf(out, "%llu:%02llu:%02llu", h, m, s);
    else
        buf_printf(out, "%llu:%02llu", m, s);
}

void put_seconds(struct buf *out, uint64_t ms)
{
    if (ms < 100 * 1000)
        buf_printf(out, "%.1f s", (double)ms / 1000);
    else
        put_clock(out, ms / 1000);
}

void put_iso_time(struct buf *out, wall_ms t)
{
    time_t s = (time_t)(t / 1000);
    struct tm tm;
    char text[40];
    if (gmtime_r(&s, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        buf_puts(out, text);
}

void put_csv(struct buf *out, struct span s)
{
    bool is_formula = s.n && memchr("=+-@\t\r", s.p[0], 6);
    bool needs_quotes = false;
    for (size_t i = 0; i < s.n && !needs_quotes; i++)
        needs_quotes = memchr(",\"\r\n", s.p[i], 4) != NULL;
    if (needs_quotes)
        buf_putc(out, '"');
    if (is_formula)
        buf_putc(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, s.p[i]);
    }
    if (needs_quotes)
        buf_putc(out, '"');
}
