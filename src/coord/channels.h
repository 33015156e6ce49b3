/* channels.h - channels and the links into them. Inside src/coord only; lock held. */
#pragma once

#include "coord/state.h"

struct channel_form {
    struct channel *channel;           /* taken */
    struct span label, program, agent; /* agent: pinned to this one; empty: by strategy */
    summary_kind kind;
    bool wants_warc, is_paused, is_found, is_own;
    uint64_t expected_pages;
    struct recrawl_rule rule;
};
MUST_USE status channel_put(struct coord *c, struct channel_form *f, struct c_channel **out, struct buf *why);
void channel_remove(struct coord *c, struct c_channel *ch);
struct c_channel *channel_get(struct coord *c, uint64_t id);
/* Channels whose scope a URL is in, at most `max`. */
size_t channels_of_url(struct coord *c, const struct url *u, struct c_channel **out, size_t max);
/* A link into channels: a seed for whoever crawls them there. */
void channels_link(struct coord *c, const struct url *u);
/* All links into it that were told before, once more, for the hosts of a network, or (NULL) of all that the agent has.
 * Reads a file. */
void channel_tell_links(struct coord *c, struct c_channel *ch, const struct c_network *n, uint64_t agent);
void channels_discover(struct coord *c, const struct url *u);  /* makes a channel of its site */
void channel_know_link(struct c_channel *ch, uint64_t digest); /* a link out of it need not be sent again */
void channels_tick(struct coord *c, wall_ms now);
/* "Every so often": both at most and at least. 0: never. */
void channel_set_every(struct recrawl_rule *rule, int64_t every_ms);
int64_t channel_every_ms(const struct c_channel *ch); /* 0: nobody said so */
void channels_index(struct coord *c);                 /* after records_load */
/* After a start: links that nobody has followed yet, once more. */
MUST_USE status channels_tell_again(struct coord *c, struct buf *why);
MUST_USE status channels_adopt(struct coord *c, struct buf *why); /* adopt.c: of a folder that was crawled without us */
void channel_dispose(struct c_channel *ch);
void channel_add_task(struct c_channel *ch, struct c_task *t);
