#include "index/search/query_lex.h"

#include "base/utf8.h"

static const struct {
    const char *name;
    item_field field;
} fields[] = {
    {"title", FIELD_TITLE},   {"intitle", FIELD_TITLE}, {"url", FIELD_URL},     {"inurl", FIELD_URL},
    {"site", FIELD_SITE},     {"host", FIELD_SITE},     {"lang", FIELD_LANG},   {"language", FIELD_LANG},
    {"before", FIELD_BEFORE}, {"after", FIELD_AFTER},   {"since", FIELD_AFTER}, {"field", FIELD_EMITTED},
    {"type", FIELD_TYPE},     {"filetype", FIELD_TYPE},
};

/* Bytes of the blank at `at`; 0: something else. */
static size_t blank_at(struct span s, size_t at)
{
    if ((unsigned char)s.p[at] <= ' ')
        return 1;
    if ((unsigned char)s.p[at] < 0x80)
        return 0;
    size_t end = at;
    uint32_t c = utf8_next(s, &end, NULL);
    bool is_blank = c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 || c == 0x2029 ||
                    c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
    return is_blank ? end - at : 0;
}

/* Bytes of the double quote at `at`, of whatever shape; 0: something else. Single ones are apostrophes too often. */
static size_t quote_at(struct span s, size_t at)
{
    if (s.p[at] == '"')
        return 1;
    if ((unsigned char)s.p[at] < 0x80)
        return 0;
    size_t end = at;
    uint32_t c = utf8_next(s, &end, NULL);
    bool is_quote = (c >= 0x201c && c <= 0x201f) || c == 0xab || c == 0xbb || c == 0xff02;
    return is_quote ? end - at : 0;
}

/* Bytes of the minus at `at`. */
static size_t minus_at(struct span s, size_t at)
{
    static const struct span minus = SPAN_INIT("\xe2\x88\x92"); /* U+2212, which word processors make of it */
    if (at >= s.n)
        return 0;
    return s.p[at] == '-' ? 1 : span_starts(span_from(s, at), minus) ? minus.n : 0;
}

static bool ends_item(struct span s, size_t at)
{
    return at >= s.n || s.p[at] == '|' || blank_at(s, at) || quote_at(s, at);
}

static void lex_phrase(struct lexer *lx, struct item *it)
{
    struct span s = lx->text;
    size_t from = lx->at + quote_at(s, lx->at), end = from, width = 0;
    while (end < s.n && (width = quote_at(s, end)) == 0)
        end++;
    it->is_phrase = true;
    it->is_unclosed = end == s.n;
    it->text = span_cut(s, from, end - from);
    lx->at = end + width;
}

/* "name:" at the lexer, when the name is one of ours: its field, and how many bytes it takes. */
static item_field field_at(struct span s, size_t at, size_t *bytes)
{
    size_t end = at;
    while (end < s.n && ascii_is_alpha(s.p[end]))
        end++;
    if (end == s.n || s.p[end] != ':')
        return FIELD_NONE;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (span_is_nocase(span_cut(s, at, end - at), fields[i].name)) {
            *bytes = end + 1 - at;
            return fields[i].field;
        }
    return FIELD_NONE;
}

/* "-word" is without it; "--word" is the name of an option, as documentation writes them, and a word like others. */
static void lex_sign(struct lexer *lx, struct item *it)
{
    size_t at = lx->at, width;
    unsigned minuses = 0;
    for (; at < lx->text.n; at += width) {
        width = minus_at(lx->text, at);
        minuses += width != 0;
        if (width == 0 && lx->text.p[at] != '+')
            break;
        width = width ? width : 1;
    }
    it->is_negative = minuses == 1;
    lx->at = at;
}

/* name=value: parts the two, and takes a value in quotes, which the text ends before. */
static void lex_value(struct lexer *lx, struct item *it)
{
    size_t equals = span_find(it->text, '=', 0);
    struct span name = span_cut(it->text, 0, equals);
    it->has_value = equals < it->text.n;
    it->value = span_from(it->text, it->has_value ? equals + 1 : equals);
    if (it->has_value && !it->value.n && !it->is_phrase && lx->at < lx->text.n && quote_at(lx->text, lx->at)) {
        lex_phrase(lx, it);
        it->value = it->text;
    }
    it->text = name;
}

struct item query_lex(struct lexer *lx)
{
    struct span s = lx->text;
    struct item it = {.kind = ITEM_TEXT};
    size_t width;
    while (lx->at < s.n && (width = blank_at(s, lx->at)) != 0)
        lx->at += width;
    size_t start = lx->at;
    if (start == s.n)
        return (struct item){.kind = ITEM_END};
    if (s.p[start] == '|') {
        lx->at++;
        return (struct item){.kind = ITEM_OR, .source = span_cut(s, start, 1)};
    }
    lex_sign(lx, &it);
    if (lx->at < s.n && (it.field = field_at(s, lx->at, &width)) != FIELD_NONE)
        lx->at += width;
    if (lx->at < s.n && quote_at(s, lx->at)) {
        lex_phrase(lx, &it);
    } else {
        size_t from = lx->at;
        while (!ends_item(s, lx->at))
            lx->at++;
        it.text = span_cut(s, from, lx->at - from);
        bool has_quoted_value = it.field == FIELD_EMITTED && it.text.n && it.text.p[it.text.n - 1] == '=';
        /* 5" disk: a quote that ends a word and has a blank after it opens no phrase. */
        if (!has_quoted_value && lx->at < s.n && lx->at > from && (width = quote_at(s, lx->at)) != 0 &&
            (lx->at + width == s.n || blank_at(s, lx->at + width)))
            lx->at += width;
    }
    if (it.field == FIELD_EMITTED)
        lex_value(lx, &it);
    it.source = span_cut(s, start, lx->at - start);
    if (!it.is_phrase && it.field == FIELD_NONE && it.text.n == it.source.n)
        it.kind = span_is(it.text, "OR")    ? ITEM_OR
                  : span_is(it.text, "AND") ? ITEM_AND
                  : span_is(it.text, "NOT") ? ITEM_NOT
                                            : ITEM_TEXT;
    return it;
}
