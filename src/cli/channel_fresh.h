/* channel_fresh.h - how channels are kept fresh: parts of cmd_channel. Exit codes. */
#pragma once

#include "base/arena.h"
#include "cli/options.h"

int channel_show(const struct options *o, struct arena *a);    /* ID: everything that is known of one */
int channel_recrawl(const struct options *o, struct arena *a); /* [STRATEGY]: shows, or switches */
