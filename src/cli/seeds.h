/* seeds.h - the start pages of a crawl, from what people type. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "cli/options.h"
#include "web/url.h"

struct seeds {
    struct span *urls; /* normalised, in the arena given */
    size_t n, cap;
    bool has_public; /* some seed is neither localhost nor an address that is not public */
};

/* What somebody typed as a URL: with a scheme where it has none (https, or http for localhost and addresses that are
 * not public). ST_INVALID: no URL that can be crawled; `why` says what is wrong and what to do. */
MUST_USE status seed_parse(struct arena *a, struct span typed, const struct url_norm *norm, struct url *out,
                           struct buf *why);
/* From the arguments and --seeds; without any of them, from --sitemap. Complains by itself; returns an exit code. */
int seeds_gather(const struct options *o, struct arena *a, const struct url_norm *norm, struct seeds *out);
/* From a file, for another command than crawl. The same otherwise. */
int seeds_read(const char *command, const char *path, struct arena *a, const struct url_norm *norm, struct seeds *out);
/* From --sitemap; the same otherwise. */
int sitemaps_gather(const struct options *o, struct arena *a, const struct url_norm *norm, struct seeds *out);
void seeds_done(struct seeds *s);

/* localhost, or a literal address that is not public. */
bool host_is_private(struct span host);
