/* import_report.h - what an import says when it ends: the summary for people, the object for programs. */
#pragma once

#include "cli/import_pages.h"

struct import_report {
    const struct import_counts *n;
    const struct crawl_stats *stats;
    const char *data_dir;
    size_t files, archives;
    uint64_t bytes, peak_rss;
    bool is_stopped;
    bool has_index;
};

void import_report_text(const struct import_report *r, struct buf *out);
void import_report_json(const struct import_report *r, struct buf *out); /* one line */
