/* test_reader.c - documents read by another program in its cage: real PDFs by pdftotext, and a program that does
 * everything it must not be able to do. */
#include "test.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "mobile/reader.h"
#include "mobile/sandbox.h"
#include "sample/pdf.h"
#include "web/document.h"

/* ---- a reader, and what came back ---- */

struct said {
    status st;
    int code;
    bool is_cut;
    struct buf text;
};

struct bench {
    struct loop *loop;
    struct reader *reader;
    struct timer *guard;
    struct said said[8]; /* in the order in which they came */
    size_t n, want;
};

static const char *beside(const char *name)
{
    static char paths[2][PATH_MAX + 64];
    static unsigned at;
    char *path = paths[at++ % 2];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    while (n > 0 && path[n - 1] != '/')
        n--;
    snprintf(path + n, 64, "%s", name);
    return path;
}

static const char *worker_path(void)
{
    return getenv("ORB_TEST_WORKER") ? getenv("ORB_TEST_WORKER") : beside("../../src/mobile/orb-worker");
}

static void give_up(void *arg)
{
    fail_msg("no answer in a minute");
}

static void bench_init(struct bench *b, const struct reader_opts *opts)
{
    struct reader_opts o = *opts;
    o.worker_path = worker_path();
    *b = (struct bench){.loop = loop_new()};
    CHECK_STATUS("reader", reader_new(b->loop, &o, &b->reader), ST_OK);
    b->guard = timer_new(b->loop, give_up, NULL);
    timer_set(b->guard, 60000);
}

static void bench_done(struct bench *b)
{
    reader_free(b->reader);
    for (size_t i = 0; i < b->n; i++)
        buf_done(&b->said[i].text);
    timer_free(b->guard);
    loop_free(b->loop);
}

static void note(void *arg, const struct reading *r)
{
    struct bench *b = arg;
    struct said *s = &b->said[b->n++];
    *s = (struct said){.st = r->st, .code = r->code, .is_cut = r->is_cut};
    buf_put(&s->text, r->text);
    if (b->n == b->want)
        loop_stop(b->loop);
}

static void read_all(struct bench *b, const struct span *documents, size_t n)
{
    b->want = b->n + n;
    for (size_t i = 0; i < n; i++)
        reader_read(b->reader, documents[i], note, b);
    loop_run(b->loop);
}

/* ---- a program that is up to no good ---- */

static void bad_init(struct bench *b, struct reader_opts o)
{
    const char *const args[] = {beside("bad_reader"), NULL};
    o.args = args;
    bench_init(b, &o);
}

static void it_can_do_nothing(void **state)
{
    static const struct {
        const char *deed;
        status st;
        const char *said; /* NULL: it was killed */
    } cases[] = {
        {"twice", ST_OK, "done"},
        {"read-library", ST_OK, "done"},
        {"look-around", ST_OK, "done"},
        {"read-passwords", ST_OK, "EACCES"},
        {"read-parent", ST_OK, "EACCES"},
        {"make-file", ST_OK, "ENOSYS"},
        {"change-file", ST_OK, "ENOSYS"},
        {"unnamed-file", ST_OK, "ENOSYS"},
        {"remove-file", ST_OK, "ENOSYS"},
        {"make-folder", ST_OK, "ENOSYS"},
        {"write-document", ST_OK, "ENOSYS"},
        {"map-document", ST_OK, "EPERM"},
        {"runnable-memory", ST_OK, "ENOSYS"},
        {"make-runnable", ST_OK, "ENOSYS"},
        {"raise-limit", ST_OK, "ENOSYS"},
        {"socket", ST_LIMIT, NULL},
        {"exec", ST_LIMIT, NULL},
        {"fork", ST_LIMIT, NULL},
        {"kill-parent", ST_LIMIT, NULL},
        {"crash", ST_LIMIT, NULL},
    };
    struct bench b;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct span deed = span_str(cases[i].deed);
        bad_init(&b, (struct reader_opts){0});
        read_all(&b, &deed, 1);
        CHECK_STATUS(cases[i].deed, b.said[0].st, cases[i].st);
        CHECK_SPAN(cases[i].deed, buf_span(&b.said[0].text), span_str(cases[i].said));
        bench_done(&b);
    }
    CHECK("no file was made", access("/tmp/orb-bad-reader", F_OK) != 0);
}

static void its_memory_is_bounded(void **state)
{
    struct bench b;
    struct span deed = SPAN("memory");
    if (SANDBOX_HAS_ASAN)
        skip();
    bad_init(&b, (struct reader_opts){.memory_bytes = 64u << 20});
    read_all(&b, &deed, 1);
    CHECK_SPAN("memory", buf_span(&b.said[0].text), SPAN("ENOMEM"));
    bench_done(&b);
}

static void its_time_is_bounded(void **state)
{
    struct bench b;
    struct span run = SPAN("run"), wait = SPAN("wait");
    bad_init(&b, (struct reader_opts){.cpu_s = 1});
    read_all(&b, &run, 1);
    CHECK_STATUS("processor time", b.said[0].st, ST_LIMIT);
    bench_done(&b);
    bad_init(&b, (struct reader_opts){.wall_ms = 300});
    read_all(&b, &wait, 1);
    CHECK_STATUS("time", b.said[0].st, ST_TIMEOUT);
    bench_done(&b);
}

static void what_it_says_is_bounded(void **state)
{
    struct bench b;
    struct span deed = SPAN("talk");
    bad_init(&b, (struct reader_opts){.output_max = 100000});
    read_all(&b, &deed, 1);
    CHECK_STATUS("talk", b.said[0].st, ST_OK);
    CHECK("cut", b.said[0].is_cut && b.said[0].text.n == 100000);
    bench_done(&b);
}

static void what_it_leaves_with_is_told(void **state)
{
    const struct span deeds[] = {SPAN("exit 3"), SPAN("exit 0"), SPAN("")};
    struct bench b;
    bad_init(&b, (struct reader_opts){0});
    read_all(&b, deeds, 3);
    CHECK_STATUS("exit 3", b.said[0].st, ST_INVALID);
    CHECK("code", b.said[0].code == 3);
    CHECK_STATUS("exit 0", b.said[1].st, ST_OK);
    CHECK("an empty document", b.said[2].st == ST_INVALID && b.said[2].code == 97);
    bench_done(&b);
}

/* One that hangs holds nobody up where two may run. */
static void documents_wait_in_line(void **state)
{
    const struct span deeds[] = {SPAN("wait"), SPAN("twice"), SPAN("twice"), SPAN("look-around")};
    struct bench b;
    bad_init(&b, (struct reader_opts){.at_once = 2, .wall_ms = 20000});
    b.want = 3;
    for (size_t i = 0; i < 4; i++)
        reader_read(b.reader, deeds[i], note, &b);
    CHECK("bytes", reader_bytes(b.reader) == 4 + 5 + 5 + 11);
    loop_run(b.loop);
    for (size_t i = 0; i < 3; i++)
        CHECK_SPAN("done", buf_span(&b.said[i].text), SPAN("done"));
    CHECK("the one that hangs", reader_bytes(b.reader) == 4);
    bench_done(&b); /* cancels it */
}

static void freeing_cancels_what_waits(void **state)
{
    struct bench b;
    bad_init(&b, (struct reader_opts){0});
    b.want = 8;
    reader_read(b.reader, SPAN("wait"), note, &b);
    reader_read(b.reader, SPAN("wait"), note, &b);
    reader_free(b.reader);
    b.reader = NULL;
    CHECK("both", b.n == 2 && b.said[0].st == ST_CANCELLED && b.said[1].st == ST_CANCELLED);
    bench_done(&b);
}

/* Processes that run the stand-in now. */
static unsigned running(void)
{
    char path[300], exe[PATH_MAX];
    unsigned n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof(path), "/proc/%s/exe", e->d_name);
        ssize_t len = readlink(path, exe, sizeof(exe) - 1);
        n += len > 11 && strncmp(exe + len - 11, "/bad_reader", 11) == 0;
    }
    if (d)
        closedir(d);
    return n;
}

static bool comes_to(unsigned want)
{
    for (int i = 0; i < 400 && running() != want; i++)
        usleep(25000);
    return running() == want;
}

static void it_goes_with_whoever_started_it(void **state)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct bench b;
        bad_init(&b, (struct reader_opts){0});
        reader_read(b.reader, SPAN("wait"), note, &b);
        loop_run(b.loop);
        _exit(0);
    }
    CHECK("it runs", comes_to(1));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK("it is gone", comes_to(0));
}

static void what_is_not_there_is_not_found(void **state)
{
    const char *const args[] = {"/nonexistent/pdftotext", NULL};
    const struct reader_opts o = {.worker_path = worker_path(), .args = args};
    struct loop *l = loop_new();
    struct reader *r = NULL;
    CHECK_STATUS("program", reader_new(l, &o, &r), ST_NOT_FOUND);
    CHECK_STATUS("look", reader_look(worker_path(), NULL), ST_NOT_FOUND);
    CHECK_STATUS("worker", reader_look("/nonexistent/orb-worker", beside("bad_reader")), ST_NOT_FOUND);
    loop_free(l);
}

/* ---- real PDFs ---- */

static void pdf_init(struct bench *b)
{
    const char *program = reader_find_pdftotext();
    if (!program)
        fail_msg("pdftotext is not there: install poppler-utils");
    const char *const args[] = {program, "-q", "-htmlmeta", "-enc", "UTF-8", "-", "-", NULL};
    bench_init(b, &(struct reader_opts){.args = args, .output_max = FACTS_TEXT_MAX});
}

static void facts_of(struct arena *a, const struct said *s, struct document *d)
{
    const struct facts_opts o = {.keep_text = true};
    arena_init(a);
    CHECK_STATUS("reading", s->st, ST_OK);
    CHECK_STATUS("document", document_read_pdf(a, buf_span(&s->text), &o, d), ST_OK);
}

static void a_pdf_has_title_and_text(void **state)
{
    struct bench b;
    struct buf pdf = {0};
    struct arena a;
    struct document d;
    sample_pdf(SPAN("Ebb & flow <2>"), SPAN("A ketch\n\nshe is <b>old</b> & made of larch, caf\xc3\xa9\n</pre>\nend"),
               &pdf);
    struct span document = buf_span(&pdf);
    pdf_init(&b);
    read_all(&b, &document, 1);
    facts_of(&a, &b.said[0], &d);
    CHECK_SPAN("title", d.facts.title, SPAN("Ebb & flow <2>"));
    CHECK_SPAN("text", d.facts.text, SPAN("A ketch\nshe is <b>old</b> & made of larch, caf\xc3\xa9\n</pre>\nend"));
    CHECK("digest", d.facts.digest == facts_digest(d.facts.text));
    arena_done(&a);
    bench_done(&b);
    buf_done(&pdf);
}

static void a_pdf_of_many_pages_is_read_whole(void **state)
{
    struct bench b;
    struct buf pdf = {0}, text = {0};
    struct arena a;
    struct document d;
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "line number %d of a long report\n", i);
    sample_pdf((struct span){0}, buf_span(&text), &pdf);
    struct span document = buf_span(&pdf);
    pdf_init(&b);
    read_all(&b, &document, 1);
    facts_of(&a, &b.said[0], &d);
    CHECK_SPAN("the first line is the title", d.facts.title, SPAN("line number 0 of a long report"));
    CHECK("the last line is there", span_search(d.facts.text, SPAN("line number 4999 of"), false) < d.facts.text.n);
    arena_done(&a);
    bench_done(&b);
    buf_done(&pdf);
    buf_done(&text);
}

/* A PDF that wants a password: keys that fit none. */
static void put_encrypted(struct buf *out)
{
    struct buf plain = {0};
    sample_pdf(SPAN("Secret"), SPAN("what nobody may read"), &plain);
    struct span s = buf_span(&plain);
    size_t at = span_search(s, SPAN("/Root "), false);
    buf_put(out, span_cut(s, 0, at));
    buf_puts(out, "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter "
                  "/Standard /V 1 /R 2 /P -4 /O <");
    for (int i = 0; i < 32; i++)
        buf_printf(out, "%02x", i * 7 & 0xff);
    buf_puts(out, "> /U <");
    for (int i = 0; i < 32; i++)
        buf_printf(out, "%02x", i * 13 & 0xff);
    buf_puts(out, "> >> ");
    buf_put(out, span_from(s, at));
    buf_done(&plain);
}

static void bad_pdfs_are_refused_or_say_nothing(void **state)
{
    struct bench b;
    struct buf good = {0}, encrypted = {0}, knot = {0};
    sample_pdf(SPAN("Cut"), SPAN("some text in the middle of it"), &good);
    put_encrypted(&encrypted);
    buf_puts(&knot, "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"
                    "2 0 obj << /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >> endobj\n"
                    "trailer << /Root 1 0 R /Size 3 >>\n%%EOF\n");
    const struct span documents[] = {
        span_cut(buf_span(&good), 0, 40),
        SPAN("no PDF at all"),
        SPAN("%PDF-1.7\n"),
        buf_span(&encrypted),
        buf_span(&knot),
    };
    pdf_init(&b);
    read_all(&b, documents, 5);
    for (size_t i = 0; i < 5; i++) {
        struct span text = buf_span(&b.said[i].text);
        CHECK("a bad PDF", b.said[i].st != ST_OK || span_search(text, SPAN("<pre>"), false) < text.n);
        CHECK("no text", span_search(text, SPAN("nobody may read"), false) == text.n);
    }
    CHECK_STATUS("garbage", b.said[1].st, ST_INVALID);
    CHECK_STATUS("encrypted", b.said[3].st, ST_INVALID);
    bench_done(&b);
    buf_done(&good);
    buf_done(&encrypted);
    buf_done(&knot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_can_do_nothing),
        cmocka_unit_test(its_memory_is_bounded),
        cmocka_unit_test(its_time_is_bounded),
        cmocka_unit_test(what_it_says_is_bounded),
        cmocka_unit_test(what_it_leaves_with_is_told),
        cmocka_unit_test(documents_wait_in_line),
        cmocka_unit_test(freeing_cancels_what_waits),
        cmocka_unit_test(it_goes_with_whoever_started_it),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(a_pdf_has_title_and_text),
        cmocka_unit_test(a_pdf_of_many_pages_is_read_whole),
        cmocka_unit_test(bad_pdfs_are_refused_or_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
