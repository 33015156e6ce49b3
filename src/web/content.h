/* content.h - the part of a page that search is made from: what the store keeps of it and the index shows of it.
 *
 * A record of its own so that both can hold the same compressed bytes. docs/formats/content.md has it field by field.
 * Unpacked text points into the packed bytes. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "web/facts.h"

#define CONTENT_VERSION 1
#define CONTENT_BYTES_MAX (6u << 20)

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
};

void content_pack(const struct content *c, struct buf *out);
/* ST_NEWER, ST_CORRUPT. Arrays are made in the arena. */
MUST_USE status content_unpack(struct arena *a, struct span packed, struct content *out);
