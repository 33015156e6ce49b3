/* The same pages in SQLite's FTS5, with the same tokens, matched by FTS5 and scored exhaustively from what it says
 * about each phrase and column, must give the same ten best pages with the same scores. */
#include "test.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "index/search/query.h"
#include "index/segment/rank.h"
#include "index/search/resolve.h"
#include "index/search/search.h"
#include "index/segment/segment.h"
#include "index/text/url_words.h"
#include "test_folder.h"
#include "test_pages.h"

enum { COLUMN_TITLE, COLUMN_ANCHORS, COLUMN_URL, COLUMN_BODY, COLUMN_HEADINGS, COLUMN_SPECIAL, COLUMNS };
#define ANY_COLUMN "{title anchors url body headings special}"
#define ROW_COLUMNS "{title anchors url body}" /* where words have places */
#define SEPARATOR '\x1f'

/* ---- FTS5 with our tokens ---- */

/* A text for FTS5 is its tokens, each with '=' before it, '+' when it stands at the place of the one before. */
static int tokenize(Fts5Tokenizer *t, void *ctx, int flags, const char *text, int n,
                    int (*token)(void *, int, const char *, int, int, int))
{
    struct span rest = span_of(text, (size_t)n), word;
    (void)t;
    (void)flags;
    while (rest.n && span_split(&rest, SEPARATOR, &word)) {
        if (word.n < 2)
            continue;
        int at = (int)(word.p - text);
        int rc =
            token(ctx, *word.p == '+' ? FTS5_TOKEN_COLOCATED : 0, word.p + 1, (int)word.n - 1, at, at + (int)word.n);
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}

static int tokenizer_create(void *user, const char **args, int n, Fts5Tokenizer **out)
{
    (void)args;
    (void)n;
    *out = user;
    return SQLITE_OK;
}

static void tokenizer_delete(Fts5Tokenizer *t)
{
    (void)t;
}

/* ---- scores ---- */

struct oracle_version {
    uint64_t key;
    lang_code lang;
    bool is_live;
    wall_ms changed;
    double prior;
    uint32_t length; /* as the length code has it */
    /* of the query */
    bool has_atom;
    double score;
};

struct oracle {
    sqlite3 *db;
    struct arena arena;
    struct analyzer *an;
    struct oracle_version *versions; /* by rowid - 1 */
    size_t version_count, version_cap;
    uint64_t docs; /* in the table */
    double idf;    /* of the word that is being scored */
    /* Words have other terms in pages of another language, so that a query is played once for each. */
    lang_code lang;
    uint32_t lang_bits; /* as the query has them */
};

static double formula(const struct rank *k, const struct oracle_version *v, double idf, const uint32_t *n)
{
    uint32_t stop[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        stop[i] = n[i] < 3 ? n[i] : 3;
    double norm = 1 - k->b + k->b * v->length / RANK_PIVOT;
    double tf = k->title * stop[COLUMN_TITLE] + k->heading * stop[COLUMN_HEADINGS] + k->anchor * stop[COLUMN_ANCHORS] +
                k->url * stop[COLUMN_URL] + k->body * n[COLUMN_BODY] / norm;
    return idf * tf * (k->k1 + 1) / (tf + k->k1);
}

/* What a word scores in the row: the phrases of the query are its terms. */
static void word_score(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int n_args,
                       sqlite3_value **args)
{
    struct oracle *o = api->xUserData(fts);
    uint32_t counts[COLUMNS] = {0};
    int n = 0, phrase, column, at;
    (void)n_args;
    (void)args;
    (void)api->xInstCount(fts, &n);
    for (int i = 0; i < n; i++) {
        (void)api->xInst(fts, i, &phrase, &column, &at);
        counts[column]++;
    }
    sqlite3_result_double(ctx, formula(&rank_default, &o->versions[api->xRowid(fts) - 1], o->idf, counts));
}

static double once_a_page(const struct oracle_version *v)
{
    const struct rank *k = &rank_default;
    double age = v->changed < TEST_NOW ? (double)(TEST_NOW / 1000 - v->changed / 1000) / 86400 : 0;
    return v->prior + k->freshness * exp(-age / k->freshness_days);
}

static void sql(struct oracle *o, const char *text)
{
    if (sqlite3_exec(o->db, text, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(o->db));
}

static sqlite3_stmt *prepare(struct oracle *o, const char *text)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(o->db, text, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(o->db));
    return s;
}

static void oracle_init(struct oracle *o)
{
    static fts5_tokenizer tokenizer = {tokenizer_create, tokenizer_delete, tokenize};
    fts5_api *api = NULL;
    *o = (struct oracle){0};
    arena_init(&o->arena);
    o->an = analyzer_new(3);
    assert_int_equal(sqlite3_open(":memory:", &o->db), SQLITE_OK);
    sqlite3_stmt *s = prepare(o, "SELECT fts5(?1)");
    sqlite3_bind_pointer(s, 1, (void *)&api, "fts5_api_ptr", NULL);
    (void)sqlite3_step(s);
    sqlite3_finalize(s);
    assert_non_null(api);
    assert_int_equal(api->xCreateTokenizer(api, "ours", o, &tokenizer, NULL), SQLITE_OK);
    assert_int_equal(api->xCreateFunction(api, "word_score", o, word_score, NULL), SQLITE_OK);
    sql(o, "CREATE VIRTUAL TABLE t USING fts5(title, anchors, url, body, headings, special, tokenize = ours)");
    sql(o, "CREATE VIRTUAL TABLE v USING fts5vocab(t, row)");
}

static void oracle_done(struct oracle *o)
{
    sqlite3_close(o->db);
    analyzer_free(o->an);
    arena_done(&o->arena);
    free(o->versions);
}

/* ---- pages ---- */

/* Appends a text's tokens from `at` up to `limit`, filled up so that places are ours; returns the place after them. */
static uint32_t put_tokens(struct oracle *o, struct buf *out, struct span text, lang_code lang, uint32_t at,
                           uint32_t limit)
{
    size_t n;
    analyze_begin(o->an);
    uint32_t end = analyze_text(o->an, text, lang, at), next = at;
    struct token *t = analyze_tokens(o->an, &n);
    for (size_t i = 0; i < n && t[i].position < limit; i++) {
        bool is_double = false;
        for (size_t k = i; k && t[k - 1].position == t[i].position; k--)
            is_double |= t[k - 1].term == t[i].term;
        if (is_double)
            continue;
        for (; next < t[i].position; next++)
            buf_printf(out, "=\2%c", SEPARATOR);
        buf_printf(out, "%c%.*s%c", next > t[i].position ? '+' : '=', SPAN_ARG(t[i].term->text), SEPARATOR);
        next = t[i].position + 1;
    }
    end = end < limit ? end : limit;
    for (; next < end; next++)
        buf_printf(out, "=\2%c", SEPARATOR);
    return end;
}

static void put_anchors(struct oracle *o, struct buf *out, struct span anchors, lang_code lang)
{
    uint32_t at = POSITION_ANCHORS, limit = POSITION_URL - 1;
    struct span text;
    while (at < limit && span_split(&anchors, '\n', &text)) {
        if (!text.n)
            continue;
        at = put_tokens(o, out, text, lang, at, limit) + 2;
        buf_printf(out, "=\2%c=\2%c", SEPARATOR, SEPARATOR);
    }
}

static void put_special(struct buf *out, const struct test_page *p)
{
    struct site_names names;
    site_names(p->site, &names);
    for (unsigned i = 0; i < names.count; i++)
        buf_printf(out, "=\1s%.*s%c", SPAN_ARG(names.names[i]), SEPARATOR);
    if (p->lang.n)
        buf_printf(out, "=\1l%.*s%c", SPAN_ARG(p->lang), SEPARATOR);
}

static void oracle_kill(struct oracle *o, uint64_t key)
{
    for (size_t i = 0; i < o->version_count; i++)
        if (o->versions[i].key == key)
            o->versions[i].is_live = false;
}

static void oracle_add(struct oracle *o, const struct test_page *p)
{
    struct buf columns[COLUMNS] = {0}, words = {0};
    lang_code lang = lang_code_of(p->lang);
    oracle_kill(o, p->key);
    (void)put_tokens(o, &columns[COLUMN_TITLE], p->title, lang, 0, POSITION_ANCHORS - 1);
    put_anchors(o, &columns[COLUMN_ANCHORS], p->anchors, lang);
    url_words(&words, p->url);
    (void)put_tokens(o, &columns[COLUMN_URL], buf_span(&words), lang, POSITION_URL, POSITION_BODY - 1);
    buf_done(&words);
    uint32_t end = put_tokens(o, &columns[COLUMN_BODY], p->text, lang, POSITION_BODY, UINT32_MAX);
    for (size_t i = 0; i < p->heading_count; i++)
        (void)put_tokens(o, &columns[COLUMN_HEADINGS], p->headings[i].text, lang, 0, UINT32_MAX);
    put_special(&columns[COLUMN_SPECIAL], p);
    sqlite3_stmt *s = prepare(o, "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    for (int i = 0; i < COLUMNS; i++)
        sqlite3_bind_text(s, i + 1, buf_cstr(&columns[i]), (int)columns[i].n, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    sqlite3_finalize(s);
    for (int i = 0; i < COLUMNS; i++)
        buf_done(&columns[i]);
    size_t at = (size_t)sqlite3_last_insert_rowid(o->db) - 1, cap = o->version_cap;
    o->versions = realloc(o->versions, (at + 1 > cap ? (cap = at * 2 + 64) : cap) * sizeof(*o->versions));
    o->version_cap = cap;
    o->version_count = at + 1;
    double prior = rank_prior_code(p->votes, p->foreign_votes, url_depth(p->url)) / 255.0 * rank_default.prior;
    o->versions[at] = (struct oracle_version){.key = p->key, .is_live = true, .changed = p->changed, .prior = prior};
    o->versions[at].lang = lang;
    o->versions[at].length = rank_length_of(rank_length_code(end - POSITION_BODY));
    o->docs++;
}

/* What a merge of everything does. */
static void oracle_forget_dead(struct oracle *o)
{
    sqlite3_stmt *s = prepare(o, "DELETE FROM t WHERE rowid = ?1");
    for (size_t i = 0; i < o->version_count; i++) {
        if (o->versions[i].is_live || !o->versions[i].key)
            continue;
        sqlite3_bind_int64(s, 1, (sqlite3_int64)i + 1);
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
        o->versions[i].key = 0;
        o->docs--;
    }
    sqlite3_finalize(s);
}

/* ---- queries ---- */

static uint64_t frequency(struct oracle *o, struct span term, bool is_prefix)
{
    sqlite3_stmt *s = prepare(o, is_prefix ? "SELECT sum(doc) FROM v WHERE substr(term, 1, length(?1)) = ?1"
                                           : "SELECT sum(doc) FROM v WHERE term = ?1");
    sqlite3_bind_text(s, 1, term.p, (int)term.n, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    uint64_t df = (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return df;
}

static void put_term(struct buf *out, struct span term)
{
    for (size_t i = 0; i < term.n; i++)
        buf_printf(out, term.p[i] == '"' ? "\"\"" : "%c", term.p[i]);
}

/* The phrases that words with several terms each make: every combination. `pick` is the number of one. */
static void put_phrase(struct buf *out, const struct query_word *words, unsigned n, unsigned pick, const char *columns)
{
    buf_printf(out, "%s : \"", columns);
    for (unsigned i = 0; i < n; i++) {
        buf_puts(out, "=");
        put_term(out, words[i].terms[pick % words[i].term_count]);
        buf_putc(out, SEPARATOR);
        pick /= words[i].term_count;
    }
    buf_puts(out, words[n - 1].is_prefix ? "\" *" : "\"");
}

static unsigned combinations(const struct query_word *words, unsigned n)
{
    unsigned all = 1;
    for (unsigned i = 0; i < n; i++)
        all *= words[i].term_count;
    return all;
}

static bool is_term_of(const struct oracle *o, const struct query_word *w, unsigned i)
{
    return !w->languages || w->languages[i] == QUERY_ANY || (w->languages[i] & o->lang_bits);
}

/* Are all terms of the combination those of pages in this language? */
static bool is_phrase_of(const struct oracle *o, const struct query_word *words, unsigned n, unsigned pick)
{
    for (unsigned i = 0; i < n; i++) {
        if (!is_term_of(o, &words[i], pick % words[i].term_count))
            return false;
        pick /= words[i].term_count;
    }
    return true;
}

static const char *columns_of(const struct query_atom *a, unsigned words)
{
    return a->kind == ATOM_TERM     ? "special"
           : a->field == ATOM_TITLE ? "title"
           : a->field == ATOM_URL   ? "url"
           : words > 1              ? ROW_COLUMNS
                                    : ANY_COLUMN;
}

/* What an atom looks for: an identifier as a whole when some page has it. */
static const struct query_word *words_of(struct oracle *o, const struct query_atom *a, unsigned *n)
{
    bool is_whole = a->whole && frequency(o, a->whole->terms[0], false);
    *n = is_whole ? 1 : a->word_count;
    return is_whole ? a->whole : a->words;
}

static void put_atom(struct oracle *o, struct buf *out, const struct query_atom *a)
{
    unsigned n;
    const struct query_word *words = words_of(o, a, &n);
    buf_puts(out, "\"=\3\""); /* is nowhere */
    for (unsigned k = 0; k < combinations(words, n); k++) {
        if (!is_phrase_of(o, words, n, k))
            continue;
        buf_puts(out, " OR ");
        put_phrase(out, words, n, k, columns_of(a, n));
    }
}

static void put_clause(struct oracle *o, struct buf *out, const struct query_clause *c)
{
    buf_puts(out, "(");
    for (unsigned i = 0; i < c->atom_count; i++) {
        buf_puts(out, i ? " OR " : "");
        put_atom(o, out, &c->atoms[i]);
    }
    buf_puts(out, ")");
}

static void put_query(struct oracle *o, struct buf *out, const struct query *q)
{
    buf_puts(out, "(");
    for (unsigned i = 0; i < q->clause_count; i++) {
        buf_puts(out, i ? " AND " : "");
        put_clause(o, out, &q->clauses[i]);
    }
    buf_puts(out, ")");
    if (q->excluded.atom_count) {
        buf_puts(out, " NOT ");
        put_clause(o, out, &q->excluded);
    }
}

static sqlite3_stmt *match(struct oracle *o, const char *text, struct buf *expression)
{
    sqlite3_stmt *s = prepare(o, text);
    sqlite3_bind_text(s, 1, buf_cstr(expression), (int)expression->n, SQLITE_STATIC);
    return s;
}

/* The version of the next row in this language; NULL: no more. */
static struct oracle_version *next_version(struct oracle *o, sqlite3_stmt *s)
{
    for (;;) {
        int rc = sqlite3_step(s);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            fail_msg("fts5: %s", sqlite3_errmsg(o->db));
        struct oracle_version *v = rc == SQLITE_ROW ? &o->versions[sqlite3_column_int64(s, 0) - 1] : NULL;
        if (!v || v->lang == o->lang)
            return v;
    }
}

/* How many pages are in the languages of a term, or in none that is known. */
static uint64_t most_pages(const struct oracle *o, const struct query *q, const struct query_word *w, unsigned term)
{
    uint64_t n = 0;
    if (!w->languages || w->languages[term] == QUERY_ANY)
        return UINT64_MAX;
    for (size_t i = 0; i < o->version_count; i++) {
        bool is_of = o->versions[i].lang == 0 && (w->languages[term] & 1);
        for (unsigned k = 0; k < q->language_count; k++)
            is_of |= (w->languages[term] >> k & 1) && q->languages[k] == o->versions[i].lang;
        n += is_of && o->versions[i].key;
    }
    return n;
}

/* Adds what a word scores to the pages that its atom matches. */
static void add_word(struct oracle *o, const struct query *q, const struct query_word *w)
{
    struct buf text = {0};
    struct oracle_version *v;
    uint64_t df = 0;
    for (unsigned i = 0; i < w->term_count; i++) {
        uint64_t all = frequency(o, w->terms[i], w->is_prefix), most = most_pages(o, q, w, i);
        df += all < most ? all : most;
        if (!is_term_of(o, w, i))
            continue;
        buf_puts(&text, text.n ? " OR " : "");
        put_phrase(&text, w, 1, i, ANY_COLUMN);
    }
    if (!text.n)
        return;
    df = df < o->docs ? df : o->docs;
    o->idf = log1p(((double)(o->docs - df) + 0.5) / ((double)df + 0.5));
    sqlite3_stmt *s = match(o, "SELECT rowid, word_score(t) FROM t WHERE t MATCH ?1", &text);
    while ((v = next_version(o, s)))
        v->score += v->has_atom ? sqlite3_column_double(s, 1) : 0;
    sqlite3_finalize(s);
    buf_done(&text);
}

static void add_atom(struct oracle *o, const struct query *q, const struct query_atom *a)
{
    struct buf text = {0};
    struct oracle_version *v;
    unsigned n;
    const struct query_word *words = words_of(o, a, &n);
    if (a->kind == ATOM_TERM)
        return;
    for (size_t i = 0; i < o->version_count; i++)
        o->versions[i].has_atom = false;
    put_atom(o, &text, a);
    sqlite3_stmt *s = match(o, "SELECT rowid FROM t WHERE t MATCH ?1", &text);
    while ((v = next_version(o, s)))
        v->has_atom = true;
    sqlite3_finalize(s);
    for (unsigned i = 0; i < n; i++)
        add_word(o, q, &words[i]);
    buf_done(&text);
}

struct oracle_hit {
    double score;
    uint64_t key;
};

static int by_score(const void *a, const void *b)
{
    const struct oracle_hit *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : x->key < y->key ? -1 : x->key > y->key;
}

/* Adds the hits in one language. */
static void search_in(struct oracle *o, const struct query *q, lang_code lang, struct oracle_hit *hits, size_t *n)
{
    struct buf text = {0};
    struct oracle_version *v;
    o->lang = lang;
    o->lang_bits = lang ? 0 : 1; /* of the most frequent one */
    for (unsigned i = 0; lang && i < q->language_count; i++)
        o->lang_bits |= q->languages[i] == lang ? UINT32_C(1) << i : 0;
    for (unsigned c = 0; c < q->clause_count; c++)
        for (unsigned i = 0; i < q->clauses[c].atom_count; i++)
            add_atom(o, q, &q->clauses[c].atoms[i]);
    put_query(o, &text, q);
    sqlite3_stmt *s = match(o, "SELECT rowid FROM t WHERE t MATCH ?1", &text);
    while ((v = next_version(o, s)))
        if (v->is_live && v->changed / 1000 > q->after_s && v->changed / 1000 < q->before_s)
            hits[(*n)++] = (struct oracle_hit){v->score + once_a_page(v), v->key};
    sqlite3_finalize(s);
    buf_done(&text);
}

/* All hits, best first; free them. */
static struct oracle_hit *oracle_search(struct oracle *o, const struct query *q, size_t *n)
{
    static const char *const langs[] = {"", "en", "de", "fr"}; /* of test_page_make */
    struct oracle_hit *hits = malloc((o->version_count + 1) * sizeof(*hits));
    *n = 0;
    for (size_t i = 0; i < o->version_count; i++)
        o->versions[i].score = 0;
    for (size_t i = 0; i < sizeof(langs) / sizeof(*langs); i++)
        search_in(o, q, lang_code_of(span_str(langs[i])), hits, n);
    qsort(hits, *n, sizeof(*hits), by_score);
    return hits;
}

static void check_query(struct oracle *o, const struct index_snapshot *s, struct span text)
{
    struct arena a;
    struct query q;
    struct search_result r;
    lang_code languages[QUERY_LANGUAGES_MAX - 1];
    char label[600];
    size_t n;
    snprintf(label, sizeof(label), "%.*s", SPAN_ARG(text));
    arena_init(&a);
    struct query_opts qo = {.languages = languages, .terms_max = SEARCH_TERMS_MAX};
    qo.language_count = snapshot_languages(s, languages, QUERY_LANGUAGES_MAX - 1);
    status st = query_parse(&a, o->an, text, &qo, &q);
    struct search_opts so = {.query = text, .now = TEST_NOW, .cpu_ms = -1, .no_folding = true, .plain = true};
    CHECK_STATUS(label, search_run(s, &so, &a, &r), st);
    if (st == ST_OK) {
        struct oracle_hit *hits = oracle_search(o, &q, &n);
        if (r.total != n || r.is_estimate || r.is_partial)
            fail_msg("%s: %llu pages, want %zu", label, (unsigned long long)r.total, n);
        if (r.hit_count != (n < 10 ? n : 10))
            fail_msg("%s: %zu hits of %zu", label, r.hit_count, n);
        for (size_t i = 0; i < r.hit_count; i++)
            if (fabs(r.hits[i].score - hits[i].score) > 1e-9)
                fail_msg("%s: hit %zu is page %llu with %.12f, want page %llu with %.12f", label, i,
                         (unsigned long long)r.hits[i].key, r.hits[i].score, (unsigned long long)hits[i].key,
                         hits[i].score);
        free(hits);
    }
    arena_done(&a);
}

static void check_queries(struct oracle *o, struct rng *r, const struct test_page *pages, size_t n, int count)
{
    char path[TEST_PATH];
    struct buf q = {0};
    test_path(path, "index");
    struct index_snapshot *s = test_snapshot(path);
    for (int i = 0; i < count; i++) {
        buf_clear(&q);
        test_query(r, &q, pages, n);
        check_query(o, s, buf_span(&q));
    }
    index_snapshot_free(s);
    buf_done(&q);
}

#define PAGES 700

static void finds_what_fts5_finds(void **state)
{
    char path[TEST_PATH];
    struct rng r;
    struct oracle o;
    static struct test_page pages[PAGES];
    uint64_t fetch = 0;
    (void)state;
    rng_seed(&r, 20240611);
    oracle_init(&o);
    test_path(path, "index");
    struct index *ix = test_index_open(path);
    sql(&o, "BEGIN");
    for (uint64_t i = 0; i < PAGES; i++) {
        test_page_make(&r, &o.arena, i + 1, ++fetch, &pages[i]);
        test_page_add(ix, &pages[i]);
        oracle_add(&o, &pages[i]);
        if (i == 300 || i == 500 || i == 620 || i == 640)
            CHECK_STATUS("commit", index_commit(ix, i), ST_OK);
    }
    CHECK_STATUS("commit", index_commit(ix, PAGES), ST_OK);
    check_queries(&o, &r, pages, PAGES, 250);
    for (int i = 0; i < 150; i++) { /* each of them once: what is replaced before a commit leaves nothing behind */
        struct test_page *p = &pages[(size_t)i * 4];
        if (rng_below(&r, 3) == 0) {
            CHECK_STATUS("delete", index_delete(ix, p->key, ++fetch), ST_OK);
            oracle_kill(&o, p->key);
        } else {
            test_page_make(&r, &o.arena, p->key, ++fetch, p);
            test_page_add(ix, p);
            oracle_add(&o, p);
        }
    }
    CHECK_STATUS("commit", index_commit(ix, fetch), ST_OK);
    check_queries(&o, &r, pages, PAGES, 250);
    CHECK_STATUS("merge", index_merge(ix, true), ST_OK);
    oracle_forget_dead(&o);
    check_queries(&o, &r, pages, PAGES, 250);
    index_close(ix);
    oracle_done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(finds_what_fts5_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
