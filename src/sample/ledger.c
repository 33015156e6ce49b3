#include "sample/ledger.h"

#include <stdlib.h>

#include "base/mem.h"

#define LEDGER_TARGET_MAX 65536

void ledger_init(struct ledger *l, bool is_off)
{
    *l = (struct ledger){.is_off = is_off};
    pthread_mutex_init(&l->lock, NULL);
}

void ledger_done(struct ledger *l)
{
    free(l->rows);
    buf_done(&l->text);
    pthread_mutex_destroy(&l->lock);
}

void ledger_add(struct ledger *l, const struct sample_request *r)
{
    pthread_mutex_lock(&l->lock);
    l->requests++;
    if (!l->is_off && l->n < SAMPLE_LEDGER_MAX) {
        struct span host = span_cut(r->host, 0, 255), target = span_cut(r->target, 0, LEDGER_TARGET_MAX);
        l->rows = mem_grow(l->rows, &l->cap, l->n + 1, sizeof(*l->rows));
        l->rows[l->n++] =
            (struct ledger_row){r->at_us, l->text.n, (uint32_t)target.n, (uint16_t)host.n, (int16_t)r->status};
        buf_put(&l->text, host);
        buf_put(&l->text, target);
    }
    pthread_mutex_unlock(&l->lock);
}

void ledger_each(struct ledger *l, sample_ledger_fn *fn, void *arg)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++) {
        const struct ledger_row *row = &l->rows[i];
        const char *text = l->text.p + row->text_at;
        struct sample_request r = {row->at_us, row->status, span_of(text, row->host_bytes),
                                   span_of(text + row->host_bytes, row->target_bytes)};
        fn(arg, &r);
    }
    pthread_mutex_unlock(&l->lock);
}

void ledger_clear(struct ledger *l)
{
    pthread_mutex_lock(&l->lock);
    l->n = 0;
    l->requests = 0;
    buf_clear(&l->text);
    pthread_mutex_unlock(&l->lock);
}
