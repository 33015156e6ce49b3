/* member_read.h - a file of members (member.h) that comes piece by piece: the plain bytes go out, and where each member
 * begins and ends. What is damaged is told of and passed over. Pure; one thread.
 *
 * Which kind it is, is told by the first four bytes: gzip, zstd, or neither, which is plain and one member. A zstd file
 * may begin with its dictionary (the skippable frame of .warc.zst). After a damaged member the next one is looked for,
 * by the bytes that one begins with, also among those that the damaged one seemed to have. Memory is bounded whatever
 * the size: some hundred KiB, a dictionary, and the window that a zstd frame asks for (ZIP_WINDOW_LOG_MAX). */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define MEMBER_DICT_MAX (16u << 20) /* bytes of a dictionary, plain */

struct member_reader;

struct member_events {
    void (*begin)(void *self, uint64_t at);               /* a member begins, so many bytes into the file */
    void (*bytes)(void *self, struct span plain);         /* lives until it returns */
    void (*end)(void *self, bool is_whole);               /* not: damaged, or cut short */
    void (*garbage)(void *self, uint64_t at, uint64_t n); /* bytes that belong to no member; zeros are padding */
    void *self;                                           /* borrowed */
};

struct member_reader *member_reader_new(const struct member_events *e);
void member_reader_free(struct member_reader *r); /* NULL is fine */
void member_reader_feed(struct member_reader *r, struct span piece);
void member_reader_end(struct member_reader *r); /* the file ends */
/* How many bytes at the beginning of the file everything else needs: a dictionary. To read from a later member on, feed
 * these first. */
uint64_t member_reader_lead(const struct member_reader *r);
bool member_reader_is_plain(const struct member_reader *r);
