/* store_db.h - what the files of the store share. Inside store/ only: nobody else sees SQLite. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"

typedef enum store_sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_SETTING_PUT,
    SQL_SETTING_GET,
    SQL_CHANNEL_PUT,
    SQL_HOST_PUT,
    SQL_HOST_GET,
    SQL_ANCHORS_PUT,
    SQL_ANCHORS_GET,
    SQL_PAGE_FIND,
    SQL_PAGE_INSERT,
    SQL_PAGE_KEY,
    SQL_PAGE_OLD,
    SQL_PAGE_UPDATE,
    SQL_PAGE_GET,
    SQL_PAGE_MOVE,
    SQL_PAGE_DROP,
    SQL_PAGE_PUT_RIGHT,
    SQL_PAGE_RATE,
    SQL_PAGE_TELL,
    SQL_PAGE_NUMBERED,
    SQL_LISTED_PUT,
    SQL_LISTED_GET,
    SQL_PAGE_ERASE,
    SQL_PAGE_ERASE_NEW,
    SQL_PAGE_ERASE_KEY,
    SQL_PAGE_ERASE_NEW_KEY,
    SQL_ANCHORS_ERASE,
    SQL_LISTED_ERASE,
    SQL_HOST_ERASE,
    SQL_SETTING_ERASE,
    SQL_FORGOTTEN_PUT,
    SQL_FORGOTTEN_GET,
    SQL_FORGOTTEN_ERASE,
    SQL_UNSEE_PUT,
    SQL_UNSEE_DROP,
    SQL_COUNT
} store_sql;

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT]; /* made at first use */
    char *dir;                           /* owned */
    int lock_fd;                         /* -1: reading */
    bool is_dir_synced;
    struct sip_key key;
    uint64_t new_keys;   /* about as many as page_key_new holds */
    struct buf history;  /* scratch */
    store_rate_fn *rate; /* NULL: none */
    /* Of visits: see store_last_fetch. What the database has, and of those recorded since. */
    uint64_t last_fetch, last_fetch_now;
    bool has_last_fetch; /* it was read */
};

extern const char *const store_page_sql[SQL_COUNT];   /* those that store_page.c is about; the rest NULL */
extern const char *const store_order_sql[SQL_COUNT];  /* those of store_order.c */
extern const char *const store_listed_sql[SQL_COUNT]; /* those of store_listed.c */
extern const char *const store_erase_sql[SQL_COUNT];  /* those of store_forgotten.c */
extern const char *const store_unsee_sql[SQL_COUNT];  /* those of store_unsee.c */

/* What an SQLite result code means to us; sets errno for ST_IO. ROW and DONE are ST_OK. */
status store_db_status(sqlite3 *db, int rc);
/* store_check of any database. */
status store_db_check(sqlite3 *db, struct buf *what);
/* A kept statement, ready to bind. */
MUST_USE status store_db_take(struct store *s, store_sql which, sqlite3_stmt **out);
/* Runs a statement that yields no rows, and resets it. */
MUST_USE status store_db_run(struct store *s, sqlite3_stmt *st);
/* Empty text is stored as NULL. */
void store_db_bind_text(sqlite3_stmt *st, int at, struct span text);
struct span store_db_column(sqlite3_stmt *st, int at);

/* The database as it is at one moment, in a new file; ends a transaction that is open for reading. */
MUST_USE status store_db_copy(sqlite3 *from, const char *path);

#define STORE_NUMBER_OF_KEY \
    "coalesce((SELECT number FROM page_key_new WHERE key = ?1), (SELECT number FROM page_key WHERE key = ?1))"

/* What is known of a page whose rate was never counted: its history, as the rate function sees it. */
uint64_t store_rate_of(const struct store *s, uint64_t rate, struct span history);

/* Moves the new keys to the others once they are many. Part of a commit. */
MUST_USE status store_page_settle(struct store *s);

/* Step i brings a database from version i to version i + 1. */
struct store_migration {
    const char *sql;
};
extern const struct store_migration store_migrations[STORE_SCHEMA];
/* Runs the steps that the database still lacks, each in a transaction of its own that also writes the new version: a
 * kill leaves the database at one version or the next. ST_NEWER when it is past `n` already. */
MUST_USE status store_db_migrate(sqlite3 *db, const struct store_migration *steps, int n);
MUST_USE status store_db_pragma(sqlite3 *db, const char *name, int64_t *value);
