/* json_read.h - reads a flat JSON object of an API request (jansson inside): names with texts, numbers, truths and
 * lists of texts; nested objects are refused. Pure. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#define JSON_READ_BYTES_MAX (1u << 20)
#define JSON_READ_MEMBERS_MAX 256

/* In the order written; a list gives one pair an element, under the same name. Numbers as the shortest text that reads
 * back the same; true and false as "true" and "false"; null is left out. */
struct json_pair {
    struct span name, value;
};

/* Made in the arena. ST_INVALID: no such object (*why says where); ST_LIMIT. */
MUST_USE status json_read(struct arena *a, struct span text, struct json_pair **out, size_t *count, const char **why);
