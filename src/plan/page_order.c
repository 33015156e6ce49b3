#include "plan/page_order.h"

#include <stdlib.h>

#include "base/mem.h"
#include "plan/recrawl_pages.h"

void page_order_init(struct page_order *o, size_t most, wall_ms now)
{
    *o = (struct page_order){.most = most && most < PAGE_ORDER_MAX ? most : PAGE_ORDER_MAX, .now = now};
    o->prior = page_prior;
}

void page_order_done(struct page_order *o)
{
    free(o->picks);
    *o = (struct page_order){0};
}

void page_order_learn(struct page_order *o, const struct page_signs *p)
{
    struct change_rate c = page_rate_unpack(p->rate);
    if (p->rate) /* one that was seen once is like the others, as far as anybody knows */
        change_population_add(&o->population, &c, &page_prior);
}

void page_order_fit(struct page_order *o)
{
    change_population_fit(&o->population, &o->prior);
}

/* True: `a` is looked at after `b`. Numbers grow in the order that pages came. */
static bool is_after(const struct page_pick *a, const struct page_pick *b)
{
    if (a->is_told != b->is_told)
        return b->is_told;
    if (a->value < b->value || a->value > b->value)
        return a->value < b->value;
    return a->number > b->number;
}

static void sift_down(struct page_pick *h, size_t n, size_t at)
{
    struct page_pick p = h[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_after(&h[child + 1], &h[child]))
            child++;
        if (!is_after(&h[child], &p))
            break;
        h[at] = h[child];
    }
    h[at] = p;
}

static void sift_up(struct page_pick *h, size_t at)
{
    struct page_pick p = h[at];
    for (size_t parent; at > 0 && is_after(&p, &h[parent = (at - 1) / 2]); at = parent)
        h[at] = h[parent];
    h[at] = p;
}

void page_order_offer(struct page_order *o, const struct page_signs *p)
{
    double age = (double)(o->now - p->visited) / 1000;
    struct recrawl_page page = {.rate = page_rate_unpack(p->rate), .age = age > 0 ? age : 0};
    struct page_pick pick = {.number = p->number, .is_told = p->told > p->visited};
    page.is_told = pick.is_told;
    page.weight = p->is_list ? PAGE_ORDER_LIST : 1;
    pick.value = recrawl_page_value(&page, &o->prior);
    if (o->count < o->most) {
        o->picks = mem_grow(o->picks, &o->cap, o->count + 1, sizeof(*o->picks));
        o->picks[o->count] = pick;
        sift_up(o->picks, o->count++);
    } else if (is_after(&o->picks[0], &pick)) {
        o->picks[0] = pick;
        sift_down(o->picks, o->count, 0);
    }
}

void page_order_sort(struct page_order *o)
{
    for (size_t left = o->count; left > 1; left--) {
        struct page_pick worst = o->picks[0];
        o->picks[0] = o->picks[left - 1];
        o->picks[left - 1] = worst;
        sift_down(o->picks, left - 1, 0);
    }
}
