/* hierarchy_bench.c - building and asking a registry hierarchy. Usage: hierarchy_bench FILE...
 *
 * Reads registry files (plain, gzip, zstd), builds the hierarchy in this one thread, then asks it for a million random
 * addresses that are inside of random nodes. Prints `name value unit` lines. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "io/registry_files.h"

#define LOOKUPS 1000000
#define ROUNDS 5

/* CPU time of this thread: it waits for nothing but its input, and others may be at work on the machine. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(const char *what, status st)
{
    if (st != ST_OK) {
        fprintf(stderr, "hierarchy_bench: %s: %s\n", what, status_name(st));
        exit(1);
    }
}

/* Anywhere in the network of a random node: its first bytes from the node, the rest random, as far as that is inside.
 */
static struct addr random_address(struct rng *rng, const struct hierarchy *h, unsigned family, uint32_t from,
                                  uint32_t to)
{
    struct hierarchy_node n;
    hierarchy_get(h, from + (uint32_t)rng_below(rng, to - from), &n);
    struct addr a = n.first;
    for (size_t i = 0, all = family == 4 ? 4 : 16; i < all; i++) {
        if (n.first.b[i] == n.last.b[i])
            continue;
        a.b[i] = (uint8_t)(n.first.b[i] + rng_below(rng, (uint64_t)(n.last.b[i] - n.first.b[i]) + 1));
        for (i++; i < all; i++)
            a.b[i] = (uint8_t)rng_u64(rng);
    }
    return a;
}

typedef uint32_t lookup_fn(const struct hierarchy *h, const struct addr *a);

static double lookup_ns(const struct hierarchy *h, const struct addr *addrs, lookup_fn *lookup)
{
    double best = 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        uint32_t s = 0;
        double start = now();
        for (size_t i = 0; i < LOOKUPS; i++)
            s += lookup(h, &addrs[i]);
        double spent = (now() - start) * 1e9 / LOOKUPS;
        __asm__ volatile("" : : "r"(s)); /* or nothing would be looked up */
        best = spent < best ? spent : best;
    }
    return best;
}

static void measure_family(const struct hierarchy *h, unsigned family, uint32_t from, uint32_t to)
{
    struct rng rng;
    struct addr *addrs = mem_alloc(LOOKUPS * sizeof(*addrs));
    rng_seed(&rng, family);
    for (size_t i = 0; i < LOOKUPS; i++)
        addrs[i] = random_address(&rng, h, family, from, to);
    printf("hierarchy_lookup_v%u %.0f ns\n", family, lookup_ns(h, addrs, hierarchy_lookup));
    printf("hierarchy_network_v%u %.0f ns\n", family, lookup_ns(h, addrs, hierarchy_network));
    free(addrs);
}

/* As every program opens it: from a file that is mapped. Resident is what all lookups have touched. */
static void measure_file(struct buf *bytes, const struct hierarchy_figures *f)
{
    char path[] = "/tmp/hierarchy_bench.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, bytes->p, bytes->n) != (ssize_t)bytes->n)
        must("write", ST_IO);
    size_t n = bytes->n;
    buf_done(bytes);
    char *map = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    unlink(path);
    if (map == MAP_FAILED)
        must("map", ST_IO);
    double start = now();
    struct hierarchy *h = NULL;
    must("open", hierarchy_open(span_of(map, n), &h, NULL));
    printf("hierarchy_open %.3f ms\n", (now() - start) * 1e3);
    start = now();
    must("check", hierarchy_check(h, NULL));
    printf("hierarchy_check %.0f ms\n", (now() - start) * 1e3);
    if (f->nodes_v4)
        measure_family(h, 4, 1, (uint32_t)f->nodes_v4 + 1);
    if (f->nodes_v6)
        measure_family(h, 6, (uint32_t)f->nodes_v4 + 1, hierarchy_count(h) + 1);
    printf("hierarchy_bytes_per_node %.1f bytes\n", (double)n / (double)hierarchy_count(h));
    hierarchy_free(h);
    munmap(map, n);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: hierarchy_bench FILE...\n");
        return 2;
    }
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct registry_watch watch = {0};
    struct hierarchy_figures f;
    struct buf bytes = {0};
    uint64_t bad = 0;
    double start = now();
    for (int i = 1; i < argc; i++) {
        struct registry_file file;
        must(argv[i], registry_file_add(b, argv[i], &watch, &file));
        bad += file.bad;
    }
    double parsed = now() - start;
    must("finish", hierarchy_builder_finish(b, SPAN("from=hierarchy_bench\n"), &bytes, &f));
    double built = now() - start;
    hierarchy_builder_free(b);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("hierarchy_ranges %llu ranges\n", (unsigned long long)f.ranges);
    printf("hierarchy_nodes %llu nodes\n", (unsigned long long)(f.nodes_v4 + f.nodes_v6));
    printf("hierarchy_bad %llu lines\n", (unsigned long long)bad);
    printf("hierarchy_crossings %llu nodes\n", (unsigned long long)f.crossings);
    printf("hierarchy_height %u levels\n", f.height);
    printf("hierarchy_read %.2f s\n", parsed);
    printf("hierarchy_build %.2f s\n", built);
    printf("hierarchy_build_memory %ld MiB\n", usage.ru_maxrss / 1024);
    measure_file(&bytes, &f);
    return 0;
}
