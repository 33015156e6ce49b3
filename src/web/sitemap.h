/* sitemap.h - documents that are lists of pages: sitemaps and their indexes (sitemaps.org), RSS 0.9x, 1.0 and 2.0, Atom
 * 0.3 and 1.0, JSON Feed 1 and 1.1 (jsonfeed.org), and plain text with a URL a line.
 *
 * Which of them a document is, its root element says, the version that it names, or the fact that it has nothing but
 * URLs; neither its name nor its type is asked. Namespaces may be right, wrong, missing or prefixed: only where an
 * element stands counts. A list that is broken, or ends too early, gives what came before; a URL that was cut in two is
 * not among it.
 *
 * Which of the URLs may be followed is somebody else's to say. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "web/summary.h"
#include "web/url.h"

#define SITEMAP_BYTES_MAX (50u << 20)      /* sitemaps.org: 50 MB, not compressed; the rest is not read */
#define SITEMAP_RATIO_MAX 200              /* plain bytes over gzip's, past the first MiB */
#define SITEMAP_ENTRIES_MAX 50000          /* sitemaps.org: URLs in a list */
#define SITEMAP_ALTERNATES_MAX 20000       /* of the pages in other languages, besides */
#define SITEMAP_URL_MAX 2048               /* sitemaps.org; longer ones are left out */
#define SITEMAP_BASE_MAX 8192              /* of xml:base, made absolute: one of SITEMAP_URL_MAX with escapes */
#define SITEMAP_LOCS_BYTES (32u << 20)     /* of all URLs of a list, with what they are relative to */
#define SITEMAP_FUTURE_MS (86400 * 1000ll) /* clocks differ; a date farther ahead says nothing */

typedef enum sitemap_kind {
    SITEMAP_NONE,
    SITEMAP_URLSET,
    SITEMAP_INDEX,
    SITEMAP_RSS,
    SITEMAP_ATOM,
    SITEMAP_JSON,
    SITEMAP_TEXT
} sitemap_kind;

const char *sitemap_kind_name(sitemap_kind k); /* "none", "urlset", "index", "rss", "atom", "json", "text" */

typedef enum sitemap_entry_kind {
    ENTRY_PAGE,
    ENTRY_ALTERNATE, /* the page before it in another language */
    ENTRY_LIST,      /* another list: of an index, or the next part of a feed */
} sitemap_entry_kind;

struct sitemap_entry {
    sitemap_entry_kind kind;
    struct span loc;  /* as written, trimmed, at most SITEMAP_URL_MAX bytes; may be relative in feeds */
    struct span base; /* what `loc` is relative to by xml:base of the elements around it; empty: the document */
    wall_ms changed;  /* last change of the page or list by its own words; 0: not told */
};

/* What there was more of than the limits let through. */
enum {
    SITEMAP_CUT_BYTES = 1,      /* SITEMAP_BYTES_MAX */
    SITEMAP_CUT_ENTRIES = 2,    /* SITEMAP_ENTRIES_MAX */
    SITEMAP_CUT_ALTERNATES = 4, /* SITEMAP_ALTERNATES_MAX */
    SITEMAP_CUT_LOCS = 8        /* SITEMAP_LOCS_BYTES */
};

struct sitemap {
    sitemap_kind kind;
    const struct sitemap_entry *entries; /* in the arena */
    size_t count;
    unsigned cut; /* SITEMAP_CUT_...; 0: all of it is here */
};

/* What a document of valid UTF-8 is, by its beginning; JSON by all of it, since names have no order there. Cheap when
 * it is none. */
sitemap_kind sitemap_kind_of(struct span text);
/* JSON that may be a feed by its type and, where that says only that it is JSON, its name (feed.json, feed/json); `url`
 * may be relative. */
bool sitemap_may_be_json(struct span media, struct span url);
/* `text` outlives the entries, which point into it or into the arena. `at`: where the document is; NULL: nobody knows,
 * and an xml:base that is relative to it stays as written. */
void sitemap_read(struct arena *a, struct span text, const struct url *at, struct sitemap *out);

bool sitemap_is_gzip(struct span body);
/* The plain bytes of a gzip body, its members one after the other, up to SITEMAP_BYTES_MAX of them and as far as it is
 * whole. In the arena. *is_cut: there was more. ST_LIMIT: it grows beyond SITEMAP_RATIO_MAX, as no list does. */
MUST_USE status sitemap_unzip(struct arena *a, struct span body, struct span *out, bool *is_cut);

/* What a link of a visit says of its target, when a list said it: when it last changed. False: nothing that can be
 * used; a date far ahead of `now` is a mistake. */
bool sitemap_listed(const struct summary_link *l, wall_ms now, wall_ms *changed);
