/* pings.h - POST /api/v1/ping: sites announce that pages of theirs have changed, by IndexNow (docs/formats/serve.md).
 *
 * Anybody may call. Only sites that some channel covers are listened to, once a minute each, and only when a file on
 * the site has the key that the announcement shows: the agent that has the site's network looks for it, as politely as
 * for a comparison. Then the channel moves forward (recrawling_told) and its agent is told which pages to look at
 * first. Nothing is asked for that would not have been: the ceiling of the channel holds. What waits for its key is in
 * memory alone: a restart forgets it, and the pages have their turn as ever. */
#pragma once

#include "coord/state.h"

struct pings;
struct pings *pings_new(const struct sip_key *key);
void pings_free(struct pings *p); /* NULL is fine */

/* The httpd's callbacks. */
bool pings_is_ours(struct span target);
bool pings_admit(struct coord *c, const struct httpd_request *req, struct httpd_admission *adm,
                 struct httpd_answer *ans);
void pings_handle(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans);

/* ---- lock held ---- */
/* What came of an order that may be one of ours. */
void pings_outcome(struct coord *c, const struct c_agent *a, const struct outcome *o);
void pings_tick(struct coord *c, mono_ms now);

/* Since the coordinator started. */
struct pings_counts {
    uint64_t taken, held, refused; /* announcements */
    uint64_t pages;                /* that agents were told of */
    size_t keys_waiting;           /* now: being looked for */
};
void pings_count(const struct coord *c, struct pings_counts *out);
