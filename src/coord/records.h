/* records.h - what records.c takes from its other half; for src/coord/records*.c only. */
#pragma once

#include "coord/state.h"

/* As store/fleet.h calls them; arg is the coordinator. */
status load_host(void *arg, struct span key, struct span packed);
status load_network(void *arg, struct span key, struct span packed);

/* What cannot be written down outside of a transaction is remembered, and written by records_save_again. */
void record_put(struct coord *c, fleet_kind kind, struct span key, struct span packed, const char *doing);

/* The record of a task without the seeds that are forgotten; false: it has none of them. */
bool record_filter_task(struct span packed, const struct places *places, struct buf *out);
