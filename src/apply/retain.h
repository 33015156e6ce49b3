/* retain.h - how long a folder keeps pages. Pure. */
#pragma once

#include "store/store.h"

struct retain {
    unsigned gone_days; /* a page that is gone (404, 410) goes from the page table so long after it was last seen good;
                           0: never */
    unsigned days;      /* any page does, so long after it was last seen good; 0: never */
    wall_ms now;
};

/* Is the page too old to be kept? Of one that was never good, the first visit counts. */
bool retain_is_over(const struct retain *r, const struct page *p);
