#include "cli/screen.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/format.h"
#include "io/clock.h"

#define PLAIN_EVERY_MS 10000
#define SPEED_EVERY_MS 200 /* so that the samples reach back some six seconds */

struct screen {
    struct screen_opts opts;
    struct log log;
    FILE *file;           /* owned; NULL: none */
    pthread_mutex_t lock; /* file and terminal */
    bool line_is_up;
    bool has_colour;
    struct speed speed;
    mono_ms last_plain;
};

/* ---- speed ---- */

void speed_add(struct speed *s, mono_ms at, uint64_t pages, uint64_t visits)
{
    unsigned last = (s->next + SPEED_SAMPLES - 1) % SPEED_SAMPLES;
    if (s->n && at - s->sample[last].at < SPEED_EVERY_MS)
        return;
    s->sample[s->next].at = at;
    s->sample[s->next].pages = pages;
    s->sample[s->next].visits = visits;
    s->next = (s->next + 1) % SPEED_SAMPLES;
    if (s->n < SPEED_SAMPLES)
        s->n++;
}

static double per_second(const struct speed *s, bool of_pages)
{
    if (s->n < 2)
        return 0;
    unsigned newest = (s->next + SPEED_SAMPLES - 1) % SPEED_SAMPLES, oldest = s->n < SPEED_SAMPLES ? 0 : s->next;
    uint64_t a = of_pages ? s->sample[oldest].pages : s->sample[oldest].visits;
    uint64_t b = of_pages ? s->sample[newest].pages : s->sample[newest].visits;
    int64_t ms = s->sample[newest].at - s->sample[oldest].at;
    return ms > 0 && b > a ? (double)(b - a) * 1000 / (double)ms : 0;
}

double speed_pages(const struct speed *s)
{
    return per_second(s, true);
}

double speed_visits(const struct speed *s)
{
    return per_second(s, false);
}

/* ---- the line ---- */

/* Appends a part when it fits; `colour` is an SGR code or NULL. */
static bool put_part(struct buf *out, size_t *column, size_t width, struct buf *part, const char *colour)
{
    bool fits = *column + 2 + part->n <= width;
    if (fits) {
        buf_puts(out, "  ");
        if (colour)
            buf_printf(out, "\033[%sm", colour);
        buf_put(out, buf_span(part));
        if (colour)
            buf_puts(out, "\033[0m");
        *column += 2 + part->n;
    }
    buf_clear(part);
    return fits;
}

/* Seconds until nothing is left to do, as far as one can tell; 0: cannot tell. */
static uint64_t seconds_left(const struct crawl_stats *st, const struct speed *speed, uint64_t pages_max)
{
    double visits = speed_visits(speed), pages = speed_pages(speed);
    uint64_t open = st->queued > st->queued_given_up ? st->queued - st->queued_given_up : 0;
    double left = visits > 0 ? (double)open / visits : 0;
    if (pages_max > st->pages && pages > 0) {
        double to_limit = (double)(pages_max - st->pages) / pages;
        if (left == 0 || to_limit < left)
            left = to_limit;
    }
    return left > 0 && left < 365.0 * 86400 ? (uint64_t)(left + 0.999) : 0;
}

void put_finishing(struct buf *out, const struct crawl_stats *st)
{
    if (st->is_comparing)
        buf_printf(out, "looking for near-duplicates, %u %%", st->compared_percent);
    else
        buf_puts(out, "finishing");
}

void progress_line(struct buf *out, const struct crawl_stats *st, const struct speed *speed, uint64_t pages_max,
                   size_t width, bool has_colour)
{
    struct buf part = {0};
    size_t column = 0;
    uint64_t left = seconds_left(st, speed, pages_max);
    put_count(&part, st->pages);
    buf_puts(&part, st->pages == 1 ? " page" : " pages");
    bool go_on = put_part(out, &column, width, &part, NULL);
    if (st->is_finishing) {
        put_finishing(&part, st);
        (void)(go_on && put_part(out, &column, width, &part, NULL));
        buf_done(&part);
        return;
    }
    double rate = speed_pages(speed);
    if (rate < 9.95)
        buf_printf(&part, "%.1f", rate);
    else
        put_count(&part, (uint64_t)(rate + 0.5));
    buf_puts(&part, "/s");
    go_on = go_on && put_part(out, &column, width, &part, NULL);
    buf_puts(&part, "queue ");
    put_count(&part, st->queued);
    go_on = go_on && put_part(out, &column, width, &part, NULL);
    buf_puts(&part, "errors ");
    put_count(&part, st->errors);
    go_on = go_on && put_part(out, &column, width, &part, has_colour && st->errors ? "33" : NULL);
    put_bytes(&part, st->bytes_wire);
    go_on = go_on && put_part(out, &column, width, &part, NULL);
    if (st->disk_trouble)
        buf_puts(&part, "waiting for disk space");
    else if (left) {
        buf_puts(&part, "eta ");
        put_clock(&part, left);
    } else if (st->hosts_waiting) {
        put_count(&part, st->hosts_waiting);
        buf_puts(&part, st->hosts_waiting == 1 ? " host rests" : " hosts rest");
        if (st->rests_ms > 0) {
            buf_puts(&part, st->hosts_waiting == 1 ? " for " : ", the first for ");
            put_clock(&part, (uint64_t)(st->rests_ms + 999) / 1000);
        }
    }
    if (go_on && part.n)
        (void)put_part(out, &column, width, &part, has_colour && st->disk_trouble ? "31" : NULL);
    buf_done(&part);
}

/* ---- standard error ---- */

bool wants_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && (!no || !*no) && (!term || strcmp(term, "dumb") != 0);
}

static size_t terminal_width(void)
{
    struct winsize w;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void take_line_down(struct screen *s)
{
    if (s->line_is_up)
        fputs("\r\033[K", stderr);
    s->line_is_up = false;
}

static void put_time(FILE *f)
{
    struct buf t = {0};
    wall_ms now = clock_wall();
    put_iso_time(&t, now);
    fprintf(f, "%.*s.%03dZ ", (int)(t.n ? t.n - 1 : 0), t.p ? t.p : "", (int)(now % 1000));
    buf_done(&t);
}

static void sink(void *self, log_level level, struct span line)
{
    struct screen *s = self;
    pthread_mutex_lock(&s->lock);
    if (s->file) {
        put_time(s->file);
        fprintf(s->file, "%.*s\n", SPAN_ARG(line));
        fflush(s->file);
    }
    if (!s->file || level == LOG_ERROR) {
        take_line_down(s);
        fprintf(stderr, "orb: %.*s\n", SPAN_ARG(line));
        fflush(stderr);
    }
    pthread_mutex_unlock(&s->lock);
}

struct screen *screen_new(const struct screen_opts *opts)
{
    FILE *file = NULL;
    if (opts->log_path && !(file = fopen(opts->log_path, "ae")))
        return NULL;
    struct screen *s = mem_alloc(sizeof(*s));
    s->opts = *opts;
    s->opts.log_path = NULL; /* not ours to keep */
    s->file = file;
    s->log = (struct log){.level = opts->level, .sink = sink, .self = s};
    s->has_colour = wants_colour(STDERR_FILENO);
    s->last_plain = clock_mono();
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void screen_free(struct screen *s)
{
    if (!s)
        return;
    screen_clear(s);
    if (s->file)
        fclose(s->file);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const struct log *screen_log(const struct screen *s)
{
    return &s->log;
}

void screen_progress(struct screen *s, const struct crawl_stats *st)
{
    mono_ms now = clock_mono();
    /* A second visit finds few new pages; what moves then is the number of visits. */
    uint64_t visits = st->requests > st->robots_fetched ? st->requests - st->robots_fetched : 0;
    speed_add(&s->speed, now, st->pass > 1 ? visits : st->fetched, visits);
    if (!s->opts.has_line && (!s->opts.has_plain || now - s->last_plain < PLAIN_EVERY_MS))
        return;
    struct buf line = {0};
    progress_line(&line, st, &s->speed, s->opts.pages_max, s->opts.has_line ? terminal_width() - 1 : SIZE_MAX / 2,
                  s->opts.has_line && s->has_colour);
    pthread_mutex_lock(&s->lock);
    if (s->opts.has_line) {
        fprintf(stderr, "\r%.*s\033[K", SPAN_ARG(buf_span(&line)));
        s->line_is_up = true;
    } else {
        fprintf(stderr, "orb:%.*s\n", SPAN_ARG(buf_span(&line)));
        s->last_plain = now;
    }
    fflush(stderr);
    pthread_mutex_unlock(&s->lock);
    buf_done(&line);
}

void screen_say(struct screen *s, struct span line)
{
    if (!s->opts.has_line && !s->opts.has_plain)
        return;
    pthread_mutex_lock(&s->lock);
    take_line_down(s);
    fprintf(stderr, "orb: %.*s\n", SPAN_ARG(line));
    fflush(stderr);
    pthread_mutex_unlock(&s->lock);
}

void screen_clear(struct screen *s)
{
    pthread_mutex_lock(&s->lock);
    take_line_down(s);
    fflush(stderr);
    pthread_mutex_unlock(&s->lock);
}
