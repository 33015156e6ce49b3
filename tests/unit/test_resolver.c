#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/resolver.h"

/* A DNS server on a loopback UDP socket that knows the names below. */

struct record {
    const char *name;
    int type; /* 1 A, 5 CNAME, 28 AAAA */
    uint32_t ttl;
    const char *value;
};

static const struct record records[] = {
    {"both.test", 1, 300, "192.0.2.1"},     {"both.test", 28, 200, "2001:db8::1"},
    {"four.test", 1, 300, "192.0.2.4"},     {"six.test", 28, 300, "2001:db8::6"},
    {"short.test", 1, 1, "192.0.2.9"},      {"long.test", 1, 999999, "192.0.2.10"},
    {"alias.test", 5, 60, "four.test"},     {"mapped.test", 28, 300, "::ffff:192.0.2.33"},
    {"many.test", 1, 300, "192.0.2.11"},    {"many.test", 1, 300, "192.0.2.12"},
    {"many.test", 1, 300, "192.0.2.13"},    {"many.test", 1, 300, "192.0.2.14"},
    {"many.test", 1, 300, "192.0.2.15"},    {"many.test", 1, 300, "192.0.2.16"},
    {"many.test", 28, 300, "2001:db8::11"}, {"many.test", 28, 300, "2001:db8::12"},
    {"twice.test", 1, 300, "192.0.2.20"},   {"twice.test", 1, 300, "192.0.2.20"},
};

struct dns {
    int fd, port;
    pthread_t thread;
    atomic_int queries;
};

static size_t put_name(unsigned char *to, const char *name)
{
    size_t n = 0;
    while (*name) {
        size_t label = strcspn(name, ".");
        to[n++] = (unsigned char)label;
        memcpy(to + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    to[n++] = 0;
    return n;
}

static size_t put_record(unsigned char *to, const struct record *r)
{
    size_t n = put_name(to, r->name), length;
    unsigned char data[256];
    if (r->type == 5)
        length = put_name(data, r->value);
    else
        length = inet_pton(r->type == 1 ? AF_INET : AF_INET6, r->value, data) ? (r->type == 1 ? 4 : 16) : 0;
    const unsigned char head[] = {0,
                                  (unsigned char)r->type,
                                  0,
                                  1,
                                  (unsigned char)(r->ttl >> 24),
                                  (unsigned char)(r->ttl >> 16),
                                  (unsigned char)(r->ttl >> 8),
                                  (unsigned char)r->ttl,
                                  0,
                                  (unsigned char)length};
    memcpy(to + n, head, sizeof(head));
    memcpy(to + n + sizeof(head), data, length);
    return n + sizeof(head) + length;
}

/* Appends what answers (name, type), following an alias; *known: the name exists. */
static int answer(unsigned char *p, size_t *n, const char *name, int type, bool *known)
{
    int count = 0;
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        if (strcasecmp(records[i].name, name) != 0)
            continue;
        *known = true;
        if (records[i].type != type && records[i].type != 5)
            continue;
        *n += put_record(p + *n, &records[i]);
        count++;
        if (records[i].type == 5)
            count += answer(p, n, records[i].value, type, known);
    }
    return count;
}

static void *serve_dns(void *arg)
{
    struct dns *d = arg;
    unsigned char p[4096];
    for (;;) {
        struct sockaddr_in from;
        socklen_t from_n = sizeof(from);
        ssize_t got = recvfrom(d->fd, p, 512, 0, (struct sockaddr *)&from, &from_n);
        if (got < 17) {
            if (got == 4) /* "stop" from the test */
                return NULL;
            continue;
        }
        d->queries++;
        char name[256] = "";
        size_t at = 12;
        while (p[at] && at + p[at] + 1 < (size_t)got) {
            if (name[0])
                strcat(name, ".");
            strncat(name, (const char *)p + at + 1, p[at]);
            at += p[at] + 1u;
        }
        int type = p[at + 1] << 8 | p[at + 2];
        size_t n = at + 5;
        bool known = strcmp(name, "empty.test") == 0;
        if (strcmp(name, "silent.test") == 0)
            continue;
        int count = answer(p, &n, name, type, &known);
        p[2] = 0x81;
        p[3] = strcmp(name, "fail.test") == 0 ? 0x82 : known ? 0x80 : 0x83;
        p[6] = 0;
        p[7] = (unsigned char)count;
        memset(p + 8, 0, 4);
        sendto(d->fd, p, n, 0, (struct sockaddr *)&from, from_n);
    }
}

static void dns_open(struct dns *d)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(in);
    memset(d, 0, sizeof(*d));
    d->fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(d->fd, (struct sockaddr *)&in, n), 0);
    getsockname(d->fd, (struct sockaddr *)&in, &n);
    d->port = ntohs(in.sin_port);
    assert_int_equal(pthread_create(&d->thread, NULL, serve_dns, d), 0);
}

static void dns_close(struct dns *d)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)d->port)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    sendto(fd, "stop", 4, 0, (struct sockaddr *)&in, sizeof(in));
    close(fd);
    pthread_join(d->thread, NULL);
    close(d->fd);
}

struct bed {
    struct dns dns;
    struct loop *loop;
    struct resolver *resolver;
    struct resolved last;
    int want, done;
};

static void bed_open(struct bed *b, struct resolver_opts opts)
{
    char server[64];
    memset(b, 0, sizeof(*b));
    dns_open(&b->dns);
    b->loop = loop_new();
    snprintf(server, sizeof(server), "127.0.0.1:%d", b->dns.port);
    opts.server = span_str(server);
    if (!opts.timeout_ms)
        opts.timeout_ms = 2000;
    CHECK_STATUS("open", resolver_new(b->loop, &opts, &b->resolver), ST_OK);
}

static void bed_close(struct bed *b)
{
    resolver_free(b->resolver);
    loop_free(b->loop);
    dns_close(&b->dns);
}

static void on_done(void *arg, const struct resolved *r)
{
    struct bed *b = arg;
    b->last = *r;
    if (++b->done >= b->want)
        loop_stop(b->loop);
}

static void start(struct bed *b, const char *host)
{
    int done = b->done;
    resolver_lookup(b->resolver, span_str(host), on_done, b);
    CHECK(host, b->done == done);
}

static const struct resolved *look(struct bed *b, const char *host)
{
    b->want = b->done + 1;
    start(b, host);
    loop_run(b->loop);
    CHECK(host, b->done == b->want);
    return &b->last;
}

static const char *list(const struct resolved *r)
{
    static char text[512];
    char one[ADDR_TEXT_MAX];
    text[0] = '\0';
    for (unsigned i = 0; i < r->count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
                 addr_format(&r->addrs[i], one));
    return text;
}

static void answers_names_of_every_kind(void **state)
{
    static const struct {
        const char *host;
        status st;
        const char *four_first, *six_first;
        int64_t ttl_ms; /* -1: for ever */
    } cases[] = {
        {"both.test", ST_OK, "192.0.2.1 2001:db8::1", "2001:db8::1 192.0.2.1", 200000},
        {"BOTH.Test.", ST_OK, "192.0.2.1 2001:db8::1", "2001:db8::1 192.0.2.1", 200000},
        {"four.test", ST_OK, "192.0.2.4", "192.0.2.4", 300000},
        {"six.test", ST_OK, "2001:db8::6", "2001:db8::6", 300000},
        {"short.test", ST_OK, "192.0.2.9", "192.0.2.9", 30000},
        {"long.test", ST_OK, "192.0.2.10", "192.0.2.10", 86400000},
        {"alias.test", ST_OK, "192.0.2.4", "192.0.2.4", 60000},
        {"mapped.test", ST_OK, "192.0.2.33", "192.0.2.33", 300000},
        {"twice.test", ST_OK, "192.0.2.20", "192.0.2.20", 300000},
        {"many.test", ST_OK, "192.0.2.11 192.0.2.12 192.0.2.13 192.0.2.14 2001:db8::11 2001:db8::12",
         "2001:db8::11 2001:db8::12 192.0.2.11 192.0.2.12 192.0.2.13 192.0.2.14", 300000},
        {"none.test", ST_DNS, "", "", 30000},
        {"empty.test", ST_DNS, "", "", 30000},
        {"fail.test", ST_TIMEOUT, "", "", 30000},
        {"192.0.2.99", ST_OK, "192.0.2.99", "192.0.2.99", -1},
        {"[2001:db8::99]", ST_OK, "2001:db8::99", "2001:db8::99", -1},
        {"[::ffff:192.0.2.99]", ST_OK, "192.0.2.99", "192.0.2.99", -1},
        {"localhost", ST_OK, "127.0.0.1 ::1", "::1 127.0.0.1", -1},
        {"a.b.LOCALHOST.", ST_OK, "127.0.0.1 ::1", "::1 127.0.0.1", -1},
        {"hosted.test", ST_OK, "127.0.0.5 ::5", "::5 127.0.0.5", -1},
        {"also.hosted.test", ST_OK, "127.0.0.5", "127.0.0.5", -1},
        {"", ST_DNS, "", "", -1},
        {".", ST_DNS, "", "", -1},
        {"a..b", ST_DNS, "", "", -1},
        {"four.test..", ST_DNS, "", "", -1},
        {"sp ace", ST_DNS, "", "", -1},
    };
    for (int six = 0; six < 2; six++) {
        struct bed b;
        bed_open(&b, (struct resolver_opts){.prefer_ipv6 = six,
                                            .hosts = SPAN("# comment\n127.0.0.5\tHosted.test. also.hosted.test # x\n\n"
                                                          " ::5  hosted.test\n")});
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            mono_ms now = loop_now(b.loop);
            const struct resolved *r = look(&b, cases[i].host);
            CHECK_STATUS(cases[i].host, r->st, cases[i].st);
            CHECK_SPAN(cases[i].host, span_str(list(r)), span_str(six ? cases[i].six_first : cases[i].four_first));
            if (cases[i].ttl_ms < 0)
                CHECK(cases[i].host, r->expires == MONO_NEVER && r->took_us == 0);
            else
                CHECK(cases[i].host,
                      r->expires >= now + cases[i].ttl_ms - 10 && r->expires <= now + cases[i].ttl_ms + 9000);
        }
        bed_close(&b);
    }
}

static void remembers_answers_and_failures(void **state)
{
    struct bed b;
    struct resolved r;
    bed_open(&b, (struct resolver_opts){0});
    static const char *const hosts[] = {"four.test", "none.test", "empty.test"};
    for (size_t i = 0; i < 3; i++) {
        CHECK(hosts[i], !resolver_peek(b.resolver, span_str(hosts[i]), &r));
        CHECK(hosts[i], look(&b, hosts[i])->took_us > 0);
        int queries = b.dns.queries;
        CHECK(hosts[i], resolver_peek(b.resolver, span_str(hosts[i]), &r));
        CHECK(hosts[i], r.st == b.last.st && r.count == b.last.count && r.took_us == 0);
        CHECK(hosts[i], look(&b, hosts[i])->took_us == 0);
        CHECK(hosts[i], b.dns.queries == queries);
    }
    bed_close(&b);
}

static void asks_again_when_the_time_is_up(void **state)
{
    struct bed b;
    struct resolved r;
    bed_open(&b, (struct resolver_opts){.ttl_min_ms = 1});
    look(&b, "short.test");
    int queries = b.dns.queries;
    assert_true(resolver_peek(b.resolver, SPAN("short.test"), &r));
    usleep(1100000);
    look(&b, "localhost"); /* a turn of the loop, for its clock */
    assert_false(resolver_peek(b.resolver, SPAN("short.test"), &r));
    CHECK_STATUS("again", look(&b, "short.test")->st, ST_OK);
    assert_int_equal(b.dns.queries, queries + 2);
    bed_close(&b);
}

static void joins_lookups_of_one_name(void **state)
{
    struct bed b;
    bed_open(&b, (struct resolver_opts){0});
    b.want = 50;
    for (int i = 0; i < b.want; i++)
        start(&b, i % 2 ? "both.test" : "Both.Test.");
    loop_run(b.loop);
    assert_int_equal(b.done, 50);
    assert_int_equal(b.dns.queries, 2); /* A and AAAA */
    bed_close(&b);
}

static void gives_up_when_nobody_answers(void **state)
{
    struct bed b;
    bed_open(&b, (struct resolver_opts){.timeout_ms = 100});
    mono_ms from = clock_mono();
    CHECK_STATUS("silent", look(&b, "silent.test")->st, ST_TIMEOUT);
    mono_ms took = clock_mono() - from;
    assert_true(took >= 290 && took < 4000);
    assert_int_equal(b.dns.queries, 6); /* three tries of two */
    CHECK_STATUS("others", look(&b, "four.test")->st, ST_OK);
    bed_close(&b);
}

static void cache_stays_within_its_bound(void **state)
{
    struct bed b;
    struct resolved r;
    bed_open(&b, (struct resolver_opts){.cache_names = 8});
    b.want = 200;
    for (int i = 0; i < b.want; i++) {
        char host[32];
        snprintf(host, sizeof(host), "h%d.test", i % 100);
        start(&b, host);
    }
    loop_run(b.loop);
    assert_int_equal(b.done, 200);
    look(&b, "four.test");
    for (int i = 0; i < 20; i++) { /* what is used stays while others come and go */
        char host[32];
        snprintf(host, sizeof(host), "g%d.test", i);
        look(&b, host);
        CHECK(host, resolver_peek(b.resolver, SPAN("four.test"), &r));
    }
    int kept = 0;
    for (int i = 0; i < 20; i++) {
        char host[32];
        snprintf(host, sizeof(host), "g%d.test", i);
        kept += resolver_peek(b.resolver, span_str(host), &r);
    }
    assert_true(kept >= 1 && kept <= 7);
    bed_close(&b);
}

static void freeing_cancels_what_is_under_way(void **state)
{
    struct bed b;
    bed_open(&b, (struct resolver_opts){0});
    b.want = 100;
    start(&b, "silent.test");
    start(&b, "silent.test");
    start(&b, "four.test");
    start(&b, "192.0.2.1");
    resolver_free(b.resolver);
    b.resolver = NULL;
    assert_int_equal(b.done, 4);
    CHECK_STATUS("cancelled", b.last.st, ST_CANCELLED);
    bed_close(&b);
}

static void free_in_callback(void *arg, const struct resolved *r)
{
    struct bed *b = arg;
    b->done++;
    if (r->st == ST_CANCELLED)
        return;
    resolver_free(b->resolver);
    b->resolver = NULL;
    loop_stop(b->loop);
}

static void freeing_is_allowed_inside_the_callback(void **state)
{
    static const char *const hosts[] = {"four.test", "192.0.2.1", "none.test"};
    for (size_t i = 0; i < 3; i++) {
        struct bed b;
        bed_open(&b, (struct resolver_opts){0});
        for (int n = 0; n < 5; n++)
            resolver_lookup(b.resolver, span_str(hosts[i]), free_in_callback, &b);
        resolver_lookup(b.resolver, SPAN("silent.test"), free_in_callback, &b);
        loop_run(b.loop);
        CHECK(hosts[i], b.done == 6 && !b.resolver);
        bed_close(&b);
    }
}

static void look_again(void *arg, const struct resolved *r)
{
    struct bed *b = arg;
    if (b->done++ < 3)
        resolver_lookup(b->resolver, b->done % 2 ? SPAN("both.test") : SPAN("four.test"), look_again, b);
    else
        loop_stop(b->loop);
}

static void lookups_are_allowed_inside_the_callback(void **state)
{
    struct bed b;
    bed_open(&b, (struct resolver_opts){0});
    resolver_lookup(b.resolver, SPAN("four.test"), look_again, &b);
    loop_run(b.loop);
    assert_int_equal(b.done, 4);
    bed_close(&b);
}

static void options_are_checked(void **state)
{
    static const struct {
        const char *label, *server, *hosts;
        status want;
    } cases[] = {
        {"address", "127.0.0.1", "", ST_OK},
        {"port", "127.0.0.1:5353", "", ST_OK},
        {"IPv6", "::1", "", ST_OK},
        {"IPv6 port", "[::1]:5353", "", ST_OK},
        {"system", "", "", ST_OK},
        {"name", "dns.example", "", ST_INVALID},
        {"port 0", "127.0.0.1:0", "", ST_INVALID},
        {"port too high", "127.0.0.1:65536", "", ST_INVALID},
        {"no port", "127.0.0.1:", "", ST_INVALID},
        {"hosts", "127.0.0.1", "127.0.0.1 a\n#\n \n::1 b c", ST_OK},
        {"hosts without name", "127.0.0.1", "127.0.0.1\n", ST_INVALID},
        {"hosts without address", "127.0.0.1", "a.example 127.0.0.1\n", ST_INVALID},
        {"hosts with bad name", "127.0.0.1", "127.0.0.1 a..b\n", ST_INVALID},
    };
    struct loop *l = loop_new();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct resolver *r = NULL;
        struct resolver_opts opts = {.server = span_str(cases[i].server), .hosts = span_str(cases[i].hosts)};
        CHECK_STATUS(cases[i].label, resolver_new(l, &opts, &r), cases[i].want);
        CHECK(cases[i].label, (r != NULL) == (cases[i].want == ST_OK));
        resolver_free(r);
    }
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_names_of_every_kind),
        cmocka_unit_test(remembers_answers_and_failures),
        cmocka_unit_test(asks_again_when_the_time_is_up),
        cmocka_unit_test(joins_lookups_of_one_name),
        cmocka_unit_test(gives_up_when_nobody_answers),
        cmocka_unit_test(cache_stays_within_its_bound),
        cmocka_unit_test(freeing_cancels_what_is_under_way),
        cmocka_unit_test(freeing_is_allowed_inside_the_callback),
        cmocka_unit_test(lookups_are_allowed_inside_the_callback),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
