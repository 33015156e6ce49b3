/* calibrate.h - notices from ordinary requests that a network is not near its agent any more.
 *
 * Per network the round trip that is remembered from when it was given away, and what is measured since, smoothed, with
 * its deviation, of the path and of the whole request. Pure; the caller keeps struct calibration (plain data, stored as
 * it is packed) and passes the time.
 *
 *     20 21 20 50 20 19 20          one in between: nothing
 *     20 21 20 58 61 57 59          four in a row: decide anew, with 57 ms as what its agent has to offer
 *     20 22 24 ... 29 31 33 36      slowly, too: against what is remembered, not against yesterday
 *
 * One sample in fifty may be 30 ms too high for no reason. Feed the median of what an agent reports at a time where
 * there are several requests; single ones are safe too, but now and then bring a decision that changes nothing. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#define CALIBRATE_FACTOR 1.5
#define CALIBRATE_FLOOR_MS 10.0
#define CALIBRATE_TIMES                                                                           \
    4 /* three in a row are chance once in a few days of a thousand networks, four in four months \
       */
#define CALIBRATE_TIMES_PAPERS 2 /* "more than one time continuously" */
#define CALIBRATE_BACK_OFF_MS (3600 * 1000)
#define CALIBRATE_BACK_OFF_DOUBLINGS 7 /* at most 128 hours */
#define CALIBRATE_CALM_DAYS 7          /* without a wish: back-off begins anew */

typedef enum calibrate_rule {
    CALIBRATE_PATH = 1, /* ours: the path's round trip; a server that answers slowly over a good path is no reason */
    CALIBRATE_PAPERS,   /* theirs: total time of a page against its own history, more than once in a row */
} calibrate_rule;
bool calibrate_rule_parse(struct span name, calibrate_rule *out); /* "path", "papers" */
const char *calibrate_rule_name(calibrate_rule r);

struct calibrate_opts {
    calibrate_rule rule; /* 0: CALIBRATE_PATH */
    double factor;       /* 0: CALIBRATE_FACTOR */
    double floor_ms;     /* 0: CALIBRATE_FLOOR_MS; the papers have none */
    unsigned times;      /* in a row; 0: CALIBRATE_TIMES, with the papers' rule CALIBRATE_TIMES_PAPERS */
    int64_t back_off;    /* ms after a decision before the next may be wished; 0: an hour. Doubles with each further one
                            until there was calm */
};

struct calibration {
    float path_ms, path_dev_ms, total_ms, total_dev_ms; /* smoothed; 0: nothing yet */
    float base_ms;                                      /* remembered: of the path; with the papers' rule the total */
    float high_ms;                                      /* smallest of those in a row that were too high */
    uint32_t samples;                                   /* since the last decision */
    uint8_t high;                                       /* in a row */
    uint8_t decisions;                                  /* in a row, without calm between them */
    wall_ms quiet_until;
};

/* A summary of requests, or one of them. `total_ms` < 0: not known. True: the network should be decided anew; it stays
 * true until calibrate_decided() or a good one. */
bool calibrate_note(struct calibration *c, const struct calibrate_opts *o, double path_ms, double total_ms,
                    wall_ms now);
/* What its agent is worth now, for the question to the strategy; < 0: nothing is known. */
double calibration_ms(const struct calibration *c);
/* Should a network move that would gain so much? At least the floor; with the papers' rule anything. */
bool calibrate_is_worth(const struct calibrate_opts *o, double was_ms, double would_be_ms);
/* The rule in numbers, for people: too high is above so much, where `base_ms` is remembered; so often in a row; a move
 * gains at least the floor. */
double calibrate_limit_ms(const struct calibrate_opts *o, double base_ms);
unsigned calibrate_times(const struct calibrate_opts *o);
double calibrate_floor_ms(const struct calibrate_opts *o);
/* It was decided anew, or given away for the first time: it is `ms` (< 0: not measured) from whoever has it now, the
 * same one perhaps. */
void calibrate_decided(struct calibration *c, const struct calibrate_opts *o, double ms, wall_ms now);

#define CALIBRATION_PACKED_BYTES 39
void calibration_pack(const struct calibration *c, struct buf *out);
/* ST_CORRUPT, ST_NEWER. */
MUST_USE status calibration_unpack(struct span packed, struct calibration *out);
