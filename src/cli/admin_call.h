/* admin_call.h - the CLI's line to the coordinator of a data folder: its admin API, with the token that the running
 * coordinator keeps in the folder. */
#pragma once

#include "base/arena.h"
#include "cli/options.h"
#include "codec/json_tree.h"

/* "name=value&..." with what has to be encoded encoded; appended. Empty values are left out. */
void form_text(struct buf *form, const char *name, struct span value);
void form_number(struct buf *form, const char *name, uint64_t value);
/* The option's value under `name` when it was given. */
void form_option(struct buf *form, const char *name, const struct options *o, opt_id id);
/* A part of a path, encoded. */
void form_path(struct buf *path, struct span part);

/* Asks the coordinator of --data. `form` NULL: GET. Returns an exit code; when it is not EXIT_DONE it has complained,
 * `what` first. The answer is in *raw (owned by the caller) and, parsed, in *out. */
int admin_call(const struct options *o, const char *what, const char *path, const struct buf *form, struct arena *a,
               struct buf *raw, const struct json_node **out);
/* The same with a file as the body. */
int admin_upload(const struct options *o, const char *what, const char *path, struct span body, struct arena *a,
                 struct buf *raw, const struct json_node **out);
/* To standard output: the answer as it came with --json, else `text`. An exit code. */
int admin_show(const struct options *o, struct buf *text, struct buf *raw);
