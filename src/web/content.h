/* content.h - the part of a page that search is made from: what the store keeps of it and the index shows of it.
 *
 * A record of its own so that both can hold the same compressed bytes. docs/formats/content.md has it field by field.
 * Unpacked text points into the packed bytes. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "web/facts.h"
#include "web/summary.h"

#define CONTENT_VERSION 3 /* 1 and 2 are read too */
#define CONTENT_BYTES_MAX (6u << 20)
/* Fields of a page that are kept; what passes these is left out or cut. As much as a program may emit. */
#define CONTENT_FIELDS_MAX 32
#define CONTENT_FIELD_NAME_MAX 32
#define CONTENT_FIELD_VALUE_MAX 4096
#define CONTENT_FIELDS_BYTES_MAX 16384 /* of names and values together */

#define CONTENT_ALTERNATES_MAX 64

/* The page in another language, or for another region, by its own words (rel=alternate hreflang). */
struct content_alternate {
    struct span lang; /* as the page says: "en-GB", "x-default" */
    struct span url;
};

/* A link that gives its target a name. */
struct content_anchor {
    struct span url;
    struct span text;
};

struct content {
    struct span url, title, description, canonical, lang;
    uint64_t digest;
    wall_ms fetched, changed;
    uint16_t page_flags;
    const struct fact_heading *headings; /* borrowed */
    size_t heading_count;
    struct span text;
    const struct content_anchor *anchors; /* borrowed */
    size_t anchor_count;
    bool is_keywords;                           /* `text` has the words with blanks between, without their order */
    const struct summary_field *fields;         /* borrowed */
    size_t field_count;                         /* at most CONTENT_FIELDS_MAX */
    const struct content_alternate *alternates; /* borrowed */
    size_t alternate_count;                     /* at most CONTENT_ALTERNATES_MAX */
    bool is_named;    /* nothing was read of it: `title` is the name of the file, `text` tells its type and size */
    struct span type; /* as the server told it, without parameters; empty: not known */
    uint64_t bytes;   /* of the body; 0: not known */
};

void content_pack(const struct content *c, struct buf *out);
/* ST_NEWER, ST_CORRUPT. Arrays are made in the arena. */
MUST_USE status content_unpack(struct arena *a, struct span packed, struct content *out);

/* Lower case letters, digits and '_', a letter first, at most CONTENT_FIELD_NAME_MAX bytes. */
bool content_field_name(struct span name);
/* Puts those of a summary's fields that may be kept into the content: the first ones with a good name, values cut. The
 * array is made in the arena; texts are borrowed. */
void content_take_fields(struct arena *a, const struct summary *s, struct content *c);
/* Nothing was read of the page: it is a file that is known by its name, type and size. */
bool content_is_named(const struct summary *s);
/* A page's digest, for telling whether it changed: of its text, and of its fields when it has any that are kept; of a
 * file, of all that is known of it. A page without a digest of its text (0) has none. */
uint64_t content_digest(const struct summary *s);
