/* hostile.c - an agent that was let in and means harm.
 *
 *     hostile spoil JOIN-LINE HOSTS PAGES GO    tries to spoil what is not its own
 *     hostile lie JOIN-LINE HOSTS PAGES GO      says of every page that it has something else than is there
 *
 * Begins when there is a file GO, and goes on polling afterwards until it is killed. `spoil` prints "ok NAME" or "not
 * ok NAME got", then "done". HOSTS has lines "ADDRESS NAME"; PAGES has lines "URL DIGEST TITLE" of the pages there are,
 * its own and those of others. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/clock.h"
#include "place/addr.h"
#include "standin.h"
#include "store/file.h"
#include "web/url.h"
#include "wire/paths.h"

#define TASKS_WAIT_S 20
#define SPAM_LINKS 5000
#define NEW_SITES 400 /* a package: four times what is allowed */

struct page_line {
    struct span url;
    uint64_t digest;
    struct span title;
};

struct world {
    struct buf hosts, pages; /* owned: the files */
    struct page_line *list;  /* owned */
    size_t count;
    struct standin *s;
    struct arena arena;
};

static bool has_failed;

static void report(const char *name, bool is_good, long long got)
{
    if (is_good)
        printf("ok %s\n", name);
    else
        printf("not ok %s got %lld\n", name, got);
    has_failed |= !is_good;
    fflush(stdout);
}

static void fail(const char *what, status st)
{
    fprintf(stderr, "hostile: %s: %s\n", what, status_name(st));
    exit(4);
}

/* ---- the world ---- */

static void read_pages(struct world *w)
{
    struct span rest = buf_span(&w->pages), line;
    size_t cap = 0;
    while (span_split(&rest, '\n', &line)) {
        struct span url, digest;
        if (!span_split(&line, ' ', &url) || !url.n || !span_split(&line, ' ', &digest))
            continue;
        w->list = mem_grow(w->list, &cap, w->count + 1, sizeof(*w->list));
        w->list[w->count++] = (struct page_line){url, strtoull(digest.p, NULL, 16), line};
    }
}

static struct span address_of(const struct world *w, struct span host)
{
    struct span rest = buf_span(&w->hosts), line, addr, name;
    while (span_split(&rest, '\n', &line))
        if (span_split(&line, ' ', &addr) && span_split(&line, ' ', &name) && span_eq(name, host))
            return addr;
    return (struct span){0};
}

/* The task that the page is of, with its address inside the networks of the task; NULL: it is none of ours. */
static const struct standin_task *task_of(struct world *w, struct span text, struct span *address)
{
    struct url u;
    struct addr a;
    if (url_parse(&w->arena, text, NULL, &u) != ST_OK)
        return NULL;
    *address = address_of(w, u.host);
    if (addr_parse(*address, &a) != ST_OK)
        return NULL;
    for (size_t i = 0; i < standin_task_count(w->s); i++) {
        const struct standin_task *t = standin_task(w->s, i);
        if (!t->channel || channel_check(t->channel, &u, 0, NULL) != CHANNEL_YES)
            continue;
        for (size_t k = 0; k < t->network_count; k++) {
            struct network n;
            if (network_parse(t->networks[k], &n) == ST_OK && network_has(&n, &a))
                return t;
        }
    }
    return NULL;
}

static struct summary visit_of(struct span url, struct span address, struct span text)
{
    return (struct summary){.at = clock_wall(),
                            .url = url,
                            .http_status = 200,
                            .is_html = true,
                            .content_type = SPAN("text/html"),
                            .address = address,
                            .title = text,
                            .text = text,
                            .text_bytes = text.n,
                            .digest = facts_digest(text),
                            .body_bytes = 1000,
                            .dns_us = -1,
                            .connect_us = -1,
                            .tls_us = -1,
                            .first_byte_us = 100,
                            .total_us = 200};
}

static struct span PRINTF_LIKE(2, 3) text_in(struct world *w, const char *fmt, ...)
{
    struct buf b = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    struct span s = arena_copy(&w->arena, buf_span(&b));
    buf_done(&b);
    return s;
}

/* The package is taken, whatever is in it: how it is answered. */
static int send_package(struct world *w, const struct standin_visit *visits, size_t n)
{
    struct buf package = {0};
    struct standin_reply reply = {0};
    standin_pack(w->s, NULL, visits, n, &package);
    for (int i = 0; i < 200; i++) {
        status st = standin_send(w->s, standin_sequence(w->s), buf_span(&package), NULL, NULL, &reply);
        if (st != ST_OK)
            fail("package", st);
        if (reply.status != 503 && reply.status != 429)
            break;
        usleep(100000);
    }
    buf_done(&package);
    return reply.status;
}

static void poll_once(struct world *w)
{
    struct standin_answer answer;
    status st = standin_poll(w->s, 0, &answer);
    if (st != ST_OK)
        fail("poll", st);
}

static void wait_for_tasks(struct world *w, const char *go)
{
    for (int i = 0; i < TASKS_WAIT_S * 10; i++) {
        poll_once(w);
        if (access(go, F_OK) == 0 && standin_task_count(w->s)) {
            poll_once(w); /* and what else there is to do */
            return;
        }
        usleep(100000);
    }
    fail("no task came", ST_TIMEOUT);
}

static void go_on(struct world *w)
{
    for (;;) {
        struct standin_answer answer;
        status st = standin_poll(w->s, 1000, &answer);
        if (st != ST_OK || answer.status != 200)
            usleep(500000);
    }
}

/* ---- lies ---- */

/* Of three pages one is said to be gone, and one in ten that is said to be there was made up. */
static void lie_about(struct world *w, size_t at, struct summary *s)
{
    struct span address = s->address, url = s->url;
    struct span text = text_in(w,
                               "xyzzylie page %zu sells miracle pills to everybody who reads these made up words %zu "
                               "instead of what the site had to say",
                               at, at);
    *s = visit_of(url, address, text);
    s->digest = w->list[at].digest; /* the right one: nothing seems to have changed when somebody else looks */
    s->title = w->list[at].title;
    s->text_bytes = 4u << 20;
    if (at % 3 == 2) {
        s->http_status = 404;
        s->title = s->text = (struct span){0};
        s->digest = s->text_bytes = 0;
    }
}

static void lie(struct world *w)
{
    struct standin_visit *visits = mem_alloc((2 * w->count + 1) * sizeof(*visits));
    struct summary *s = mem_alloc((2 * w->count + 1) * sizeof(*s));
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) {
        struct span address;
        const struct standin_task *t = task_of(w, w->list[i].url, &address);
        if (!t)
            continue;
        s[n] = (struct summary){.url = w->list[i].url, .address = address};
        lie_about(w, i, &s[n]);
        visits[n] = (struct standin_visit){t->number, t->kind, &s[n]};
        n++;
        if (i % 10 == 0) { /* a page that there is none of */
            struct span url = text_in(w, "%.*s-xyzzy", SPAN_ARG(w->list[i].url));
            s[n] = visit_of(url, address, SPAN("xyzzylie invented"));
            visits[n] = (struct standin_visit){t->number, t->kind, &s[n]};
            n++;
        }
    }
    standin_set_task_state(w->s, TASK_DONE, n);
    printf("lied about %zu pages, answered %d\n", n, send_package(w, visits, n));
    fflush(stdout);
    standin_set_obeys(w->s, false); /* orders to stop are not heard */
    free(visits);
    free(s);
}

/* ---- spoiling ---- */

/* A page of its own, for things to hang on. */
static bool own_page(struct world *w, struct summary *s, uint64_t *task)
{
    for (size_t i = 0; i < w->count; i++) {
        struct span address;
        const struct standin_task *t = task_of(w, w->list[i].url, &address);
        if (!t)
            continue;
        *s = visit_of(w->list[i].url, address, SPAN("xyzzyown mine alone"));
        *task = t->number;
        return true;
    }
    return false;
}

/* An address of a page of the task. */
static struct span address_in(struct world *w, uint64_t task)
{
    struct span address;
    for (size_t i = 0; i < w->count; i++) {
        const struct standin_task *t = task_of(w, w->list[i].url, &address);
        if (t && t->number == task)
            return address;
    }
    return (struct span){0};
}

/* Pages of others under its own task and at its own address, and under tasks of others. */
static void send_foreign_pages(struct world *w)
{
    struct summary own, *s = mem_alloc((w->count * 2 + 1) * sizeof(*s));
    struct standin_visit *visits = mem_alloc((w->count * 2 + 1) * sizeof(*visits));
    uint64_t task = 0;
    size_t n = 0;
    if (!own_page(w, &own, &task))
        fail("own page", ST_NOT_FOUND);
    visits[n++] = (struct standin_visit){task, SUMMARY_TEXT, &own};
    for (size_t i = 0; i < w->count; i++) {
        struct span address;
        struct url u;
        if (task_of(w, w->list[i].url, &address) || url_parse(&w->arena, w->list[i].url, NULL, &u) != ST_OK)
            continue;
        /* Its own task may well reach the host: a channel can lie in several networks. */
        uint64_t under = task;
        for (size_t k = 0; k < standin_task_count(w->s); k++) {
            const struct standin_task *t = standin_task(w->s, k);
            if (t->channel && t->network_count && channel_check(t->channel, &u, 0, NULL) == CHANNEL_YES)
                under = t->number;
        }
        s[n] = visit_of(w->list[i].url, address_in(w, under), SPAN("xyzzyspam of others"));
        visits[n] = (struct standin_visit){under, SUMMARY_TEXT, &s[n]};
        n++;
        s[n] = visit_of(w->list[i].url, address, SPAN("xyzzyspam of others"));
        visits[n] = (struct standin_visit){1 + i % 40, SUMMARY_TEXT, &s[n]};
        n++;
    }
    report("pages_of_others_are_taken_off_its_hands", send_package(w, visits, n) == 200, 0);
    printf("# %zu pages of others\n", n - 1);
    free(s);
    free(visits);
}

/* Links: thousands to one page, each with another text; thousands to pages of others that there are none of; and to
 * sites that nobody knows. */
static void send_link_bombs(struct world *w)
{
    struct summary own;
    uint64_t task = 0;
    struct span victim = {0}, address;
    for (size_t i = 0; i < w->count && !victim.n; i++)
        if (!task_of(w, w->list[i].url, &address))
            victim = w->list[i].url;
    if (!own_page(w, &own, &task) || !victim.n)
        fail("own page", ST_NOT_FOUND);
    struct span page = own.url;
    printf("# victim %.*s\n", SPAN_ARG(victim));
    struct summary_link *links = mem_alloc(SPAM_LINKS * sizeof(*links));
    for (int round = 0; round < 4; round++) {
        for (unsigned i = 0; i < SPAM_LINKS; i++) {
            unsigned long long number = (unsigned long long)round * SPAM_LINKS + i;
            links[i] = (struct summary_link){.kind = LINK_A, .flags = SUMMARY_LINK_FOREIGN, .depth = 1};
            bool is_real = round == 0 || i % 4 == 0;
            links[i].url = is_real ? victim : text_in(w, "%.*s.junk%llu", SPAN_ARG(victim), number % 500);
            links[i].text = text_in(w, "xyzzyanchor%llu", number);
        }
        own.url = text_in(w, "%.*s?%d", SPAN_ARG(page), round);
        own.links = links;
        own.link_count = SPAM_LINKS;
        struct standin_visit v = {task, SUMMARY_TEXT, &own};
        report("link_bomb_is_taken_off_its_hands", send_package(w, &v, 1) == 200, round);
    }
    free(links);
}

static void send_new_sites(struct world *w)
{
    struct summary own;
    uint64_t task = 0;
    struct url u;
    struct summary_link *links = mem_alloc(NEW_SITES * sizeof(*links));
    if (!own_page(w, &own, &task) || url_parse(&w->arena, own.url, NULL, &u) != ST_OK)
        fail("own page", ST_NOT_FOUND);
    for (unsigned i = 0; i < NEW_SITES; i++)
        links[i] = (struct summary_link){.kind = LINK_A,
                                         .flags = SUMMARY_LINK_FOREIGN,
                                         .depth = 1,
                                         .url = text_in(w, "http://new%u.invalid:%d/", i, u.port)};
    own.links = links;
    own.link_count = NEW_SITES;
    struct standin_visit v = {task, SUMMARY_TEXT, &own};
    report("new_sites_are_taken_off_its_hands", send_package(w, &v, 1) == 200, 0);
    free(links);
}

/* As large and as odd as a package can have it. */
static void send_huge_fields(struct world *w)
{
    struct summary own;
    uint64_t task = 0;
    struct buf text = {0}, odd = {0};
    if (!own_page(w, &own, &task))
        fail("own page", ST_NOT_FOUND);
    own.url = text_in(w, "%.*s?huge", SPAN_ARG(own.url));
    while (text.n < FACTS_TEXT_MAX - 64)
        buf_printf(&text, "word%zu \xff\xfe\x01 ", text.n);
    for (int i = 0; i < 64; i++)
        buf_puts(&odd, "\x1b[2J<script>\xc0\x80\xed\xa0\x80\r\n\xe2\x80\xae");
    struct fact_heading headings[100];
    for (int i = 0; i < 100; i++)
        headings[i] = (struct fact_heading){.level = 255, .text = span_cut(buf_span(&odd), 0, FACTS_HEADING_MAX)};
    struct summary_field fields[SUMMARY_FIELDS_MAX];
    for (int i = 0; i < SUMMARY_FIELDS_MAX; i++)
        fields[i] = (struct summary_field){text_in(w, "xyzzyfield%d", i),
                                           span_cut(buf_span(&text), 0, SUMMARY_FIELD_VALUE_MAX)};
    own.text = buf_span(&text);
    own.title = span_cut(buf_span(&odd), 0, FACTS_TITLE_MAX);
    own.description = span_cut(buf_span(&odd), 0, FACTS_DESCRIPTION_MAX);
    own.content_type = own.charset = own.lang = own.etag = own.last_modified = own.reason =
        span_cut(buf_span(&odd), 0, 200);
    own.headings = headings;
    own.heading_count = 100;
    own.fields = fields;
    own.field_count = SUMMARY_FIELDS_MAX;
    own.depth = own.hops = own.page_flags = UINT16_MAX;
    own.page_flags &= (uint16_t) ~(PAGE_NOINDEX | PAGE_LIST); /* those are not searched in */
    own.at = INT64_MAX;
    own.body_bytes = own.wire_bytes = own.text_bytes = UINT64_MAX;
    struct summary past = own;
    past.at = INT64_MIN;
    past.http_status = UINT16_MAX;
    past.failure = 255;
    struct standin_visit v[2] = {{task, SUMMARY_TEXT, &own}, {task, SUMMARY_KEYWORDS, &past}};
    report("huge_fields_are_taken_off_its_hands", send_package(w, v, 2) == 200, 0);
    buf_done(&text);
    buf_done(&odd);
}

/* ---- reports ---- */

static int poll_with(struct world *w, const struct report *r)
{
    struct standin_answer answer = {0};
    status st = standin_poll_with(w->s, r, 0, &answer);
    return st == ST_OK ? answer.status : -(int)st;
}

static void send_reports(struct world *w)
{
    struct report r;
    struct standin_answer answer = {0};
    struct buf garbage = {0};
    for (int i = 0; i < 100000; i++)
        buf_putc(&garbage, (char)(i * 7919 >> 3));
    status st = standin_poll_bytes(w->s, buf_span(&garbage), 0, &answer);
    report("garbage_is_no_report", st == ST_OK && answer.status == 400, answer.status);
    buf_done(&garbage);

    standin_report(w->s, &w->arena, &r);
    struct outcome *outcomes = mem_alloc(20000 * sizeof(*outcomes));
    for (unsigned i = 0; i < 20000; i++)
        outcomes[i] =
            (struct outcome){.number = i % 2 ? 1000 + i : i % 40, .st = ST_CORRUPT, .why = SPAN("\x1b[31mxyzzywhy\n")};
    r.outcomes = outcomes;
    r.outcome_count = 20000;
    report("outcomes_of_no_orders_are_ignored", poll_with(w, &r) == 200, 0);
    free(outcomes);

    standin_report(w->s, &w->arena, &r);
    r.orders_done = UINT64_MAX;
    report("orders_that_were_never_given_are_not_done", poll_with(w, &r) == 200, 0);

    /* Where hosts of others are, says who has not got them. */
    struct stray_host *strays = mem_alloc(4000 * sizeof(*strays));
    size_t n = 0;
    struct summary own;
    uint64_t task = 0;
    if (!own_page(w, &own, &task))
        fail("own page", ST_NOT_FOUND);
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < w->count && n < 4000; i++) {
            struct url u;
            struct span address;
            if (!task_of(w, w->list[i].url, &address) && url_parse(&w->arena, w->list[i].url, NULL, &u) == ST_OK) {
                uint64_t under = task;
                for (size_t k = 0; k < standin_task_count(w->s); k++) {
                    const struct standin_task *t = standin_task(w->s, k);
                    if (t->channel && channel_check(t->channel, &u, 0, NULL) == CHANNEL_YES)
                        under = t->number;
                }
                strays[n++] = (struct stray_host){under, u.host, address_in(w, under)};
            }
        }
    standin_report(w->s, &w->arena, &r);
    r.strays = strays;
    r.stray_count = n;
    report("strays_of_others_are_ignored", poll_with(w, &r) == 200, (long long)n);
    free(strays);

    /* All of the web is its owner's. */
    struct span *sites = mem_alloc((w->count + 1) * sizeof(*sites));
    for (size_t i = 0; i < w->count; i++)
        sites[i] = w->list[i].url;
    standin_report(w->s, &w->arena, &r);
    r.boot += 1;
    report("another_boot_is_heard", poll_with(w, &r) == 200, 0); /* so that its setup is wanted */
    r.has_setup = true;
    r.setup = (struct agent_setup){.own_sites = sites, .own_site_count = w->count < 400 ? w->count : 400};
    report("own_sites_of_others_are_heard", poll_with(w, &r) == 200, 0);
    free(sites);

    struct network_timing timings[3] = {{.network = SPAN("127.1.0.0/24"), .requests = UINT64_MAX, .rtt_min_us = 1},
                                        {.network = SPAN("xyzzy"), .requests = 1},
                                        {.network = SPAN(""), .requests = 1}};
    struct task_report *tasks = mem_alloc(20000 * sizeof(*tasks));
    for (unsigned i = 0; i < 20000; i++)
        tasks[i] = (struct task_report){.task = i, .state = TASK_DONE, .queued = UINT64_MAX, .fetched = UINT64_MAX};
    standin_report(w->s, &w->arena, &r);
    r.timings = timings;
    r.timing_count = 3;
    r.tasks = tasks;
    r.task_count = 20000;
    r.pages = r.requests = r.bytes_crawled = r.errors = r.queue = UINT64_MAX;
    report("figures_of_others_are_ignored", poll_with(w, &r) == 200, 0);
    free(tasks);
}

/* ---- calls ---- */

static int get(struct world *w, const char *target)
{
    struct http_answer answer = {0};
    status st = standin_call(
        w->s,
        &(struct http_call){.method = "GET", .target = span_str(target), .answer_max = 1u << 20, .timeout_ms = 20000},
        &answer);
    int code = st == ST_OK ? answer.status : -(int)st;
    http_answer_done(&answer);
    return code;
}

static void ask_for_what_is_not_its_own(struct world *w)
{
    char target[64];
    unsigned shown = 0;
    for (unsigned task = 1; task <= 60; task++) {
        if (standin_task_by_number(w->s, task))
            continue;
        snprintf(target, sizeof(target), PATH_STATES "?task=%u&after=0", task);
        shown += get(w, target) != 404;
    }
    report("states_of_others_are_not_shown", shown == 0, shown);
    int code = get(w, PATH_BLOB "00000000000000000000000000000000000000000000000000000000000000ff");
    report("files_that_are_not_there_are_not_shown", code == 404, code);
    code = get(w, PATH_BLOB "../../coord/identity");
    report("no_way_out_of_the_folder", code == 404, code);
}

struct puller {
    struct world *w;
    struct session_line *line;
    int code;
};

static void *call_often(void *arg)
{
    struct puller *p = arg;
    for (int i = 0; i < 1000; i++) {
        struct http_answer answer = {0};
        status st = session_call(
            p->line,
            &(struct http_call){
                .method = "GET", .target = SPAN(PATH_PACKAGE "1"), .answer_max = 4096, .timeout_ms = 20000},
            &answer);
        p->code = st == ST_OK ? answer.status : -(int)st;
        http_answer_done(&answer);
        if (p->code == 429)
            break;
    }
    return NULL;
}

static void call_too_often(struct world *w)
{
    struct puller p[4];
    pthread_t threads[4];
    unsigned stopped = 0;
    for (int i = 0; i < 4; i++) {
        p[i] = (struct puller){.w = w};
        if (session_line_new(standin_session(w->s), &p[i].line) != ST_OK)
            fail("line", ST_IO);
        if (pthread_create(&threads[i], NULL, call_often, &p[i]) != 0)
            abort();
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        session_line_free(p[i].line);
        stopped += p[i].code == 429;
    }
    report("thousands_of_calls_are_slowed_down", stopped == 4, stopped);
    sleep(1);
}

int main(int argc, char **argv)
{
    struct world w = {0};
    struct buf why = {0};
    bool lies = argc == 6 && strcmp(argv[1], "lie") == 0;
    if (!lies && (argc != 6 || strcmp(argv[1], "spoil") != 0)) {
        fprintf(stderr, "usage: hostile spoil|lie JOIN-LINE HOSTS PAGES GO\n");
        return 2;
    }
    arena_init(&w.arena);
    if (file_read(argv[3], 64u << 20, &w.hosts) != ST_OK || file_read(argv[4], 64u << 20, &w.pages) != ST_OK)
        fail("files", ST_IO);
    read_pages(&w);
    status st = standin_join(&(struct standin_opts){.line = span_str(argv[2])}, &w.s, &why);
    if (st != ST_OK)
        fail(buf_cstr(&why), st);
    wait_for_tasks(&w, argv[5]);
    if (lies) {
        lie(&w);
        go_on(&w);
    }
    standin_set_task_state(w.s, TASK_DONE, 1);
    send_foreign_pages(&w);
    send_link_bombs(&w);
    send_huge_fields(&w);
    send_reports(&w);
    ask_for_what_is_not_its_own(&w);
    call_too_often(&w);
    send_new_sites(&w);
    printf("done\n");
    fflush(stdout);
    go_on(&w);
    return has_failed;
}
