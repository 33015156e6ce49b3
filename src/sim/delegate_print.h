/* delegate_print.h - the figures of a run for people and for programs (docs/formats/sim.md). Pure; appends. */
#pragma once

#include "base/buf.h"
#include "sim/delegate_run.h"

/* `plain` is the same run without capacity, when there was one with; NULL: there was none. */
void delegate_print_json(const struct delegate_run_opts *o, const struct delegate_figures *f,
                         const struct delegate_figures *plain, struct buf *out);
void delegate_print_text(const struct delegate_run_opts *o, const struct delegate_figures *f,
                         const struct delegate_figures *plain, struct buf *out);
