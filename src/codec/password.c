#include "codec/password.h"

#include <assert.h>
#include <sodium.h>

#include "codec/armor.h"
#include "codec/sign.h"

/* argon2id$v=19$m=65536,t=2,p=1$SALT$KEY with base64url, m in KiB. Other costs are read too, within bounds, so that
 * they can be raised later without making old passwords useless. */
#define MEMORY_KIB 65536
#define PASSES 2
#define KEY_BYTES 32
#define MEMORY_KIB_MAX (1u << 20)
#define PASSES_MAX 16

static_assert(PASSWORD_SALT_BYTES == crypto_pwhash_argon2id_SALTBYTES, "Argon2 salt");

static size_t characters(struct span s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80; /* not a following byte of UTF-8 */
    return n;
}

static bool derive(struct span password, const unsigned char *salt, uint64_t kib, uint64_t passes,
                   unsigned char key[KEY_BYTES])
{
    return crypto_pwhash_argon2id(key, KEY_BYTES, password.p ? password.p : "", password.n, salt, passes,
                                  (size_t)kib * 1024, crypto_pwhash_argon2id_ALG_ARGON2ID13) == 0;
}

status password_hash(struct span password, const unsigned char salt[PASSWORD_SALT_BYTES], struct buf *out)
{
    unsigned char key[KEY_BYTES];
    if (password.n > PASSWORD_MAX)
        return ST_LIMIT;
    if (characters(password) < PASSWORD_MIN)
        return ST_INVALID;
    bool is_made = derive(password, salt, MEMORY_KIB, PASSES, key);
    assert(is_made); /* only memory can be short */
    (void)is_made;
    buf_printf(out, "argon2id$v=19$m=%d,t=%d,p=1$", MEMORY_KIB, PASSES);
    base64url_put(out, span_of(salt, PASSWORD_SALT_BYTES));
    buf_putc(out, '$');
    base64url_put(out, span_of(key, KEY_BYTES));
    sign_wipe(key, sizeof(key));
    return ST_OK;
}

static bool costs(struct span s, uint64_t *kib, uint64_t *passes)
{
    struct span m, t;
    if (!span_split(&s, ',', &m) || !span_split(&s, ',', &t) || !span_is(s, "p=1"))
        return false;
    return span_starts(m, SPAN("m=")) && span_u64(span_from(m, 2), MEMORY_KIB_MAX, kib) && *kib >= 8 &&
           span_starts(t, SPAN("t=")) && span_u64(span_from(t, 2), PASSES_MAX, passes) && *passes >= 1;
}

bool password_check(struct span hash, struct span password)
{
    struct span part[5];
    uint64_t kib, passes;
    unsigned char salt[PASSWORD_SALT_BYTES], want[KEY_BYTES], got[KEY_BYTES];
    if (password.n > PASSWORD_MAX)
        return false;
    for (size_t i = 0; i < 5; i++)
        if (!span_split(&hash, '$', &part[i]))
            return false;
    if (hash.n || !span_is(part[0], "argon2id") || !span_is(part[1], "v=19") || !costs(part[2], &kib, &passes) ||
        base64url_get(part[3], salt, sizeof(salt)) != ST_OK || base64url_get(part[4], want, sizeof(want)) != ST_OK ||
        !derive(password, salt, kib, passes, got))
        return false;
    bool is_same = bytes_equal(got, want, KEY_BYTES);
    sign_wipe(got, sizeof(got));
    return is_same;
}
