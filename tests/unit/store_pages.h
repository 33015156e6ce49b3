/* store_pages.h - a store in the folder of the test, and pages for it: visited, or copied from another folder. */
#pragma once

#include "test.h"
#include "test_folder.h"

#include "base/buf.h"
#include "store/store.h"
#include "store/store_db.h"

static inline void data_path(char path[TEST_PATH])
{
    test_path(path, "data");
}

static inline struct store *open_store(store_mode mode)
{
    char path[TEST_PATH];
    struct store *s = NULL;
    struct buf why = {0};
    data_path(path);
    status st = store_open(path, mode, &s, &why);
    if (st != ST_OK)
        fail_msg("open: %s: %s", status_name(st), buf_cstr(&why));
    buf_done(&why);
    return s;
}

static inline void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A page as text, so that tests compare whole pages by eye. */
static inline status show_page(void *arg, const struct page *p)
{
    static const char *const outcomes[] = {"new", "changed", "unchanged", "redirect", "gone", "error", "refused"};
    struct buf *b = arg;
    buf_clear(b);
    buf_printf(b, "%.*s %s #%llu at %lld http %u digest %llu", SPAN_ARG(p->url), outcomes[p->outcome],
               (unsigned long long)p->fetch_number, (long long)p->at, p->http_status, (unsigned long long)p->digest);
    buf_printf(b, " title '%.*s' etag '%.*s' type '%.*s' reason '%.*s' to '%.*s'", SPAN_ARG(p->title),
               SPAN_ARG(p->etag), SPAN_ARG(p->content_type), SPAN_ARG(p->reason), SPAN_ARG(p->redirect));
    buf_printf(b, " text %llu first %lld changed %lld good %lld visits %u changes %u",
               (unsigned long long)p->text_bytes, (long long)p->first_seen, (long long)p->changed_at,
               (long long)p->good_at, p->visits, p->changes);
    return ST_OK;
}

static inline void check_page(struct store *s, const char *label, uint64_t key, const char *want)
{
    struct buf got = {0};
    CHECK_STATUS(label, store_page_get(s, key, show_page, &got), ST_OK);
    CHECK_SPAN(label, buf_span(&got), span_str(want));
    buf_done(&got);
}

static inline struct page good_page(uint64_t key, uint64_t number, uint64_t digest)
{
    return (struct page){.key = key,
                         .url = SPAN("http://a/"),
                         .channel = 1,
                         .fetch_number = number,
                         .at = (wall_ms)number * 1000,
                         .outcome = VISIT_NEW,
                         .http_status = 200,
                         .digest = digest,
                         .title = SPAN("T"),
                         .etag = SPAN("e"),
                         .content_type = SPAN("text/html"),
                         .text_bytes = 500};
}

static inline void visit(struct store *s, const char *label, const struct page *p)
{
    CHECK_STATUS(label, store_page_visit(s, p, NULL), ST_OK);
}

static inline struct page copy_page(uint64_t key, wall_ms at, uint16_t http, uint64_t digest)
{
    return (struct page){.key = key,
                         .url = SPAN("http://a/"),
                         .channel = 1,
                         .fetch_number = 999, /* the other folder's: ignored */
                         .title = SPAN("ignored"),
                         .at = at,
                         .http_status = http,
                         .digest = digest,
                         .etag = SPAN("e2")};
}
