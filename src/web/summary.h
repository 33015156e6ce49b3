/* summary.h - one visit of one page, as a record: what the crawl writes, the journal keeps, packages carry and apply
 * reads.
 *
 * Versioned; docs/formats/summary.md has it field by field. Unpacked text points into the packed bytes. Pure; any
 * thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "web/facts.h"

#define SUMMARY_VERSION 3 /* 1 and 2 are read too; without a capture 2 is written */
#define SUMMARY_BYTES_MAX (48u << 20)
#define SUMMARY_LINKS_MAX 70016 /* those of a list: web/sitemap.h */

enum {
    SUMMARY_LINK_NEW = 1, /* was not known before: its finder put it in a queue */
    SUMMARY_LINK_FOREIGN =
        2, /* leads to another host: for whoever crawls there; not in a queue of its finder unless NEW too */
};

struct summary_link {
    struct span url; /* absolute, normalised */
    struct span text;
    uint64_t key;  /* keyed hash of url; 0 when it left the folder it was made for */
    uint8_t kind;  /* link_kind */
    uint8_t rel;   /* REL_* */
    uint8_t flags; /* SUMMARY_LINK_* */
    uint8_t hops;  /* > 0: a redirect's target, or named by a list: so many such steps on */
    uint16_t depth;
};

#define SUMMARY_FIELDS_MAX 256
#define SUMMARY_FIELD_NAME_MAX 64
#define SUMMARY_FIELD_VALUE_MAX 65536

/* What a program emitted about a page. */
struct summary_field {
    struct span name, value;
};

struct summary {
    uint64_t fetch_number; /* grows with each visit in a data folder */
    uint64_t channel;
    wall_ms at;
    struct span url;
    uint16_t depth, hops;
    bool is_refused;      /* a rule said no: no request was made; `reason` has the rule */
    bool is_known;        /* visited before */
    uint8_t failure;      /* status when no HTTP answer came, else ST_OK */
    uint16_t http_status; /* 0: none */
    uint16_t page_flags;  /* PAGE_* of meta and header together */
    bool is_html;
    uint64_t digest; /* of visible text; 0 when not HTML or text */
    uint64_t body_bytes, wire_bytes, text_bytes;
    int32_t dns_us, connect_us, tls_us, first_byte_us, total_us; /* -1: did not happen */
    struct span address;                                         /* connected to, as text */
    struct span reason;                                          /* why it failed or was refused */
    struct span content_type, charset, lang, title, description, canonical, etag, last_modified, redirect;
    const struct fact_heading *headings; /* borrowed */
    size_t heading_count;
    struct span text;                 /* empty unless kept */
    const struct summary_link *links; /* borrowed */
    size_t link_count;
    bool is_keywords;                   /* `text` has the page's words without their order: no phrases, no snippets */
    const struct summary_field *fields; /* borrowed */
    size_t field_count;
    uint64_t rate;       /* how often the page changes (plan/page_rate.h); packages alone have it. 0: not known */
    struct span capture; /* the answer as it came (wire/capture.h); empty unless somebody archives it elsewhere */
};

/* When the page last changed by its answer's own words (Last-Modified); 0: it does not say, or what cannot be. */
wall_ms summary_modified(const struct summary *s);
void summary_pack(const struct summary *s, struct buf *out);
/* Arrays are made in the arena. ST_NEWER: a version we do not know; ST_CORRUPT. */
MUST_USE status summary_unpack(struct arena *a, struct span packed, struct summary *out);
