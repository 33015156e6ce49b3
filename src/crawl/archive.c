#include "crawl/archive.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"

#define RECORDS_BYTES_MAX (8u << 20) /* written before the turn ends */

static void draw(void *self, void *to, size_t n)
{
    struct rng *rng = self;
    for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
        uint64_t v = rng_u64(rng);
        memcpy((char *)to + at, &v, n - at < sizeof(v) ? n - at : sizeof(v));
    }
}

void archive_init(struct archive *a, struct warc_files *files, member_kind kind)
{
    uint64_t seed = (uint64_t)clock_mono_us();
    *a = (struct archive){.files = files};
    arena_init(&a->strings);
    if (!files)
        return;
    if (entropy_draw(&seed, sizeof(seed)) != ST_OK) /* record ids need to be different, not secret */
        seed ^= (uintptr_t)a;
    rng_seed(&a->rng, seed);
    a->writer = warc_writer_new(kind, draw, &a->rng);
}

void archive_done(struct archive *a)
{
    warc_writer_free(a->writer);
    buf_done(&a->records);
    buf_done(&a->facts);
    buf_done(&a->original);
    free(a->notes);
    arena_done(&a->strings);
}

bool archive_has(struct archive *a, struct span url)
{
    struct digest160 payload;
    wall_ms at;
    return warc_seen_url(warc_files_seen(a->files), url, &payload, &a->original, &at);
}

struct warc_capture capture_of(struct span url, const struct fetch_result *r, char address[ADDR_TEXT_MAX])
{
    struct warc_capture c = {.url = url,
                             .at = clock_wall() - (r->timing.total_us > 0 ? r->timing.total_us / 1000 : 0),
                             .request = r->request,
                             .head = r->head,
                             .body = r->raw,
                             .is_http2 = r->http_version >= 20};
    if (r->addr.family)
        c.address = span_str(addr_format(&r->addr, address));
    if (r->raw_cut)
        c.cut = WARC_CUT_LENGTH;
    else if (r->raw_broken)
        c.cut = r->st == ST_TIMEOUT ? WARC_CUT_TIME : WARC_CUT_DISCONNECT;
    return c;
}

/* Which record has this body already? */
static bool find_original(struct archive *a, const struct warc_capture *c, const struct fetch_result *r,
                          struct digest160 *payload, struct warc_original *out)
{
    struct warc_seen *seen = warc_files_seen(a->files);
    *out = (struct warc_original){.payload = *payload};
    bool has = false;
    if (r->http_status == 304) {
        has = warc_seen_url(seen, c->url, &out->payload, &a->original, &out->at);
        out->is_not_modified = true;
    } else if (c->body.n && c->cut == WARC_WHOLE) {
        has = warc_seen_payload(seen, payload, c->url, &a->original, &out->at);
    }
    out->url = buf_span(&a->original);
    return has;
}

static void add_note(struct archive *a, struct warc_note note)
{
    note.url = arena_copy(&a->strings, note.url);
    note.end = a->records.n;
    a->notes = mem_grow(a->notes, &a->note_cap, a->note_count + 1, sizeof(*a->notes));
    a->notes[a->note_count++] = note;
}

void archive_take(struct archive *a, struct span url, const struct fetch_result *r, struct span facts)
{
    char address[ADDR_TEXT_MAX];
    if (!r->has_raw)
        return;
    if (a->records.n > RECORDS_BYTES_MAX) {
        status st = archive_flush(a);
        (void)st; /* one that fails is tried again, and told of, when the turn ends */
    }
    struct warc_capture c = capture_of(url, r, address);
    struct digest160 payload = warc_payload_digest(&c);
    struct warc_original original;
    struct warc_note note;
    const struct warc_original *same = find_original(a, &c, r, &payload, &original) ? &original : NULL;
    c.facts = facts;
    warc_put_capture(a->writer, &c, &payload, same, &a->records);
    if (warc_note_of(&c, (unsigned)r->http_status, &payload, same, &note))
        add_note(a, note);
}

status archive_flush(struct archive *a)
{
    status st = warc_files_append(a->files, buf_span(&a->records), a->notes, a->note_count);
    if (st != ST_OK)
        return st;
    buf_clear(&a->records);
    a->note_count = 0;
    arena_reset(&a->strings);
    return ST_OK;
}
