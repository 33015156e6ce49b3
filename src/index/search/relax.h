/* relax.h - what to look for when no page has all that was asked for. Pure. */
#pragma once

#include "index/search/query.h"

typedef enum relaxation {
    RELAX_ROWS, /* words that stand together without quotation marks ("os.path") need not be in a row */
    RELAX_ALL,  /* one of the words is enough; the more the better */
} relaxation;

/* False: that changes nothing. What is in quotation marks, excluded, or says where to look stays as it is. Everything
 * is in the arena or borrowed from `q`. */
bool query_relax(struct arena *a, const struct query *q, relaxation how, struct query *out);
