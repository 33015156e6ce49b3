#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/httpd.h"
#include "io/workers.h"
#include "test_client.h"

#define LOOPBACK ((struct addr){4, {127, 0, 0, 1}})

/* Says back what it was asked; /slow waits, /drop hangs up, /head adds headers. */
static void echo(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    char peer[ADDR_TEXT_MAX], local[ADDR_TEXT_MAX];
    struct span agent = httpd_header(req, "user-agent");
    buf_printf(&ans->body, "%s %.*s host=%.*s agent=%.*s peer=%s local=%s body=%.*s", req->method,
               SPAN_ARG(req->target), SPAN_ARG(req->host), SPAN_ARG(agent), addr_format(&req->peer, peer),
               addr_format(&req->local, local), SPAN_ARG(req->body));
    if (span_starts(req->target, SPAN("/slow")))
        ans->delay_ms = 200;
    if (span_starts(req->target, SPAN("/slowest")))
        ans->delay_ms = 3600000;
    ans->drop = span_ends(req->target, SPAN("drop"));
    if (span_is(req->target, "/head")) {
        ans->status = 404;
        buf_puts(&ans->head, "X-One: 1\nX-Robots-Tag: noindex\r\nX-Robots-Tag: a: b\nnot a header\nX-Last: end");
    }
}

static struct httpd *serve(struct httpd_opts opts)
{
    struct httpd *h = NULL;
    opts.fn = echo;
    opts.request_body_max = 10;
    if (!opts.addr.family)
        opts.addr = LOOPBACK;
    CHECK_STATUS("serve", httpd_new(&opts, &h), ST_OK);
    assert_true(httpd_port(h) > 0);
    return h;
}

static void answers_with_what_the_handler_says(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0});
    int fd = dial(httpd_port(h), "127.0.0.1");
    char got[4096];
    static const struct {
        const char *request, *want;
    } cases[] = {
        {"GET /a%20b?x=1&y HTTP/1.1\r\nHost: h.example:81\r\nUser-Agent: me\r\n\r\n",
         "GET /a%20b?x=1&y host=h.example:81 agent=me peer=127.0.0.1 local=127.0.0.1 body="},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789", "body=0123456789"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 404"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-One: 1\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Robots-Tag: noindex\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Robots-Tag: a: b\r\n"},
        {"GET /head HTTP/1.1\r\nHost: h\r\n\r\n", "X-Last: end\r\n"},
        {"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n", "GET /slow"},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n0123456789a", "HTTP/1.1 413"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) /* all over one connection */
        if (!strstr(ask(fd, cases[i].request, got, sizeof(got)), cases[i].want))
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].request, got, cases[i].want);
    close(fd);
    httpd_free(h);
    httpd_free(NULL);
}

static void drop_hangs_up_without_a_byte(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0});
    char got[4096];
    static const char *const targets[] = {"/drop", "/slow-drop"};
    for (size_t i = 0; i < 2; i++) {
        int fd = dial(httpd_port(h), "127.0.0.1");
        char request[100];
        snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", targets[i]);
        CHECK_SPAN(targets[i], span_str(ask(fd, request, got, sizeof(got))), SPAN(""));
        close(fd);
    }
    httpd_free(h);
}

static void taken_port_is_busy(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0}), *second = NULL;
    struct httpd_opts opts = {.addr = LOOPBACK, .port = httpd_port(h), .fn = echo};
    CHECK_STATUS("same port", httpd_new(&opts, &second), ST_BUSY);
    opts.addr = (struct addr){4, {192, 0, 2, 1}};
    CHECK_STATUS("not our address", httpd_new(&opts, &second), ST_IO);
    assert_null(second);
    int port = httpd_port(h);
    httpd_free(h);
    h = serve((struct httpd_opts){.port = port}); /* free again at once */
    assert_int_equal(httpd_port(h), port);
    httpd_free(h);
}

static void tells_which_address_was_connected_to(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.addr = {4, {0}}, .threads = 2});
    char got[4096];
    static const char *const addrs[] = {"127.0.0.2", "127.0.0.77"};
    for (size_t i = 0; i < 2; i++) {
        char want[64];
        int fd = dial(httpd_port(h), addrs[i]);
        snprintf(want, sizeof(want), "local=%s ", addrs[i]);
        CHECK(addrs[i], strstr(ask(fd, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), want));
        close(fd);
    }
    httpd_free(h);
}

static void delays_do_not_hold_up_others(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0}); /* one thread */
    enum { N = 20 };
    int fds[N];
    char got[4096];
    mono_ms start = clock_mono();
    for (int i = 0; i < N; i++) {
        fds[i] = dial(httpd_port(h), "127.0.0.1");
        assert_true(write(fds[i], "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n", 32) == 32);
    }
    int quick = dial(httpd_port(h), "127.0.0.1");
    assert_non_null(strstr(ask(quick, "GET /quick HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /quick"));
    assert_true(clock_mono() - start < 3000);
    for (int i = 0; i < N; i++) {
        assert_non_null(strstr(ask(fds[i], "", got, sizeof(got)), "GET /slow"));
        close(fds[i]);
    }
    mono_ms took = clock_mono() - start;
    assert_true(took >= 195 && took < 3900); /* one after the other it would be four seconds */
    close(quick);
    httpd_free(h);
}

static void stops_while_an_answer_is_delayed(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.threads = 2});
    int fd = dial(httpd_port(h), "127.0.0.1");
    char got[4096];
    assert_true(write(fd, "GET /slowest HTTP/1.1\r\nHost: h\r\n\r\n", 35) == 35);
    usleep(50000);
    mono_ms start = clock_mono();
    httpd_free(h);
    assert_true(clock_mono() - start < 5000);
    (void)ask(fd, "", got, sizeof(got)); /* answered early or hung up; not left waiting */
    close(fd);
}

struct load {
    int port;
    int answered;
};

static void *ask_often(void *arg)
{
    struct load *l = arg;
    char got[4096];
    int fd = dial(l->port, "127.0.0.1");
    for (int i = 0; i < 500; i++)
        l->answered += strstr(ask(fd, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "GET /x") != NULL;
    close(fd);
    return NULL;
}

static void several_threads_serve_several_clients(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.threads = 4});
    enum { N = 4 };
    pthread_t threads[N];
    struct load loads[N];
    for (int i = 0; i < N; i++) {
        loads[i] = (struct load){.port = httpd_port(h)};
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &loads[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(loads[i].answered, 500);
    }
    httpd_free(h);
}

/* libmicrohttpd 0.9.75 goes to sleep over exactly 128 events when its own threads wait for them. */
static void any_number_of_clients_at_the_same_moment_is_served(void **state)
{
    static const int numbers[] = {1, 127, 128, 129, 256, 384};
    struct httpd *h = serve((struct httpd_opts){0});
    char got[4096];
    int fds[384];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        for (int k = 0; k < numbers[i]; k++)
            fds[k] = dial(httpd_port(h), "127.0.0.1");
        for (int round = 0; round < 10; round++) {
            for (int k = 0; k < numbers[i]; k++)
                assert_true(send_text(fds[k], "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"));
            for (int k = 0; k < numbers[i]; k++)
                assert_non_null(strstr(hear(fds[k], got, sizeof(got)), "GET /x"));
        }
        for (int k = 0; k < numbers[i]; k++)
            close(fds[k]);
    }
    httpd_free(h);
}

/* ---- answers that come later ---- */

struct later_state {
    struct workers *workers;
    atomic_int refused;
    atomic_bool is_held; /* jobs wait for this to end */
};

struct later_job {
    struct later_state *state;
    struct httpd_later *later;
    char target[128];
};

static void answer_job(void *arg, unsigned worker, bool is_cancelled)
{
    struct later_job *j = arg;
    while (atomic_load(&j->state->is_held))
        usleep(1000);
    struct httpd_answer ans = {.status = is_cancelled ? 503 : 200};
    buf_puts(&ans.head, "X-Later: yes\n");
    buf_printf(&ans.body, "later %s", j->target);
    httpd_answer_later(j->later, &ans);
    free(j);
}

static void defer(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct later_state *s = self;
    if (span_is(req->target, "/now")) {
        buf_puts(&ans->body, "now");
        return;
    }
    struct later_job *j = calloc(1, sizeof(*j));
    j->state = s;
    snprintf(j->target, sizeof(j->target), "%.*s", SPAN_ARG(req->target));
    j->later = httpd_defer(req);
    if (!j->later) {
        atomic_fetch_add(&s->refused, 1);
        free(j);
        ans->status = 503;
    } else if (workers_add(s->workers, answer_job, j) != ST_OK) {
        atomic_fetch_add(&s->refused, 1);
        answer_job(j, 0, true);
    }
}

static struct httpd *serve_later(struct later_state *s, unsigned threads, size_t waiting_max)
{
    struct httpd *h = NULL;
    struct httpd_opts opts = {.addr = LOOPBACK, .threads = threads, .fn = defer, .self = s};
    CHECK_STATUS("workers", workers_new(2, waiting_max, &s->workers), ST_OK);
    CHECK_STATUS("serve", httpd_new(&opts, &h), ST_OK);
    return h;
}

static void *ask_later_often(void *arg)
{
    struct load *l = arg;
    char got[4096], request[128], want[64];
    int fd = dial(l->port, "127.0.0.1");
    for (int i = 0; i < 300; i++) {
        snprintf(request, sizeof(request), "GET /%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
        snprintf(want, sizeof(want), "\r\n\r\nlater /%d", i);
        l->answered += strstr(ask(fd, request, got, sizeof(got)), want) != NULL;
    }
    close(fd);
    return NULL;
}

static void deferred_answers_reach_their_own_clients(void **state)
{
    for (unsigned server_threads = 1; server_threads <= 2; server_threads++) {
        struct later_state s = {0};
        struct httpd *h = serve_later(&s, server_threads, 64);
        enum { N = 8 };
        pthread_t threads[N];
        struct load loads[N];
        for (int i = 0; i < N; i++) {
            loads[i] = (struct load){.port = httpd_port(h)};
            assert_int_equal(pthread_create(&threads[i], NULL, ask_later_often, &loads[i]), 0);
        }
        for (int i = 0; i < N; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(loads[i].answered, 300);
        }
        assert_int_equal(atomic_load(&s.refused), 0);
        httpd_free(h);
        workers_free(s.workers);
    }
}

static void head_of_a_deferred_answer_has_its_length_and_no_body(void **state)
{
    struct later_state s = {0};
    struct httpd *h = serve_later(&s, 1, 8);
    char got[4096];
    int fd = dial(httpd_port(h), "127.0.0.1");
    /* The second request shows that nothing of a body came after the first answer's head. */
    const char *two = "HEAD /abc HTTP/1.1\r\nHost: h\r\n\r\nGET /now HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    assert_true(write(fd, two, strlen(two)) == (ssize_t)strlen(two));
    size_t n = 0;
    for (ssize_t r; (r = read(fd, got + n, sizeof(got) - 1 - n)) > 0;)
        n += (size_t)r;
    got[n] = '\0';
    assert_non_null(strstr(got, "Content-Length: 10\r\n"));
    assert_non_null(strstr(got, "X-Later: yes\r\n"));
    assert_null(strstr(got, "later /abc"));
    assert_non_null(strstr(got, "\r\n\r\nnow"));
    close(fd);
    httpd_free(h);
    workers_free(s.workers);
}

static void a_waiting_answer_holds_up_nobody_else(void **state)
{
    struct later_state s = {.is_held = true};
    struct httpd *h = serve_later(&s, 1, 8);
    char got[4096];
    int slow = dial(httpd_port(h), "127.0.0.1"), quick = dial(httpd_port(h), "127.0.0.1");
    assert_true(write(slow, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 28) == 28);
    for (int i = 0; i < 20; i++)
        assert_non_null(strstr(ask(quick, "GET /now HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "now"));
    atomic_store(&s.is_held, false);
    assert_non_null(strstr(ask(slow, "", got, sizeof(got)), "later /a"));
    close(slow);
    close(quick);
    httpd_free(h);
    workers_free(s.workers);
}

static void *free_server(void *arg)
{
    httpd_free(arg);
    return NULL;
}

static void stopping_waits_for_deferred_answers(void **state)
{
    struct later_state s = {.is_held = true};
    struct httpd *h = serve_later(&s, 2, 8);
    char got[4096];
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = dial(httpd_port(h), "127.0.0.1");
        assert_true(write(fds[i], "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 28) == 28);
    }
    for (int i = 0; i < 5000 && workers_running(s.workers) + workers_waiting(s.workers) < 4; i++)
        usleep(1000);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_server, h), 0);
    usleep(20000); /* whether it waits already or not, it must end well */
    atomic_store(&s.is_held, false);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; i++) {
        (void)ask(fds[i], "", got, sizeof(got)); /* the answer, or a closed connection; not left waiting */
        close(fds[i]);
    }
    workers_free(s.workers);
}

/* ---- limits ---- */

static void announced_bodies_are_refused_before_they_are_sent(void **state)
{
    struct httpd *h = serve((struct httpd_opts){0});
    char got[4096];
    int fd = dial(httpd_port(h), "127.0.0.1");
    const char *head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n";
    assert_non_null(strstr(ask(fd, head, got, sizeof(got)), "HTTP/1.1 413"));
    close(fd);
    fd = dial(httpd_port(h), "127.0.0.1");
    const char *chunked =
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n";
    assert_null(strstr(ask(fd, chunked, got, sizeof(got)), "body="));
    close(fd);
    httpd_free(h);
}

static void one_address_has_only_so_many_connections(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.connections_per_address = 2});
    char got[4096];
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = dial(httpd_port(h), "127.0.0.1");
        if (i < 2)
            assert_non_null(strstr(ask(fds[i], "GET / HTTP/1.1\r\nHost: h\r\n\r\n", got, sizeof(got)), "HTTP/1.1 200"));
    }
    assert_true(read(fds[2], got, sizeof(got)) <= 0); /* hung up on */
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    httpd_free(h);
}

static void long_heads_are_refused(void **state)
{
    struct httpd *h = serve((struct httpd_opts){.request_head_max = 4096});
    static char request[20000], got[4096];
    int fd = dial(httpd_port(h), "127.0.0.1");
    int n = snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: h\r\nX: ");
    memset(request + n, 'x', 15000);
    snprintf(request + n + 15000, sizeof(request) - (size_t)n - 15000, "\r\n\r\n");
    assert_null(strstr(ask(fd, request, got, sizeof(got)), "HTTP/1.1 200"));
    close(fd);
    httpd_free(h);
}

/* ---- workers ---- */

struct tally {
    atomic_bool is_held;
    atomic_int started, cancelled, next, done;
    atomic_int order[100];
};

struct tally_job {
    struct tally *t;
    int number;
};

static void note(void *arg, unsigned worker, bool is_cancelled)
{
    struct tally_job *j = arg;
    struct tally *t = j->t;
    if (is_cancelled) {
        atomic_fetch_add(&t->cancelled, 1);
        return;
    }
    atomic_fetch_add(&t->started, 1);
    while (atomic_load(&t->is_held))
        usleep(500);
    atomic_store(&t->order[atomic_fetch_add(&t->next, 1)], j->number);
    atomic_fetch_add(&t->done, 1);
}

static void workers_take_jobs_in_order_and_say_when_the_line_is_full(void **state)
{
    struct workers *w = NULL;
    struct tally t = {.is_held = true};
    struct tally_job jobs[8];
    for (int i = 0; i < 8; i++)
        jobs[i] = (struct tally_job){&t, i};
    CHECK_STATUS("new", workers_new(1, 3, &w), ST_OK);
    CHECK_STATUS("first", workers_add(w, note, &jobs[0]), ST_OK);
    for (int i = 0; i < 5000 && atomic_load(&t.started) == 0; i++)
        usleep(1000);
    for (int i = 1; i < 4; i++)
        CHECK_STATUS("waits", workers_add(w, note, &jobs[i]), ST_OK);
    CHECK_STATUS("full", workers_add(w, note, &jobs[4]), ST_FULL);
    assert_int_equal(workers_waiting(w), 3);
    assert_int_equal(workers_running(w), 1);
    atomic_store(&t.is_held, false);
    for (int i = 0; i < 5000 && atomic_load(&t.done) < 4; i++)
        usleep(1000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&t.order[i]), i);
    workers_free(w);
    workers_free(NULL);
}

static void stopped_workers_cancel_what_waits(void **state)
{
    struct workers *w = NULL;
    struct tally t = {.is_held = true};
    struct tally_job jobs[8];
    CHECK_STATUS("new", workers_new(2, 8, &w), ST_OK);
    for (int i = 0; i < 8; i++) {
        jobs[i] = (struct tally_job){&t, i};
        CHECK_STATUS("add", workers_add(w, note, &jobs[i]), ST_OK);
        for (int k = 0; i < 2 && k < 5000 && atomic_load(&t.started) <= i; k++)
            usleep(1000);
    }
    atomic_store(&t.is_held, false);
    workers_stop(w);
    CHECK_STATUS("stopped", workers_add(w, note, &jobs[0]), ST_CANCELLED);
    assert_int_equal(atomic_load(&t.cancelled) + atomic_load(&t.done), 8); /* each once */
    workers_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_with_what_the_handler_says),
        cmocka_unit_test(drop_hangs_up_without_a_byte),
        cmocka_unit_test(taken_port_is_busy),
        cmocka_unit_test(tells_which_address_was_connected_to),
        cmocka_unit_test(delays_do_not_hold_up_others),
        cmocka_unit_test(stops_while_an_answer_is_delayed),
        cmocka_unit_test(several_threads_serve_several_clients),
        cmocka_unit_test(any_number_of_clients_at_the_same_moment_is_served),
        cmocka_unit_test(deferred_answers_reach_their_own_clients),
        cmocka_unit_test(head_of_a_deferred_answer_has_its_length_and_no_body),
        cmocka_unit_test(a_waiting_answer_holds_up_nobody_else),
        cmocka_unit_test(stopping_waits_for_deferred_answers),
        cmocka_unit_test(announced_bodies_are_refused_before_they_are_sent),
        cmocka_unit_test(one_address_has_only_so_many_connections),
        cmocka_unit_test(long_heads_are_refused),
        cmocka_unit_test(workers_take_jobs_in_order_and_say_when_the_line_is_full),
        cmocka_unit_test(stopped_workers_cancel_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
