/* page_order.h - in which order known pages are looked at again, of any number of them, in memory for the best.
 *
 * Pages are shown twice, one after the other: first to learn what the pages of this channel are like, then to be
 * chosen among. Whoever is told to have changed comes first, then all by what a visit gains (recrawl_pages.h), where
 * lists (sitemaps, feeds) weigh PAGE_ORDER_LIST, because they tell of others; equal ones stay in order.
 *
 *     learn(page)...   fit   offer(page)...   sort  ->  picks[0], picks[1], ...
 *
 * Pure; one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "plan/page_rate.h"

#define PAGE_ORDER_MAX ((size_t)1 << 18) /* the best of more than so many: 6 MiB. The rest is in no order */

/* Not more: many a site has a feed for each of its pages. */
#define PAGE_ORDER_LIST 16

/* What is known of one. */
struct page_signs {
    uint64_t number;
    uint64_t rate; /* plan/page_rate.h */
    wall_ms visited;
    wall_ms told; /* somebody says that it changed then; 0: nobody does */
    bool is_list;
};

struct page_pick {
    double value;
    uint64_t number;
    bool is_told;
};

struct page_order {
    struct page_pick *picks; /* owned: a heap with the worst on top; after sort the best first */
    size_t count, cap, most;
    wall_ms now;
    struct change_population population;
    struct change_prior prior;
};

/* `most`: how many are wanted; 0, or more than PAGE_ORDER_MAX: that many. */
void page_order_init(struct page_order *o, size_t most, wall_ms now);
void page_order_done(struct page_order *o);
void page_order_learn(struct page_order *o, const struct page_signs *p);
void page_order_fit(struct page_order *o);
void page_order_offer(struct page_order *o, const struct page_signs *p);
void page_order_sort(struct page_order *o);
