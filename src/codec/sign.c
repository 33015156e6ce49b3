#include "codec/sign.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>

static_assert(SIGN_SEED_BYTES == crypto_sign_ed25519_SEEDBYTES, "sizes of RFC 8032");
static_assert(SIGN_PUBLIC_BYTES == crypto_sign_ed25519_PUBLICKEYBYTES, "sizes of RFC 8032");
static_assert(SIGN_BYTES == crypto_sign_ed25519_BYTES, "sizes of RFC 8032");
static_assert(sizeof(((struct sign_key *)0)->expanded) == crypto_sign_ed25519_SECRETKEYBYTES, "seed and public key");

/* libsodium marks its pointers as never NULL; our empty span may have one. */
static const unsigned char *bytes_of(struct span s)
{
    return (const unsigned char *)(s.p ? s.p : "");
}

void sign_key_of(const unsigned char seed[SIGN_SEED_BYTES], struct sign_key *out)
{
    memcpy(out->seed, seed, SIGN_SEED_BYTES);
    int rc = crypto_sign_ed25519_seed_keypair(out->open.b, out->expanded, seed);
    assert(rc == 0);
    (void)rc;
}

void sign_wipe(void *secret, size_t n)
{
    sodium_memzero(secret, n);
}

void sign_make(const struct sign_key *k, struct span message, struct signature *out)
{
    int rc = crypto_sign_ed25519_detached(out->b, NULL, bytes_of(message), message.n, k->expanded);
    assert(rc == 0);
    (void)rc;
}

bool sign_check(const struct sign_public *k, struct span message, const struct signature *sig)
{
    return crypto_sign_ed25519_verify_detached(sig->b, bytes_of(message), message.n, k->b) == 0;
}

struct digest256 digest_blake2b256(struct span data)
{
    struct digest256 d;
    int rc = crypto_generichash(d.b, sizeof(d.b), bytes_of(data), data.n, NULL, 0);
    assert(rc == 0);
    (void)rc;
    return d;
}

struct digest256 digest_sha256(struct span data)
{
    struct digest256 d;
    (void)crypto_hash_sha256(d.b, bytes_of(data), data.n);
    return d;
}

struct digest_stream {
    crypto_generichash_state state;
};

struct digest_stream *digest_stream_new(void)
{
    /* libsodium asks for 64-byte alignment of this state. */
    struct digest_stream *d = aligned_alloc(64, (sizeof(*d) + 63) / 64 * 64);
    assert(d);
    int rc = crypto_generichash_init(&d->state, NULL, 0, sizeof(struct digest256));
    assert(rc == 0);
    (void)rc;
    return d;
}

void digest_stream_add(struct digest_stream *d, struct span data)
{
    (void)crypto_generichash_update(&d->state, bytes_of(data), data.n);
}

struct digest256 digest_stream_end(struct digest_stream *d)
{
    struct digest256 out;
    (void)crypto_generichash_final(&d->state, out.b, sizeof(out.b));
    free(d);
    return out;
}

bool bytes_equal(const void *a, const void *b, size_t n)
{
    return sodium_memcmp(a, b, n) == 0;
}
