/* crawl_report.h - what a crawl says when it ends: the summary for people, the object for programs. */
#pragma once

#include "codec/json.h"
#include "crawl/crawl.h"

struct crawl_report {
    const struct crawl_stats *stats;
    crawl_end end;
    const char *data_dir;
    uint64_t pages_max;
    uint64_t peak_rss;
    const struct program_state *program; /* NULL: none was run */
};

#define PDF_UNREAD_NOTE "without text, damaged, encrypted or too long: see orb explain URL"
const char *pdf_left_note(status pdf_state); /* why PDFs were not read */
const char *crawl_end_name(crawl_end end);   /* "complete" */
void crawl_report_text(const struct crawl_report *r, struct buf *out);
void crawl_report_json(const struct crawl_report *r, struct buf *out); /* one line */
