/* query.c - from what was typed to clauses.
 *
 *     typed      docs "full text" title:index OR title:search -draft site:postgresql.org
 *     items      docs   "full text"   title:index   OR   title:search   -draft   site:postgresql.org
 *     clauses    [docs] [full text] [title index | title search] [\1spostgresql.org]      excluded [draft]
 *
 * query_lex cuts items, the parser decides what each is, query_words turns its text into terms. Atoms of a clause lie
 * next to each other in one array, because an OR always adds to the clause before it. */
#include "index/search/query.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "index/search/query_lex.h"
#include "index/search/query_value.h"
#include "index/search/query_words.h"
#include "index/search/search.h"
#include "index/segment/field.h"
#include "index/segment/segment.h"
#include "index/text/url_words.h"
#include "web/content.h"
#include "web/media.h"

#define NOTES_MAX 4

typedef enum last_kind { LAST_NONE, LAST_CLAUSE, LAST_OTHER } last_kind; /* what an OR would join to */

struct parser {
    struct arena *arena;
    struct query_speech speech;
    struct lexer lx;
    unsigned terms_max;
    struct query *q;
    struct query_atom *atoms; /* of the clauses, one after the other */
    unsigned atom_count;
    last_kind last;
    bool has_or, has_not; /* stand before this item */
    bool operators_are_words;
    struct buf note;
    unsigned notes;
};

static void note(struct parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(struct parser *p, const char *fmt, ...)
{
    struct buf line = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&line, fmt, ap);
    va_end(ap);
    bool is_known = p->note.n && span_search(buf_span(&p->note), buf_span(&line), false) < p->note.n;
    if (!is_known && p->notes < NOTES_MAX) {
        buf_puts(&p->note, p->notes++ ? "; " : "");
        buf_put(&p->note, buf_span(&line));
    }
    buf_done(&line);
}

/* Text of the query inside a note, short. */
#define QUOTED_MAX 60
#define QUOTED(s) SPAN_ARG(utf8_cut((s), QUOTED_MAX))

static void note_cut(struct parser *p)
{
    note(p, "only the first %u words count", p->terms_max);
}

static void note_no_or(struct parser *p)
{
    note(p, "what is left out, and dates, cannot be one side of OR");
}

/* ---- atoms ---- */

/* False: the text has no word that counts. */
static bool atom_words(struct parser *p, struct span text, bool is_excluded, uint8_t field, struct query_atom *out)
{
    bool has_gap;
    struct query_atom at;
    unsigned left = p->terms_max - p->q->term_count;
    query_words(&p->speech, text, &at, &has_gap);
    if (has_gap)
        note(p, "a word of more than %d bytes is ignored", ANALYZE_TERM_MAX);
    if (at.word_count == 0 || (has_gap && is_excluded)) /* a shorter phrase would leave out more */
        return false;
    if (at.word_count + (at.whole != NULL) > left) {
        note_cut(p);
        if (left == 0 || is_excluded)
            return false;
        at.word_count = at.word_count < left ? at.word_count : left;
        at.whole = NULL;
    }
    p->q->term_count += at.word_count + (at.whole != NULL);
    at.field = field;
    *out = at;
    return true;
}

static bool atom_special(struct parser *p, char type, struct span value, struct span source, struct query_atom *out)
{
    if (p->q->term_count >= p->terms_max) {
        note_cut(p);
        return false;
    }
    struct query_word *w = ARENA_NEW(p->arena, struct query_word);
    char *term = arena_bytes(p->arena, value.n + 2);
    term[0] = TERM_SPECIAL;
    term[1] = type;
    if (value.n)
        memcpy(term + 2, value.p, value.n);
    w->terms = ARENA_NEW(p->arena, struct span);
    w->terms[0] = span_of(term, value.n + 2);
    w->term_count = 1;
    w->source = source;
    *out = (struct query_atom){.kind = ATOM_TERM, .words = w, .word_count = 1, .source = source};
    p->q->term_count++;
    return true;
}

static bool is_special(const struct query_atom *at, char type)
{
    return at->kind == ATOM_TERM && at->words[0].terms[0].p[1] == type;
}

/* ---- clauses ---- */

static bool same_word(const struct query_word *x, const struct query_word *y)
{
    if (x->term_count != y->term_count || x->is_prefix != y->is_prefix)
        return false;
    for (unsigned i = 0; i < x->term_count; i++)
        if (!span_eq(x->terms[i], y->terms[i]))
            return false;
    return true;
}

static bool same_atom(const struct query_atom *x, const struct query_atom *y)
{
    if (x->kind != y->kind || x->field != y->field || x->word_count != y->word_count || !x->whole != !y->whole)
        return false;
    for (unsigned i = 0; i < x->word_count; i++)
        if (!same_word(&x->words[i], &y->words[i]))
            return false;
    return !x->whole || same_word(x->whole, y->whole);
}

static bool has_atom(const struct query_clause *c, const struct query_atom *at)
{
    for (unsigned i = 0; i < c->atom_count; i++)
        if (same_atom(&c->atoms[i], at))
            return true;
    return false;
}

/* A word said twice weighs no more than once. */
static bool same_clause(const struct query_clause *x, const struct query_clause *y)
{
    if (x->atom_count != y->atom_count)
        return false;
    for (unsigned i = 0; i < x->atom_count; i++)
        if (!has_atom(y, &x->atoms[i]))
            return false;
    return true;
}

static void exclude(struct parser *p, struct query_atom at)
{
    struct query_clause *x = &p->q->excluded;
    if (p->has_or)
        note_no_or(p);
    if (!has_atom(x, &at))
        x->atoms[x->atom_count++] = at;
    p->last = LAST_OTHER;
}

static void require(struct parser *p, struct query_atom at, bool is_alternative)
{
    struct query *q = p->q;
    struct query_clause *last = q->clause_count ? &q->clauses[q->clause_count - 1] : NULL;
    if (!is_alternative || !last) {
        last = &q->clauses[q->clause_count++];
        *last = (struct query_clause){.atoms = &p->atoms[p->atom_count]};
    }
    if (!has_atom(last, &at)) {
        p->atoms[p->atom_count++] = at;
        last->atom_count++;
    }
    p->last = LAST_CLAUSE;
}

static void put_atom(struct parser *p, bool is_excluded, struct query_atom at)
{
    if (is_excluded)
        exclude(p, at);
    else
        require(p, at, p->has_or);
}

static bool next_is_or(const struct parser *p)
{
    struct lexer lx = p->lx;
    return !p->operators_are_words && query_lex(&lx).kind == ITEM_OR;
}

static void put_words(struct parser *p, const struct item *it, bool is_excluded)
{
    struct query_atom at;
    uint8_t field = it->field == FIELD_TITLE ? ATOM_TITLE : it->field == FIELD_URL ? ATOM_URL : ATOM_ANYWHERE;
    bool opens = !it->is_phrase && it->text.n && *it->text.p == '(';
    bool closes =
        !it->is_phrase && it->text.n && it->text.p[it->text.n - 1] == ')' && span_find(it->text, '(', 0) == it->text.n;
    if ((opens && (is_excluded || p->has_or)) || (closes && next_is_or(p)))
        note(p, "parentheses do not group: OR joins the two words next to it");
    if (it->is_unclosed)
        note(p, "a quotation mark is not closed");
    if (!atom_words(p, it->text, is_excluded, field, &at))
        return;
    at.is_quoted = it->is_phrase;
    put_atom(p, is_excluded, at);
}

/* As the index has them: without the extension, escapes decoded. */
static struct span path_words(struct parser *p, struct span path)
{
    struct buf url = {0}, words = {0};
    buf_puts(&url, "http://x");
    buf_put(&url, path);
    url_words(&words, buf_span(&url));
    struct span s = arena_copy(p->arena, span_from(buf_span(&words), 2)); /* after "x " */
    buf_done(&url);
    buf_done(&words);
    return s;
}

static void put_site(struct parser *p, const struct item *it, struct span value, bool is_excluded)
{
    struct span host, path;
    struct query_atom at;
    if (query_site(p->arena, value, &host, &path) != ST_OK) {
        note(p, "\"%.*s\" is no host name", QUOTED(value));
        return;
    }
    bool has_path = path.n > 1;
    if (has_path && is_excluded) {
        note(p, "a part of a site cannot be left out: \"%.*s\" is ignored", QUOTED(it->source));
        return;
    }
    bool is_alone = !p->has_or && !next_is_or(p);
    if (!atom_special(p, 's', host, it->source, &at))
        return;
    put_atom(p, is_excluded, at);
    if (has_path && !is_alone) {
        note(p, "next to OR only the host of \"%.*s\" counts", QUOTED(it->source));
    } else if (has_path) {
        note(p, "of \"%.*s\" the host counts, and what follows it as words of the URL", QUOTED(it->source));
        if (atom_words(p, path_words(p, path), false, ATOM_URL, &at))
            require(p, at, false);
    }
}

static void put_lang(struct parser *p, const struct item *it, struct span value, bool is_excluded)
{
    struct query_atom at;
    char name[4];
    lang_code lang = query_language(p->speech.an, value);
    if (!lang)
        note(p, "\"%.*s\" is no language: write lang:en or lang:english", QUOTED(value));
    else if (atom_special(p, 'l', span_str(lang_code_name(lang, name)), it->source, &at))
        put_atom(p, is_excluded, at);
}

static void put_type(struct parser *p, const struct item *it, struct span value, bool is_excluded)
{
    struct query_atom at;
    const char *type = media_asked(value);
    if (!type)
        note(p, "\"%.*s\" is no type of files: write type:pdf, type:zip or type:image", QUOTED(value));
    else if (atom_special(p, 't', span_str(type), it->source, &at))
        put_atom(p, is_excluded, at);
}

/* Some of "pdf,zip" is a type; else it is text of another kind ("type:int"). */
static bool has_type(struct span rest)
{
    struct span value;
    bool has = false;
    while (!has && span_split(&rest, ',', &value))
        has = media_asked(span_trim(value)) != NULL;
    return has;
}

/* False: that is no name of a field. */
static bool put_emitted(struct parser *p, const struct item *it, bool is_excluded)
{
    char name[CONTENT_FIELD_NAME_MAX], term[SEGMENT_TERM_MAX];
    struct query_atom at;
    struct buf folded = {0};
    if (it->text.n > sizeof(name))
        return false;
    for (size_t i = 0; i < it->text.n; i++)
        name[i] = ascii_lower(it->text.p[i]);
    struct span lower = span_of(name, it->text.n);
    if (!content_field_name(lower))
        return false;
    struct span t = it->has_value ? field_value_term(lower, it->value, &folded, term) : field_term(lower, term);
    if (it->is_unclosed)
        note(p, "a quotation mark is not closed");
    if (atom_special(p, 'f', span_from(t, 2), it->source, &at))
        put_atom(p, is_excluded, at);
    buf_done(&folded);
    return true;
}

static void put_date(struct parser *p, const struct item *it, bool is_excluded)
{
    int64_t start, end;
    struct query *q = p->q;
    if (is_excluded)
        note(p, "a date cannot be left out: \"%.*s\" is ignored", QUOTED(it->source));
    else if (!query_date(it->text, &start, &end))
        note(p, "\"%.*s\" is no date: write 2024, 2024-05 or 2024-05-31", QUOTED(it->text));
    else if (it->field == FIELD_BEFORE)
        q->before_s = start < q->before_s ? start : q->before_s;
    else
        q->after_s = end - 1 > q->after_s ? end - 1 : q->after_s;
    if (p->has_or)
        note_no_or(p);
    p->last = LAST_OTHER;
}

/* Each of "a,b" on its own: one of them for a wish, none of them for an exclusion. */
static void put_values(struct parser *p, const struct item *it, bool is_excluded)
{
    struct span rest = it->text, value;
    while (span_split(&rest, ',', &value)) {
        value = span_trim(value);
        unsigned before = p->q->clause_count;
        if (value.n && it->field == FIELD_SITE)
            put_site(p, it, value, is_excluded);
        else if (value.n && it->field == FIELD_TYPE)
            put_type(p, it, value, is_excluded);
        else if (value.n)
            put_lang(p, it, value, is_excluded);
        if (p->q->clause_count > before + 1) /* a site with its path */
            return;
        p->has_or |= p->q->clause_count > before;
    }
}

/* "site: python.org": the value is the next item, when it looks like one. */
static void take_late_value(struct parser *p, struct item *it)
{
    struct lexer lx = p->lx;
    struct item next = query_lex(&lx);
    int64_t start, end;
    bool fits = false;
    if (next.kind != ITEM_TEXT || next.is_negative || next.field != FIELD_NONE || next.text.n == 0)
        return;
    if (it->field == FIELD_SITE)
        fits = span_find(next.text, '.', 0) < next.text.n;
    else if (it->field == FIELD_LANG)
        fits = query_language(p->speech.an, next.text) != 0;
    else if (it->field == FIELD_TYPE)
        fits = has_type(next.text);
    else if (it->field == FIELD_BEFORE || it->field == FIELD_AFTER)
        fits = query_date(next.text, &start, &end);
    if (!fits)
        return;
    it->text = next.text;
    it->source.n = (size_t)(next.source.p + next.source.n - it->source.p);
    p->lx = lx;
}

static bool is_pasted_url(const struct item *it)
{
    return it->field == FIELD_NONE && !it->is_phrase &&
           (span_starts_nocase(it->text, SPAN("http://")) || span_starts_nocase(it->text, SPAN("https://")));
}

static void put_item(struct parser *p, struct item *it)
{
    bool is_excluded = it->is_negative || p->has_not;
    if (it->field == FIELD_EMITTED) {
        if (put_emitted(p, it, is_excluded))
            return;
        it->text = it->source; /* as other names that are none of ours */
        it->field = FIELD_NONE;
        it->is_phrase = false;
    }
    if (it->text.n == 0 && it->field != FIELD_NONE && !it->is_phrase) {
        take_late_value(p, it);
        if (it->text.n == 0) { /* "title:" alone: a word like others */
            it->text = it->source;
            it->field = FIELD_NONE;
        }
    }
    if (it->field == FIELD_TYPE && !has_type(it->text)) {
        it->text = it->source;
        it->field = FIELD_NONE;
    }
    if (it->field == FIELD_SITE || it->field == FIELD_LANG || it->field == FIELD_TYPE)
        put_values(p, it, is_excluded);
    else if (is_pasted_url(it))
        put_site(p, it, it->text, is_excluded);
    else if (it->field == FIELD_BEFORE || it->field == FIELD_AFTER)
        put_date(p, it, is_excluded);
    else
        put_words(p, it, is_excluded);
}

static void parse_items(struct parser *p)
{
    for (;;) {
        struct item it = query_lex(&p->lx);
        if (p->operators_are_words && it.kind != ITEM_END)
            it.kind = ITEM_TEXT;
        switch (it.kind) {
        case ITEM_END:
            return;
        case ITEM_OR:
            p->has_or = p->last == LAST_CLAUSE;
            if (p->last == LAST_OTHER)
                note_no_or(p);
            continue;
        case ITEM_AND:
            p->has_or = false;
            continue;
        case ITEM_NOT:
            p->has_not = true;
            continue;
        case ITEM_TEXT:
            break;
        }
        put_item(p, &it);
        p->has_or = p->has_not = false;
    }
}

/* ---- after the last item ---- */

static bool is_all(const struct query_clause *c, char type)
{
    for (unsigned i = 0; i < c->atom_count; i++)
        if (!is_special(&c->atoms[i], type))
            return false;
    return true;
}

/* A page has one site, one language and one type, so two wishes for them cannot both be meant: either is. */
static void join_special(struct parser *p, char type)
{
    struct query *q = p->q;
    struct query_clause *first = NULL;
    unsigned kept = 0;
    for (unsigned i = 0; i < q->clause_count; i++) {
        struct query_clause c = q->clauses[i];
        if (!is_all(&c, type) || !first) {
            q->clauses[kept] = c;
            if (is_all(&c, type))
                first = &q->clauses[kept];
            kept++;
            continue;
        }
        struct query_atom *atoms = arena_alloc(p->arena, (first->atom_count + c.atom_count) * sizeof(*atoms));
        memcpy(atoms, first->atoms, first->atom_count * sizeof(*atoms));
        first->atoms = atoms;
        for (unsigned k = 0; k < c.atom_count; k++)
            if (!has_atom(first, &c.atoms[k]))
                atoms[first->atom_count++] = c.atoms[k];
    }
    q->clause_count = kept;
}

static void drop_repeated(struct query *q)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < q->clause_count; i++) {
        bool is_new = true;
        for (unsigned k = 0; k < kept && is_new; k++)
            is_new = !same_clause(&q->clauses[i], &q->clauses[k]);
        if (is_new)
            q->clauses[kept++] = q->clauses[i];
    }
    q->clause_count = kept;
}

static lang_code only_language(const struct query *q)
{
    for (unsigned i = 0; i < q->clause_count; i++) {
        const struct query_clause *c = &q->clauses[i];
        if (c->atom_count == 1 && is_special(&c->atoms[0], 'l'))
            return lang_code_of(span_from(c->atoms[0].words[0].terms[0], 2));
    }
    return 0;
}

static void add_speech(struct query_speech *sp, const lang_code *languages, unsigned n)
{
    sp->language_count = 0;
    for (unsigned i = 0; i < n && sp->language_count < QUERY_LANGUAGES_MAX - 1; i++)
        if (languages[i])
            sp->languages[sp->language_count++] = languages[i];
    sp->languages[sp->language_count++] = 0;
}

/* From the start, with the languages and operators_are_words that are set. */
static void parse(struct parser *p)
{
    struct query *q = p->q;
    size_t bytes = p->terms_max * sizeof(struct query_atom);
    p->lx.at = 0;
    p->atom_count = p->notes = 0;
    p->last = LAST_NONE;
    p->has_or = p->has_not = false;
    buf_clear(&p->note);
    *q = (struct query){.after_s = INT64_MIN, .before_s = INT64_MAX, .language_count = p->speech.language_count};
    memcpy(q->languages, p->speech.languages, sizeof(q->languages));
    /* Each atom has a term at least, and each clause an atom. */
    q->clauses = arena_alloc(p->arena, p->terms_max * sizeof(*q->clauses));
    q->excluded.atoms = arena_alloc(p->arena, bytes);
    p->atoms = arena_alloc(p->arena, bytes);
    parse_items(p);
    join_special(p, 's');
    join_special(p, 'l');
    join_special(p, 't');
    drop_repeated(q);
    q->lang = only_language(q);
}

static void note_result(struct parser *p)
{
    const struct query *q = p->q;
    bool has_after = q->after_s != INT64_MIN, has_before = q->before_s != INT64_MAX;
    if (q->clause_count == 0 && q->excluded.atom_count)
        note(p, "there is only something to leave out: add a word to look for");
    else if (q->clause_count == 0 && (has_after || has_before))
        note(p, "a date alone is no query: add a word, a site: or a lang:");
    else if (q->clause_count == 0 && p->notes == 0)
        note(p, "there is no word to look for");
    else if (has_after && has_before && q->after_s + 1 >= q->before_s)
        note(p, "no time is after the one date and before the other");
}

status query_parse(struct arena *a, struct analyzer *an, struct span text, const struct query_opts *o,
                   struct query *out)
{
    struct query q;
    struct parser p = {.arena = a, .speech = {.arena = a, .an = an}, .lx = {.text = text}, .q = &q};
    if (text.n > SEARCH_QUERY_MAX)
        return ST_LIMIT;
    p.terms_max = o->terms_max ? o->terms_max : SEARCH_TERMS_MAX;
    add_speech(&p.speech, o->languages, o->language_count);
    parse(&p);
    if (q.clause_count == 0 && q.excluded.atom_count == 0) { /* "OR", "NOT": perhaps that is the word */
        p.operators_are_words = true;
        parse(&p);
    }
    if (q.lang && p.speech.language_count > 2) { /* all pages that can match are stemmed in this one */
        lang_code lang = q.lang;
        add_speech(&p.speech, &lang, 1);
        parse(&p);
    }
    note_result(&p);
    q.note = arena_copy(a, buf_span(&p.note));
    buf_done(&p.note);
    *out = q;
    return q.clause_count ? ST_OK : ST_INVALID;
}
