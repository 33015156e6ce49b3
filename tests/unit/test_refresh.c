/* The coordinator keeps its hierarchy fresh: a server on loopback stands in for the registries. */
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coord/coord.h"
#include "coord/state.h"
#include "io/clock.h"
#include "io/httpd.h"
#include "io/registry_fetch.h"
#include "store/file.h"
#include "test_folder.h"

#define TURNS_MAX 2000 /* of a hundredth of a second, until what must come has come */

/* ---- the registries ---- */

struct registries {
    struct httpd *httpd;
    pthread_mutex_t lock;
    unsigned asked, unchanged; /* requests; those answered with 304 */
    char missing[64];          /* this file is not there; "": all are */
    unsigned ranges;           /* in the file of ARIN */
    char url[64];
};

static void put_file(struct registries *r, struct span name, struct buf *out)
{
    if (span_starts(name, SPAN("ipv4-address-space")))
        buf_puts(out, "Prefix,Designation,Date,WHOIS,RDAP,Status [1],Note\n"
                      "127/8,IANA - Loopback,1981-09,,,RESERVED,\n128/8,Administered by ARIN,1993-05,whois.arin.net,,"
                      "LEGACY,\n");
    else if (span_starts(name, SPAN("ipv6-unicast")))
        buf_puts(out, "Prefix,Designation,Date,WHOIS,RDAP,Status,Note\n"
                      "2001:400::/23,ARIN,1999-07-01,whois.arin.net,,ALLOCATED,\n");
    else {
        bool is_arin = span_starts(name, SPAN("delegated-arin"));
        unsigned n = is_arin ? r->ranges : 1;
        struct span registry = span_from(name, strlen("delegated-"));
        registry.n = span_find(registry, '-', 0);
        buf_printf(out, "2|%.*s|20260101|%u|19700101|20260101|+0000\n", SPAN_ARG(registry), n);
        for (unsigned i = 0; i < n; i++)
            buf_printf(out, "%.*s|US|ipv4|%u.%u.0.0|65536|20100101|allocated|org-%u\n", SPAN_ARG(registry),
                       is_arin ? 128 : 40 + registry.p[1] % 20, i, i);
    }
}

static void answer(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct registries *r = self;
    struct span name = span_from(req->target, strlen("/files/"));
    char etag[40];
    pthread_mutex_lock(&r->lock);
    r->asked++;
    snprintf(etag, sizeof(etag), "\"v%u\"", r->ranges);
    if (r->missing[0] && span_is(name, r->missing))
        ans->status = 404;
    else if (span_is(httpd_header(req, "If-None-Match"), etag)) {
        ans->status = 304;
        r->unchanged++;
    } else {
        buf_printf(&ans->head, "ETag: %s\n", etag);
        put_file(r, name, &ans->body);
    }
    pthread_mutex_unlock(&r->lock);
}

static void open_registries(struct registries *r)
{
    struct httpd_opts o = {.addr = {4, {127, 0, 0, 1}}, .threads = 1, .fn = answer, .self = r};
    *r = (struct registries){.ranges = 20};
    pthread_mutex_init(&r->lock, NULL);
    CHECK_STATUS("registries", httpd_new(&o, &r->httpd), ST_OK);
    snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d/files/", httpd_port(r->httpd));
}

static void close_registries(struct registries *r)
{
    httpd_free(r->httpd);
    pthread_mutex_destroy(&r->lock);
}

static unsigned asked(struct registries *r, unsigned *unchanged)
{
    pthread_mutex_lock(&r->lock);
    unsigned n = r->asked;
    if (unchanged)
        *unchanged = r->unchanged;
    pthread_mutex_unlock(&r->lock);
    return n;
}

static void change(struct registries *r, unsigned ranges, const char *missing)
{
    pthread_mutex_lock(&r->lock);
    r->ranges = ranges;
    snprintf(r->missing, sizeof(r->missing), "%s", missing);
    pthread_mutex_unlock(&r->lock);
}

/* ---- the coordinator ---- */

struct lines { /* that it logged */
    pthread_mutex_t lock;
    struct buf text;
};

static void keep_line(void *self, log_level level, struct span line)
{
    struct lines *l = self;
    pthread_mutex_lock(&l->lock);
    buf_put(&l->text, line);
    buf_putc(&l->text, '\n');
    pthread_mutex_unlock(&l->lock);
}

struct stage {
    struct coord *c;
    pthread_t thread;
    struct lines lines;
    struct log log;
};

static void *run(void *arg)
{
    struct stage *s = arg;
    status st = coord_run(s->c);
    (void)st;
    return NULL;
}

static void start(struct stage *s, const char *from, int64_t every_ms)
{
    struct buf why = {0};
    *s = (struct stage){0};
    pthread_mutex_init(&s->lines.lock, NULL);
    s->log = (struct log){.level = LOG_INFO, .sink = keep_line, .self = &s->lines};
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .refresh_every_ms = every_ms,
                           .refresh_from = from,
                           .seed = 1,
                           .version = SPAN("test"),
                           .log = &s->log};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_create(&s->thread, NULL, run, s);
}

static void stop(struct stage *s)
{
    coord_stop(s->c);
    pthread_join(s->thread, NULL);
    coord_free(s->c);
    buf_done(&s->lines.text);
    pthread_mutex_destroy(&s->lines.lock);
}

static bool has_logged(struct stage *s, const char *text)
{
    pthread_mutex_lock(&s->lines.lock);
    bool has = span_search(buf_span(&s->lines.text), span_str(text), false) < s->lines.text.n;
    pthread_mutex_unlock(&s->lines.lock);
    return has;
}

static void wait_line(struct stage *s, const char *text)
{
    for (int i = 0; i < TURNS_MAX && !has_logged(s, text); i++)
        usleep(10000);
    if (!has_logged(s, text))
        fail_msg("no line \"%s\": %.2000s", text, buf_cstr(&s->lines.text));
}

static uint32_t nodes(struct stage *s)
{
    pthread_mutex_lock(&s->c->lock);
    uint32_t n = s->c->hierarchy ? hierarchy_count(s->c->hierarchy) : 0;
    pthread_mutex_unlock(&s->c->lock);
    return n;
}

/* ---- facts ---- */

static unsigned sources(void)
{
    unsigned n = 0;
    for (size_t i = 0; i < registry_source_count; i++)
        n += !registry_sources[i].is_rpsl;
    return n;
}

static void a_hierarchy_is_made_taken_up_and_kept_for_a_period(void **state)
{
    struct registries r;
    struct stage s;
    unsigned unchanged;
    open_registries(&r);
    start(&s, r.url, 30ll * 24 * 3600 * 1000);
    wait_line(&s, "a newer hierarchy");
    assert_int_equal(asked(&r, &unchanged), sources()); /* no databases of objects unless there were some */
    assert_int_equal(nodes(&s), 20 + 4 + 3);
    CHECK("said", has_logged(&s, "registry files new=7 unchanged=0 failed=0 networks=27"));
    CHECK("licences", has_logged(&s, "licence: ARIN: ") && has_logged(&s, "licence: LACNIC: "));
    pthread_mutex_lock(&s.c->lock);
    wall_ms next = (wall_ms)load_number(s.c, "refresh_next"), now = clock_wall();
    pthread_mutex_unlock(&s.c->lock);
    CHECK("in a month", next > now + 29ll * 24 * 3600 * 1000);
    CHECK("and a bit", next < now + 34ll * 24 * 3600 * 1000);
    stop(&s);
    start(&s, r.url, 30ll * 24 * 3600 * 1000); /* the state outlives the process */
    assert_int_equal(nodes(&s), 27);
    usleep(1500000); /* past a slow tick: if it were due it would have begun */
    assert_int_equal(asked(&r, NULL), sources());
    stop(&s);
    close_registries(&r);
}

static void what_is_unchanged_is_not_fetched_nor_built_again(void **state)
{
    struct registries r;
    struct stage s;
    open_registries(&r);
    start(&s, r.url, 1000);
    wait_line(&s, "new=7 unchanged=0 failed=0");
    wait_line(&s, "new=0 unchanged=7 failed=0 networks=0");
    change(&r, 30, "");
    wait_line(&s, "new=7 unchanged=0 failed=0 networks=37");
    for (int i = 0; i < TURNS_MAX && nodes(&s) != 37; i++)
        usleep(10000);
    assert_int_equal(nodes(&s), 37);
    stop(&s);
    close_registries(&r);
}

static void a_file_that_is_missing_is_told_and_asked_for_again(void **state)
{
    struct registries r;
    struct stage s;
    open_registries(&r);
    change(&r, 20, "delegated-lacnic-extended-latest");
    start(&s, r.url, 1000);
    wait_line(&s, "new=6 unchanged=0 failed=1 networks=0 why=\"delegated-lacnic-extended-latest");
    assert_int_equal(nodes(&s), 0); /* not all of it was ever here */
    change(&r, 20, "");
    wait_line(&s, "new=1 unchanged=6 failed=0 networks=27");
    change(&r, 25, "delegated-lacnic-extended-latest"); /* the older one serves */
    wait_line(&s, "new=6 unchanged=0 failed=1 networks=32");
    stop(&s);
    close_registries(&r);
}

static void a_hierarchy_that_lost_most_of_its_networks_is_not_taken(void **state)
{
    struct registries r;
    struct stage s;
    open_registries(&r);
    change(&r, 100, "");
    start(&s, r.url, 1000);
    wait_line(&s, "a newer hierarchy");
    change(&r, 10, "");
    wait_line(&s, "the new hierarchy has too few: 17 networks, of 107 in the one that is used");
    assert_int_equal(nodes(&s), 107);
    stop(&s);
    close_registries(&r);
}

static void it_is_off_unless_switched_on(void **state)
{
    struct registries r;
    struct stage s;
    open_registries(&r);
    start(&s, r.url, 0);
    assert_null(s.c->refresh);
    stop(&s);
    assert_int_equal(asked(&r, NULL), 0);
    close_registries(&r);
}

/* A server that takes connections and says nothing: the coordinator must not wait for it. */
static void the_coordinator_stops_while_a_file_is_being_fetched(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    struct stage s;
    char url[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(at.sin_port));
    start(&s, url, 1000);
    int got = accept(fd, NULL, NULL); /* it has begun */
    assert_true(got >= 0);
    stop(&s);
    close(got);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_hierarchy_is_made_taken_up_and_kept_for_a_period),
        TEST_IN_FOLDER(what_is_unchanged_is_not_fetched_nor_built_again),
        TEST_IN_FOLDER(a_file_that_is_missing_is_told_and_asked_for_again),
        TEST_IN_FOLDER(a_hierarchy_that_lost_most_of_its_networks_is_not_taken),
        TEST_IN_FOLDER(it_is_off_unless_switched_on),
        TEST_IN_FOLDER(the_coordinator_stops_while_a_file_is_being_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
