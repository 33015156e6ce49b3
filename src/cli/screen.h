/* screen.h - who writes to standard error while a crawl runs: log lines from any thread, and one progress line.
 *
 * On a terminal the progress line is redrawn in place and log lines scroll by above it; elsewhere it is a plain line
 * every ten seconds. Log lines go to a file when one is named, errors to both. */
#pragma once

#include "base/log.h"
#include "base/status.h"
#include "crawl/crawl.h"

struct screen;

struct screen_opts {
    const char *log_path; /* NULL: standard error */
    log_level level;
    bool has_line;  /* redraw in place */
    bool has_plain; /* a line every ten seconds */
    uint64_t pages_max;
};

/* NULL, with errno: the log file cannot be opened. */
struct screen *screen_new(const struct screen_opts *opts);
void screen_free(struct screen *s); /* NULL is fine */
const struct log *screen_log(const struct screen *s);
void screen_progress(struct screen *s, const struct crawl_stats *stats);
void screen_say(struct screen *s, struct span line); /* above the progress line; without one, not at all */
void screen_clear(struct screen *s);                 /* takes the progress line away */

/* Speed over the last seconds, from the samples given to it. */
#define SPEED_SAMPLES 32
struct speed {
    struct {
        mono_ms at;
        uint64_t pages, visits;
    } sample[SPEED_SAMPLES];
    unsigned n, next;
};
void speed_add(struct speed *s, mono_ms at, uint64_t pages, uint64_t visits);
double speed_pages(const struct speed *s); /* a second */
double speed_visits(const struct speed *s);

void put_finishing(struct buf *out, const struct crawl_stats *stats); /* what a crawl does at its end */
/* The progress line without line ends, at most `width` columns; parts that do not fit are left out from the right. */
void progress_line(struct buf *out, const struct crawl_stats *stats, const struct speed *speed, uint64_t pages_max,
                   size_t width, bool has_colour);

/* Standard output or error is a terminal that wants colours. */
bool wants_colour(int fd);
