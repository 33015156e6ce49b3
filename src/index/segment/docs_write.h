/* docs_write.h - the part of a segment's writer that deals with documents: rows, stored records, keys, sites. */
#pragma once

#include "base/siphash.h"
#include "index/segment/segment_internal.h"

struct doc_key {
    uint64_t key;
    uint32_t doc;
};

struct docs_writer {
    struct chunked_writer docs, text, keys;
    uint32_t count;
    uint8_t *codes; /* owned: two bytes a document */
    struct doc_key *doc_keys;
    size_t codes_cap, doc_keys_cap;
    /* sites: names end to end, where each ends, and a hash table of numbers + 1 */
    struct buf site_names;
    uint32_t *site_ends, *site_slots;
    uint64_t *site_hashes;
    size_t site_count, site_ends_cap, site_hashes_cap, site_slots_cap;
    struct sip_key site_key;
    uint32_t last_site;  /* documents of a site come together, mostly */
    uint32_t *languages; /* owned: documents by code */
    uint8_t prior_max;
    uint32_t newest;
};

#define LANGUAGE_CODES 65536

/* The files are open. */
void docs_writer_init(struct docs_writer *d);
void docs_writer_done(struct docs_writer *d);
/* ST_LIMIT. Failures of the disk stay in the files' writers. */
MUST_USE status docs_writer_add(struct docs_writer *d, const struct doc_row *row, struct span site, struct span url,
                                struct span content);
MUST_USE status docs_writer_finish(struct docs_writer *d);
