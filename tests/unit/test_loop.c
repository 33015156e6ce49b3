#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/clock.h"
#include "io/loop.h"

struct seen {
    struct loop *loop;
    struct timer *timer;
    struct waker *waker;
    char order[16];
    size_t n;
    int left;
};

static void note_a(void *arg)
{
    struct seen *s = arg;
    s->order[s->n++] = 'a';
}

static void note_b_and_stop(void *arg)
{
    struct seen *s = arg;
    s->order[s->n++] = 'b';
    loop_stop(s->loop);
}

static void timers_fire_in_order_of_time(void **state)
{
    struct seen s = {.loop = loop_new()};
    struct timer *b = timer_new(s.loop, note_b_and_stop, &s), *a = timer_new(s.loop, note_a, &s);
    struct timer *never = timer_new(s.loop, note_a, &s);
    mono_ms start = clock_mono();
    timer_set(b, 30);
    timer_set(a, 500);
    timer_set(a, 5); /* replaces */
    timer_set(never, 10);
    timer_stop(never);
    loop_run(s.loop);
    mono_ms took = clock_mono() - start;
    assert_string_equal(s.order, "ab");
    assert_true(took >= 25 && took < 5000);
    timer_free(a);
    timer_free(b);
    timer_free(never);
    timer_free(NULL);
    loop_free(s.loop);
    loop_free(NULL);
}

static void free_myself(void *arg)
{
    struct seen *s = arg;
    timer_free(s->timer);
    s->timer = NULL;
    s->n++;
}

static void timer_may_be_freed_in_its_callback(void **state)
{
    struct seen s = {.loop = loop_new()};
    s.timer = timer_new(s.loop, free_myself, &s);
    timer_set(s.timer, 0);
    loop_run(s.loop); /* returns: nothing is left to wait for */
    assert_int_equal(s.n, 1);
    loop_free(s.loop);
}

static void *wake_many_times(void *arg)
{
    struct seen *s = arg;
    for (int i = 0; i < 1000; i++)
        waker_wake(s->waker);
    return NULL;
}

static void waker_reaches_the_loop_from_another_thread(void **state)
{
    struct seen s = {.loop = loop_new()};
    s.waker = waker_new(s.loop, note_b_and_stop, &s);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, wake_many_times, &s), 0);
    loop_run(s.loop);
    pthread_join(t, NULL);
    assert_true(s.n >= 1);
    waker_free(s.waker);
    loop_free(s.loop);
}

static void loop_and_clock_tell_the_same_time(void **state)
{
    struct loop *l = loop_new();
    mono_ms a = loop_now(l), b = clock_mono();
    assert_true(b - a < 1000 && a - b < 1000);
    assert_true(clock_mono_us() / 1000 - b < 1000);
    assert_true(clock_wall() > 1600000000000);
    assert_true(clock_cpu_us() > 0);
    assert_true(clock_peak_rss() > 100000 && clock_peak_rss() < (uint64_t)1 << 40);
    loop_free(l);
}

static void first_signal_is_told_to_the_loop(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        struct seen s = {.loop = loop_new()};
        struct signals *signals = signals_new(s.loop, note_b_and_stop, &s);
        raise(numbers[i]);
        assert_int_equal(s.n, 0);
        loop_run(s.loop);
        assert_int_equal(s.n, 1);
        signals_free(signals);
        loop_free(s.loop);
    }
}

static void second_signal_of_a_kind_ends_the_process(void **state)
{
    static const struct {
        const char *label;
        int first, second, pause_ms, exit_code;
    } cases[] = {
        {"INT INT", SIGINT, SIGINT, 700, 130},
        {"TERM TERM", SIGTERM, SIGTERM, 700, 130},
        {"INT TERM", SIGINT, SIGTERM, 700, 7},
        {"TERM twice at once, as timeout(1) does", SIGTERM, SIGTERM, 0, 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) { /* the loop never runs: it is stuck, as far as signals can tell */
            struct seen s = {.loop = loop_new()};
            (void)signals_new(s.loop, note_a, &s);
            raise(cases[i].first);
            usleep((useconds_t)cases[i].pause_ms * 1000);
            raise(cases[i].second);
            _exit(7);
        }
        int st;
        assert_int_equal(waitpid(pid, &st, 0), pid);
        CHECK(cases[i].label, WIFEXITED(st));
        CHECK(cases[i].label, WEXITSTATUS(st) == cases[i].exit_code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_fire_in_order_of_time),
        cmocka_unit_test(timer_may_be_freed_in_its_callback),
        cmocka_unit_test(waker_reaches_the_loop_from_another_thread),
        cmocka_unit_test(loop_and_clock_tell_the_same_time),
        cmocka_unit_test(first_signal_is_told_to_the_loop),
        cmocka_unit_test(second_signal_of_a_kind_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
