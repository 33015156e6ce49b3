#include "coord/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "wire/capture.h"

#define TAG_MAX 48

struct warc_store {
    struct warc_store_opts o;
    char *dir;                /* owned */
    struct warc_files *files; /* NULL: nothing was kept yet */
    struct warc_writer *writer;
    /* the package at hand */
    char tag[TAG_MAX];
    bool is_there; /* it was appended before */
    struct buf records, original, facts;
    struct warc_note *notes; /* owned; their URLs are in `strings` */
    size_t note_count, note_cap;
    struct arena strings;
};

static void draw(void *self, void *to, size_t n)
{
    (void)self;
    if (entropy_draw(to, n) != ST_OK)
        memset(to, (int)(clock_mono_us() & 0xff), n); /* ids that are alike do no harm beyond themselves */
}

static status open_files(struct warc_store *s, struct buf *why)
{
    char host[256] = "", software[64];
    snprintf(software, sizeof(software), "orbweaver/%.*s", SPAN_ARG(s->o.version));
    (void)gethostname(host, sizeof(host) - 1);
    struct warc_files_opts w = {
        .dir = s->dir,
        .kind = MEMBER_GZIP,
        .is_marked = true,
        .info = {.software = span_str(software), .hostname = span_str(host), .robots = SPAN("obey")},
        .wall = clock_wall,
        .draw = draw};
    draw(NULL, &w.key, sizeof(w.key));
    status st = warc_files_open(&w, &s->files, why);
    if (st == ST_OK)
        s->is_there = span_is(warc_files_tag(s->files), s->tag);
    return st;
}

status warc_store_new(const struct warc_store_opts *o, struct warc_store **out, struct buf *why)
{
    struct warc_store *s = mem_alloc(sizeof(*s));
    struct buf path = {0};
    struct stat sb;
    s->o = *o;
    buf_printf(&path, "%s/warc", o->data_dir);
    s->dir = mem_str(buf_span(&path));
    buf_done(&path);
    arena_init(&s->strings);
    s->writer = warc_writer_new(MEMBER_GZIP, draw, NULL);
    status st = stat(s->dir, &sb) == 0 ? open_files(s, why) : ST_OK;
    if (st == ST_OK)
        *out = s;
    else
        warc_store_free(s);
    return st;
}

void warc_store_free(struct warc_store *s)
{
    if (!s)
        return;
    warc_files_close(s->files);
    warc_writer_free(s->writer);
    buf_done(&s->records);
    buf_done(&s->original);
    buf_done(&s->facts);
    arena_done(&s->strings);
    free(s->notes);
    free(s->dir);
    free(s);
}

void warc_store_begin(struct warc_store *s, uint64_t agent, uint64_t package)
{
    snprintf(s->tag, sizeof(s->tag), "%llu:%llu", (unsigned long long)agent, (unsigned long long)package);
    s->is_there = s->files && span_is(warc_files_tag(s->files), s->tag);
    buf_clear(&s->records);
    s->note_count = 0;
    arena_reset(&s->strings);
}

/* Which record has this body already? Bodies of the package at hand are not among them: they are not there yet. */
static bool find_original(struct warc_store *s, const struct warc_capture *c, unsigned http_status,
                          const struct digest160 *payload, struct warc_original *out)
{
    *out = (struct warc_original){.payload = *payload};
    bool has = false;
    if (!s->files)
        return false;
    if (http_status == 304) {
        has = warc_seen_url(warc_files_seen(s->files), c->url, &out->payload, &s->original, &out->at);
        out->is_not_modified = true;
    } else if (c->body.n && c->cut == WARC_WHOLE) {
        has = warc_seen_payload(warc_files_seen(s->files), payload, c->url, &s->original, &out->at);
    }
    out->url = buf_span(&s->original);
    return has;
}

static void add_note(struct warc_store *s, struct warc_note note)
{
    note.url = arena_copy(&s->strings, note.url);
    note.end = s->records.n;
    s->notes = mem_grow(s->notes, &s->note_cap, s->note_count + 1, sizeof(*s->notes));
    s->notes[s->note_count++] = note;
}

bool warc_store_visit(struct warc_store *s, const struct summary *visit)
{
    struct warc_capture c;
    struct warc_original original;
    struct warc_note note;
    if (capture_unpack(visit->capture, &c) != ST_OK)
        return false;
    if (s->is_there)
        return true;
    c.url = visit->url;
    c.address = visit->address;
    buf_clear(&s->facts);
    if (visit->total_us >= 0)
        buf_printf(&s->facts, "fetchTimeMs: %d\r\n", visit->total_us / 1000);
    buf_printf(&s->facts, "depth: %u\r\nhops: %u\r\nagent: %.*s\r\n", visit->depth, visit->hops,
               (int)strcspn(s->tag, ":"), s->tag);
    c.facts = buf_span(&s->facts);
    struct digest160 payload = warc_payload_digest(&c);
    const struct warc_original *same = find_original(s, &c, visit->http_status, &payload, &original) ? &original : NULL;
    warc_put_capture(s->writer, &c, &payload, same, &s->records);
    if (warc_note_of(&c, visit->http_status, &payload, same, &note))
        add_note(s, note);
    return true;
}

status warc_store_commit(struct warc_store *s)
{
    struct buf why = {0};
    status st = ST_OK;
    if (!s->records.n)
        return ST_OK;
    if (!s->files)
        st = open_files(s, &why);
    if (st == ST_OK && !s->is_there)
        st = warc_files_append_once(s->files, buf_span(&s->records), s->notes, s->note_count, span_str(s->tag));
    s->is_there |= st == ST_OK;
    buf_done(&why);
    return st;
}

uint64_t warc_store_bytes(const struct warc_store *s)
{
    return s->files ? warc_files_bytes(s->files) : 0;
}
