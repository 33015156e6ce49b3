/* url_set.h - a sorted set of URLs, for the demo: gathered, sorted once, asked. Owns its copies; zeroed is empty. */
#pragma once

#include <stdbool.h>

#include "base/span.h"

struct urls {
    char **p;
    size_t n, cap;
};
void urls_add(struct urls *u, struct span url);
void urls_sort(struct urls *u);
bool urls_has(const struct urls *u, const char *url);   /* sorted */
bool urls_begin(const struct urls *u, struct span url); /* one of them is how it begins */
void urls_done(struct urls *u);
