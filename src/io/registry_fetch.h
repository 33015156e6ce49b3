/* registry_fetch.h - where the address registries publish their files, and getting them.
 *
 * The statistics of all five (who has which range, by opaque ids) are a few MB each and change daily; the databases of
 * objects, with names, are some hundred MB, and not all registries give theirs away. Blocking. */
#pragma once

#include "io/download.h"
#include "place/hierarchy.h"

struct registry_source {
    registry_name registry;
    const char *url;
    bool is_rpsl; /* a database of objects */
};

extern const struct registry_source registry_sources[];
extern const size_t registry_source_count;

/* "delegated-arin-extended-latest": what it is called on the disk; no two have the same. */
const char *registry_source_name(const struct registry_source *s);
/* Gets it into the folder `dir`, which is there. `from`: in place of the folder that the registry has it in, such as
 * "http://127.0.0.1:8080/files"; NULL: the registry's. `o` has all but url and path. As download(). */
MUST_USE status registry_fetch(const struct registry_source *s, const char *dir, const char *from,
                               const struct download_opts *o, struct download_result *out, struct buf *why);
