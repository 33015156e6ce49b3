/* page_rate.h - how often one page changes, in the eight bytes that are kept with it (page.rate in store/store.h).
 *
 * They are a struct change_rate in seconds: what its visits say beyond page_prior. 0 means nothing. The bytes may come
 * from another machine: whatever they are, what is read from them is a rate. Pure. */
#pragma once

#include <stdint.h>

#include "plan/change_rate.h"

/* A page that nothing is known of. More than a fifth of the web's pages changed within a day, half of them within 50
 * days (Cho and Garcia-Molina, VLDB 2000); that is the gamma that passes through both. */
extern const struct change_prior page_prior;

uint64_t page_rate_pack(const struct change_rate *c);
struct change_rate page_rate_unpack(uint64_t packed);
/* Mean days between two changes. *factor (when given): between days / factor and days x factor as likely as not, one
 * deviation of its logarithm. */
double page_rate_days(uint64_t packed, double *factor);
/* A visit `gap_ms` after the one before: a store_rate_fn. When the page changed is believed unless it is said to be
 * just now: servers that make their pages say so of every answer, and one change in a second would be more than a year
 * of visits could outweigh. */
uint64_t page_rate_visit(uint64_t packed, int64_t gap_ms, bool has_changed, int64_t since_ms);
