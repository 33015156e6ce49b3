/* places.h - places on the web as people name them, and sets of them: what is to be forgotten, who wants to be left
 * alone.
 *
 *     https://example.org/a         a page, over http and https
 *     https://example.org/a*        everything whose URL begins just like this, with its '?' and dots
 *     example.org                   a host, whatever the port; https://example.org is the same
 *     example.org:8080              that port of it only
 *     .example.org, *.example.org   a domain with all hosts under it
 *
 * Pure. A set may be read by any thread while nobody adds to it. */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"
#include "web/url.h"

#define PLACES_MAX 1000000
#define PLACES_TEXT_MAX 4096         /* of one */
#define PLACES_LIST_MAX (256u << 20) /* of a whole list */

typedef enum places_kind { PLACES_PAGE, PLACES_FOLDER, PLACES_HOST, PLACES_DOMAIN } places_kind;

/* All text is in the arena it was parsed into. */
struct places_item {
    places_kind kind;
    struct span text; /* in the one way it is written */
    struct span host;
    struct span rest; /* PAGE, FOLDER: path and query */
    int port;         /* PAGE, FOLDER: 0 for the scheme's own; HOST: 0 for any */
    struct places_item *next;
};

/* ST_INVALID: it names no place; `why` (may be NULL) says what is wrong. ST_LIMIT: too long. */
MUST_USE status places_parse(struct arena *a, struct span text, struct places_item *out, struct buf *why);
/* `u` is normalised, as all URLs that are stored or queued, perhaps with the parameters that url_norm_default drops: it
 * is in the place as it stands, or without them. */
bool places_item_has(const struct places_item *p, const struct url *u);

struct places;

struct places *places_new(const struct sip_key *key);
void places_free(struct places *ps); /* NULL is fine */
/* Once is enough: the same again changes nothing. As places_parse; ST_LIMIT also for too many. */
MUST_USE status places_add(struct places *ps, struct span text, struct buf *why);
size_t places_count(const struct places *ps); /* NULL: 0 */
/* Was this very place added? By the one way it is written. */
bool places_have(const struct places *ps, struct span text);
/* A place of the set that has the URL; NULL: none, also when `ps` is. */
const struct places_item *places_find(const struct places *ps, const struct url *u);
/* The same of an address as somebody wrote it; one that is no address of the web is nowhere. */
bool places_have_address(const struct places *ps, struct span address);
/* The whole host is in it, at every port. */
bool places_have_host(const struct places *ps, struct span host);

/* A list: a place a line, and behind it, after blanks, whatever its keeper wants to remember (a date, a mail address).
 * '#' begins a comment. Steps to the next line that names something; *note has what stands behind the place. */
bool places_next_line(struct span *rest, unsigned *line, struct span *place, struct span *note);
/* All of a list. ST_INVALID: a line names no place; `why` says which and why. */
MUST_USE status places_add_list(struct places *ps, struct span list, struct buf *why);
