/* identity.h - the coordinator's keys, in files that only their owner can read.
 *
 *     coord/identity.key      Ed25519 seed, hex: signs answers, orders, TLS pins
 *     coord/identity.old      the one before it, for agents that do not know the new one yet
 *     coord/tls.key, tls.crt  ECDSA P-256 and its certificate, unless the operator brings their own
 *
 * Made at the first start; never written to again but by identity_rotate. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"
#include "wire/join.h"

struct identity {
    struct sign_key key, old_key;
    bool has_old;
    struct digest256 fingerprint, old_fingerprint;
    char fingerprint_hex[65];
    struct buf tls_cert, tls_key; /* PEM; empty on plain HTTP */
    char pin[JOIN_PIN_MAX];       /* of tls_cert; "" on plain HTTP */
};

struct identity_opts {
    const char *data_dir;
    bool is_plain;
    const char *tls_cert_file, *tls_key_file; /* the operator's; NULL: ours */
    struct span host;                         /* named by our certificate */
};

MUST_USE status identity_open(const struct identity_opts *o, struct identity *out, struct buf *why);
/* A new signing key in place of the old one, which signed *sig over it. */
MUST_USE status identity_rotate(const char *data_dir, struct identity *id, struct signature *sig, struct buf *why);
void identity_done(struct identity *id);
