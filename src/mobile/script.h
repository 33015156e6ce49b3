/* script.h - one Lua script and the pages it is asked about. Lua inside; part of orb-worker only.
 *
 * The script gets base functions, string, table, math and utf8, without those that load code, reach files or processes,
 * or look into the interpreter; and emit, follow, skip and summary (docs/programs.md). It is stopped when it has run
 * too many instructions or holds too much memory. What it does inside one C function (string.find with an evil pattern)
 * cannot be stopped from here: the process is, by its CPU alarm or by the master. One thread. */
#pragma once

#include "base/buf.h"
#include "mobile/page.h"

struct script;

struct script_limits {
    uint64_t memory_bytes;
    uint64_t steps_max; /* instructions a page, counted in thousands; as many for the script's own start */
};

/* Runs the script once, which defines page(p). ST_INVALID: it has an error, or no page; ST_LIMIT. *why says which. */
MUST_USE status script_new(const struct script_limits *limits, struct span name, struct span source,
                           struct script **out, struct buf *why);
void script_free(struct script *s); /* NULL is fine */
/* Asks it about a page. *out is borrowed until the next call. After ST_LIMIT the script should not be asked again. */
void script_page(struct script *s, const struct program_page *page, struct program_result *out);
