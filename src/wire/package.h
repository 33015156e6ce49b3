/* package.h - a compressed, signed batch of what an agent found: made at the agent, carried as bytes, read once by the
 * coordinator.
 *
 *     header     magic, agent, sequence, coordinator, dictionary, sizes, digest of the body     fixed, little-endian
 *     signature  Ed25519 of the header by the agent
 *     body       one zstd frame over columns: all addresses, all titles, all lines of text, ...
 *
 * A package is complete in itself but for the dictionary it names. Sequences of an agent have no gaps. Visits are coded
 * against those before them in the same package (addresses, lines of text that a site repeats), which is why one is
 * read from its beginning, and why a larger package is a better one: over the documentation sites packages closed at
 * 4 MiB are a third larger in all than those closed at 16 MiB. What a later minor version adds stands in a tail behind
 * the columns, and a reader skips it. Pure; docs/formats/package.md. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "codec/sign.h"
#include "codec/zip.h"
#include "web/summary.h"
#include "wire/control.h"

#define PACKAGE_VERSION 1
#define PACKAGE_BYTES_MAX (32u << 20) /* compressed */
#define PACKAGE_RAW_MAX (64u << 20)   /* what may come out of it */
#define PACKAGE_CLOSE_MAX (24u << 20) /* package_raw_bytes at which a writer must be finished, whatever was ordered */
#define PACKAGE_CLOSE_DEFAULT (16u << 20)
#define PACKAGE_VISITS_MAX 1000000
#define PACKAGE_TEXT_MAX FACTS_TEXT_MAX /* of one visit; what is longer is cut */
#define PACKAGE_HEAD_BYTES 192          /* header and signature */

struct package_head {
    uint64_t agent, sequence;
    struct digest256 coordinator; /* fingerprint of the identity it is meant for */
    uint32_t dictionary;          /* number of the dictionary it was made with; 0: none */
    wall_ms made;
    uint64_t body_bytes, raw_bytes;
    uint32_t visits;
    uint32_t tail_bytes; /* of the raw bytes, the last ones: fields (fields.h) of a newer minor version; 0: none */
};

/* ---- at the agent ---- */

struct package_writer;
struct package_writer_opts {
    int level;                   /* of zstd; 0: the default */
    const struct zip_dict *dict; /* borrowed; may be NULL */
    uint32_t dictionary;         /* its number */
};
struct package_writer *package_writer_new(const struct package_writer_opts *o);
void package_writer_free(struct package_writer *w); /* NULL is fine */
/* A visit of a task. Of its links only those with a text for the index or SUMMARY_LINK_FOREIGN travel; with
 * SUMMARY_KEYWORDS the text becomes terms with counts. Fetch number, channel and the links' keys stay behind: the
 * reader has its own. Timings keep two significant digits. No more visits once package_raw_bytes has reached
 * PACKAGE_CLOSE_MAX or package_visits PACKAGE_VISITS_MAX. */
void package_add_visit(struct package_writer *w, uint64_t task, summary_kind kind, const struct summary *s);
/* What it would be uncompressed, lines that repeat counted once; about the memory that the writer uses. */
size_t package_raw_bytes(const struct package_writer *w);
uint32_t package_visits(const struct package_writer *w);
/* The whole package, appended to *out; the writer is empty afterwards and can be used again. Of *head agent, sequence,
 * coordinator and made are given, the rest is filled in. */
void package_finish(struct package_writer *w, struct package_head *head, const struct sign_key *agent, struct buf *out);

/* ---- at the coordinator ---- */

/* Looks at the first bytes only: sizes are within limits, the signature is the agent's. ST_CORRUPT, ST_NEWER, ST_LIMIT,
 * ST_REFUSED (signature). *head_bytes: where the body begins. */
MUST_USE status package_head_read(struct span package, const struct sign_public *agent, struct package_head *out,
                                  size_t *head_bytes);

/* Called for each visit, in the order of their addresses, those of one address as they were added. The summary has no
 * fetch number, no channel and no keys: they are the reader's. Texts live until the callback returns. With
 * SUMMARY_KEYWORDS the summary's is_keywords is set, and its text is the page's words, each as often as it was there.
 */
typedef status package_visit_fn(void *arg, uint64_t task, summary_kind kind, const struct summary *s);
/* Checks signature, length and the body's digest first: a package that was cut or changed on its way hands out nothing.
 * ST_CORRUPT may come after some visits only when the agent itself signed nonsense: then undo them. ST_CORRUPT,
 * ST_LIMIT, ST_NEWER, ST_REFUSED, or what fn returned. `dict`: the one the head names; agent NULL: whose it is was
 * checked before. */
MUST_USE status package_read(struct span package, const struct sign_public *agent, const struct zip_dict *dict,
                             package_visit_fn *fn, void *arg);

/* All of it, without handing anything out: head, signature, length, the body's digest, and what it says that it
 * becomes.
 */
MUST_USE status package_check(struct span package, const struct sign_public *agent, struct package_head *out);
