/* tls_key.h - the TLS key of a server: an ECDSA P-256 key with a certificate signed by itself, and the pin that clients
 * know it by. GnuTLS inside; any thread; blocks for a moment while a key is drawn. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define TLS_KEY_PEM_MAX (256u << 10) /* of a certificate (with the chain above it) or a key that is read */
#define TLS_KEY_NAME_MAX 253         /* the longest DNS name */

/* Draws a key and makes a certificate for `name` (a host name or an address), good for ten years: clients trust the
 * pin, not the dates. PEM, appended. ST_INVALID: not a name; ST_IO: no key could be drawn. The key is a secret: keep it
 * in a file that only its owner reads. */
MUST_USE status tls_key_make(struct span name, struct buf *cert_pem, struct buf *key_pem);
/* "sha256//BASE64" of the certificate's public key, as libcurl wants it; appended. With several certificates, of the
 * first. ST_INVALID: not a PEM certificate. */
MUST_USE status tls_key_pin(struct span cert_pem, struct buf *pin);
/* The key belongs to the certificate. ST_INVALID otherwise; `why` (may be NULL) gets a phrase that says what is wrong.
 */
MUST_USE status tls_key_check(struct span cert_pem, struct span key_pem, struct buf *why);
