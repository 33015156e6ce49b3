/* search.h - answers a query from a snapshot.
 *
 * Exact: the best by the formula of rank.h, whatever is skipped on the way; the first hundred of them are put in order
 * by a closer look (rerank.h). A search is one thread's; many may run on one snapshot. It stops at its budget of CPU
 * time and says so. Everything in the result lives in the arena. */
#pragma once

#include "base/arena.h"
#include "index/index.h"

#define SEARCH_QUERY_MAX 2048 /* bytes */
#define SEARCH_TERMS_MAX 64
#define SEARCH_DEPTH_MAX 1000 /* offset + limit */
#define SEARCH_CPU_MS 200
#define SEARCH_FACETS_MAX 12

struct rank;
struct analyzer;

struct search_opts {
    struct span query;
    unsigned offset, limit; /* limit 0 = 10 */
    wall_ms now;            /* for freshness */
    int cpu_ms;             /* 0 = SEARCH_CPU_MS; < 0 = no limit */
    bool with_snippets, with_facets, with_suggestion;
    bool no_folding; /* near-duplicates each on their own */
    uint64_t like;   /* key of a page: only it and its near-duplicates, as far as they match; 0 = all that match */
    /* The group of a page's near-duplicates (store/groups.h), or `group`, which the index has, when it is in none that
     * is known. NULL: as the index has it. */
    uint64_t (*group_of)(void *arg, uint64_t key, uint64_t group);
    void *group_arg;           /* borrowed for the call */
    unsigned snippet_bytes;    /* 0 = 240 */
    const struct rank *rank;   /* NULL = rank_default; with another one nothing is skipped */
    bool exhaustive;           /* for tests: skip nothing */
    bool plain;                /* for tests: the formula of rank.h alone, without a closer look at the best (rerank.h);
                                  all words or nothing (relax.h) */
    struct analyzer *analyzer; /* borrowed for the call: one that is kept knows many words already; NULL = its own */
};

/* A text with the places to highlight. */
struct marked {
    struct span text;
    struct mark {
        uint32_t at, bytes;
    } * marks;
    size_t mark_count;
};

struct search_hit {
    uint64_t key;
    double score;
    struct span url, site;
    struct marked title, snippet; /* title is the URL's last part when the page has none */
    char lang[4];
    wall_ms fetched, changed;
    unsigned similar; /* near-duplicates folded into this one */
    bool is_keywords; /* known by its words only: no part of its text can be shown */
    const struct summary_field *fields;
    size_t field_count;
    bool is_named;    /* a file that nobody has read: its snippet tells type and size */
    const char *type; /* short name (web/media.h), static; "": not known */
    uint64_t bytes;   /* of the file; 0: not known */
};

struct search_facet {
    struct span name;
    uint64_t count;
};

struct search_result {
    struct search_hit *hits;
    size_t hit_count;
    uint64_t total;   /* pages that match */
    bool is_estimate; /* total is "about" */
    bool has_more;    /* after these hits: near-duplicates that are folded make fewer of them than the total */
    bool is_partial;  /* the budget was used up: there may be better hits */
    bool facets_are_estimates;
    int64_t cpu_us;
    struct search_facet sites[SEARCH_FACETS_MAX], langs[SEARCH_FACETS_MAX];
    unsigned site_count, lang_count;
    struct span suggestion; /* the query with words put right; empty: none */
    struct span note;       /* what was odd about the query, for people ("only the first 64 words count"); or empty */
};

/* ST_INVALID: there is nothing to look for (out->note says what is wrong); ST_LIMIT: too deep or too long; ST_CORRUPT,
 * ST_IO. An empty result is ST_OK. */
MUST_USE status search_run(const struct index_snapshot *s, const struct search_opts *o, struct arena *a,
                           struct search_result *out);
