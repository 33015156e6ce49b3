/* url_host.h - the host parser of the URL Standard; for url.c. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Appends the serialised host. `is_opaque`: the scheme is not special. ST_INVALID: not a host; `out` may then hold
 * part of one. `input` is valid UTF-8. */
MUST_USE status url_host_parse(struct span input, bool is_opaque, struct buf *out);

/* UTS 46 ToASCII for a domain with at least one byte outside ASCII: non-transitional, CheckHyphens, VerifyDnsLength and
 * UseSTD3ASCIIRules off. Appends to `out`; false: not a domain. */
bool url_idna_to_ascii(struct span domain, struct buf *out);
