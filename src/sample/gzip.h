/* gzip.h - gzip that every decoder takes, without a compressor: stored blocks. Pure. */
#pragma once

#include "base/buf.h"

void gzip_stored(struct span in, struct buf *out); /* appends */
