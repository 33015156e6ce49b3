/* media.h - media types in the words of people: what a file is called, and what a search may ask for.
 *
 *     application/zip, "https://a.org/data.zip"  ->  zip, archive, "ZIP archive"
 *
 * Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"

/* Everything is static. */
struct media {
    const char *type;  /* as in Content-Type, lower case */
    const char *name;  /* short: what `type:` asks for, and the usual ending of such files */
    const char *group; /* page, text, document, sheet, slides, archive, image, audio, video, data, program, font */
    const char *words; /* for people */
};

/* By the type; where servers do not know it (application/octet-stream, none at all) by the ending of the URL's path.
 * NULL: neither is known. */
const struct media *media_find(struct span content_type, struct span url);
/* What somebody means who writes it: a name, a usual ending, a group, or a whole type. The name or group (static) that
 * pages are found by, NULL: it means nothing. */
const char *media_asked(struct span word);

/* "ZIP archive, 1.2 MB"; bytes 0: the size is not known. */
void media_describe(struct buf *out, struct span content_type, struct span url, uint64_t bytes);
void media_put_size(struct buf *out, uint64_t bytes); /* "1.2 MB" */
/* The last part of the URL's path, %xx decoded where that makes text; empty where the path ends with a slash. In the
 * arena. */
struct span media_file_name(struct arena *a, struct span url);
