/* asset.h - the files of ui/ and the chart library, which are part of the program (tools/embed.c put them there).
 *
 * Their addresses carry a hash of their content: /static/style-0123456789abcdef.css. Immutable once made; any thread.
 */
#pragma once

#include "base/span.h"
#include "base/status.h"

/* As tools/embed.c writes it. */
struct asset_file {
    const char *name, *hash;
    const unsigned char *gzip;
    size_t gzip_bytes, plain_bytes;
};
extern const struct asset_file asset_files[];
extern const size_t asset_file_count;

struct asset {
    const char *name;
    struct span plain, gzip;
    const char *type; /* for Content-Type */
    char path[96];    /* "/static/..." */
};

struct assets;
MUST_USE status assets_new(struct assets **out); /* ST_CORRUPT: the program file is damaged */
void assets_free(struct assets *a);              /* NULL is fine */
const struct asset *asset_by_name(const struct assets *a, const char *name); /* must be there */
const struct asset *asset_by_path(const struct assets *a, struct span path); /* NULL: none */
