/* store.h - the durable state of a data folder (SQLite inside, in WAL mode): settings, channels, pages, sites, hosts,
 * counters.
 *
 * Speaks in verbs of our domain, never in rows. One writer (the process that holds the folder's lock); any number of
 * readers in other processes. A struct store is for one thread at a time; a second one may be opened for reading in the
 * same process. Text given is copied; text handed out lives until the callback returns. A callback may call other
 * functions here, not the one it came from.
 *
 * A kill at any moment loses nothing that was committed. A power cut may lose the last commits, never their order:
 * whoever deletes something because it is in the store now (the journal) calls store_sync() first. */
#pragma once

#include "base/buf.h"
#include "base/siphash.h"
#include "base/status.h"

#define STORE_SCHEMA 5 /* version of the folder; older ones are migrated when opened for writing */

struct store;

typedef enum store_mode { STORE_READ, STORE_WRITE } store_mode;

/* STORE_WRITE makes the folder when missing, takes its lock, migrates. STORE_READ: ST_NOT_FOUND when there is none.
 * ST_BUSY: another process writes; ST_NEWER; ST_CORRUPT; ST_IO/ST_FULL. `why` (may be NULL) gets one phrase for people
 * ("in use by process 123"). */
MUST_USE status store_open(const char *dir, store_mode mode, struct store **out, struct buf *why);
void store_free(struct store *s);
const char *store_dir(const struct store *s);
/* The folder's secret hash key, drawn when the folder was made. */
const struct sip_key *store_key(const struct store *s);

/* Writes between begin and commit are one transaction. Without begin each write is its own. When a write or the commit
 * fails, roll back and repeat the whole. */
MUST_USE status store_begin(struct store *s);
MUST_USE status store_commit(struct store *s);
void store_rollback(struct store *s); /* harmless when there is nothing to roll back */
/* Everything committed so far is on the disk, not only in the kernel. */
MUST_USE status store_sync(struct store *s);

/* Settings: small named texts ("contact", "user_agent", ...). */
MUST_USE status store_setting_put(struct store *s, const char *name, struct span value);
MUST_USE status store_setting_get(struct store *s, const char *name, struct buf *value); /* ST_NOT_FOUND */

MUST_USE status store_setting_remove(struct store *s, const char *name); /* harmless when absent */

/* Channels: an opaque packed form (crawl/channel.h) under a stable id. */
MUST_USE status store_channel_put(struct store *s, uint64_t id, struct span packed);
typedef status store_channel_fn(void *arg, uint64_t id, struct span packed);
MUST_USE status store_channel_each(struct store *s, store_channel_fn *fn, void *arg);

/* What the last visit of a page found. */
typedef enum visit_outcome {
    VISIT_NEW,       /* first good copy */
    VISIT_CHANGED,   /* good, and its digest differs from before */
    VISIT_UNCHANGED, /* 304, or the same digest */
    VISIT_REDIRECT,
    VISIT_GONE,    /* 404, 410 after a good copy or not */
    VISIT_ERROR,   /* any other HTTP error, or no answer */
    VISIT_REFUSED, /* robots.txt, address or another rule said no; no request was made */
} visit_outcome;

/* What a visit found, as far as its answer tells: every good copy is VISIT_NEW, the store knows better. Pure. */
visit_outcome visit_outcome_of(bool is_refused, status failure, unsigned http_status);

struct page {
    uint64_t key; /* keyed hash of the URL: store_key */
    struct span url;
    uint64_t channel;
    uint64_t fetch_number; /* of this visit; a visit with a number not above the stored one is ignored: applying twice
                              is harmless */
    wall_ms at;
    uint8_t outcome; /* visit_outcome; VISIT_NEW and VISIT_CHANGED are told apart by the store itself from what it had
                        before */
    uint8_t failure; /* status when no HTTP answer came, else ST_OK */
    uint16_t http_status; /* 0: none */
    uint16_t depth;
    uint16_t page_flags; /* PAGE_NOINDEX...: web/facts.h */
    uint64_t digest;
    struct span title, lang, canonical, etag, last_modified, content_type, charset, redirect, reason, address;
    uint64_t body_bytes, wire_bytes, text_bytes;
    int32_t dns_us, connect_us, tls_us, first_byte_us, total_us; /* -1: did not happen */
    bool has_content; /* given: the visit brings text to search in; see struct visit_effect */
    wall_ms modified; /* given: when the page changed last by its own words (Last-Modified); 0: it does not say */
    /* Kept by the store; ignored when given to store_page_visit: */
    uint64_t content; /* fetch number of the visit whose content counts (store/contents.h); 0: there is none */
    wall_ms first_seen, changed_at, good_at; /* good_at: last visit that found it there (2xx or 304) */
    uint32_t visits, changes;
    uint64_t rate;       /* how often it changes, as the store's rate function has it (store_set_rate); 0: not known */
    struct span history; /* the newest visits, packed: see store_history_next */
};

/* What a visit that finds the page there says of how often it changes: the number after it, from the one before. Both
 * are the function's own (plan/page_rate.h), and 0 means that nothing is known yet. `gap_ms` > 0: since the last such
 * visit; `since_ms`: how long before this one the page changed, where somebody says so; < 0: nobody does. Pure. */
typedef uint64_t store_rate_fn(uint64_t rate, int64_t gap_ms, bool has_changed, int64_t since_ms);
/* From now on visits are counted by it, and what is known of earlier ones (the history) where nothing was counted yet.
 * Without one a page keeps the number that it has. */
void store_set_rate(struct store *s, store_rate_fn *fn);

/* Records a visit. Of the three good outcomes the store decides itself which it is: NEW without a good copy before;
 * else UNCHANGED when that was given or the digest is the same; else CHANGED. VISIT_UNCHANGED: empty text fields keep
 * their old values, and so does the digest; when http_status is 304 also canonical, etag, last_modified, page_flags,
 * body_bytes and text_bytes, which describe the copy, and the reason if it came with it; but a 304 without a good copy
 * before is VISIT_ERROR, so that the next request has no conditions. VISIT_ERROR and VISIT_REFUSED keep all that
 * describes the last good copy: digest, title, lang, canonical, etag, last_modified, content_type, charset, page_flags,
 * body_bytes, text_bytes. Everything else is of this visit. *effect (when given) is what the store made of it. */
struct visit_effect {
    visit_outcome outcome;
    uint16_t page_flags; /* as they are known now: a 304 brings none of what the page is */
    /* The content before the visit and after it. They differ when a visit with has_content found a new page, another
     * text, title, canonical or page flags, or a page that had no content; and when the page went, moved or has none
     * any more (0). 304, errors and refusals keep it. Without has_content in any visit both are 0. */
    uint64_t content_before, content;
    wall_ms changed_at;
    wall_ms modified; /* it has changed since the visit before, and then, as the site says; 0: not, or nobody knows */
    uint64_t rate;
};
MUST_USE status store_page_visit(struct store *s, const struct page *p, struct visit_effect *effect);
/* The highest fetch number that a visit here ever had, though its page may be erased since; 0: none. Whoever numbers
 * visits goes on after it: those with lower numbers than the visit before are taken for repetitions. Reads all pages of
 * a folder that was made before such a number was kept, once. */
MUST_USE status store_last_fetch(struct store *s, uint64_t *number);
/* What another folder knew of a page, so that it is a known one here: its key, url, channel, depth, at, http_status,
 * digest, etag, last_modified, page_flags and, unless it is 0, rate; all else is ignored. Counts as a visit before
 * all visits of this folder. When the page is here already the later of the two counts, by `at`. *is_new_good (when
 * given): a good copy, and there was none here. */
MUST_USE status store_page_restore(struct store *s, const struct page *p, bool *is_new_good);
typedef status store_page_fn(void *arg, const struct page *p);
MUST_USE status store_page_get(struct store *s, uint64_t key, store_page_fn *fn, void *arg); /* ST_NOT_FOUND */
/* How often it changes, as somebody knows who saw all its visits. Harmless when there is no such page. */
MUST_USE status store_page_put_rate(struct store *s, uint64_t key, uint64_t rate);
/* The page's content is lost or not to be trusted: from now on it has none, so that the next visit brings it again. */
MUST_USE status store_page_drop_content(struct store *s, uint64_t key);
/* The row that `key` leads to has another key or address, by damage: it gets these. */
MUST_USE status store_page_put_right(struct store *s, uint64_t key, struct span url);
/* In order of first visit; only those of `channel` unless that is 0. Reads a consistent snapshot. */
MUST_USE status store_page_each(struct store *s, uint64_t channel, store_page_fn *fn, void *arg);

/* What decides which pages are looked at again first. */
struct page_glance {
    uint64_t number; /* for store_page_numbered */
    uint64_t key;
    wall_ms at;
    uint16_t page_flags;
    wall_ms listed; /* last change as lists say (store_listed_put); 0: they do not */
    uint64_t rate;  /* with a rate function: also from the history of before there was one */
};
typedef status store_glance_fn(void *arg, const struct page_glance *g);
/* Those of `channel` (0: of all), last visited before `before` (0: whenever), in order of first visit. */
MUST_USE status store_page_glance(struct store *s, uint64_t channel, wall_ms before, store_glance_fn *fn, void *arg);
MUST_USE status store_page_numbered(struct store *s, uint64_t number, store_page_fn *fn, void *arg); /* ST_NOT_FOUND */
/* Somebody says that a known page changed at `at`: as if a list did. Harmless when there is no such page. */
MUST_USE status store_page_tell(struct store *s, uint64_t key, wall_ms at);
/* How many pages of `channel` lists say have changed since they were visited. */
MUST_USE status store_page_told(struct store *s, uint64_t channel, uint64_t *count);

/* A part of them, for readers that come back: those of `channel` after the one numbered `after` (0: from the first), at
 * most `max`. *last is the number to go on after, or 0 when there are no more. */
MUST_USE status store_page_after(struct store *s, uint64_t channel, uint64_t after, unsigned max, store_page_fn *fn,
                                 void *arg, uint64_t *last);

struct page_counts {
    uint64_t known, good, redirects, gone, errors, refused;
    uint64_t html, not_html, thin; /* of the good: not HTML, and HTML with less than 200 bytes of text */
    uint64_t lists;                /* sitemaps and feeds; of `known`, and in none of the others when they are good */
};
MUST_USE status store_page_counts(struct store *s, struct page_counts *out);
/* page_counts.good alone, without a look at media types. Goes over all pages, as that does. */
MUST_USE status store_page_good(struct store *s, uint64_t *out);

#define STORE_HISTORY_MAX 32
/* Steps through a page's history, the newest visits that found it there, newest first: true, with the time of a visit
 * (in whole seconds) and whether it found a change. *at must be 0 before the first call, and is not to be touched in
 * between. */
bool store_history_next(struct span *history, wall_ms *at, bool *changed);

/* When a page last changed, as sitemaps and feeds say; of several dates the newest counts. */
MUST_USE status store_listed_put(struct store *s, uint64_t key, wall_ms changed);
MUST_USE status store_listed_get(struct store *s, uint64_t key, wall_ms *changed); /* ST_NOT_FOUND */

/* What the links to a page call it: an opaque packed form (apply/anchors.h) by the page's key. */
MUST_USE status store_anchors_put(struct store *s, uint64_t key, struct span packed);
MUST_USE status store_anchors_get(struct store *s, uint64_t key, struct buf *packed); /* ST_NOT_FOUND; appends */
MUST_USE status store_anchors_clear(struct store *s);

/* Hosts: an opaque packed form (plan/frontier.h) by name, for status and explain, written now and then by the crawl. */
MUST_USE status store_host_put(struct store *s, struct span host, struct span packed);
typedef status store_host_fn(void *arg, struct span host, struct span packed);
MUST_USE status store_host_get(struct store *s, struct span host, store_host_fn *fn, void *arg); /* ST_NOT_FOUND */
MUST_USE status store_host_each(struct store *s, store_host_fn *fn, void *arg);

/* What is to be forgotten, and stays so: places (web/places.h) in the one way they are written. */
struct forgotten {
    struct span place;
    wall_ms at;      /* since when */
    struct span why; /* may be empty */
};
/* Of a place that is there already the time stays, and the reason unless a new one is given. */
MUST_USE status store_forgotten_put(struct store *s, const struct forgotten *f);
MUST_USE status store_forgotten_remove(struct store *s, struct span place); /* ST_NOT_FOUND */
typedef status store_forgotten_fn(void *arg, const struct forgotten *f);
MUST_USE status store_forgotten_get(struct store *s, struct span place, store_forgotten_fn *fn, void *arg);
MUST_USE status store_forgotten_each(struct store *s, store_forgotten_fn *fn, void *arg); /* by place */

/* From now on what is removed is overwritten in the database, until the store is closed. Not in a transaction. */
MUST_USE status store_erase_begin(struct store *s);
/* A page with everything that is kept by its key. Harmless when there is none. */
MUST_USE status store_page_remove(struct store *s, uint64_t key);
/* In the transaction that removes a page somebody crawls: the crawl takes its URL for known until it is told. Kept
 * until whoever tells it has that on the disk, and says so with the number of the last one. In the order they were put.
 */
MUST_USE status store_unsee_put(struct store *s, uint64_t key);
typedef status store_unsee_fn(void *arg, uint64_t number, uint64_t key);
MUST_USE status store_unsee_each(struct store *s, store_unsee_fn *fn, void *arg);
MUST_USE status store_unsee_drop(struct store *s, uint64_t last);
MUST_USE status store_anchors_remove(struct store *s, uint64_t key);
MUST_USE status store_host_remove(struct store *s, struct span host);
/* Nothing of what was removed is left in the log beside the database either. ST_BUSY: somebody reads; the log goes
 * when nobody does. */
MUST_USE status store_erase_end(struct store *s);
/* Writes the database anew without what it no longer needs. Takes as much space again for a while. */
MUST_USE status store_vacuum(struct store *s);
/* Reads all of it. ST_CORRUPT: *what gets the first thing that is wrong, in SQLite's words. */
MUST_USE status store_check(struct store *s, struct buf *what);
/* The table that finds pages by their keys, against the pages: *wrong is what is in only one of them. With `repair` it
 * is made anew from the pages. */
MUST_USE status store_check_keys(struct store *s, bool repair, uint64_t *wrong);
/* From here on, until store_copy, what is read is the database of this moment. */
MUST_USE status store_hold(struct store *s);
/* Beside a writer: the database as it is at one moment, that of store_hold or this, in a new file at `path`. */
MUST_USE status store_copy(struct store *s, const char *path);
