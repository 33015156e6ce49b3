/* test_sitemap.c - lists of every kind by cases, crawler-commons' files, lists that end too early, and the ceilings. */
#include "test.h"

#include <zlib.h>

#include "base/rng.h"
#include "web/charset.h"
#include "web/date.h"
#include "web/document.h"
#include "web/sitemap.h"
#include "web/xml_token.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A list as lines: its kind, then "page URL [date]". */
static void print_list(struct buf *out, const struct sitemap *list)
{
    static const char *const kinds[] = {"page", "alternate", "list"};
    buf_printf(out, "%s\n", sitemap_kind_name(list->kind));
    for (size_t i = 0; i < list->count; i++) {
        const struct sitemap_entry *e = &list->entries[i];
        buf_printf(out, "%s %.*s", kinds[e->kind], SPAN_ARG(e->loc));
        if (e->base.n)
            buf_printf(out, " in %.*s", SPAN_ARG(e->base));
        if (e->changed) {
            buf_putc(out, ' ');
            date_put(out, e->changed);
        }
        buf_putc(out, '\n');
    }
}

/* From an exact copy on the heap, so that ASan sees any byte read past it. */
static void read_text(struct arena *a, struct span text, struct sitemap *out, char **copy)
{
    *copy = malloc(text.n ? text.n : 1);
    if (text.n)
        memcpy(*copy, text.p, text.n);
    sitemap_read(a, span_of(*copy, text.n), NULL, out);
}

static void check_list(const char *label, struct span text, const char *want)
{
    struct arena a;
    struct sitemap list;
    struct buf got = {0};
    char *copy;
    arena_init(&a);
    read_text(&a, text, &list, &copy);
    print_list(&got, &list);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
    arena_done(&a);
    free(copy);
}

/* ---- crawler-commons' files ---- */

static void read_vector(struct arena *a, const char *name, struct sitemap *out)
{
    struct buf path = {0};
    struct charset_result decoded;
    bool is_cut;
    buf_printf(&path, TEST_DATA "/sitemaps/%s", name);
    struct span file = test_read_file(buf_cstr(&path)), body = arena_copy(a, file);
    free((char *)(uintptr_t)file.p);
    if (sitemap_is_gzip(body))
        CHECK_STATUS(name, sitemap_unzip(a, body, &body, &is_cut), ST_OK);
    CHECK_STATUS(name, charset_decode(a, body, (struct span){0}, true, 1 << 20, &decoded), ST_OK);
    sitemap_read(a, decoded.text, NULL, out);
    buf_done(&path);
}

static void crawler_commons_files_are_read(void **state)
{
    static const struct {
        const char *name;
        size_t count;
        const char *want; /* NULL: the count is enough */
    } cases[] = {
        {"atom.xml", 2,
         "atom\npage http://example.org/2003/12/13/atom03 2003-12-13T18:30:02Z\n"
         "page http://example.org/2003/12/13/atom03.html 2003-12-13T18:30:02Z\n"},
        {"do-not-visit.txt", 1, "text\npage http://www.example.com/do-not-visit-here\n"},
        {"sitemap-with-bom.txt", 2,
         "text\npage http://www.domain.com/page1.html\npage http://www.domain.com/page2.html\n"},
        {"sitemap.txt", 2, "text\npage http://www.domain.com/page1.html\npage http://www.domain.com/page2.html\n"},
        {"sitemap.badns.xml", 2, "urlset\npage http://www.example.com/1\npage http://www.example.com/2\n"},
        {"sitemap.ns.xml", 2, "urlset\npage http://www.example.com/1\npage http://www.example.com/2\n"},
        {"sitemap.index.xml", 15, NULL},
        {"sitemap.txt.gz", 5, NULL},
        {"xmlSitemap.gz", 5,
         "urlset\npage http://www.example.com/ 2005-01-01T00:00:00Z\n"
         "page http://www.example.com/catalog?item=12&desc=vacation_hawaii\n"
         "page http://www.example.com/catalog?item=73&desc=vacation_new_zealand 2004-12-23T00:00:00Z\n"
         "page http://www.example.com/catalog?item=74&desc=vacation_newfoundland 2004-12-23T18:00:15Z\n"
         "page http://www.example.com/catalog?item=83&desc=vacation_usa 2004-11-23T00:00:00Z\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena a;
        struct sitemap list;
        struct buf got = {0};
        arena_init(&a);
        read_vector(&a, cases[i].name, &list);
        print_list(&got, &list);
        CHECK(cases[i].name, list.count == cases[i].count);
        if (cases[i].want)
            CHECK_SPAN(cases[i].name, buf_span(&got), span_str(cases[i].want));
        CHECK(cases[i].name, !list.cut);
        buf_done(&got);
        arena_done(&a);
    }
}

/* The index among them has its URLs without <loc>. */
static void an_index_may_do_without_loc(void **state)
{
    struct arena a;
    struct sitemap list;
    arena_init(&a);
    read_vector(&a, "sitemap.index.xml", &list);
    CHECK("kind", list.kind == SITEMAP_INDEX && list.entries[0].kind == ENTRY_LIST);
    CHECK_SPAN("first", list.entries[0].loc, SPAN("https://example.com/sitemap.jss?portalCode=10260&lang=en"));
    CHECK_SPAN("last", list.entries[14].loc, SPAN("https://example.com/sitemap.jss?portalCode=10570&lang=en"));
    arena_done(&a);
}

/* ---- cases ---- */

static void lists_of_every_kind_are_read(void **state)
{
    static const struct {
        const char *label, *text, *want;
    } cases[] = {
        {"nothing", "", "none\n"},
        {"a page", "<!doctype html><html><a href=http://a/>a</a>", "none\n"},
        {"XML of another kind", "<?xml version='1.0'?><svg><a href='http://a/'/></svg>", "none\n"},
        {"namespaces, comments, instructions",
         "<?xml version='1.0'?><?xml-stylesheet href='a.xsl'?><!-- <urlset> --><!DOCTYPE urlset [<!ENTITY x \"]>\">]>"
         "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a/1</loc></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"a comment in the document type",
         "<!DOCTYPE urlset [<!-- don't edit ]> -->]><urlset><url><loc>http://a/1</loc></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"an instruction in the document type",
         "<!DOCTYPE urlset [<?x don't edit ]> ?>]><urlset><url><loc>http://a/1</loc></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"what looks like a comment in the document type",
         "<!DOCTYPE urlset [<!ENTITY x \"<!--\">]><urlset><url><loc>http://a/1</loc></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"no namespace, other case", "<URLSET><Url><LOC>http://a/1</LOC><LastMod>2024</LastMod></Url></URLSET>",
         "urlset\npage http://a/1 2024-01-01T00:00:00Z\n"},
        {"CDATA and references",
         "<urlset><url><loc><![CDATA[http://a/?x=1&y=2]]></loc></url><url><loc>http://a/?x=1&amp;y=&#x41;&#66;</loc>"
         "</url><url><loc>http://a/?x=1&y=2&copy=3</loc></url></urlset>",
         "urlset\npage http://a/?x=1&y=2\npage http://a/?x=1&y=AB\npage http://a/?x=1&y=2&copy=3\n"},
        {"pieces of a URL", "<urlset><url><loc> http://a/<!-- x -->1<![CDATA[2]]> </loc></url></urlset>",
         "urlset\npage http://a/12\n"},
        {"images and videos are not pages",
         "<urlset><url><loc>http://a/1</loc><image:image><image:loc>http://a/i.png</image:loc></image:image>"
         "<image><loc>http://a/j.png</loc></image><video:video><video:player_loc>http://a/v</video:player_loc>"
         "</video:video></url><url><image:image><image:loc>http://a/k.png</image:loc></image:image></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"other languages",
         "<urlset xmlns:xhtml='http://www.w3.org/1999/xhtml'><url><loc>http://a/en</loc><xhtml:link rel='alternate' "
         "hreflang='de' href='http://a/de'/><lastmod>2024-05-06</lastmod></url></urlset>",
         "urlset\npage http://a/en 2024-05-06T00:00:00Z\nalternate http://a/de\n"},
        {"a URL in a URL", "<urlset><url><loc><url>http://a/1</url></loc></url></urlset>", "urlset\npage http://a/1\n"},
        {"end tags are missing",
         "<urlset><url><loc>http://a/1<lastmod>2024-01-02<url><loc>http://a/2</loc><url><loc>http://a/3</loc></urlset>",
         "urlset\npage http://a/1 2024-01-02T00:00:00Z\npage http://a/2\npage http://a/3\n"},
        {"end tags of nothing", "</b><urlset></url></loc><url></x><loc>http://a/1</loc></url></urlset></urlset>",
         "urlset\npage http://a/1\n"},
        {"tags that do not end", "<urlset><url><loc http://a/0</loc></url><url <loc>http://a/1</loc></url></urlset>",
         "urlset\npage http://a/1\n"},
        {"entries without anything", "<urlset><url/><url></url><url><loc/></url><url><loc> </loc></url></urlset>",
         "urlset\n"},
        {"an index",
         "<sitemapindex><sitemap><loc>http://a/1.xml</loc><lastmod>2024-01-02T03:04:05Z</lastmod></sitemap>"
         "<sitemap>http://a/2.xml<lastmod>2023</lastmod></sitemap></sitemapindex>",
         "index\nlist http://a/1.xml 2024-01-02T03:04:05Z\nlist http://a/2.xml 2023-01-01T00:00:00Z\n"},
        {"RSS 2.0",
         "<rss version='2.0'><channel><title>t</title><link>http://a/</link><atom:link href='http://a/feed' "
         "rel='self'/>"
         "<image><url>http://a/i.png</url><link>http://a/home</link></image>"
         "<item><title>x</title><link>http://a/1</link><guid>http://a/?p=1</guid>"
         "<pubDate>Sat, 07 Sep 2002 00:00:01 GMT</pubDate></item>"
         "<item><guid isPermaLink='true'>http://a/2</guid></item>"
         "<item><guid isPermaLink='false'>http://a/x</guid></item>"
         "<item><link> </link><guid>http://a/3</guid></item>"
         "<item><guid>tag:a,2002:3</guid></item></channel></rss>",
         "rss\npage http://a/1 2002-09-07T00:00:01Z\npage http://a/2\npage http://a/3\n"},
        {"RSS 0.91, with a document type",
         "<!DOCTYPE rss PUBLIC \"-//Netscape Communications//DTD RSS 0.91//EN\" \"http://my.example/rss-0.91.dtd\">"
         "<rss version='0.91'><channel><item><link>\n http://a/1 \n</link></item></channel></rss>",
         "rss\npage http://a/1\n"},
        {"RSS 1.0",
         "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
         "<channel rdf:about='http://a/'><link>http://a/</link><items><rdf:Seq><rdf:li rdf:resource='http://a/1'/>"
         "</rdf:Seq></items></channel><item rdf:about='http://a/1'><link>http://a/1</link><dc:date>2024-01-02</dc:date>"
         "</item><item rdf:about='http://a/2'><title>t</title></item></rdf:RDF>",
         "rss\npage http://a/1 2024-01-02T00:00:00Z\npage http://a/2\n"},
        {"a feed goes on",
         "<rss><channel><atom:link rel='next' href='/feed?page=2'/><item><link>/1</link></item></channel></rss>",
         "rss\nlist /feed?page=2\npage /1\n"},
        {"Atom 1.0",
         "<feed xml:base='http://a/x/'><link href='http://a/'/><entry><link href='1'/><link rel='enclosure' href='2'/>"
         "<link rel='alternate' type='application/json' href='3'/><published>2020-01-01T00:00:00Z</published>"
         "<updated>2021-01-01T00:00:00Z</updated><source><link "
         "href='4'/><updated>2022-01-01T00:00:00Z</updated></source>"
         "</entry><entry "
         "xml:base='http://b/'><id>http://b/5</id><published>2020-01-01T00:00:00Z</published></entry></feed>",
         "atom\npage 1 in http://a/x/ 2021-01-01T00:00:00Z\npage http://b/5 in http://b/ 2020-01-01T00:00:00Z\n"},
        {"Atom 0.3",
         "<feed version='0.3'><entry><link rel='alternate' type='text/html' href='http://a/1'/>"
         "<issued>2003-01-01T00:00:00Z</issued><modified>2003-01-02T00:00:00Z</modified></entry></feed>",
         "atom\npage http://a/1 2003-01-02T00:00:00Z\n"},
        {"JSON Feed 1.1",
         "{ \"version\" : \"https://jsonfeed.org/version/1.1\", \"title\": \"{[\\\"items\\\": [{\", "
         "\"home_page_url\": \"http://a/\", \"feed_url\": \"http://a/feed.json\", \"next_url\": "
         "\"http://a/feed.json?page=2\",\n\"authors\": [{\"url\": \"http://a/who\"}], \"items\": [\n"
         "{\"id\": \"1\", \"url\": \"http://a/1\", \"date_published\": \"2020-01-01T00:00:00Z\", \"date_modified\": "
         "\"2021-01-01T00:00:00+01:00\", \"attachments\": [{\"url\": \"http://a/1.mp3\"}], \"tags\": [\"url\", "
         "\"http://a/t\"]},\n"
         "{\"id\": \"http://a/2\", \"date_published\": \"2022-01-01T00:00:00Z\"}, {\"id\": 3, \"content_text\": "
         "\"http://a/3\"}, [{\"url\": \"http://a/x\"}],\n"
         "{\"url\": \"4\", \"author\": {\"url\": \"http://a/who\"}, \"id\": \"http://a/x\"}], \"_x\": [{\"url\": "
         "\"http://a/x\"}]}",
         "json\nlist http://a/feed.json?page=2\npage http://a/1 2020-12-31T23:00:00Z\npage http://a/2 "
         "2022-01-01T00:00:00Z\npage 4\n"},
        {"JSON Feed as PHP writes it, names in their order",
         "\n{\"items\":[{\"id\":\"x\",\"url\":\"http:\\/\\/a\\/\\u00e9\\ud83d\\ude00?x=1\\u0026y\"}],"
         "\"version\":\"https:\\/\\/jsonfeed.org\\/version\\/1\"}",
         "json\npage http://a/\xc3\xa9\xf0\x9f\x98\x80?x=1&y\n"},
        {"JSON of another kind", "{\"version\":\"1.0\",\"items\":[{\"url\":\"http://a/1\"}]}", "none\n"},
        {"JSON that tells of a feed",
         "{\"a\":{\"version\":\"https://jsonfeed.org/version/1\"},\"items\":[{\"url\":\"http://a/1\"}]}", "none\n"},
        {"JSON of a list", "[\"version\", \"https://jsonfeed.org/version/1\"]", "none\n"},
        {"of several dates the newest",
         "<urlset><url><loc>http://a/1</loc><lastmod>2020</lastmod><lastmod>2022</lastmod><lastmod>x</lastmod></url>"
         "</urlset>",
         "urlset\npage http://a/1 2022-01-01T00:00:00Z\n"},
        {"text", "# comment\r\nhttp://a/1\r\n\r\n  https://a/2  \nftp://a/3\n", "none\n"},
        {"text of URLs alone", "# comment\r\nhttp://a/1\r\n\r\n  HTTPS://a/2  \n",
         "text\npage http://a/1\npage HTTPS://a/2\n"},
        {"text with words", "http://a/1 is a page\n", "none\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_list(cases[i].label, span_str(cases[i].text), cases[i].want);
}

/* ---- too early, too much ---- */

static const char whole[] =
    "<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY a \"b\">]><urlset xmlns=\"http://www.sitemaps.org/x\">\n"
    "<url><loc>http://a.example/one</loc><lastmod>2024-01-02T03:04:05+01:00</lastmod><changefreq>daily</changefreq></"
    "url>"
    "<url><loc><![CDATA[http://a.example/two?x=1&y=2]]></loc><xhtml:link rel=\"alternate\" hreflang=\"de\" "
    "href=\"http://a.example/zwei\"/><!-- c --></url><sm:url><sm:loc>http://a.example/&#116;hree</sm:loc></sm:url>"
    "</urlset>\n";

static const char whole_json[] =
    "{\"version\":\"https://jsonfeed.org/version/1.1\",\"next_url\":\"http://a.example/feed?2\",\"items\":[{\"id\":"
    "\"http://a.example/1\",\"url\":\"http://a.example/one\",\"date_modified\":\"2024-01-02T03:04:05+01:00\"},{\"id\":"
    "\"http://a.example/two\"},{\"url\":\"http:\\/\\/a.example\\/\\u0074hree\"}]}\n";

/* Whatever is cut off, the rest is what it was; a URL that was cut is not there. */
static void check_every_beginning(const char *whole_text, size_t whole_n)
{
    struct arena a;
    struct sitemap all;
    char *all_copy;
    arena_init(&a);
    read_text(&a, span_of(whole_text, whole_n), &all, &all_copy);
    assert_int_equal(all.count, 4);
    for (size_t n = 0; n <= whole_n; n++) {
        struct arena b;
        struct sitemap part;
        char *copy;
        arena_init(&b);
        read_text(&b, span_of(whole_text, n), &part, &copy);
        CHECK("count", part.count <= all.count);
        for (size_t i = 0; i < part.count; i++) {
            CHECK_SPAN("loc", part.entries[i].loc, all.entries[i].loc);
            CHECK("date", part.entries[i].changed == all.entries[i].changed || !part.entries[i].changed);
        }
        arena_done(&b);
        free(copy);
    }
    arena_done(&a);
    free(all_copy);
}

static void a_list_that_ends_too_early_gives_what_came_before(void **state)
{
    (void)state;
    check_every_beginning(whole, sizeof(whole) - 1);
    check_every_beginning(whole_json, sizeof(whole_json) - 1);
}

/* Any byte may be any other: nothing is read past the end, and no entry is longer than it may be. */
static void bytes_that_change_do_no_harm(void **state)
{
    struct rng r;
    rng_seed(&r, 11);
    for (int k = 0; k < 20000; k++) {
        struct arena a;
        struct sitemap list;
        char text[sizeof(whole)], *copy;
        memcpy(text, whole, sizeof(whole));
        for (int i = 0; i < 4; i++)
            text[rng_below(&r, sizeof(whole) - 1)] = "<>/&;\"'!?[]= \n\0aX:-"[rng_below(&r, 20)];
        arena_init(&a);
        read_text(&a, span_of(text, sizeof(text) - 1), &list, &copy);
        for (size_t i = 0; i < list.count; i++)
            CHECK("loc", list.entries[i].loc.n > 0 && list.entries[i].loc.n <= SITEMAP_URL_MAX);
        arena_done(&a);
        free(copy);
    }
}

static void put_urls(struct buf *out, size_t n, const char *more)
{
    buf_puts(out, "<urlset>");
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "<url><loc>http://a.example/%zu</loc>%s</url>", i, more);
    buf_puts(out, "</urlset>");
}

static void limits_hold(void **state)
{
    struct arena a;
    struct sitemap list;
    struct buf text = {0};
    arena_init(&a);

    put_urls(&text, SITEMAP_ENTRIES_MAX, "");
    sitemap_read(&a, buf_span(&text), NULL, &list);
    CHECK("as many as may be", list.count == SITEMAP_ENTRIES_MAX && !list.cut);
    buf_clear(&text);
    put_urls(&text, SITEMAP_ENTRIES_MAX + 1, "");
    sitemap_read(&a, buf_span(&text), NULL, &list);
    CHECK("one more", list.count == SITEMAP_ENTRIES_MAX && list.cut == SITEMAP_CUT_ENTRIES);

    buf_clear(&text);
    put_urls(&text, SITEMAP_ALTERNATES_MAX / 2 + 1, "<link rel='alternate' href='b'/><link rel='alternate' href='c'/>");
    sitemap_read(&a, buf_span(&text), NULL, &list);
    CHECK("alternates", list.count == SITEMAP_ALTERNATES_MAX / 2 + 1 + SITEMAP_ALTERNATES_MAX);
    CHECK("alternates", list.cut == SITEMAP_CUT_ALTERNATES);

    for (int over = 0; over <= 1; over++) {
        buf_clear(&text);
        buf_puts(&text, "<urlset><url><loc>http://a.example/");
        while (text.n < strlen("<urlset><url><loc>") + SITEMAP_URL_MAX + (size_t)over)
            buf_putc(&text, 'x');
        buf_puts(&text, "</loc></url><url><loc>http://a.example/</loc></url></urlset>");
        sitemap_read(&a, buf_span(&text), NULL, &list);
        CHECK("long URL", list.count == (over ? 1 : 2));
    }

    buf_clear(&text);
    buf_puts(&text, "<urlset><url><loc>");
    for (int i = 0; i < 200000; i++)
        buf_putc(&text, ' ');
    buf_puts(&text, "http://a.example/1</loc></url>");
    for (int i = 0; i < 100000; i++)
        buf_puts(&text, "<x>");
    buf_puts(&text, "<url><loc>http://a.example/2</loc></url></urlset>");
    sitemap_read(&a, buf_span(&text), NULL, &list);
    CHECK("space and depth", list.count == 2);

    arena_done(&a);
    buf_done(&text);
}

/* ---- gzip ---- */

static void put_gzip(struct buf *out, struct span in)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, in.n) + 64;
    char *p = malloc(room);
    z.next_in = (unsigned char *)(uintptr_t)in.p;
    z.avail_in = (unsigned)in.n;
    z.next_out = (unsigned char *)p;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_put(out, span_of(p, room - z.avail_out));
    deflateEnd(&z);
    free(p);
}

static void members_of_gzip_are_one_list(void **state)
{
    struct arena a;
    struct buf zipped = {0};
    struct span plain;
    bool is_cut = true;
    arena_init(&a);
    put_gzip(&zipped, SPAN("http://a/1\nhttp://"));
    put_gzip(&zipped, SPAN("a/2\n"));
    CHECK("magic", sitemap_is_gzip(buf_span(&zipped)) && !sitemap_is_gzip(SPAN("<")));
    CHECK_STATUS("whole", sitemap_unzip(&a, buf_span(&zipped), &plain, &is_cut), ST_OK);
    CHECK_SPAN("whole", plain, SPAN("http://a/1\nhttp://a/2\n"));
    CHECK("whole", !is_cut);
    CHECK_STATUS("cut", sitemap_unzip(&a, span_cut(buf_span(&zipped), 0, zipped.n - 20), &plain, &is_cut), ST_OK);
    CHECK("cut", span_starts(plain, SPAN("http://a/1\n")));
    buf_done(&zipped);
    arena_done(&a);
}

static void a_bomb_is_refused_and_a_large_list_is_cut(void **state)
{
    struct arena a;
    struct buf zipped = {0}, large = {0};
    struct span plain;
    bool is_cut = false;
    char *zeros = calloc(1, 8 << 20);
    arena_init(&a);
    put_gzip(&zipped, span_of(zeros, 8 << 20));
    CHECK_STATUS("bomb", sitemap_unzip(&a, buf_span(&zipped), &plain, &is_cut), ST_LIMIT);
    struct rng r;
    rng_seed(&r, 3);
    while (large.n <= SITEMAP_BYTES_MAX)
        buf_printf(&large, "http://a.example/%016llx/%d\n", (unsigned long long)rng_u64(&r), 1);
    buf_clear(&zipped);
    put_gzip(&zipped, buf_span(&large));
    CHECK_STATUS("large", sitemap_unzip(&a, buf_span(&zipped), &plain, &is_cut), ST_OK);
    CHECK("large", is_cut && plain.n <= SITEMAP_BYTES_MAX && plain.n > SITEMAP_BYTES_MAX - (1 << 20));
    free(zeros);
    buf_done(&large);
    buf_done(&zipped);
    arena_done(&a);
}

/* ---- as documents ---- */

static void documents_are_lists_by_what_is_in_them(void **state)
{
    static const char sitemap[] = "<urlset><url><loc>http://a/1</loc><lastmod>2024-01-02</lastmod></url></urlset>";
    static const struct {
        const char *type, *body;
        document_kind want;
    } cases[] = {
        {"application/xml", sitemap, DOCUMENT_LIST},
        {"text/xml; charset=utf-8", sitemap, DOCUMENT_LIST},
        {"text/html", sitemap, DOCUMENT_LIST},
        {"text/plain", sitemap, DOCUMENT_LIST},
        {"", sitemap, DOCUMENT_LIST},
        {"application/rss+xml", "<rss><channel/></rss>", DOCUMENT_LIST},
        {"application/xml", "<svg/>", DOCUMENT_OTHER},
        {"image/png", sitemap, DOCUMENT_OTHER},
        {"text/plain", "http://a/1\n", DOCUMENT_LIST},
        {"", "http://a/1\n", DOCUMENT_LIST},
        {"text/html", "http://a/1\n", DOCUMENT_HTML},
        {"text/html", "<?xml version='1.0'?><html><p>page", DOCUMENT_HTML},
        {"text/plain", "Some text", DOCUMENT_PLAIN},
        {"application/octet-stream", "Some text", DOCUMENT_OTHER},
        {"application/xml", "<svg>\x0b</svg>", DOCUMENT_OTHER},
        {"application/xml",
         "\x7f"
         "ELF\x01\x02<urlset>",
         DOCUMENT_OTHER},
        {"text/plain", "Some \x0b text", DOCUMENT_OTHER},
    };
    const struct facts_opts opts = {.keep_text = true};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena a;
        struct document d;
        arena_init(&a);
        CHECK_STATUS(
            cases[i].body,
            document_read(&a, span_str(cases[i].type), SPAN("http://a/list.gz"), span_str(cases[i].body), &opts, &d),
            ST_OK);
        if (d.kind != cases[i].want)
            fail_msg("%s %s: kind %d, want %d", cases[i].type, cases[i].body, d.kind, cases[i].want);
        bool is_list = d.kind == DOCUMENT_LIST;
        CHECK(cases[i].body, is_list == (d.facts.page_flags == (PAGE_NOINDEX | PAGE_LIST)));
        CHECK(cases[i].body, !is_list || (d.facts.digest && !d.facts.text.n && !d.facts.title.n));
        arena_done(&a);
    }
}

static void read_document(struct arena *a, struct span type, struct span body, struct document *d)
{
    const struct facts_opts opts = {0};
    CHECK_STATUS("document", document_read(a, type, SPAN("http://a/sitemap.gz"), body, &opts, d), ST_OK);
    CHECK("document", d->kind == DOCUMENT_LIST);
}

static void entries_are_links_with_their_dates(void **state)
{
    struct arena a;
    struct document d, e;
    arena_init(&a);
    read_document(&a, SPAN("text/xml"),
                  SPAN("<urlset><url><loc>http://a/1</loc><lastmod>2024-01-02</lastmod><xhtml:link rel='alternate' "
                       "href='/de'/></url><sitemap><loc>/s.xml</loc></sitemap></urlset>"),
                  &d);
    assert_int_equal(d.facts.link_count, 3);
    CHECK("page", d.facts.links[0].kind == LINK_LISTED && d.facts.links[1].kind == LINK_ALTERNATE);
    CHECK("list", d.facts.links[2].kind == LINK_SITEMAP);
    CHECK_SPAN("date", d.facts.links[0].text, SPAN("2024-01-02T00:00:00Z"));
    CHECK_SPAN("none", d.facts.links[2].text, SPAN(""));

    read_document(&a, SPAN("text/xml"),
                  SPAN("<urlset><url><loc>http://a/1</loc><lastmod>2024-01-03</lastmod></url></urlset>"), &d);
    read_document(
        &a, SPAN("text/xml"),
        SPAN("<urlset><!-- made at 12:30 --><url><loc>http://a/1</loc><lastmod>2024-01-03</lastmod></url></urlset>"),
        &e);
    CHECK("digest is of what is listed", d.facts.digest == e.facts.digest);
    read_document(&a, SPAN("text/xml"),
                  SPAN("<urlset><url><loc>http://a/1</loc><lastmod>2024-01-04</lastmod></url></urlset>"), &e);
    CHECK("and of dates", d.facts.digest != e.facts.digest);

    read_document(&a, SPAN("application/atom+xml"),
                  SPAN("<feed xml:base='http://b/x/'><entry><link href='1'/></entry></feed>"), &d);
    CHECK_SPAN("base", d.facts.links[0].href, SPAN("http://b/x/1"));
    arena_done(&a);
}

/* XML Base, 4: each is relative to that of the element around it, the outermost to the document. */
static void bases_stand_in_each_other(void **state)
{
    static const struct {
        const char *label, *text, *href;
    } cases[] = {
        {"relative to the document", "<feed xml:base='/blog/'><entry><link href='1'/></entry></feed>",
         "http://a/blog/1"},
        {"of an entry alone", "<feed><entry xml:base='2024/'><link href='1'/></entry></feed>", "http://a/f/2024/1"},
        {"of an entry in one of the feed",
         "<feed xml:base='/blog/'><entry xml:base='2024/'><link href='1'/></entry></feed>", "http://a/blog/2024/1"},
        {"in one of another place", "<feed xml:base='http://b/x/'><entry xml:base='y/'><link href='1'/></entry></feed>",
         "http://b/x/y/1"},
        {"of a link",
         "<feed xml:base='/blog/'><entry xml:base='2024/'><link xml:base='../z/' href='1'/></entry></feed>",
         "http://a/blog/z/1"},
        {"of the link before", "<feed><entry><link xml:base='/z/' rel='self' href='s'/><link href='1'/></entry></feed>",
         "1"},
        {"of the entry before", "<feed><entry xml:base='/y/'></entry><entry><link href='1'/></entry></feed>", "1"},
        {"the next part", "<feed xml:base='/blog/'><link rel='next' href='2'/></feed>", "http://a/blog/2"},
        {"that is none", "<feed xml:base='http://['><entry><link href='1'/></entry></feed>", "1"},
        {"of a channel", "<rss><channel xml:base='http://b/x/'><item><link>1</link></item></channel></rss>",
         "http://b/x/1"},
        {"of all that stand around an item",
         "<rss xml:base='http://b/x/'><channel xml:base='y/'><item xml:base='z/'><link>1</link></item></channel></rss>",
         "http://b/x/y/z/1"},
        {"of a link with text", "<rss><channel><item><link xml:base='http://b/x/'>1</link></item></channel></rss>",
         "http://b/x/1"},
        {"of a link without an end", "<rss xml:base='/x/'><channel><item><link xml:base='y/'>1</item></channel></rss>",
         "http://a/x/y/1"},
        {"of the link with text before",
         "<rss><channel><item><link xml:base='/z/'> </link><link>1</link></item></channel></rss>", "1"},
        {"of the item before",
         "<rss><channel><item xml:base='/y/'><title>t</title></item><item><link>1</link></item></channel></rss>", "1"},
        {"of an empty item before", "<rss><channel><item xml:base='/y/'/><item><link>1</link></item></channel></rss>",
         "1"},
        {"of the item before, which has no end",
         "<rss><channel><item xml:base='/y/'><title>t</title><item><link>1</link></item></channel></rss>", "1"},
        {"of the channel before",
         "<rss xml:base='/x/'><channel xml:base='y/'></channel><channel><item><link>1</link></item></channel></rss>",
         "http://a/x/1"},
        {"of what stands beside",
         "<rss><channel><image xml:base='/y/'><link>2</link></image><item><guid xml:base='/z/'>"
         "3</guid><link>1</link></item></channel></rss>",
         "1"},
        {"the next part, in a channel",
         "<rss><channel xml:base='/x/'><atom:link xml:base='y/' rel='next' href='2'/></channel></rss>",
         "http://a/x/y/2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena a;
        struct document d;
        arena_init(&a);
        CHECK(cases[i].label, document_read(&a, SPAN("application/atom+xml"), SPAN("http://a/f/feed"),
                                            span_str(cases[i].text), &(struct facts_opts){0}, &d) == ST_OK);
        CHECK(cases[i].label, d.facts.link_count == 1);
        CHECK_SPAN(cases[i].label, d.facts.links[0].href, span_str(cases[i].href));
        arena_done(&a);
    }
}

/* Every entry has its own copy of what it is relative to, once it is made absolute. */
static void long_bases_are_left_out_and_count(void **state)
{
    struct arena a;
    struct sitemap list;
    struct buf text = {0};
    arena_init(&a);
    for (size_t n = SITEMAP_URL_MAX - 8; n < SITEMAP_URL_MAX * 2; n += SITEMAP_URL_MAX) {
        buf_clear(&text);
        buf_puts(&text, "<feed xml:base='http://a/");
        for (size_t i = 9; i < n; i++)
            buf_putc(&text, 'x');
        buf_puts(&text, "/'>");
        for (size_t i = 0; i < SITEMAP_ENTRIES_MAX; i++)
            buf_puts(&text, "<entry><link href='1'/></entry>");
        sitemap_read(&a, buf_span(&text), NULL, &list);
        bool is_long = n > SITEMAP_URL_MAX;
        CHECK("left out", (list.entries[0].base.n == 0) == is_long);
        CHECK("counts", (list.count == SITEMAP_ENTRIES_MAX) == is_long && list.cut == (is_long ? 0 : SITEMAP_CUT_LOCS));
        CHECK("bounded", list.count * (list.entries[0].base.n + 1) <= SITEMAP_LOCS_BYTES);
    }
    buf_done(&text);
    arena_done(&a);
}

static void lists_come_in_many_charsets(void **state)
{
    static const char latin[] =
        "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a/caf\xe9</loc></url></urlset>";
    struct arena a;
    struct document d;
    struct buf utf16 = {0};
    arena_init(&a);
    read_document(&a, SPAN("application/xml"), span_str(latin), &d);
    CHECK_SPAN("latin", d.facts.links[0].href, SPAN("http://a/caf\xc3\xa9"));
    buf_put(&utf16, span_of("\xff\xfe", 2));
    for (const char *p = "<rss><channel><item><link>http://a/1</link></item></channel></rss>"; *p; p++) {
        buf_putc(&utf16, *p);
        buf_putc(&utf16, '\0');
    }
    read_document(&a, SPAN("application/rss+xml"), buf_span(&utf16), &d);
    CHECK_SPAN("UTF-16", d.facts.links[0].href, SPAN("http://a/1"));
    read_document(&a, SPAN("application/rss+xml; charset=utf-16le"), span_from(buf_span(&utf16), 2), &d);
    CHECK_SPAN("UTF-16 without a mark", d.facts.links[0].href, SPAN("http://a/1"));
    buf_done(&utf16);
    arena_done(&a);
}

/* They come into titles by hand and out of databases. */
static void control_bytes_cost_no_list(void **state)
{
    struct arena a;
    struct document d;
    struct buf zipped = {0};
    struct span rss = SPAN("<rss><channel><title>a \x0b b</title><item><link>http://a/1</link></item></channel></rss>");
    arena_init(&a);
    read_document(&a, SPAN("application/rss+xml"), rss, &d);
    CHECK_SPAN("plain", d.facts.links[0].href, SPAN("http://a/1"));
    put_gzip(&zipped, rss);
    read_document(&a, SPAN("application/gzip"), buf_span(&zipped), &d);
    CHECK_SPAN("gzip", d.facts.links[0].href, SPAN("http://a/1"));
    buf_clear(&zipped);
    put_gzip(&zipped, SPAN("ustar\0\0\x01\x02\x03 <rss>"));
    CHECK_STATUS("an archive",
                 document_read(&a, SPAN("application/gzip"), SPAN("http://a/sitemap.gz"), buf_span(&zipped),
                               &(struct facts_opts){0}, &d),
                 ST_OK);
    CHECK("an archive", d.kind == DOCUMENT_OTHER && !d.facts.link_count);
    buf_done(&zipped);
    arena_done(&a);
}

static void only_dates_that_can_be_are_used(void **state)
{
    wall_ms now = 0, at = 0;
    assert_true(date_read(SPAN("2024-06-01T00:00:00Z"), &now));
    static const struct {
        const char *text;
        uint8_t kind;
        bool want;
    } cases[] = {
        {"2024-05-31T12:00:00Z", LINK_LISTED, true},
        {"2024-06-01T12:00:00Z", LINK_LISTED, true},
        {"2024-06-03T00:00:00Z", LINK_LISTED, false},
        {"2024-05-31T12:00:00Z", LINK_A, false},
        {"", LINK_LISTED, false},
        {"soon", LINK_LISTED, false},
        {"1969-12-31T00:00:00Z", LINK_LISTED, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct summary_link l = {.kind = cases[i].kind, .text = span_str(cases[i].text)};
        CHECK(cases[i].text, sitemap_listed(&l, now, &at) == cases[i].want);
    }
    /* Whatever a clock says. */
    struct summary_link last = {.kind = LINK_LISTED, .text = SPAN("9999-12-31T23:59:59Z")};
    CHECK("for ever", sitemap_listed(&last, INT64_MAX, &at) && !sitemap_listed(&last, INT64_MIN, &at));
}

/* ---- the tokenizer ---- */

static void attributes_are_found_by_name_without_prefix(void **state)
{
    static const struct {
        const char *tag, *name, *want;
    } cases[] = {
        {"<a href='x'>", "href", "x"},    {"<a  b = \"1\" xlink:HREF = ' x&amp;y '/>", "href", "x&y"},
        {"<a href=x b>", "href", "x"},    {"<a b='href=no' href='yes'>", "href", "yes"},
        {"<a href>", "href", ""},         {"<a href=>", "href", ""},
        {"<a hrefs='x'>", "href", NULL},  {"<a>", "href", NULL},
        {"<a href='x' <b>", "href", "x"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena a;
        struct xml_reader r;
        struct xml_token t;
        struct span got = {0};
        arena_init(&a);
        xml_begin(&r, span_str(cases[i].tag));
        CHECK(cases[i].tag, xml_next(&r, &t) && t.kind == XML_START);
        CHECK(cases[i].tag, xml_attr(&a, &t, span_str(cases[i].name), &got) == (cases[i].want != NULL));
        CHECK_SPAN(cases[i].tag, got, span_str(cases[i].want));
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crawler_commons_files_are_read),
        cmocka_unit_test(an_index_may_do_without_loc),
        cmocka_unit_test(lists_of_every_kind_are_read),
        cmocka_unit_test(a_list_that_ends_too_early_gives_what_came_before),
        cmocka_unit_test(bytes_that_change_do_no_harm),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(members_of_gzip_are_one_list),
        cmocka_unit_test(a_bomb_is_refused_and_a_large_list_is_cut),
        cmocka_unit_test(documents_are_lists_by_what_is_in_them),
        cmocka_unit_test(entries_are_links_with_their_dates),
        cmocka_unit_test(bases_stand_in_each_other),
        cmocka_unit_test(long_bases_are_left_out_and_count),
        cmocka_unit_test(lists_come_in_many_charsets),
        cmocka_unit_test(control_bytes_cost_no_list),
        cmocka_unit_test(only_dates_that_can_be_are_used),
        cmocka_unit_test(attributes_are_found_by_name_without_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
