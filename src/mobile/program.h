/* program.h - code that travels: a Lua script with a name, a serial and a signature, as one file.
 *
 *     orb-program 1
 *     name: prices
 *     serial: 7
 *     key: BASE64URL            public key of the signer; absent: not signed
 *     sig: BASE64URL
 *     (empty line)
 *     function page(p) ... end
 *
 * The signature covers name, serial and script. A higher serial replaces a lower one and never the other way round, so
 * that an old version with a known fault cannot be played back. Pure. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"

#define PROGRAM_SCRIPT_MAX (256u << 10)
#define PROGRAM_FILE_MAX (PROGRAM_SCRIPT_MAX + 4096)
#define PROGRAM_NAME_MAX 32 /* letters, digits, '-', '_' */

struct program {
    struct span name;
    uint64_t serial;
    bool is_signed;
    struct sign_public key;
    struct signature sig;
    struct span script;
};

/* Texts point into `file`. ST_INVALID: *why (may be NULL) says what is wrong; ST_LIMIT; ST_NEWER. Does not check the
 * signature. */
MUST_USE status program_read(struct span file, struct program *out, struct buf *why);
void program_write(const struct program *p, struct buf *out);
void program_sign(struct program *p, const struct sign_key *key);
bool program_is_signed_by(const struct program *p, const struct sign_public *key);
bool program_name_is_good(struct span name);
