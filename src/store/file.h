/* file.h - the few things we do to files, each safe against a kill, with one place to inject faults. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* All return ST_FULL for ENOSPC/EDQUOT and ST_IO else, with errno set. Paths are NUL-terminated. */
MUST_USE status file_mkdir(const char *path);                             /* with parents; there already is fine */
MUST_USE status file_remove_dir(const char *path);                        /* with the files in it; not there is fine */
MUST_USE status file_read(const char *path, size_t max, struct buf *out); /* ST_NOT_FOUND, ST_LIMIT */
/* Written beside it, fsynced, renamed, folder fsynced: afterwards either the old or the new content is there. */
MUST_USE status file_replace(const char *path, struct span content);
MUST_USE status file_replace_secret(const char *path, struct span content); /* readable by its owner alone */
/* Several files of one folder, each as by file_replace, for hardly more than the price of one: the disk is waited for
 * once. All zeros to begin with. Nothing is replaced before file_batch_end, which also frees it, whatever came before;
 * it says what went wrong first. After a kill some may be old and some new. */
struct file_batch {
    struct file_batch_item *items;
    size_t count, cap;
    status st;
};
void file_batch_put(struct file_batch *b, const char *path, struct span content);
MUST_USE status file_batch_end(struct file_batch *b);
MUST_USE status file_write_all(int fd, struct span data); /* repeats short writes */
MUST_USE status file_sync(int fd);
MUST_USE status file_sync_dir(const char *path);
/* Takes an exclusive lock on path (made when missing) and writes our process id into it. ST_BUSY: somebody has it, and
 * *pid (when given) is theirs. The lock ends with the process, however it ends. */
MUST_USE status file_lock(const char *path, int *fd, long *pid);

struct mapped;
MUST_USE status mapped_open(const char *path, struct mapped **out); /* read-only */
struct span mapped_span(const struct mapped *m);
void mapped_free(struct mapped *m); /* NULL is fine */
/* What of a map cannot be read, because the file was cut or its disk fails, ends the process (SIGBUS). After this it is
 * read as zeros, and mapped_is_lost tells: whoever read from it must not believe what it made of it. For maps that are
 * only ever looked into, not for what is written elsewhere. Any thread; twice is fine. */
void mapped_guard(struct mapped *m);
bool mapped_is_lost(const struct mapped *m);

/* Tests only: after `after_bytes` more bytes written through file_write_all, writes fail with `err` (ENOSPC, EROFS,
 * EIO); 0 turns it off. Read from ORB_TEST_WRITE_FAULT ("BYTES:ERRNO_NAME") at the first write. */
void file_inject_fault(uint64_t after_bytes, int err);
/* The same for file_sync and file_sync_dir: after `after_syncs` more of them. */
void file_inject_sync_fault(unsigned after_syncs, int err);
