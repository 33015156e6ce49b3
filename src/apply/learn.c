#include "apply/learn.h"

#include "codec/zip.h"

#define SAMPLE_BYTES 1024
#define SAMPLE_MIN 200

/* Samples are taken from different places of the texts: their beginnings are too much alike. */
bool learner_add(struct learner *l, struct span packed)
{
    if (packed.n < SAMPLE_MIN || l->count == LEARN_SAMPLES)
        return l->count == LEARN_SAMPLES;
    size_t bytes = packed.n < SAMPLE_BYTES ? packed.n : SAMPLE_BYTES;
    size_t from = packed.n > bytes ? l->count * 7919 % (packed.n - bytes) : 0;
    buf_put(&l->samples, span_cut(packed, from, bytes));
    l->sizes[l->count++] = bytes;
    return l->count == LEARN_SAMPLES;
}

status learner_train(struct learner *l, struct buf *out)
{
    status st = zip_dict_train(buf_span(&l->samples), l->sizes, l->count, out);
    learner_done(l);
    return st;
}

void learner_done(struct learner *l)
{
    buf_done(&l->samples);
    l->count = 0;
}
