/* package.c - the head of a package and the way into its body. */
#include "wire/package.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "wire/fields.h"
#include "wire/package_head.h"
#include "wire/package_internal.h"

#define MAGIC "orb-pkg\n"
#define PURPOSE "orb package 1\n"

static void sign_text(struct span head, struct buf *out)
{
    buf_puts(out, PURPOSE);
    buf_put(out, head);
}

void package_head_write(const struct package_head *head, const struct sign_key *agent, struct span body, char *to)
{
    struct buf b = {0}, signed_text = {0};
    struct digest256 digest = digest_blake2b256(body);
    struct signature sig;
    buf_put(&b, SPAN(MAGIC));
    pack_u32(&b, PACKAGE_VERSION);
    pack_u32(&b, head->dictionary);
    pack_u64(&b, head->agent);
    pack_u64(&b, head->sequence);
    pack_u64(&b, (uint64_t)head->made);
    pack_u64(&b, head->body_bytes);
    pack_u64(&b, head->raw_bytes);
    pack_u32(&b, head->visits);
    pack_u32(&b, head->tail_bytes);
    buf_put(&b, span_of(head->coordinator.b, sizeof(head->coordinator.b)));
    buf_put(&b, span_of(digest.b, sizeof(digest.b)));
    assert(b.n == PACKAGE_SIGNED_BYTES && body.n == head->body_bytes);
    sign_text(buf_span(&b), &signed_text);
    sign_make(agent, buf_span(&signed_text), &sig);
    memcpy(to, b.p, b.n);
    memcpy(to + b.n, sig.b, sizeof(sig.b));
    buf_done(&b);
    buf_done(&signed_text);
}

static bool signature_is_right(struct span package, const struct sign_public *agent)
{
    struct buf b = {0};
    struct signature sig;
    memcpy(sig.b, package.p + PACKAGE_SIGNED_BYTES, sizeof(sig.b));
    sign_text(span_cut(package, 0, PACKAGE_SIGNED_BYTES), &b);
    bool is_right = sign_check(agent, buf_span(&b), &sig);
    buf_done(&b);
    return is_right;
}

static status read_head(struct span package, const struct sign_public *agent, struct package_head *out,
                        struct digest256 *digest)
{
    struct package_head h;
    struct unpack u = unpack_of(span_cut(package, 0, PACKAGE_SIGNED_BYTES));
    if (package.n < PACKAGE_HEAD_BYTES || !span_eq(unpack_bytes(&u, sizeof(MAGIC) - 1), SPAN(MAGIC)))
        return ST_CORRUPT;
    uint32_t version = unpack_u32(&u);
    if (version != PACKAGE_VERSION)
        return version > PACKAGE_VERSION ? ST_NEWER : ST_CORRUPT;
    h.dictionary = unpack_u32(&u);
    h.agent = unpack_u64(&u);
    h.sequence = unpack_u64(&u);
    h.made = (wall_ms)unpack_u64(&u);
    h.body_bytes = unpack_u64(&u);
    h.raw_bytes = unpack_u64(&u);
    h.visits = unpack_u32(&u);
    h.tail_bytes = unpack_u32(&u);
    memcpy(h.coordinator.b, unpack_bytes(&u, 32).p, 32);
    memcpy(digest->b, unpack_bytes(&u, 32).p, 32);
    if (h.body_bytes > PACKAGE_BYTES_MAX || h.raw_bytes > PACKAGE_RAW_MAX || h.visits > PACKAGE_VISITS_MAX)
        return ST_LIMIT;
    if (h.tail_bytes > h.raw_bytes)
        return ST_CORRUPT;
    if (agent && !signature_is_right(package, agent))
        return ST_REFUSED;
    *out = h;
    return ST_OK;
}

status package_head_read(struct span package, const struct sign_public *agent, struct package_head *out,
                         size_t *head_bytes)
{
    struct digest256 digest;
    status st = read_head(package, agent, out, &digest);
    if (st == ST_OK)
        *head_bytes = PACKAGE_HEAD_BYTES;
    return st;
}

status package_check(struct span package, const struct sign_public *agent, struct package_head *out)
{
    struct package_head head;
    struct digest256 want;
    status st = read_head(package, agent, &head, &want);
    if (st != ST_OK)
        return st;
    struct span body = span_from(package, PACKAGE_HEAD_BYTES);
    if (body.n != head.body_bytes)
        return ST_CORRUPT;
    struct digest256 got = digest_blake2b256(body);
    uint64_t becomes = 0;
    if (!bytes_equal(got.b, want.b, sizeof(got.b)))
        return ST_CORRUPT;
    /* A small package that becomes a huge one is known by its first bytes. */
    if (unzip_size(body, &becomes) != ST_OK || becomes != head.raw_bytes)
        return ST_CORRUPT;
    *out = head;
    return ST_OK;
}

/* One visit's. False: none. */
static bool read_capture(struct span message, uint32_t visits, struct span *captures)
{
    struct fields f = fields_of(message);
    unsigned tag;
    struct span value, bytes = {0};
    uint64_t visit = 0;
    while (fields_next(&f, &tag, &value)) {
        if (tag == TAIL_CAPTURE_VISIT && !value_get_u64(value, &visit))
            return false;
        if (tag == TAIL_CAPTURE_BYTES)
            bytes = value;
    }
    if (fields_bad(&f) || visit >= visits || captures[visit].n)
        return false;
    captures[visit] = bytes;
    return true;
}

static bool read_rates(struct span value, uint32_t visits, uint64_t *rates)
{
    struct unpack u = unpack_of(value);
    uint64_t at = 0;
    while (!unpack_at_end(&u)) {
        uint64_t skipped = unpack_var(&u), rate = unpack_u64(&u);
        if (u.bad || skipped >= visits - at)
            return false;
        rates[at + skipped] = rate;
        at += skipped + 1;
    }
    return true;
}

void package_tail_done(struct package_tail *tail)
{
    free(tail->captures);
    free(tail->rates);
}

bool package_tail_read(struct span tail, uint32_t visits, struct package_tail *out)
{
    struct fields f = fields_of(tail);
    unsigned tag;
    struct span value;
    bool is_good = true;
    while (is_good && fields_next(&f, &tag, &value)) {
        if (tag == TAIL_CAPTURE) {
            if (!out->captures)
                out->captures = mem_alloc(((size_t)visits + 1) * sizeof(struct span));
            is_good = read_capture(value, visits, out->captures);
        } else if (tag == TAIL_RATES) {
            if (!out->rates)
                out->rates = mem_alloc(((size_t)visits + 1) * sizeof(uint64_t));
            is_good = read_rates(value, visits, out->rates);
        } /* others are of a later version */
    }
    return is_good && !fields_bad(&f);
}

static status read_raw(struct span raw, const struct package_head *head, package_visit_fn *fn, void *arg)
{
    size_t columns = raw.n - head->tail_bytes;
    struct package_tail tail = {0};
    status st = ST_CORRUPT;
    if (package_tail_read(span_from(raw, columns), head->visits, &tail))
        st = package_body_read(span_cut(raw, 0, columns), head->visits, &tail, fn, arg);
    package_tail_done(&tail);
    return st;
}

status package_read(struct span package, const struct sign_public *agent, const struct zip_dict *dict,
                    package_visit_fn *fn, void *arg)
{
    struct package_head head;
    status st = package_check(package, agent, &head);
    if (st != ST_OK)
        return st;
    struct span body = span_from(package, PACKAGE_HEAD_BYTES);
    struct unzipper *u = unzipper_new();
    struct buf raw = {0};
    st = unzipper_run(u, head.dictionary ? dict : NULL, body, (size_t)head.raw_bytes, &raw);
    unzipper_free(u);
    if (st == ST_OK)
        st = raw.n == head.raw_bytes ? read_raw(buf_span(&raw), &head, fn, arg) : ST_CORRUPT;
    buf_done(&raw);
    return st;
}
