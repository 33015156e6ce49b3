#include "io/clock.h"

#include <stdio.h>
#include <sys/resource.h>

static int64_t read_us(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* The same clock as loop_now(), so the two may be compared. */
mono_ms clock_mono(void)
{
    return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

wall_ms clock_wall(void)
{
    return read_us(CLOCK_REALTIME) / 1000;
}

struct timespec clock_in(int64_t ms)
{
    int64_t us = clock_mono_us() + ms * 1000;
    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

int64_t clock_cpu_us(void)
{
    return read_us(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_thread_us(void)
{
    return read_us(CLOCK_THREAD_CPUTIME_ID);
}

/* ru_maxrss outlives exec(), so a small child of a large process would report its parent's peak: /proc first. */
uint64_t clock_peak_rss(void)
{
    uint64_t kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    if (f) {
        char line[256];
        unsigned long long v;
        while (kib == 0 && fgets(line, sizeof(line), f))
            if (sscanf(line, "VmHWM: %llu", &v) == 1)
                kib = v;
        fclose(f);
    }
    struct rusage u;
    if (kib == 0 && getrusage(RUSAGE_SELF, &u) == 0)
        kib = (uint64_t)u.ru_maxrss;
    return kib * 1024;
}
