#include "io/clock.h"
#include "io/fetch_job.h"

#define DROP_BYTES_MAX (64u << 10)  /* reading this much for nothing is cheaper than a new connection */
#define RATIO_FREE_BYTES (1u << 20) /* decoded bytes that no ratio is asked of */
#define PIECE_BYTES (64u << 10)     /* of a body, as it comes */

bool fetch_rate_is_spent(const struct fetcher *f)
{
    return f->rate_bytes_per_s && f->rate_free_us > clock_mono_us();
}

uint64_t job_wire_bytes(const struct job *j)
{
    return j->is_plain ? j->call.body_bytes : curl_job_wire_bytes(j);
}

void fetch_rate_count(struct fetcher *f, struct job *j)
{
    uint64_t wire = job_wire_bytes(j);
    int64_t now = clock_mono_us();
    if (f->rate_free_us < now)
        f->rate_free_us = now;
    f->rate_free_us += (int64_t)((double)(wire - j->counted) * 1e6 / (double)f->rate_bytes_per_s);
    j->counted = wire;
}

void fetch_rate_wait(struct fetcher *f)
{
    timer_set(f->rate_timer, (f->rate_free_us - clock_mono_us()) / 1000 + 1);
}

/* The head is complete: is the body worth reading? */
static bool take_body(struct job *j)
{
    struct span length = heads_get(&j->heads, HEAD_CONTENT_LENGTH);
    if (!span_u64(length, INT64_MAX, &j->declared_bytes))
        j->declared_bytes = 0;
    int code = j->heads.http_status;
    if (j->is_head || code == 304 || code == 204)
        return true;
    struct span type = heads_get(&j->heads, HEAD_CONTENT_TYPE);
    j->is_unwanted =
        !j->any_type && !(j->wants ? j->wants(type, buf_span(&j->url), j->declared_bytes) : type_is_page(type));
    return !j->is_unwanted || j->raw.is_on || j->declared_bytes <= DROP_BYTES_MAX;
}

bool job_take_line(void *arg, struct span line)
{
    struct job *j = arg;
    bool was_complete = j->heads.is_complete;
    if (j->raw.is_on)
        fetch_raw_line(&j->raw, line, was_complete);
    heads_line(&j->heads, line);
    if (j->heads.bytes > j->owner->header_bytes_max)
        j->verdict = JOB_HEAD_TOO_LONG;
    else if (j->heads.is_complete && !was_complete && !take_body(j))
        j->verdict = JOB_DROPPED;
    return j->verdict == JOB_GOES_ON;
}

bool job_is_bomb(const struct job *j, uint64_t wire)
{
    return j->body.n > RATIO_FREE_BYTES && j->body.n / j->owner->ratio_max > wire;
}

static bool take_raw(struct job *j, struct span piece)
{
    status st = fetch_raw_piece(&j->raw, piece, j->owner->body_bytes_max, !j->is_unwanted, &j->body);
    if (job_is_bomb(j, j->raw.body.n + PIECE_BYTES))
        j->verdict = JOB_BOMB;
    else if (st == ST_LIMIT)
        j->verdict = JOB_CUT;
    return j->verdict == JOB_GOES_ON;
}

static bool take_dropped(struct job *j, size_t n)
{
    j->dropped_bytes += n;
    if (j->dropped_bytes > DROP_BYTES_MAX)
        j->verdict = JOB_DROPPED;
    return j->verdict == JOB_GOES_ON;
}

bool job_take_piece(struct job *j, struct span piece)
{
    size_t max = j->owner->body_bytes_max;
    status st = ST_OK;
    if (j->raw.is_on)
        return take_raw(j, piece);
    if (j->is_unwanted)
        return take_dropped(j, piece.n);
    if (!j->has_coding)
        st = coding_new(heads_get(&j->heads, HEAD_CONTENT_ENCODING), &j->coding);
    j->has_coding = true;
    if (st == ST_OK)
        st = j->coding ? coding_feed(j->coding, piece, max, &j->body) : buf_put_up_to(&j->body, piece, max);
    /* Curl counts a piece after it has been delivered, hence the allowance; the end is judged exactly. */
    if (j->body.n > RATIO_FREE_BYTES && job_is_bomb(j, job_wire_bytes(j) + PIECE_BYTES))
        j->verdict = JOB_BOMB;
    else if (st == ST_LIMIT)
        j->verdict = JOB_CUT;
    else if (st != ST_OK)
        j->verdict = JOB_BAD_CODING;
    return j->verdict == JOB_GOES_ON;
}
