/* search.c - one query from text to result.
 *
 *     parse (query.h)  ->  resolve: terms, frequencies  ->  execute: the best pages, part by part
 *     ->  fold near-duplicates, cut the page asked for  ->  survey: total and facets  ->  documents and snippets */
#include "index/search/search.h"

#include "base/table.h"
#include "base/utf8.h"
#include "index/search/execute.h"
#include "index/search/facets.h"
#include "index/segment/name.h"
#include "index/search/relax.h"
#include "index/search/rerank.h"
#include "index/search/snippet.h"
#include "index/search/suggest.h"
#include "index/search/survey.h"
#include "index/text/fold.h"
#include "web/media.h"

#define LANGUAGES (QUERY_LANGUAGES_MAX - 1) /* of the collection, that words are stemmed in: pages have only stems */
#define SNIPPET_BYTES 240
#define SAME_TEXT_WORDS 20
#define TITLE_BYTES 200
#define PHRASE_DEPTH 20
#define SUGGEST_PAGES \
    5 /* with so few pages found, or so few that have one of the words, another spelling is looked for */

struct search {
    const struct index_snapshot *s;
    const struct search_opts *o;
    struct arena *a;         /* the result's */
    struct arena work, page; /* for the query; for one hit at a time */
    struct analyzer *own, *an;
    lang_code languages[LANGUAGES];
    unsigned language_count;
    struct query query;
    struct rerank_names names;
    struct resolved resolved;
    struct matcher matcher;
    struct topk top;
    struct snippet_term *terms;
    uint32_t *term_languages; /* that each of them counts in: see query_word */
    size_t term_count;
    int64_t start_us, until_us;
    struct search_result *out;
};

/* ---- finding ---- */

static status parse(struct search *se)
{
    struct query_opts qo = {.languages = se->languages, .terms_max = SEARCH_TERMS_MAX};
    qo.language_count = se->language_count = snapshot_languages(se->s, se->languages, LANGUAGES);
    status st = query_parse(&se->work, se->an, se->o->query, &qo, &se->query);
    if (st == ST_OK || st == ST_INVALID)
        se->out->note = arena_copy(se->a, se->query.note);
    return st;
}

/* The words of the query as a name, in every language of the collection. */
static void find_names(struct search *se)
{
    struct rerank_names *names = &se->names;
    names->count = 0;
    for (unsigned i = 0; i <= se->language_count && names->count < RERANK_NAMES_MAX; i++) {
        lang_code lang = i < se->language_count ? se->languages[i] : 0;
        char term[NAME_BYTES_MAX];
        size_t n;
        analyze_begin(se->an);
        (void)analyze_text(se->an, se->o->query, lang, 0);
        struct token *tokens = analyze_tokens(se->an, &n);
        struct span name = name_of(tokens, n, term);
        bool is_new = name.n != 0;
        for (unsigned k = 0; k < names->count && is_new; k++)
            is_new = !span_eq(names->names[k], name);
        if (is_new)
            names->names[names->count++] = arena_copy(&se->work, name);
    }
}

/* How many of the best pages are looked at more closely. Of a phrase alone only a few: its words are together in every
 * page that has it, and each page more to keep is paid for with many whose positions are read. */
static unsigned closer_depth(const struct resolved *r)
{
    bool is_phrase = r->clause_count == 1 && r->clauses[0].atom_count == 1 && r->clauses[0].atoms[0].word_count > 1;
    return is_phrase ? PHRASE_DEPTH : RERANK_DEPTH;
}

static status look_closer(struct search *se, const struct rank *rank)
{
    struct topk best = se->top; /* its items are shared */
    unsigned depth = closer_depth(&se->resolved);
    if (se->o->plain || (rank->proximity == 0 && rank->name == 0) || se->top.n < 2)
        return ST_OK;
    best.n = best.n < depth ? best.n : depth;
    find_names(se);
    return rerank(&se->matcher, rank, &se->names, &best);
}

static status execute(struct search *se, struct execution *x)
{
    const struct rank *rank = se->o->rank ? se->o->rank : &rank_default;
    matcher_init(&se->matcher, &se->resolved, rank, se->o->now);
    *x = (struct execution){.matcher = &se->matcher, .top = &se->top, .cpu_until_us = se->until_us};
    x->can_skip = !se->o->exhaustive && rank == &rank_default;
    x->group_of = se->o->no_folding ? NULL : se->o->group_of;
    x->group_arg = se->o->group_arg;
    if (se->until_us != INT64_MAX) /* a quarter is for counting and showing */
        x->cpu_until_us -= (se->until_us - se->start_us) / 4;
    status st = ST_OK;
    for (unsigned i = 0; i < se->s->part_count && st == ST_OK && !se->resolved.is_empty; i++)
        st = execute_part(x, i);
    topk_sort(&se->top);
    return st == ST_OK && !x->is_partial ? look_closer(se, rank) : st;
}

/* The total, and facets when they are wanted. What the execution saw is exact when it skipped nothing. */
static status count(struct search *se, const struct execution *x)
{
    struct search_result *out = se->out;
    struct facets facets = {0};
    struct survey sv = {.is_exact = true, .scale = 1};
    bool is_known = !x->was_skipped;
    status st = ST_OK;
    if (!is_known || se->o->with_facets)
        st = survey_run(&se->matcher, SURVEY_STEPS, se->o->with_facets ? &facets : NULL, &sv);
    if (st == ST_OK && se->o->with_facets) {
        out->facets_are_estimates = sv.scale != 1 || facets.halvings || se->resolved.is_cut;
        st = facets_count(&facets, se->s, sv.scale, se->a, out);
    }
    out->total = is_known ? x->matches : sv.total > x->matches ? sv.total : x->matches;
    out->is_estimate = (!is_known && !sv.is_exact) || se->resolved.is_cut;
    out->is_partial = x->is_partial;
    facets_done(&facets);
    return st;
}

/* ---- showing ---- */

/* A pair of characters out of a longer run, which nothing else in the query asks for. */
static void find_pairs(struct search *se)
{
    for (size_t i = 0; i < se->term_count; i++)
        for (size_t k = 0; k < se->term_count && se->terms[i].is_pair; k++)
            if (k != i && span_eq(se->terms[i].text, se->terms[k].text))
                se->terms[i].is_pair = se->terms[k].is_pair = false;
}

static bool is_dense(struct span term)
{
    size_t at = 0;
    return term.n && fold_class(utf8_next(term, &at, NULL)) == CHAR_DENSE;
}

static void gather_terms(struct search *se)
{
    const struct resolved *r = &se->resolved;
    uint16_t word = 0; /* the query has at most SEARCH_TERMS_MAX */
    se->terms = arena_alloc(&se->work, (r->term_count + 1u) * sizeof(*se->terms));
    se->term_languages = arena_alloc(&se->work, (r->term_count + 1u) * sizeof(*se->term_languages));
    for (unsigned c = 0; c < r->clause_count; c++) {
        for (unsigned i = 0; i < r->clauses[c].atom_count; i++) {
            const struct res_atom *atom = &r->clauses[c].atoms[i];
            for (unsigned w = 0; w < atom->word_count && !atom->is_special; w++, word++)
                for (unsigned t = 0; t < atom->words[w].term_count; t++) {
                    const uint32_t *languages = atom->words[w].languages;
                    se->term_languages[se->term_count] = languages ? languages[t] : QUERY_ANY;
                    struct span term = atom->words[w].terms[t];
                    bool is_pair = atom->word_count > 1 && is_dense(term);
                    se->terms[se->term_count++] = (struct snippet_term){term, atom->words[w].idf, word, is_pair};
                }
        }
    }
    find_pairs(se);
}

/* Those that count in a page of this language. */
static struct snippet_term *terms_in(struct search *se, lang_code lang, size_t *n)
{
    uint32_t bits = resolved_language_bits(&se->resolved, lang);
    struct snippet_term *terms = arena_alloc(&se->page, (se->term_count + 1) * sizeof(*terms));
    *n = 0;
    for (size_t i = 0; i < se->term_count; i++)
        if (se->term_languages[i] == QUERY_ANY || (se->term_languages[i] & bits))
            terms[(*n)++] = se->terms[i];
    return terms;
}

/* Without its query and fragment; of a URL without a path its host. */
static struct span last_part(struct span url)
{
    size_t end = span_find(url, '?', 0), hash = span_find(url, '#', 0), from;
    end = hash < end ? hash : end;
    while (end && url.p[end - 1] == '/')
        end--;
    for (from = end; from && url.p[from - 1] != '/';)
        from--;
    return end > from ? span_cut(url, from, end - from) : url;
}

static void copy_fields(struct search *se, const struct index_document *d, struct search_hit *hit)
{
    if (!d->field_count)
        return;
    struct summary_field *fields = arena_alloc(se->a, d->field_count * sizeof(*fields));
    for (size_t i = 0; i < d->field_count; i++)
        fields[i] = (struct summary_field){arena_copy(se->a, d->fields[i].name), arena_copy(se->a, d->fields[i].value)};
    hit->fields = fields;
    hit->field_count = d->field_count;
}

static status show(struct search *se, const struct topk_item *item, struct search_hit *hit)
{
    struct index_document d;
    arena_reset(&se->page);
    status st = snapshot_document(se->s, item->part, item->doc, &se->page, &d);
    if (st != ST_OK)
        return st;
    hit->key = item->key;
    hit->score = item->score;
    hit->url = arena_copy(se->a, d.url);
    hit->site = arena_copy(se->a, d.site);
    memcpy(hit->lang, d.lang, sizeof(hit->lang));
    hit->fetched = d.fetched;
    hit->changed = d.changed;
    hit->is_keywords = d.is_keywords;
    hit->is_named = d.is_named;
    hit->bytes = d.bytes;
    const struct media *media = media_find(d.type, d.url);
    hit->type = media ? media->name : "";
    copy_fields(se, &d, hit);
    struct span title = span_trim(d.title);
    title = fold_is_blank(title) ? last_part(hit->url) : arena_copy(se->a, title); /* people click on it */
    if (!se->o->with_snippets) {
        hit->title.text = title;
        return ST_OK;
    }
    lang_code lang = lang_code_of(span_str(d.lang));
    struct span text = d.text;
    if (d.is_keywords)
        text.n = 0; /* words without their order make no snippet */
    size_t term_count;
    const struct snippet_term *terms = terms_in(se, lang, &term_count);
    snippet_mark(se->a, se->an, title, lang, terms, term_count, TITLE_BYTES, &hit->title);
    if (cpu_clock_us() > se->until_us)
        se->out->is_partial = true;
    else if (!(d.flags & PAGE_NOSNIPPET))
        snippet_make(se->a, se->an, text, d.description, lang, terms, term_count,
                     se->o->snippet_bytes ? se->o->snippet_bytes : SNIPPET_BYTES, &hit->snippet);
    return ST_OK;
}

/* Pages with the same text are one as well. 0: too short to tell, or not to be folded. */
static uint64_t text_of(const struct search *se, const struct topk_item *item)
{
    struct doc_row row;
    if (se->o->no_folding || segment_doc(se->s->parts[item->part].segment, item->doc, &row) != ST_OK)
        return 0; /* damage there is found, and said, when the page is shown */
    return rank_length_of(row.length_code) >= SAME_TEXT_WORDS ? row.digest : 0;
}

/* The items are in order: the first of a group is shown, and counts those that follow. */
static size_t fold(struct search *se, size_t *firsts, unsigned *similar)
{
    struct table groups = {0}, texts = {0}; /* group, digest -> its place in `similar` */
    size_t n = 0;
    for (size_t i = 0; i < se->top.n; i++) {
        uint64_t group = se->top.items[i].group, digest = text_of(se, &se->top.items[i]);
        unsigned *first = group ? table_get(&groups, group) : NULL;
        if (!first && digest)
            first = table_get(&texts, digest);
        if (first)
            ++*first;
        else
            first = &similar[n];
        if (group)
            table_put(&groups, group, first);
        if (digest)
            table_put(&texts, digest, first);
        if (first != &similar[n])
            continue;
        firsts[n] = i;
        similar[n++] = 0;
    }
    table_done(&groups);
    table_done(&texts);
    return n;
}

/* The page that is asked for, and those that fold would take for the same. */
static size_t pick_like(struct search *se, size_t *firsts, unsigned *similar)
{
    const struct topk_item *items = se->top.items;
    size_t at = 0, n = 0;
    while (at < se->top.n && items[at].key != se->o->like)
        at++;
    uint64_t digest = at < se->top.n ? text_of(se, &items[at]) : 0;
    for (size_t i = 0; i < se->top.n && at < se->top.n; i++) {
        bool is_like = i == at || (items[at].group && items[i].group == items[at].group);
        if (!is_like && !(digest && text_of(se, &items[i]) == digest))
            continue;
        firsts[n] = i;
        similar[n++] = 0;
    }
    se->out->total = n;
    se->out->is_estimate = false;
    return n;
}

static status show_hits(struct search *se, unsigned limit)
{
    struct search_result *out = se->out;
    size_t *firsts = arena_alloc(&se->work, (se->top.n + 1) * sizeof(*firsts));
    unsigned *similar = arena_alloc(&se->work, (se->top.n + 1) * sizeof(*similar));
    size_t n = se->o->like ? pick_like(se, firsts, similar) : fold(se, firsts, similar), from = se->o->offset;
    status st = ST_OK;
    out->has_more = n > from + limit;
    n = from < n ? (n - from < limit ? n - from : limit) : 0;
    out->hits = arena_alloc(se->a, (n + 1) * sizeof(*out->hits));
    gather_terms(se);
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        struct search_hit *hit = &out->hits[i];
        *hit = (struct search_hit){.similar = similar[from + i]};
        st = show(se, &se->top.items[firsts[from + i]], hit);
        out->hit_count += st == ST_OK;
    }
    return st;
}

static status find_suggestion(struct search *se)
{
    const struct resolved *r = &se->resolved;
    bool is_rare = r->has_unknown || r->is_empty || r->least_df <= SUGGEST_PAGES;
    struct span text = {0};
    if (!se->o->with_suggestion || (se->out->total > SUGGEST_PAGES && !is_rare))
        return ST_OK;
    status st = suggest(se->s, &se->work, se->an, se->o->query, &se->query, &text);
    if (st == ST_OK && text.n)
        se->out->suggestion = arena_copy(se->a, text);
    return st;
}

static status find(struct search *se, const struct query *q)
{
    struct execution x;
    /* One more than is shown tells whether there are more. */
    unsigned k = se->o->like ? SEARCH_DEPTH_MAX : se->o->offset + (se->o->limit ? se->o->limit : 10) + 1;
    status st = resolve(&se->work, se->s, q, &se->resolved);
    if (st != ST_OK)
        return st;
    unsigned depth = se->o->plain ? 0 : closer_depth(&se->resolved);
    topk_init(&se->top, k > depth ? k : depth, !se->o->no_folding);
    st = execute(se, &x);
    return st == ST_OK ? count(se, &x) : st;
}

static void forget_find(struct search *se)
{
    topk_done(&se->top);
    matcher_done(&se->matcher);
}

/* Nothing has all of it: what has the words apart, else what has some of them. */
static status find_less(struct search *se)
{
    static const char *const notes[] = {"no page has it in a row: these have the words apart",
                                        "no page has all the words: these have some of them"};
    status st = ST_OK;
    for (relaxation how = RELAX_ROWS; how <= RELAX_ALL && st == ST_OK && se->out->total == 0; how++) {
        struct query relaxed;
        if (!query_relax(&se->work, &se->query, how, &relaxed))
            continue;
        bool had_unknown = se->resolved.has_unknown || se->resolved.is_empty;
        forget_find(se);
        st = find(se, &relaxed);
        se->resolved.has_unknown |= had_unknown;
        if (st == ST_OK && se->out->total) {
            struct buf note = {0};
            buf_printf(&note, "%.*s%s%s", SPAN_ARG(se->out->note), se->out->note.n ? "; " : "", notes[how]);
            se->out->note = arena_copy(se->a, buf_span(&note));
            buf_done(&note);
        }
    }
    return st;
}

static status search(struct search *se, unsigned limit)
{
    status st = parse(se);
    if (st != ST_OK)
        return st;
    st = find(se, &se->query);
    if (st == ST_OK && se->out->total == 0 && !se->out->is_partial && !se->o->plain)
        st = find_less(se);
    if (st == ST_OK)
        st = show_hits(se, limit);
    if (st == ST_OK)
        st = find_suggestion(se);
    forget_find(se);
    return st;
}

status search_run(const struct index_snapshot *s, const struct search_opts *o, struct arena *a,
                  struct search_result *out)
{
    struct search_result result = {0};
    struct search se = {.s = s, .o = o, .a = a, .out = &result};
    unsigned limit = o->limit ? o->limit : 10;
    if (o->query.n > SEARCH_QUERY_MAX || o->offset > SEARCH_DEPTH_MAX || limit > SEARCH_DEPTH_MAX - o->offset)
        return ST_LIMIT;
    se.start_us = cpu_clock_us();
    se.until_us = o->cpu_ms < 0 ? INT64_MAX : se.start_us + 1000 * (int64_t)(o->cpu_ms ? o->cpu_ms : SEARCH_CPU_MS);
    se.an = o->analyzer ? o->analyzer : (se.own = analyzer_new((uint64_t)(uintptr_t)&se));
    arena_init(&se.work);
    arena_init(&se.page);
    status st = search(&se, limit);
    if (st == ST_OK && snapshot_is_lost(s))
        st = ST_CORRUPT;
    result.cpu_us = cpu_clock_us() - se.start_us;
    arena_done(&se.page);
    arena_done(&se.work);
    analyzer_free(se.own);
    if (st == ST_OK || st == ST_INVALID)
        *out = result;
    return st;
}
