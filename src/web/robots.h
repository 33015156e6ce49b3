/* robots.h - what a site's robots.txt allows us (RFC 9309), with Crawl-delay and Sitemap lines.
 *
 * Parsing keeps only the groups that concern one product token, so a parsed file is small and can be kept for each of
 * many sites. Matching one rule is linear in rule plus path. Owns its memory; read-only after parsing, any thread.
 *
 * Where RFC 9309 leaves room:
 * - A product token is the leading run of letters, digits, '-' and '_' of a User-agent value (the RFC's grammar has no
 *   digits; real tokens do), compared whole and without case. "*" is everybody. Groups of one token are merged.
 * - Only Allow and Disallow lines end the User-agent lines of a group; other and unknown lines do not (2.2.4).
 * - The longest rule wins by octets of its normalised pattern, wildcards included; Allow wins a tie.
 * - Before comparing, unreserved characters are decoded and all that no URI holds is encoded, on both sides; %2F and
 * the other reserved characters stay apart from their plain form in a path. In a query ":/?#[]@" and their encodings
 * are equal, as table 1 of 2.2.2 has it. "%2A" and "%24" in a rule match '*' and '$'.
 * - A file in UTF-16 with a byte order mark is read as such. Line ends are CR, LF or CRLF.
 * - Misspelt keys that are common on real sites count ("useragent", "dissalow"); a line without a colon does not.
 * - Crawl-delay belongs to the User-agent lines above it; of several the longest holds.
 * - A rule that starts with neither '/' nor '*' can match nothing and is dropped, but ends the User-agent lines. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define ROBOTS_BYTES_MAX (500 * 1024) /* RFC 9309 2.5: the rest of the file is ignored, a line cut in two as well */
#define ROBOTS_RULES_MAX 20000        /* later ones are ignored */
#define ROBOTS_SITEMAPS_MAX 100
#define ROBOTS_SITEMAP_BYTES_MAX 2048
#define ROBOTS_DELAY_MS_MAX (INT64_C(86400) * 1000) /* longer ones count as this */

struct robots;

/* `agent` is a product token ("orbweaver") or a full user-agent line, whose product token is used. Never fails: what is
 * not understood is skipped. */
struct robots *robots_parse(struct span body, struct span agent);
/* Everything allowed (no robots.txt), or everything disallowed (5xx). */
struct robots *robots_all(bool allowed);
void robots_free(struct robots *r); /* NULL is fine */

struct robots_verdict {
    bool allowed;
    struct span rule; /* "Disallow: /private", borrowed from the robots; empty when no rule matched */
    unsigned line;    /* of the rule in the file, 1-based; 0 when no rule matched */
};

/* `target` is path and query, as in url_request_target(). "/robots.txt" itself is always allowed. */
struct robots_verdict robots_check(const struct robots *r, struct span target);

/* One path pattern against one target: what robots_check() does for each rule. *steps, when given, grows by the octets
 * looked at: never more than those of both together (normalised, and twice when there is a query). */
bool robots_match(struct span pattern, struct span target, uint64_t *steps);

/* -1: no (valid) Crawl-delay line for us. */
int64_t robots_crawl_delay_ms(const struct robots *r);
size_t robots_rule_count(const struct robots *r);
size_t robots_sitemap_count(const struct robots *r);          /* each once */
struct span robots_sitemap(const struct robots *r, size_t i); /* as written; may be relative; borrowed */
size_t robots_bytes(const struct robots *r);                  /* memory held */

/* A form that robots_unpack() reads back to the same verdicts, delay and line numbers. For checkpoints. */
void robots_pack(const struct robots *r, struct buf *out);
MUST_USE status robots_unpack(struct span packed, struct robots **out);
