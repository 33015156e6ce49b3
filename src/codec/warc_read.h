/* warc_read.h - records out of WARC files (0.17 to 1.1) and ARC files (1, 2), whoever wrote them: pieces of a file in,
 * records out. docs/formats/warc.md.
 *
 * Plain, a gzip member a record, one member for all of them, or zstd frames (member_read.h). What is wrong is told and
 * passed over: after garbage, a bad head or a wrong length the next record is looked for. A record is held whole, up to
 * a ceiling, and comes out when it is known where it ends: with the next record, its member, or the file. Pure; one
 * thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/warc_value.h"

#define WARC_HEAD_MAX (64u << 10)      /* header lines of a record */
#define WARC_RECORD_MAX (1ull << 50)   /* what a length may say */
#define WARC_BLOCK_DEFAULT (24u << 20) /* of a block held: head and body of an answer, with chunks */
#define WARC_CONCURRENT_MAX 16         /* records that one says it belongs to; more are not held */
#define WARC_NO_RECORD_MAX (16u << 20) /* a file that has no record so far is none of records */

typedef enum warc_type {
    WARC_TYPE_INFO,
    WARC_TYPE_RESPONSE,
    WARC_TYPE_RESOURCE,
    WARC_TYPE_REQUEST,
    WARC_TYPE_METADATA,
    WARC_TYPE_REVISIT,
    WARC_TYPE_CONVERSION,
    WARC_TYPE_CONTINUATION,
    WARC_TYPE_OTHER,
    WARC_TYPE_COUNT
} warc_type;
const char *warc_type_name(warc_type type); /* "response" */

struct warc_record {
    warc_type type;
    bool is_arc;
    uint64_t at;     /* where its member begins in the file; of a plain file where itself does */
    uint64_t inside; /* plain bytes from there to it; 0: reading may begin at `at` */
    struct span url; /* target, without angle brackets; may be empty, or no URL at all */
    wall_ms date;    /* -1: none, or none that can be read */
    struct span concurrent_to[WARC_CONCURRENT_MAX];
    size_t concurrent_count;
    struct span id, refers_to_url, refers_to_date, profile, address, content_type, truncated, block_digest_text,
        payload_digest_text;
    struct span block;    /* as much of it as is held */
    uint64_t block_bytes; /* as the head says */
    bool is_cut;          /* the block is longer than what is held */
    bool is_short;        /* the file, the member or the next record came before its end */
    bool is_damaged;      /* its member fails its own checks */
    bool is_segment;      /* of a longer record */
    warc_digest block_digest, payload_digest;
}; /* everything in it lives until the callback returns */

struct warc_events {
    /* Anything but ST_OK ends the reading: warc_reader_feed returns it. */
    status (*record)(void *self, const struct warc_record *r);
    /* Something is wrong there, in one phrase. The record, if there is one, comes all the same. */
    void (*problem)(void *self, uint64_t at, const char *what);
    void *self; /* borrowed */
};

struct warc_reader;

struct warc_reader_opts {
    size_t block_max; /* 0: the default */
    bool no_digests;  /* are not looked at */
};

struct warc_reader *warc_reader_new(const struct warc_reader_opts *o, const struct warc_events *e);
void warc_reader_free(struct warc_reader *r); /* NULL is fine */
/* ST_INVALID: no file of records; or what `record` returned. Nothing more comes out then. */
MUST_USE status warc_reader_feed(struct warc_reader *r, struct span piece);
/* The file ends. ST_INVALID: there was no record in it. */
MUST_USE status warc_reader_end(struct warc_reader *r);
/* Bytes at the beginning of the file that reading from a later record on needs first: member_reader_lead. */
uint64_t warc_reader_lead(const struct warc_reader *r);
