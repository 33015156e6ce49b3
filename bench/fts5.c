#include "fts5.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "index/text/analyze.h"

struct fts5 {
    sqlite3 *db;
    sqlite3_stmt *insert, *erase, *store, *unstore;
    struct analyzer *analyzer; /* owned */
    bool is_open;              /* a transaction is */
};

/* ---- our analyzer as a tokenizer of FTS5 ---- */

static int tokenizer_create(void *arg, const char **args, int count, Fts5Tokenizer **out)
{
    *out = arg; /* the struct fts5: there is one table a connection */
    return SQLITE_OK;
}

static void tokenizer_delete(Fts5Tokenizer *t)
{
}

static int tokenize(Fts5Tokenizer *t, void *ctx, int flags, const char *text, int n,
                    int (*put)(void *, int, const char *, int, int, int))
{
    struct fts5 *f = (struct fts5 *)t;
    size_t count;
    uint32_t last = UINT32_MAX;
    analyze_begin(f->analyzer);
    analyze_text(f->analyzer, span_of(text, (size_t)n), lang_code_of(SPAN("en")), 0);
    struct token *tokens = analyze_tokens(f->analyzer, &count);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        const struct token *k = &tokens[i];
        if (!k->term)
            continue;
        rc = put(ctx, k->position == last ? FTS5_TOKEN_COLOCATED : 0, k->term->text.p, (int)k->term->text.n, (int)k->at,
                 (int)(k->at + k->bytes));
        last = k->position;
    }
    return rc;
}

static status register_tokenizer(struct fts5 *f)
{
    static fts5_tokenizer ours = {tokenizer_create, tokenizer_delete, tokenize};
    fts5_api *api = NULL;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(f->db, "SELECT fts5(?1)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(s, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(s);
    }
    sqlite3_finalize(s);
    if (!api)
        return ST_UNSUPPORTED;
    return api->xCreateTokenizer(api, "ours", f, &ours, NULL) == SQLITE_OK ? ST_OK : ST_UNSUPPORTED;
}

/* ---- the table ---- */

/* Tried, 60,000 documents in batches of 5,000, all tables in turn in one process, us of CPU a document: pages and
 * leaves of 4 KiB with automerge 4 (all defaults) 775, automerge 8 781; of 8 KiB 783, of 16 KiB 791; of 64 KiB with
 * automerge 8 732. Automerge 16 (745) and none at all (752) only put the merging off: they end with all twelve
 * segments. The body is the first column, because every other one costs two bytes a posting to name (4,029 bytes a
 * document, not 2,957). */
#define BEST_PAGE_BYTES 65536
#define BEST_LEAF_BYTES 60000
#define BEST_AUTOMERGE 8
#define BEST_HASH_BYTES (1 << 30)

static int or_best(int value, int best)
{
    return value > 0 ? value : value < 0 ? 0 : best;
}

static status run(struct fts5 *f, const char *sql)
{
    char *error = NULL;
    int rc = sqlite3_exec(f->db, sql, NULL, NULL, &error);
    if (rc != SQLITE_OK)
        fprintf(stderr, "bench: sqlite: %s: %s\n", sql, error ? error : "");
    sqlite3_free(error);
    return rc == SQLITE_OK ? ST_OK : ST_IO;
}

static status run_number(struct fts5 *f, const char *format, int number)
{
    char sql[256];
    snprintf(sql, sizeof(sql), format, number);
    return run(f, sql);
}

static status prepare(struct fts5 *f, const char *sql, sqlite3_stmt **out)
{
    return sqlite3_prepare_v2(f->db, sql, -1, out, NULL) == SQLITE_OK ? ST_OK : ST_IO;
}

static status set_up(struct fts5 *f, const struct fts5_opts *o)
{
    status st = run_number(f, "PRAGMA page_size = %d", or_best(o->page_bytes, BEST_PAGE_BYTES));
    if (st == ST_OK)
        st = run(f, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                    "PRAGMA cache_size = -524288; PRAGMA temp_store = MEMORY;"
                    "CREATE TABLE stored (id INTEGER PRIMARY KEY, url TEXT, record BLOB);");
    if (st == ST_OK)
        st = register_tokenizer(f);
    if (st == ST_OK)
        st = run(f, "CREATE VIRTUAL TABLE docs USING fts5(body, title, anchors, url, content='', tokenize='ours')");
    if (st == ST_OK)
        st = run_number(f, "INSERT INTO docs(docs, rank) VALUES('hashsize', %d)",
                        or_best(o->hash_bytes, BEST_HASH_BYTES));
    if (st == ST_OK)
        st = run_number(f, "INSERT INTO docs(docs, rank) VALUES('automerge', %d)",
                        or_best(o->automerge, BEST_AUTOMERGE));
    if (st == ST_OK && o->crisismerge)
        st = run_number(f, "INSERT INTO docs(docs, rank) VALUES('crisismerge', %d)", o->crisismerge);
    if (st == ST_OK)
        st = run_number(f, "INSERT INTO docs(docs, rank) VALUES('pgsz', %d)", or_best(o->leaf_bytes, BEST_LEAF_BYTES));
    if (st == ST_OK)
        st = prepare(f, "INSERT INTO docs(rowid, body, title, anchors, url) VALUES(?1, ?2, ?3, ?4, ?5)", &f->insert);
    if (st == ST_OK)
        st = prepare(f, "INSERT INTO docs(docs, rowid, body, title, anchors, url) VALUES('delete', ?1, ?2, ?3, ?4, ?5)",
                     &f->erase);
    if (st == ST_OK)
        st = prepare(f, "INSERT INTO stored(id, url, record) VALUES(?1, ?2, ?3)", &f->store);
    if (st == ST_OK)
        st = prepare(f, "DELETE FROM stored WHERE id = ?1", &f->unstore);
    return st;
}

status fts5_open(const char *path, const struct fts5_opts *o, struct fts5 **out)
{
    struct fts5 *f = mem_alloc(sizeof(*f));
    f->analyzer = analyzer_new(1);
    status st = sqlite3_open(path, &f->db) == SQLITE_OK ? ST_OK : ST_IO;
    if (st == ST_OK)
        st = set_up(f, o);
    if (st == ST_OK)
        *out = f;
    else
        fts5_close(f);
    return st;
}

void fts5_close(struct fts5 *f)
{
    if (!f)
        return;
    sqlite3_finalize(f->insert);
    sqlite3_finalize(f->erase);
    sqlite3_finalize(f->store);
    sqlite3_finalize(f->unstore);
    sqlite3_close(f->db);
    analyzer_free(f->analyzer);
    free(f);
}

static void bind_text(sqlite3_stmt *s, int at, struct span text)
{
    sqlite3_bind_text(s, at, text.p ? text.p : "", (int)text.n, SQLITE_STATIC);
}

static status step(sqlite3_stmt *s)
{
    int rc = sqlite3_step(s);
    sqlite3_reset(s);
    return rc == SQLITE_DONE ? ST_OK : ST_IO;
}

static status begin(struct fts5 *f)
{
    if (f->is_open)
        return ST_OK;
    status st = run(f, "BEGIN");
    f->is_open = st == ST_OK;
    return st;
}

static status run_doc(sqlite3_stmt *s, int64_t id, const struct zipf_doc *doc)
{
    sqlite3_bind_int64(s, 1, id);
    bind_text(s, 3, doc->title);
    bind_text(s, 4, doc->anchors);
    bind_text(s, 5, doc->url);
    bind_text(s, 2, doc->text);
    return step(s);
}

status fts5_add(struct fts5 *f, int64_t id, const struct zipf_doc *doc, struct span stored)
{
    status st = begin(f);
    if (st == ST_OK)
        st = run_doc(f->insert, id, doc);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(f->store, 1, id);
    bind_text(f->store, 2, doc->url);
    sqlite3_bind_blob(f->store, 3, stored.p, (int)stored.n, SQLITE_STATIC);
    return step(f->store);
}

status fts5_delete(struct fts5 *f, int64_t id, const struct zipf_doc *old)
{
    status st = begin(f);
    if (st == ST_OK)
        st = run_doc(f->erase, id, old);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(f->unstore, 1, id);
    return step(f->unstore);
}

status fts5_commit(struct fts5 *f)
{
    if (!f->is_open)
        return ST_OK;
    f->is_open = false;
    return run(f, "COMMIT");
}

static status number(struct fts5 *f, const char *sql, const char *text, int64_t *out)
{
    sqlite3_stmt *s = NULL;
    status st = prepare(f, sql, &s);
    if (st == ST_OK) {
        if (text)
            bind_text(s, 1, span_str(text));
        st = sqlite3_step(s) == SQLITE_ROW ? ST_OK : ST_IO;
    }
    if (st == ST_OK)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return st;
}

status fts5_count(struct fts5 *f, const char *match, int64_t *out)
{
    return number(f, "SELECT count(*) FROM docs WHERE docs MATCH ?1", match, out);
}

status fts5_index_bytes(struct fts5 *f, int64_t *out)
{
    return number(f,
                  "SELECT (SELECT sum(length(block)) FROM docs_data) + (SELECT sum(length(sz)) + 8 * count(*) FROM "
                  "docs_docsize)",
                  NULL, out);
}
