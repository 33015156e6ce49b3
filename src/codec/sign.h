/* sign.h - Ed25519 keys and signatures, and the digests that are signed. libsodium inside. Pure: a key is made from a
 * seed that the caller drew. Any thread. */
#pragma once

#include "base/status.h"
#include "base/span.h"

#define SIGN_SEED_BYTES 32
#define SIGN_PUBLIC_BYTES 32
#define SIGN_BYTES 64

struct sign_public {
    unsigned char b[SIGN_PUBLIC_BYTES];
};

/* Secret: never logged, wiped with sign_wipe. */
struct sign_key {
    unsigned char seed[SIGN_SEED_BYTES];
    unsigned char expanded[64];
    struct sign_public open; /* what others may know */
};

struct signature {
    unsigned char b[SIGN_BYTES];
};

struct digest256 {
    unsigned char b[32];
};

void sign_key_of(const unsigned char seed[SIGN_SEED_BYTES], struct sign_key *out);
void sign_wipe(void *secret, size_t n); /* not optimised away */

void sign_make(const struct sign_key *k, struct span message, struct signature *out);
bool sign_check(const struct sign_public *k, struct span message, const struct signature *sig);

struct digest256 digest_blake2b256(struct span data);
struct digest256 digest_sha256(struct span data);
/* Over several pieces: begin, add, end. */
struct digest_stream;
struct digest_stream *digest_stream_new(void); /* BLAKE2b-256 */
void digest_stream_add(struct digest_stream *d, struct span data);
struct digest256 digest_stream_end(struct digest_stream *d); /* frees it */

/* In constant time: for secrets. */
bool bytes_equal(const void *a, const void *b, size_t n);
