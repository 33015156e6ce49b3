/* readings.c - pages that another program has to read: PDFs, between the fetch and the visit.
 *
 * pdftotext works in a locked-down process (mobile/reader.h) and takes its time, so the answer is kept here until it
 * has spoken, as with programs.c. Meanwhile the page counts as in flight: its host is not asked again, and its network
 * is not handed over. While too many bytes wait, the shard lends nothing new. */
#include <stdlib.h>

#include "base/mem.h"
#include "crawl/engine.h"
#include "web/document.h"

#define WAITING_BYTES_MAX (64u << 20) /* of a shard: above it nothing is lent until some are read */
#define PDF_BYTES_MAX (16u << 20)     /* as the fetcher has it, unless it is told otherwise */
#define HEAD_BYTES (64u << 10)        /* of what pdftotext says before the text */

struct waiting_page {
    struct job *job;    /* owned */
    struct arena arena; /* of `result` */
    struct fetch_result result;
};

void readings_look(struct crawl *cr)
{
    if (!cr->o.pdf_program)
        cr->o.pdf_program = reader_find_pdftotext();
    cr->pdf_state = cr->o.no_pdf ? ST_UNSUPPORTED : reader_look(cr->o.worker_path, cr->o.pdf_program);
    if (cr->pdf_state == ST_REFUSED)
        log_write(cr->o.log, LOG_WARN, "pdf", "not read: this kernel has no Landlock to lock pdftotext up with");
}

/* Half a PDF is none: one that would be cut is not fetched. */
static bool wants_pdf_too(struct span content_type, struct span url, uint64_t declared_bytes)
{
    return document_is_read(content_type, url) ||
           (document_kind_of(content_type, url) == DOCUMENT_PDF && declared_bytes <= PDF_BYTES_MAX);
}

fetch_wants_fn *readings_wants(const struct crawl *cr)
{
    return cr->pdf_state == ST_OK ? wants_pdf_too : document_is_wanted;
}

status readings_reader(const struct crawl *cr, struct loop *l, unsigned at_once, struct reader **reader)
{
    const char *const args[] = {cr->o.pdf_program, "-q", "-htmlmeta", "-enc", "UTF-8", "-", "-", NULL};
    const struct reader_opts o = {
        .worker_path = cr->o.worker_path, .args = args, .at_once = at_once, .output_max = FACTS_TEXT_MAX + HEAD_BYTES};
    return *reader ? ST_OK : reader_new(l, &o, reader);
}

bool readings_are_for(const struct crawl *cr, struct span url, const struct fetch_result *r)
{
    return cr->pdf_state == ST_OK && r->st == ST_OK && r->http_status >= 200 && r->http_status <= 299 &&
           !r->body_unwanted && !r->body_cut && r->body.n && document_kind_of(r->content_type, url) == DOCUMENT_PDF;
}

static void on_reading(void *arg, const struct reading *r)
{
    struct waiting_page *w = arg;
    struct shard *s = w->job->shard;
    s->in_flight--;
    if (s->is_quitting) {
        job_free(w->job);
    } else {
        w->job->reading = r;
        visit_page(s, w->job, &w->result, NULL);
        if (!s->is_stalled)
            timer_set(s->due, 0);
    }
    arena_done(&w->arena);
    free(w);
}

bool readings_ask(struct shard *s, struct job *j, const struct fetch_result *r)
{
    if (!readings_are_for(s->crawl, j->lease.url, r) || readings_reader(s->crawl, s->loop, 1, &s->reader) != ST_OK)
        return false;
    struct waiting_page *w = mem_alloc(sizeof(*w));
    arena_init(&w->arena);
    w->job = j;
    w->result = fetch_result_copy(&w->arena, r);
    s->in_flight++;
    reader_read(s->reader, w->result.body, on_reading, w);
    return true;
}

bool readings_are_behind(const struct shard *s)
{
    return s->reader && reader_bytes(s->reader) > WAITING_BYTES_MAX;
}

void readings_done(struct shard *s)
{
    reader_free(s->reader); /* calls back what waits: on_reading frees it */
    s->reader = NULL;
}
