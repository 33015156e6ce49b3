#include "cli/url_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void urls_add(struct urls *u, struct span url)
{
    u->p = mem_grow(u->p, &u->cap, u->n + 1, sizeof(*u->p));
    u->p[u->n++] = mem_str(url);
}

bool urls_has(const struct urls *u, const char *url)
{
    return u->n && bsearch(&url, u->p, u->n, sizeof(*u->p), compare);
}

bool urls_begin(const struct urls *u, struct span url)
{
    for (size_t i = 0; i < u->n; i++)
        if (span_starts(url, span_str(u->p[i])))
            return true;
    return false;
}

void urls_sort(struct urls *u)
{
    if (u->n)
        qsort(u->p, u->n, sizeof(*u->p), compare);
}

void urls_done(struct urls *u)
{
    for (size_t i = 0; i < u->n; i++)
        free(u->p[i]);
    free(u->p);
}
