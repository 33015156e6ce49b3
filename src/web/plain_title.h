/* plain_title.h - the title of a text that has none: its first line that says something. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

#define PLAIN_TITLE_MAX 160 /* bytes; a longer line is a paragraph, and is cut between words */

/* Of valid UTF-8. Lines without a letter or digit ("=====") are passed over. Empty: there is none in the first
 * kilobytes. In the arena. */
struct span plain_title(struct arena *a, struct span text);
