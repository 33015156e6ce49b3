/* segment_internal.h - what the parts of a segment's reader and writer share: the layout of its files. */
#pragma once

#include <endian.h>

#include "index/segment/chunked.h"
#include "index/segment/segment.h"

/* Kinds of files, in the order of segment_file_name. */
enum { FILE_DOCS, FILE_TEXT, FILE_KEYS, FILE_DICT, FILE_POST, FILE_POS };

/* info[0] of every file is the number of documents; then, by kind: */
enum { INFO_DOCS, INFO_COMMON };
enum { DOCS_SITES = INFO_COMMON, DOCS_SITE_BYTES, DOCS_LANGUAGES, DOCS_PRIOR_MAX, DOCS_NEWEST, DOCS_INFO };
enum { DICT_TERMS = INFO_COMMON, DICT_INDEX_AT, DICT_BODY_TOKENS, DICT_INFO };

#define ROW_BYTES 64
#define LANGUAGE_BYTES 8 /* u16 code, u16 0, u32 documents */
#define DICT_BLOCK 32    /* terms */
#define DICT_INDEX_BYTES 16
#define HEADER_BYTES 16      /* of a block of postings */
#define HEADER_TAIL 0xFF     /* in place of the width of the documents: a short block */
#define HEADER_FROM_ONE 0x80 /* in the width of the body counts: they are stored less one */
#define HEADER_WIDE 15       /* in place of a width up to 14: 32 */

struct segment {
    uint32_t number, docs, sites, languages;
    uint64_t terms, dict_index_at, body_tokens;
    uint32_t dict_blocks;
    uint64_t codes_at, site_ends_at, site_names_at, languages_at; /* in the docs file */
    const uint8_t *codes;                                         /* in the map */
    struct chunked files[SEGMENT_FILES];                          /* owned */
};

static inline uint32_t load32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return le32toh(v);
}

static inline uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

static inline void store32(unsigned char *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void store64(unsigned char *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof(v));
}

/* A varint at *p, before `end`, of at most 32 bits. False: cut short or too large; *p is anywhere then. */
static inline bool var32(const unsigned char **p, const unsigned char *end, uint32_t *out)
{
    uint32_t v = 0;
    if (*p < end && **p < 0x80) {
        *out = *(*p)++;
        return true;
    }
    for (unsigned shift = 0; shift < 35 && *p < end; shift += 7) {
        unsigned char c = *(*p)++;
        if (shift == 28 && c > 15)
            return false;
        v |= (uint32_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

static inline bool var64(const unsigned char **p, const unsigned char *end, uint64_t *out)
{
    uint64_t v = 0;
    if (*p < end && **p < 0x80) {
        *out = *(*p)++;
        return true;
    }
    for (unsigned shift = 0; shift < 70 && *p < end; shift += 7) {
        unsigned char c = *(*p)++;
        if (shift == 63 && c > 1)
            return false;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

/* The first eight bytes of a term as a number that orders like the term does. */
static inline uint64_t dict_prefix(struct span term)
{
    unsigned char b[8] = {0};
    uint64_t v;
    if (term.n)
        memcpy(b, term.p, term.n < 8 ? term.n : 8);
    memcpy(&v, b, sizeof(v));
    return be64toh(v);
}

#define VAR_MAX 10 /* bytes of a varint */

/* Returns the end. */
static inline unsigned char *put_var(unsigned char *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (unsigned char)v;
    return p;
}

static inline uint32_t zigzag(int64_t v)
{
    return v < 0 ? (uint32_t)(-v * 2 - 1) : (uint32_t)(v * 2);
}

static inline int64_t unzigzag(uint32_t v)
{
    return v & 1 ? -(int64_t)(v / 2) - 1 : (int64_t)(v / 2);
}

#define VARINT_TOPS 0x8080808080808080u

/* How many of the eight bytes end a varint: those whose top bit is 0. */
static inline unsigned varint_ends(uint64_t word)
{
    return (unsigned)(((~word & VARINT_TOPS) >> 7) * 0x0101010101010101u >> 56);
}

/* How many varints end in n bytes. */
size_t count_varints(const unsigned char *p, size_t n);
/* The positions of n documents of the block from the current one on, end to end, n <= count - at; NULL p after damage.
 * Not for a list of one document. */
struct span postings_positions_run(struct postings *p, uint32_t n);
