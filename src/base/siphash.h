/* siphash.h - SipHash-1-3: a keyed 64-bit hash that strangers cannot aim at.
 *
 * Every hash of outside data that decides anything (URL-seen, host tables) uses the key of the data folder.
 * 1-3 rounds, not 2-4: half the time, and no attack on it is known for hash tables. */
#pragma once

#include "base/span.h"

struct sip_key {
    uint64_t k0, k1;
};

uint64_t siphash(const struct sip_key *key, struct span data);
