/* store_unsee.c - keys of pages that were taken out, for the crawl that still takes their URLs for known. In the order
 * in which they were put, so that whoever has read some can say up to where. */
#include "store/store_db.h"

const char *const store_unsee_sql[SQL_COUNT] = {
    [SQL_UNSEE_PUT] = "INSERT INTO unsee (key) VALUES (?1)",
    [SQL_UNSEE_DROP] = "DELETE FROM unsee WHERE number <= ?1",
};

static status run_with(struct store *s, store_sql which, uint64_t n)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)n);
    return store_db_run(s, statement);
}

status store_unsee_put(struct store *s, uint64_t key)
{
    return run_with(s, SQL_UNSEE_PUT, key);
}

status store_unsee_drop(struct store *s, uint64_t last)
{
    return run_with(s, SQL_UNSEE_DROP, last);
}

status store_unsee_each(struct store *s, store_unsee_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT number, key FROM unsee ORDER BY number", -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        st = fn(arg, (uint64_t)sqlite3_column_int64(statement, 0), (uint64_t)sqlite3_column_int64(statement, 1));
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    sqlite3_finalize(statement);
    return st;
}
