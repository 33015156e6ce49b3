/* warc_read.c - from plain bytes to records. The life of one: its first line is recognised (in `line`), its head
 * gathered, its block copied; then it is ready, and goes out with whatever comes next, which shows whether its length
 * was right. */
#include "codec/warc_read.h"

#include <stdlib.h>

#include "base/mem.h"
#include "codec/member_read.h"
#include "codec/warc_head.h"

#define GAP_BYTES_MAX (64u << 10)   /* of line ends after a record that may be read again */
#define AGAIN_BYTES_FREE (1u << 20) /* read again, beside what came: hostile files shall not take for ever */

typedef enum read_state {
    STATE_LINE,  /* between records: a line that may begin one */
    STATE_HEAD,  /* more lines of a WARC head */
    STATE_BLOCK, /* of the record at hand */
} read_state;

struct warc_reader {
    struct warc_events e;
    size_t block_max;
    bool no_digests;
    struct member_reader *members; /* owned */
    read_state state;
    status st; /* why nothing more comes out */
    uint64_t member_at;
    uint64_t plain; /* bytes of the member so far */
    bool is_plain_file, is_fresh;
    bool is_lost;     /* told of what is no record; looking for the next one */
    bool is_mid_line; /* the rest of a line that was too long */
    bool is_arc;      /* the file */
    bool has_any;     /* record */
    uint64_t came, again;
    struct buf line;               /* the first line, then the whole head */
    uint64_t line_at, line_inside; /* of its first byte */
    size_t head_line;              /* where the last line of the head begins in `line` */
    /* The record at hand, or ready. */
    struct warc_record now;
    bool is_ready;
    struct buf head, block;          /* its texts */
    uint64_t block_at, block_inside; /* of the block's first byte */
    struct buf gap;                  /* line ends after it: two, if all is well */
    uint64_t left;                   /* of the block */
    struct buf again_buf;            /* plain bytes to be read a second time */
    uint64_t again_inside;           /* of their first one */
    struct buf first;                /* of a member, until it is clear what they begin */
};

/* ---- what comes out ---- */

static void problem(struct warc_reader *r, uint64_t at, const char *what)
{
    if (r->st == ST_OK)
        r->e.problem(r->e.self, at, what);
}

static void check_digests(struct warc_reader *r)
{
    struct warc_record *n = &r->now;
    if (r->no_digests || n->is_cut || n->is_short)
        return;
    warc_record_check(n);
    if (n->block_digest == WARC_DIGEST_WRONG)
        problem(r, n->at, "its block digest is wrong");
    if (n->payload_digest == WARC_DIGEST_WRONG)
        problem(r, n->at, "its payload digest is wrong");
}

static void deliver(struct warc_reader *r)
{
    if (!r->is_ready)
        return;
    r->is_ready = false;
    r->now.block = buf_span(&r->block);
    if (r->now.is_arc)
        arc_settle(&r->now);
    check_digests(r);
    if (r->st == ST_OK)
        r->st = r->e.record(r->e.self, &r->now);
}

/* The block ends here, before its time. */
static void cut_short(struct warc_reader *r, const char *what)
{
    r->now.is_short = true;
    r->is_ready = true;
    r->state = STATE_LINE;
    buf_clear(&r->line);
    problem(r, r->now.at, what);
    deliver(r);
}

/* ---- records ---- */

static void begin_block(struct warc_reader *r)
{
    struct warc_record *n = &r->now;
    n->at = r->is_plain_file ? r->line_at + r->line_inside : r->line_at;
    n->inside = r->is_plain_file ? 0 : r->line_inside;
    r->has_any = true;
    r->is_lost = false;
    r->left = n->block_bytes;
    n->is_cut = n->block_bytes > r->block_max;
    buf_clear(&r->block);
    buf_clear(&r->gap);
    r->block_at = r->member_at;
    r->block_inside = r->plain;
    r->state = STATE_BLOCK;
    if (!r->left) {
        r->is_ready = true;
        r->state = STATE_LINE;
    }
    buf_clear(&r->line);
}

static void lose_here(struct warc_reader *r, const char *what)
{
    if (!r->is_lost)
        problem(r, r->is_plain_file ? r->line_at + r->line_inside : r->line_at, what);
    r->is_lost = true;
}

static void lose(struct warc_reader *r, const char *what)
{
    lose_here(r, what);
    r->state = STATE_LINE;
    buf_clear(&r->line);
    if (!r->has_any && r->came > WARC_NO_RECORD_MAX && r->st == ST_OK)
        r->st = ST_INVALID;
}

/* A record that says so itself is told of, also where others were lost before it. */
static void lose_record(struct warc_reader *r, const char *what)
{
    r->is_lost = false;
    lose(r, what);
}

/* `line` has a whole head: its texts stay in `head` while the next one is gathered. */
static void take_head(struct warc_reader *r)
{
    const char *why = "";
    struct buf swap = r->head;
    r->head = r->line;
    r->line = swap;
    buf_clear(&r->line);
    if (warc_head_read(r->head.p, r->head.n, &r->now, &why) == ST_OK)
        begin_block(r);
    else
        lose_record(r, why);
}

static bool take_arc(struct warc_reader *r)
{
    struct warc_record n;
    arc_line got = r->is_arc || !r->has_any ? arc_line_read(buf_span(&r->line), &n) : ARC_NO;
    if (got == ARC_NO)
        return false;
    deliver(r);
    struct buf swap = r->head;
    r->head = r->line;
    r->line = swap;
    (void)arc_line_read(buf_span(&r->head), &r->now);
    buf_clear(&r->line);
    r->is_arc = true;
    if (got == ARC_YES)
        begin_block(r);
    else
        lose_record(r, "its length is no number");
    return true;
}

/* Does the block end inside the first line of another record, which `line` goes on with? Then where; else 0. */
static size_t split_line(const struct warc_reader *r)
{
    struct buf whole = {0};
    size_t at = r->block.n;
    while (at > 0 && r->block.p[at - 1] != '\n' && r->block.n - at < sizeof("WARC/1.1"))
        at--;
    if (at == 0 || r->block.p[at - 1] != '\n' || r->gap.n)
        return 0;
    buf_put(&whole, span_from(buf_span(&r->block), at));
    buf_put(&whole, buf_span(&r->line));
    if (!span_starts(buf_span(&whole), SPAN("WARC/")) || !warc_line_begins(buf_span(&whole)))
        at = 0;
    buf_done(&whole);
    return at;
}

/* Where another record begins in the block that was read to its end, and beyond its record's; 0: nowhere. */
static size_t swallowed(const struct warc_reader *r)
{
    struct span b = buf_span(&r->block);
    for (size_t at = span_find(b, '\n', 0); at < b.n; at = span_find(b, '\n', at + 1)) {
        struct span line = span_cut(b, at + 1, span_find(b, '\n', at + 1) - at);
        if (span_starts(line, SPAN("WARC/")) && warc_line_begins(line))
            return at + 1;
    }
    return split_line(r);
}

/* No record begins where the last one should end: perhaps it took in more than is its own. True: it did, and what it
 * took waits in again_buf. */
static bool give_back(struct warc_reader *r)
{
    bool is_held = r->now.block_bytes - r->left == r->block.n;
    if (!r->is_ready || r->now.is_arc || !is_held || r->gap.n >= GAP_BYTES_MAX || r->again > r->came + AGAIN_BYTES_FREE)
        return false;
    r->again += r->block.n;
    size_t at = swallowed(r);
    if (!at)
        return false;
    buf_clear(&r->again_buf);
    buf_put(&r->again_buf, span_from(buf_span(&r->block), at));
    buf_put(&r->again_buf, buf_span(&r->gap));
    buf_put(&r->again_buf, buf_span(&r->line));
    r->member_at = r->block_at; /* members that began since then are not told apart any more */
    r->again_inside = r->block_inside + at;
    r->block.n = at;
    r->now.is_short = true;
    problem(r, r->now.at, "it says that it is longer than it is");
    deliver(r);
    r->state = STATE_LINE;
    buf_clear(&r->line);
    return true;
}

/* `line` has a whole first line. */
static void take_line(struct warc_reader *r)
{
    struct span line = buf_span(&r->line);
    if (warc_line_begins(line)) {
        deliver(r);
        if (!r->is_lost && !span_starts(line, SPAN("WARC/")))
            lose_here(r, "no record begins here: looking for the next one");
        r->state = STATE_HEAD;
        r->head_line = r->line.n;
        return;
    }
    if (take_arc(r))
        return;
    if (give_back(r))
        return;
    deliver(r);
    lose(r, r->has_any ? "no record begins here: looking for the next one" : "no record begins here");
}

/* ---- bytes ---- */

static void here(struct warc_reader *r)
{
    r->line_at = r->member_at;
    r->line_inside = r->plain;
}

static void skip_bytes(struct warc_reader *r, struct span *in, size_t n)
{
    *in = span_from(*in, n);
    r->plain += n;
}

/* Up to the end of a line goes to `line`; true: it is there. */
static bool gather(struct warc_reader *r, struct span *in)
{
    size_t end = span_find(*in, '\n', 0);
    bool is_whole = end < in->n;
    struct span part = span_cut(*in, 0, is_whole ? end + 1 : in->n);
    if (r->is_mid_line) {
        r->is_mid_line = !is_whole;
        skip_bytes(r, in, part.n);
        here(r);
        return false;
    }
    if (r->line.n + part.n > WARC_HEAD_MAX) {
        bool was_head = r->state == STATE_HEAD;
        skip_bytes(r, in, part.n);
        if (!was_head)
            deliver(r);
        lose(r, was_head ? "its head is too long" : "no record begins here: looking for the next one");
        r->is_mid_line = !is_whole;
        here(r);
        return false;
    }
    buf_put(&r->line, part);
    skip_bytes(r, in, part.n);
    return is_whole;
}

static void read_line(struct warc_reader *r, struct span *in)
{
    if (!r->line.n && !r->is_mid_line) {
        size_t n = 0;
        while (n < in->n && (in->p[n] == '\r' || in->p[n] == '\n'))
            n++;
        if (r->is_ready)
            buf_put(&r->gap, span_cut(*in, 0, n < GAP_BYTES_MAX - r->gap.n ? n : GAP_BYTES_MAX - r->gap.n));
        skip_bytes(r, in, n);
        here(r);
        if (!in->n)
            return;
    }
    if (gather(r, in))
        take_line(r);
}

static void read_head(struct warc_reader *r, struct span *in)
{
    if (!gather(r, in))
        return;
    bool is_end = span_trim(span_from(buf_span(&r->line), r->head_line)).n == 0;
    r->head_line = r->line.n;
    if (is_end)
        take_head(r);
}

static void read_block(struct warc_reader *r, struct span *in)
{
    struct span part = span_cut(*in, 0, r->left < SIZE_MAX ? (size_t)r->left : SIZE_MAX);
    buf_put(&r->block, span_cut(part, 0, r->block_max - r->block.n));
    skip_bytes(r, in, part.n);
    r->left -= part.n;
    if (!r->left) {
        r->is_ready = true;
        r->state = STATE_LINE;
    }
}

static void read_plain(struct warc_reader *r, struct span in)
{
    struct buf own = {0}; /* what is read again, with what comes after it */
    while ((in.n || r->again_buf.n) && r->st == ST_OK) {
        if (r->again_buf.n) {
            buf_put(&r->again_buf, in);
            buf_done(&own);
            own = r->again_buf;
            r->again_buf = (struct buf){0};
            in = buf_span(&own);
            r->plain = r->again_inside;
        }
        if (r->state == STATE_LINE)
            read_line(r, &in);
        else if (r->state == STATE_HEAD)
            read_head(r, &in);
        else
            read_block(r, &in);
    }
    buf_done(&own);
}

/* ---- members ---- */

static void on_begin(void *self, uint64_t at)
{
    struct warc_reader *r = self;
    r->member_at = at;
    r->plain = 0;
    r->is_fresh = true;
    r->is_plain_file = member_reader_is_plain(r->members);
}

typedef enum beginning { BEGINS_NOTHING, BEGINS_RECORD, BEGINS_UNKNOWN } beginning;

/* Does a member begin with a record? Few bytes may not tell. */
static beginning what_begins(const struct warc_reader *r, struct span plain)
{
    static const struct span warc = SPAN_INIT("WARC/");
    struct warc_record ignored;
    if (span_starts(plain, warc))
        return BEGINS_RECORD;
    if (span_starts(warc, plain))
        return BEGINS_UNKNOWN;
    if (!r->is_arc)
        return BEGINS_NOTHING;
    size_t end = span_find(plain, '\n', 0);
    if (end == plain.n)
        return plain.n < WARC_HEAD_MAX ? BEGINS_UNKNOWN : BEGINS_NOTHING;
    return arc_line_read(span_cut(plain, 0, end), &ignored) != ARC_NO ? BEGINS_RECORD : BEGINS_NOTHING;
}

/* What is open ends here, whatever it says. */
static void end_open(struct warc_reader *r, const char *block, const char *head)
{
    while (r->st == ST_OK) {
        if (r->again_buf.n) {
            read_plain(r, (struct span){0});
        } else if (r->state == STATE_BLOCK) {
            r->is_ready = true;
            if (!give_back(r))
                cut_short(r, block);
        } else if (r->state == STATE_LINE && r->line.n) { /* a last line without an end */
            take_line(r);
        } else {
            break;
        }
    }
    if (r->state == STATE_HEAD)
        lose(r, head);
}

/* A member that begins with a record ends the one before it. */
static void end_before(struct warc_reader *r)
{
    uint64_t at = r->member_at;
    end_open(r, "its member ends before it does", "its member ends before its head does");
    r->member_at = at; /* what was read again was before it */
    r->plain = 0;
    r->is_mid_line = false;
}

/* The first bytes of a member while something of the one before is open: looked at before they are read. */
static bool look_at_first(struct warc_reader *r, struct span plain)
{
    buf_put(&r->first, plain);
    beginning b = what_begins(r, buf_span(&r->first));
    if (b == BEGINS_UNKNOWN)
        return false;
    if (b == BEGINS_RECORD)
        end_before(r);
    return true;
}

static void read_first(struct warc_reader *r)
{
    struct buf first = r->first;
    r->first = (struct buf){0};
    r->is_fresh = false;
    read_plain(r, buf_span(&first));
    buf_done(&first);
}

static void on_bytes(void *self, struct span plain)
{
    struct warc_reader *r = self;
    r->came += plain.n;
    bool is_open = r->state != STATE_LINE || r->line.n || r->is_mid_line;
    if (r->is_fresh && is_open) {
        if (look_at_first(r, plain))
            read_first(r);
        return;
    }
    r->is_fresh = false;
    read_plain(r, plain);
}

static void on_end(void *self, bool is_whole)
{
    struct warc_reader *r = self;
    read_first(r);
    if (is_whole) {
        if (r->state == STATE_LINE && !r->line.n)
            deliver(r);
        return;
    }
    bool has_record = r->is_ready || r->state == STATE_BLOCK;
    if (has_record || r->state == STATE_HEAD || !r->is_lost) /* else it only looked like a member */
        problem(r, r->member_at, "it is damaged, or cut short");
    if (has_record) {
        r->now.is_damaged = true;
        r->now.is_short = !r->is_ready;
        r->is_ready = true;
    }
    deliver(r);
    r->state = STATE_LINE;
    r->is_lost = true;
    buf_clear(&r->line);
}

static void on_garbage(void *self, uint64_t at, uint64_t n)
{
    problem(self, at, "bytes that belong to no record: looking for the next one");
}

struct warc_reader *warc_reader_new(const struct warc_reader_opts *o, const struct warc_events *e)
{
    struct warc_reader *r = mem_alloc(sizeof(*r));
    r->e = *e;
    r->block_max = o->block_max ? o->block_max : WARC_BLOCK_DEFAULT;
    r->no_digests = o->no_digests;
    r->members = member_reader_new(&(struct member_events){on_begin, on_bytes, on_end, on_garbage, r});
    return r;
}

void warc_reader_free(struct warc_reader *r)
{
    if (!r)
        return;
    member_reader_free(r->members);
    buf_done(&r->line);
    buf_done(&r->head);
    buf_done(&r->block);
    buf_done(&r->gap);
    buf_done(&r->again_buf);
    buf_done(&r->first);
    free(r);
}

uint64_t warc_reader_lead(const struct warc_reader *r)
{
    return member_reader_lead(r->members);
}

status warc_reader_feed(struct warc_reader *r, struct span piece)
{
    if (r->st == ST_OK)
        member_reader_feed(r->members, piece);
    return r->st;
}

status warc_reader_end(struct warc_reader *r)
{
    if (r->st != ST_OK)
        return r->st;
    member_reader_end(r->members);
    end_open(r, "the file ends before it does", "the file ends before its head does");
    deliver(r);
    return r->st == ST_OK && !r->has_any ? ST_INVALID : r->st;
}
