#include "cli/import_survey.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "crawl/channel.h"
#include "io/entropy.h"
#include "web/url.h"

#define WAY_BYTES 1024 /* of a metadata record: enough to see what it says */
#define DEPTH_MAX 1000
#define HOPS_MAX UINT8_MAX

#define PLACE_BITS 17 /* of the file and whether it is inside; the rest is where */

/* A place in a file: never NULL. */
static void *pack_place(size_t file, uint64_t at, bool is_inside)
{
    return (void *)(uintptr_t)(at << PLACE_BITS | (is_inside ? 1u << 16 : 0) | (file + 1));
}

static bool place_is_inside(const void *place)
{
    return (uintptr_t)place >> 16 & 1;
}

/* Of a body that is there more than once the place that is easier to read counts. */
static void note_body(struct import_survey *s, size_t file, const struct warc_record *r)
{
    uint64_t key = siphash(&s->key, r->payload_digest_text);
    const void *known = table_get(&s->bodies, key);
    if (r->at >= UINT64_MAX >> PLACE_BITS || (!known && s->bodies.n >= SURVEY_BODIES_MAX))
        return;
    if (!known || !r->inside || place_is_inside(known))
        table_put(&s->bodies, key, pack_place(file, r->at, r->inside));
}

/* ---- sites ---- */

struct look {
    struct import_survey *s;
    size_t file;
    struct warc_reader *reader;
    struct arena arena;
    bool (*is_stopped)(void *arg);
    void *arg;
};

static void note_site(struct import_survey *s, struct arena *scratch, struct span text)
{
    struct url u;
    arena_reset(scratch);
    if (url_parse(scratch, text, NULL, &u) != ST_OK || !url_is_http(&u))
        return;
    struct span site = url_site(scratch, &u);
    uint64_t key = siphash(&s->key, site);
    if (table_get(&s->site_at, key))
        return;
    if (s->site_count == CHANNEL_SEEDS_MAX) {
        s->has_too_many = true;
        return;
    }
    char *copy = arena_bytes(&s->arena, site.n + 1);
    memcpy(copy, site.p, site.n);
    copy[site.n] = '/';
    table_put(&s->site_at, key, s);
    s->sites = mem_grow(s->sites, &s->site_cap, s->site_count + 1, sizeof(*s->sites));
    s->sites[s->site_count++] = span_of(copy, site.n + 1);
}

/* ---- what crawlers say of an answer ---- */

/* "LLR": two links and a redirect, as Heritrix has it. */
static void read_path(struct span path, unsigned *depth, unsigned *hops)
{
    for (size_t i = 0; i < path.n; i++) {
        *hops = path.p[i] == 'R' ? *hops + 1 : 0;
        *depth += path.p[i] != 'R' && path.p[i] != 'P';
    }
}

static void note_way(struct import_survey *s, const struct warc_record *r)
{
    struct span rest = span_cut(r->block, 0, WAY_BYTES), line;
    unsigned depth = 0, hops = 0;
    uint64_t v;
    bool has_any = false;
    while (rest.n && span_split(&rest, '\n', &line)) {
        size_t colon = span_find(line, ':', 0);
        struct span name = span_trim(span_cut(line, 0, colon)), value = span_trim(span_from(line, colon + 1));
        bool is_path = span_is(name, "hopsFromSeed"), is_depth = span_is(name, "depth"),
             is_hops = span_is(name, "hops");
        has_any |= is_path || is_depth || is_hops;
        if (is_path)
            read_path(value, &depth, &hops);
        else if (is_depth && span_u64(value, DEPTH_MAX, &v))
            depth = (unsigned)v;
        else if (is_hops && span_u64(value, HOPS_MAX, &v))
            hops = (unsigned)v;
    }
    if (!has_any || depth > DEPTH_MAX || hops > HOPS_MAX)
        return;
    for (size_t i = 0; i < r->concurrent_count && s->ways.n < SURVEY_WAYS_MAX; i++)
        table_put(&s->ways, siphash(&s->key, r->concurrent_to[i]), (void *)(uintptr_t)(depth << 16 | hops << 1 | 1));
}

/* ---- records ---- */

static bool is_page_type(warc_type t)
{
    return t == WARC_TYPE_RESPONSE || t == WARC_TYPE_RESOURCE || t == WARC_TYPE_REVISIT;
}

static void note_id(struct import_survey *s, struct span id)
{
    if (id.n && s->not_get.n < SURVEY_IDS_MAX)
        table_put(&s->not_get, siphash(&s->key, id), s);
}

static status on_record(void *self, const struct warc_record *r)
{
    struct look *l = self;
    struct import_survey *s = l->s;
    if (r->date >= 0 && s->order[l->file].begins < 0)
        s->order[l->file].begins = r->date;
    if (is_page_type(r->type))
        note_site(s, &l->arena, r->url);
    bool has_body = (r->type == WARC_TYPE_RESPONSE || r->type == WARC_TYPE_RESOURCE) && !r->is_short && !r->is_damaged;
    if (has_body && r->payload_digest_text.n)
        note_body(s, l->file, r);
    if (r->type == WARC_TYPE_REQUEST && !span_starts_nocase(r->block, SPAN("GET "))) {
        note_id(s, r->id);
        for (size_t i = 0; i < r->concurrent_count; i++)
            note_id(s, r->concurrent_to[i]);
    }
    if (r->type == WARC_TYPE_METADATA)
        note_way(s, r);
    return l->is_stopped && l->is_stopped(l->arg) ? ST_CANCELLED : ST_OK;
}

static void on_problem(void *self, uint64_t at, const char *what)
{
    (void)self; /* told when the records are taken */
    (void)at;
    (void)what;
}

static status feed(void *arg, struct span piece)
{
    struct look *l = arg;
    return warc_reader_feed(l->reader, piece);
}

static status look_through(struct look *l, const struct import_file *f, struct import_meter *meter)
{
    /* As much is held as when they are taken: it decides which records come out after a wrong length. */
    const struct warc_reader_opts o = {.no_digests = true};
    l->reader = warc_reader_new(&o, &(struct warc_events){on_record, on_problem, l});
    status st = import_file_read(f, 0, UINT64_MAX, meter, feed, l);
    if (st == ST_OK)
        st = warc_reader_end(l->reader);
    l->s->lead[l->file] = warc_reader_lead(l->reader);
    warc_reader_free(l->reader);
    return st;
}

static int by_text(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

/* The history of a page is whole when its visits come one after the other. Files of the same moment stay as given. */
static int by_age(const void *a, const void *b)
{
    const struct import_survey_age *x = a, *y = b;
    if (x->begins != y->begins)
        return x->begins < y->begins ? -1 : 1;
    return x->file < y->file ? -1 : 1;
}

int import_survey_run(struct import_survey *s, const struct import_files *files, struct import_meter *meter,
                      bool (*is_stopped)(void *arg), void *arg)
{
    struct look l = {.s = s, .is_stopped = is_stopped, .arg = arg};
    int code = EXIT_DONE;
    arena_init(&s->arena);
    arena_init(&l.arena);
    s->is_archive = mem_alloc(files->n * sizeof(*s->is_archive) + 1);
    s->lead = mem_alloc(files->n * sizeof(*s->lead) + 1);
    s->order = mem_alloc(files->n * sizeof(*s->order) + 1);
    for (size_t i = 0; i < files->n; i++)
        s->order[i] = (struct import_survey_age){-1, i};
    if (entropy_draw(&s->key, sizeof(s->key)) != ST_OK)
        code = complain(EXIT_IO, "import: draw a key: %s", strerror(errno));
    for (size_t i = 0; code == EXIT_DONE && i < files->n; i++) {
        l.file = i;
        status st = look_through(&l, &files->list[i], meter);
        s->is_archive[i] = st == ST_OK;
        s->archives += st == ST_OK;
        if (st == ST_OK || st == ST_CANCELLED)
            continue;
        import_meter_clear(meter);
        if (st == ST_IO)
            code = complain(EXIT_IO, "import: read %s: %s", files->list[i].name, strerror(errno));
        else
            (void)import_file_complain("import", &files->list[i]);
    }
    if (s->site_count)
        qsort(s->sites, s->site_count, sizeof(*s->sites), by_text);
    qsort(s->order, files->n, sizeof(*s->order), by_age);
    arena_done(&l.arena);
    return code;
}

void import_survey_done(struct import_survey *s)
{
    table_done(&s->site_at);
    table_done(&s->bodies);
    table_done(&s->not_get);
    table_done(&s->ways);
    free(s->sites);
    free(s->is_archive);
    free(s->lead);
    free(s->order);
    arena_done(&s->arena);
}

bool import_survey_body(const struct import_survey *s, struct span digest, size_t *file, uint64_t *at, bool *is_inside)
{
    const void *place = digest.n ? table_get(&s->bodies, siphash(&s->key, digest)) : NULL;
    if (!place)
        return false;
    *file = (size_t)((uintptr_t)place & 0xffff) - 1;
    *at = (uintptr_t)place >> PLACE_BITS;
    *is_inside = place_is_inside(place);
    return true;
}

void import_survey_way(const struct import_survey *s, const struct warc_record *r, unsigned *depth, unsigned *hops)
{
    uint64_t way = r->id.n ? (uintptr_t)table_get(&s->ways, siphash(&s->key, r->id)) : 0;
    *depth = (unsigned)(way >> 16);
    *hops = (unsigned)(way & 0xffff) >> 1;
}

bool import_survey_is_not_get(const struct import_survey *s, const struct warc_record *r)
{
    if (!s->not_get.n)
        return false;
    bool is = r->id.n && table_get(&s->not_get, siphash(&s->key, r->id));
    for (size_t i = 0; !is && i < r->concurrent_count; i++)
        is = table_get(&s->not_get, siphash(&s->key, r->concurrent_to[i]));
    return is;
}
