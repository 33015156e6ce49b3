#include "lab/busy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* cpu  user nice system idle iowait irq softirq steal guest guest_nice; guests are in user and nice already. */
enum { FIELD_IDLE = 3, FIELD_WAIT = 4, FIELD_STOLEN = 7, FIELDS = 8 };

bool busy_parse(struct span text, struct busy_ticks *out)
{
    struct span line, word;
    struct busy_ticks t = {0};
    int n = 0;
    if (!span_split(&text, '\n', &line) || !span_starts(line, SPAN("cpu ")))
        return false;
    line = span_from(line, 3);
    while (n < FIELDS && span_split(&line, ' ', &word)) {
        uint64_t v;
        if (word.n == 0)
            continue;
        if (!span_u64(word, UINT64_MAX / FIELDS, &v))
            return false;
        t.total += v;
        if (n == FIELD_IDLE || n == FIELD_WAIT)
            t.idle += v;
        if (n == FIELD_STOLEN)
            t.stolen = v;
        n++;
    }
    if (n <= FIELD_WAIT)
        return false;
    *out = t;
    return true;
}

static double seconds(const struct timeval *t)
{
    return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

void busy_mark(struct busy_mark *out)
{
    char text[512];
    struct rusage r;
    struct timespec now;
    *out = (struct busy_mark){0};
    FILE *f = fopen("/proc/stat", "re");
    if (f) {
        size_t n = fread(text, 1, sizeof(text), f);
        (void)busy_parse(span_of(text, n), &out->ticks);
        fclose(f);
    }
    if (getrusage(RUSAGE_CHILDREN, &r) == 0)
        out->own_s = seconds(&r.ru_utime) + seconds(&r.ru_stime);
    clock_gettime(CLOCK_MONOTONIC, &now);
    out->at_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void busy_since(const struct busy_mark *from, struct busy *out)
{
    struct busy_mark now;
    busy_mark(&now);
    *out = (struct busy){0};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    out->cpus = cpus > 0 ? (unsigned)cpus : 1;
    double total = (double)(now.ticks.total - from->ticks.total), passed = now.at_s - from->at_s;
    if (now.ticks.total > from->ticks.total) {
        out->used = 1 - (double)(now.ticks.idle - from->ticks.idle) / total;
        out->stolen = (double)(now.ticks.stolen - from->ticks.stolen) / total;
    }
    if (passed > 0)
        out->own = (now.own_s - from->own_s) / passed / out->cpus;
    if (getloadavg(out->load, 3) != 3)
        out->load[0] = out->load[1] = out->load[2] = 0;
}
