/* segment.h - one immutable segment of the index: files that are written once, mapped, and read without locks.
 *
 *     NNNNNNNN.docs   a row a document, codes for ranking, sites, languages
 *     NNNNNNNN.text   the stored records: URL and content
 *     NNNNNNNN.keys   document keys in order, to find a document by its key
 *     NNNNNNNN.dict   terms in order, front-coded in blocks, with their counts and where their postings are
 *     NNNNNNNN.post   postings: blocks of 128 documents
 *     NNNNNNNN.pos    positions, a run a posting
 *
 * NNNNNNNN is the segment's number, in hexadecimal. docs/formats/index.md has the files byte by byte. Every file is
 * checked in chunks of 64 KiB with a CRC the first time that somebody reads from the chunk, and every offset and count
 * read from it against the file's size: a damaged file is ST_CORRUPT, never a crash, and never a wrong answer without a
 * word. Documents are numbered from 0 in a segment.
 *
 * Opened segments are shared by threads; cursors belong to one. Inside src/index only. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "index/text/analyze.h"

#define SEGMENT_VERSION 1
#define SEGMENT_DOCS_MAX 0x7fffffffu
#define SEGMENT_TERM_MAX 320 /* sites are terms too: a host name is at most 255 */
#define SEGMENT_SITE_MAX 300
#define SEGMENT_URL_MAX (64u << 10)
#define SEGMENT_CONTENT_MAX (64u << 20)
#define POSTINGS_BLOCK 128
#define POSTINGS_END UINT32_MAX
/* Terms that are no words begin with this byte, which no word does: site and language of a page, searched like words,
 * without positions: "\1s" and each suffix of the host by labels ("\1spython.org"), "\1l" and the language, "\1n" and
 * what the page is called (name.h), "\1f" and a field, with its value and without (field.h). */
#define TERM_SPECIAL '\1'

#define ROW_UNORDERED 0x80 /* in flags: words without their order; see index_doc.is_keywords */

/* What a segment knows of a document besides its postings. */
struct doc_row {
    uint64_t key;              /* page id */
    uint64_t fetch_number;     /* of the visit it comes from */
    uint64_t digest, group;    /* of the text; near-duplicate group, 0: none */
    uint32_t fetched, changed; /* seconds since 1970 */
    uint32_t anchors_digest;
    uint32_t site; /* number of the site in this segment: segment_site */
    lang_code lang;
    uint8_t length_code, prior_code; /* rank.h */
    uint8_t flags;                   /* PAGE_* of web/facts.h, ROW_UNORDERED */
    uint64_t stored_at;
    uint32_t stored_bytes;
};

struct segment;

/* ST_NOT_FOUND: a file is missing (a merge may have removed it: read the manifest again); ST_CORRUPT, ST_NEWER, ST_IO.
 */
MUST_USE status segment_open(const char *dir, uint32_t number, struct segment **out);
/* The same from the bytes of its files, in the order of the list above, which must stay. For tests. */
#define SEGMENT_FILES 6
MUST_USE status segment_open_spans(const struct span files[SEGMENT_FILES], uint32_t number, struct segment **out);
void segment_free(struct segment *s); /* NULL is fine */
/* For who only searches: what cannot be read any more, because somebody cut a file or the disk fails, reads as zeros
 * and does not end the process. What was found since must be thrown away when segment_is_lost. */
void segment_guard(struct segment *s);
bool segment_is_lost(const struct segment *s);
/* The name of file i of a segment, without the folder. */
void segment_file_name(struct buf *out, uint32_t number, unsigned i);
/* Is it the name of a segment's file? Of which? */
bool segment_parse_name(const char *name, uint32_t *number);
uint32_t segment_number(const struct segment *s);
uint32_t segment_docs(const struct segment *s); /* deleted ones included */
uint64_t segment_terms(const struct segment *s);
uint64_t segment_bytes(const struct segment *s);       /* of all files */
uint64_t segment_body_tokens(const struct segment *s); /* occurrences of words in bodies */
uint8_t segment_prior_max(const struct segment *s);
uint32_t segment_newest(const struct segment *s); /* largest `changed` */

MUST_USE status segment_doc(const struct segment *s, uint32_t doc, struct doc_row *out);
/* Of the row only the language; 0 where it cannot be read. */
lang_code segment_doc_language(const struct segment *s, uint32_t doc);
/* Length and prior code of every document, two bytes each, for the inner loop; checked as a whole when opened. */
const uint8_t *segment_codes(const struct segment *s);
/* ST_NOT_FOUND. The last of them when several documents were written with one key. */
MUST_USE status segment_find_doc(const struct segment *s, uint64_t key, uint32_t *doc);
/* The stored record of a document: URL, then the content as it was given (see index.h). Borrowed from the map. */
MUST_USE status segment_stored(const struct segment *s, uint32_t doc, struct span *url, struct span *content);
uint32_t segment_sites(const struct segment *s);
MUST_USE status segment_site(const struct segment *s, uint32_t site, struct span *name);
/* How many documents each language has, most frequent first: `i` from 0 until ST_END. */
MUST_USE status segment_language(const struct segment *s, unsigned i, lang_code *lang, uint32_t *docs);

/* ---- terms ---- */

struct term_info {
    uint32_t df; /* documents, deleted ones included */
    uint64_t post_at, pos_at;
    uint32_t post_bytes;
    uint64_t pos_bytes;
    uint8_t bound;      /* rank_bound_code over the whole list, with rank_default */
    bool has_positions; /* special terms have none */
    /* df == 1: the posting itself, which takes no bytes in the postings file */
    uint8_t head;
    uint32_t doc, body;
};

MUST_USE status segment_find_term(const struct segment *s, struct span term, struct term_info *out); /* ST_NOT_FOUND */

/* Steps through the dictionary in order. */
struct dict_cursor {
    const struct segment *segment;
    uint32_t block, in_block;
    uint64_t at, end; /* the next entry, the end of its block */
    struct span term; /* current; points into `name` */
    struct term_info info;
    char name[SEGMENT_TERM_MAX];
};
/* At the first term not below `from`. ST_END: none. ST_CORRUPT. */
MUST_USE status dict_seek(struct dict_cursor *c, const struct segment *s, struct span from);
MUST_USE status dict_next(struct dict_cursor *c); /* ST_END, ST_CORRUPT */

/* ---- postings ---- */

/* A cursor over one term's documents in order. The first three fields are for the owner to read; only functions here
 * change any of it. */
struct postings {
    uint32_t doc; /* current; POSTINGS_END when through or `st` is not ST_OK */
    status st;    /* sticky: ST_CORRUPT */
    struct term_info info;
    const struct segment *segment;
    /* the block that `doc` is in, decoded: documents at once, the others when asked for */
    uint32_t at, count; /* place in the block */
    uint32_t block, block_count;
    bool has_counts, has_positions;
    uint32_t docs[POSTINGS_BLOCK + 16]; /* past count: INT32_MAX */
    uint32_t body[POSTINGS_BLOCK];
    uint8_t heads[POSTINGS_BLOCK];
    uint32_t more[POSTINGS_BLOCK]; /* zigzag: positions besides those that body and head tell of */
    bool is_plain;                 /* all heads and all of `more` are 0 */
    const unsigned char *post;     /* the list's bytes */
    const unsigned char *headers;  /* of the blocks, 16 bytes each; NULL: one short block */
    const unsigned char *data;     /* of the block, after the documents */
    uint32_t peek_block;           /* where postings_peek was last */
    /* positions of the block: those of document `pos_index` begin at pos_next */
    const unsigned char *pos_next, *pos_end, *pos_after; /* pos_after: of the document after it; NULL: not known */
    uint32_t pos_index;
};

/* At the first document. */
void postings_open(struct postings *p, const struct segment *s, const struct term_info *info);
/* To the first document >= `doc` (never back); returns it. */
uint32_t postings_seek(struct postings *p, uint32_t doc);
static inline uint32_t postings_next(struct postings *p)
{
    if (p->at + 1 < p->count)
        return p->doc = p->docs[++p->at];
    return p->doc == POSTINGS_END ? POSTINGS_END : postings_seek(p, p->doc + 1);
}
/* The block that holds the first document >= `doc`, not before the current one, without decoding it: its last document
 * and the bound code of its postings. False: there is none. Does not move the cursor. */
bool postings_peek(struct postings *p, uint32_t doc, uint32_t *last, uint8_t *bound);
/* Decodes body and heads of the current block, if they are not: false after damage. For loops over a whole block:
 * documents at .. count - 1 are in docs, body and heads. */
bool postings_counts(struct postings *p);
/* Of the current document. */
static inline uint32_t postings_body(struct postings *p) /* occurrences in the body */
{
    return (p->has_counts || postings_counts(p)) && p->count ? p->body[p->at] : 0;
}
static inline uint8_t postings_head(struct postings *p)
{
    return (p->has_counts || postings_counts(p)) && p->count ? p->heads[p->at] : 0;
}
/* Positions of the term in the current document, ascending; at most `max` of them; returns how many. Regions:
 * POSITION_TITLE ... Special terms have none. */
size_t postings_positions(struct postings *p, uint32_t *out, size_t max);

/* Positions of the fields. The regions keep phrases from reaching across fields, and tell title matches apart. What a
 * posting counts in a field is how many positions it has there (up to 3 outside the body), headings apart. */
enum {
    POSITION_TITLE = 0,
    POSITION_ANCHORS = 64, /* a gap of 2 between two anchor texts */
    POSITION_URL = 448,
    POSITION_BODY = 512,
};
#define POSITIONS_A_DOC_MAX (1u << 20) /* words of a body past this are not indexed */
