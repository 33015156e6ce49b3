/* apply_sink.h - a crawl's visits into the index of its own folder: a struct sink (store/sink.h) over struct apply. */
#pragma once

#include "apply/apply.h"
#include "store/sink.h"

struct apply_sink_opts {
    bool no_index;       /* only fetch and write down: no texts are kept, nothing can be searched */
    bool no_documents;   /* files that nobody has read are not searchable */
    size_t index_memory; /* of postings, before they are written as a segment; 0: the index's default */
    unsigned shards;     /* of the crawl; 0: one a core. A page takes half as long to index as to fetch, so there is a
                            builder for every two */
    const struct log *log;
};

/* A sink_open_fn; `arg` is a const struct apply_sink_opts, borrowed until it returns (the log longer). ST_INVALID:
 * no_index, and the folder has an index, which would no longer be true. */
MUST_USE status apply_sink_open(void *arg, struct store *s, struct sink *out, struct buf *why);
