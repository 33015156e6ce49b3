/* fetch_one.h - one page from the web, for a command that waits for it: robots.txt asked first, redirects followed.
 *
 * As polite as a crawl: robots.txt of every site on the way is obeyed, and a second passes between two requests to
 * a public address. */
#pragma once

#include "base/buf.h"
#include "cli/options.h"

struct fetched {
    struct buf url; /* where the redirects led to */
    int http_status;
    struct buf headers;      /* "Name: value\n" */
    struct buf content_type; /* as received */
    struct buf body;         /* decoded */
};

/* Complains by itself and returns an exit code; `what` is the command's name. Options of the command say who asks and
 * how. */
int fetch_one(const struct options *o, const char *what, struct span url, struct fetched *out);
void fetched_done(struct fetched *f);
/* The User-Agent line that the options ask for; appended. */
void fetch_one_agent(const struct options *o, struct buf *out);
