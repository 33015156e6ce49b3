#include "index/segment/bits.h"
#include "index/segment/rank.h"
#include "index/segment/segment_internal.h"
#include "index/segment/segment_write.h"

/* The largest width at which 128 steps cannot wrap around: each is at most 2^24, and documents are below 2^31. */
#define WIDTH_SAFE 24

static uint32_t finished(struct postings *p)
{
    p->doc = POSTINGS_END;
    p->at = p->count = 0;
    p->block = p->block_count;
    p->has_counts = p->has_positions = false;
    return POSTINGS_END;
}

static uint32_t fail(struct postings *p)
{
    p->st = ST_CORRUPT;
    return finished(p);
}

static uint32_t docs_in(const struct postings *p, uint32_t block)
{
    uint32_t before = block * POSTINGS_BLOCK;
    return p->info.df - before < POSTINGS_BLOCK ? p->info.df - before : POSTINGS_BLOCK;
}

static const unsigned char *header_of(const struct postings *p, uint32_t block)
{
    return p->headers + HEADER_BYTES * (size_t)block;
}

static uint32_t last_of(const struct postings *p, uint32_t block)
{
    return load32(header_of(p, block));
}

static void clear_from(struct postings *p, uint32_t count)
{
    for (uint32_t i = count; i < POSTINGS_BLOCK + 16; i++)
        p->docs[i] = INT32_MAX;
}

/* A short block: a varint a posting, the step to its document less one, doubled; odd when body count and head follow.
 */
static bool decode_tail(struct postings *p, const unsigned char *at, const unsigned char *end, int64_t base,
                        uint32_t count)
{
    p->is_plain = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step, body = 2, more = 0;
        uint8_t head = 0;
        if (!var32(&at, end, &step))
            return false;
        base += 1 + (int64_t)(step >> 1);
        if (base >= p->segment->docs || (step & 1 && !var32(&at, end, &body)))
            return false;
        if (body & 1) {
            if (at == end)
                return false;
            head = *at++;
            if (!var32(&at, end, &more))
                return false;
            p->is_plain = false;
        }
        p->docs[i] = (uint32_t)base;
        p->body[i] = body >> 1;
        p->heads[i] = head;
        p->more[i] = more;
    }
    clear_from(p, count);
    p->has_counts = true;
    return at == end;
}

/* `wide` is the code of a width in half a byte. */
static unsigned half_width(unsigned wide)
{
    return wide == HEADER_WIDE ? 32 : wide;
}

struct widths {
    unsigned docs, body, head, more;
    uint32_t body_base;
};

static bool read_widths(const unsigned char *header, struct widths *w)
{
    w->docs = header[13];
    w->body = header[14] & 63;
    w->body_base = header[14] & HEADER_FROM_ONE ? 1 : 0;
    w->head = header[15] & 15;
    w->more = half_width(header[15] >> 4);
    return w->docs <= 31 && w->body <= 32 && w->head <= 8;
}

static bool ascends_to(const uint32_t docs[POSTINGS_BLOCK], int64_t base, uint32_t last)
{
    for (unsigned i = 0; i < POSTINGS_BLOCK; i++) {
        if (docs[i] <= base || docs[i] > last)
            return false;
        base = docs[i];
    }
    return base == last;
}

static bool decode_full(struct postings *p, const unsigned char *header, uint32_t base, uint32_t last)
{
    struct widths w;
    uint32_t at = load32(header + 4);
    size_t data_bytes = (size_t)(p->headers - p->post);
    if (!read_widths(header, &w))
        return false;
    size_t bytes = BITS_BYTES(w.docs + w.body + w.head + w.more);
    if (bytes > data_bytes || at > data_bytes - bytes)
        return false;
    const unsigned char *data = chunked_get(&p->segment->files[FILE_POST], p->info.post_at + at, bytes);
    if (!data)
        return false;
    bits_unpack_steps(data, w.docs, base, p->docs);
    if (w.docs > WIDTH_SAFE ? !ascends_to(p->docs, base == UINT32_MAX ? -1 : (int64_t)base, last)
                            : p->docs[POSTINGS_BLOCK - 1] != last)
        return false;
    p->data = data + BITS_BYTES(w.docs);
    p->has_counts = false;
    return true;
}

static uint32_t load_block(struct postings *p, uint32_t block)
{
    const unsigned char *header = header_of(p, block);
    uint32_t last = load32(header), base = block ? load32(header - HEADER_BYTES) : UINT32_MAX;
    uint32_t count = docs_in(p, block), at = load32(header + 4);
    if (last >= p->segment->docs || (block && base >= last) || (header[13] == HEADER_TAIL) != (count < POSTINGS_BLOCK))
        return fail(p);
    if (count == POSTINGS_BLOCK) {
        if (!decode_full(p, header, base, last))
            return fail(p);
    } else {
        size_t data_bytes = (size_t)(p->headers - p->post);
        const unsigned char *data =
            at <= data_bytes ? chunked_get(&p->segment->files[FILE_POST], p->info.post_at + at, data_bytes - at) : NULL;
        if (!data || !decode_tail(p, data, p->headers, block ? (int64_t)base : -1, count) || p->docs[count - 1] != last)
            return fail(p);
    }
    p->block = block;
    p->count = count;
    p->at = 0;
    p->has_positions = false;
    return p->doc = p->docs[0];
}

static void open_single(struct postings *p)
{
    p->docs[0] = p->info.doc;
    p->body[0] = p->info.body;
    p->heads[0] = p->info.head;
    p->has_counts = true;
    p->block_count = 1;
    p->count = 1;
    if (p->info.doc >= p->segment->docs)
        fail(p);
    else
        p->doc = p->info.doc;
    clear_from(p, 1);
}

static void open_short(struct postings *p)
{
    p->block_count = 1;
    if (!decode_tail(p, p->post, p->post + p->info.post_bytes, -1, p->info.df)) {
        fail(p);
        return;
    }
    p->count = p->info.df;
    p->doc = p->docs[0];
}

void postings_open(struct postings *p, const struct segment *s, const struct term_info *info)
{
    p->st = ST_OK;
    p->segment = s;
    p->info = *info;
    p->at = p->count = p->block = p->block_count = p->peek_block = 0;
    p->has_counts = p->has_positions = false;
    p->headers = NULL;
    if (info->df == 1) {
        open_single(p);
        return;
    }
    const struct chunked *f = &s->files[FILE_POST];
    if (info->df < POSTINGS_BLOCK) {
        p->post = chunked_get(f, info->post_at, info->post_bytes);
        if (info->df && p->post)
            open_short(p);
        else
            fail(p);
        return;
    }
    uint32_t blocks = info->df / POSTINGS_BLOCK + (info->df % POSTINGS_BLOCK != 0);
    uint64_t header_bytes = HEADER_BYTES * (uint64_t)blocks;
    if (header_bytes > info->post_bytes || info->post_at > f->body) {
        fail(p);
        return;
    }
    p->headers = chunked_get(f, info->post_at + info->post_bytes - header_bytes, header_bytes);
    if (!p->headers) {
        fail(p);
        return;
    }
    p->post = p->headers - (info->post_bytes - header_bytes);
    p->block_count = blocks;
    clear_from(p, POSTINGS_BLOCK);
    load_block(p, 0);
}

/* The first block from `from` on whose last document is not below `doc`; block_count: none. Doubles its steps, because
 * the next one is mostly near. */
static uint32_t find_block(const struct postings *p, uint32_t from, uint32_t doc)
{
    uint32_t step = 1, lo = from, hi = from;
    while (hi < p->block_count && last_of(p, hi) < doc) {
        lo = hi + 1;
        hi = p->block_count - hi > step ? hi + step : p->block_count;
        step *= 2;
    }
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (last_of(p, mid) < doc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

typedef int32_t four __attribute__((vector_size(16)));

/* How many of 16 documents are below. */
static inline uint32_t below(const uint32_t docs[16], uint32_t doc)
{
    int32_t d = (int32_t)doc;
    four v[4], limit = {d, d, d, d};
    memcpy(v, docs, sizeof(v));
    four sum = (v[0] < limit) + (v[1] < limit) + (v[2] < limit) + (v[3] < limit);
    return (uint32_t) - (sum[0] + sum[1] + sum[2] + sum[3]);
}

uint32_t postings_seek(struct postings *p, uint32_t doc)
{
    if (p->doc >= doc || !p->count)
        return p->doc;
    if (doc >= p->segment->docs)
        return finished(p);
    if (p->docs[p->count - 1] < doc) {
        if (p->block + 1 >= p->block_count)
            return finished(p);
        if (last_of(p, p->block + 1) <= p->docs[p->count - 1]) /* or blocks would be passed over in silence */
            return fail(p);
        uint32_t block = find_block(p, p->block + 1, doc);
        if (block >= p->block_count)
            return finished(p);
        if (load_block(p, block) == POSTINGS_END || p->doc >= doc)
            return p->doc;
    }
    uint32_t at = p->at + 1, n;
    do {
        n = below(p->docs + at, doc);
        at += n;
    } while (n == 16);
    p->at = at;
    return p->doc = p->docs[at];
}

bool postings_peek(struct postings *p, uint32_t doc, uint32_t *last, uint8_t *bound)
{
    if (!p->count)
        return false;
    if (!p->headers) {
        if (p->docs[p->count - 1] < doc)
            return false;
        *last = p->docs[p->count - 1];
        *bound = p->info.bound;
        return true;
    }
    uint32_t from = p->block > p->peek_block ? p->block : p->peek_block;
    if (from > p->block && last_of(p, from - 1) >= doc)
        from = p->block;
    uint32_t block = find_block(p, from, doc);
    if (block >= p->block_count)
        return false;
    const unsigned char *header = header_of(p, block);
    if (load32(header) >= p->segment->docs) {
        fail(p);
        return false;
    }
    p->peek_block = block;
    *last = load32(header);
    *bound = header[12];
    return true;
}

bool postings_counts(struct postings *p)
{
    if (p->has_counts || !p->count)
        return p->st == ST_OK;
    struct widths w;
    uint32_t heads[POSTINGS_BLOCK];
    (void)read_widths(header_of(p, p->block), &w); /* was checked when the block was loaded */
    bits_unpack(p->data, w.body, p->body);
    if (w.body_base)
        for (unsigned i = 0; i < POSTINGS_BLOCK; i++)
            p->body[i]++;
    if (w.head) {
        bits_unpack(p->data + BITS_BYTES(w.body), w.head, heads);
        for (unsigned i = 0; i < POSTINGS_BLOCK; i++)
            p->heads[i] = (uint8_t)heads[i];
    } else {
        memset(p->heads, 0, sizeof(p->heads));
    }
    bits_unpack(p->data + BITS_BYTES(w.body + w.head), w.more, p->more);
    p->is_plain = !w.head && !w.more;
    p->has_counts = true;
    return true;
}

/* ---- positions ---- */

size_t count_varints(const unsigned char *p, size_t n)
{
    size_t count = 0;
    for (; n >= 8; p += 8, n -= 8)
        count += varint_ends(load64(p));
    for (; n; p++, n--)
        count += *p < 0x80;
    return count;
}

/* The end of the next n varints; NULL: there are not so many. */
static const unsigned char *skip_varints(const unsigned char *p, const unsigned char *end, uint64_t n)
{
    while (n && end - p >= 8) {
        uint64_t word = load64(p), ends = ~word & VARINT_TOPS;
        unsigned count = varint_ends(word);
        if (count >= n) {
            while (--n)
                ends &= ends - 1;
            return p + __builtin_ctzll(ends) / 8 + 1;
        }
        n -= count;
        p += 8;
    }
    for (; n && p < end; p++)
        n -= *p < 0x80;
    return n ? NULL : p;
}

static int64_t positions_of(const struct postings *p, uint32_t i)
{
    uint8_t head = p->heads[i];
    return (int64_t)p->body[i] + head_count(head, HEAD_TITLE) + head_count(head, HEAD_ANCHOR) +
           head_count(head, HEAD_URL) + unzigzag(p->more[i]);
}

static int64_t positions_between(const struct postings *p, uint32_t from, uint32_t to)
{
    int64_t n = 0;
    if (p->is_plain)
        for (uint32_t i = from; i < to; i++)
            n += p->body[i];
    else
        for (uint32_t i = from; i < to; i++)
            n += positions_of(p, i);
    return n;
}

static bool load_positions(struct postings *p)
{
    uint64_t from = 0, to = p->info.pos_bytes;
    if (p->headers) {
        const unsigned char *header = header_of(p, p->block);
        from = load32(header + 8);
        if (p->block + 1 < p->block_count)
            to = load32(header + HEADER_BYTES + 8);
    }
    if (from > to || to > p->info.pos_bytes || p->info.pos_at > UINT64_MAX - to || !postings_counts(p))
        return false;
    p->pos_next = chunked_get(&p->segment->files[FILE_POS], p->info.pos_at + from, to - from);
    if (!p->pos_next)
        return false;
    p->pos_end = p->pos_next + (to - from);
    p->pos_after = NULL;
    p->pos_index = 0;
    p->has_positions = true;
    return true;
}

/* Moves pos_next to the current document; *n becomes how many positions it has. */
static bool find_positions(struct postings *p, size_t *n)
{
    if (!p->has_positions && !load_positions(p))
        return false;
    if (p->info.df == 1) {
        *n = count_varints(p->pos_next, (size_t)(p->pos_end - p->pos_next));
        return true;
    }
    if (p->pos_index < p->at && p->pos_after) {
        p->pos_next = p->pos_after;
        p->pos_after = NULL;
        p->pos_index++;
    }
    if (p->pos_index < p->at) {
        int64_t skip = positions_between(p, p->pos_index, p->at);
        if (skip < 0 || skip > p->pos_end - p->pos_next)
            return false;
        p->pos_next = skip_varints(p->pos_next, p->pos_end, (uint64_t)skip);
        p->pos_index = p->at;
        if (!p->pos_next)
            return false;
    }
    int64_t count = p->is_plain ? p->body[p->at] : positions_of(p, p->at);
    if (count < 0 || count > p->pos_end - p->pos_next)
        return false;
    *n = (size_t)count;
    return true;
}

/* Steps of one or two bytes are taken four at a time from one word, without a branch on their length, which is hard to
 * foresee. Returns the end; NULL: a step is cut short or too long. */
static const unsigned char *decode_positions(const unsigned char *p, const unsigned char *end, uint32_t *out, size_t n)
{
    uint32_t position = 0;
    for (size_t i = 0; i < n;) {
        size_t stop = end - p < 8 ? i : n - i < 4 ? n : i + 4;
        uint64_t word = stop > i ? load64(p) : 0;
        for (; i < stop && (word & 0x8080) != 0x8080; i++) {
            uint32_t has_two = word >> 7 & 1;
            out[i] = position += (word & 0x7F) | ((uint32_t)word >> 1 & 0x3F80 & (0 - has_two));
            word >>= 8u << has_two;
            p += 1 + has_two;
        }
        if (i < stop || end - p < 8) {
            uint32_t step;
            if (i == n)
                break;
            if (!var32(&p, end, &step))
                return NULL;
            out[i++] = position += step;
        }
    }
    return p;
}

size_t postings_positions(struct postings *p, uint32_t *out, size_t max)
{
    size_t n;
    if (!p->info.has_positions || !p->count)
        return 0;
    if (!find_positions(p, &n)) {
        fail(p);
        return 0;
    }
    size_t want = n < max ? n : max;
    const unsigned char *at = decode_positions(p->pos_next, p->pos_end, out, want);
    if (!at) {
        fail(p);
        return 0;
    }
    p->pos_after = want == n ? at : NULL;
    return want;
}

struct span postings_positions_raw(struct postings *p)
{
    size_t n;
    if (!p->info.has_positions || !p->count)
        return (struct span){"", 0};
    const unsigned char *end = NULL;
    if (find_positions(p, &n))
        end = p->info.df == 1 ? p->pos_end : skip_varints(p->pos_next, p->pos_end, n);
    if (!end) {
        fail(p);
        return (struct span){"", 0};
    }
    p->pos_after = end;
    return span_of(p->pos_next, (size_t)(end - p->pos_next));
}

struct span postings_positions_run(struct postings *p, uint32_t n)
{
    size_t first;
    if (!p->info.has_positions || !p->count)
        return (struct span){"", 0};
    const unsigned char *end = NULL;
    if (find_positions(p, &first)) {
        int64_t skip = p->at + n < p->count ? positions_between(p, p->at, p->at + n) : 0;
        if (p->at + n >= p->count)
            end = p->pos_end;
        else if (skip >= 0)
            end = skip_varints(p->pos_next, p->pos_end, (uint64_t)skip);
    }
    if (!end) {
        fail(p);
        return (struct span){0};
    }
    struct span run = span_of(p->pos_next, (size_t)(end - p->pos_next));
    p->pos_next = end;
    p->pos_after = NULL;
    p->pos_index = p->at + n;
    return run;
}
