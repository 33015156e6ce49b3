/* store_listed.c - what sitemaps and feeds say of a page: when it last changed. By its key, since it may be one that
 * was never visited. */
#include "store/store_db.h"

const char *const store_listed_sql[SQL_COUNT] = {
    /* Whatever the order in which lists are read, or read again, the newest date is what stays. */
    [SQL_LISTED_PUT] = "INSERT INTO listed VALUES (?1, ?2) ON CONFLICT DO UPDATE SET at = max(at, ?2)",
    [SQL_LISTED_GET] = "SELECT at FROM listed WHERE key = ?1",
};

status store_listed_put(struct store *s, uint64_t key, wall_ms changed)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_LISTED_PUT, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    sqlite3_bind_int64(statement, 2, changed);
    return store_db_run(s, statement);
}

status store_listed_get(struct store *s, uint64_t key, wall_ms *changed)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_LISTED_GET, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK)
        *changed = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return st;
}
