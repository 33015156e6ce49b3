/* domain.h - registered domains by the Public Suffix List (libpsl, its built-in list). Pure; any thread. */
#pragma once

#include "base/span.h"

/* "a.b.example.co.uk" -> "example.co.uk", a suffix of `host`. An address, a single label or a public suffix
 * itself is its own registered domain. `host` is as in struct url (lower case, punycode). */
struct span domain_registered(struct span host);
