/* change_words.h - how often something changes, as people read it: on pages, in explain, in lists. Pure. */
#pragma once

#include "base/buf.h"

/* "3 days": between two changes. */
void change_words_gap(struct buf *out, double rate_a_day);
/* "about every 3 days, between 1 and 8": as likely as not it is between rate / factor and rate x factor. A factor that
 * is so large that this says nothing is said to be that. */
void change_words_range(struct buf *out, double rate_a_day, double factor);
