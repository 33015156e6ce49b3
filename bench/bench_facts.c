/* bench_facts.c - how fast pages become facts: bench_facts FOLDER [ROUNDS]
 *
 * Reads every .html file below FOLDER into memory, up to BYTES_MAX, then times the tokenizer alone and the collector
 * with and without text and anchors, on one core. One line a figure: name value unit. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "web/facts.h"
#include "web/html_token.h"

#define BYTES_MAX (1u << 30)
#define ROUNDS_MAX 100

struct pages {
    struct span *page;
    size_t count, cap;
    size_t bytes;
};

static void read_page(struct pages *all, const char *path, size_t size)
{
    FILE *f = fopen(path, "rb");
    char *p = mem_realloc(NULL, size + 1);
    if (f && size <= BYTES_MAX - all->bytes && fread(p, 1, size, f) == size) {
        all->page = mem_grow(all->page, &all->cap, all->count + 1, sizeof(*all->page));
        all->page[all->count++] = span_of(p, size);
        all->bytes += size;
    } else {
        free(p);
    }
    if (f)
        fclose(f);
}

static void read_folder(struct pages *all, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        struct stat st;
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (lstat(path, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            read_folder(all, path);
        else if (S_ISREG(st.st_mode) && span_ends(span_str(path), SPAN(".html")))
            read_page(all, path, (size_t)st.st_size);
    }
    if (d)
        closedir(d);
}

static uint64_t run_tokens(const struct pages *all, const bool *wants_attrs)
{
    static struct html_tok t;
    struct html_token tok;
    uint64_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        html_begin(&t, all->page[i]);
        t.wants_attrs = wants_attrs;
        for (; html_next(&t, &tok); count++)
            if (tok.kind == HTML_START && (tok.tag == HTML_TAG_script || tok.tag == HTML_TAG_style))
                html_switch(&t, tok.tag == HTML_TAG_script ? HTML_SCRIPT : HTML_RAWTEXT);
    }
    return count;
}

static uint64_t run_facts(const struct pages *all, const struct facts_opts *opts)
{
    struct arena a;
    struct facts facts;
    uint64_t sum = 0;
    arena_init(&a);
    for (size_t i = 0; i < all->count; i++) {
        arena_reset(&a);
        facts_collect(&a, all->page[i], opts, &facts);
        sum += facts.link_count;
    }
    arena_done(&a);
    return sum;
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is timed: facts when opts is given, else tokens. */
struct job {
    const char *name;
    const struct facts_opts *opts;
    const bool *wants_attrs;
};

static void time_job(const struct pages *all, const struct job *job, int rounds)
{
    double rate[ROUNDS_MAX];
    uint64_t found = 0;
    for (int i = 0; i < rounds; i++) {
        double start = now_s();
        found = job->opts ? run_facts(all, job->opts) : run_tokens(all, job->wants_attrs);
        rate[i] = (double)all->bytes / (now_s() - start) / 1e6;
    }
    qsort(rate, (size_t)rounds, sizeof(rate[0]), by_value);
    printf("%s_best %.0f MB/s\n", job->name, rate[rounds - 1]);
    printf("%s_median %.0f MB/s\n", job->name, rate[rounds / 2]);
    printf("%s_found %llu %s\n", job->name, (unsigned long long)found, job->opts ? "links" : "tokens");
}

int main(int argc, char **argv)
{
    static const bool no_attrs[HTML_TAG_COUNT];
    static const struct facts_opts lean = {0}, text = {.keep_text = true},
                                   full = {.keep_text = true, .keep_anchors = true};
    static const struct facts_opts anchors = {.keep_anchors = true};
    static const struct job jobs[] = {
        {"tokens", NULL, NULL},      {"tokens_no_attributes", NULL, no_attrs},
        {"facts", &lean, NULL},      {"facts_anchors", &anchors, NULL},
        {"facts_text", &text, NULL}, {"facts_text_anchors", &full, NULL},
    };
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_facts FOLDER [ROUNDS]\n");
        return 2;
    }
    struct pages all = {0};
    read_folder(&all, argv[1]);
    if (!all.count) {
        fprintf(stderr, "bench_facts: no .html file in %s\n", argv[1]);
        return 1;
    }
    printf("pages %zu count\nbytes %zu B\n", all.count, all.bytes);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        time_job(&all, &jobs[i], rounds);
    for (size_t i = 0; i < all.count; i++)
        free((void *)all.page[i].p);
    free(all.page);
    return 0;
}
