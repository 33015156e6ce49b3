/* forget_report.h - what forget has to say, as text and as JSON (docs/formats/commands.md). */
#pragma once

#include "store/store.h"
#include "store/warc_purge.h"

struct forget_report {
    const struct span *places; /* borrowed */
    size_t place_count;
    uint64_t pages, texts;
    bool is_coordinated;  /* a coordinator that runs did it, and tells its agents */
    bool goes_on;         /* it has remembered the places, and takes the pages out when it comes to it */
    uint64_t own_records; /* that it took out of its own WARC files */
    bool was_remade, is_log_in_use;
    bool is_dry;
    bool has_warc; /* WARC files were looked at */
    struct warc_purged warc;
};

void forget_report_text(const struct forget_report *r, struct buf *out);
void forget_report_json(const struct forget_report *r, struct buf *out);

/* All that a folder remembers as forgotten. */
MUST_USE status forget_list_text(struct store *s, struct buf *out);
MUST_USE status forget_list_json(struct store *s, struct buf *out);
