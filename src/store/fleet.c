#include "store/fleet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"
#include "store/store_db.h"

#define DB_NAME "fleet.db"
#define APPLICATION_ID 0x4f726266 /* "Orbf" */

/* Tables of kinds: what is small is kept in its key's tree; blobs are large, so their tree has only the keys. */
#define KIND_TABLE(name) "CREATE TABLE " name " (key BLOB PRIMARY KEY, packed BLOB NOT NULL) WITHOUT ROWID;"

/* A package's number is the order in which it came. Waiting ones are few among many, hence an index of them alone. */
static const char schema_1[] = KIND_TABLE("setting") KIND_TABLE("agent") KIND_TABLE("token") KIND_TABLE("channel")
    KIND_TABLE("network") KIND_TABLE("host") KIND_TABLE("task") KIND_TABLE("program")
        KIND_TABLE("person") "CREATE TABLE blob (key BLOB PRIMARY KEY, packed BLOB NOT NULL);"
                             "CREATE TABLE orders (agent INTEGER NOT NULL, number INTEGER NOT NULL,"
                             " packed BLOB NOT NULL, PRIMARY KEY (agent, number)) WITHOUT ROWID;"
                             "CREATE TABLE package (number INTEGER PRIMARY KEY AUTOINCREMENT,"
                             " agent INTEGER NOT NULL,"
                             " sequence INTEGER NOT NULL,"
                             " base INTEGER NOT NULL,"
                             " visits INTEGER NOT NULL,"
                             " bytes INTEGER NOT NULL,"
                             " received INTEGER NOT NULL,"
                             " is_applied INTEGER NOT NULL,"
                             " UNIQUE (agent, sequence));"
                             "CREATE INDEX package_waiting ON package (number) WHERE is_applied = 0;"
                             "PRAGMA application_id = 0x4f726266;";

static const char schema_2[] = KIND_TABLE("recrawl");

static const struct store_migration migrations[FLEET_SCHEMA] = {{schema_1}, {schema_2}};

static const char *const tables[FLEET_KINDS] = {
    [FLEET_SETTING] = "setting", [FLEET_AGENT] = "agent", [FLEET_TOKEN] = "token",     [FLEET_CHANNEL] = "channel",
    [FLEET_NETWORK] = "network", [FLEET_HOST] = "host",   [FLEET_TASK] = "task",       [FLEET_PROGRAM] = "program",
    [FLEET_PERSON] = "person",   [FLEET_BLOB] = "blob",   [FLEET_RECRAWL] = "recrawl",
};

typedef enum kind_sql { KIND_PUT, KIND_REMOVE, KIND_GET, KIND_SQL_COUNT } kind_sql;
/* Around the name of the table. */
static const struct {
    const char *before, *after;
} kind_sql_text[KIND_SQL_COUNT] = {
    [KIND_PUT] = {"INSERT INTO", "VALUES (?1, ?2) ON CONFLICT DO UPDATE SET packed = ?2"},
    [KIND_REMOVE] = {"DELETE FROM", "WHERE key = ?1"},
    [KIND_GET] = {"SELECT packed FROM", "WHERE key = ?1"},
};

typedef enum fleet_sql {
    SQL_FLEET_BEGIN,
    SQL_FLEET_COMMIT,
    SQL_ORDER_PUT,
    SQL_ORDERS_DONE,
    SQL_PACKAGE_PUT,
    SQL_PACKAGE_APPLIED,
    SQL_PACKAGE_LAST,
    SQL_PACKAGES_PRUNE,
    SQL_FLEET_COUNT
} fleet_sql;
static const char *const fleet_sql_text[SQL_FLEET_COUNT] = {
    [SQL_FLEET_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_FLEET_COMMIT] = "COMMIT",
    [SQL_ORDER_PUT] = "INSERT INTO orders VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET packed = ?3",
    [SQL_ORDERS_DONE] = "DELETE FROM orders WHERE agent = ?1 AND number <= ?2",
    [SQL_PACKAGE_PUT] = "INSERT INTO package (agent, sequence, base, visits, bytes, received, is_applied)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    [SQL_PACKAGE_APPLIED] = "UPDATE package SET is_applied = 1 WHERE agent = ?1 AND sequence = ?2",
    [SQL_PACKAGE_LAST] = "SELECT max(sequence) FROM package WHERE agent = ?1",
    [SQL_PACKAGES_PRUNE] = "DELETE FROM package WHERE is_applied = 1 AND sequence <="
                           " (SELECT max(p.sequence) FROM package p WHERE p.agent = package.agent) - ?1",
};

struct fleet_store {
    sqlite3 *db;
    sqlite3_stmt *kinds[FLEET_KINDS][KIND_SQL_COUNT]; /* made at first use */
    sqlite3_stmt *statements[SQL_FLEET_COUNT];
    char *dir;  /* owned */
    int wal_fd; /* -1: not open yet */
    bool is_begun;
    status
        failed; /* the first failure since then: SQLite may have rolled back, and would take what follows by itself */
};

/* ---- statements ---- */

static status prepare(struct fleet_store *f, const char *sql, unsigned flags, sqlite3_stmt **out)
{
    return store_db_status(f->db, sqlite3_prepare_v3(f->db, sql, -1, flags, out, NULL));
}

static status take(struct fleet_store *f, fleet_sql which, sqlite3_stmt **out)
{
    status st = ST_OK;
    if (!f->statements[which])
        st = prepare(f, fleet_sql_text[which], SQLITE_PREPARE_PERSISTENT, &f->statements[which]);
    if (st == ST_OK)
        *out = f->statements[which];
    return st;
}

static status take_kind(struct fleet_store *f, fleet_kind kind, kind_sql which, sqlite3_stmt **out)
{
    sqlite3_stmt **kept = &f->kinds[kind][which];
    status st = ST_OK;
    if (!*kept) {
        char sql[128];
        snprintf(sql, sizeof(sql), "%s %s %s", kind_sql_text[which].before, tables[kind], kind_sql_text[which].after);
        st = prepare(f, sql, SQLITE_PREPARE_PERSISTENT, kept);
    }
    if (st == ST_OK)
        *out = *kept;
    return st;
}

/* Bound bytes are forgotten: they are the caller's, and gone when it goes on. */
static status finish(struct fleet_store *f, sqlite3_stmt *s, int rc)
{
    status st = store_db_status(f->db, rc);
    int saved = errno;
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    errno = saved;
    return st;
}

static status run(struct fleet_store *f, sqlite3_stmt *s)
{
    status st = f->failed;
    if (st == ST_OK)
        st = finish(f, s, sqlite3_step(s));
    else
        sqlite3_clear_bindings(s);
    if (f->is_begun)
        f->failed = st;
    return st;
}

static void bind_bytes(sqlite3_stmt *s, int at, struct span bytes)
{
    sqlite3_bind_blob64(s, at, bytes.n ? bytes.p : "", bytes.n, SQLITE_STATIC);
}

static bool is_number(uint64_t n)
{
    return n <= FLEET_NUMBER_MAX;
}

/* ---- opening ---- */

static void say(struct buf *why, status st)
{
    if (!why || why->n)
        return;
    if (st == ST_CORRUPT)
        buf_puts(why, "its " DB_NAME " is damaged or not a database of ours");
    else if (st == ST_NEWER)
        buf_puts(why, "its " DB_NAME " was written by a newer version of orb");
    else if (st == ST_BUSY)
        buf_puts(why, "its " DB_NAME " is in use by another process");
    else if (st == ST_FULL)
        buf_puts(why, "no space left for its " DB_NAME);
    else
        buf_printf(why, "cannot open its " DB_NAME ": %s", st == ST_IO ? strerror(errno) : status_name(st));
}

/* Made by us, because SQLite would let everybody read it; its log and its shared memory take the mode from it. */
static status make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
    close(fd);
    return ST_OK;
}

/* One process, one connection: the exclusive mode needs no shared memory and keeps others out. */
static const char pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
                              "PRAGMA page_size = 4096;"
                              "PRAGMA journal_mode = WAL;"
                              "PRAGMA synchronous = NORMAL;"
                              "PRAGMA wal_autocheckpoint = 4096;"
                              "PRAGMA journal_size_limit = 16777216;"
                              "PRAGMA cache_size = -16384;"
                              "PRAGMA mmap_size = 0;"
                              "PRAGMA trusted_schema = OFF;"
                              "PRAGMA foreign_keys = OFF;";

static status check_owner(sqlite3 *db)
{
    int64_t id = 0, version = 0, tables_seen = 0;
    status st = store_db_pragma(db, "application_id", &id);
    if (st == ST_OK)
        st = store_db_pragma(db, "user_version", &version);
    if (st == ST_OK)
        st = store_db_pragma(db, "schema_version", &tables_seen);
    if (st != ST_OK)
        return st;
    bool is_empty = id == 0 && version == 0 && tables_seen == 0;
    return is_empty || id == APPLICATION_ID ? ST_OK : ST_CORRUPT;
}

static status open_file(struct fleet_store *f)
{
    struct buf path = {0};
    buf_printf(&path, "%s/" DB_NAME, f->dir);
    status st = make_file(buf_cstr(&path));
    if (st == ST_OK)
        st = store_db_status(f->db, sqlite3_open_v2(path.p, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    int saved = errno;
    buf_done(&path);
    errno = saved;
    if (st != ST_OK)
        return st;
    sqlite3_extended_result_codes(f->db, 1);
    st = store_db_status(f->db, sqlite3_exec(f->db, pragmas, NULL, NULL, NULL));
    if (st == ST_OK)
        st = check_owner(f->db);
    if (st == ST_OK)
        st = store_db_migrate(f->db, migrations, FLEET_SCHEMA);
    return st;
}

status fleet_open(const char *data_dir, struct fleet_store **out, struct buf *why)
{
    struct fleet_store *f = mem_alloc(sizeof(*f));
    f->dir = mem_str(span_str(data_dir));
    f->wal_fd = -1;
    status st = open_file(f);
    if (st == ST_OK) {
        *out = f;
        return ST_OK;
    }
    int saved = errno;
    say(why, st);
    fleet_close(f);
    errno = saved;
    return st;
}

status fleet_copy(struct fleet_store *f, const char *path)
{
    status st = make_file(path);
    return st == ST_OK ? store_db_copy(f->db, path) : st;
}

status fleet_check(struct fleet_store *f, struct buf *what)
{
    return store_db_check(f->db, what);
}

bool fleet_is_there(const char *data_dir)
{
    struct buf path = {0};
    buf_printf(&path, "%s/" DB_NAME, data_dir);
    bool is_there = access(buf_cstr(&path), F_OK) == 0;
    buf_done(&path);
    return is_there;
}

void fleet_close(struct fleet_store *f)
{
    if (!f)
        return;
    for (int k = 0; k < FLEET_KINDS; k++)
        for (int i = 0; i < KIND_SQL_COUNT; i++)
            sqlite3_finalize(f->kinds[k][i]);
    for (int i = 0; i < SQL_FLEET_COUNT; i++)
        sqlite3_finalize(f->statements[i]);
    int rc = sqlite3_close(f->db);
    assert(rc == SQLITE_OK);
    (void)rc;
    if (f->wal_fd >= 0)
        close(f->wal_fd);
    free(f->dir);
    free(f);
}

/* ---- transactions ---- */

static status run_plain(struct fleet_store *f, fleet_sql which)
{
    sqlite3_stmt *s = NULL;
    status st = take(f, which, &s);
    return st == ST_OK ? run(f, s) : st;
}

status fleet_begin(struct fleet_store *f)
{
    status st = run_plain(f, SQL_FLEET_BEGIN);
    f->is_begun |= st == ST_OK;
    return st;
}

bool fleet_is_begun(const struct fleet_store *f)
{
    return f->is_begun;
}

/* What was committed is in the log or, copied back and synced by SQLite before it starts the log again, in the
 * database. The log stays the same file while the database is open; the folder is synced once, for its name. */
status fleet_sync(struct fleet_store *f)
{
    status st = ST_OK;
    if (f->wal_fd < 0) {
        struct buf path = {0};
        buf_printf(&path, "%s/" DB_NAME "-wal", f->dir);
        int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
        st = fd >= 0 ? file_sync_dir(f->dir) : ST_IO;
        int saved = errno;
        if (st == ST_OK)
            f->wal_fd = fd;
        else if (fd >= 0)
            close(fd);
        buf_done(&path);
        errno = saved;
    }
    return st == ST_OK ? file_sync(f->wal_fd) : st;
}

status fleet_commit(struct fleet_store *f, bool is_durable)
{
    status st = run_plain(f, SQL_FLEET_COMMIT);
    int saved = errno;
    if (st != ST_OK)
        fleet_rollback(f);
    errno = saved;
    f->is_begun = false;
    return st == ST_OK && is_durable ? fleet_sync(f) : st;
}

void fleet_rollback(struct fleet_store *f)
{
    if (!sqlite3_get_autocommit(f->db))
        (void)sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    f->is_begun = false;
    f->failed = ST_OK;
}

status fleet_vacuum(struct fleet_store *f)
{
    int left = 0, copied = 0;
    status st = store_db_status(f->db, sqlite3_exec(f->db, "VACUUM", NULL, NULL, NULL));
    if (st == ST_OK)
        st = store_db_status(f->db, sqlite3_wal_checkpoint_v2(f->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &left, &copied));
    return st;
}

/* ---- records by key ---- */

static status check_key(fleet_kind kind, struct span key)
{
    assert(kind >= 0 && kind < FLEET_KINDS);
    return key.n == 0 ? ST_INVALID : key.n > FLEET_KEY_MAX ? ST_LIMIT : ST_OK;
}

status fleet_put(struct fleet_store *f, fleet_kind kind, struct span key, struct span packed)
{
    sqlite3_stmt *s = NULL;
    status st = check_key(kind, key);
    if (st == ST_OK && packed.n > FLEET_VALUE_MAX)
        st = ST_LIMIT;
    if (st == ST_OK)
        st = take_kind(f, kind, KIND_PUT, &s);
    if (st != ST_OK)
        return st;
    bind_bytes(s, 1, key);
    bind_bytes(s, 2, packed);
    return run(f, s);
}

status fleet_remove(struct fleet_store *f, fleet_kind kind, struct span key)
{
    sqlite3_stmt *s = NULL;
    status st = check_key(kind, key);
    if (st == ST_OK)
        st = take_kind(f, kind, KIND_REMOVE, &s);
    if (st != ST_OK)
        return st;
    bind_bytes(s, 1, key);
    return run(f, s);
}

status fleet_get(struct fleet_store *f, fleet_kind kind, struct span key, struct buf *packed)
{
    sqlite3_stmt *s = NULL;
    status st = check_key(kind, key);
    if (st == ST_OK)
        st = take_kind(f, kind, KIND_GET, &s);
    if (st != ST_OK)
        return st;
    bind_bytes(s, 1, key);
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        buf_put(packed, store_db_column(s, 0));
    st = finish(f, s, rc);
    return rc == SQLITE_DONE ? ST_NOT_FOUND : st;
}

status fleet_each(struct fleet_store *f, fleet_kind kind, fleet_fn *fn, void *arg)
{
    assert(kind >= 0 && kind < FLEET_KINDS);
    sqlite3_stmt *s = NULL; /* of its own, so that walks may be nested */
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT key, packed FROM %s ORDER BY key", tables[kind]);
    status st = prepare(f, sql, 0, &s);
    int rc = SQLITE_DONE;
    while (st == ST_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
        st = fn(arg, store_db_column(s, 0), store_db_column(s, 1));
    if (st == ST_OK)
        st = store_db_status(f->db, rc);
    sqlite3_finalize(s);
    return st;
}

struct fleet_number fleet_number(uint64_t n)
{
    struct fleet_number out;
    for (int i = 7; i >= 0; i--, n >>= 8)
        out.b[i] = (char)(n & 0xff);
    return out;
}

uint64_t fleet_number_of(struct span key)
{
    uint64_t n = 0;
    for (size_t i = 0; key.n == 8 && i < 8; i++)
        n = n << 8 | (unsigned char)key.p[i];
    return n;
}

/* ---- orders ---- */

status fleet_order_put(struct fleet_store *f, uint64_t agent, uint64_t number, struct span packed)
{
    sqlite3_stmt *s = NULL;
    if (!is_number(agent) || !is_number(number) || packed.n > FLEET_VALUE_MAX)
        return ST_LIMIT;
    status st = take(f, SQL_ORDER_PUT, &s);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(s, 1, (int64_t)agent);
    sqlite3_bind_int64(s, 2, (int64_t)number);
    bind_bytes(s, 3, packed);
    return run(f, s);
}

status fleet_orders_done(struct fleet_store *f, uint64_t agent, uint64_t number)
{
    sqlite3_stmt *s = NULL;
    if (!is_number(agent))
        return ST_LIMIT;
    status st = take(f, SQL_ORDERS_DONE, &s);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(s, 1, (int64_t)agent);
    sqlite3_bind_int64(s, 2, is_number(number) ? (int64_t)number : INT64_MAX);
    return run(f, s);
}

status fleet_orders_drop(struct fleet_store *f, uint64_t agent)
{
    return fleet_orders_done(f, agent, FLEET_NUMBER_MAX);
}

status fleet_order_each(struct fleet_store *f, uint64_t agent, uint64_t above, fleet_order_fn *fn, void *arg)
{
    sqlite3_stmt *s = NULL;
    if (!is_number(agent) || !is_number(above))
        return ST_OK; /* there are none */
    status st = prepare(f, "SELECT number, packed FROM orders WHERE agent = ?1 AND number > ?2 ORDER BY number", 0, &s);
    int rc = SQLITE_DONE;
    if (st == ST_OK) {
        sqlite3_bind_int64(s, 1, (int64_t)agent);
        sqlite3_bind_int64(s, 2, (int64_t)above);
    }
    while (st == ST_OK && (rc = sqlite3_step(s)) == SQLITE_ROW)
        st = fn(arg, (uint64_t)sqlite3_column_int64(s, 0), store_db_column(s, 1));
    if (st == ST_OK)
        st = store_db_status(f->db, rc);
    sqlite3_finalize(s);
    return st;
}

/* ---- packages ---- */

status fleet_package_put(struct fleet_store *f, const struct fleet_package *p)
{
    sqlite3_stmt *s = NULL;
    if (!is_number(p->agent) || !is_number(p->sequence) || !is_number(p->base) || !is_number(p->bytes))
        return ST_LIMIT;
    status st = take(f, SQL_PACKAGE_PUT, &s);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(s, 1, (int64_t)p->agent);
    sqlite3_bind_int64(s, 2, (int64_t)p->sequence);
    sqlite3_bind_int64(s, 3, (int64_t)p->base);
    sqlite3_bind_int64(s, 4, p->visits);
    sqlite3_bind_int64(s, 5, (int64_t)p->bytes);
    sqlite3_bind_int64(s, 6, p->received);
    sqlite3_bind_int64(s, 7, p->is_applied);
    st = run(f, s);
    return st == ST_OK && sqlite3_changes(f->db) == 0 ? ST_EXISTS : st;
}

status fleet_package_applied(struct fleet_store *f, uint64_t agent, uint64_t sequence)
{
    sqlite3_stmt *s = NULL;
    if (!is_number(agent) || !is_number(sequence))
        return ST_NOT_FOUND;
    status st = take(f, SQL_PACKAGE_APPLIED, &s);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(s, 1, (int64_t)agent);
    sqlite3_bind_int64(s, 2, (int64_t)sequence);
    st = run(f, s);
    return st == ST_OK && sqlite3_changes(f->db) == 0 ? ST_NOT_FOUND : st;
}

status fleet_package_waiting(struct fleet_store *f, fleet_package_fn *fn, void *arg)
{
    sqlite3_stmt *s = NULL;
    status st = prepare(f,
                        "SELECT agent, sequence, base, visits, bytes, received FROM package"
                        " INDEXED BY package_waiting WHERE is_applied = 0 ORDER BY number",
                        0, &s);
    int rc = SQLITE_DONE;
    while (st == ST_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        struct fleet_package p = {
            .agent = (uint64_t)sqlite3_column_int64(s, 0),
            .sequence = (uint64_t)sqlite3_column_int64(s, 1),
            .base = (uint64_t)sqlite3_column_int64(s, 2),
            .visits = (uint32_t)sqlite3_column_int64(s, 3),
            .bytes = (uint64_t)sqlite3_column_int64(s, 4),
            .received = sqlite3_column_int64(s, 5),
        };
        st = fn(arg, &p);
    }
    if (st == ST_OK)
        st = store_db_status(f->db, rc);
    sqlite3_finalize(s);
    return st;
}

status fleet_package_last(struct fleet_store *f, uint64_t agent, uint64_t *sequence)
{
    sqlite3_stmt *s = NULL;
    uint64_t last = 0;
    status st = is_number(agent) ? take(f, SQL_PACKAGE_LAST, &s) : ST_LIMIT;
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(s, 1, (int64_t)agent);
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW)
        last = (uint64_t)sqlite3_column_int64(s, 0); /* NULL is 0 */
    st = finish(f, s, rc);
    if (st == ST_OK)
        *sequence = last;
    return st;
}

status fleet_packages_prune(struct fleet_store *f, uint64_t keep_an_agent)
{
    sqlite3_stmt *s = NULL;
    status st = take(f, SQL_PACKAGES_PRUNE, &s);
    if (st != ST_OK)
        return st;
    uint64_t keep = keep_an_agent ? keep_an_agent : 1;
    sqlite3_bind_int64(s, 1, is_number(keep) ? (int64_t)keep : INT64_MAX);
    return run(f, s);
}
