/* digest.h - hashes that travel: BLAKE2b by libsodium, SHA-1 by nettle where other tools expect it (WARC), never where
 * somebody gains by a collision; and CRC-32C for torn records on our own disk. Pure; any thread.
 *
 * None of this needs sodium_init(); once that has run, BLAKE2b takes the fastest code the CPU has. */
#pragma once

#include "base/span.h"

struct digest128 {
    unsigned char b[16];
};

struct digest128 digest_blake2b128(struct span data);
/* 64-bit, for content digests: the first eight bytes of the 128-bit digest, read little-endian. */
uint64_t digest_blake2b64(struct span data);
struct digest160 {
    unsigned char b[20];
};
/* Of the parts, one after the other. */
struct digest160 digest_sha1(const struct span *parts, size_t count);
/* By the name that archives give it (md5, sha1, sha-1, sha256, ...): returns how long it is, 0: no such algorithm. For
 * checking what others wrote, nothing else. */
#define DIGEST_BYTES_MAX 64
size_t digest_named(struct span name, const struct span *parts, size_t count, unsigned char out[DIGEST_BYTES_MAX]);
uint32_t digest_crc32c(struct span data); /* CRC of torn or damaged records */
/* The same by tables alone, for CPUs without the instruction; named here so that both can be compared. */
uint32_t digest_crc32c_by_table(struct span data);

/* SHA-256 of bytes that come piece by piece, where people check it with other tools. */
struct sha256_sum {
    unsigned char b[32];
};
struct sha256;
struct sha256 *sha256_new(void);
void sha256_free(struct sha256 *h); /* NULL is fine */
void sha256_put(struct sha256 *h, struct span piece);
struct sha256_sum sha256_end(struct sha256 *h); /* and begins anew */
