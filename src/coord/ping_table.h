/* ping_table.h - sites that announced changes: whose word is good, and what waits until that is known.
 *
 * Whoever announces shows a key, and the key must be found in a file on the site (web/indexnow.h). Until somebody has
 * looked, what was announced is held; then the key is good for a day, or bad for ten minutes.
 *
 *     put(site, key, URLs)   -> PING_HELD     the key is not known yet: next_ask() says where to look
 *     answer(key found)      -> the URLs held
 *     put(site, key, URLs)   -> PING_TAKEN    or PING_TOO_OFTEN within the same minute, PING_WRONG_KEY
 *
 * A minute goes between two announcements of a site that are taken, and between two looks at a key: so a stranger with
 * a wrong key neither makes a site be asked more often than that, nor keeps its owner from speaking for longer.
 * Everything has a ceiling; what is past it is refused, and of sites the one unheard for longest is forgotten. Reads no
 * clock; one thread. */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"
#include "web/indexnow.h"

#define PING_EVERY_MS (60ll * 1000)
#define PING_GOOD_MS (24ll * 3600 * 1000)
#define PING_BAD_MS (10ll * 60 * 1000)
#define PING_WAIT_MS (15ll * 60 * 1000) /* nobody looked for so long: what was held is dropped */
#define PING_SITES_MAX 4096
#define PING_KEYS_A_SITE 4
#define PING_HELD_MAX (16u << 20) /* bytes of URLs, of all sites */

typedef enum ping_answer {
    PING_TAKEN,     /* the URLs count at once */
    PING_HELD,      /* they will if the key is found */
    PING_WRONG_KEY, /* it was looked for, and is not there */
    PING_TOO_OFTEN,
    PING_FULL, /* too much is held already */
} ping_answer;

struct ping_table;
struct ping_table *ping_table_new(const struct sip_key *key);
void ping_table_free(struct ping_table *t); /* NULL is fine */

/* *retry_ms: PING_TOO_OFTEN and PING_FULL, when to try again. The announcement is copied as far as it is kept. */
ping_answer ping_table_put(struct ping_table *t, mono_ms now, const struct indexnow *n, int64_t *retry_ms);

/* A key that somebody should look for. */
struct ping_ask {
    uint64_t id;
    struct span host, url; /* until the table is called again */
};
/* ST_AGAIN: none waits. One is given out until ping_table_asked() or ping_table_later(). */
MUST_USE status ping_table_next_ask(struct ping_table *t, mono_ms now, struct ping_ask *out);
void ping_table_asked(struct ping_table *t, uint64_t id, uint64_t agent, uint64_t order); /* it is looked for */
void ping_table_later(struct ping_table *t, uint64_t id, mono_ms again);                  /* nobody can now */

/* What an agent found at the end of an order, at `url`: the text of the file, empty when there was none. `held` gets
 * the URLs that count now, one a line. False: nobody asked for that. */
bool ping_table_answer(struct ping_table *t, mono_ms now, uint64_t agent, uint64_t order, struct span url,
                       struct span file, struct buf *held);
/* The order came to nothing: nobody knows, and what was held is dropped. */
void ping_table_failed(struct ping_table *t, uint64_t agent, uint64_t order);
void ping_table_tick(struct ping_table *t, mono_ms now);

struct ping_counts {
    size_t sites, asked; /* asked: keys that are being looked for, or wait for it */
    size_t held_bytes;
};
void ping_table_count(const struct ping_table *t, struct ping_counts *out);
