#include "cli/import_pages.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "codec/http_text.h"
#include "codec/warc_value.h"

#define PROBLEMS_SHOWN 10 /* of a file */

/* ---- telling ---- */

static void tell(struct import_pages *p, uint64_t at, const char *what)
{
    p->n.problems++;
    if (++p->told > PROBLEMS_SHOWN)
        return;
    import_meter_clear(p->meter);
    (void)complain(0, "import: %s: at byte %llu: %s", p->files->list[p->file].name, (unsigned long long)at, what);
}

static void leave_out(struct import_pages *p, const struct warc_record *r, const char *what)
{
    p->n.bad++;
    tell(p, r->at, what);
}

/* ---- one visit ---- */

/* Is it wanted? Counts what is not. */
static status check(struct import_pages *p, const struct warc_record *r, unsigned http, struct crawl_import_page *page,
                    bool *is_wanted)
{
    crawl_import_verdict verdict;
    status st = crawl_import_check(p->cr, p->channel, r->url, r->date, http, page, &verdict);
    *is_wanted = false;
    if (st != ST_OK)
        return st;
    if (verdict == IMPORT_OUT_OF_SCOPE)
        p->n.out_of_scope++;
    else if (verdict == IMPORT_FORGOTTEN)
        p->n.forgotten++;
    else if (verdict == IMPORT_NO_URL || page->is_robots)
        p->n.no_page++;
    else if (verdict == IMPORT_OLDER)
        p->n.known++;
    else
        *is_wanted = true;
    import_survey_way(p->survey, r, &page->depth, &page->hops);
    return ST_OK;
}

static status take(struct import_pages *p, const struct warc_record *r, const struct crawl_import_page *page,
                   struct fetch_result *answer)
{
    if (addr_parse(r->address, &answer->addr) != ST_OK)
        answer->addr.family = 0;
    if (r->is_cut || r->truncated.n)
        answer->body_cut = true;
    status st = crawl_import(p->cr, page, answer);
    if (st == ST_OK) {
        p->n.taken++;
        p->n.unchanged += answer->http_status == 304;
        p->meter->pages++;
    }
    return st;
}

static status take_response(struct import_pages *p, const struct warc_record *r)
{
    struct crawl_import_page page;
    struct fetch_result answer;
    archived_note note;
    bool is_wanted;
    unsigned http = http_answer_status(r->block);
    if (!http) {
        leave_out(p, r, "it is no HTTP answer");
        return ST_OK;
    }
    if (http == 206 || r->is_segment || import_survey_is_not_get(p->survey, r)) {
        p->n.no_page++;
        return ST_OK;
    }
    status st = check(p, r, http, &page, &is_wanted);
    if (st != ST_OK || !is_wanted)
        return st;
    p->answer.url = r->url;
    if (archived_answer(&p->answer, r->block, &answer, &note) != ST_OK) {
        leave_out(p, r, "it is no HTTP answer");
        return ST_OK;
    }
    if (note != ARCHIVED_FINE && !(note == ARCHIVED_CUT && r->is_cut))
        tell(p, r->at, archived_note_text(note));
    if (http == 304 && !page.has_copy) {
        p->n.no_original++;
        return ST_OK;
    }
    return take(p, r, &page, &answer);
}

static status take_resource(struct import_pages *p, const struct warc_record *r)
{
    struct crawl_import_page page;
    struct fetch_result answer;
    bool is_wanted;
    if (r->is_segment) {
        p->n.no_page++;
        return ST_OK;
    }
    status st = check(p, r, 200, &page, &is_wanted);
    if (st != ST_OK || !is_wanted)
        return st;
    p->answer.url = r->url;
    archived_resource(&p->answer, r->content_type, r->block, &answer);
    return take(p, r, &page, &answer);
}

/* ---- revisits ---- */

struct original {
    struct import_pages *p;
    struct span digest;
    struct warc_reader *reader;
    struct fetch_result *answer;
    bool is_found;
};

/* The answer that a record has, when that is a whole one with this body. */
static bool read_original(struct import_pages *p, const struct warc_record *r, struct span digest,
                          struct fetch_result *answer)
{
    archived_note note;
    if (!span_eq(r->payload_digest_text, digest) || r->is_short || r->is_damaged)
        return false;
    p->answer.url = r->url;
    if (r->type == WARC_TYPE_RESPONSE)
        return archived_answer(&p->answer, r->block, answer, &note) == ST_OK;
    if (r->type == WARC_TYPE_RESOURCE)
        archived_resource(&p->answer, arena_copy(&p->arena, r->content_type), r->block, answer);
    return r->type == WARC_TYPE_RESOURCE;
}

static status on_original(void *self, const struct warc_record *r)
{
    struct original *o = self;
    o->is_found = read_original(o->p, r, o->digest, o->answer);
    return ST_END;
}

static void on_original_problem(void *self, uint64_t at, const char *what)
{
    (void)self; /* told where it stands */
    (void)at;
    (void)what;
}

static status feed_original(void *arg, struct span piece)
{
    struct original *o = arg;
    return warc_reader_feed(o->reader, piece);
}

/* The answer that has the body, out of whatever file it is in. */
static bool find_original(struct import_pages *p, const struct warc_record *r, struct fetch_result *answer)
{
    struct original o = {.p = p, .digest = r->payload_digest_text, .answer = answer};
    size_t file;
    uint64_t at;
    bool is_inside;
    if (!import_survey_body(p->survey, o.digest, &file, &at, &is_inside) || is_inside)
        return false;
    const struct import_file *f = &p->files->list[file];
    const struct warc_reader_opts opts = {.no_digests = true};
    status st = ST_OK;
    uint64_t lead = p->survey->lead[file];
    o.reader = warc_reader_new(&opts, &(struct warc_events){on_original, on_original_problem, &o});
    if (lead && at >= lead)
        st = import_file_read(f, 0, lead, NULL, feed_original, &o);
    if (st == ST_OK)
        st = import_file_read(f, at, UINT64_MAX, NULL, feed_original, &o);
    if (st == ST_OK)
        st = warc_reader_end(o.reader); /* it was the last of its file */
    (void)st;                           /* found or not */
    warc_reader_free(o.reader);
    return o.is_found;
}

/* It was looked at and found as it was. */
static void say_unchanged(struct import_pages *p, const struct warc_record *r, struct fetch_result *answer)
{
    archived_note note;
    p->answer.url = r->url;
    if (archived_answer(&p->answer, r->block, answer, &note) != ST_OK)
        archived_resource(&p->answer, (struct span){0}, (struct span){0}, answer);
    answer->http_status = 304;
    answer->body = (struct span){0};
    answer->body_unwanted = false;
}

/* It says of its page what needs no body: that it is gone, has moved, or fails. */
static bool says_enough(const struct warc_record *r)
{
    unsigned http = http_answer_status(r->block);
    return http >= 300 && http != 304;
}

/* Whether the folder's copy can be what the revisit found: not when that came later, or was replaced since, and is in
 * no file that is read. */
static status check_copy(struct import_pages *p, const struct warc_record *r, struct crawl_import_page *page,
                         bool *is_of)
{
    wall_ms at;
    *is_of = page->has_copy;
    return warc_date_read(r->refers_to_date, &at) ? crawl_import_is_copy_of(p->cr, page, at, is_of) : ST_OK;
}

/* What a revisit says of its page. `original` has the body, or is NULL when it was not found. */
static status take_revisit_of(struct import_pages *p, const struct warc_record *r, struct crawl_import_page *page,
                              bool is_not_modified, struct fetch_result *original)
{
    struct fetch_result answer;
    bool is_of, is_same_url = !r->refers_to_url.n || span_eq(r->refers_to_url, r->url);
    if (original) {
        int http = original->http_status;
        status again = archived_again(&p->answer, r->block, original);
        (void)again; /* without a head of its own the original's counts */
        if (is_not_modified)
            original->http_status = http;
        return take(p, r, page, original);
    }
    if (!is_not_modified && says_enough(r)) {
        archived_note note;
        p->answer.url = r->url;
        if (archived_answer(&p->answer, r->block, &answer, &note) == ST_OK)
            return take(p, r, page, &answer);
    }
    status st = check_copy(p, r, page, &is_of);
    if (st != ST_OK)
        return st;
    if (!is_of || !(is_same_url || is_not_modified)) {
        p->n.no_original++;
        return ST_OK;
    }
    say_unchanged(p, r, &answer);
    return take(p, r, page, &answer);
}

static bool is_not_modified(const struct warc_record *r)
{
    return span_search(r->profile, SPAN("server-not-modified"), true) < r->profile.n;
}

/* As check; what is wanted is the page that was there. */
static status check_revisit(struct import_pages *p, const struct warc_record *r, struct crawl_import_page *page,
                            bool *is_wanted)
{
    unsigned http = http_answer_status(r->block);
    return check(p, r, !http || is_not_modified(r) ? 200 : http, page, is_wanted);
}

/* Its body is where no reading begins: it waits. */
static bool put_off(struct import_pages *p, const struct warc_record *r)
{
    size_t file;
    uint64_t at;
    bool is_inside;
    if (!import_survey_body(p->survey, r->payload_digest_text, &file, &at, &is_inside) || !is_inside ||
        !import_later_add(&p->later, &p->survey->key, r))
        return false;
    if (!p->has_later)
        p->has_later = mem_alloc(p->files->n * sizeof(*p->has_later));
    p->has_later[file] = true;
    return true;
}

static status take_revisit(struct import_pages *p, const struct warc_record *r)
{
    struct crawl_import_page page;
    struct fetch_result answer;
    bool is_wanted, is_of = false;
    if (import_survey_is_not_get(p->survey, r)) {
        p->n.no_page++;
        return ST_OK;
    }
    status st = check_revisit(p, r, &page, &is_wanted);
    if (st != ST_OK || !is_wanted)
        return st;
    if (is_not_modified(r))
        st = check_copy(p, r, &page, &is_of);
    if (st != ST_OK)
        return st;
    if (is_of)
        return take_revisit_of(p, r, &page, true, NULL);
    if (put_off(p, r))
        return ST_OK;
    bool is_found = find_original(p, r, &answer);
    return take_revisit_of(p, r, &page, is_not_modified(r), is_found ? &answer : NULL);
}

/* Those that waited for the body of `original`, or, when it is NULL, in vain. */
static status take_put_off(struct import_pages *p, const struct later_revisit *w, const struct warc_record *original)
{
    status st = ST_OK;
    for (; st == ST_OK && w; w = w->next) {
        struct crawl_import_page page;
        struct fetch_result answer;
        bool is_wanted;
        st = check_revisit(p, &w->r, &page, &is_wanted);
        if (st != ST_OK || !is_wanted)
            continue;
        bool is_found = original && read_original(p, original, w->r.payload_digest_text, &answer);
        st = take_revisit_of(p, &w->r, &page, is_not_modified(&w->r), is_found ? &answer : NULL);
    }
    return st;
}

/* ---- a file ---- */

/* Crawlers record name lookups and notes of their own too, under other schemes. */
static bool is_of_the_web(struct span url)
{
    return span_starts_nocase(url, SPAN("http:")) || span_starts_nocase(url, SPAN("https:"));
}

static bool is_page_type(warc_type t)
{
    return t == WARC_TYPE_RESPONSE || t == WARC_TYPE_RESOURCE || t == WARC_TYPE_REVISIT;
}

static status on_record(void *self, const struct warc_record *r)
{
    struct import_pages *p = self;
    status st = ST_OK;
    p->n.records++;
    p->n.types[r->type]++;
    arena_reset(&p->arena);
    if (p->is_stopped(p->arg))
        return ST_CANCELLED;
    bool is_whole = !r->is_short || (r->type == WARC_TYPE_RESPONSE && http_answer_is_whole(r->block));
    if (r->is_damaged || !is_whole) {
        p->n.bad++; /* told already */
        return ST_OK;
    }
    if (is_page_type(r->type) && !is_of_the_web(r->url))
        p->n.no_page++;
    else if (r->type == WARC_TYPE_RESPONSE)
        st = take_response(p, r);
    else if (r->type == WARC_TYPE_RESOURCE)
        st = take_resource(p, r);
    else if (r->type == WARC_TYPE_REVISIT)
        st = take_revisit(p, r);
    return st;
}

static void on_problem(void *self, uint64_t at, const char *what)
{
    tell(self, at, what);
}

struct feeding {
    struct import_pages *p;
    bool is_reader; /* what came back is the reader's word, not the file's */
};

static status feed(void *arg, struct span piece)
{
    struct feeding *f = arg;
    status st = warc_reader_feed(f->p->reader, piece);
    f->is_reader = st != ST_OK;
    return st;
}

/* All records of a file. *is_file: it is the file that could not be read. */
static status read_file(struct import_pages *p, size_t file, bool no_digests, const struct warc_events *events,
                        bool *is_file)
{
    struct feeding f = {.p = p};
    const struct warc_reader_opts o = {.no_digests = no_digests};
    p->reader = warc_reader_new(&o, events);
    status st = import_file_read(&p->files->list[file], 0, UINT64_MAX, p->meter, feed, &f);
    if (st == ST_OK) {
        f.is_reader = true;
        st = warc_reader_end(p->reader);
    }
    warc_reader_free(p->reader);
    p->reader = NULL;
    *is_file = st == ST_IO && !f.is_reader;
    return st;
}

status import_pages_run(struct import_pages *p, size_t file, bool *is_file)
{
    p->file = file;
    p->told = 0;
    status st = read_file(p, file, false, &(struct warc_events){on_record, on_problem, p}, is_file);
    if (p->told > PROBLEMS_SHOWN) {
        import_meter_clear(p->meter);
        (void)complain(0, "import: %s: %llu more like these", p->files->list[file].name,
                       (unsigned long long)(p->told - PROBLEMS_SHOWN));
    }
    return st;
}

/* ---- what had to wait ---- */

static status on_record_again(void *self, const struct warc_record *r)
{
    struct import_pages *p = self;
    arena_reset(&p->arena);
    if (p->is_stopped(p->arg))
        return ST_CANCELLED;
    if ((r->type != WARC_TYPE_RESPONSE && r->type != WARC_TYPE_RESOURCE) || r->is_short || r->is_damaged)
        return ST_OK;
    return take_put_off(p, import_later_take(&p->later, &p->survey->key, r->payload_digest_text), r);
}

static status look_again(struct import_pages *p, size_t file, bool *is_file)
{
    return read_file(p, file, true, &(struct warc_events){on_record_again, on_original_problem, p}, is_file);
}

status import_pages_rest(struct import_pages *p, size_t *file, bool *is_file)
{
    uint64_t done = p->meter->done;
    status st = ST_OK;
    size_t at = 0;
    *is_file = false;
    p->meter->doing = "revisits:";
    p->meter->done = 0;
    for (*file = 0; p->has_later && st == ST_OK && *file < p->files->n; ++*file)
        if (p->has_later[*file]) {
            st = look_again(p, *file, is_file);
            if (*is_file)
                break;
        }
    p->meter->done = done; /* of the files, once */
    for (const struct later_revisit *w; st == ST_OK && (w = import_later_next(&p->later, &at));)
        st = take_put_off(p, w, NULL);
    return st;
}

void import_pages_done(struct import_pages *p)
{
    archived_done(&p->answer);
    arena_done(&p->arena);
    import_later_done(&p->later);
    free(p->has_later);
}
