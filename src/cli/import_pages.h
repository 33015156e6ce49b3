/* import_pages.h - records of archives into a crawl that takes them as its own visits (crawl.h, "from archives"). */
#pragma once

#include "cli/import_later.h"
#include "cli/import_survey.h"
#include "crawl/crawl.h"
#include "io/fetch_archived.h"

struct import_counts {
    uint64_t records;
    uint64_t types[WARC_TYPE_COUNT];
    uint64_t taken;     /* answers that are visits of the folder now */
    uint64_t unchanged; /* of these: revisits that only say so */
    uint64_t known;     /* the folder has that visit, or a later one */
    uint64_t out_of_scope;
    uint64_t forgotten;   /* of places that are, or that want to be left alone */
    uint64_t no_page;     /* other schemes, robots.txt, parts of something, answers to anything but GET */
    uint64_t no_original; /* revisits whose body is nowhere */
    uint64_t bad;         /* records that are damaged, cut short, or no answers: left out */
    uint64_t problems;    /* told of */
};

struct import_pages {
    struct crawl *cr;
    uint64_t channel;
    const struct import_survey *survey;
    const struct import_files *files;
    struct import_meter *meter;
    bool (*is_stopped)(void *arg);
    void *arg;
    struct import_counts n;
    /* its own */
    size_t file;
    uint64_t told; /* problems of this file */
    struct warc_reader *reader;
    struct archived answer;
    struct arena arena;
    struct import_later later;
    bool *has_later; /* owned: by file: it has bodies that are waited for */
};

/* All records of file number `file`. ST_CANCELLED: stopped; ST_IO: errno says why, and the file is the reason when
 * *is_file; else what the crawl says. Problems are told on standard error, with file and place. */
MUST_USE status import_pages_run(struct import_pages *p, size_t file, bool *is_file);
/* After the last file: revisits that had to wait. As above; *file is the one at fault when *is_file. */
MUST_USE status import_pages_rest(struct import_pages *p, size_t *file, bool *is_file);
void import_pages_done(struct import_pages *p);
