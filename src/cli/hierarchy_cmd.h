/* hierarchy_cmd.h - the parts of `orb hierarchy`: one function a verb, and what they share. */
#pragma once

#include "cli/command.h"
#include "place/hierarchy.h"
#include "store/file.h"

int hierarchy_cmd_build(const struct options *o);
int hierarchy_cmd_lookup(const struct options *o);
int hierarchy_cmd_stats(const struct options *o);
int hierarchy_cmd_diff(const struct options *o);
int hierarchy_cmd_fetch(const struct options *o);

/* A hierarchy in a mapped file. */
struct hierarchy_file {
    struct mapped *mapped;
    struct hierarchy *h;
};

/* The file of --hierarchy, else `hierarchy` in the data folder. */
void hierarchy_file_path(const struct options *o, struct buf *out);
/* Complains by itself; `what` is the verb. */
int hierarchy_file_open(const char *what, const char *path, struct hierarchy_file *out);
void hierarchy_file_close(struct hierarchy_file *f);

/* "192.0.2.0/24" where the range is a prefix, else "192.0.2.0-192.0.2.5"; appended. */
void put_range(struct buf *out, const struct hierarchy_node *n);
struct json;
/* The fields of a node, without brackets around them. */
void put_node_json(struct json *j, const struct hierarchy *h, const struct hierarchy_node *n);
/* On a terminal: one line that is written over; `fmt` NULL takes it away. */
void show_progress(const char *fmt, ...) PRINTF_LIKE(1, 2);
