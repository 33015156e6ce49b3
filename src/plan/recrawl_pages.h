/* recrawl_pages.h - what it is worth to look at a page of a channel again, when there is no time for all of them.
 *
 * The same value as of channels (recrawl.h): what a visit adds to the time that the copy is current, by its cost. Pages
 * that nobody has visited are worth most; one that somebody says has changed is stale for certain. plan/page_order.h
 * puts pages in order by it. Pure. */
#pragma once

#include <stdint.h>

#include "plan/change_rate.h"

struct recrawl_page {
    struct change_rate rate;
    double age;    /* since its last visit, in the unit of the rate; < 0: never visited */
    double weight; /* 0: 1 */
    double cost;   /* of the budget; 0: 1 */
    bool is_told;  /* a sitemap, a feed or the site says that it changed since */
};

double recrawl_page_value(const struct recrawl_page *page, const struct change_prior *p);
