/* fetch_archived.h - an answer out of an archive, as the fetcher would have brought it: head read, chunks put together,
 * content coding undone, with the fetcher's ceilings. Pure; one thread.
 *
 * Archives have what other tools made of answers. A body that says chunked and is not, or says gzip and was decoded
 * when it was recorded, is taken as it is. */
#pragma once

#include "io/fetch_header.h"
#include "io/fetcher.h"

#define ARCHIVED_BODY_MAX (16u << 20) /* after decoding, as the fetcher's */
#define ARCHIVED_RATIO_MAX 200

/* Kept from answer to answer. All zero to begin with. */
struct archived {
    struct heads heads, later;
    struct buf line, coding, chunks, body;
    fetch_wants_fn *wants; /* which bodies are read; NULL: as the fetcher's */
    struct span url;       /* of the answer at hand, for `wants`; borrowed */
};
void archived_done(struct archived *a);

/* What was forgiven; ARCHIVED_WRONG_CHUNKS and ARCHIVED_CUT: the body is what came before that. */
typedef enum archived_note {
    ARCHIVED_FINE,
    ARCHIVED_NOT_CHUNKED,
    ARCHIVED_WRONG_CHUNKS,
    ARCHIVED_CUT,
    ARCHIVED_NOT_CODED
} archived_note;
const char *archived_note_text(archived_note n);

/* `block` is head and body. Everything in *out lives until the next call. out->st is the fetcher's: ST_LIMIT for a body
 * that decodes to too much, ST_PROTOCOL for one that is coded otherwise than it says. ST_INVALID: that is no HTTP
 * answer. */
MUST_USE status archived_answer(struct archived *a, struct span block, struct fetch_result *out, archived_note *note);
/* The same body, answered once more with another head: a revisit. *out has the answer with the body. ST_INVALID: no
 * head; *out stays as it is. */
MUST_USE status archived_again(struct archived *a, struct span head, struct fetch_result *out);
/* Something that was no answer: its type and its bytes. */
void archived_resource(struct archived *a, struct span content_type, struct span block, struct fetch_result *out);
