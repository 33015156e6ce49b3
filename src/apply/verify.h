/* verify.h - checks a data folder's pages, contents and index against each other, and puts right what can be.
 *
 * The page table says which content each page has; the contents log must have it, readable; the index must have just
 * those pages, each once, of that visit. A damaged index is made anew from the contents; a page whose content is lost
 * is marked to be fetched again. Each page must have the key of its address, and be found by it; what a fault of the
 * disk made of either is put right where the texts or the other table know better. */
#pragma once

#include "base/log.h"
#include "index/index.h"
#include "store/store.h"

struct verify_opts {
    const char *data_dir;
    bool repair;
    size_t index_memory; /* for making the index anew; 0: default */
    const struct log *log;
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t all); /* may be NULL */
    void *progress_arg;
    /* Looks at what a crawl goes on from (crawl_check_state); may be NULL. */
    status (*check_state)(const char *data_dir, bool repair, struct buf *problems);
};

struct verify_report {
    bool is_in_use;          /* a crawl runs: only the index was checked, nothing was changed */
    bool is_past_repair;     /* the database is damaged: nothing else was looked at */
    bool has_index;          /* false: nothing to search was ever kept */
    uint64_t pages;          /* with content, by the page table */
    uint64_t records;        /* in the contents log */
    uint64_t contents_bytes; /* compressed */
    uint64_t lost;           /* pages whose content is missing or damaged */
    uint64_t missing;        /* pages with content that the index does not have, or has of another visit */
    uint64_t strange;        /* documents of the index that no page stands for */
    uint64_t forgotten;      /* pages that are forgotten, and there */
    struct index_check index;
    bool was_rebuilt;    /* the index was made anew */
    struct buf problems; /* one a line, for people */
    bool is_well;        /* nothing was wrong, or all of it was put right */
};

/* ST_NOT_FOUND: no data folder; ST_IO...: it could not be looked at; `why` says. ST_OK: see report. */
MUST_USE status verify_run(const struct verify_opts *o, struct verify_report *out, struct buf *why);
void verify_report_done(struct verify_report *r);
