/* key.h - the agent's own signing key, in DATA/agent.key (hex of the seed, for its owner's eyes alone). */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"

/* Reads the key, or draws one and writes it down when there is none. ST_CORRUPT: not a key; ST_IO, ST_FULL. */
MUST_USE status key_open(const char *data, struct sign_key *out);
/* Draws a new key into DATA/agent.key.new; key_replace makes it the key, so that a kill in between leaves either. */
MUST_USE status key_draw_next(const char *data, struct sign_key *out);
MUST_USE status key_replace(const char *data);
/* The key that key_draw_next drew and nobody confirmed yet. ST_NOT_FOUND. */
MUST_USE status key_next(const char *data, struct sign_key *out);
