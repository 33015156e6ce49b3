#include "measure.h"

#include <dirent.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double clock_s(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double measure_wall(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double measure_cpu(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

double measure_thread_cpu(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

void measure_must(const char *what, status st)
{
    if (st == ST_OK)
        return;
    fflush(stdout);
    fprintf(stderr, "bench: %s: %s\n", what, status_name(st));
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double measure_quantile(double *values, size_t n, double q)
{
    if (!n)
        return 0;
    qsort(values, n, sizeof(*values), by_value);
    double rank = q * (double)n;
    size_t at = (size_t)rank;
    if (at > 0 && (double)at == rank)
        at--;
    return values[at < n ? at : n - 1];
}

static void pin_task(pid_t task, int core)
{
    cpu_set_t set;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&set);
    for (int i = 0; i < cores && i < CPU_SETSIZE; i++)
        if (core < 0 || i == core)
            CPU_SET(i, &set);
    if (cores > 1 && core < cores)
        sched_setaffinity(task, sizeof(set), &set);
}

void measure_pin_thread(int core)
{
    pin_task(0, core);
}

void measure_pin(int core)
{
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        if (ascii_is_digit(e->d_name[0]))
            pin_task((pid_t)strtol(e->d_name, NULL, 10), core);
    if (d)
        closedir(d);
}

size_t measure_anonymous_bytes(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "RssAnon: %zu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

size_t measure_peak_bytes(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (size_t)u.ru_maxrss << 10 : 0;
}

uint64_t measure_folder_bytes(const char *folder, const char *suffix)
{
    DIR *d = opendir(folder);
    uint64_t sum = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            sum += measure_folder_bytes(path, suffix);
        else if (span_ends(span_str(path), span_str(suffix)))
            sum += (uint64_t)st.st_size;
    }
    if (d)
        closedir(d);
    return sum;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    return remove(path);
}

void measure_remove(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void measure_print(const char *name, double value, const char *unit)
{
    const char *format = value >= 1000 ? "%s %.0f %s\n" : value >= 10 ? "%s %.2f %s\n" : "%s %.4g %s\n";
    printf(format, name, value, unit);
    fflush(stdout);
}
