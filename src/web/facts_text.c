#include "web/facts_text.h"

#include "base/utf8.h"
#include "web/facts.h"
#include "web/html_entity.h"
#include "web/html_scan.h"

/* Odd constants with bits well mixed: the fractions of the square roots of 2, 3, 5 and 7. */
#define MIX_1 0x6A09E667F3BCC909u
#define MIX_2 0xBB67AE8584CAA73Bu
#define MIX_3 0x3C6EF372FE94F82Bu
#define MIX_4 0xA54FF53A5F1D36F1u

/* Both halves of the 128-bit product, so that every bit of x and y moves half of the result. */
static inline uint64_t mix(uint64_t x, uint64_t y)
{
    __extension__ unsigned __int128 product = (unsigned __int128)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void text_digest_begin(struct text_digest *d)
{
    *d = (struct text_digest){.a = MIX_1, .b = MIX_2};
}

static inline void digest_stripe(uint64_t *a, uint64_t *b, const char *p)
{
    *a = mix(*a ^ scan_load64(p), scan_load64(p + 8) ^ MIX_3);
    *b = mix(*b ^ scan_load64(p + 16), scan_load64(p + 24) ^ MIX_4);
}

void text_digest_add(struct text_digest *d, struct span s)
{
    if (!s.n)
        return;
    d->total += s.n;
    if (d->pending_n) {
        size_t room = sizeof(d->pending) - d->pending_n;
        size_t n = s.n < room ? s.n : room;
        memcpy(d->pending + d->pending_n, s.p, n);
        d->pending_n += (unsigned)n;
        s = span_from(s, n);
        if (d->pending_n < sizeof(d->pending))
            return;
        digest_stripe(&d->a, &d->b, d->pending);
    }
    uint64_t a = d->a, b = d->b;
    for (; s.n >= sizeof(d->pending); s = span_from(s, sizeof(d->pending)))
        digest_stripe(&a, &b, s.p);
    d->a = a;
    d->b = b;
    memcpy(d->pending, s.p, s.n);
    d->pending_n = (unsigned)s.n;
}

uint64_t text_digest_end(struct text_digest *d)
{
    memset(d->pending + d->pending_n, 0, sizeof(d->pending) - d->pending_n);
    digest_stripe(&d->a, &d->b, d->pending);
    return mix(mix(d->a ^ MIX_2, d->b ^ MIX_1), d->total ^ MIX_3);
}

void fold_begin(struct fold *f, struct arena *a, struct span page, bool keep)
{
    f->start = f->window;
    size_t room = FOLD_WINDOW;
    if (keep) {
        /* Text is shorter than its page but for rare references ("&nLt;"); when it is not, the text is cut. */
        room = page.n + page.n / 4 < FACTS_TEXT_MAX ? page.n + page.n / 4 + 1 : FACTS_TEXT_MAX + 1;
        f->start = arena_bytes(a, room + FOLD_SLACK);
    }
    f->limit = f->start + room;
    f->start[0] = '\n';
    f->at = f->start + 1;
    f->start = f->at;
    f->in_end = page.p + page.n;
    f->captures = NULL;
    f->capture_count = 0;
    f->passed = 0;
    f->keeps = keep;
    f->kept = (struct span){"", 0};
    text_digest_begin(&f->digest);
}

static struct span without_tail_space(struct span s)
{
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\n'))
        s.n--;
    return s;
}

/* The kept text ends here. At most `max` bytes of it are whole characters. */
static void freeze_kept(struct fold *f, size_t max)
{
    struct span all = span_of(f->start, (size_t)(f->at - f->start));
    f->kept = without_tail_space(utf8_cut(all, max < FACTS_TEXT_MAX ? max : FACTS_TEXT_MAX));
    f->keeps = false;
}

/* Empties the buffer but for its last byte, which a block boundary may still change. */
static void fold_flush(struct fold *f)
{
    for (size_t i = 0; i < f->capture_count; i++)
        if (f->captures[i].on)
            capture_pull(&f->captures[i], f);
    size_t n = (size_t)(f->at - f->start) - 1;
    text_digest_add(&f->digest, span_of(f->start, n));
    f->passed += n;
    char last = f->at[-1];
    if (f->keeps)
        freeze_kept(f, n);
    f->start = f->window;
    f->limit = f->window + FOLD_WINDOW;
    f->start[0] = last;
    f->at = f->start + 1;
    for (size_t i = 0; i < f->capture_count; i++)
        f->captures[i].from = f->at;
}

/* White space at p and after it: none of it is in the text but one space. */
static inline const char *fold_space(struct fold *f, const char *p, const char *end)
{
    fold_gap(f);
    p++;
    if (f->in_end - p >= SCAN_BLOCK) { /* indentation is the usual case */
        unsigned other = ~(scan_eq(p, ' ') | scan_eq(p, '\n')) & 0xFFFF;
        size_t run = other ? (size_t)__builtin_ctz(other) : SCAN_BLOCK;
        p = run < (size_t)(end - p) ? p + run : end;
    }
    while (p < end && ascii_is_space(*p))
        p++;
    return p;
}

static const char *fold_ref(struct fold *f, const char *p, const char *end)
{
    char ref[HTML_REF_OUT];
    size_t made = 1, used = html_ref(span_of(p, (size_t)(end - p)), false, ref, &made);
    if (!used) {
        *f->at++ = '&';
        return p + 1;
    }
    if (made == 1 && ascii_is_space(ref[0])) {
        fold_gap(f);
    } else {
        memcpy(f->at, ref, HTML_REF_OUT);
        f->at += made;
    }
    return p + used;
}

/* One byte that cannot simply be copied. */
static inline const char *fold_special(struct fold *f, const char *p, const char *end, bool refs)
{
    if (ascii_is_space(*p))
        return fold_space(f, p, end);
    if (*p == '&' && refs)
        return fold_ref(f, p, end);
    if (*p) /* NUL is dropped, as the tree builder does */
        *f->at++ = *p;
    return p + 1;
}

/* The last bytes of the page, where a whole block cannot be read. */
static void fold_slowly(struct fold *f, const char *p, const char *end, bool refs)
{
    while (p < end) {
        if (f->at >= f->limit)
            fold_flush(f);
        p = fold_special(f, p, end, refs);
    }
}

void fold_text(struct fold *f, struct span raw, bool refs)
{
    const char *p = raw.p, *end = raw.p + raw.n;
    if (p < end && ascii_is_space(*p)) { /* many texts are nothing else: lines and indentation between tags */
        if (f->at >= f->limit)
            fold_flush(f);
        p = fold_space(f, p, end);
    }
    while (p < end) {
        if (f->at >= f->limit)
            fold_flush(f);
        if (f->in_end - p < SCAN_BLOCK) {
            fold_slowly(f, p, end, refs);
            return;
        }
        /* Copy up to the first byte that is a control, an '&', or a space behind white space. */
        unsigned spaces = scan_eq(p, ' ');
        unsigned after_space = spaces << 1 | (f->at[-1] == ' ' || f->at[-1] == '\n');
        unsigned stops = scan_le(p, 0x1F) | (spaces & after_space);
        if (refs)
            stops |= scan_eq(p, '&');
        memcpy(f->at, p, SCAN_BLOCK);
        size_t n = stops ? (size_t)__builtin_ctz(stops) : SCAN_BLOCK;
        if (n >= (size_t)(end - p)) {
            f->at += end - p;
            return;
        }
        f->at += n;
        p += n;
        if (n < SCAN_BLOCK)
            p = fold_special(f, p, end, refs);
    }
}

void fold_end(struct fold *f, struct span *kept, size_t *bytes, uint64_t *digest)
{
    struct span rest = without_tail_space(span_of(f->start, (size_t)(f->at - f->start)));
    text_digest_add(&f->digest, rest);
    if (f->keeps)
        freeze_kept(f, rest.n);
    *kept = f->kept;
    *bytes = f->passed + rest.n;
    *digest = text_digest_end(&f->digest);
}

static inline void capture_put(struct capture *c, const char *p, const char *end)
{
    for (; p < end && c->n < c->max; p++) {
        bool is_space = ascii_is_space(*p);
        if (is_space && (!c->n || c->text[c->n - 1] == ' '))
            continue;
        c->text[c->n++] = is_space ? ' ' : *p;
    }
}

void capture_pull(struct capture *c, const struct fold *f)
{
    capture_put(c, c->from, f->at);
    c->from = f->at;
}

void capture_add(struct capture *c, const struct fold *f, struct span text)
{
    static const char space[1] = {' '};
    capture_pull(c, f);
    capture_put(c, space, space + 1);
    capture_put(c, text.p, text.p + text.n);
    capture_put(c, space, space + 1);
}

struct span capture_end(struct capture *c, const struct fold *f, struct arena *a)
{
    capture_pull(c, f);
    c->on = false;
    struct span s = span_of(c->text, c->n);
    /* A full capture may end within a character. */
    if (s.n == c->max)
        s = utf8_cut(s, c->max - 1);
    s = span_trim(s);
    return s.n ? arena_copy(a, s) : (struct span){"", 0};
}

struct span fold_line(struct arena *a, struct span s, size_t max)
{
    s = span_trim(s);
    char *out = arena_bytes(a, s.n < max ? s.n : max);
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < max; i++) {
        bool is_space = ascii_is_space(s.p[i]);
        if (is_space && out[n - 1] == ' ')
            continue;
        out[n++] = is_space ? ' ' : s.p[i];
    }
    return span_trim(n == max ? utf8_cut(span_of(out, n), max - 1) : span_of(out, n));
}
