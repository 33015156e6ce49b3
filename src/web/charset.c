#include "web/charset.h"

#include <assert.h>
#include <errno.h>
#include <iconv.h>
#include <uchardet.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "web/charset_label.h"

#define SLICE 4096 /* input bytes between two looks at the ceiling */
#define REPLACEMENT 0xFFFD

/* Where decoded text goes. */
struct sink {
    struct buf out;
    size_t max;
    bool had_errors;
};

static void put_error(struct sink *s)
{
    s->had_errors = true;
    buf_put(&s->out, SPAN("\xEF\xBF\xBD"));
}

static bool is_full(const struct sink *s)
{
    return s->out.n > s->max;
}

/* Index of the first byte above 0x7F, or n. */
static size_t ascii_prefix(struct span s)
{
    size_t at = 0;
    for (uint64_t w[4]; s.n - at >= sizeof(w); at += sizeof(w)) {
        memcpy(w, s.p + at, sizeof(w));
        if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)
            break;
    }
    while (at < s.n && (unsigned char)s.p[at] < 0x80)
        at++;
    return at;
}

/* UTF-8 with errors in it. */
static void decode_utf8(struct span in, struct sink *s)
{
    size_t at = 0, good = 0; /* in[good..at) is valid and not yet copied */
    while (at < in.n && !is_full(s)) {
        size_t from = at;
        bool valid;
        utf8_next(in, &at, &valid);
        if (valid && at - good < SLICE)
            continue;
        size_t end = valid ? at : from;
        buf_put(&s->out, span_cut(in, good, end - good));
        if (!valid)
            put_error(s);
        good = at;
    }
    if (!is_full(s))
        buf_put(&s->out, span_from(in, good));
}

static void decode_utf16(struct span in, bool is_big, struct sink *s)
{
    const unsigned char *p = (const unsigned char *)in.p;
    uint32_t high = 0; /* a high surrogate that waits for its low one */
    size_t at = 0;
    for (; at + 1 < in.n && !is_full(s); at += 2) {
        uint32_t u = is_big ? (uint32_t)p[at] << 8 | p[at + 1] : (uint32_t)p[at + 1] << 8 | p[at];
        bool is_low = u >= 0xDC00 && u <= 0xDFFF;
        if (high && is_low)
            u = 0x10000 + ((high - 0xD800) << 10) + (u - 0xDC00);
        else if (high || is_low)
            put_error(s);
        bool is_pair = high && is_low;
        high = u >= 0xD800 && u <= 0xDBFF ? u : 0;
        if (!high && (!is_low || is_pair))
            buf_put_utf8(&s->out, u);
    }
    if (high || at < in.n)
        put_error(s);
}

/* What glibc has otherwise than the standard's index. */
static const struct {
    charset_id id;
    unsigned char byte;
    uint16_t cp;
} single_fixes[] = {
    {CHARSET_MACINTOSH, 0xC6, 0x2206}, {CHARSET_MACINTOSH, 0xF0, 0xF8FF}, {CHARSET_MAC_CYRILLIC, 0xFF, 0x20AC},
    {CHARSET_KOI8U, 0xAE, 0x045E},     {CHARSET_KOI8U, 0xBE, 0x040E},     {CHARSET_W1255, 0xCA, 0x05BA},
};

/* What iconv makes of the bytes 0x80 to 0xFF: UTF-32 of each, or UNKNOWN. A NUL after each byte keeps glibc from
 * composing pairs, which the standard does not do. */
#define UNKNOWN UINT32_MAX
static void ask_iconv(const char *name, uint32_t table[128])
{
    char in[256], *from = in;
    uint32_t out[256];
    char *to = (char *)out;
    size_t left = sizeof(in), room = sizeof(out);
    for (unsigned i = 0; i < 256; i++) {
        in[i] = (char)(i % 2 ? 0 : 0x80 + i / 2);
        out[i] = UNKNOWN;
    }
    iconv_t cd = iconv_open(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "UTF-32LE" : "UTF-32BE", name);
    while (cd != (iconv_t)-1 && left && iconv(cd, &from, &left, &to, &room) == (size_t)-1 && errno == EILSEQ &&
           room >= 4) {
        from++;
        left--;
        to += 4;
        room -= 4;
    }
    for (unsigned i = 0; i < 128; i++)
        table[i] = left == 0 && room == 0 ? out[2 * i] : UNKNOWN;
    if (cd != (iconv_t)-1)
        iconv_close(cd);
}

/* Unassigned bytes below 0xA0 are the C1 controls. */
static void single_table(charset_id id, uint32_t table[128])
{
    ask_iconv(charset_info(id)->iconv, table);
    for (unsigned i = 0; i < 128; i++) {
        if (table[i] == UNKNOWN)
            table[i] = i < 0x20 ? 0x80 + i : REPLACEMENT;
    }
    for (size_t i = 0; i < sizeof(single_fixes) / sizeof(*single_fixes); i++) {
        if (single_fixes[i].id == id)
            table[single_fixes[i].byte - 0x80] = single_fixes[i].cp;
    }
}

/* windows-1252 is the default and needs no tables but this. */
static void windows1252_table(uint32_t table[128])
{
    static const uint16_t first[32] = {
        0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178,
    };
    for (unsigned i = 0; i < 128; i++)
        table[i] = i < 32 ? first[i] : 0x80 + i;
}

/* All characters of the tables are between U+0080 and U+FFFF: two or three bytes each. */
static void decode_single(struct span in, const uint32_t table[128], struct sink *s)
{
    bool had_errors = false;
    for (size_t at = 0; at < in.n && !is_full(s); at += SLICE) {
        struct span slice = span_cut(in, at, SLICE);
        char *to = buf_room(&s->out, 3 * slice.n);
        for (size_t i = 0; i < slice.n; i++) {
            unsigned char b = (unsigned char)slice.p[i];
            if (b < 0x80) {
                *to++ = (char)b;
                continue;
            }
            uint32_t cp = table[b - 0x80];
            had_errors |= cp == REPLACEMENT;
            if (cp < 0x800) {
                *to++ = (char)(0xC0 | cp >> 6);
            } else {
                *to++ = (char)(0xE0 | cp >> 12);
                *to++ = (char)(0x80 | (cp >> 6 & 0x3F));
            }
            *to++ = (char)(0x80 | (cp & 0x3F));
        }
        s->out.n = (size_t)(to - s->out.p);
    }
    s->had_errors = s->had_errors || had_errors;
}

static void decode_user_defined(struct span in, struct sink *s)
{
    uint32_t table[128];
    for (unsigned i = 0; i < 128; i++)
        table[i] = 0xF780 + i;
    decode_single(in, table, s);
}

/* A byte that iconv will not take. In GBK and gb18030 the standard has the euro sign at 0x80. */
static void put_bad_byte(charset_id id, unsigned char b, struct sink *s)
{
    if (b == 0x80 && (id == CHARSET_GBK || id == CHARSET_GB18030))
        buf_put_utf8(&s->out, 0x20AC);
    else
        put_error(s);
}

/* Until the first byte that iconv will not take, or the end. */
static void iconv_run(iconv_t cd, char **from, size_t *left, struct sink *s)
{
    size_t rc;
    do {
        char *to = buf_room(&s->out, SLICE);
        size_t room = SLICE;
        rc = iconv(cd, from, left, &to, &room);
        s->out.n += SLICE - room;
    } while (rc == (size_t)-1 && errno == E2BIG && !is_full(s));
}

static void ascii_run(char **from, size_t *left, struct sink *s)
{
    size_t n = ascii_prefix(span_of(*from, *left));
    buf_put(&s->out, span_of(*from, n));
    *from += n;
    *left -= n;
}

static void decode_iconv(charset_id id, struct span in, struct sink *s)
{
    iconv_t cd = iconv_open("UTF-8", charset_info(id)->iconv);
    char *from = (char *)(uintptr_t)in.p;
    size_t left = in.n, errors = 0;
    while (left && !is_full(s)) {
        if (cd == (iconv_t)-1 || errors > CHARSET_ERRORS_MAX)
            ascii_run(&from, &left, s);
        else
            iconv_run(cd, &from, &left, s);
        if (left && !is_full(s)) {
            put_bad_byte(id, (unsigned char)*from, s);
            from++;
            left--;
            errors++;
        }
    }
    if (cd == (iconv_t)-1)
        return;
    char tail[16], *to = tail;
    size_t room = sizeof(tail);
    if (iconv(cd, NULL, NULL, &to, &room) != (size_t)-1) /* a character that waited for what might follow */
        buf_put(&s->out, span_of(tail, sizeof(tail) - room));
    iconv_close(cd);
}

static void decode(charset_id id, struct span in, struct sink *s)
{
    uint32_t table[128];
    switch (charset_info(id)->kind) {
    case KIND_UTF8:
        decode_utf8(in, s);
        break;
    case KIND_UTF16:
        decode_utf16(in, id == CHARSET_UTF16BE, s);
        break;
    case KIND_SINGLE:
        if (id == CHARSET_W1252)
            windows1252_table(table);
        else
            single_table(id, table);
        decode_single(in, table, s);
        break;
    case KIND_MULTI:
        decode_iconv(id, in, s);
        break;
    case KIND_REPLACEMENT:
        put_error(s);
        break;
    case KIND_USER_DEFINED:
        decode_user_defined(in, s);
        break;
    }
}

/* Is ASCII text the same bytes in it? */
static bool keeps_ascii(charset_id id)
{
    charset_kind kind = charset_info(id)->kind;
    return kind != KIND_UTF16 && kind != KIND_REPLACEMENT && id != CHARSET_ISO2022JP;
}

/* uchardet's guess, or CHARSET_NONE. It looks where the first byte is that tells anything. */
static charset_id detect(struct span body)
{
    size_t first = ascii_prefix(body);
    struct span sample = span_cut(body, first > SLICE ? first - SLICE : 0, CHARSET_DETECT_BYTES);
    uchardet_t ud = uchardet_new();
    assert(ud);
    charset_id id = CHARSET_NONE;
    if (uchardet_handle_data(ud, sample.p, sample.n) == 0) {
        uchardet_data_end(ud);
        struct span name = span_str(uchardet_get_charset(ud));
        if (span_is_nocase(name, "UHC"))
            id = CHARSET_EUC_KR;
        else if (span_is_nocase(name, "MAC-CYRILLIC"))
            id = CHARSET_MAC_CYRILLIC;
        else
            id = charset_of_label(name);
    }
    uchardet_delete(ud);
    /* A guess must not throw the whole page away. */
    return id == CHARSET_REPLACEMENT ? CHARSET_NONE : id;
}

struct bom {
    const char *bytes;
    size_t n;
    charset_id id;
};

static charset_id bom_of(struct span *body)
{
    static const struct bom boms[] = {
        {"\xEF\xBB\xBF", 3, CHARSET_UTF8}, {"\xFE\xFF", 2, CHARSET_UTF16BE}, {"\xFF\xFE", 2, CHARSET_UTF16LE}};
    for (size_t i = 0; i < sizeof(boms) / sizeof(*boms); i++) {
        if (span_starts(*body, span_of(boms[i].bytes, boms[i].n))) {
            *body = span_from(*body, boms[i].n);
            return boms[i].id;
        }
    }
    return CHARSET_NONE;
}

/* The encoding by what is said, not by what is there; CHARSET_NONE when nothing is said. */
static charset_id declared(struct span *body, struct span header_charset, bool is_html, charset_source *source)
{
    *source = CHARSET_BOM;
    charset_id id = bom_of(body);
    if (id == CHARSET_NONE) {
        *source = CHARSET_HEADER;
        id = charset_of_label(header_charset);
    }
    if (id == CHARSET_NONE && is_html) {
        *source = CHARSET_META;
        id = charset_prescan(*body);
    }
    return id;
}

status charset_decode(struct arena *a, struct span body, struct span header_charset, bool is_html, size_t max,
                      struct charset_result *out)
{
    struct charset_result r = {0};
    charset_id id = declared(&body, header_charset, is_html, &r.source);
    bool is_same = false; /* the bytes are the text */
    if (id == CHARSET_NONE || id == CHARSET_UTF8) {
        is_same = utf8_is_valid(body);
        if (id == CHARSET_NONE) {
            r.source = CHARSET_DETECTED;
            id = is_same ? CHARSET_UTF8 : detect(body);
        }
        if (id == CHARSET_NONE) {
            r.source = CHARSET_DEFAULT;
            id = CHARSET_W1252;
        }
    } else {
        is_same = body.n == 0 || (keeps_ascii(id) && ascii_prefix(body) == body.n);
    }
    r.name = charset_info(id)->name;
    if (is_same) {
        if (body.n > max)
            return ST_LIMIT;
        r.text = body;
        *out = r;
        return ST_OK;
    }
    struct sink s = {.max = max};
    (void)buf_room(&s.out, body.n + body.n / 4 + SLICE); /* most text grows no more than that */
    decode(id, body, &s);
    bool fits = !is_full(&s);
    if (fits) {
        r.text = arena_copy(a, buf_span(&s.out));
        r.had_errors = s.had_errors;
        *out = r;
    }
    buf_done(&s.out);
    return fits ? ST_OK : ST_LIMIT;
}

bool charset_warm_up(void)
{
    bool has_all = true;
    for (int id = 0; id < CHARSET_COUNT; id++) {
        const struct charset *c = charset_info((charset_id)id);
        iconv_t cd = c->iconv ? iconv_open(c->kind == KIND_SINGLE ? "UTF-32LE" : "UTF-8", c->iconv) : (iconv_t)-1;
        has_all = has_all && (!c->iconv || cd != (iconv_t)-1);
        if (cd != (iconv_t)-1)
            iconv_close(cd);
    }
    return has_all;
}

static void put_percent(struct buf *out, struct span bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        if (c < 0x80)
            buf_putc(out, (char)c); /* the second byte of two may be: the parser knows what to do with it */
        else
            buf_printf(out, "%%%02X", c);
    }
}

static void encode_query(iconv_t cd, struct span query, struct buf *out)
{
    for (size_t at = 0; at < query.n;) {
        size_t from = at;
        bool is_valid;
        uint32_t c = utf8_next(query, &at, &is_valid);
        char bytes[8], *in = (char *)(uintptr_t)(query.p + from), *to = bytes;
        size_t left = at - from, room = sizeof(bytes);
        if (c < 0x80)
            buf_putc(out, (char)c);
        else if (iconv(cd, &in, &left, &to, &room) == 0 && left == 0)
            put_percent(out, span_of(bytes, sizeof(bytes) - room));
        else
            buf_printf(out, "%%26%%23%u%%3B", (unsigned)c);
    }
}

struct span charset_query(struct arena *a, struct span ref, struct span charset)
{
    size_t end = span_find(ref, '#', 0), mark = span_find(ref, '?', 0);
    struct span query = mark < end ? span_cut(ref, mark, end - mark) : SPAN("");
    if (ascii_prefix(query) == query.n)
        return ref;
    charset_id id = charset_of_label(charset);
    const struct charset *info = id == CHARSET_NONE ? NULL : charset_info(id);
    /* ISO-2022-JP has modes, and nobody writes such queries any more. */
    if (!info || !info->iconv || (info->kind != KIND_SINGLE && info->kind != KIND_MULTI) || id == CHARSET_ISO2022JP)
        return ref;
    iconv_t cd = iconv_open(info->iconv, "UTF-8");
    if (cd == (iconv_t)-1)
        return ref;
    struct buf b = {0};
    buf_put(&b, span_cut(ref, 0, mark));
    encode_query(cd, query, &b);
    buf_put(&b, span_from(ref, end));
    struct span out = arena_copy(a, buf_span(&b));
    buf_done(&b);
    iconv_close(cd);
    return out;
}

struct span content_type_media(struct span content_type)
{
    size_t semicolon = span_find(content_type, ';', 0), comma = span_find(content_type, ',', 0);
    struct span media = span_trim(span_cut(content_type, 0, semicolon < comma ? semicolon : comma));
    size_t slash = span_find(media, '/', 0);
    bool says_nothing = span_is(media, "*/*") || span_is_nocase(media, "unknown/unknown") ||
                        span_is_nocase(media, "application/unknown");
    return slash > 0 && slash + 1 < media.n && !says_nothing ? media : SPAN("");
}

/* A parameter's value: quoted up to the closing quote (or the end), else up to white space, ';' or ','. */
static struct span parameter_value(struct span s)
{
    s = span_trim(s);
    if (s.n && (s.p[0] == '"' || s.p[0] == '\''))
        return span_trim(span_cut(s, 1, span_find(s, s.p[0], 1) - 1));
    size_t n = 0;
    while (n < s.n && !ascii_is_space(s.p[n]) && s.p[n] != ';' && s.p[n] != ',')
        n++;
    return span_cut(s, 0, n);
}

struct span content_type_charset(struct span content_type)
{
    bool in_quotes = false;
    for (size_t i = 0; i < content_type.n; i++) {
        char c = content_type.p[i];
        if (c == '"')
            in_quotes = !in_quotes;
        if (in_quotes || c != ';')
            continue;
        struct span rest = span_from(content_type, i + 1);
        size_t equals = span_find(rest, '=', 0);
        if (equals < rest.n && span_is_nocase(span_trim(span_cut(rest, 0, equals)), "charset"))
            return parameter_value(span_from(rest, equals + 1));
    }
    return SPAN("");
}
