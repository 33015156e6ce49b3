/* A view that is kept for a moment: lent to all who ask, made once at a time, gone when nobody has it any more. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "coord/admin_kept.h"
#include "io/clock.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned begun, made, disposed;
    bool holds; /* whoever makes one waits */
} shop = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, false};

struct view {
    struct kept kept;
    unsigned number;
};

static struct kept *make(struct coord *c)
{
    struct view *v = mem_alloc(sizeof(*v));
    pthread_mutex_lock(&shop.lock);
    shop.begun++;
    pthread_cond_broadcast(&shop.changed);
    while (shop.holds)
        pthread_cond_wait(&shop.changed, &shop.lock);
    v->number = ++shop.made;
    pthread_mutex_unlock(&shop.lock);
    v->kept.good_until = kept_until(clock_mono(), 60000);
    return &v->kept;
}

static void dispose(struct kept *k)
{
    shop.disposed++;
    free(k);
}

static const struct kept_kind kind = {make, dispose};

static unsigned number_of(const struct kept *k)
{
    return ((const struct view *)k)->number;
}

static void *ask(void *arg)
{
    struct admin *a = arg;
    const struct kept *k = kept_get(a, &a->near, &kind);
    unsigned number = number_of(k);
    kept_done(a, k, &kind);
    return (void *)(uintptr_t)number;
}

static void set_holds(bool holds)
{
    pthread_mutex_lock(&shop.lock);
    shop.holds = holds;
    pthread_cond_broadcast(&shop.changed);
    pthread_mutex_unlock(&shop.lock);
}

static void one_is_made_however_many_ask(void **state)
{
    struct admin *a = mem_alloc(sizeof(*a));
    pthread_t maker;
    void *got = NULL;
    pthread_mutex_init(&a->lock, NULL);
    const struct kept *first = kept_get(a, &a->near, &kind), *again = kept_get(a, &a->near, &kind);
    CHECK("lent", first == again && number_of(first) == 1);
    kept_done(a, again, &kind);

    /* It is too old: one makes the next, and the others do not wait for it. */
    a->near.newest->good_until = 0;
    set_holds(true);
    assert_int_equal(pthread_create(&maker, NULL, ask, a), 0);
    pthread_mutex_lock(&shop.lock);
    while (shop.begun < 2)
        pthread_cond_wait(&shop.changed, &shop.lock);
    pthread_mutex_unlock(&shop.lock);
    for (int i = 0; i < 3; i++)
        assert_int_equal((uintptr_t)ask(a), 1);
    set_holds(false);
    assert_int_equal(pthread_join(maker, &got), 0);
    assert_int_equal((uintptr_t)got, 2);
    assert_int_equal((uintptr_t)ask(a), 2);
    assert_int_equal(shop.made, 2);

    /* Who has the old one still may read it. */
    assert_int_equal(shop.disposed, 0);
    assert_int_equal(number_of(first), 1);
    kept_done(a, first, &kind);
    assert_int_equal(shop.disposed, 1);
    kept_forget(&a->near, &kind);
    assert_int_equal(shop.disposed, 2);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_is_made_however_many_ask)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
