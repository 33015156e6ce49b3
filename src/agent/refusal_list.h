/* refusal_list.h - places that this agent asks nothing of: what the coordinator's operators forgot or were asked to
 * leave alone, and what the machine's owner refuses.
 *
 * The coordinator's list is kept in DATA/refused, one place a line, so that it holds after a restart too. */
#pragma once

#include "agent/conf.h"
#include "wire/control.h"
#include "web/places.h"

#define REFUSED_BYTES_MAX (64u << 20)

/* A piece of the coordinator's list. Putting it twice changes nothing. ST_INVALID: a line names no place; ST_LIMIT,
 * ST_IO, ST_FULL. */
MUST_USE status refusal_list_put(const char *data, const struct refuse_order *o, struct buf *why);
/* Both lists together; NULL: nothing is refused. */
MUST_USE status refusal_list_load(const char *data, const struct conf *conf, struct places **out);
/* The owner's alone, for what the coordinator asks for beside the crawl. NULL as above. */
MUST_USE status refusal_list_own(const struct conf *conf, struct places **out);
