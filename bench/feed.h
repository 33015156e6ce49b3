/* feed.h - generated documents and collected pages into an index, with their stored records, as the crawler makes them.
 *
 * A record is a packed struct content, compressed with a dictionary trained on the first documents. One thread. */
#pragma once

#include "collection.h"
#include "index/index.h"
#include "zipf.h"

#define FEED_LEVEL 3                /* of zstd */
#define FEED_SAMPLES 1000           /* documents that the dictionary is trained on */
#define FEED_COMMIT 5000            /* documents a commit: the rival's batch */
#define FEED_EPOCH_MS 1700000000000 /* when document 0 was fetched; later ones a second later each */

/* Makes records. */
struct packer;
/* A dictionary from what is fed first; the training is nobody's work in a measurement. */
struct packer *packer_new(struct span dictionary);                                      /* empty: none */
void packer_free(struct packer *p);                                                     /* NULL is fine */
struct span packer_zipf(struct packer *p, uint64_t number, const struct zipf_doc *doc); /* until the next call */
struct span packer_page(struct packer *p, const struct page *page);
/* A dictionary trained on the first generated documents, or on pages of the collection. Empty when there are too few.
 */
void packer_train(struct zipf *z, const struct collection *c, struct buf *out);

/* What the index is told of them. */
struct index_doc feed_zipf(uint64_t number, uint64_t fetch_number, const struct zipf_doc *doc, struct span record);
struct index_doc feed_page(uint64_t fetch_number, const struct page *page, struct span record);

/* Key of a generated document in the index. */
uint64_t feed_key(uint64_t number);
uint64_t feed_number(uint64_t key);

/* A new index of a collection at `dir`, committed and merged. */
void feed_collection(const struct collection *c, const char *dir);
