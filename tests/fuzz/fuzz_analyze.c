/* fuzz_analyze.c - the first byte picks a language, the rest is text. Tokens lie in the text in order, terms are short
 * and valid, the cache changes nothing, every language cuts alike, and a folded word folds to itself. */
#include <assert.h>
#include <stdlib.h>

#include "base/span.h"
#include "base/utf8.h"
#include "index/text/analyze.h"
#include "index/text/fold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tokens(struct analyzer *a, size_t from, struct span text, uint32_t end)
{
    size_t n;
    const struct token *t = analyze_tokens(a, &n);
    for (size_t i = from; i < n; i++) {
        struct span term = t[i].term->text;
        assert(term.n > 0 && term.n <= ANALYZE_TERM_MAX && utf8_is_valid(term));
        assert(t[i].bytes > 0 && t[i].at < text.n && t[i].bytes <= text.n - t[i].at && t[i].position < end);
        assert(i == from || (t[i].at >= t[i - 1].at && t[i].position >= t[i - 1].position));
        assert(utf8_is_valid(span_cut(text, t[i].at, t[i].bytes)));
    }
}

static void check_same(struct analyzer *a, size_t from, bool same_terms)
{
    size_t n;
    const struct token *t = analyze_tokens(a, &n);
    size_t count = from;
    assert(n == 2 * count);
    for (size_t i = 0; i < count; i++) {
        const struct token *x = &t[i], *y = &t[i + count];
        assert(x->at == y->at && x->bytes == y->bytes && x->position == y->position && x->is_whole == y->is_whole);
        assert(!same_terms || x->term == y->term);
    }
}

static void check_folds_to_itself(struct analyzer *a)
{
    size_t count, n;
    analyze_tokens(a, &count);
    for (size_t i = 0; i < count; i++) {
        const struct token *t = &analyze_tokens(a, &n)[i];
        const struct term *term = t->term;
        size_t at = 0;
        if (t->is_whole || fold_class(utf8_next(term->text, &at, NULL)) != CHAR_WORD)
            continue;
        analyze_text(a, term->text, 0, 0);
        t = analyze_tokens(a, &n);
        assert(n > count && t[count].term->text.n > 0);
        assert(n > count + 1 || t[count].term == term);
        analyze_drop(a, count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct analyzer *a;
    size_t languages, n;
    const lang_code *lang = analyze_languages(&languages);
    if (size == 0 || size > 4096)
        return 0;
    if (!a)
        a = analyzer_new(1);
    struct span text = span_of(data + 1, size - 1);
    lang_code code = lang[data[0] % languages];

    analyze_begin(a);
    uint32_t end = analyze_text(a, text, code, 0);
    check_tokens(a, 0, text, end);
    analyze_tokens(a, &n);
    assert(analyze_text(a, text, code, 0) == end);
    check_same(a, n, true);
    analyze_drop(a, n);
    assert(analyze_text(a, text, 0, 0) == end);
    check_same(a, n, false);

    analyze_begin(a);
    analyze_text(a, text, 0, 0);
    check_folds_to_itself(a);
    return 0;
}
