/* admin_call.h - a few calls to the administration of a coordinator on this machine, for benchmarks: the token is read
 * from its folder. One thread each. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

struct admin_line;

MUST_USE status admin_line_new(const char *data_dir, struct admin_line **out);
void admin_line_free(struct admin_line *l); /* NULL is fine */

/* POST with a flat JSON object, or GET when `json` is NULL. Ends the program unless the answer is 200. The answer is
 * good until the next call. */
struct span admin_ask(struct admin_line *l, const char *path, const char *json);
/* The number (or text) after "name" in what follows the first "part"; part "" : anywhere. 0 (or empty): not there. */
double admin_number(struct span answer, const char *part, const char *name);
struct span admin_text(struct span answer, const char *name);
