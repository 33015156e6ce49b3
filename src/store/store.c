#include "store/store_db.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pack.h"
#include "store/file.h"

#define DB_NAME "orb.db"
#define APPLICATION_ID 0x4f726277 /* "Orbw" */
#define KEY_SETTING "hash_key"
#define LAST_FETCH_SETTING "last_fetch"
#define BUSY_MS 10000
#define VALUE_MAX (64u << 20) /* of a setting, or of a packed channel or host */

static const char *const own_sql[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_SETTING_PUT] = "INSERT INTO setting VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
    [SQL_SETTING_GET] = "SELECT value FROM setting WHERE name = ?1",
    [SQL_CHANNEL_PUT] = "INSERT INTO channel VALUES (?1, ?2) ON CONFLICT DO UPDATE SET packed = ?2",
    [SQL_HOST_PUT] = "INSERT INTO host VALUES (?1, ?2) ON CONFLICT DO UPDATE SET packed = ?2",
    [SQL_HOST_GET] = "SELECT name, packed FROM host WHERE name = ?1",
    [SQL_ANCHORS_PUT] = "INSERT INTO anchor VALUES (?1, ?2) ON CONFLICT DO UPDATE SET packed = ?2",
    [SQL_ANCHORS_GET] = "SELECT packed FROM anchor WHERE key = ?1",
};

/* The write-ahead log may reach 64 MiB before it is copied back: pages of the key table are then written once for many
 * rows. The writer's cache, filled only as needed, holds the key table of 3 million pages. */
static const char write_pragmas[] = "PRAGMA page_size = 4096;"
                                    "PRAGMA journal_mode = WAL;"
                                    "PRAGMA synchronous = NORMAL;"
                                    "PRAGMA wal_autocheckpoint = 16384;"
                                    "PRAGMA journal_size_limit = 67108864;"
                                    "PRAGMA cache_size = -65536;";
static const char common_pragmas[] = "PRAGMA cache_size = -16384;"
                                     "PRAGMA mmap_size = 0;"
                                     "PRAGMA trusted_schema = OFF;";

status store_db_status(sqlite3 *db, int rc)
{
    int code = rc & 0xFF;
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return ST_OK;
    int err = db ? sqlite3_system_errno(db) : 0;
    if (code == SQLITE_FULL || (code == SQLITE_IOERR && (err == ENOSPC || err == EDQUOT)))
        return ST_FULL;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return ST_CORRUPT;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return ST_BUSY;
    if (code == SQLITE_TOOBIG)
        return ST_LIMIT;
    errno = code == SQLITE_READONLY ? EROFS : err ? err : EIO;
    return ST_IO;
}

status store_db_take(struct store *s, store_sql which, sqlite3_stmt **out)
{
    if (!s->statements[which]) {
        const char *sql = own_sql[which];
        const char *const *const others[] = {store_page_sql, store_order_sql, store_listed_sql, store_erase_sql,
                                             store_unsee_sql};
        for (size_t i = 0; !sql && i < sizeof(others) / sizeof(*others); i++)
            sql = others[i][which];
        int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->statements[which], NULL);
        if (rc != SQLITE_OK)
            return store_db_status(s->db, rc);
    }
    *out = s->statements[which];
    return ST_OK;
}

status store_db_run(struct store *s, sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);
    status result = store_db_status(s->db, rc);
    int saved = errno;
    sqlite3_reset(st);
    errno = saved;
    return result;
}

void store_db_bind_text(sqlite3_stmt *st, int at, struct span text)
{
    if (text.n)
        sqlite3_bind_text64(st, at, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_bind_null(st, at);
}

struct span store_db_column(sqlite3_stmt *st, int at)
{
    const void *p = sqlite3_column_blob(st, at);
    return span_of(p, p ? (size_t)sqlite3_column_bytes(st, at) : 0);
}

static void bind_blob(sqlite3_stmt *st, int at, struct span blob)
{
    sqlite3_bind_blob64(st, at, blob.n ? blob.p : "", blob.n, SQLITE_STATIC);
}

static void say(struct buf *why, const char *what)
{
    if (why && !why->n)
        buf_puts(why, what);
}

static void say_errno(struct buf *why, const char *what)
{
    if (why && !why->n)
        buf_printf(why, "%s: %s", what, strerror(errno));
}

static void path_in(const struct store *s, const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", s->dir, name);
    (void)buf_cstr(out);
}

static status take_lock(struct store *s, struct buf *why)
{
    struct buf path = {0};
    long pid = 0;
    path_in(s, "lock", &path);
    status st = file_lock(path.p, &s->lock_fd, &pid);
    int saved = errno;
    buf_done(&path);
    errno = saved;
    if (st == ST_BUSY && why && !why->n)
        buf_printf(why, "in use by process %ld", pid);
    else if (st != ST_OK)
        say_errno(why, "cannot lock the data folder");
    return st;
}

static status check_folder(const struct store *s, struct buf *why)
{
    struct buf path = {0};
    struct stat sb;
    path_in(s, DB_NAME, &path);
    status st = ST_OK;
    if (stat(path.p, &sb) != 0)
        st = errno == ENOENT ? ST_NOT_FOUND : ST_IO;
    else if (access(path.p, R_OK) != 0)
        st = ST_IO;
    int saved = errno;
    buf_done(&path);
    errno = saved;
    if (st == ST_NOT_FOUND)
        say(why, "no data folder there");
    else if (st != ST_OK)
        say_errno(why, "cannot read the data folder");
    return st;
}

/* A file: URI, because that is how options are passed to SQLite. */
static void put_uri(struct buf *out, const char *path, const char *options)
{
    static const char hex[] = "0123456789ABCDEF";
    buf_clear(out);
    buf_puts(out, "file:");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (ascii_is_alpha((char)c) || ascii_is_digit((char)c) || strchr("/._-", c)) {
            buf_putc(out, (char)c);
        } else {
            buf_putc(out, '%');
            buf_putc(out, hex[c >> 4]);
            buf_putc(out, hex[c & 15]);
        }
    }
    buf_puts(out, options);
    (void)buf_cstr(out);
}

static int open_db(struct store *s, int flags, const char *options)
{
    struct buf path = {0}, uri = {0};
    path_in(s, DB_NAME, &path);
    put_uri(&uri, path.p, options);
    (void)sqlite3_close(s->db);
    s->db = NULL;
    int rc = sqlite3_open_v2(uri.p, &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_extended_result_codes(s->db, 1);
        sqlite3_busy_timeout(s->db, BUSY_MS);
        rc = sqlite3_exec(s->db, common_pragmas, NULL, NULL, NULL);
    }
    buf_done(&path);
    buf_done(&uri);
    return rc;
}

/* Whether the write-ahead log holds something that the database file alone lacks. */
static bool has_wal(const struct store *s)
{
    struct buf path = {0};
    struct stat sb;
    path_in(s, DB_NAME "-wal", &path);
    bool has = stat(path.p, &sb) == 0 && sb.st_size > 0;
    buf_done(&path);
    return has;
}

static int first_read(sqlite3 *db)
{
    return sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
}

static status open_reading(struct store *s, struct buf *why)
{
    int rc = open_db(s, SQLITE_OPEN_READONLY, "");
    if (rc == SQLITE_OK)
        rc = first_read(s->db);
    int code = rc & 0xFF;
    /* A read-only file system, where SQLite cannot make its shared-memory file: nobody writes there, so none is needed.
     */
    if (code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_IOERR) {
        if (has_wal(s)) {
            say(why, "it was not closed properly and cannot be written to: copy it to a writable place");
            errno = EROFS;
            return ST_IO;
        }
        rc = open_db(s, SQLITE_OPEN_READONLY, "?immutable=1");
        if (rc == SQLITE_OK)
            rc = first_read(s->db);
    }
    return store_db_status(s->db, rc);
}

static status open_writing(struct store *s)
{
    int rc = open_db(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db, write_pragmas, NULL, NULL, NULL);
    return store_db_status(s->db, rc);
}

static status query_number(sqlite3 *db, const char *sql, int64_t *n)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *n = sqlite3_column_int64(statement, 0);
    status st = store_db_status(db, rc);
    sqlite3_finalize(statement);
    return st;
}

status store_check_keys(struct store *s, bool repair, uint64_t *wrong)
{
    int64_t n = 0;
    status st = query_number(
        s->db,
        "SELECT (SELECT count(*) FROM page p WHERE number IS NOT coalesce("
        "(SELECT number FROM page_key_new k WHERE k.key = p.key), (SELECT number FROM page_key k WHERE k.key = p.key)))"
        " + abs((SELECT count(*) FROM page) - (SELECT count(*) FROM page_key) - (SELECT count(*) FROM page_key_new))",
        &n);
    if (st != ST_OK)
        return st;
    *wrong = (uint64_t)n;
    if (!n || !repair)
        return ST_OK;
    int rc = sqlite3_exec(s->db,
                          "BEGIN IMMEDIATE; DELETE FROM page_key; DELETE FROM page_key_new;"
                          "INSERT OR REPLACE INTO page_key SELECT key, number FROM page ORDER BY key; COMMIT",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        s->new_keys = 0;
    else
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return store_db_status(s->db, rc);
}

/* Ours, and of a version that we can use as it is or migrate. */
static status check_version(struct store *s, store_mode mode, struct buf *why)
{
    int64_t id = 0, version = 0, tables = 0;
    status st = store_db_pragma(s->db, "application_id", &id);
    if (st == ST_OK)
        st = store_db_pragma(s->db, "user_version", &version);
    if (st == ST_OK)
        st = query_number(s->db, "SELECT count(*) FROM sqlite_master", &tables);
    if (st != ST_OK)
        return st;
    bool is_empty = id == 0 && version == 0 && tables == 0;
    if (is_empty && mode == STORE_WRITE)
        return ST_OK;
    if (is_empty) {
        say(why, "no data folder there");
        return ST_NOT_FOUND;
    }
    if (id != APPLICATION_ID) {
        say(why, "its " DB_NAME " is of another program");
        return ST_CORRUPT;
    }
    if (version > STORE_SCHEMA) {
        say(why, "written by a newer version of orb");
        return ST_NEWER;
    }
    if (version < STORE_SCHEMA && mode == STORE_READ) {
        say(why, "written by an older version of orb: run a command that writes to it first");
        return ST_UNSUPPORTED;
    }
    return ST_OK;
}

static status draw_key(struct store *s)
{
    char bytes[16];
    int64_t pages = 0;
    status st = query_number(s->db, "SELECT count(*) FROM (SELECT 1 FROM page LIMIT 1)", &pages);
    if (st != ST_OK)
        return st;
    /* With another key every page would be a stranger. */
    if (pages)
        return ST_CORRUPT;
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return ST_IO;
    return store_setting_put(s, KEY_SETTING, span_of(bytes, sizeof(bytes)));
}

static status load_key(struct store *s, store_mode mode)
{
    struct buf value = {0};
    status st = store_setting_get(s, KEY_SETTING, &value);
    if (st == ST_NOT_FOUND && mode == STORE_WRITE) {
        st = draw_key(s);
        if (st == ST_OK)
            st = store_setting_get(s, KEY_SETTING, &value);
    }
    if (st == ST_NOT_FOUND || (st == ST_OK && value.n != 16))
        st = ST_CORRUPT;
    if (st == ST_OK) {
        struct unpack u = unpack_of(buf_span(&value));
        s->key.k0 = unpack_u64(&u);
        s->key.k1 = unpack_u64(&u);
    }
    int saved = errno;
    buf_done(&value);
    errno = saved;
    return st;
}

static status open_folder(struct store *s, store_mode mode, struct buf *why)
{
    status st = ST_OK;
    if (mode == STORE_WRITE) {
        st = file_mkdir(s->dir);
        if (st != ST_OK)
            say_errno(why, "cannot make the data folder");
        else
            st = take_lock(s, why);
    } else {
        st = check_folder(s, why);
    }
    if (st == ST_OK)
        st = mode == STORE_WRITE ? open_writing(s) : open_reading(s, why);
    if (st == ST_OK)
        st = check_version(s, mode, why);
    if (st == ST_OK && mode == STORE_WRITE)
        st = store_db_migrate(s->db, store_migrations, STORE_SCHEMA);
    if (st == ST_OK)
        st = load_key(s, mode);
    int64_t new_keys = 0;
    if (st == ST_OK && mode == STORE_WRITE)
        st = query_number(s->db, "SELECT count(*) FROM page_key_new", &new_keys);
    s->new_keys = (uint64_t)new_keys;
    return st;
}

static void say_status(struct buf *why, status st)
{
    if (st == ST_CORRUPT)
        say(why, "its " DB_NAME " is damaged or not a database");
    else if (st == ST_IO)
        say_errno(why, "cannot open its " DB_NAME);
    else
        say(why, status_name(st));
}

status store_open(const char *dir, store_mode mode, struct store **out, struct buf *why)
{
    struct store *s = mem_alloc(sizeof(*s));
    s->lock_fd = -1;
    s->dir = mem_str(span_str(dir));
    status st = open_folder(s, mode, why);
    int saved = errno;
    if (st == ST_OK) {
        *out = s;
        return ST_OK;
    }
    errno = saved;
    say_status(why, st);
    store_free(s);
    errno = saved;
    return st;
}

void store_free(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    int rc = sqlite3_close(s->db);
    assert(rc == SQLITE_OK);
    (void)rc;
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    buf_done(&s->history);
    free(s->dir);
    free(s);
}

const char *store_dir(const struct store *s)
{
    return s->dir;
}

const struct sip_key *store_key(const struct store *s)
{
    return &s->key;
}

static status run_plain(struct store *s, store_sql which)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    return st == ST_OK ? store_db_run(s, statement) : st;
}

status store_begin(struct store *s)
{
    return run_plain(s, SQL_BEGIN);
}

static status read_last_fetch(struct store *s)
{
    struct buf value = {0};
    int64_t highest = 0;
    status st = store_setting_get(s, LAST_FETCH_SETTING, &value);
    struct unpack u = unpack_of(buf_span(&value));
    if (st == ST_OK)
        s->last_fetch = unpack_u64(&u);
    if (st == ST_OK && u.bad)
        st = ST_CORRUPT;
    if (st == ST_NOT_FOUND) {
        st = query_number(s->db, "SELECT max(fetch_number) FROM page", &highest);
        s->last_fetch = (uint64_t)highest;
    }
    s->has_last_fetch = st == ST_OK;
    buf_done(&value);
    return st;
}

status store_last_fetch(struct store *s, uint64_t *number)
{
    status st = s->has_last_fetch ? ST_OK : read_last_fetch(s);
    if (st == ST_OK)
        *number = s->last_fetch > s->last_fetch_now ? s->last_fetch : s->last_fetch_now;
    return st;
}

static status keep_last_fetch(struct store *s)
{
    uint64_t number;
    struct buf value = {0};
    status st = store_last_fetch(s, &number);
    if (st != ST_OK || number == s->last_fetch)
        return st;
    pack_u64(&value, number);
    st = store_setting_put(s, LAST_FETCH_SETTING, buf_span(&value));
    buf_done(&value);
    return st;
}

status store_commit(struct store *s)
{
    status st = store_page_settle(s);
    if (st == ST_OK && s->last_fetch_now)
        st = keep_last_fetch(s);
    if (st == ST_OK)
        st = run_plain(s, SQL_COMMIT);
    if (st == ST_OK && s->last_fetch_now > s->last_fetch)
        s->last_fetch = s->last_fetch_now;
    return st;
}

void store_rollback(struct store *s)
{
    if (!sqlite3_get_autocommit(s->db))
        (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* What was committed is in the log or, copied back and synced by SQLite before it starts the log again, in the
 * database. */
status store_sync(struct store *s)
{
    struct buf path = {0};
    path_in(s, DB_NAME "-wal", &path);
    int fd = open(path.p, O_RDONLY | O_CLOEXEC);
    status st = fd >= 0 ? file_sync(fd) : errno == ENOENT ? ST_OK : ST_IO;
    if (st == ST_OK && !s->is_dir_synced)
        st = file_sync_dir(s->dir);
    s->is_dir_synced = st == ST_OK;
    int saved = errno;
    if (fd >= 0)
        close(fd);
    buf_done(&path);
    errno = saved;
    return st;
}

status store_setting_put(struct store *s, const char *name, struct span value)
{
    sqlite3_stmt *statement = NULL;
    if (value.n > VALUE_MAX)
        return ST_LIMIT;
    status st = store_db_take(s, SQL_SETTING_PUT, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    bind_blob(statement, 2, value);
    return store_db_run(s, statement);
}

status store_setting_get(struct store *s, const char *name, struct buf *value)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_SETTING_GET, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK)
        buf_put(value, store_db_column(statement, 0));
    sqlite3_reset(statement);
    return st;
}

status store_channel_put(struct store *s, uint64_t id, struct span packed)
{
    sqlite3_stmt *statement = NULL;
    if (packed.n > VALUE_MAX)
        return ST_LIMIT;
    status st = store_db_take(s, SQL_CHANNEL_PUT, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    bind_blob(statement, 2, packed);
    return store_db_run(s, statement);
}

status store_channel_each(struct store *s, store_channel_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT id, packed FROM channel ORDER BY id", -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        st = fn(arg, (uint64_t)sqlite3_column_int64(statement, 0), store_db_column(statement, 1));
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    sqlite3_finalize(statement);
    return st;
}

status store_anchors_put(struct store *s, uint64_t key, struct span packed)
{
    sqlite3_stmt *statement = NULL;
    if (packed.n > VALUE_MAX)
        return ST_LIMIT;
    status st = store_db_take(s, SQL_ANCHORS_PUT, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    bind_blob(statement, 2, packed);
    return store_db_run(s, statement);
}

status store_anchors_get(struct store *s, uint64_t key, struct buf *packed)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_ANCHORS_GET, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK)
        buf_put(packed, store_db_column(statement, 0));
    sqlite3_reset(statement);
    return st;
}

status store_anchors_clear(struct store *s)
{
    return store_db_status(s->db, sqlite3_exec(s->db, "DELETE FROM anchor", NULL, NULL, NULL));
}

status store_host_put(struct store *s, struct span host, struct span packed)
{
    sqlite3_stmt *statement = NULL;
    if (packed.n > VALUE_MAX)
        return ST_LIMIT;
    if (!host.n)
        return ST_INVALID;
    status st = store_db_take(s, SQL_HOST_PUT, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, host);
    bind_blob(statement, 2, packed);
    return store_db_run(s, statement);
}

status store_host_get(struct store *s, struct span host, store_host_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_HOST_GET, &statement);
    if (st != ST_OK)
        return st;
    store_db_bind_text(statement, 1, host);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK)
        st = fn(arg, store_db_column(statement, 0), store_db_column(statement, 1));
    sqlite3_reset(statement);
    return st;
}

status store_host_each(struct store *s, store_host_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, "SELECT name, packed FROM host ORDER BY name", -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        st = fn(arg, store_db_column(statement, 0), store_db_column(statement, 1));
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    sqlite3_finalize(statement);
    return st;
}
