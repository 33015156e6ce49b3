#include "apply/apply.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "cli/page_flags.h"
#include "index/search/search_json.h"
#include "plan/page_rate.h"
#include "store/groups.h"

#define PRINT_AT_BYTES 65536

struct export
{
    struct store *store; /* borrowed */
    struct buf out;
    struct buf cell;
    bool is_csv;
    bool is_all;
    bool has_states;
    /* Fields of pages are in the index; NULL: no page has any. */
    struct index_reader *reader;
    struct index_snapshot *snapshot;
    struct arena arena;
    struct groups *groups; /* near-duplicates */
    struct buf near;
};

/* ---- near-duplicates ---- */

static status note_url(void *arg, const struct page *p)
{
    buf_put(arg, p->url);
    return ST_OK;
}

/* The URL of the page that stands for this one; empty: none does, or it is that itself. */
static struct span near_dup_of(struct export *e, const struct page *p)
{
    struct group g;
    buf_clear(&e->near);
    bool is_one = p->content && groups_get(e->groups, p->key, &g) && g.first != p->key;
    if (is_one && store_page_get(e->store, g.first, note_url, &e->near) != ST_OK)
        buf_clear(&e->near);
    return buf_span(&e->near);
}

static void open_groups(struct export *e, const char *data_dir)
{
    struct buf path = {0};
    groups_path(data_dir, &path);
    e->groups = groups_open(path.p);
    status st = groups_status(e->groups);
    if (st != ST_OK && st != ST_NOT_FOUND)
        (void)complain(EXIT_IO, "export: %s cannot be read (%s): near-duplicates are left out: run orb check", path.p,
                       status_name(st));
    buf_done(&path);
}

/* ---- fields ---- */

/* The pages are worth having without their fields. */
static void leave_fields_out(struct export *e, status st)
{
    index_snapshot_free(e->snapshot);
    e->snapshot = NULL;
    if (st != ST_OK && st != ST_NOT_FOUND)
        (void)complain(EXIT_IO, "export: the index cannot be read (%s): fields of pages are left out", status_name(st));
}

static void open_fields(struct export *e, const char *data_dir)
{
    struct buf dir = {0};
    bool has_fields = false;
    apply_index_dir(data_dir, &dir);
    status st = index_reader_open(buf_cstr(&dir), &e->reader, NULL);
    if (st == ST_OK)
        st = index_reader_snapshot(e->reader, &e->snapshot);
    if (st == ST_OK)
        st = index_has_fields(e->snapshot, &has_fields);
    if (!has_fields)
        leave_fields_out(e, st);
    buf_done(&dir);
}

/* As JSON; a page that the index has of another visit, or not yet, has none. */
static void put_fields(struct export *e, struct json *j, const struct page *p)
{
    struct index_document d = {0};
    status st = ST_NOT_FOUND;
    arena_reset(&e->arena);
    if (e->snapshot && p->content)
        st = index_document(e->snapshot, p->key, &e->arena, &d);
    bool is_it = st == ST_OK && d.fetch_number == p->content;
    search_json_fields(j, d.fields, is_it ? d.field_count : 0);
    if (st != ST_OK && st != ST_NOT_FOUND)
        leave_fields_out(e, st);
}

/* ---- pages ---- */

/* What `status` and `fetched` mean depends on the list: of a good page its good copy, else the last visit. */
static unsigned status_of(const struct export *e, const struct page *p)
{
    bool is_ok = p->http_status >= 200 && p->http_status < 300;
    return e->is_all || is_ok ? p->http_status : 200;
}

static wall_ms time_of(const struct export *e, const struct page *p)
{
    return e->is_all ? p->at : p->good_at;
}

static void put_time(struct export *e, struct json *j, const char *key, wall_ms at)
{
    buf_clear(&e->cell);
    if (at)
        put_iso_time(&e->cell, at);
    json_key(j, key);
    json_text_or_null(j, buf_span(&e->cell));
}

/* Everything that a recrawl, here or elsewhere, wants to know of a page. */
static void put_state(struct export *e, struct json *j, const struct page *p)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"depth", p->depth},
                   {"visits", p->visits},
                   {"changes", p->changes},
                   {"wire_bytes", (int64_t)p->wire_bytes},
                   {"body_bytes", (int64_t)p->body_bytes},
                   {"text_bytes", (int64_t)p->text_bytes},
                   {"dns_us", p->dns_us},
                   {"connect_us", p->connect_us},
                   {"tls_us", p->tls_us},
                   {"first_byte_us", p->first_byte_us},
                   {"total_us", p->total_us}};
    struct span history = p->history;
    wall_ms at = 0;
    bool changed;
    json_key(j, "state");
    json_open(j, '{');
    buf_clear(&e->cell);
    buf_printf(&e->cell, "%016llx", (unsigned long long)p->channel);
    json_key(j, "channel");
    json_text(j, buf_span(&e->cell));
    json_key(j, "etag");
    json_text_or_null(j, p->etag);
    json_key(j, "last_modified");
    json_text_or_null(j, p->last_modified);
    json_key(j, "content_type");
    json_text_or_null(j, p->content_type);
    json_key(j, "address");
    json_text_or_null(j, p->address);
    put_time(e, j, "first_seen", p->first_seen);
    put_time(e, j, "changed", p->changed_at);
    wall_ms listed = 0;
    if (store_listed_get(e->store, p->key, &listed) != ST_OK)
        listed = 0; /* most pages have none */
    put_time(e, j, "listed", listed);
    json_key(j, "changes_a_day");
    if (p->rate)
        json_real(j, 1 / page_rate_days(p->rate, NULL), 6);
    else
        json_null(j);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        json_key(j, numbers[i].name);
        json_i64(j, numbers[i].value);
    }
    json_key(j, "history");
    json_open(j, '[');
    while (store_history_next(&history, &at, &changed)) {
        json_open(j, '[');
        json_i64(j, at / 1000);
        json_bool(j, changed);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void put_json(struct export *e, const struct page *p)
{
    struct json j = {.out = &e->out};
    json_open(&j, '{');
    json_key(&j, "url");
    json_text(&j, p->url);
    json_key(&j, "status");
    json_u64(&j, status_of(e, p));
    buf_clear(&e->cell);
    put_iso_time(&e->cell, time_of(e, p));
    json_key(&j, "fetched");
    json_text(&j, buf_span(&e->cell));
    buf_clear(&e->cell);
    buf_printf(&e->cell, "%016llx", (unsigned long long)p->digest);
    json_key(&j, "digest");
    json_text(&j, buf_span(&e->cell));
    json_key(&j, "title");
    json_text_or_null(&j, p->title);
    json_key(&j, "lang");
    json_text_or_null(&j, p->lang);
    json_key(&j, "canonical");
    json_text_or_null(&j, p->canonical);
    json_key(&j, "near_dup_of");
    json_text_or_null(&j, near_dup_of(e, p));
    json_key(&j, "robots");
    json_page_flags(&j, p->page_flags);
    if (e->is_all) {
        json_key(&j, "outcome");
        json_str(&j, outcome_name(p->outcome));
        json_key(&j, "redirect");
        json_text_or_null(&j, p->redirect);
        json_key(&j, "reason");
        json_text_or_null(&j, p->reason);
    }
    json_key(&j, "fields");
    put_fields(e, &j, p);
    if (e->has_states)
        put_state(e, &j, p);
    json_close(&j, '}');
    buf_putc(&e->out, '\n');
}

/* Text of a page in a cell: control bytes escaped, since the file is often looked at in a terminal. */
static void put_cell(struct export *e, struct span s)
{
    buf_clear(&e->cell);
    put_safe(&e->cell, s);
    put_csv(&e->out, buf_span(&e->cell));
    buf_putc(&e->out, ',');
}

static void put_csv_row(struct export *e, const struct page *p)
{
    struct buf fields = {0};
    struct json j = {.out = &fields};
    put_cell(e, p->url);
    buf_printf(&e->out, "%u,", status_of(e, p));
    put_iso_time(&e->out, time_of(e, p));
    buf_printf(&e->out, ",%016llx,", (unsigned long long)p->digest);
    put_cell(e, p->title);
    put_cell(e, p->lang);
    put_cell(e, p->canonical);
    put_cell(e, near_dup_of(e, p));
    put_page_flags(&e->out, p->page_flags);
    if (e->is_all) {
        buf_printf(&e->out, ",%s,", outcome_name(p->outcome));
        put_cell(e, p->redirect);
        buf_clear(&e->cell);
        put_safe(&e->cell, p->reason);
        put_csv(&e->out, buf_span(&e->cell));
    }
    buf_putc(&e->out, ',');
    put_fields(e, &j, p);
    if (!span_is(buf_span(&fields), "null"))
        put_csv(&e->out, buf_span(&fields));
    buf_putc(&e->out, '\n');
    buf_done(&fields);
}

static status put_page(void *arg, const struct page *p)
{
    struct export *e = arg;
    if (!e->is_all && !page_is_good(p))
        return ST_OK;
    if (e->is_csv)
        put_csv_row(e, p);
    else
        put_json(e, p);
    return e->out.n < PRINT_AT_BYTES || print_buf(&e->out) ? ST_OK : ST_CANCELLED;
}

/* 16 hexadecimal digits, as status prints them. */
static bool parse_channel(struct span text, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < text.n; i++) {
        int digit = ascii_hex(text.p[i]);
        if (digit < 0)
            return false;
        v = v << 4 | (unsigned)digit;
    }
    *out = v;
    return text.n == 16 && v;
}

int cmd_export(const struct options *o)
{
    struct export e = {
        .is_csv = opt_is(o, OPT_FORMAT, "csv"), .is_all = opt_flag(o, OPT_ALL), .has_states = opt_flag(o, OPT_STATES)};
    uint64_t channel = 0;
    struct store *store = NULL;
    if (e.is_csv && opt_flag(o, OPT_JSON))
        return complain(EXIT_USAGE, "export: --format csv and --json contradict each other: give one of them");
    if (e.is_csv && e.has_states)
        return complain(EXIT_USAGE, "export: --states needs JSON lines: leave --format csv out");
    if (opt_cstr(o, OPT_CHANNEL) && !parse_channel(span_str(opt_cstr(o, OPT_CHANNEL)), &channel))
        return complain(EXIT_USAGE, "export: --channel %s: not a channel id: orb status --json lists them",
                        opt_cstr(o, OPT_CHANNEL));
    int code = folder_open("export", opt_cstr(o, OPT_DATA), &store);
    if (code != EXIT_DONE)
        return code;
    if (e.is_csv)
        buf_printf(&e.out, "url,status,fetched,digest,title,lang,canonical,near_dup_of,robots%s,fields\n",
                   e.is_all ? ",outcome,redirect,reason" : "");
    arena_init(&e.arena);
    open_fields(&e, opt_cstr(o, OPT_DATA));
    open_groups(&e, opt_cstr(o, OPT_DATA));
    e.store = store;
    status st = store_page_each(store, channel, put_page, &e);
    print_buf(&e.out);
    if (st != ST_OK && st != ST_CANCELLED)
        code = complain(exit_code_of(st), "export: read data folder %s: %s", opt_cstr(o, OPT_DATA), status_name(st));
    index_snapshot_free(e.snapshot);
    index_reader_free(e.reader);
    arena_done(&e.arena);
    groups_release(e.groups);
    store_free(store);
    buf_done(&e.near);
    buf_done(&e.out);
    buf_done(&e.cell);
    return code;
}
