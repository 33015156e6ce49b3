#include "store/store_db.h"

/* A key leads to a page by one of two tables. New keys go to page_key_new, which is small, so that its pages stay in
 * the cache and the same few are written over and over; when it has grown, it is moved to page_key in one pass in order
 * of keys. (A plain index over random keys writes a whole page for nearly every row: some 20 to
 * 40 % more CPU time at 3 million pages.)
 *
 * Fields that every scan looks at come first in a page, long texts last: SQLite decodes a row only as far as it is
 * asked to. Empty texts and times that did not happen are NULL. Keys and ids are unsigned numbers kept in SQLite's
 * signed ones. */
static const char schema_1[] = "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
                               "CREATE TABLE channel (id INTEGER PRIMARY KEY, packed BLOB NOT NULL);"
                               "CREATE TABLE host (name TEXT PRIMARY KEY, packed BLOB NOT NULL) WITHOUT ROWID;"
                               "CREATE TABLE page_key (key INTEGER PRIMARY KEY, number INTEGER NOT NULL);"
                               "CREATE TABLE page_key_new (key INTEGER PRIMARY KEY, number INTEGER NOT NULL);"
                               "CREATE TABLE page ("
                               " number INTEGER PRIMARY KEY," /* order of first visit */
                               " key INTEGER NOT NULL,"
                               " channel INTEGER NOT NULL,"
                               " fetch_number INTEGER NOT NULL,"
                               " outcome INTEGER NOT NULL,"
                               " failure INTEGER NOT NULL,"
                               " http_status INTEGER NOT NULL,"
                               " text_bytes INTEGER NOT NULL,"
                               " content_type TEXT,"
                               " depth INTEGER NOT NULL,"
                               " page_flags INTEGER NOT NULL,"
                               " digest INTEGER NOT NULL,"
                               " at INTEGER NOT NULL,"
                               " first_seen INTEGER NOT NULL,"
                               " changed_at INTEGER NOT NULL,"
                               " good_at INTEGER NOT NULL,"
                               " visits INTEGER NOT NULL,"
                               " changes INTEGER NOT NULL,"
                               " body_bytes INTEGER NOT NULL,"
                               " wire_bytes INTEGER NOT NULL,"
                               " dns_us INTEGER,"
                               " connect_us INTEGER,"
                               " tls_us INTEGER,"
                               " first_byte_us INTEGER,"
                               " total_us INTEGER,"
                               " history BLOB,"
                               " url TEXT NOT NULL,"
                               " title TEXT,"
                               " lang TEXT,"
                               " canonical TEXT,"
                               " etag TEXT,"
                               " last_modified TEXT,"
                               " charset TEXT,"
                               " redirect TEXT,"
                               " reason TEXT,"
                               " address TEXT);"
                               "PRAGMA application_id = 0x4f726277;";

static const char schema_2[] = "ALTER TABLE page ADD COLUMN content INTEGER NOT NULL DEFAULT 0;"
                               "CREATE TABLE anchor (key INTEGER PRIMARY KEY, packed BLOB NOT NULL);";

/* listed: what sitemaps and feeds say when a page last changed; also of pages that were never visited.
 * forgotten: what its owner, or the operator, wants to be out of the folder for good. */
static const char schema_3[] = "CREATE TABLE listed (key INTEGER PRIMARY KEY, at INTEGER NOT NULL);"
                               "CREATE TABLE forgotten ("
                               " place TEXT PRIMARY KEY," /* a URL, or a site */
                               " at INTEGER NOT NULL,"
                               " why TEXT) WITHOUT ROWID;";

/* rate: how often a page changes, in eight bytes that are whoever's who counts (store_set_rate).
 * page_channel: a channel is looked at again by itself, beside thousands of others. */
static const char schema_4[] = "ALTER TABLE page ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;"
                               "CREATE INDEX page_channel ON page (channel);";

/* unsee: pages that were taken out and that the crawl, whose set of known URLs is in files of its own, still knows. */
static const char schema_5[] = "CREATE TABLE unsee (number INTEGER PRIMARY KEY, key INTEGER NOT NULL);";

const struct store_migration store_migrations[STORE_SCHEMA] = {
    {schema_1}, {schema_2}, {schema_3}, {schema_4}, {schema_5}};

status store_db_pragma(sqlite3 *db, const char *name, int64_t *value)
{
    struct buf sql = {0};
    sqlite3_stmt *statement = NULL;
    buf_printf(&sql, "PRAGMA %s", name);
    int rc = sqlite3_prepare_v2(db, buf_cstr(&sql), -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    status st = store_db_status(db, rc);
    sqlite3_finalize(statement);
    buf_done(&sql);
    return st;
}

static status run_step(sqlite3 *db, const struct store_migration *step, int to)
{
    struct buf sql = {0};
    buf_printf(&sql, "BEGIN IMMEDIATE;%s;PRAGMA user_version = %d;COMMIT", step->sql, to);
    status st = store_db_status(db, sqlite3_exec(db, buf_cstr(&sql), NULL, NULL, NULL));
    if (st != ST_OK && !sqlite3_get_autocommit(db))
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    buf_done(&sql);
    return st;
}

status store_db_migrate(sqlite3 *db, const struct store_migration *steps, int n)
{
    int64_t version = 0;
    status st = store_db_pragma(db, "user_version", &version);
    if (st == ST_OK && version > n)
        st = ST_NEWER;
    if (st == ST_OK && version < 0)
        st = ST_CORRUPT;
    for (; st == ST_OK && version < n; version++)
        st = run_step(db, &steps[version], (int)version + 1);
    return st;
}
