/* clock.h - the two clocks. Only daemons and the crawl engine read them; decisions are passed the time. */
#pragma once

#include <time.h>

#include "base/status.h"

mono_ms clock_mono(void);
int64_t clock_mono_us(void);
wall_ms clock_wall(void);
/* The moment in `ms` from now, for pthread_cond_timedwait on a condition that has the monotonic clock. */
struct timespec clock_in(int64_t ms);
/* CPU time of the process so far, user and system, in microseconds. */
int64_t clock_cpu_us(void);
/* Of this thread alone: what a piece of code costs, whatever else the machine does. */
int64_t clock_thread_us(void);
/* Peak resident set of the process in bytes. */
uint64_t clock_peak_rss(void);
