#include "agent/machine.h"

#include <ifaddrs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "io/clock.h"
#include "io/sockaddr.h"
#include "store/file.h"

#define LOOK_EVERY_MS 5000
#define SMALL_FILE_MAX 8192
#define NICE 10
/* linux/ioprio.h is not part of libc. */
#define IOPRIO_WHO_PROCESS 1
#define IOPRIO_IDLE (3 << 13)

/* Bionic and musl have no malloc_trim; glibc declares it in a header of its own. */
int malloc_trim(size_t pad);

mono_ms machine_boottime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (mono_ms)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void read_small(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "re"); /* files of /proc have no size: file_read is not for them */
    if (!f)
        return;
    out->n += fread(buf_room(out, SMALL_FILE_MAX), 1, SMALL_FILE_MAX, f);
    fclose(f);
}

uint64_t machine_rss(void)
{
    struct buf text = {0};
    uint64_t pages = 0;
    read_small("/proc/self/statm", &text);
    struct span rest = buf_span(&text), part;
    for (int i = 0; i < 2 && span_split(&rest, ' ', &part); i++)
        if (i == 1 && !span_u64(part, UINT64_MAX, &pages))
            pages = 0;
    buf_done(&text);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t machine_disk_free(const char *path)
{
    struct statvfs v;
    return statvfs(path, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
}

unsigned machine_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* ---- load ---- */

void machine_load_init(struct machine_load *l)
{
    *l = (struct machine_load){.others_share = -1, .others_load = -1};
}

/* "cpu  user nice system idle iowait irq softirq steal ...", in jiffies of all cores. */
static bool read_jiffies(uint64_t *total, uint64_t *busy)
{
    struct buf text = {0};
    read_small("/proc/stat", &text);
    struct span rest = buf_span(&text), line = {0}, part;
    bool ok = span_split(&rest, '\n', &line) && span_starts(line, SPAN("cpu "));
    *total = *busy = 0;
    line = span_trim(span_from(line, 3));
    for (int i = 0; ok && i < 8 && span_split(&line, ' ', &part); i++) {
        uint64_t v = 0;
        ok = span_u64(part, UINT64_MAX, &v);
        *total += v;
        if (i != 3 && i != 4)
            *busy += v;
    }
    buf_done(&text);
    return ok && *total;
}

void machine_load_look(struct machine_load *l, mono_ms now)
{
    uint64_t total, busy;
    double average[1];
    if ((l->at && now - l->at < LOOK_EVERY_MS) || !read_jiffies(&total, &busy))
        return;
    int64_t own_us = clock_cpu_us();
    if (l->at && total > l->total) {
        double all = (double)(total - l->total), cores = machine_cores();
        double own = (double)(own_us - l->own_us) / 1e6 * (double)sysconf(_SC_CLK_TCK);
        double others = ((double)(busy - l->busy) - own) / all;
        l->others_share = others < 0 ? 0 : others;
        /* Our threads that wanted the CPU are in the average too, at most as many as they used it. */
        if (getloadavg(average, 1) == 1) {
            double load = average[0] / cores - own / all - 0.25;
            l->others_load = load < 0 ? 0 : load;
        }
    }
    l->total = total;
    l->busy = busy;
    l->own_us = own_us;
    l->at = now;
}

/* ---- setup ---- */

void machine_name(struct buf *out)
{
    struct utsname u;
    buf_printf(out, "%s-linux-gnu", uname(&u) == 0 ? u.machine : "unknown");
}

static struct span system_of(struct arena *a)
{
    struct buf text = {0};
    struct span line, found = {0};
    read_small("/etc/os-release", &text);
    struct span rest = buf_span(&text);
    while (!found.n && span_split(&rest, '\n', &line))
        if (span_starts(line, SPAN("PRETTY_NAME=\"")) && span_ends(line, SPAN("\"")))
            found = arena_copy(a, span_cut(line, 13, line.n - 14));
    buf_done(&text);
    struct utsname u;
    if (!found.n && uname(&u) == 0)
        found = arena_copy(a, span_str(u.sysname));
    return found;
}

static struct span zone_of(struct arena *a)
{
    char target[PATH_MAX];
    struct buf text = {0};
    struct span mark = SPAN("zoneinfo/"), found = {0};
    ssize_t n = readlink("/etc/localtime", target, sizeof(target));
    if (n > 0) {
        struct span path = span_of(target, (size_t)n);
        size_t at = span_search(path, mark, false);
        if (at < path.n)
            found = arena_copy(a, span_from(path, at + mark.n));
    }
    if (!found.n) {
        read_small("/etc/timezone", &text);
        found = arena_copy(a, span_trim(buf_span(&text)));
    }
    buf_done(&text);
    return found;
}

/* The first public address of an interface, else the first that is not loopback. Behind NAT the coordinator sees the
 * public one anyway. */
static struct span address_of(struct arena *a)
{
    struct ifaddrs *all = NULL;
    struct addr best = {0};
    char text[ADDR_TEXT_MAX];
    if (getifaddrs(&all) != 0)
        return (struct span){0};
    for (struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct addr addr = i->ifa_addr ? addr_of_sockaddr(i->ifa_addr) : (struct addr){0};
        addr_class c = addr_classify(&addr);
        if (!addr.family || c == ADDR_LOOPBACK || c == ADDR_LINK_LOCAL)
            continue;
        if (!best.family || (c == ADDR_PUBLIC && addr_classify(&best) != ADDR_PUBLIC))
            best = addr;
    }
    freeifaddrs(all);
    return best.family ? arena_copy(a, span_str(addr_format(&best, text))) : (struct span){0};
}

void machine_setup(struct arena *a, const char *data, struct agent_setup *out)
{
    struct sysinfo info;
    struct buf name = {0};
    machine_name(&name);
    *out = (struct agent_setup){
        .cores = machine_cores(),
        .memory_bytes = sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0,
        .disk_bytes = machine_disk_free(data),
        .system = system_of(a),
        .machine = arena_copy(a, buf_span(&name)),
        .zone = zone_of(a),
        .address = address_of(a),
    };
    buf_done(&name);
}

void machine_be_modest(void)
{
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
}

void machine_trim(void)
{
    malloc_trim(0);
}
