/* armor.h - bytes as text and back: hex and base64url (RFC 4648 section 5, without padding). Pure. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

void hex_put(struct buf *out, struct span bytes); /* lower case */
/* Exactly `n` bytes into `out`; upper and lower case. ST_INVALID: another length, or no hex. */
MUST_USE status hex_get(struct span text, void *out, size_t n);

void base64url_put(struct buf *out, struct span bytes);
/* Exactly `n` bytes. ST_INVALID: another length, a strange letter, padding, bits left over. */
MUST_USE status base64url_get(struct span text, void *out, size_t n);
/* Ordinary base64 with padding: what libcurl's pins are written in. */
void base64_put(struct buf *out, struct span bytes);
