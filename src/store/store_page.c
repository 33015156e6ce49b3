/* A visit, from start to end: the key is looked for. A page that is new is inserted and its key noted; else the old row
 * is read, combined with the visit in combine() and written back. */
#include "store/store_db.h"

#include <errno.h>

#include "base/pack.h"

#define THIN_BYTES "200"
/* Many: a move then touches a page of the large table for several keys at once. Few: the small table, some 3 MiB, stays
 * in the cache. */
#define NEW_KEYS_MAX 131072

/* One list of columns for writing and reading, so that nothing depends on counting. The key and the URL of a page never
 * change; its channel does so rarely, and by itself, because every write to it is one to its index. */
#define FIELDS(X)    \
    X(fetch_number)  \
    X(outcome)       \
    X(failure)       \
    X(http_status)   \
    X(text_bytes)    \
    X(content_type)  \
    X(depth)         \
    X(page_flags)    \
    X(digest)        \
    X(at)            \
    X(first_seen)    \
    X(changed_at)    \
    X(good_at)       \
    X(visits)        \
    X(changes)       \
    X(body_bytes)    \
    X(wire_bytes)    \
    X(dns_us)        \
    X(connect_us)    \
    X(tls_us)        \
    X(first_byte_us) \
    X(total_us)      \
    X(history)       \
    X(title)         \
    X(lang) X(canonical) X(etag) X(last_modified) X(charset) X(redirect) X(reason) X(address) X(content) X(rate)
#define COLUMNS(X) FIELDS(X) X(key) X(url) X(channel)

enum {
#define AS_PLACE_NUMBER(name) COL_##name,
    COLUMNS(AS_PLACE_NUMBER)
};
#define FIELD_COUNT COL_key /* the first that is not one */

#define AS_NAME(name) #name ", "
#define AS_PLACE(name) ":" #name ", "
#define AS_SET(name) #name " = :" #name ", "
#define NAMES COLUMNS(AS_NAME)

/* The lists end in a comma, so each is closed by something that changes nothing. */
const char *const store_page_sql[SQL_COUNT] = {
    [SQL_PAGE_FIND] = "SELECT " STORE_NUMBER_OF_KEY,
    [SQL_PAGE_INSERT] = "INSERT INTO page (" NAMES "number) VALUES (" COLUMNS(AS_PLACE) "NULL)",
    [SQL_PAGE_KEY] = "INSERT INTO page_key_new VALUES (?1, ?2)",
    [SQL_PAGE_OLD] = "SELECT " NAMES "number FROM page WHERE number = ?1",
    [SQL_PAGE_UPDATE] = "UPDATE page SET " FIELDS(AS_SET) "url = url WHERE number = :number",
    [SQL_PAGE_MOVE] = "UPDATE page SET channel = ?2 WHERE number = ?1",
    [SQL_PAGE_DROP] = "UPDATE page SET content = 0 WHERE number = " STORE_NUMBER_OF_KEY,
    [SQL_PAGE_PUT_RIGHT] = "UPDATE page SET key = ?1, url = ?2 WHERE number = " STORE_NUMBER_OF_KEY,
    [SQL_PAGE_NUMBERED] = "SELECT " NAMES "number FROM page WHERE number = ?1",
    [SQL_PAGE_GET] = "SELECT " NAMES "number FROM page WHERE number = " STORE_NUMBER_OF_KEY,
};
static const char each_sql[] = "SELECT " NAMES "number FROM page ORDER BY number";
static const char each_of_channel_sql[] = "SELECT " NAMES "number FROM page WHERE channel = ?1 ORDER BY number";

static const char after_sql[] =
    "SELECT " NAMES "number FROM page WHERE number > ?2 AND channel = ?1 ORDER BY number LIMIT ?3";

static void bind_time(sqlite3_stmt *st, int at, int32_t us)
{
    if (us >= 0)
        sqlite3_bind_int(st, at, us);
    else
        sqlite3_bind_null(st, at);
}

/* All but key, URL and channel. Places are numbered from 1 in the order of COLUMNS, in an UPDATE as well. */
static void bind_page(sqlite3_stmt *st, const struct page *p)
{
#define NUMBER(name) sqlite3_bind_int64(st, COL_##name + 1, (int64_t)p->name)
#define TEXT(name) store_db_bind_text(st, COL_##name + 1, p->name)
#define TIME(name) bind_time(st, COL_##name + 1, p->name)
    NUMBER(fetch_number), NUMBER(outcome), NUMBER(failure), NUMBER(http_status);
    NUMBER(content), NUMBER(rate), NUMBER(text_bytes), NUMBER(depth), NUMBER(page_flags), NUMBER(digest), NUMBER(at),
        NUMBER(first_seen);
    NUMBER(changed_at), NUMBER(good_at), NUMBER(visits), NUMBER(changes), NUMBER(body_bytes), NUMBER(wire_bytes);
    TIME(dns_us), TIME(connect_us), TIME(tls_us), TIME(first_byte_us), TIME(total_us);
    TEXT(content_type), TEXT(title), TEXT(lang), TEXT(canonical), TEXT(etag), TEXT(last_modified), TEXT(charset);
    TEXT(redirect), TEXT(reason), TEXT(address);
#undef NUMBER
#undef TEXT
#undef TIME
    if (p->history.n)
        sqlite3_bind_blob64(st, COL_history + 1, p->history.p, p->history.n, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, COL_history + 1);
}

/* What an INSERT has besides. */
static void bind_names(sqlite3_stmt *st, const struct page *p)
{
    sqlite3_bind_int64(st, COL_key + 1, (int64_t)p->key);
    sqlite3_bind_text64(st, COL_url + 1, p->url.n ? p->url.p : "", p->url.n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(st, COL_channel + 1, (int64_t)p->channel);
}

static int32_t column_time(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? -1 : sqlite3_column_int(st, at);
}

/* Texts live until the statement steps or is reset. */
static void read_page(sqlite3_stmt *st, struct page *p)
{
#define NUMBER(name, type) p->name = (type)sqlite3_column_int64(st, COL_##name)
#define TEXT(name) p->name = store_db_column(st, COL_##name)
#define TIME(name) p->name = column_time(st, COL_##name)
    NUMBER(key, uint64_t), NUMBER(channel, uint64_t), NUMBER(fetch_number, uint64_t), NUMBER(outcome, uint8_t);
    NUMBER(failure, uint8_t), NUMBER(http_status, uint16_t), NUMBER(text_bytes, uint64_t), NUMBER(depth, uint16_t);
    NUMBER(page_flags, uint16_t), NUMBER(digest, uint64_t), NUMBER(at, wall_ms), NUMBER(first_seen, wall_ms);
    NUMBER(changed_at, wall_ms), NUMBER(good_at, wall_ms), NUMBER(visits, uint32_t), NUMBER(changes, uint32_t);
    NUMBER(body_bytes, uint64_t), NUMBER(wire_bytes, uint64_t), NUMBER(content, uint64_t);
    NUMBER(rate, uint64_t);
    TIME(dns_us), TIME(connect_us), TIME(tls_us), TIME(first_byte_us), TIME(total_us);
    TEXT(content_type), TEXT(history), TEXT(url), TEXT(title), TEXT(lang), TEXT(canonical), TEXT(etag);
    TEXT(last_modified), TEXT(charset), TEXT(redirect), TEXT(reason), TEXT(address);
#undef NUMBER
#undef TEXT
#undef TIME
}

static bool is_good(uint8_t outcome)
{
    return outcome == VISIT_NEW || outcome == VISIT_CHANGED || outcome == VISIT_UNCHANGED;
}

/* History: for each visit a varint of (seconds << 1 | changed); seconds are since 1970 in the newest, and how much
 * earlier in the others. */
bool store_history_next(struct span *history, wall_ms *at, bool *changed)
{
    if (!history->n)
        return false;
    struct unpack u = unpack_of(*history);
    uint64_t v = unpack_var(&u);
    wall_ms seconds = (wall_ms)(v >> 1);
    if (u.bad || seconds > (*at ? *at : INT64_MAX) / 1000) { /* none is before 1970 */
        history->n = 0;
        return false;
    }
    *at = *at ? *at - seconds * 1000 : seconds * 1000;
    *changed = v & 1;
    *history = span_of(u.at, (size_t)(u.end - u.at));
    return true;
}

/* The old history with a visit before it. A clock that went back makes a step of 0. */
static void put_history(struct buf *out, struct span old, wall_ms at, bool changed)
{
    wall_ms now = at > 0 ? at / 1000 : 0, then = 0;
    bool flag;
    buf_clear(out);
    pack_var(out, (uint64_t)now << 1 | changed);
    if (!store_history_next(&old, &then, &flag))
        return;
    then /= 1000;
    pack_var(out, (uint64_t)(now > then ? now - then : 0) << 1 | flag);
    for (int i = 2; i < STORE_HISTORY_MAX && old.n; i++) {
        struct unpack u = unpack_of(old);
        uint64_t v = unpack_var(&u);
        if (u.bad)
            return;
        pack_var(out, v);
        old = span_of(u.at, (size_t)(u.end - u.at));
    }
}

/* Decides between the three good outcomes. */
static uint8_t good_outcome(const struct page *old, const struct page *now)
{
    if (!old->good_at)
        return VISIT_NEW;
    if (now->outcome == VISIT_UNCHANGED || now->digest == old->digest)
        return VISIT_UNCHANGED;
    return VISIT_CHANGED;
}

static void keep_text(struct span *now, struct span old)
{
    if (!now->n)
        *now = old;
}

/* No document came: what was said of the last one holds, unless its visit was followed by one that failed. */
static void keep_words(struct page *now, const struct page *old)
{
    keep_text(&now->title, old->title);
    keep_text(&now->lang, old->lang);
    keep_text(&now->content_type, old->content_type);
    keep_text(&now->charset, old->charset);
    keep_text(&now->canonical, old->canonical);
    keep_text(&now->etag, old->etag);
    keep_text(&now->last_modified, old->last_modified);
    if (is_good(old->outcome))
        keep_text(&now->reason, old->reason);
}

static void keep_copy(struct page *now, const struct page *old)
{
    now->digest = old->digest;
    now->page_flags = old->page_flags;
    now->body_bytes = old->body_bytes;
    now->text_bytes = old->text_bytes;
}

static void keep_copy_texts(struct page *now, const struct page *old)
{
    now->title = old->title;
    now->lang = old->lang;
    now->canonical = old->canonical;
    now->etag = old->etag;
    now->last_modified = old->last_modified;
    now->content_type = old->content_type;
    now->charset = old->charset;
}

/* Which visit's content counts from now on: see struct visit_effect. */
static uint64_t content_after(const struct page *old, const struct page *now)
{
    if (now->outcome == VISIT_ERROR || now->outcome == VISIT_REFUSED || now->http_status == 304)
        return old->content;
    if (!is_good(now->outcome) || !now->has_content)
        return 0;
    bool is_same = old->content && now->outcome == VISIT_UNCHANGED && span_eq(now->title, old->title) &&
                   span_eq(now->canonical, old->canonical) && now->page_flags == old->page_flags;
    return is_same ? old->content : now->fetch_number;
}

/* When a page that has changed did so, as its answer or a list says; 0: neither does. What is not between the two
 * visits is of another change, or wrong. */
static wall_ms changed_when(const struct page *old, const struct page *now, wall_ms listed)
{
    if (now->modified > old->good_at && now->modified <= now->at)
        return now->modified;
    return listed > old->good_at && listed <= now->at ? listed : 0;
}

static uint64_t rate_after(const struct store *s, const struct page *old, const struct page *now, wall_ms changed)
{
    int64_t gap = now->at - old->good_at;
    if (!s->rate || !old->good_at || gap <= 0)
        return old->rate;
    return s->rate(store_rate_of(s, old->rate, old->history), gap, now->outcome == VISIT_CHANGED,
                   changed ? now->at - changed : -1);
}

/* Turns the visit `now` into the row that follows the row `old` (all zero when there is none). `listed`: when lists say
 * that the page changed last. now->modified becomes what is believed of that. */
static void combine(struct store *s, const struct page *old, struct page *now, wall_ms listed)
{
    struct buf *history = &s->history;
    if (now->http_status == 304 && !old->good_at) /* "not modified", of a copy that is not here any more */
        now->outcome = VISIT_ERROR;
    bool good = is_good(now->outcome);
    if (good)
        now->outcome = good_outcome(old, now);
    if (now->outcome == VISIT_UNCHANGED) {
        now->digest = old->digest;
        keep_text(&now->address, old->address);
        if (now->http_status == 304) { /* only then: a page may lose its title and keep its text */
            keep_copy(now, old);
            keep_words(now, old);
        }
    } else if (now->outcome == VISIT_ERROR || now->outcome == VISIT_REFUSED) {
        keep_copy(now, old);
        keep_copy_texts(now, old);
    }
    bool changed = now->outcome == VISIT_CHANGED;
    now->modified = changed ? changed_when(old, now, listed) : 0;
    now->rate = good ? rate_after(s, old, now, now->modified) : old->rate;
    now->content = content_after(old, now);
    now->visits = old->visits + 1;
    now->changes = old->changes + changed;
    now->first_seen = old->visits ? old->first_seen : now->at;
    now->good_at = good ? now->at : old->good_at;
    now->changed_at = changed || now->outcome == VISIT_NEW ? now->at : old->changed_at;
    now->history = old->history;
    if (good) {
        put_history(history, old->history, now->at, changed);
        now->history = buf_span(history);
    }
}

/* The number of the page with this key, or 0. */
static status find(struct store *s, uint64_t key, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_FIND, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    int rc = sqlite3_step(statement);
    st = store_db_status(s->db, rc);
    if (st == ST_OK)
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return st;
}

static status note_key(struct store *s, uint64_t key, int64_t number)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_KEY, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    sqlite3_bind_int64(statement, 2, number);
    s->new_keys++;
    return store_db_run(s, statement);
}

static status move(struct store *s, int64_t number, uint64_t channel)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_MOVE, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, number);
    sqlite3_bind_int64(statement, 2, (int64_t)channel);
    return store_db_run(s, statement);
}

static void tell(const struct page *old, const struct page *now, struct visit_effect *out)
{
    *out = (struct visit_effect){.outcome = (visit_outcome)now->outcome,
                                 .page_flags = now->page_flags,
                                 .content_before = old->content,
                                 .content = now->content,
                                 .changed_at = now->changed_at,
                                 .modified = now == old ? 0 : now->modified,
                                 .rate = now->rate};
}

static status insert(struct store *s, const struct page *visit, struct visit_effect *effect)
{
    static const struct page none;
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_INSERT, &statement);
    if (st != ST_OK)
        return st;
    struct page now = *visit;
    combine(s, &none, &now, 0);
    tell(&none, &now, effect);
    bind_page(statement, &now);
    bind_names(statement, &now);
    st = store_db_run(s, statement);
    return st == ST_OK ? note_key(s, now.key, sqlite3_last_insert_rowid(s->db)) : st;
}

static status write_back(struct store *s, const struct page *visit, int64_t number, sqlite3_stmt *old_row,
                         struct visit_effect *effect)
{
    struct page old, now = *visit;
    sqlite3_stmt *statement = NULL;
    read_page(old_row, &old);
    if (visit->fetch_number <= old.fetch_number) {
        tell(&old, &old, effect);
        return ST_OK;
    }
    wall_ms listed = 0;
    status st = store_listed_get(s, visit->key, &listed);
    if (st == ST_OK || st == ST_NOT_FOUND)
        st = store_db_take(s, SQL_PAGE_UPDATE, &statement);
    if (st != ST_OK)
        return st;
    combine(s, &old, &now, listed);
    tell(&old, &now, effect);
    bind_page(statement, &now);
    sqlite3_bind_int64(statement, FIELD_COUNT + 1, number);
    st = store_db_run(s, statement);
    return st == ST_OK && now.channel != old.channel ? move(s, number, now.channel) : st;
}

/* ---- from another folder ---- */

static uint8_t outcome_of_copy(uint16_t http)
{
    if ((http >= 200 && http < 300) || http == 304)
        return VISIT_UNCHANGED;
    if (http >= 300 && http < 400)
        return VISIT_REDIRECT;
    return http == 404 || http == 410 ? VISIT_GONE : VISIT_ERROR;
}

/* A page that gave no answer lately, and has a digest or a validator, is one that there was a good copy of. */
static bool has_copy(const struct page *p)
{
    uint8_t outcome = outcome_of_copy(p->http_status);
    return is_good(outcome) || (outcome == VISIT_ERROR && (p->digest || p->etag.n || p->last_modified.n));
}

/* The row that a copy becomes; `old` is all zero when there is none. */
static struct page restored(const struct page *copy, const struct page *old, struct buf *history)
{
    struct page p = *old;
    p.key = copy->key;
    p.url = copy->url;
    p.channel = copy->channel;
    p.depth = copy->depth;
    p.at = copy->at;
    p.http_status = copy->http_status;
    p.outcome = outcome_of_copy(copy->http_status);
    p.failure = copy->http_status ? ST_OK : old->failure;
    bool changed = old->good_at && copy->digest != old->digest;
    if (changed)
        p.content = 0; /* of a text that is not the page's any more */
    p.digest = copy->digest;
    p.etag = copy->etag;
    p.last_modified = copy->last_modified;
    p.page_flags = copy->page_flags;
    p.rate = copy->rate ? copy->rate : old->rate;
    p.first_seen = old->visits ? old->first_seen : copy->at;
    p.visits = old->visits ? old->visits : 1;
    if (!old->visits)
        p.dns_us = p.connect_us = p.tls_us = p.first_byte_us = p.total_us = -1;
    if (has_copy(copy)) {
        p.good_at = copy->at;
        if (!old->good_at || changed)
            p.changed_at = copy->at;
        if (is_good(p.outcome)) {
            put_history(history, old->history, copy->at, changed);
            p.history = buf_span(history);
        }
    }
    return p;
}

static status put_row(struct store *s, const struct page *p, int64_t number)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, number ? SQL_PAGE_UPDATE : SQL_PAGE_INSERT, &statement);
    if (st != ST_OK)
        return st;
    bind_page(statement, p);
    if (number) {
        sqlite3_bind_int64(statement, FIELD_COUNT + 1, number);
        return store_db_run(s, statement);
    }
    bind_names(statement, p);
    st = store_db_run(s, statement);
    return st == ST_OK ? note_key(s, p->key, sqlite3_last_insert_rowid(s->db)) : st;
}

static status restore_inside(struct store *s, const struct page *copy, bool *is_new_good)
{
    struct page old = {0};
    sqlite3_stmt *old_row = NULL;
    int64_t number = 0;
    status st = find(s, copy->key, &number);
    if (st == ST_OK && number)
        st = store_db_take(s, SQL_PAGE_OLD, &old_row);
    if (st == ST_OK && number) {
        sqlite3_bind_int64(old_row, 1, number);
        int rc = sqlite3_step(old_row);
        st = rc == SQLITE_DONE ? ST_CORRUPT : store_db_status(s->db, rc);
        if (st == ST_OK)
            read_page(old_row, &old);
    }
    if (st == ST_OK && (!number || copy->at > old.at)) {
        struct page p = restored(copy, &old, &s->history);
        *is_new_good = is_good(p.outcome) && !(number && is_good(old.outcome));
        st = put_row(s, &p, number);
        if (st == ST_OK && number && p.channel != old.channel)
            st = move(s, number, p.channel);
    }
    if (old_row)
        sqlite3_reset(old_row);
    return st;
}

status store_page_restore(struct store *s, const struct page *p, bool *is_new_good)
{
    bool ignored;
    if (!is_new_good)
        is_new_good = &ignored;
    *is_new_good = false;
    if (!sqlite3_get_autocommit(s->db))
        return restore_inside(s, p, is_new_good);
    status st = store_begin(s);
    if (st == ST_OK)
        st = restore_inside(s, p, is_new_good);
    if (st == ST_OK)
        st = store_commit(s);
    int saved = errno;
    if (st != ST_OK)
        store_rollback(s);
    errno = saved;
    return st;
}

/* ---- visits ---- */

static status update(struct store *s, const struct page *visit, int64_t number, struct visit_effect *effect)
{
    sqlite3_stmt *old_row = NULL;
    status st = store_db_take(s, SQL_PAGE_OLD, &old_row);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(old_row, 1, number);
    int rc = sqlite3_step(old_row);
    st = rc == SQLITE_DONE ? ST_CORRUPT : store_db_status(s->db, rc);
    if (st == ST_OK)
        st = write_back(s, visit, number, old_row, effect);
    sqlite3_reset(old_row);
    return st;
}

static status visit_inside(struct store *s, const struct page *p, struct visit_effect *effect)
{
    int64_t number = 0;
    if (p->fetch_number > s->last_fetch_now)
        s->last_fetch_now = p->fetch_number;
    status st = find(s, p->key, &number);
    if (st != ST_OK)
        return st;
    return number ? update(s, p, number, effect) : insert(s, p, effect);
}

status store_page_visit(struct store *s, const struct page *p, struct visit_effect *effect)
{
    struct visit_effect ignored;
    if (!effect)
        effect = &ignored;
    if (!sqlite3_get_autocommit(s->db))
        return visit_inside(s, p, effect);
    status st = store_begin(s);
    if (st == ST_OK)
        st = visit_inside(s, p, effect);
    if (st == ST_OK)
        st = store_commit(s);
    int saved = errno;
    if (st != ST_OK)
        store_rollback(s);
    errno = saved;
    return st;
}

status store_page_settle(struct store *s)
{
    if (s->new_keys < NEW_KEYS_MAX)
        return ST_OK;
    int rc = sqlite3_exec(s->db,
                          "INSERT INTO page_key SELECT key, number FROM page_key_new ORDER BY key;"
                          "DELETE FROM page_key_new",
                          NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        s->new_keys = 0;
    return store_db_status(s->db, rc);
}

static status get_one(struct store *s, store_sql which, uint64_t key, store_page_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, which, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    int rc = sqlite3_step(statement);
    st = rc == SQLITE_DONE ? ST_NOT_FOUND : store_db_status(s->db, rc);
    if (st == ST_OK) {
        struct page p;
        read_page(statement, &p);
        st = fn(arg, &p);
    }
    sqlite3_reset(statement);
    return st;
}

status store_page_get(struct store *s, uint64_t key, store_page_fn *fn, void *arg)
{
    return get_one(s, SQL_PAGE_GET, key, fn, arg);
}

status store_page_numbered(struct store *s, uint64_t number, store_page_fn *fn, void *arg)
{
    return get_one(s, SQL_PAGE_NUMBERED, number, fn, arg);
}

visit_outcome visit_outcome_of(bool is_refused, status failure, unsigned http_status)
{
    if (is_refused)
        return VISIT_REFUSED;
    if (failure != ST_OK)
        return VISIT_ERROR;
    if (http_status == 304)
        return VISIT_UNCHANGED;
    if (http_status >= 200 && http_status < 300)
        return VISIT_NEW;
    if (http_status >= 300 && http_status < 400)
        return VISIT_REDIRECT;
    return http_status == 404 || http_status == 410 ? VISIT_GONE : VISIT_ERROR;
}

status store_page_drop_content(struct store *s, uint64_t key)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_DROP, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    return store_db_run(s, statement);
}

status store_page_put_right(struct store *s, uint64_t key, struct span url)
{
    sqlite3_stmt *statement = NULL;
    status st = store_db_take(s, SQL_PAGE_PUT_RIGHT, &statement);
    if (st != ST_OK)
        return st;
    sqlite3_bind_int64(statement, 1, (int64_t)key);
    store_db_bind_text(statement, 2, url);
    return store_db_run(s, statement);
}

static status each(struct store *s, sqlite3_stmt *statement, store_page_fn *fn, void *arg)
{
    status st = ST_OK;
    int rc = SQLITE_OK;
    while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        struct page p;
        read_page(statement, &p);
        st = fn(arg, &p);
    }
    if (st == ST_OK)
        st = store_db_status(s->db, rc);
    return st;
}

status store_page_each(struct store *s, uint64_t channel, store_page_fn *fn, void *arg)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, channel ? each_of_channel_sql : each_sql, -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    if (st == ST_OK && channel)
        sqlite3_bind_int64(statement, 1, (int64_t)channel);
    if (st == ST_OK)
        st = each(s, statement, fn, arg);
    sqlite3_finalize(statement);
    return st;
}

status store_page_after(struct store *s, uint64_t channel, uint64_t after, unsigned max, store_page_fn *fn, void *arg,
                        uint64_t *last)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, after_sql, -1, &statement, NULL);
    status st = store_db_status(s->db, rc);
    unsigned n = 0;
    uint64_t number = 0;
    if (st == ST_OK) {
        sqlite3_bind_int64(statement, 1, (int64_t)channel);
        sqlite3_bind_int64(statement, 2, (int64_t)after);
        sqlite3_bind_int64(statement, 3, max);
        while (st == ST_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
            struct page p;
            read_page(statement, &p);
            number = (uint64_t)sqlite3_column_int64(statement, sqlite3_column_count(statement) - 1);
            n++;
            st = fn(arg, &p);
        }
        if (st == ST_OK)
            st = store_db_status(s->db, rc);
    }
    sqlite3_finalize(statement);
    if (st == ST_OK)
        *last = n == max ? number : 0;
    return st;
}

static void add_count(struct page_counts *c, uint8_t outcome, uint64_t n)
{
    c->known += n;
    if (is_good(outcome))
        c->good += n;
    else if (outcome == VISIT_REDIRECT)
        c->redirects += n;
    else if (outcome == VISIT_GONE)
        c->gone += n;
    else if (outcome == VISIT_ERROR)
        c->errors += n;
    else
        c->refused += n;
}

/* 32: PAGE_LIST. Where the server says no type, what was read as text was read as HTML, and has a charset. */
static const char counts_sql[] =
    "SELECT outcome, count(*), total(html), total(html AND text_bytes < " THIN_BYTES
    "), list FROM (SELECT outcome, text_bytes, page_flags & 32 <> 0 AS list,"
    " coalesce(content_type LIKE 'text/html%' OR content_type LIKE 'application/xhtml+xml%',"
    " charset IS NOT NULL) AS html FROM page) GROUP BY outcome, list";

status store_page_counts(struct store *s, struct page_counts *out)
{
    struct page_counts c = {0};
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, counts_sql, -1, &statement, NULL);
    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(statement);
        if (rc != SQLITE_ROW)
            break;
        uint8_t outcome = (uint8_t)sqlite3_column_int(statement, 0);
        uint64_t n = (uint64_t)sqlite3_column_int64(statement, 1);
        if (is_good(outcome) && sqlite3_column_int(statement, 4)) {
            c.known += n;
            c.lists += n;
            continue;
        }
        add_count(&c, outcome, n);
        if (!is_good(outcome))
            continue;
        uint64_t html = (uint64_t)sqlite3_column_int64(statement, 2);
        c.html += html;
        c.not_html += n - html;
        c.thin += (uint64_t)sqlite3_column_int64(statement, 3);
    }
    status st = store_db_status(s->db, rc);
    if (st == ST_OK)
        *out = c;
    sqlite3_finalize(statement);
    return st;
}

status store_page_good(struct store *s, uint64_t *out)
{
    /* 2: VISIT_UNCHANGED, and what is good is not above it. 32: PAGE_LIST. */
    static const char sql[] = "SELECT count(*) FROM page WHERE outcome <= 2 AND page_flags & 32 = 0";
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *out = (uint64_t)sqlite3_column_int64(statement, 0);
    status st = rc == SQLITE_ROW ? ST_OK : store_db_status(s->db, rc);
    sqlite3_finalize(statement);
    return st;
}
