/* zip_stream.h - zstd, piece by piece, as one frame with a checksum. Pure; one thread. */
#pragma once

#include "base/buf.h"

struct zip_stream;
struct zip_stream *zip_stream_new(int level);
void zip_stream_free(struct zip_stream *z); /* NULL is fine */
/* Appends what is ready. */
void zip_stream_put(struct zip_stream *z, struct span piece, struct buf *out);
void zip_stream_end(struct zip_stream *z, struct buf *out);
