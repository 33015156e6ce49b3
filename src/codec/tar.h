/* tar.h - a tar archive (POSIX ustar; sizes over 8 GiB as GNU tar writes them), written and read as a stream.
 *
 * For files and folders only. A reader takes nothing else, and no name that could lead out of the folder it is unpacked
 * in. Pure; one thread. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define TAR_BLOCK 512
#define TAR_NAME_MAX 255 /* of a path */
#define TAR_FILE_MAX (UINT64_C(1) << 50)

struct tar_entry {
    struct span name; /* a relative path, "contents/0001"; of a folder without a slash at its end */
    uint64_t bytes;   /* 0 for a folder */
    wall_ms at;       /* last changed; whole seconds are kept */
    unsigned mode;    /* permission bits */
    bool is_folder;
};

/* Is this a path that stays inside the folder it is taken in? No empty part, no "." or "..", no slash at either end, no
 * NUL or other control byte, no backslash. */
bool tar_name_is_safe(struct span name);

/* The header; the file's bytes follow, then tar_put_padding. ST_LIMIT: the name is too long or cannot be split as the
 * format wants it; ST_INVALID: not safe. */
MUST_USE status tar_put_head(struct buf *out, const struct tar_entry *e);
void tar_put_padding(struct buf *out, uint64_t file_bytes);
void tar_put_end(struct buf *out);

/* What a reader finds. Any status other than ST_OK stops it and is returned. */
struct tar_events {
    status (*entry)(void *self, const struct tar_entry *e);
    status (*bytes)(void *self, struct span piece); /* of the entry told last; in order */
    status (*end)(void *self);                      /* the entry is whole */
    void *self;                                     /* borrowed */
};

struct tar_reader;
struct tar_reader *tar_reader_new(const struct tar_events *events);
void tar_reader_free(struct tar_reader *r); /* NULL is fine */
/* Bytes of the archive, in pieces of any size. ST_CORRUPT: a checksum is wrong or a field makes no sense; ST_INVALID: a
 * name that is not safe; ST_UNSUPPORTED: something else than a file or a folder; ST_LIMIT: too large. After a failure
 * every call says the same. */
MUST_USE status tar_reader_feed(struct tar_reader *r, struct span piece);
/* ST_CORRUPT: the archive was cut short. */
MUST_USE status tar_reader_end(struct tar_reader *r);
