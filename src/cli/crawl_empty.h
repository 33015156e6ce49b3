/* crawl_empty.h - a crawl that is finished and found no page: says why. */
#pragma once

#include "cli/crawl_setup.h"

/* One line on standard error, about the first start page and where it led. Returns an exit code. */
int crawl_empty_complain(struct crawl *cr, const struct crawl_setup *s, const struct crawl_stats *stats);
