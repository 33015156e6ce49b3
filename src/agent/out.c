#include "agent/out.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "io/clock.h"

struct out {
    struct log log;
    FILE *file; /* owned; NULL: standard error */
    bool has_line, is_up;
    pthread_mutex_t lock;
    mono_ms last;
    uint64_t last_pages;
    double rate;
};

static void put_time(FILE *f)
{
    wall_ms now = clock_wall();
    time_t seconds = (time_t)(now / 1000);
    struct tm t;
    char text[32];
    gmtime_r(&seconds, &t);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &t);
    fprintf(f, "%s.%03dZ ", text, (int)(now % 1000));
}

static void take_down(struct out *o)
{
    if (o->is_up)
        fputs("\r\033[K", stderr);
    o->is_up = false;
}

static void sink(void *self, log_level level, struct span line)
{
    struct out *o = self;
    FILE *f = o->file ? o->file : stderr;
    pthread_mutex_lock(&o->lock);
    if (!o->file)
        take_down(o);
    put_time(f);
    fprintf(f, "%.*s\n", SPAN_ARG(line));
    fflush(f);
    pthread_mutex_unlock(&o->lock);
}

struct out *out_new(const struct out_opts *opts)
{
    FILE *file = NULL;
    if (opts->path && !(file = fopen(opts->path, "ae")))
        return NULL;
    struct out *o = mem_alloc(sizeof(*o));
    o->file = file;
    o->has_line = opts->has_line;
    o->log = (struct log){.level = opts->level, .sink = sink, .self = o};
    pthread_mutex_init(&o->lock, NULL);
    return o;
}

void out_free(struct out *o)
{
    if (!o)
        return;
    take_down(o);
    if (o->file)
        fclose(o->file);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

const struct log *out_log(const struct out *o)
{
    return &o->log;
}

void out_progress(void *arg, const struct crawl_stats *s, const char *doing)
{
    struct out *o = arg;
    mono_ms now = clock_mono();
    if (!o->has_line || now - o->last < 500)
        return;
    uint64_t pages = s->fetched;
    double rate = o->last ? (double)(pages - o->last_pages) * 1000 / (double)(now - o->last) : 0;
    o->rate = o->rate * 0.7 + rate * 0.3;
    o->last = now;
    o->last_pages = pages;
    pthread_mutex_lock(&o->lock);
    fprintf(stderr, "\r  %llu pages  %.1f/s  queue %llu  errors %llu  %s\033[K", (unsigned long long)pages, o->rate,
            (unsigned long long)s->queued, (unsigned long long)s->errors, doing);
    fflush(stderr);
    o->is_up = true;
    pthread_mutex_unlock(&o->lock);
}
