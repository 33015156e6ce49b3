/* registry_build.h - a folder of registry files into one hierarchy: what `orb hierarchy build` and a coordinator that
 * refreshes its own do. Blocking; any thread. */
#pragma once

#include "io/registry_files.h"

#define REGISTRY_PATHS_MAX 10000u

/* Paths, owned. */
struct registry_paths {
    char **list;
    size_t count, cap;
};
/* Adds the files of a folder in the order of their names; not what download() keeps beside them (.http, .part), nor
 * hidden ones. ST_IO with errno; ST_LIMIT. */
MUST_USE status registry_paths_add_folder(struct registry_paths *p, const char *dir);
void registry_paths_add(struct registry_paths *p, struct span path);
void registry_paths_done(struct registry_paths *p);

struct registry_built {
    struct buf bytes; /* the file's */
    struct hierarchy_figures figures;
    struct registry_file *files; /* one a path, as far as they were read; their paths are borrowed */
    size_t failed;               /* that could not be read: its place; count: the names were too many */
};
/* As registry_file_add. `made`: goes into the file. Fill *out with zeros before, and registry_built_done() in any case.
 */
MUST_USE status registry_build(const struct registry_paths *p, const struct registry_watch *watch, wall_ms made,
                               struct registry_built *out);
void registry_built_done(struct registry_built *b);
