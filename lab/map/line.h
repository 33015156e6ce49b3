/* line.h - the delay line: packets on their way, out again when they are due. Pure: the time is passed in.
 *
 * Two rules. A packet leaves at the time that it was given, or later; packets of one flow leave in the order in which
 * they came, whatever their times: jitter, and a matrix that changes meanwhile, must not swap two segments of a
 * connection, because TCP takes that for loss. For the second rule the line remembers, for each flow with packets on
 * the way, when the last of them is due; a flow whose last is out needs no memory.
 *
 * Packets live in a pool that grows to opts.packets_max and is never given back. One thread. */
#pragma once

#include "base/heap.h"
#include "base/status.h"
#include "lab/map/packet.h"

typedef int64_t mono_ns;

struct line_packet {
    struct heap_node due;     /* key: mono_ns */
    struct line_packet *next; /* while free */
    unsigned link;            /* where it goes out */
    uint16_t n;
    bool is_queued; /* for the caller, who may put it back once: false after line_put */
    unsigned char data[PACKET_MAX];
};

struct line;
struct line *line_new(size_t packets_max); /* 0: 131,072, which is 200 MiB when all are in use */
void line_free(struct line *l);            /* NULL is fine */

/* A copy of `packet` leaves by `link` at `due`. ST_LIMIT: too many are on the way, or it is too long; it is lost. */
MUST_USE status line_put(struct line *l, struct span packet, unsigned link, uint64_t flow, mono_ns due, mono_ns now);
/* The next packet due at `now`, in order of time; NULL: none. The caller gives it back with line_done. */
struct line_packet *line_take(struct line *l, mono_ns now);
void line_done(struct line *l, struct line_packet *p);
/* Instead of line_done: it is not through yet, and leaves at `due`. The order within a flow is the caller's now. */
void line_again(struct line *l, struct line_packet *p, mono_ns due);
/* When the next is due; INT64_MAX: the line is empty. */
mono_ns line_next(const struct line *l);
size_t line_count(const struct line *l);
