/* channel.h - the unit of crawl work: where it starts, what belongs to it, how deep it goes.
 *
 * A channel is a value: it can be packed, stored, sent and compared by id. Deciding whether a URL belongs to it is
 * pure. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "web/places.h"
#include "web/url.h"

#define CHANNEL_SEEDS_MAX 100000
#define CHANNEL_PATTERNS_MAX 1000
#define CHANNEL_LISTS_MAX 100

typedef enum channel_scope {
    SCOPE_SITE,   /* host and port of a seed, over http or https */
    SCOPE_DOMAIN, /* the registered domain of a seed */
    SCOPE_PREFIX, /* the folder of a seed */
} channel_scope;

struct channel;

struct channel_opts {
    const struct span *seeds; /* normalised http(s) URLs; copied */
    size_t seed_count;
    channel_scope scope;
    unsigned depth_max; /* links away from a seed; DESIGN's 64 unless told */
    const struct span
        *include; /* patterns over the whole URL: a glob, or "re:REGEX"; when any are given one must match; copied */
    size_t include_count;
    const struct span *exclude; /* none may match */
    size_t exclude_count;
    const struct span *lists; /* sitemaps and feeds, normalised http(s) URLs, wherever they are; copied. What they list
                                 belongs to it as far as it is in scope */
    size_t list_count;
};

/* ST_INVALID: a seed or list is no http(s) URL, or a pattern is bad; ST_LIMIT: too many. `why` says which. */
MUST_USE status channel_new(const struct channel_opts *opts, struct channel **out, struct buf *why);
void channel_free(struct channel *c); /* NULL is fine */

/* From seeds and scope: the same command gives the same channel. Never 0. */
uint64_t channel_id(const struct channel *c);
const struct channel_opts *channel_get_opts(const struct channel *c);

typedef enum channel_verdict {
    CHANNEL_YES,
    CHANNEL_OUT_OF_SCOPE,
    CHANNEL_NOT_INCLUDED,
    CHANNEL_EXCLUDED,
    CHANNEL_TOO_DEEP,
    CHANNEL_FORGOTTEN
} channel_verdict;

/* Seeds are always in scope; patterns apply to them too. *pattern (when given) is the one that excluded. One thread at
 * a time (regex). */
channel_verdict channel_check(struct channel *c, const struct url *u, unsigned depth, struct span *pattern);

/* The same of a sitemap: it need not be in scope, but of the registered domain of something that is, or one that it was
 * given, and no pattern has to match that pages must; none that excludes may. What it lists is judged like any link. */
bool channel_takes_list(struct channel *c, const struct url *u, unsigned depth);

/* Nothing of these places belongs to it, whatever else is said: CHANNEL_FORGOTTEN. Borrowed; NULL: none. */
void channel_refuse(struct channel *c, const struct places *places);

/* A seed redirected here: the site (or folder, or domain) of `u` belongs to the channel from now on. */
void channel_widen(struct channel *c, const struct url *u);

/* Takes over the places that `old`, an earlier form of the same channel, was widened to. */
void channel_adopt(struct channel *c, const struct channel *old);
/* Other patterns than `old`, an earlier form of the same channel, or less deep: of what it has found, not all may be
 * wanted any more. */
bool channel_is_narrower(const struct channel *c, const struct channel *old);
/* Something that was found once, and that its patterns or its depth leave out now. Start pages stay whatever they say,
 * as they are taken. */
bool channel_wants_no_more(struct channel *c, const struct url *u, unsigned depth);

void channel_pack(const struct channel *c, struct buf *out);
MUST_USE status channel_unpack(struct span packed, struct channel **out);
