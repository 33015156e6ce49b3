/* sanity.h - what reports of round trips tell about a site that answers from several places, and about liars.
 *
 * A round trip of `ms` from a place means that the site is no farther from it than light gets in fibre
 * (GEO_KM_PER_MS): a circle on the globe. Circles are drawn SANITY_SPOT_KM wider, for a declared place is a city, not
 * a rack. One site in one place lies in all circles:
 *
 *     Paris 4 ms, Oslo 30 ms, Tokyo 240 ms     all three meet: fine
 *     Paris 4 ms, Tokyo 5 ms                   never meet: two places, or one of them lies; nobody can say: replicated
 *     Paris 4 ms, Oslo 30 ms, Tokyo 5 ms       without Tokyo they meet, and only without Tokyo: its report is refused
 *     Paris 4 ms, Oslo 5 ms, Tokyo 5 ms        whoever is left out, they do not meet: replicated
 *
 * A refused report is not used and nothing more: it may come from a mirror that only one agent is near to, who then
 * loses a network that others reach as well. Who lies is told by second looks. Pure; any thread. */
#pragma once

#include "base/siphash.h"
#include "place/addr.h"
#include "place/geo.h"
#include "place/hierarchy.h"

#define SANITY_SPOT_KM                                                                                               \
    100.0                    /* a declared place may be so much off; also covers what a sphere is off (0.5 %) nearby \
                              */
#define SANITY_WITNESSES 2   /* agree before a third is refused */
#define SANITY_ONE_IN 20     /* networks won that are looked at again */
#define SANITY_DETOUR 2.0    /* a path may be so much longer than the way over the other agent, */
#define SANITY_SLACK_MS 50.0 /* and so much more */
#define SANITY_BAD_LOOKS 3   /* make a liar, when they are a third of all */

struct sanity_report {
    uint64_t agent;
    double ms; /* the smallest of the samples; < 0: no answer */
    bool has_spot;
    struct spot spot;    /* declared */
    struct addr reached; /* as the agent resolved the name */
    bool is_trusted;     /* not on probation: counts against others */
    bool is_refused;     /* written by sanity_judge */
};

typedef enum sanity_kind {
    SANITY_ONE_PLACE,
    SANITY_NETWORKS, /* agents reached different networks of one family */
    SANITY_LIGHT,    /* round trips that beat light, unless there are several places */
} sanity_kind;

struct sanity_finding {
    sanity_kind kind;
    size_t a, b; /* NETWORKS: two reports that show it */
    size_t refused;
};
/* Of several reports of one agent the last counts. Reports on probation count where fewer than SANITY_WITNESSES are
 * trusted. h may be NULL: networks are /24 and /48. */
void sanity_judge(const struct hierarchy *h, struct sanity_report *reports, size_t count, struct sanity_finding *out);

/* ---- second looks ---- */

/* Should a network that the agent won be probed from elsewhere too? The key is the coordinator's secret, so that agents
 * cannot tell which ones are safe to lie about. */
bool sanity_wants_look(const struct sip_key *key, const struct network *n, uint64_t agent);
/* By whom: an index below `count` (> 0) into those that are there, the winner not among them. */
size_t sanity_looker(const struct sip_key *key, const struct network *n, uint64_t agent, size_t count);

typedef enum sanity_look {
    LOOK_GOOD,
    LOOK_BAD,    /* the claim cannot be true, or hardly */
    LOOK_UNSURE, /* no answer, another network was reached, or the site is in several places */
} sanity_look;

struct sanity_second {
    struct sanity_report claim, look;
    double between_ms; /* round trip between the two agents; < 0: not known */
    bool is_replicated;
};
/* BAD: the two circles do not meet; or the second agent's round trip is longer than the way over the first one's place,
 * SANITY_DETOUR times and SANITY_SLACK_MS. Without between_ms that way is taken as 2.5 times as long as light needs,
 * the worst of usual paths, and 20 ms. */
sanity_look sanity_judge_look(const struct hierarchy *h, const struct sanity_second *s);
/* After so many looks at what it won. */
bool sanity_is_liar(uint64_t good, uint64_t bad);
