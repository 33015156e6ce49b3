#include "io/clock.h"
#include "io/fetch_job.h"
#include "io/fetch_request.h"

static bool may_read(void *arg)
{
    struct job *j = arg;
    j->is_paused = fetch_rate_is_spent(j->owner);
    if (j->is_paused)
        fetch_rate_wait(j->owner);
    return !j->is_paused;
}

static bool on_piece(void *arg, struct span piece)
{
    struct job *j = arg;
    j->call.body_bytes += piece.n;
    if (j->owner->rate_bytes_per_s)
        fetch_rate_count(j->owner, j);
    return job_take_piece(j, piece);
}

static void on_end(void *arg, status st, const char *why)
{
    struct job *j = arg;
    struct fetcher *f = j->owner;
    if (st == ST_LIMIT)
        j->verdict = JOB_HEAD_TOO_LONG;
    if (job_finish(f, j, st, why))
        fetch_start_waiting(f);
}

void plain_job_start(struct fetcher *f, struct job *j)
{
    struct fetch_request_parts parts = {
        .is_head = j->is_head,
        .url = buf_span(&j->url),
        .conditions = {buf_span(&j->condition_text[0]), buf_span(&j->condition_text[1])},
        .headers = buf_span(&job_headers(f, j)->text)};
    fetch_request_write(&parts, &j->request);
    if (j->raw.is_on)
        fetch_raw_sent(&j->raw, buf_span(&j->request));
    struct plain_call *c = &j->call;
    c->addr = j->addr;
    c->request = buf_span(&j->request);
    c->is_head = j->is_head;
    c->line_max = f->header_bytes_max;
    c->take = (struct http_take){job_take_line, on_piece};
    c->may_read = f->rate_bytes_per_s ? may_read : NULL;
    c->ended = on_end;
    c->arg = j;
    plain_start(f->plain, c);
}

static int32_t between(int64_t from_us, int64_t to_us)
{
    int64_t us = to_us - from_us;
    return us < 1 ? 1 : us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

void plain_job_timing(const struct job *j, struct fetch_result *r)
{
    const struct plain_call *c = &j->call;
    r->reused = c->reused && c->first_us;
    r->timing.first_byte_us = c->first_us ? between(c->started_us, c->first_us) : -1;
    r->timing.total_us = between(c->started_us, c->ended_us ? c->ended_us : clock_mono_us());
    r->timing.path_us = c->path_us && c->path_us <= INT32_MAX ? (int32_t)c->path_us : -1;
    if (r->reused)
        return;
    r->timing.connect_us = c->connected_us ? between(c->connecting_us, c->connected_us) : -1;
    if (r->timing.path_us < 0 && r->timing.connect_us > 0)
        r->timing.path_us = r->timing.connect_us; /* the server has closed it: nobody can be asked any more */
}
