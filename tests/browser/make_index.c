/* make-index - an index from lines, for the tests of the search page: pages that no crawl would bring together.
 *
 *     make-index DATA < lines              an index alone, at DATA/index; a second run adds to it
 *     make-index --folder DATA < lines     a whole data folder, as if the pages had been visited
 *
 * A line is URL, language, days since it changed, near-duplicate group (0: none), title and text, with tabs between;
 * "\n" in a text is a new line. After the text may come fields, name=value, and the mark "=words": the text has words
 * without their order. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "apply/apply.h"
#include "base/arena.h"
#include "base/buf.h"
#include "codec/digest.h"
#include "codec/zip.h"
#include "index/index.h"
#include "web/content.h"
#include "web/url.h"

#define DAY_MS ((wall_ms)86400000)
#define LINE_BYTES_MAX 65536

static void fail(const char *what, status st)
{
    fprintf(stderr, "make-index: %s: %s\n", what, status_name(st));
    exit(1);
}

static struct span field(struct span *rest)
{
    struct span f = {0};
    if (!span_split(rest, '\t', &f))
        fail("a line has too few fields", ST_INVALID);
    return f;
}

static uint64_t number(struct span text)
{
    uint64_t n;
    if (!span_u64(text, UINT32_MAX, &n))
        fail("not a number", ST_INVALID);
    return n;
}

static struct span text_of(struct arena *a, struct span s)
{
    char *to = arena_bytes(a, s.n);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool is_break = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n';
        to[n++] = is_break ? '\n' : s.p[i];
        i += is_break;
    }
    return span_of(to, n);
}

static struct content read_line(struct arena *a, struct span line, uint64_t *group)
{
    wall_ms now = (wall_ms)time(NULL) * 1000;
    struct summary_field *fields = arena_alloc(a, CONTENT_FIELDS_MAX * sizeof(*fields));
    struct content c = {.url = field(&line), .lang = field(&line), .fetched = now, .fields = fields};
    c.changed = now - (wall_ms)number(field(&line)) * DAY_MS;
    *group = number(field(&line));
    c.title = field(&line);
    c.text = text_of(a, field(&line));
    c.digest = digest_blake2b64(c.text);
    for (struct span f; span_split(&line, '\t', &f);) {
        size_t equals = span_find(f, '=', 0);
        if (span_is(f, "=words"))
            c.is_keywords = true;
        else if (c.field_count < CONTENT_FIELDS_MAX)
            fields[c.field_count++] = (struct summary_field){span_cut(f, 0, equals), span_from(f, equals + 1)};
    }
    return c;
}

static void add(struct index *ix, struct zipper *z, struct arena *a, struct span line, uint64_t fetch_number)
{
    uint64_t group;
    struct content c = read_line(a, line, &group);
    struct buf packed = {0}, zipped = {0};
    content_pack(&c, &packed);
    zipper_run(z, NULL, buf_span(&packed), &zipped);
    struct url u;
    struct span site = SPAN("");
    if (url_parse(a, c.url, NULL, &u) == ST_OK && u.has_host) {
        site = url_site(a, &u);
        site = span_from(site, u.scheme.n + 3);
    }
    struct index_doc d = {.key = digest_blake2b64(c.url),
                          .fetch_number = fetch_number,
                          .url = c.url,
                          .site = site,
                          .lang = c.lang,
                          .title = c.title,
                          .text = c.text,
                          .fetched = c.fetched,
                          .changed = c.changed,
                          .digest = c.digest,
                          .group = group,
                          .is_keywords = c.is_keywords,
                          .fields = c.fields,
                          .field_count = c.field_count,
                          .content = buf_span(&zipped)};
    status st = index_add(ix, &d);
    if (st != ST_OK)
        fail("add", st);
    buf_done(&packed);
    buf_done(&zipped);
}

/* ---- a whole folder ---- */

static void visit(struct apply *ap, struct arena *a, struct span line, uint64_t fetch_number)
{
    uint64_t group;
    struct content c = read_line(a, line, &group);
    struct summary s = {.fetch_number = fetch_number,
                        .channel = 1,
                        .at = c.fetched,
                        .url = c.url,
                        .http_status = 200,
                        .is_html = true,
                        .digest = c.digest,
                        .text_bytes = c.text.n,
                        .content_type = SPAN("text/html"),
                        .lang = c.lang,
                        .title = c.title,
                        .text = c.text,
                        .is_keywords = c.is_keywords,
                        .fields = c.fields,
                        .field_count = c.field_count};
    struct buf packed = {0};
    summary_pack(&s, &packed);
    status st = apply_summary(ap, buf_span(&packed), NULL);
    if (st != ST_OK)
        fail("apply", st);
    buf_done(&packed);
}

static int make_folder(const char *dir)
{
    static char line[LINE_BYTES_MAX];
    struct store *store = NULL;
    struct apply *ap = NULL;
    struct buf why = {0};
    struct arena a;
    uint64_t fetch_number = 0;
    status st = store_open(dir, STORE_WRITE, &store, &why);
    if (st == ST_OK)
        st = apply_open(&(struct apply_opts){.store = store}, &ap, NULL, &why);
    if (st != ST_OK)
        fail(buf_cstr(&why), st);
    arena_init(&a);
    while (fgets(line, sizeof(line), stdin)) {
        struct span s = span_trim(span_str(line));
        if (s.n)
            visit(ap, &a, s, ++fetch_number);
        arena_reset(&a);
    }
    st = apply_finish(ap);
    if (st != ST_OK)
        fail("finish", st);
    apply_free(ap);
    store_free(store);
    arena_done(&a);
    buf_done(&why);
    return 0;
}

int main(int argc, char **argv)
{
    struct buf dir = {0}, why = {0};
    struct index *ix = NULL;
    struct arena a;
    static char line[LINE_BYTES_MAX];
    if (argc == 3 && span_is(span_str(argv[1]), "--folder"))
        return make_folder(argv[2]);
    if (argc != 2)
        fail("usage: make-index [--folder] DATA < lines", ST_INVALID);
    (void)mkdir(argv[1], 0777);
    buf_printf(&dir, "%s/index", argv[1]);
    status st = index_open(&(struct index_opts){.dir = buf_cstr(&dir), .seed = 1}, &ix, &why);
    if (st != ST_OK)
        fail(buf_cstr(&why), st);
    uint64_t number_of = index_applied(ix);
    struct zipper *z = zipper_new(1);
    arena_init(&a);
    while (fgets(line, sizeof(line), stdin)) {
        struct span s = span_trim(span_str(line));
        if (s.n)
            add(ix, z, &a, s, ++number_of);
        arena_reset(&a);
    }
    st = index_commit(ix, number_of);
    if (st != ST_OK)
        fail("commit", st);
    index_close(ix);
    zipper_free(z);
    arena_done(&a);
    buf_done(&dir);
    buf_done(&why);
    return 0;
}
