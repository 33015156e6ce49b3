/* segment_write.h - writes a segment, from memory (flush) or from other segments (merge).
 *
 *     segment_writer_new, segment_writer_doc for every document in order, then for every term in byte order
 *     segment_writer_term, segment_writer_posting for each of its documents in order; segment_writer_finish.
 *
 * Memory: the term index, the names of sites, 18 bytes a document and a few buffers; all else streams to the files.
 * Nothing is valid before segment_writer_finish returned ST_OK: all files are synced then, the folder is not. One
 * thread a writer. */
#pragma once

#include "index/segment/segment.h"

struct segment_writer;

MUST_USE status segment_writer_new(const char *dir, uint32_t number, struct segment_writer **out);
/* The next document; row.site, stored_at and stored_bytes are filled in here. ST_LIMIT: a text is too long. */
MUST_USE status segment_writer_doc(struct segment_writer *w, const struct doc_row *row, struct span site,
                                   struct span url, struct span content);
/* ST_INVALID: not above the term before. A term without postings leaves no trace. */
MUST_USE status segment_writer_term(struct segment_writer *w, struct span term);
/* `positions` as in segment.h, ascending; none for special terms. */
MUST_USE status segment_writer_posting(struct segment_writer *w, uint32_t doc, uint32_t body, uint8_t head,
                                       const uint32_t *positions, size_t position_count);
/* The same with the positions encoded already: the bytes that segment_writer's own encoding would make (a varint of the
 * difference to the one before, each), which is also what an accumulator keeps and what postings_positions_raw gives.
 */
MUST_USE status segment_writer_posting_raw(struct segment_writer *w, uint32_t doc, uint32_t body, uint8_t head,
                                           struct span positions);
/* All that the cursor has left, for merges: document d becomes numbers[d], or goes when that is POSTINGS_END; where
 * numbers is NULL, base + d. Far quicker than one by one. ST_CORRUPT: of the cursor, p->st is too. */
MUST_USE status segment_writer_copy(struct segment_writer *w, struct postings *p, uint32_t base,
                                    const uint32_t *numbers);
MUST_USE status segment_writer_finish(struct segment_writer *w);
uint32_t segment_writer_docs(const struct segment_writer *w);
void segment_writer_free(struct segment_writer *w); /* removes the files unless finished; NULL is fine */

/* For merges: the encoded positions of the cursor's current document. */
struct span postings_positions_raw(struct postings *p);
/* Removes the files of a segment; those that are not there are fine. */
void segment_remove(const char *dir, uint32_t number);
