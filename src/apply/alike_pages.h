/* alike_pages.h - the fingerprints of all pages of a data folder, kept up to date from the contents log.
 *
 *     alike/boilerplate     what each site repeats (web/boilerplate.h), as rows
 *     alike/pages           a row a page, by key: what near-duplicates are found from
 *
 * Only what the log has got since is read, and pages of sites whose boilerplate was decided anew. Both files can be
 * thrown away: the next run makes them again. Inside src/apply only; one thread. */
#pragma once

#include "apply/alike.h"
#include "store/rows.h"
#include "web/simhash.h"
#include "web/title_words.h"

#define ALIKE_PAGES_KIND 2
#define ALIKE_PAGES_WIDTH (6 + TITLE_NUMBERS + SIMHASH_NUMBERS)
#define ALIKE_BOILERPLATE_KIND 3

struct alike_page {
    uint64_t key, fetch_number;
    uint64_t first_fetch; /* of the content with which it came: older pages go before younger ones */
    uint64_t site;        /* some number of its site */
    uint64_t canonical;   /* key of the page that it names as canonical; 0: none, or itself */
    uint8_t epoch;        /* of its site's boilerplate */
    bool has_hash;        /* else its text is too short */
    bool is_gone;         /* only on the way: rows in the file are of pages that are there */
    uint32_t lang;        /* three letters at most, first in the lowest byte; 0: not known */
    struct title_words title;
    struct simhash hash;
};

void alike_page_get(const struct rows *pages, size_t at, struct alike_page *out);

/* Brings the files up to the log and opens the pages. */
MUST_USE status alike_pages_update(const struct alike_opts *o, struct alike_report *report, struct rows *out);
