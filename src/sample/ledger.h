/* ledger.h - who asked for what, when, and what they got. Locks for itself. */
#pragma once

#include <pthread.h>

#include "base/buf.h"
#include "sample/sample.h"

struct ledger_row {
    int64_t at_us;
    uint64_t text_at; /* into `text`: host, then target */
    uint32_t target_bytes;
    uint16_t host_bytes;
    int16_t status;
};

struct ledger {
    pthread_mutex_t lock;
    struct ledger_row *rows; /* owned */
    size_t n, cap;
    struct buf text;
    uint64_t requests; /* all, noted or not */
    bool is_off;
};

void ledger_init(struct ledger *l, bool is_off);
void ledger_done(struct ledger *l);
void ledger_add(struct ledger *l, const struct sample_request *r);
void ledger_each(struct ledger *l, sample_ledger_fn *fn, void *arg);
void ledger_clear(struct ledger *l);
