/* digest.h - hashes that travel: BLAKE2b by libsodium; and CRC-32C for torn records on our own disk. Pure; any thread.
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
uint32_t digest_crc32c(struct span data); /* CRC of torn or damaged records */
/* The same by tables alone, for CPUs without the instruction; named here so that both can be compared. */
uint32_t digest_crc32c_by_table(struct span data);
