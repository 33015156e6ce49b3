/* recrawl_print.h - the figures of runs of recrawling: a JSON object each (docs/formats/commands.md), or a table. */
#pragma once

#include "base/buf.h"
#include "sim/recrawl_run.h"

void recrawl_print_json(const struct recrawl_run_opts *o, const struct recrawl_run_result *r, struct buf *out);
/* One run a column; `n` results with their options. */
void recrawl_print_text(const struct recrawl_run_opts *const *o, const struct recrawl_run_result *const *r, size_t n,
                        struct buf *out);
