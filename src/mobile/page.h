/* page.h - what a program is given of a page, and what it may answer: the two ends of a program's work, and its
 * ceilings. */
#pragma once

#include "base/status.h"
#include "web/facts.h"

#define PROGRAM_FIELDS_MAX 32        /* emitted by one page */
#define PROGRAM_FIELD_NAME_MAX 32    /* lower case letters, digits, '_' */
#define PROGRAM_FIELD_MAX 4096       /* bytes of one value */
#define PROGRAM_EMIT_MAX (16u << 10) /* of all values of a page */
#define PROGRAM_FOLLOW_MAX 1000
#define PROGRAM_URL_MAX 2048 /* bytes of one followed URL */
#define PROGRAM_SUMMARY_MAX (256u << 10)
#define PROGRAM_WHY_MAX 512 /* bytes of an error */
/* Of a page, what goes to the program: more is cut off or left out. */
#define PROGRAM_TEXT_MAX (2u << 20)
#define PROGRAM_HEADERS_MAX (64u << 10)
#define PROGRAM_METAS_MAX 200
#define PROGRAM_META_MAX 2048          /* bytes of a name or a content */
#define PROGRAM_LINKS_BYTES (4u << 20) /* of all links together */

struct program_meta {
    struct span name, content;
};

/* A page as a program sees it. Texts are valid UTF-8, but for url and headers. Everything is borrowed. */
struct program_page {
    struct span url;
    int http_status;
    struct span headers; /* as received, "Name: value\n" */
    struct span title, description, lang, text;
    const struct fact_heading *headings;
    size_t heading_count;
    const struct fact_link *links; /* hrefs as absolute URLs */
    size_t link_count;
    const struct program_meta *metas;
    size_t meta_count;
};

struct program_field {
    struct span name, value; /* the value is valid UTF-8 */
};

/* What it said. */
struct program_result {
    status st; /* ST_OK; ST_TIMEOUT, ST_LIMIT, ST_INVALID (error in the script), ST_CANCELLED: the page goes on without
                  it, and nothing else is set but why */
    struct span why;
    bool is_skipped;  /* skip(): not to be indexed */
    bool has_summary; /* summary(text): instead of the page's text */
    struct span summary;
    const struct program_field *fields; /* in the order emitted; of one emit by name; a name may come again */
    size_t field_count;
    const struct span *follows; /* as written: resolve against the page */
    size_t follow_count;
};

/* 1 to PROGRAM_FIELD_NAME_MAX lower case letters, digits and '_', a letter first. */
bool program_field_name_is_good(struct span name);
