/* bench_package.c - how small pages get on their way from an agent: bench_package SITES [LEVEL [CLOSE-MIB]]
 *
 * Every documentation site below SITES becomes packages as an agent makes them, once with `text` and once with
 * `keywords`; they are read again and compared. Prints bytes against the decoded HTML and against gzip -6 of each page,
 * and CPU time a page; last, how much smaller packages of few pages would be with a dictionary that was trained on a
 * third of the site. One line a figure: name value unit. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "codec/digest.h"
#include "measure.h"
#include "sites.h"
#include "wire/package.h"

static const char *const names[] = {"apache2-doc",  "cppreference-doc-en-html", "debian-handbook",
                                    "libgtk-4-doc", "postgresql-doc-15",        "python3.11-doc"};

struct outcome_sum {
    size_t bytes, packages;
    double make_s, read_s;
};

/* Pages a package: a page that changed comes alone or with a few others, those of a new site by the hundred. */
static const size_t few[] = {1, 16, 64};
#define FEW (sizeof(few) / sizeof(few[0]))

struct totals {
    size_t pages, html, gzip;
    struct outcome_sum by_kind[3]; /* by summary_kind */
    size_t plain[FEW], with_dictionary[FEW];
};

struct check {
    const struct site *site;
    struct table by_url; /* to visits of the site */
    size_t seen;
    summary_kind kind;
};

static size_t links_sent(const struct summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->link_count; i++)
        n += s->links[i].text.n || s->links[i].flags & SUMMARY_LINK_FOREIGN;
    return n;
}

static status compare(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    struct check *c = arg;
    const struct summary *want = table_get(&c->by_url, digest_blake2b64(s->url));
    c->seen++;
    bool is_same = want && kind == c->kind && span_eq(s->url, want->url) && span_eq(s->title, want->title) &&
                   s->digest == want->digest && s->heading_count == want->heading_count &&
                   s->link_count == links_sent(want) && (kind == SUMMARY_KEYWORDS || span_eq(s->text, want->text));
    return is_same ? ST_OK : ST_CORRUPT;
}

static status ignore(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    (void)arg;
    return ST_OK;
}

static struct sign_key the_key(void)
{
    struct sign_key k;
    sign_key_of((const unsigned char[SIGN_SEED_BYTES]){1}, &k);
    return k;
}

/* Reads a package twice: to compare, and to time without that. */
static void take_in(struct span package, const struct sign_key *k, struct check *c, struct outcome_sum *sum)
{
    measure_must("compare what was packed", package_read(package, &k->open, NULL, compare, c));
    double begin = measure_thread_cpu();
    measure_must("read a package", package_read(package, &k->open, NULL, ignore, NULL));
    sum->read_s += measure_thread_cpu() - begin;
    sum->bytes += package.n;
    sum->packages++;
}

static void pack_site(const struct site *site, summary_kind kind, int level, size_t close, struct outcome_sum *sum)
{
    struct sign_key k = the_key();
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){.level = level});
    struct package_head head = {.agent = 1};
    struct check c = {.site = site, .kind = kind};
    struct buf out = {0};
    for (size_t i = 0; i < site->count; i++)
        table_put(&c.by_url, digest_blake2b64(site->visits[i].url), &site->visits[i]);
    double begin = measure_thread_cpu();
    for (size_t i = 0; i < site->count; i++) {
        package_add_visit(w, 1, kind, &site->visits[i]);
        if (package_raw_bytes(w) < close && i + 1 < site->count)
            continue;
        head.sequence++;
        buf_clear(&out);
        package_finish(w, &head, &k, &out);
        sum->make_s += measure_thread_cpu() - begin;
        take_in(buf_span(&out), &k, &c, sum);
        begin = measure_thread_cpu();
    }
    measure_must("read as many visits as were packed", c.seen == site->count ? ST_OK : ST_CORRUPT);
    table_done(&c.by_url);
    buf_done(&out);
    package_writer_free(w);
}

/* ---- with a dictionary ---- */

struct samples {
    struct buf bytes; /* bodies of packages, end to end */
    size_t *sizes, count;
};

/* Pages `from` to `to` in an order of chance, so many a package; what they are before compression goes to `into`. */
static size_t pack_few(const struct site *site, size_t from, size_t to, size_t pages, const struct zip_dict *dict,
                       struct samples *into)
{
    struct sign_key k = the_key();
    struct package_writer *w =
        package_writer_new(&(struct package_writer_opts){.dict = dict, .dictionary = dict != NULL});
    struct package_head head = {.agent = 1};
    struct buf out = {0};
    size_t bytes = 0;
    for (size_t i = from; i < to; i++) {
        package_add_visit(w, 1, SUMMARY_TEXT, &site->visits[(i * 7919 + 13) % site->count]);
        if ((i - from + 1) % pages && i + 1 < to)
            continue;
        head.sequence++;
        buf_clear(&out);
        package_finish(w, &head, &k, &out);
        bytes += out.n;
        if (into) {
            size_t before = into->bytes.n;
            measure_must("unpack a sample",
                         unzip_zstd(span_from(buf_span(&out), PACKAGE_HEAD_BYTES), PACKAGE_RAW_MAX, &into->bytes));
            into->sizes[into->count++] = into->bytes.n - before;
        }
    }
    buf_done(&out);
    package_writer_free(w);
    return bytes;
}

static void compare_dictionary(const struct site *site, struct totals *t)
{
    size_t trained = site->count / 3;
    for (size_t i = 0; i < FEW; i++) {
        struct samples s = {.sizes = mem_alloc((trained + 1) * sizeof(*s.sizes))};
        struct buf bytes = {0};
        struct zip_dict *dict = NULL;
        (void)pack_few(site, 0, trained, few[i] < 16 ? few[i] : 16, NULL, &s);
        measure_must("train a dictionary", zip_dict_train(buf_span(&s.bytes), s.sizes, s.count, &bytes));
        measure_must("take it", zip_dict_new(buf_span(&bytes), 0, &dict));
        t->plain[i] += pack_few(site, trained, site->count, few[i], NULL, NULL);
        t->with_dictionary[i] += pack_few(site, trained, site->count, few[i], dict, NULL);
        zip_dict_free(dict);
        buf_done(&bytes);
        buf_done(&s.bytes);
        free(s.sizes);
    }
}

static size_t gzip_bytes(struct span page)
{
    z_stream z = {0};
    size_t cap = compressBound(page.n) + 32;
    unsigned char *to = mem_realloc(NULL, cap);
    int rc = deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)page.p;
    z.avail_in = (unsigned)page.n;
    z.next_out = to;
    z.avail_out = (unsigned)cap;
    rc = deflate(&z, Z_FINISH);
    assert(rc == Z_STREAM_END);
    size_t n = z.total_out;
    deflateEnd(&z);
    free(to);
    return n;
}

static void print(const char *who, const char *what, double value, const char *unit)
{
    char name[128];
    snprintf(name, sizeof(name), "%s_%s", who, what);
    measure_print(name, value, unit);
}

static void print_all(const char *who, const struct totals *t)
{
    static const char *const kinds[] = {"", "text", "keywords"};
    print(who, "pages", (double)t->pages, "pages");
    print(who, "html", (double)t->html, "bytes");
    print(who, "gzip", (double)t->gzip, "bytes");
    for (int kind = SUMMARY_TEXT; kind <= SUMMARY_KEYWORDS; kind++) {
        const struct outcome_sum *s = &t->by_kind[kind];
        char label[64];
        const char *const what[] = {"packages", "bytes", "html_ratio", "gzip_ratio", "make_us", "read_us"};
        const char *const unit[] = {"packages", "bytes", "", "", "us/page", "us/page"};
        const double value[] = {(double)s->packages,
                                (double)s->bytes,
                                (double)t->html / (double)s->bytes,
                                (double)t->gzip / (double)s->bytes,
                                s->make_s * 1e6 / (double)t->pages,
                                s->read_s * 1e6 / (double)t->pages};
        for (size_t i = 0; i < 6; i++) {
            snprintf(label, sizeof(label), "%s_%s", kinds[kind], what[i]);
            print(who, label, value[i], unit[i]);
        }
    }
    for (size_t i = 0; i < FEW; i++) {
        char label[64];
        snprintf(label, sizeof(label), "dictionary_gain_%zu", few[i]);
        print(who, label, (double)t->plain[i] / (double)t->with_dictionary[i], "");
    }
}

static void add(struct totals *to, const struct totals *t)
{
    to->pages += t->pages;
    to->html += t->html;
    to->gzip += t->gzip;
    for (int k = SUMMARY_TEXT; k <= SUMMARY_KEYWORDS; k++) {
        to->by_kind[k].bytes += t->by_kind[k].bytes;
        to->by_kind[k].packages += t->by_kind[k].packages;
        to->by_kind[k].make_s += t->by_kind[k].make_s;
        to->by_kind[k].read_s += t->by_kind[k].read_s;
    }
    for (size_t i = 0; i < FEW; i++) {
        to->plain[i] += t->plain[i];
        to->with_dictionary[i] += t->with_dictionary[i];
    }
}

int main(int argc, char **argv)
{
    struct totals all = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_package SITES [LEVEL [CLOSE-MIB]]\n");
        return 2;
    }
    int level = argc > 2 ? atoi(argv[2]) : 0;
    size_t close = argc > 3 ? (size_t)atoi(argv[3]) << 20 : PACKAGE_CLOSE_DEFAULT;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct site *site = NULL;
        struct totals t = {0};
        measure_must(names[i], site_read(argv[1], names[i], true, &site));
        t.pages = site->count;
        t.html = site->html_bytes;
        for (size_t k = 0; k < site->count; k++)
            t.gzip += gzip_bytes(site->html[k]);
        for (int kind = SUMMARY_TEXT; kind <= SUMMARY_KEYWORDS; kind++)
            pack_site(site, (summary_kind)kind, level, close, &t.by_kind[kind]);
        compare_dictionary(site, &t);
        print_all(names[i], &t);
        add(&all, &t);
        site_free(site);
    }
    print_all("all", &all);
    return 0;
}
