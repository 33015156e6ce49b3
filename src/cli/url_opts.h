/* url_opts.h - what --keep-params and --drop-param make of URLs. */
#pragma once

#include "cli/options.h"
#include "web/url.h"

#define URL_BYTES_MAX 2048 /* DESIGN: longer URLs are not crawled */

/* The list lives in the arena; texts are borrowed from the options. */
struct url_norm url_norm_from(const struct options *o, struct arena *a);
