/* warc_needs.h - which bodies in WARC files that are too old are needed by revisits in files that stay. Inside store/
 * only; see warc_purge.h. Pure; one thread.
 *
 * Files have numbers, from the oldest on. They are told from the newest on, so that a body is known to be needed before
 * it is met; a revisit needs the last body of its kind (key) before it, and all of that kind in the same file: which of
 * them it names is not known here. At most some 80 bytes of memory a body that
 * revisits refer to, for two million of them; what is beyond that is not needed by anybody. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct warc_needs;

struct warc_needs *warc_needs_new(size_t files);
void warc_needs_free(struct warc_needs *n); /* NULL is fine */

/* Of a body: the site of the address that has it, and its digest as the head of a record has it. */
uint64_t warc_need_key(struct span url, struct span digest);

/* A response or revisit of the file that is told next, in their order; `bytes`: what a response takes there. */
void warc_needs_note(struct warc_needs *n, uint64_t key, bool is_body, uint64_t bytes);
/* It has, or may have, something besides those. */
void warc_needs_note_other(struct warc_needs *n);
/* That was all of file `file`. `goes`: it is too old, so that its revisits need nothing. */
void warc_needs_end_file(struct warc_needs *n, size_t file, bool goes);

/* goes[i]: file i is too old, and has sizes[i] bytes. More of them are marked, from the oldest on, until those that
 * stay, and what they need of the others, take `bytes_max` at most; 0: no limit. Once, after all files were told. */
void warc_needs_choose(struct warc_needs *n, const uint64_t *sizes, bool *goes, uint64_t bytes_max);

/* After that, of a file that goes: how many bodies in it are needed, how much they take, and which. */
struct warc_needed {
    uint64_t bodies, bytes;
    bool is_all; /* there is nothing else in it */
};
struct warc_needed warc_needs_of(const struct warc_needs *n, size_t file);
bool warc_needs_body(const struct warc_needs *n, size_t file, uint64_t key);
