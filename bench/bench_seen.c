/* bench_seen.c - how fast the seen set takes keys, and what it costs. Usage: bench_seen FOLDER [KEYS]
 *
 * Prints `name value unit` lines. Half of the keys of every batch are new, as on pages that link to known ones. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "store/seen.h"

#define PAGE_LINKS 50
#define BULK 100000
#define TIMED_KEYS 2000000 /* of them in each measurement */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(const char *what, status st)
{
    if (st != ST_OK) {
        fprintf(stderr, "bench_seen: %s: %s\n", what, status_name(st));
        exit(1);
    }
}

/* A bijection on 64-bit numbers, so that key i can be drawn again without remembering it. */
static uint64_t key_of(uint64_t i)
{
    i += 0x9E3779B97F4A7C15;
    i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9;
    i = (i ^ (i >> 27)) * 0x94D049BB133111EB;
    return i ^ (i >> 31);
}

struct bench {
    struct seen *s;
    struct rng rng;
    uint64_t known; /* keys 0 .. known-1 are in */
    uint64_t *keys;
    bool *is_new;
};

static void add_new(struct bench *b, uint64_t total)
{
    while (b->known < total) {
        size_t n = total - b->known < BULK ? (size_t)(total - b->known) : BULK;
        for (size_t i = 0; i < n; i++)
            b->keys[i] = key_of(b->known + i);
        must("add", seen_add(b->s, b->keys, n, b->is_new));
        b->known += n;
    }
}

/* Seconds to add TIMED_KEYS keys in batches of `batch`, half of them new. */
static double timed(struct bench *b, size_t batch)
{
    double spent = 0;
    for (size_t done = 0; done < TIMED_KEYS; done += batch) {
        uint64_t known = b->known;
        for (size_t i = 0; i < batch; i++)
            b->keys[i] = key_of(i % 2 ? b->known++ : rng_below(&b->rng, known));
        double start = now();
        must("add", seen_add(b->s, b->keys, batch, b->is_new));
        spent += now() - start;
    }
    return spent;
}

static void measure(struct bench *b, uint64_t size)
{
    double start = now();
    uint64_t before = b->known;
    add_new(b, size);
    double m = (double)size / 1e6, filled = (double)(b->known - before);
    printf("seen_fill_to_%gM %.2f Mkeys/s\n", m, filled / (now() - start) / 1e6);
    printf("seen_batch_%d_at_%gM %.2f Mkeys/s\n", PAGE_LINKS, m, TIMED_KEYS / timed(b, PAGE_LINKS) / 1e6);
    printf("seen_batch_%d_at_%gM %.2f Mkeys/s\n", BULK, m, TIMED_KEYS / timed(b, BULK) / 1e6);
    printf("seen_memory_at_%gM %.2f bytes/key\n", m, (double)seen_memory(b->s) / (double)seen_count(b->s));
    printf("seen_disk_at_%gM %.2f bytes/key\n", m, (double)seen_disk(b->s) / (double)seen_count(b->s));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_seen FOLDER [KEYS]\n");
        return 2;
    }
    uint64_t top = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000000;
    struct bench b = {.keys = mem_alloc(BULK * sizeof(uint64_t)), .is_new = mem_alloc(BULK)};
    rng_seed(&b.rng, 1);
    must("open", seen_open(argv[1], NULL, &b.s));
    seen_settle(b.s); /* starts empty */
    measure(&b, top < 1000000 ? top : 1000000);
    if (top > b.known)
        measure(&b, top);
    seen_free(b.s);
    free(b.keys);
    free(b.is_new);
    return 0;
}
