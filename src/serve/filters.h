/* filters.h - the site: and lang: words of a query, as the page's facets put them there and take them away.
 *
 * Knows only so much of the query language: blanks part words, unless between double quotes. Pure. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

/* Cuts the next word off *rest: "some words", -"some words" and site:"a b" are one each. False: no more. */
bool filter_next_word(struct span *rest, struct span *word);

typedef enum filter_kind { FILTER_NONE, FILTER_SITE, FILTER_LANG } filter_kind;
/* Whether a word is a filter, and its value; one that is negated or empty is none. */
filter_kind filter_of(struct span word, struct span *value);

/* The query with "site:value" or "lang:value" in place of other filters of the kind. */
struct span filter_with(struct arena *a, struct span query, filter_kind kind, struct span value);
/* The query without its filters of the kind. */
struct span filter_without(struct arena *a, struct span query, filter_kind kind);
