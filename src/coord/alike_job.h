/* alike_job.h - a coordinator looks for near-duplicates now and then (apply/alike.h), in a thread of its own, while
 * packages go on being applied.
 *
 * A run costs time that grows with all pages, not with the new ones: so it begins when a fiftieth of the pages is new
 * and no package waits, and in any case an hour after the last one if anything is new. */
#pragma once

#include <stdbool.h>

#include "base/log.h"
#include "base/siphash.h"
#include "base/status.h"

struct alike_job;

struct alike_job *alike_job_new(const char *data_dir, const struct sip_key *key, const struct log *log);
void alike_job_free(struct alike_job *j); /* gives up a run under way; NULL is fine */

/* Begins a run if one is due. `last` is the number of the newest content, `docs` how many pages can be searched. From
 * one thread, as often as it likes. */
void alike_job_poke(struct alike_job *j, mono_ms now, bool is_idle, uint64_t last, uint64_t docs);
