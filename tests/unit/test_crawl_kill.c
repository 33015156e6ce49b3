/* test_crawl_kill.c - an abrupt end: what was settled is there, what was not is told again. */
#include "crawl_steps.h"

#include <sys/wait.h>

/* Killed right after it settled: in the child. */
static bool settle_and_die(struct run *r)
{
    struct network n = network_of_big1(r->lab);
    struct parcel *p = r->more;
    char url[128];
    if (r->stage == 0) {
        if (progress_of(r, r->channel).fetched < 6)
            return false;
        r->stage = 1;
    }
    status st = crawl_network_take(r->cr, &n, take_host, p);
    if (st == ST_AGAIN)
        return false;
    if (st != ST_OK)
        _exit(3);
    r->never = "big1.example";
    put_seed(r->lab, 2, 2, url);
    struct span one = span_str(url);
    if (crawl_seed(r->cr, r->channel, &one, 1) != ST_OK || crawl_settle(r->cr) != ST_OK)
        _exit(4);
    struct page known = {.url = SPAN("http://big0.example/copied"), .at = 1234, .http_status = 200, .etag = SPAN("e")};
    if (crawl_pages_put(r->cr, r->channel, &known, 1) != ST_OK || crawl_settle(r->cr) != ST_OK)
        _exit(5);
    char path[TEST_PATH];
    test_path(path, "parcel");
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p->packed.p, 1, p->packed.n, f) != p->packed.n || fclose(f) != 0)
        _exit(6);
    kill(getpid(), SIGKILL);
    return true;
}

static status same_page(void *arg, const struct page *p)
{
    CHECK_SPAN("etag", p->etag, SPAN("e"));
    assert_true(p->at == 1234 && p->http_status == 200);
    return ST_OK;
}

/* A child that crawls folder "a" and is killed by its own step. It is made before this process has threads, and told
 * afterwards where the server is. */
struct child {
    pid_t pid;
    int to;
};

static struct child child_start(step_fn *step, bool adds_first)
{
    int pipes[2];
    char text[4096];
    assert_int_equal(pipe(pipes), 0);
    struct child c = {.pid = fork(), .to = pipes[1]};
    assert_true(c.pid >= 0);
    if (c.pid > 0) {
        close(pipes[0]);
        return c;
    }
    struct lab far = {0};
    struct parcel parcel = {0};
    ssize_t n = read(pipes[0], text, sizeof(text));
    char *port = n > 8 ? memmem(text, (size_t)n, "\n\n", 2) : NULL;
    if (!port)
        _exit(2);
    buf_put(&far.hosts, span_of(text, (size_t)(port + 1 - text)));
    far.port = atoi(port + 2);
    struct run r = {.lab = &far, .name = "a", .delay_ms = DELAY_MS, .more = &parcel};
    run_open(&r);
    if (adds_first)
        r.channel = run_add(&r, channel_of(&far, 0, 2));
    run_go(&r, step);
    _exit(7);
}

static void child_wait(struct child *c, const struct lab *l)
{
    struct buf told = {0};
    int how = 0;
    buf_put(&told, buf_span(&l->hosts));
    buf_printf(&told, "\n%d\n", l->port);
    assert_int_equal(write(c->to, told.p, told.n), told.n);
    close(c->to);
    buf_done(&told);
    assert_int_equal(waitpid(c->pid, &how, 0), c->pid);
    if (!WIFSIGNALED(how))
        fail_msg("the child ended with code %d", WEXITSTATUS(how));
}

static bool add_and_die(struct run *r)
{
    if (r->stage == 0) {
        r->channel = run_add(r, channel_of(r->lab, 0, 2));
        r->stage = 1;
        return false;
    }
    if (progress_of(r, r->channel).fetched >= 8)
        kill(getpid(), SIGKILL);
    return false;
}

static void what_was_not_settled_is_told_again(void **state)
{
    struct lab lab;
    struct child child = child_start(add_and_die, false);
    lab_init(&lab, 32, 2);
    child_wait(&child, &lab);
    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS};
    run_open(&r);
    r.channel = run_add(&r, channel_of(&lab, 0, 2));
    run_go(&r, until_nothing_waits);
    struct view v = view_of(&lab, NULL);
    assert_int_equal(v.pages, 32);
    assert_true(v.again <= 2); /* at most what was under way */
    assert_true(v.nearest_us >= GAP_US);
    run_done(&r);
    lab_done(&lab);
}

static void what_was_settled_survives_a_kill(void **state)
{
    struct lab lab;
    struct parcel parcel = {0};
    struct child child = child_start(settle_and_die, true);
    lab_init(&lab, 45, 3);
    child_wait(&child, &lab);
    size_t before = view_of(&lab, "big1.example").pages;

    struct run r = {.lab = &lab, .name = "a", .delay_ms = DELAY_MS, .never = "big1.example"};
    struct channel *c = channel_of(&lab, 0, 2);
    r.channel = channel_id(c);
    run_open(&r);
    assert_true(progress_of(&r, r.channel).queued > 0);
    char dir[TEST_PATH];
    struct store *s = NULL;
    test_path(dir, "a");
    CHECK_STATUS("store", store_open(dir, STORE_READ, &s, NULL), ST_OK);
    CHECK_STATUS("page", store_page_get(s, siphash(store_key(s), SPAN("http://big0.example/copied")), same_page, NULL),
                 ST_OK);
    store_free(s);
    run_go(&r, until_nothing_waits);
    assert_int_equal(view_of(&lab, "big1.example").pages, before); /* it was taken away */
    assert_true(view_of(&lab, "big0.example").again <= 2);         /* at most what was under way */

    /* And what was taken can be put back. */
    test_path(dir, "parcel");
    struct span bytes = test_read_file(dir);
    buf_put(&parcel.packed, bytes);
    r.never = NULL;
    run_open(&r);
    put_parcel(&r, &parcel);
    assert_true(progress_of(&r, r.channel).queued > 0);
    run_go(&r, until_nothing_waits);
    assert_true(view_of(&lab, "big1.example").pages > before);
    free((char *)bytes.p);
    channel_free(c);
    buf_done(&parcel.packed);
    run_done(&r);
    lab_done(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_was_settled_survives_a_kill),
        TEST_IN_FOLDER(what_was_not_settled_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
