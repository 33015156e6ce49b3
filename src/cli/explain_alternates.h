/* explain_alternates.h - the part of `orb explain` that only the index knows: which pages a page calls its own versions
 * in other languages and for other regions. */
#pragma once

#include "base/buf.h"

/* Appends a line each for people to *lines, and a JSON list to *json; neither when the page names none, or nothing can
 * be searched. */
void explain_alternates(const char *dir, struct span url, struct buf *lines, struct buf *json);
