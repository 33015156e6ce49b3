/* store_forgotten.c - what is to be forgotten, and taking out of the database what is, so that nothing of it is left in
 * its file. */
#include <fcntl.h>
#include <unistd.h>

#include "store/file.h"
#include "store/store_db.h"

#define PUT_FORGOTTEN "INSERT INTO forgotten VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET why = coalesce(?3, why)"

const char *const store_erase_sql[SQL_COUNT] = {
    [SQL_PAGE_ERASE] = "DELETE FROM page WHERE number = (SELECT number FROM page_key WHERE key = ?1)",
    [SQL_PAGE_ERASE_NEW] = "DELETE FROM page WHERE number = (SELECT number FROM page_key_new WHERE key = ?1)",
    [SQL_PAGE_ERASE_KEY] = "DELETE FROM page_key WHERE key = ?1",
    [SQL_PAGE_ERASE_NEW_KEY] = "DELETE FROM page_key_new WHERE key = ?1",
    [SQL_ANCHORS_ERASE] = "DELETE FROM anchor WHERE key = ?1",
    [SQL_LISTED_ERASE] = "DELETE FROM listed WHERE key = ?1",
    [SQL_HOST_ERASE] = "DELETE FROM host WHERE name = ?1",
    [SQL_SETTING_ERASE] = "DELETE FROM setting WHERE name = ?1",
    [SQL_FORGOTTEN_PUT] = PUT_FORGOTTEN,
    [SQL_FORGOTTEN_GET] = "SELECT place, at, why FROM forgotten WHERE place = ?1",
    [SQL_FORGOTTEN_ERASE] = "DELETE FROM forgotten WHERE place = ?1",
};

/* ---- places ---- */

status store_forgotten_put(struct store *s, const struct forgotten *f)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_FORGOTTEN_PUT, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, f->place);
    sqlite3_bind_int64(statement, 2, f->at);
    store_db_bind_text(statement, 3, f->why);
    return store_db_run(s, statement);
}

status store_forgotten_remove(struct store *s, struct span place)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_FORGOTTEN_ERASE, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, place);
    st = store_db_run(s, statement);
    return st == ST_OK && !sqlite3_changes(s->db) ? ST_NOT_FOUND : st;
}

static struct forgotten row_of(sqlite3_stmt *statement)
{
    return (struct forgotten){.place = store_db_column(statement, 0),
                              .at = sqlite3_column_int64(statement, 1),
                              .why = store_db_column(statement, 2)};
}

status store_forgotten_get(struct store *s, struct span place, store_forgotten_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_FORGOTTEN_GET, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, place);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK) {
        struct forgotten f = row_of(statement);
        st = fn(arg, &f);
    }
    sqlite3_reset(statement);
    return st;
}

status store_forgotten_each(struct store *s, store_forgotten_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT place, at, why FROM forgotten ORDER BY place", -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct forgotten f = row_of(statement);
        st = fn(arg, &f);
    }
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    sqlite3_finalize(statement);
    return st;
}

/* ---- taking out ---- */

status store_erase_begin(struct store *s)
{
    return store_db_status(s->db, sqlite3_exec(s->db, "PRAGMA secure_delete = ON", NULL, NULL, NULL));
}

static status erase_by_key(struct store *s, store_sql which, uint64_t key)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    return store_db_run(s, statement);
}

static status erase_by_name(struct store *s, store_sql which, struct span name)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, name);
    return store_db_run(s, statement);
}

status store_page_remove(struct store *s, uint64_t key)
{
    static const store_sql all[] = {SQL_PAGE_ERASE,         SQL_PAGE_ERASE_NEW, SQL_PAGE_ERASE_KEY,
                                    SQL_PAGE_ERASE_NEW_KEY, SQL_ANCHORS_ERASE,  SQL_LISTED_ERASE};
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < sizeof(all) / sizeof(*all); i++)
        st = erase_by_key(s, all[i], key);
    return st;
}

status store_anchors_remove(struct store *s, uint64_t key)
{
    return erase_by_key(s, SQL_ANCHORS_ERASE, key);
}

status store_host_remove(struct store *s, struct span host)
{
    return erase_by_name(s, SQL_HOST_ERASE, host);
}

status store_setting_remove(struct store *s, const char *name)
{
    return erase_by_name(s, SQL_SETTING_ERASE, span_str(name));
}

/* The log keeps pages as they were before until it is started anew from nothing. */
status store_erase_end(struct store *s)
{
    int left = 0, copied = 0;
    int rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &left, &copied);
    return store_db_status(s->db, rc);
}

status store_vacuum(struct store *s)
{
    status st = store_db_status(s->db, sqlite3_exec(s->db, "VACUUM", NULL, NULL, NULL));
    return st == ST_OK ? store_erase_end(s) : st;
}

static int note_first(void *arg, int count, char **values, char **names)
{
    struct buf *what = arg;
    if (!what->n && count > 0 && values[0] && strcmp(values[0], "ok") != 0)
        for (const char *p = values[0]; *p; p++) /* one line */
            buf_putc(what, *p == '\n' ? ' ' : *p);
    return 0;
}

status store_db_check(sqlite3 *db, struct buf *what)
{
    status st = store_db_status(db, sqlite3_exec(db, "PRAGMA integrity_check(1)", note_first, what, NULL));
    return st == ST_OK && what->n ? ST_CORRUPT : st;
}

status store_check(struct store *s, struct buf *what)
{
    return store_db_check(s->db, what);
}

/* ---- copying ---- */

#define COPY_PAGES 4096 /* at a time; one read transaction spans them all, so the copy is of one moment */

static status sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    status st = fd >= 0 ? file_sync(fd) : ST_IO;
    if (fd >= 0)
        close(fd);
    return st;
}

/* Until the copy is whole: a writer beside us would make it begin again, for ever. */
static int hold(sqlite3 *db)
{
    return sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
}

status store_hold(struct store *s)
{
    return store_db_status(s->db, hold(s->db));
}

status store_db_copy(sqlite3 *from, const char *path)
{
    sqlite3 *to = NULL;
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc == SQLITE_OK && sqlite3_get_autocommit(from))
        rc = hold(from);
    sqlite3_backup *copy = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
    if (rc == SQLITE_OK && !copy)
        rc = sqlite3_errcode(to);
    while (copy && (rc = sqlite3_backup_step(copy, COPY_PAGES)) == SQLITE_OK)
        ;
    if (copy) {
        int end = sqlite3_backup_finish(copy);
        rc = rc == SQLITE_DONE ? end : rc;
    }
    status st = store_db_status(rc == SQLITE_OK ? NULL : to, rc);
    if (!sqlite3_get_autocommit(from))
        (void)sqlite3_exec(from, "ROLLBACK", NULL, NULL, NULL);
    (void)sqlite3_close(to);
    return st == ST_OK ? sync_file(path) : st;
}

status store_copy(struct store *s, const char *path)
{
    return store_db_copy(s->db, path);
}
