/* warc_files.h - a folder of WARC files: named, begun with a warcinfo record, appended to, rotated by size, whole after
 * a kill.
 *
 *     orb-20240131120000-00000-HOST.warc.gz         closed
 *     orb-20240131120000-00001-HOST.warc.gz.open    being written
 *     seen/orb-20240131120000-00000-HOST            which bodies it has, for revisits (docs/formats/warc.md)
 *     lock                                          one writer at a time
 *     mark                                          with `is_marked`: up to where records count
 *
 * A kill loses nothing that was appended. Opening the folder again cuts what a kill or a power cut left incomplete and
 * closes the file; with `is_marked` everything after the last mark goes, so that whoever appends it again does so once.
 * Any thread. */
#pragma once

#include "codec/warc.h"
#include "store/warc_seen.h"

#define WARC_FILE_BYTES_DEFAULT (1ull << 30)

struct warc_files;

struct warc_files_opts {
    const char *dir;
    member_kind kind;
    uint64_t bytes_max;    /* a file is closed when it would pass this; 0: the default */
    bool is_marked;        /* only what was appended with a tag counts */
    struct warc_info info; /* of each file: file name and date are filled in; texts are copied */
    struct sip_key key;
    wall_ms (*wall)(void);
    warc_draw_fn *draw;
    void *draw_self; /* borrowed */
};

/* What was appended, for warc_seen.h. */
struct warc_note {
    warc_note_kind kind;
    struct digest160 payload;
    struct span url;
    wall_ms at;
    size_t end; /* of its records, in what is appended with it */
};
/* The note of an answer, all but `end`; `url` is borrowed. `original` NULL: it is a response. False: there is nothing
 * to note. */
bool warc_note_of(const struct warc_capture *c, unsigned http_status, const struct digest160 *payload,
                  const struct warc_original *original, struct warc_note *out);

/* ST_BUSY: somebody else writes there. `why` gets a phrase. */
MUST_USE status warc_files_open(const struct warc_files_opts *o, struct warc_files **out, struct buf *why);
/* One or more whole captures, in one write; a new file is begun first when they do not fit. On failure nothing of them
 * is there, and the same call may be tried again. ST_FULL, ST_IO. */
MUST_USE status warc_files_append(struct warc_files *f, struct span records, const struct warc_note *notes,
                                  size_t count);
/* All that was appended is on the disk. */
MUST_USE status warc_files_sync(struct warc_files *f);
/* With is_marked: appended, synced, and written down under `tag` (one word). Either all of that happened, or nothing
 * did, now or after the next open. One thread. */
MUST_USE status warc_files_append_once(struct warc_files *f, struct span records, const struct warc_note *notes,
                                       size_t count, struct span tag);
struct span warc_files_tag(const struct warc_files *f); /* of the last one; empty: none */
struct warc_seen *warc_files_seen(struct warc_files *f);
uint64_t warc_files_bytes(struct warc_files *f); /* appended since it was opened */
/* Syncs, closes the file under its name. NULL is fine. */
void warc_files_close(struct warc_files *f);
