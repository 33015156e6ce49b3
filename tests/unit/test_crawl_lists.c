/* Sitemaps and feeds, with the real engine against servers on loopback: how they are found, what becomes of what they
 * list, where they end, and what a kill costs. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply_sink.h"
#include "crawl/crawl.h"
#include "io/clock.h"
#include "io/httpd.h"
#include "sample/gzip.h"
#include "store/store.h"
#include "test_folder.h"
#include "web/date.h"
#include "web/facts.h"

#define HOSTS "127.0.0.1 a.example\n127.0.0.1 www.a.example\n127.0.0.1 b.test\n"
#define TEXT "<p>Some words of a page, so that it is not a thin one.</p>"

/* ---- a web of a few files ---- */

struct file {
    const char *host, *path;
    const char *type; /* of application/gzip the body is packed; NULL: a redirect */
    const char *body; /* "{P}" is the port; of a redirect where to */
};

struct web {
    const struct file *files;
    size_t count;
    bool has_tail;  /* /i?n=N is an index that names /i?n=N+1 */
    unsigned parts; /* /feed?n=N has the post /p/N?moved, which moved to /p/N, and leads to the next up to this one */
    int port;
    struct httpd *httpd;
    pthread_mutex_t lock;
    struct buf asked; /* "host/path" a line, in their order */
};

static void put_body(const struct web *w, const char *body, struct buf *out)
{
    struct span rest = span_str(body);
    for (size_t at; (at = span_search(rest, SPAN("{P}"), false)) < rest.n; rest = span_from(rest, at + 3)) {
        buf_put(out, span_cut(rest, 0, at));
        buf_printf(out, "%d", w->port);
    }
    buf_put(out, rest);
}

static void answer_file(const struct web *w, const struct file *f, struct httpd_answer *ans)
{
    struct buf body = {0};
    put_body(w, f->body, &body);
    if (!f->type) {
        ans->status = 301;
        buf_printf(&ans->head, "Location: %s\n", buf_cstr(&body));
    } else {
        buf_printf(&ans->head, "Content-Type: %s\n", f->type);
        if (strcmp(f->type, "application/gzip") == 0)
            gzip_stored(buf_span(&body), &ans->body);
        else
            buf_put(&ans->body, buf_span(&body));
    }
    buf_done(&body);
}

static void answer_part(const struct web *w, uint64_t n, struct httpd_answer *ans)
{
    buf_puts(&ans->head, "Content-Type: application/atom+xml\n");
    buf_printf(&ans->body, "<feed><entry><link href='/p/%llu?moved'/></entry>", (unsigned long long)n);
    if (n < w->parts)
        buf_printf(&ans->body, "<link rel='next' href='/feed?n=%llu'/>", (unsigned long long)n + 1);
    buf_puts(&ans->body, "</feed>");
}

static void answer_post(struct span target, struct httpd_answer *ans)
{
    size_t query = span_find(target, '?', 0);
    if (query < target.n) {
        ans->status = 301;
        buf_printf(&ans->head, "Location: %.*s\n", SPAN_ARG(span_cut(target, 0, query)));
        return;
    }
    buf_puts(&ans->head, "Content-Type: text/html\n");
    buf_puts(&ans->body, "<h1>Post</h1>" TEXT);
}

static void answer(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct web *w = self;
    struct span host = span_cut(req->host, 0, span_find(req->host, ':', 0));
    pthread_mutex_lock(&w->lock);
    buf_printf(&w->asked, "%.*s%.*s\n", SPAN_ARG(host), SPAN_ARG(req->target));
    pthread_mutex_unlock(&w->lock);
    if (w->has_tail && span_starts(req->target, SPAN("/i?n="))) {
        uint64_t n = 0;
        (void)span_u64(span_from(req->target, 5), 1000, &n);
        buf_puts(&ans->head, "Content-Type: text/xml\n");
        buf_printf(&ans->body,
                   "<sitemapindex><sitemap><loc>http://a.example:%d/i?n=%llu</loc></sitemap></sitemapindex>", w->port,
                   (unsigned long long)n + 1);
        return;
    }
    uint64_t part = 0;
    if (w->parts && span_starts(req->target, SPAN("/p/"))) {
        answer_post(req->target, ans);
        return;
    }
    if (w->parts && span_starts(req->target, SPAN("/feed?n=")) &&
        span_u64(span_from(req->target, 8), w->parts, &part)) {
        answer_part(w, part, ans);
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        if (span_is(host, w->files[i].host) && span_is(req->target, w->files[i].path)) {
            answer_file(w, &w->files[i], ans);
            return;
        }
    ans->status = 404;
}

static void web_init(struct web *w, const struct file *files, size_t count)
{
    *w = (struct web){.files = files, .count = count};
    pthread_mutex_init(&w->lock, NULL);
    struct httpd_opts o = {.fn = answer, .self = w};
    CHECK_STATUS("address", addr_parse(SPAN("127.0.0.1"), &o.addr), ST_OK);
    CHECK_STATUS("server", httpd_new(&o, &w->httpd), ST_OK);
    w->port = httpd_port(w->httpd);
}

static void web_done(struct web *w)
{
    httpd_free(w->httpd);
    buf_done(&w->asked);
    pthread_mutex_destroy(&w->lock);
}

/* How often a place was asked for. */
static unsigned asked(struct web *w, const char *place)
{
    unsigned n = 0;
    pthread_mutex_lock(&w->lock);
    struct span rest = buf_span(&w->asked), line;
    while (span_split(&rest, '\n', &line))
        n += span_is(line, place);
    pthread_mutex_unlock(&w->lock);
    return n;
}

static size_t requests(struct web *w)
{
    size_t n = 0;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->asked.n; i++)
        n += w->asked.p[i] == '\n';
    pthread_mutex_unlock(&w->lock);
    return n;
}

/* ---- a crawl of it ---- */

struct trip {
    const char *seed; /* path at a.example */
    channel_scope scope;
    unsigned depth_max; /* 0: 64 */
    const char *include, *exclude;
    bool no_sitemaps;
    const char *list; /* a URL of a list, "{P}" as above; NULL: none */
    bool is_channels; /* the channel names it */
    int64_t delay_ms;
    struct crawl_stats stats;
    uint64_t channel;
    struct channel_progress progress;
};

static struct crawl *trip_open(struct trip *t, int port, struct apply_sink_opts *sink)
{
    char dir[TEST_PATH], seed[128];
    struct buf why = {0}, list = {0};
    struct crawl *cr = NULL;
    struct channel *c = NULL;
    test_path(dir, "data");
    struct crawl_opts o = {.data_dir = dir,
                           .fetch = {.user_agent = SPAN("orbweaver/0.1 (test)"), .allow_private = true},
                           .dns = {.hosts = SPAN(HOSTS)},
                           .delay_ms = t->delay_ms,
                           .per_host = 1,
                           .shards = 2,
                           .no_sitemaps = t->no_sitemaps,
                           .open_sink = apply_sink_open,
                           .sink_arg = sink};
    status st = crawl_open(&o, &cr, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    snprintf(seed, sizeof(seed), "http://a.example:%d%s", port, t->seed);
    struct span seeds[] = {span_str(seed)}, include = span_str(t->include), exclude = span_str(t->exclude);
    struct channel_opts co = {.seeds = seeds,
                              .seed_count = 1,
                              .scope = t->scope,
                              .depth_max = t->depth_max ? t->depth_max : 64,
                              .include = &include,
                              .include_count = t->include != NULL,
                              .exclude = &exclude,
                              .exclude_count = t->exclude != NULL};
    if (t->list)
        put_body(&(struct web){.port = port}, t->list, &list);
    struct span url = buf_span(&list);
    if (t->is_channels) {
        co.lists = &url;
        co.list_count = 1;
    }
    CHECK_STATUS("channel", channel_new(&co, &c, NULL), ST_OK);
    uint64_t id = t->channel = channel_id(c);
    CHECK_STATUS("add", crawl_add(cr, c), ST_OK);
    if (t->list && !t->is_channels) {
        CHECK_STATUS("list", crawl_lists(cr, id, &url, 1), ST_OK);
        CHECK_STATUS("no such channel", crawl_lists(cr, 12345, &url, 1), ST_NOT_FOUND);
    }
    buf_done(&list);
    buf_done(&why);
    return cr;
}

static void trip_run(struct trip *t, int port)
{
    struct apply_sink_opts sink = {.shards = 2};
    crawl_end end = CRAWL_FAILED;
    struct crawl *cr = trip_open(t, port, &sink);
    CHECK_STATUS("run", crawl_run(cr, NULL, NULL, &end), ST_OK);
    CHECK("it ends by itself", end == CRAWL_COMPLETE);
    crawl_get_stats(cr, &t->stats);
    CHECK("progress", crawl_channel_progress(cr, t->channel, &t->progress));
    crawl_close(cr);
}

struct look {
    bool is_there;
    struct page page;
};

static status take_look(void *arg, const struct page *p)
{
    struct look *l = arg;
    l->is_there = true;
    l->page = *p;
    return ST_OK;
}

/* What the folder knows of a page; *listed is 0 where nothing is. */
static struct look look_at(int port, const char *path, wall_ms *listed)
{
    char dir[TEST_PATH], url[256];
    struct store *s = NULL;
    struct look l = {0};
    test_path(dir, "data");
    snprintf(url, sizeof(url), "http://a.example:%d%s", port, path);
    CHECK_STATUS("store", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    uint64_t key = siphash(store_key(s), span_str(url));
    status st = store_page_get(s, key, take_look, &l);
    CHECK(path, st == ST_OK || st == ST_NOT_FOUND);
    *listed = 0;
    st = store_listed_get(s, key, listed);
    CHECK(path, st == ST_OK || st == ST_NOT_FOUND);
    store_free(s);
    return l;
}

static status note_reason(void *arg, const struct page *p)
{
    buf_put(arg, p->reason);
    return ST_OK;
}

static wall_ms date(const char *text)
{
    wall_ms at = 0;
    CHECK(text, date_read(span_str(text), &at));
    return at;
}

/* ---- found ---- */

#define PAGE(at, body)                                          \
    {                                                           \
        "a.example", at, "text/html", "<h1>Page</h1>" TEXT body \
    }

static const struct file site[] = {
    {"a.example", "/robots.txt", "text/plain", "User-agent: *\nDisallow: /no/\nSitemap: /maps/index.xml\n"},
    PAGE("/", "<link rel=sitemap href=/maps/list.txt><link rel=alternate type=application/rss+xml href=/feed>"
              "<link rel=alternate type=application/feed+json href=/feed.json><a href=/linked>linked</a>"),
    PAGE("/linked", ""),
    PAGE("/one", "<a href=/behind-one>more</a>"),
    PAGE("/behind-one", ""),
    PAGE("/eins", ""),
    PAGE("/two", ""),
    PAGE("/three", ""),
    PAGE("/four", ""),
    PAGE("/five", ""),
    PAGE("/no/way", ""),
    {"a.example", "/maps/index.xml", "application/xml",
     "<sitemapindex><sitemap><loc>http://a.example:{P}/maps/one.xml</loc></sitemap>"
     "<sitemap><loc>http://a.example:{P}/maps/two.xml.gz</loc></sitemap></sitemapindex>"},
    {"a.example", "/maps/one.xml", "text/xml",
     "<urlset><url><loc>http://a.example:{P}/one</loc><lastmod>2024-05-06</lastmod><xhtml:link rel='alternate' "
     "hreflang='de' href='http://a.example:{P}/eins'/></url><url><loc>http://a.example:{P}/no/way</loc></url>"
     "<url><loc>http://a.example:{P}/linked</loc><lastmod>2024-07-08T09:10:11Z</lastmod></url>"
     "<url><loc>http://b.test:{P}/far</loc></url></urlset>"},
    {"a.example", "/maps/two.xml.gz", "application/gzip",
     "<urlset><url><loc>http://a.example:{P}/two</loc></url></urlset>"},
    {"a.example", "/maps/list.txt", "text/plain", "http://a.example:{P}/three\nhttp://a.example:{P}/\n"},
    {"a.example", "/feed", "application/rss+xml",
     "<rss><channel><item><link>/four</link><pubDate>Mon, 06 May 2024 00:00:00 GMT</pubDate></item></channel></rss>"},
    {"a.example", "/feed.json", "application/json",
     "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[{\"id\":\"5\",\"url\":\"http://a.example:{P}/five\","
     "\"date_published\":\"2024-05-06T00:00:00Z\"}]}"},
};

static void lists_are_found_by_robots_txt_and_by_pages(void **state)
{
    struct web w;
    struct trip t = {.seed = "/"};
    web_init(&w, site, sizeof(site) / sizeof(*site));
    trip_run(&t, w.port);
    static const char *const pages[] = {"/",    "/linked", "/one",  "/behind-one", "/eins",
                                        "/two", "/three",  "/four", "/five"};
    static const char *const lists[] = {"/maps/index.xml", "/maps/one.xml", "/maps/two.xml.gz",
                                        "/maps/list.txt",  "/feed",         "/feed.json"};
    wall_ms listed;
    char place[128];
    for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
        snprintf(place, sizeof(place), "a.example%s", pages[i]);
        CHECK(place, asked(&w, place) == 1);
        struct look l = look_at(w.port, pages[i], &listed);
        CHECK(place, l.is_there && l.page.content && !(l.page.page_flags & PAGE_LIST));
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        snprintf(place, sizeof(place), "a.example%s", lists[i]);
        CHECK(place, asked(&w, place) == 1);
        struct look l = look_at(w.port, lists[i], &listed);
        CHECK(place, l.is_there && l.page.page_flags == (PAGE_LIST | PAGE_NOINDEX) && !l.page.content && l.page.digest);
    }
    CHECK("robots.txt holds", asked(&w, "a.example/no/way") == 0);
    CHECK("the scope holds", asked(&w, "b.test/far") == 0 && asked(&w, "b.test/robots.txt") == 0);
    CHECK("counted apart", t.stats.lists == 6 && t.stats.pages == 9 && t.stats.fetched == 9);
    CHECK("nor as other documents", t.stats.not_html == 0 && t.stats.errors == 0);
    CHECK("nor searched in", t.stats.index_docs == 9);
    CHECK("nor told as news", t.progress.added == 9 && t.progress.changed == 0 && t.progress.lists == 6);

    /* As far away as links of the seed. */
    CHECK("depth", look_at(w.port, "/one", &listed).page.depth == 1 && listed == date("2024-05-06"));
    CHECK("depth", look_at(w.port, "/behind-one", &listed).page.depth == 2 && !listed);
    CHECK("known pages get their dates too", look_at(w.port, "/linked", &listed).is_there);
    CHECK("known pages get their dates too", listed == date("2024-07-08T09:10:11Z"));
    CHECK("feeds", look_at(w.port, "/four", &listed).is_there && listed == date("2024-05-06"));
    CHECK("feeds in JSON", look_at(w.port, "/five", &listed).is_there && listed == date("2024-05-06"));
    CHECK("also of pages that nobody may visit", !look_at(w.port, "/no/way", &listed).page.good_at);
    web_done(&w);
}

static void lists_are_in_no_count_of_the_next_pass_either(void **state)
{
    struct web w;
    struct trip t = {.seed = "/"};
    web_init(&w, site, sizeof(site) / sizeof(*site));
    trip_run(&t, w.port);
    trip_run(&t, w.port);
    CHECK("pages", t.stats.pass == 2 && t.stats.fetched == 9 && t.stats.unchanged == 9 && t.stats.lists == 6);
    CHECK("told", t.progress.unchanged == 9 && t.progress.added == 0 && t.progress.lists == 6);
    web_done(&w);
}

static void nothing_is_looked_for_when_that_is_switched_off(void **state)
{
    struct web w;
    struct trip t = {.seed = "/", .no_sitemaps = true};
    web_init(&w, site, sizeof(site) / sizeof(*site));
    trip_run(&t, w.port);
    CHECK("two pages and the rules", requests(&w) == 3 && t.stats.pages == 2 && t.stats.lists == 0);
    web_done(&w);
}

static void what_is_listed_is_a_link_away(void **state)
{
    struct web w;
    struct trip t = {.seed = "/", .depth_max = 1};
    web_init(&w, site, sizeof(site) / sizeof(*site));
    trip_run(&t, w.port);
    CHECK("one link away", asked(&w, "a.example/one") == 1 && asked(&w, "a.example/behind-one") == 0);
    web_done(&w);
}

/* ---- beside the scope ---- */

static const struct file folders[] = {
    {"a.example", "/robots.txt", "text/plain",
     "Sitemap: http://a.example:{P}/all.xml\nSitemap: http://www.a.example:{P}/www.xml\n"
     "Sitemap: http://b.test:{P}/b.xml\nSitemap: /moved.xml\nSitemap: /skipped.xml\n"},
    {"a.example", "/docs/", "text/html", "<h1>Docs</h1>" TEXT},
    {"a.example", "/docs/x", "text/html", "<h1>X</h1>" TEXT},
    {"a.example", "/docs/y", "text/html", "<h1>Y</h1>" TEXT},
    {"a.example", "/all.xml", "text/xml",
     "<sitemapindex><sitemap><loc>http://a.example:{P}/part.xml</loc></sitemap><sitemap>"
     "<loc>http://b.test:{P}/c.xml</loc></sitemap></sitemapindex>"},
    {"a.example", "/part.xml", "text/xml",
     "<urlset><url><loc>http://a.example:{P}/docs/x</loc></url><url><loc>http://a.example:{P}/other</loc></url></"
     "urlset>"},
    {"www.a.example", "/www.xml", "text/xml",
     "<urlset><url><loc>http://a.example:{P}/docs/y</loc></url><url><loc>http://www.a.example:{P}/</loc></url></"
     "urlset>"},
    {"a.example", "/moved.xml", NULL, "http://b.test:{P}/moved.xml"},
};

static void a_sitemap_may_lie_beside_the_scope_but_not_far_away(void **state)
{
    struct web w;
    struct trip t = {.seed = "/docs/", .scope = SCOPE_PREFIX, .exclude = "*skipped*"};
    web_init(&w, folders, sizeof(folders) / sizeof(*folders));
    trip_run(&t, w.port);
    CHECK("named by robots.txt", asked(&w, "a.example/all.xml") == 1 && asked(&w, "a.example/part.xml") == 1);
    CHECK("of the same domain", asked(&w, "www.a.example/www.xml") == 1);
    CHECK("what they list", asked(&w, "a.example/docs/x") == 1 && asked(&w, "a.example/docs/y") == 1);
    CHECK("is judged like any link", asked(&w, "a.example/other") == 0 && asked(&w, "www.a.example/") == 0);
    CHECK("patterns count", asked(&w, "a.example/skipped.xml") == 0);
    /* A seed's redirect widens the scope; that of a sitemap leads nowhere. */
    CHECK("a redirect", asked(&w, "a.example/moved.xml") == 1 && asked(&w, "b.test/moved.xml") == 0);
    CHECK("nothing of another domain", asked(&w, "b.test/robots.txt") == 0);
    CHECK("pages", t.stats.pages == 3 && t.stats.lists == 3);
    web_done(&w);
}

static void check_given_list(bool is_channels)
{
    struct web w;
    struct trip t = {.seed = "/docs/",
                     .scope = SCOPE_PREFIX,
                     .list = "http://www.a.example:{P}/www.xml",
                     .is_channels = is_channels};
    static const struct file no_robots[] = {{"a.example", "/docs/", "text/html", "<h1>Docs</h1>" TEXT},
                                            {"a.example", "/docs/y", "text/html", "<h1>Y</h1>" TEXT},
                                            {"www.a.example", "/www.xml", "text/xml",
                                             "<urlset><url><loc>http://a.example:{P}/docs/y</loc></url>"
                                             "<url><loc>http://www.a.example:{P}/</loc></url></urlset>"}};
    web_init(&w, no_robots, sizeof(no_robots) / sizeof(*no_robots));
    trip_run(&t, w.port);
    CHECK("asked for", asked(&w, "www.a.example/www.xml") == 1 && asked(&w, "a.example/docs/y") == 1);
    CHECK("no wider", asked(&w, "www.a.example/") == 0 && t.stats.pages == 2 && t.stats.lists == 1);
    web_done(&w);
}

/* Sitemaps of example.org that list www.example.org are what people wonder about. */
static void a_list_of_another_site_says_so(void **state)
{
    struct web w;
    wall_ms listed;
    struct trip t = {.seed = "/", .scope = SCOPE_SITE};
    static const struct file files[] = {
        {"a.example", "/", "text/html",
         "<h1>Start</h1><link rel=sitemap href=/far.xml><link rel=sitemap href=/half.xml><link rel=sitemap "
         "href=/none.xml>" TEXT},
        {"a.example", "/y", "text/html", "<h1>Y</h1>" TEXT},
        {"a.example", "/far.xml", "text/xml",
         "<urlset><url><loc>http://www.a.example:{P}/1</loc></url><url><loc>http://b.test:{P}/2</loc></url></"
         "urlset>"},
        {"a.example", "/half.xml", "text/xml",
         "<urlset><url><loc>http://www.a.example:{P}/1</loc></url><url><loc>/y</loc></url></urlset>"},
        {"a.example", "/none.xml", "text/xml", "<urlset></urlset>"}};
    web_init(&w, files, sizeof(files) / sizeof(*files));
    trip_run(&t, w.port);
    CHECK("followed", t.stats.pages == 2 && t.stats.lists == 3);
    CHECK("counted", t.stats.lists_elsewhere == 1);
    CHECK("told", look_at(w.port, "/far.xml", &listed).page.reason.n > 0);
    CHECK("of that one", look_at(w.port, "/half.xml", &listed).page.reason.n == 0);
    CHECK("nor of an empty one", look_at(w.port, "/none.xml", &listed).page.reason.n == 0);
    web_done(&w);
}

static const struct file near_and_far[] = {
    {"a.example", "/", "text/html", "<h1>Start</h1><link rel=sitemap href=/map.xml>" TEXT},
    {"a.example", "/y", "text/html", "<h1>Y</h1>" TEXT},
    {"a.example", "/map.xml", "text/xml",
     "<urlset><url><loc>/y</loc></url><url><loc>http://b.test:{P}/2</loc></url></urlset>"}};

static void check_left(struct trip *t, unsigned by, const char *reason)
{
    struct web w;
    char dir[TEST_PATH], url[64];
    struct store *s = NULL;
    struct buf got = {0};
    web_init(&w, near_and_far, sizeof(near_and_far) / sizeof(*near_and_far));
    trip_run(t, w.port);
    CHECK(reason, asked(&w, "a.example/y") == 0 && t->stats.lists == 1 && t->stats.lists_elsewhere == 0);
    CHECK(reason, t->stats.lists_left == 1 && t->stats.lists_left_by == by);
    test_path(dir, "data");
    snprintf(url, sizeof(url), "http://a.example:%d/map.xml", w.port);
    CHECK_STATUS("store", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS("page", store_page_get(s, siphash(store_key(s), span_str(url)), note_reason, &got), ST_OK);
    CHECK_SPAN("reason", buf_span(&got), span_str(reason));
    buf_done(&got);
    store_free(s);
    web_done(&w);
}

static void a_list_whose_pages_are_excluded_says_so(void **state)
{
    struct trip t = {.seed = "/", .list = "http://a.example:{P}/map.xml", .exclude = "*/y"};
    check_left(&t, 1u << CHANNEL_OUT_OF_SCOPE | 1u << CHANNEL_EXCLUDED,
               "nothing that it lists is followed: out of scope, an --exclude pattern matches");
}

static void a_list_whose_pages_no_pattern_wants_says_so(void **state)
{
    struct trip t = {.seed = "/", .list = "http://a.example:{P}/map.xml", .include = "*nothing*"};
    check_left(&t, 1u << CHANNEL_OUT_OF_SCOPE | 1u << CHANNEL_NOT_INCLUDED,
               "nothing that it lists is followed: out of scope, no --include pattern matches");
}

static void a_list_can_be_given(void **state)
{
    check_given_list(false);
}

static void a_channel_can_name_a_list(void **state)
{
    check_given_list(true);
}

static void lists_of_lists_without_end_come_to_an_end(void **state)
{
    static const struct file start[] = {{"a.example", "/robots.txt", "text/plain", "Sitemap: /i?n=1\n"},
                                        {"a.example", "/", "text/html", "<h1>Page</h1>" TEXT}};
    struct web w;
    struct trip t = {.seed = "/"};
    web_init(&w, start, 2);
    w.has_tail = true;
    trip_run(&t, w.port);
    CHECK("some", asked(&w, "a.example/i?n=3") == 1);
    CHECK("not many", t.stats.lists <= CRAWL_LISTS_MAX + 2 && t.stats.queued == 0);
    CHECK("said", t.stats.lists_too_far == 1);
    web_done(&w);
}

/* One that lists itself as a page, each time by another name. */
static void pages_that_are_lists_come_to_an_end_sooner(void **state)
{
    char names[16][24], bodies[16][96];
    struct file files[17] = {{"a.example", "/", "text/html", "<link rel=sitemap href=/u/0>" TEXT}};
    for (int i = 0; i < 16; i++) {
        snprintf(names[i], sizeof(names[i]), "/u/%d", i);
        snprintf(bodies[i], sizeof(bodies[i]), "<urlset><url><loc>/u/%d</loc></url></urlset>", i + 1);
        files[i + 1] = (struct file){"a.example", names[i], "text/xml", bodies[i]};
    }
    struct web w;
    struct trip t = {.seed = "/"};
    wall_ms listed;
    web_init(&w, files, 17);
    trip_run(&t, w.port);
    CHECK("some", asked(&w, "a.example/u/11") == 1);
    CHECK("not many", asked(&w, "a.example/u/12") == 0 && t.stats.lists == 12 && t.stats.lists_too_far == 1);
    CHECK("told", look_at(w.port, "/u/11", &listed).page.reason.n > 0);
    CHECK("of that one", look_at(w.port, "/u/10", &listed).page.reason.n == 0);
    web_done(&w);
}

static unsigned asked_part(struct web *w, const char *form, unsigned n)
{
    char place[64];
    snprintf(place, sizeof(place), form, n);
    return asked(w, place);
}

static void check_archive(unsigned parts, unsigned followed)
{
    static const struct file start[] = {
        {"a.example", "/", "text/html", "<link rel=alternate type=application/atom+xml href='/feed?n=1'>" TEXT}};
    struct web w;
    struct trip t = {.seed = "/"};
    wall_ms listed;
    char last[32];
    web_init(&w, start, 1);
    w.parts = parts;
    trip_run(&t, w.port);
    for (unsigned n = 1; n <= parts; n++) {
        CHECK("part", asked_part(&w, "a.example/feed?n=%u", n) == (n <= followed));
        CHECK("its post", asked_part(&w, "a.example/p/%u", n) == (n <= followed));
    }
    CHECK("counted", t.stats.lists == followed && t.stats.pages == followed + 1);
    CHECK("as cut", t.stats.lists_too_far == (parts > followed));
    snprintf(last, sizeof(last), "/feed?n=%u", followed);
    CHECK("told", (look_at(w.port, last, &listed).page.reason.n > 0) == (parts > followed));
    web_done(&w);
}

/* The archive of a blog, a part a month. */
static void an_archive_of_many_parts_is_followed(void **state)
{
    check_archive(30, 30);
}

static void an_archive_of_too_many_parts_says_so(void **state)
{
    check_archive(CRAWL_LISTS_MAX + 5, CRAWL_LISTS_MAX + 1);
}

/* ---- a change that was announced ---- */

static void pages_that_a_list_says_have_changed_are_looked_at_first(void **state)
{
    char map[512];
    struct buf soon = {0};
    date_put(&soon, clock_wall() + 3600 * 1000); /* after the visit, as a list read later would say */
    snprintf(map, sizeof(map),
             "<urlset><url><loc>http://a.example:{P}/e</loc><lastmod>%s</lastmod></url>"
             "<url><loc>http://a.example:{P}/b</loc><lastmod>2020-01-01</lastmod></url></urlset>",
             buf_cstr(&soon));
    const struct file files[] = {
        {"a.example", "/robots.txt", "text/plain", "Sitemap: /map.xml\n"},
        PAGE("/", "<a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a> <a href=/d>d</a> <a href=/e>e</a>"),
        PAGE("/a", ""),
        PAGE("/b", ""),
        PAGE("/c", ""),
        PAGE("/d", ""),
        PAGE("/e", ""),
        {"a.example", "/map.xml", "text/xml", map},
    };
    struct web w;
    struct trip t = {.seed = "/"};
    web_init(&w, files, sizeof(files) / sizeof(*files));
    trip_run(&t, w.port);
    CHECK("all of it", t.stats.pages == 6 && t.stats.lists == 1);
    buf_clear(&w.asked);
    trip_run(&t, w.port);
    CHECK("second pass", t.stats.pass == 2 && asked(&w, "a.example/map.xml") == 1);
    CHECK_SPAN("first", span_cut(buf_span(&w.asked), 0, span_find(buf_span(&w.asked), '\n', 0)), SPAN("a.example/e"));
    web_done(&w);
    buf_done(&soon);
}

/* ---- a kill ---- */

/* Crawls in a process of its own, which is forked before any thread runs, until somebody kills it. */
static pid_t child_start(int *to)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) {
        close(pipes[0]);
        *to = pipes[1];
        return pid;
    }
    int port = 0;
    if (read(pipes[0], &port, sizeof(port)) != sizeof(port))
        _exit(2);
    struct trip t = {.seed = "/", .delay_ms = 5000};
    struct apply_sink_opts sink = {.shards = 2};
    crawl_end end;
    _exit(crawl_run(trip_open(&t, port, &sink), NULL, NULL, &end) == ST_OK ? 7 : 8);
}

static void a_kill_after_robots_txt_loses_no_sitemap(void **state)
{
    struct web w;
    struct trip t = {.seed = "/"};
    int to = -1, how = 0;
    pid_t pid = child_start(&to);
    web_init(&w, site, sizeof(site) / sizeof(*site));
    assert_int_equal(write(to, &w.port, sizeof(w.port)), sizeof(w.port));
    for (int i = 0; i < 300 && !asked(&w, "a.example/robots.txt"); i++)
        usleep(100 * 1000);
    usleep(1500 * 1000); /* it has been written down by then; the next request is due after five seconds */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    close(to);
    CHECK("killed", WIFSIGNALED(how));
    CHECK("in time", asked(&w, "a.example/robots.txt") == 1 && asked(&w, "a.example/maps/index.xml") == 0);
    trip_run(&t, w.port);
    CHECK("the rules were kept", asked(&w, "a.example/robots.txt") == 1);
    CHECK("and so were the sitemaps", asked(&w, "a.example/maps/index.xml") == 1 && asked(&w, "a.example/two") == 1);
    CHECK("all of it", t.stats.pages == 9);
    web_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_kill_after_robots_txt_loses_no_sitemap),
        TEST_IN_FOLDER(lists_are_found_by_robots_txt_and_by_pages),
        TEST_IN_FOLDER(lists_are_in_no_count_of_the_next_pass_either),
        TEST_IN_FOLDER(nothing_is_looked_for_when_that_is_switched_off),
        TEST_IN_FOLDER(what_is_listed_is_a_link_away),
        TEST_IN_FOLDER(a_sitemap_may_lie_beside_the_scope_but_not_far_away),
        TEST_IN_FOLDER(a_list_of_another_site_says_so),
        TEST_IN_FOLDER(a_list_whose_pages_are_excluded_says_so),
        TEST_IN_FOLDER(a_list_whose_pages_no_pattern_wants_says_so),
        TEST_IN_FOLDER(a_list_can_be_given),
        TEST_IN_FOLDER(a_channel_can_name_a_list),
        TEST_IN_FOLDER(lists_of_lists_without_end_come_to_an_end),
        TEST_IN_FOLDER(pages_that_are_lists_come_to_an_end_sooner),
        TEST_IN_FOLDER(an_archive_of_many_parts_is_followed),
        TEST_IN_FOLDER(an_archive_of_too_many_parts_says_so),
        TEST_IN_FOLDER(pages_that_a_list_says_have_changed_are_looked_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
