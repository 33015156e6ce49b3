/* finish.c - what happens to a page after its visit: journal first, then everything else.
 *
 * Pages of one turn of the loop are written with one write(2): finish_page collects, finish_flush writes, and only then
 * queues their links, hands the summaries to the writer and gives the hosts back. When the disk is full all of that
 * waits. */
#include "base/mem.h"
#include "base/pack.h"
#include "crawl/engine.h"
#include "io/clock.h"

#define TURN_PAGES 32               /* written at once, at most */
#define TURN_ARENA_BYTES (8u << 20) /* or when their facts take so much */
#define BATCH_BYTES (48u << 10)     /* summaries handed to the writer at a time; below malloc's threshold for mmap */
#define STALL_RETRY_MS 1000
#define STALL_MAX_MS 30000 /* a full disk is waited for so long, then the run ends */

static void count_result(struct shard *s, const struct summary *sum)
{
    struct crawl_stats *n = &s->stats;
    n->bytes_body += sum->body_bytes;
    if (sum->is_refused) {
        n->refused_robots++;
    } else if (sum->failure != ST_OK) {
        n->errors++;
        n->errors_by_kind[sum->failure]++;
    } else if (sum->http_status == 304) {
        return; /* the writer counts what is unchanged, by digest too */
    } else if (sum->http_status >= 200 && sum->http_status < 300 && sum->page_flags & PAGE_LIST) {
        n->lists++;
    } else if (sum->http_status >= 200 && sum->http_status < 300) {
        n->fetched++;
        if (!sum->is_known)
            atomic_fetch_add(&s->crawl->good_pages, 1);
        if (!sum->is_html) {
            n->not_html++;
            n->not_read += !sum->digest;
        } else if (sum->text_bytes < CRAWL_THIN_BYTES) {
            n->thin++;
        }
    } else if (sum->http_status >= 300 && sum->http_status < 400) {
        n->redirects++;
    } else if (sum->http_status == 404 || sum->http_status == 410) {
        n->gone++;
    } else {
        n->errors++;
        if (sum->http_status >= 500)
            n->http_5xx++;
        else
            n->http_4xx++;
    }
}

static void count_in_lane(struct shard_lane *l, const struct summary *sum)
{
    l->n.bytes += sum->wire_bytes;
    l->n.storing++; /* less what the writer has done: lane.c */
    if (sum->is_refused)
        return;
    if (sum->failure != ST_OK)
        l->n.errors++;
    else if (sum->http_status >= 200 && sum->http_status < 300)
        l->n.fetched += !(sum->page_flags & PAGE_LIST);
    else if (sum->http_status == 404 || sum->http_status == 410)
        l->n.gone++;
    else if (sum->http_status >= 400)
        l->n.errors++;
}

static void queue_links(struct shard *s, const struct finished *f)
{
    for (size_t i = 0; i < f->sum.link_count; i++) {
        const struct summary_link *l = &f->sum.links[i];
        if (!(l->flags & SUMMARY_LINK_NEW))
            continue;
        struct frontier_url u = {.key = l->key,
                                 .url = f->urls[i],
                                 .channel = f->sum.channel,
                                 .depth = l->depth,
                                 .hops = l->hops,
                                 .is_urgent = l->hops > 0 && l->kind == LINK_REFRESH};
        shard_queue(s, &u);
    }
}

/* The record is in the journal: from here on the page counts as done. */
static void complete(struct shard *s, const struct finished *f)
{
    struct job *j = f->job;
    struct shard_lane *lane = shard_lane(s, f->sum.channel);
    count_result(s, &f->sum);
    if (lane)
        count_in_lane(lane, &f->sum);
    queue_links(s, f);
    pack_text(&s->batch, span_of(s->packed.p + f->packed_at, f->packed_n));
    if (s->batch.n >= BATCH_BYTES)
        writer_put(s->crawl->writer, &s->batch);
    if (j->lease.kind == LEASE_PAGE && !j->imported_at)
        atomic_fetch_sub(&s->crawl->lent_pages, 1);
    if (!j->imported_at)
        frontier_done(s->frontier, shard_now(s), j->lease.id, &j->result);
    job_free(j);
}

static void stall(struct shard *s, status st, const char *doing)
{
    mono_ms now = shard_now(s);
    if (!s->is_stalled) {
        s->is_stalled = true;
        s->stats.disk_trouble = true;
        s->stalled_since = now;
        log_write(s->crawl->o.log, LOG_ERROR, "journal", "%s: no space left: waiting", doing);
    }
    if (st != ST_FULL || now - s->stalled_since > STALL_MAX_MS)
        crawl_fail(s->crawl, st, doing);
    else
        timer_set(s->due, STALL_RETRY_MS);
}

void finish_flush(struct shard *s)
{
    if (archive_is_waiting(&s->archive)) {
        status kept = archive_flush(&s->archive);
        if (kept != ST_OK) {
            stall(s, kept, "write to the WARC folder");
            return;
        }
        if (!s->framed.n)
            s->is_stalled = s->stats.disk_trouble = false;
    }
    if (!s->framed.n)
        return;
    status st = records_append_framed(s->journal, buf_span(&s->framed));
    if (st != ST_OK) {
        stall(s, st, "write the journal");
        return;
    }
    atomic_fetch_add(&s->journal_bytes, s->framed.n);
    s->is_stalled = s->stats.disk_trouble = false;
    for (size_t i = 0; i < s->finished_count; i++)
        complete(s, &s->finished[i]);
    s->finished_count = 0;
    buf_clear(&s->framed);
    buf_clear(&s->packed);
    arena_reset(&s->arena);
}

/* Its back-off goes into the journal with the rest of the turn, so that it survives a kill. */
static void retry_later(struct shard *s, struct job *j)
{
    struct buf state = {0};
    struct span host = j->lease.host;
    s->stats.retries++;
    atomic_fetch_sub(&s->crawl->lent_pages, 1);
    frontier_done(s->frontier, shard_now(s), j->lease.id, &j->result);
    if (frontier_host_state(s->frontier, shard_now(s), clock_wall(), host, &state) == ST_OK)
        records_frame(&s->framed, REC_HOST, buf_span(&state));
    buf_done(&state);
    job_free(j);
}

/* The channel ended meanwhile: nothing is written down, but the host was asked and gets its rest. */
static void discard(struct shard *s, struct job *j)
{
    if (j->lease.kind == LEASE_PAGE)
        atomic_fetch_sub(&s->crawl->lent_pages, 1);
    crawl_note_away(s->crawl, j->lease.key);
    frontier_done(s->frontier, shard_now(s), j->lease.id, &j->result);
    job_free(j);
}

void finish_page(struct shard *s, struct job *j, struct summary *sum, const struct url *const *urls)
{
    if (!shard_lane(s, sum->channel)) {
        discard(s, j);
        return;
    }
    if (!j->imported_at && frontier_would_retry(s->frontier, j->lease.id, &j->result)) {
        retry_later(s, j);
        return;
    }
    sum->fetch_number = atomic_fetch_add(&s->crawl->next_fetch, 1);
    s->finished = mem_grow(s->finished, &s->finished_cap, s->finished_count + 1, sizeof(*s->finished));
    struct finished *f = &s->finished[s->finished_count++];
    *f = (struct finished){.job = j, .sum = *sum, .urls = urls, .packed_at = s->packed.n};
    summary_pack(sum, &s->packed);
    f->packed_n = s->packed.n - f->packed_at;
    records_frame(&s->framed, REC_SUMMARY, span_of(s->packed.p + f->packed_at, f->packed_n));
    if (!s->is_stalled && (s->finished_count >= TURN_PAGES || s->arena.total > TURN_ARENA_BYTES))
        finish_flush(s);
}
