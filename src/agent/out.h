/* out.h - where log lines go (a file, else standard error) and the one line of progress on a terminal. */
#pragma once

#include "base/log.h"
#include "crawl/crawl.h"

struct out;

struct out_opts {
    const char *path; /* NULL: standard error */
    log_level level;
    bool has_line; /* progress */
};

/* NULL: the file cannot be opened; errno says why. */
struct out *out_new(const struct out_opts *o);
void out_free(struct out *o); /* NULL is fine */
const struct log *out_log(const struct out *o);
void out_progress(void *out, const struct crawl_stats *s, const char *doing);
