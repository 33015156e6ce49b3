/* import_survey.h - the first look through the files of an import: which sites are in them, where the bodies are that
 * revisits refer to, which answers are to requests that ask for something else than a page.
 *
 * All of that is needed before the first record is taken: links are judged by the sites, whatever their order. */
#pragma once

#include "base/siphash.h"
#include "base/table.h"
#include "cli/import_files.h"
#include "codec/warc_read.h"

#define SURVEY_BODIES_MAX (1u << 22) /* remembered; revisits of others are as if their original was not there */
#define SURVEY_IDS_MAX (1u << 20)
#define SURVEY_WAYS_MAX (1u << 22) /* answers beyond these are as if nothing was said of them */

struct import_survey {
    struct sip_key key;
    struct arena arena;
    struct table site_at;
    struct span *sites; /* owned: "https://example.org/", in the arena; sorted */
    size_t site_count, site_cap;
    bool has_too_many;    /* sites for one channel */
    struct table bodies;  /* payload digest -> file and place */
    struct table not_get; /* ids of requests that are no GET, and of what they belong to */
    struct table ways;    /* id of an answer -> how far it was from a seed, as metadata records say */
    bool *is_archive;     /* owned: by file */
    uint64_t *lead;       /* owned: by file: warc_reader_lead */
    struct import_survey_age {
        wall_ms begins; /* its first date */
        size_t file;
    } * order; /* owned: the files as they were written, the oldest first */
    size_t archives;
};

/* Complains of what cannot be read; returns an exit code. `is_stopped` is asked now and then. */
int import_survey_run(struct import_survey *s, const struct import_files *files, struct import_meter *meter,
                      bool (*is_stopped)(void *arg), void *arg);
void import_survey_done(struct import_survey *s);

/* Where the body with this digest is; false: nowhere. *is_inside: not where reading can begin, but later in the member
 * that begins there. */
bool import_survey_body(const struct import_survey *s, struct span digest, size_t *file, uint64_t *at, bool *is_inside);
/* How many links from a seed it was found, and how many redirects then: 0 and 0 unless its crawler said so. */
void import_survey_way(const struct import_survey *s, const struct warc_record *r, unsigned *depth, unsigned *hops);
/* Is it the answer to a request that asked for no page? */
bool import_survey_is_not_get(const struct import_survey *s, const struct warc_record *r);
