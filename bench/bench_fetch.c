/* bench_fetch - how fast the fetcher alone is: URLs of a file, N rounds, K in flight, one address.
 *
 *   bench_fetch FILE ROUNDS IN_FLIGHT ADDR [CA_FILE]
 *
 * Prints requests/s and CPU time per request. Failed requests are counted and reported. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/fetcher.h"

struct bench {
    struct loop *loop;
    struct fetcher *fetcher;
    struct addr addr;
    struct span *urls;
    size_t url_count, url_cap;
    uint64_t to_start, under_way, ok, failed, bytes, reused;
};

static void on_done(void *arg, const struct fetch_result *r);

static void start_one(struct bench *b)
{
    struct fetch_req req = {.url = b->urls[b->to_start % b->url_count], .addr = b->addr, .done = on_done, .arg = b};
    b->to_start--;
    b->under_way++;
    fetcher_get(b->fetcher, &req);
}

static void on_done(void *arg, const struct fetch_result *r)
{
    struct bench *b = arg;
    b->under_way--;
    if (r->st == ST_OK && r->http_status == 200)
        b->ok++;
    else if (b->failed++ < 5)
        fprintf(stderr, "bench_fetch: status %s http %d: %s\n", status_name(r->st), r->http_status, r->why);
    b->bytes += r->body.n;
    b->reused += r->reused;
    if (b->to_start)
        start_one(b);
    else if (!b->under_way)
        loop_stop(b->loop);
}

static void read_urls(struct bench *b, const char *path)
{
    FILE *f = fopen(path, "re");
    char line[4096];
    while (f && fgets(line, sizeof(line), f)) {
        struct span url = span_trim(span_str(line));
        b->urls = mem_grow(b->urls, &b->url_cap, b->url_count + 1, sizeof(*b->urls));
        b->urls[b->url_count++] = span_str(mem_str(url));
    }
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    uint64_t rounds, in_flight;
    if (argc < 5 || !span_u64(span_str(argv[2]), 1000000, &rounds) || !span_u64(span_str(argv[3]), 4096, &in_flight) ||
        addr_parse(span_str(argv[4]), &b.addr) != ST_OK) {
        fprintf(stderr, "usage: bench_fetch FILE ROUNDS IN_FLIGHT ADDR [CA_FILE]\n");
        return 2;
    }
    read_urls(&b, argv[1]);
    if (!b.url_count) {
        fprintf(stderr, "bench_fetch: no URLs in %s\n", argv[1]);
        return 3;
    }
    b.loop = loop_new();
    struct fetcher_opts opts = {.user_agent = SPAN("bench_fetch"), .allow_private = true};
    if (argc > 5)
        opts.ca_file = span_str(argv[5]);
    if (fetcher_new(b.loop, &opts, &b.fetcher) != ST_OK)
        return 4;
    b.to_start = rounds * b.url_count;
    int64_t start = clock_mono_us(), cpu = clock_cpu_us();
    for (uint64_t i = 0; i < in_flight && b.to_start; i++)
        start_one(&b);
    loop_run(b.loop);
    double s = (double)(clock_mono_us() - start) / 1e6, n = (double)(b.ok + b.failed);
    printf("requests %.0f failed %" PRIu64
           " reused %.4f seconds %.2f requests_per_s %.0f MB_per_s %.1f cpu_us_per_request %.2f "
           "peak_rss_bytes %" PRIu64 "\n",
           n, b.failed, (double)b.reused / n, s, n / s, (double)b.bytes / 1e6 / s, (double)(clock_cpu_us() - cpu) / n,
           clock_peak_rss());
    fetcher_free(b.fetcher);
    loop_free(b.loop);
    for (size_t i = 0; i < b.url_count; i++)
        free((char *)b.urls[i].p);
    free(b.urls);
    return b.failed ? 1 : 0;
}
