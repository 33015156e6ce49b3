/* update.h - a newer orb-agent: is it signed, is it newer, where does it go, and which ones did not work.
 *
 *     DATA/bin/orb-agent-VERSION   checked
 *     DATA/bin/current             "VERSION\nDIGEST\nSIGNATURE\n" of the one that reported in
 *     DATA/bin/VERSION.ok          written by a new one once the coordinator has heard it
 *     DATA/bin/bad                 versions that did not, one a line
 *
 * The release key signs what wire/release.h says. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"
#include "wire/control.h"

#define UPDATE_BYTES_MAX (256ull << 20)
#define UPDATE_VERSION_MAX 32 /* digits and dots, as in 1.2.3 */
#define UPDATE_TRIAL_MS (5 * 60 * 1000)

/* Negative, 0 or positive, as numbers between dots compare. */
int version_compare(struct span a, struct span b);
bool version_is_good(struct span v);

/* May we have it at all? ST_REFUSED: no key, not signed by it, for another machine, not newer, or known to be bad;
 * ST_EXISTS: this is it; ST_INVALID. */
MUST_USE status update_check(const char *data, const struct update_order *o, const struct sign_public *key,
                             struct span own_version, struct buf *why);
/* Where its bytes are gathered, and where the checked file goes. */
void update_part_path(const char *data, struct span version, struct buf *out);
void update_path(const char *data, struct span version, struct buf *out);
/* All bytes are there: checks the digest and makes it a program. ST_CORRUPT: they are not what was ordered. */
MUST_USE status update_accept(const char *data, const struct update_order *o);

MUST_USE status update_mark_ok(const char *data, struct span version);
bool update_is_ok(const char *data, struct span version);
void update_clear_ok(const char *data, struct span version);
MUST_USE status update_mark_bad(const char *data, struct span version);
bool update_is_bad(const char *data, struct span version);
/* `o` as it was accepted. */
MUST_USE status update_set_current(const char *data, const struct update_order *o);
/* The path of a newer version that is checked, signed and not bad; false: there is none. */
bool update_current(const char *data, const struct sign_public *key, struct span own_version, struct buf *path);
