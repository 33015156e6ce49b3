/* page.h - writes the HTML of one page of a site: the frame, titles, links; what a theme says between them.
 *
 * Inside sample only. Pure. */
#pragma once

#include "sample/sites.h"
#include "sample/words.h"

struct draft {
    const struct site *site;
    unsigned at, version;
    uint64_t seed; /* of the sample */
    int port;
    const char *domain;
    time_t date;
    struct rng rng;
    const struct words *words;
    struct buf *out; /* borrowed */
};

void draft_init(struct draft *d, const struct site *site, unsigned at, const struct site_ask *ask, struct buf *out);

/* For draft_begin; anything may be NULL. */
struct draft_head {
    const char *lang;  /* "" = say nothing; NULL = the site's */
    struct span title; /* escaped already; empty = that of the page */
    struct span about; /* escaped already */
    const char *extra; /* markup for <head> */
    bool is_bare;      /* no navigation */
    bool no_charset;   /* it is said elsewhere, or not at all */
};

void draft_begin(struct draft *d, const struct draft_head *h);
void draft_end(struct draft *d, bool is_bare);
/* Some loose sentences in the site's language, each at most once. */
void draft_sentences(struct draft *d, unsigned count);
void draft_special_link(struct draft *d, const struct special *sp);
void put_link(struct buf *out, struct span href, struct span text); /* a list item; the text is escaped already */

/* "http://host:port" of a site of the tables. */
void put_origin(const struct draft *d, struct span host, struct buf *out);
time_t page_date(uint64_t seed, const struct site *site, unsigned at); /* of its first version */

/* SP_LIST: site_lists.c. */
const char *site_list_type(const struct special *sp);
void site_list_body(const struct draft *d, const struct special *sp, struct buf *out);
/* Those of a site that its front page names. */
void site_list_links(const struct site *site, struct buf *out);

/* A page below site_pages(). */
void draft_theme_page(struct draft *d);
/* The article of page `at` of `from`, as SP_COPY says. */
void draft_copy(struct draft *d, const struct site *from, unsigned at, int flags);

/* Of any page; escaped. */
void page_title(const struct site *site, unsigned at, uint64_t seed, struct buf *out);
