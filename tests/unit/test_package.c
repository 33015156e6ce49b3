#include "test.h"

#include "base/arena.h"
#include "base/rng.h"
#include "wire/columns.h"
#include "wire/package.h"

static struct sign_key key_of(unsigned char seed)
{
    unsigned char s[SIGN_SEED_BYTES] = {seed};
    struct sign_key k;
    sign_key_of(s, &k);
    return k;
}

/* ---- a visit as text, so that whole visits can be compared ---- */

static void show_texts(struct buf *b, const struct summary *s)
{
    const struct span texts[] = {s->url,  s->address,  s->reason,       s->content_type, s->charset,
                                 s->lang, s->title,    s->text,         s->description,  s->canonical,
                                 s->etag, s->redirect, s->last_modified};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        buf_printf(b, "[%.*s]", SPAN_ARG(texts[i]));
}

static void show_visit(struct buf *b, uint64_t task, summary_kind kind, const struct summary *s)
{
    buf_printf(b, "task %llu kind %d at %lld depth %u hops %u %d%d%d%d failure %u http %u flags %u digest %llx ",
               (unsigned long long)task, (int)kind, (long long)s->at, s->depth, s->hops, s->is_refused, s->is_known,
               s->is_html, s->is_keywords, s->failure, s->http_status, s->page_flags, (unsigned long long)s->digest);
    buf_printf(b, "bytes %llu %llu %llu us %d %d %d %d %d ", (unsigned long long)s->body_bytes,
               (unsigned long long)s->wire_bytes, (unsigned long long)s->text_bytes, s->dns_us, s->connect_us,
               s->tls_us, s->first_byte_us, s->total_us);
    if (s->rate)
        buf_printf(b, "rate %llx ", (unsigned long long)s->rate);
    show_texts(b, s);
    for (size_t i = 0; i < s->heading_count; i++)
        buf_printf(b, " h%u=%.*s", s->headings[i].level, SPAN_ARG(s->headings[i].text));
    for (size_t i = 0; i < s->link_count; i++) {
        const struct summary_link *l = &s->links[i];
        buf_printf(b, " link %u %u %u %u %u %.*s=%.*s", l->kind, l->rel, l->flags, l->hops, l->depth, SPAN_ARG(l->url),
                   SPAN_ARG(l->text));
    }
    for (size_t i = 0; i < s->field_count; i++)
        buf_printf(b, " field %.*s=%.*s", SPAN_ARG(s->fields[i].name), SPAN_ARG(s->fields[i].value));
    buf_putc(b, '\n');
}

static status show(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    show_visit(arg, task, kind, s);
    return ST_OK;
}

/* What a package should give: visits in the order of their addresses, those of one address as they were added. */
struct wanted {
    struct buf text[200]; /* each begins with its address */
    size_t url_bytes[200], count;
};

static void want_visit(struct wanted *w, uint64_t task, summary_kind kind, const struct summary *s)
{
    size_t at = w->count++;
    struct span url = s->url;
    while (at > 0 && span_cmp(span_cut(buf_span(&w->text[at - 1]), 0, w->url_bytes[at - 1]), url) > 0) {
        w->text[at] = w->text[at - 1];
        w->url_bytes[at] = w->url_bytes[at - 1];
        at--;
    }
    w->text[at] = (struct buf){0};
    w->url_bytes[at] = url.n;
    buf_put(&w->text[at], url);
    show_visit(&w->text[at], task, kind, s);
}

/* Frees what was wanted. */
static void want_text(struct wanted *w, struct buf *out)
{
    for (size_t i = 0; i < w->count; i++) {
        buf_put(out, span_from(buf_span(&w->text[i]), w->url_bytes[i]));
        buf_done(&w->text[i]);
    }
    w->count = 0;
}

static struct package_writer *new_writer(void)
{
    return package_writer_new(&(struct package_writer_opts){0});
}

static void finish(struct package_writer *w, struct buf *out)
{
    struct sign_key k = key_of(1);
    struct package_head head = {.agent = 7, .sequence = 3, .made = 99, .coordinator = {"fingerprint"}};
    package_finish(w, &head, &k, out);
}

static void check_read(const char *label, struct span package, struct span want)
{
    struct sign_key k = key_of(1);
    struct buf got = {0};
    CHECK_STATUS(label, package_read(package, &k.open, NULL, show, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), want);
    buf_done(&got);
}

/* ---- visits ---- */

static const struct fact_heading headings[] = {
    {1, SPAN_INIT("A title")}, {2, SPAN_INIT("not a line of it")}, {7, SPAN_INIT("term")}};
static const struct summary_link links[] = {
    {.url = SPAN_INIT("http://a.example/x/y"), .text = SPAN_INIT("term"), .kind = LINK_A, .depth = 3},
    {.url = SPAN_INIT("http://b.example/"), .kind = LINK_A, .flags = SUMMARY_LINK_FOREIGN, .depth = 3},
    {.url = SPAN_INIT("http://a.example/x/z"),
     .text = SPAN_INIT("zed"),
     .kind = LINK_FRAME,
     .rel = REL_NOFOLLOW,
     .hops = 2,
     .depth = 65535},
};
static const struct summary_field fields[] = {{SPAN_INIT("price"), SPAN_INIT("12")},
                                              {SPAN_INIT("price"), SPAN_INIT("")}};

static struct summary page(void)
{
    struct summary s = {.at = 1700000000123,
                        .url = SPAN("http://a.example/x/"),
                        .depth = 2,
                        .hops = 1,
                        .is_known = true,
                        .is_html = true,
                        .http_status = 200,
                        .page_flags = PAGE_NOARCHIVE,
                        .body_bytes = 70000,
                        .wire_bytes = 9000,
                        .dns_us = -1,
                        .connect_us = 0,
                        .tls_us = 99,
                        .first_byte_us = 1200,
                        .total_us = 150000,
                        .address = SPAN("192.0.2.1"),
                        .content_type = SPAN("text/html"),
                        .charset = SPAN("utf-8"),
                        .lang = SPAN("en"),
                        .title = SPAN("A title"),
                        .description = SPAN("About it"),
                        .canonical = SPAN("http://a.example/x"),
                        .etag = SPAN("\"1\""),
                        .last_modified = SPAN("Thu, 01 Jan 1970 00:00:00 GMT"),
                        .text = SPAN("A title\nsome words\nterm\nsome words\n\nend\xc3\xa9"),
                        .headings = headings,
                        .heading_count = 3,
                        .links = links,
                        .link_count = 3,
                        .fields = fields,
                        .field_count = 2};
    s.text_bytes = s.text.n;
    s.digest = facts_digest(s.text);
    return s;
}

static struct summary failed(void)
{
    return (struct summary){.at = 1600000000000,
                            .url = SPAN("http://a.example/x/gone"),
                            .failure = ST_TIMEOUT,
                            .reason = SPAN("took too long"),
                            .dns_us = -1,
                            .connect_us = -1,
                            .tls_us = -1,
                            .first_byte_us = -1,
                            .total_us = -1};
}

static void visits_of_one_address_keep_their_order(void **state)
{
    struct package_writer *w = new_writer();
    static struct wanted wanted;
    struct buf package = {0}, want = {0};
    for (int i = 0; i < 100; i++) {
        struct summary s = failed();
        s.at += i * 37 % 100;
        s.url = i % 3 ? s.url : SPAN("http://a.example/");
        package_add_visit(w, 1, SUMMARY_TEXT, &s);
        want_visit(&wanted, 1, SUMMARY_TEXT, &s);
    }
    want_text(&wanted, &want);
    finish(w, &package);
    check_read("order", buf_span(&package), buf_span(&want));
    buf_done(&package);
    buf_done(&want);
    package_writer_free(w);
}

static void visits_come_back_as_they_were(void **state)
{
    struct package_writer *w = new_writer();
    static struct wanted wanted;
    struct buf package = {0}, want = {0};
    struct summary s[5] = {page(), failed(), page(), page(), failed()};
    s[2].canonical = s[2].url;
    s[2].text_bytes = 1000000; /* a longer text than the one that was kept */
    s[3].redirect = SPAN("http://c.example/");
    s[3].text = SPAN("");
    s[3].heading_count = s[3].link_count = s[3].field_count = 0;
    s[4].is_refused = true;
    s[1].rate = 1;
    s[3].rate = UINT64_MAX;
    for (size_t i = 0; i < 5; i++) {
        uint64_t task = i == 3 ? UINT64_MAX : i + 1;
        package_add_visit(w, task, SUMMARY_TEXT, &s[i]);
        want_visit(&wanted, task, SUMMARY_TEXT, &s[i]);
    }
    want_text(&wanted, &want);
    assert_int_equal(package_visits(w), 5);
    finish(w, &package);
    check_read("visits", buf_span(&package), buf_span(&want));
    assert_int_equal(package_visits(w), 0);
    buf_done(&package);
    buf_done(&want);
    package_writer_free(w);
}

static void links_without_text_stay_behind_unless_foreign(void **state)
{
    static const struct summary_link some[] = {
        {.url = SPAN_INIT("http://a.example/1"), .depth = 1, .key = 5, .flags = SUMMARY_LINK_NEW},
        {.url = SPAN_INIT("http://a.example/2"),
         .text = SPAN_INIT("two"),
         .depth = 1,
         .key = 5,
         .flags = SUMMARY_LINK_NEW},
        {.url = SPAN_INIT("http://b.example/3"), .depth = 1, .flags = SUMMARY_LINK_FOREIGN},
    };
    struct package_writer *w = new_writer();
    struct summary s = failed();
    struct buf package = {0}, want = {0};
    s.links = some;
    s.link_count = 3;
    package_add_visit(w, 1, SUMMARY_TEXT, &s);
    finish(w, &package);
    struct summary_link kept[] = {some[1], some[2]};
    kept[0].flags = 0;
    s.links = kept;
    s.link_count = 2;
    show_visit(&want, 1, SUMMARY_TEXT, &s);
    check_read("links", buf_span(&package), buf_span(&want));
    buf_done(&package);
    buf_done(&want);
    package_writer_free(w);
}

static void keywords_keep_every_word_as_often_as_it_was(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"The cat. THE dog, the Cat's tail", "cat cat's dog tail the the the"},
        {"the cat (again)", "cat the again"}, /* words of earlier pages first */
        {"", ""},
        {"C++ and F# and getElementById, don't a' b", "the a and and b c++ don't f# getElementById"},
        {"\xce\xb1\xce\xb2 x\xce\xb1", "x\xce\xb1 \xce\xb1\xce\xb2"},
    };
    struct package_writer *w = new_writer();
    struct buf package = {0}, want = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct summary s = page();
        s.text = i == 3 ? SPAN("C++ and F# and getElementById, don't a' b the") : span_str(cases[i].text);
        s.digest = 1234 + i;
        package_add_visit(w, 1, SUMMARY_KEYWORDS, &s);
        s.text = span_str(cases[i].want);
        s.is_keywords = true;
        show_visit(&want, 1, SUMMARY_KEYWORDS, &s);
    }
    finish(w, &package);
    check_read("keywords", buf_span(&package), buf_span(&want));
    buf_done(&package);
    buf_done(&want);
    package_writer_free(w);
}

/* ---- against a twin on random visits ---- */

static struct span random_text(struct rng *r, struct arena *a, size_t lines_max)
{
    struct buf b = {0};
    size_t n = rng_below(r, lines_max);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(&b, '\n');
        uint64_t what = rng_below(r, 5);
        if (what == 0)
            buf_printf(&b, "line %llu", (unsigned long long)rng_below(r, 1000000));
        else if (what < 4) /* from a stock, so that they repeat, also in runs */
            buf_printf(&b, "stock %llu of many", (unsigned long long)(rng_below(r, 20) + i % 3));
    }
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

static void random_links(struct rng *r, struct arena *a, struct summary *s)
{
    struct summary_link *l = arena_alloc(a, 30 * sizeof(*l));
    s->link_count = rng_below(r, 30);
    for (size_t i = 0; i < s->link_count; i++) {
        char url[100], text[100];
        snprintf(url, sizeof(url), "http://%c.example/%llu/%llu", "abc"[rng_below(r, 3)],
                 (unsigned long long)rng_below(r, 4), (unsigned long long)rng_below(r, 1000));
        snprintf(text, sizeof(text), "stock %llu of many", (unsigned long long)rng_below(r, 40));
        l[i] = (struct summary_link){.url = arena_copy(a, span_str(url)),
                                     .text = arena_copy(a, span_str(text)),
                                     .rel = rng_below(r, 10) ? 0 : REL_UGC,
                                     .depth = (uint16_t)(rng_below(r, 10) ? s->depth + 1 : 9),
                                     .flags = rng_below(r, 2) ? SUMMARY_LINK_FOREIGN : 0};
    }
    s->links = l;
}

static struct summary random_visit(struct rng *r, struct arena *a)
{
    struct summary s = page();
    char url[100];
    snprintf(url, sizeof(url), "http://a.example/%llu", (unsigned long long)rng_u64(r) >> rng_below(r, 60));
    s.url = arena_copy(a, span_str(url));
    s.text = random_text(r, a, rng_below(r, 4) ? 30 : 300);
    s.text_bytes = s.text.n;
    s.digest = rng_below(r, 5) ? facts_digest(s.text) : rng_u64(r);
    s.at += (wall_ms)rng_below(r, 1000000) - 500000;
    s.depth = (uint16_t)rng_below(r, 5);
    struct fact_heading *h = arena_alloc(a, 10 * sizeof(*h));
    s.heading_count = rng_below(r, 10);
    for (size_t i = 0; i < s.heading_count; i++)
        h[i] = (struct fact_heading){(uint8_t)rng_below(r, 8), random_text(r, a, 2)};
    s.headings = h;
    random_links(r, a, &s);
    return s;
}

static void random_visits_come_back_as_they_were(void **state)
{
    static struct wanted wanted;
    struct package_writer *w = new_writer();
    struct rng r;
    rng_seed(&r, 31);
    for (int round = 0; round < 40; round++) {
        struct arena a;
        struct buf package = {0}, want = {0};
        arena_init(&a);
        size_t n = rng_below(&r, 60);
        for (size_t i = 0; i < n; i++) {
            struct summary s = random_visit(&r, &a);
            uint64_t task = rng_below(&r, 3);
            s.rate = rng_below(&r, 3) ? 0 : rng_u64(&r);
            package_add_visit(w, task, SUMMARY_TEXT, &s);
            want_visit(&wanted, task, SUMMARY_TEXT, &s);
        }
        want_text(&wanted, &want);
        finish(w, &package);
        check_read("random", buf_span(&package), buf_span(&want));
        buf_done(&package);
        buf_done(&want);
        arena_done(&a);
    }
    package_writer_free(w);
}

static int by_word(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

/* The words of a text of plain small words, sorted. */
static void sorted_words(struct span text, struct buf *out)
{
    struct span words[4000], w;
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\n')
            ((char *)(uintptr_t)text.p)[i] = ' ';
    while (span_split(&text, ' ', &w))
        if (w.n && n < 4000)
            words[n++] = w;
    qsort(words, n, sizeof(words[0]), by_word);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%.*s ", SPAN_ARG(words[i]));
    buf_putc(out, '\n');
}

static status keep_words(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    CHECK("kind", kind == SUMMARY_KEYWORDS && s->is_keywords);
    sorted_words(s->text, arg);
    return ST_OK;
}

static void random_keywords_have_the_words_of_the_text(void **state)
{
    struct package_writer *w = new_writer();
    struct sign_key k = key_of(1);
    struct rng r;
    struct arena a;
    struct buf package = {0}, want = {0}, got = {0};
    arena_init(&a);
    rng_seed(&r, 32);
    for (int i = 0; i < 200; i++) {
        struct summary s = random_visit(&r, &a);
        s.url = page().url; /* in the order added, then */
        package_add_visit(w, 1, SUMMARY_KEYWORDS, &s);
        sorted_words(s.text, &want);
    }
    finish(w, &package);
    CHECK_STATUS("read", package_read(buf_span(&package), &k.open, NULL, keep_words, &got), ST_OK);
    CHECK_SPAN("words", buf_span(&got), buf_span(&want));
    buf_done(&package);
    buf_done(&want);
    buf_done(&got);
    arena_done(&a);
    package_writer_free(w);
}

static void lines_that_a_site_repeats_are_sent_once(void **state)
{
    struct package_writer *w = new_writer();
    struct buf text = {0};
    struct summary s = page();
    for (int i = 0; i < 200; i++)
        buf_printf(&text, "line %d has about as many letters as the lines of a page have, or some more\n", i);
    s.text = buf_span(&text);
    package_add_visit(w, 1, SUMMARY_TEXT, &s);
    size_t one = package_raw_bytes(w);
    for (int i = 0; i < 9; i++)
        package_add_visit(w, 1, SUMMARY_TEXT, &s);
    CHECK("ten are less than two", package_raw_bytes(w) < 2 * one);
    package_writer_free(w);
    buf_done(&text);
}

/* ---- times ---- */

static void times_keep_two_digits(void **state)
{
    static const struct {
        int32_t us, want;
    } cases[] = {{-1, -1},
                 {0, 0},
                 {99, 99},
                 {100, 100},
                 {104, 100},
                 {105, 110},
                 {999, 1000},
                 {1234, 1200},
                 {9949, 9900},
                 {123456789, 120000000},
                 {INT32_MAX, 2100000000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (column_time_of(column_time(cases[i].us)) != cases[i].want)
            fail_msg("%d: %d, want %d", cases[i].us, column_time_of(column_time(cases[i].us)), cases[i].want);
    struct rng r;
    rng_seed(&r, 4);
    for (int i = 0; i < 100000; i++) {
        int32_t us = (int32_t)(rng_u64(&r) >> (33 + rng_below(&r, 31)));
        int32_t got = column_time_of(column_time(us));
        CHECK("within a tenth", llabs((long long)got - us) <= us / 10 + 1);
        CHECK("again the same", column_time_of(column_time(got)) == got);
    }
    assert_int_equal(column_time_of(UINT32_MAX), -1);
}

/* ---- packages that are not right ---- */

static void make_package(struct buf *out)
{
    struct package_writer *w = new_writer();
    struct summary s[] = {page(), failed(), page()};
    for (size_t i = 0; i < 3; i++)
        package_add_visit(w, 1, i == 2 ? SUMMARY_KEYWORDS : SUMMARY_TEXT, &s[i]);
    finish(w, out);
    package_writer_free(w);
}

static status must_not_be_called(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    fail_msg("a visit was handed out");
    return ST_OK;
}

static void a_head_says_what_is_inside(void **state)
{
    struct sign_key k = key_of(1), other = key_of(2);
    struct package_head h;
    struct buf b = {0};
    size_t at = 0;
    make_package(&b);
    CHECK_STATUS("head", package_head_read(span_cut(buf_span(&b), 0, PACKAGE_HEAD_BYTES), &k.open, &h, &at), ST_OK);
    CHECK("numbers", h.agent == 7 && h.sequence == 3 && h.made == 99 && h.visits == 3 && h.dictionary == 0);
    CHECK("fingerprint", memcmp(h.coordinator.b, "fingerprint", 11) == 0);
    CHECK("sizes", at == PACKAGE_HEAD_BYTES && h.body_bytes == b.n - at && h.raw_bytes > 0);
    CHECK_STATUS("somebody else's", package_head_read(buf_span(&b), &other.open, &h, &at), ST_REFUSED);
    CHECK_STATUS("short", package_head_read(span_cut(buf_span(&b), 0, at - 1), &k.open, &h, &at), ST_CORRUPT);
    b.p[8] = 2;
    CHECK_STATUS("version 2", package_head_read(buf_span(&b), &k.open, &h, &at), ST_NEWER);
    buf_done(&b);
}

static void a_cut_or_changed_package_hands_out_nothing(void **state)
{
    struct sign_key k = key_of(1);
    struct buf b = {0};
    make_package(&b);
    for (size_t n = 0; n < b.n; n++)
        CHECK_STATUS("cut", package_read(span_cut(buf_span(&b), 0, n), &k.open, NULL, must_not_be_called, NULL),
                     ST_CORRUPT);
    for (size_t i = 0; i < b.n; i++) {
        b.p[i] ^= (char)(1 << i % 8);
        CHECK("flipped", package_read(buf_span(&b), &k.open, NULL, must_not_be_called, NULL) != ST_OK);
        b.p[i] ^= (char)(1 << i % 8);
    }
    buf_putc(&b, 0);
    CHECK_STATUS("longer", package_read(buf_span(&b), &k.open, NULL, must_not_be_called, NULL), ST_CORRUPT);
    buf_done(&b);
}

static status stop_at_once(void *arg, uint64_t task, summary_kind kind, const struct summary *s)
{
    (*(int *)arg)++;
    return ST_FULL;
}

static void the_callback_ends_the_reading(void **state)
{
    struct sign_key k = key_of(1);
    struct buf b = {0};
    int calls = 0;
    make_package(&b);
    CHECK_STATUS("full", package_read(buf_span(&b), &k.open, NULL, stop_at_once, &calls), ST_FULL);
    assert_int_equal(calls, 1);
    buf_done(&b);
}

static void a_dictionary_is_named_in_the_head(void **state)
{
    struct sign_key k = key_of(1);
    struct buf samples = {0}, trained = {0}, package = {0}, got = {0};
    size_t sizes[400];
    struct zip_dict *d = NULL;
    for (size_t i = 0; i < 400; i++) {
        size_t before = samples.n;
        for (size_t j = 0; j < 20; j++)
            buf_printf(&samples, "word%zu and page%zu of a site about %zu ", i * j % 97, i, j);
        sizes[i] = samples.n - before;
    }
    CHECK_STATUS("train", zip_dict_train(buf_span(&samples), sizes, 400, &trained), ST_OK);
    CHECK_STATUS("dict", zip_dict_new(buf_span(&trained), 3, &d), ST_OK);
    struct package_writer *w = package_writer_new(&(struct package_writer_opts){.dict = d, .dictionary = 5});
    struct summary s = page();
    package_add_visit(w, 1, SUMMARY_TEXT, &s);
    finish(w, &package);
    struct package_head h;
    size_t at;
    CHECK_STATUS("head", package_head_read(buf_span(&package), &k.open, &h, &at), ST_OK);
    assert_int_equal(h.dictionary, 5);
    CHECK_STATUS("with it", package_read(buf_span(&package), &k.open, d, show, &got), ST_OK);
    CHECK_STATUS("without", package_read(buf_span(&package), &k.open, NULL, must_not_be_called, NULL), ST_CORRUPT);
    package_writer_free(w);
    zip_dict_free(d);
    buf_done(&samples);
    buf_done(&trained);
    buf_done(&package);
    buf_done(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_come_back_as_they_were),
        cmocka_unit_test(visits_of_one_address_keep_their_order),
        cmocka_unit_test(links_without_text_stay_behind_unless_foreign),
        cmocka_unit_test(keywords_keep_every_word_as_often_as_it_was),
        cmocka_unit_test(random_visits_come_back_as_they_were),
        cmocka_unit_test(random_keywords_have_the_words_of_the_text),
        cmocka_unit_test(lines_that_a_site_repeats_are_sent_once),
        cmocka_unit_test(times_keep_two_digits),
        cmocka_unit_test(a_head_says_what_is_inside),
        cmocka_unit_test(a_cut_or_changed_package_hands_out_nothing),
        cmocka_unit_test(the_callback_ends_the_reading),
        cmocka_unit_test(a_dictionary_is_named_in_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
