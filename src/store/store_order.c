/* store_order.c - what decides the order in which known pages are looked at again: how often they change, and what is
 * said of them. */
#include "store/store_db.h"

static const char put_rate_sql[] = "UPDATE page SET rate = ?2 WHERE number = " STORE_NUMBER_OF_KEY;
static const char tell_sql[] = "INSERT INTO listed SELECT ?1, ?2 WHERE " STORE_NUMBER_OF_KEY
                               " IS NOT NULL ON CONFLICT DO UPDATE SET at = max(at, ?2)";

const char *const store_order_sql[SQL_COUNT] = {
    [SQL_PAGE_RATE] = put_rate_sql,
    [SQL_PAGE_TELL] = tell_sql,
};

/* The history is decoded only where there is nothing else. */
#define GLANCE                                                                     \
    "SELECT number, key, page_flags, at, rate, CASE rate WHEN 0 THEN history END," \
    " (SELECT l.at FROM listed l WHERE l.key = page.key) FROM page WHERE at < ?1"
static const char glance_sql[] = GLANCE " ORDER BY number";
static const char glance_of_channel_sql[] = GLANCE " AND channel = ?2 ORDER BY number";

static const char told_sql[] = "SELECT count(*) FROM page WHERE channel = ?1"
                               " AND at < (SELECT l.at FROM listed l WHERE l.key = page.key)";

void store_set_rate(struct store *s, store_rate_fn *fn)
{
    s->rate = fn;
}

uint64_t store_rate_of(const struct store *s, uint64_t rate, struct span history)
{
    struct {
        wall_ms at;
        bool has_changed;
    } visits[STORE_HISTORY_MAX];
    size_t n = 0;
    wall_ms at = 0;
    bool has_changed;
    if (rate || !s->rate)
        return rate;
    while (n < STORE_HISTORY_MAX && store_history_next(&history, &at, &has_changed)) {
        visits[n].at = at;
        visits[n++].has_changed = has_changed;
    }
    /* The newest is first. */
    for (size_t i = n; i-- > 1;) {
        int64_t gap = visits[i - 1].at - visits[i].at;
        if (gap > 0)
            rate = s->rate(rate, gap, visits[i - 1].has_changed, -1);
    }
    return rate;
}

static status run_two(struct store *s, store_sql which, int64_t first, int64_t second)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, first);
    sqlite3_bind_int64(statement, 2, second);
    return store_db_run(s, statement);
}

status store_page_put_rate(struct store *s, uint64_t key, uint64_t rate)
{
    return run_two(s, SQL_PAGE_RATE, (int64_t)key, (int64_t)rate);
}

status store_page_tell(struct store *s, uint64_t key, wall_ms at)
{
    return run_two(s, SQL_PAGE_TELL, (int64_t)key, at);
}

status store_page_glance(struct store *s, uint64_t channel, wall_ms before, store_glance_fn *fn, void *arg)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(s->db, channel ? glance_of_channel_sql : glance_sql, -1, &row, NULL);
    status st = store_db_status(s->db, rc);
    if (st == ST_OK)
        sqlite3_bind_int64(row, 1, before ? before : INT64_MAX);
    if (st == ST_OK && channel)
        sqlite3_bind_int64(row, 2, (int64_t)channel);
    while (st == ST_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        struct page_glance g = {.number = (uint64_t)sqlite3_column_int64(row, 0),
                                .key = (uint64_t)sqlite3_column_int64(row, 1),
                                .page_flags = (uint16_t)sqlite3_column_int(row, 2),
                                .at = sqlite3_column_int64(row, 3),
                                .rate = (uint64_t)sqlite3_column_int64(row, 4),
                                .listed = sqlite3_column_int64(row, 6)};
        g.rate = store_rate_of(s, g.rate, store_db_column(row, 5));
        st = fn(arg, &g);
    }
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    sqlite3_finalize(row);
    return st;
}

status store_page_told(struct store *s, uint64_t channel, uint64_t *count)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(s->db, told_sql, -1, &row, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(row, 1, (int64_t)channel);
        rc = sqlite3_step(row);
    }
    status st = store_db_status(s->db, rc);
    if (st == ST_OK)
        *count = (uint64_t)sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return st;
}
