#include "apply/apply.h"
#include "cli/command.h"
#include "cli/folder.h"
#include "cli/format.h"
#include "codec/json.h"
#include "crawl/channel.h"
#include "index/index.h"
#include "io/clock.h"
#include "plan/frontier.h"

#define HOSTS_SHOWN 10 /* that wait, for people; --json has all */

struct state {
    const char *dir;
    struct store *store;
    struct page_counts counts;
    struct buf progress; /* JSON by the engine; empty: none */
    long writer;
    uint64_t disk_bytes;
    struct index_stats index; /* zero: there is none */
    status index_status;
    wall_ms now;
    bool is_json;
    struct json j;
    struct buf out;
    size_t hosts_waiting;
};

/* ---- channels ---- */

static const char *scope_name(channel_scope scope)
{
    return scope == SCOPE_DOMAIN ? "domain" : scope == SCOPE_PREFIX ? "prefix" : "site";
}

static status put_channel(void *arg, uint64_t id, struct span packed)
{
    struct state *s = arg;
    struct channel *c = NULL;
    if (channel_unpack(packed, &c) != ST_OK)
        return ST_CORRUPT;
    const struct channel_opts *opts = channel_get_opts(c);
    if (s->is_json) {
        struct buf hex = {0};
        buf_printf(&hex, "%016llx", (unsigned long long)id);
        json_open(&s->j, '{');
        json_key(&s->j, "id");
        json_text(&s->j, buf_span(&hex));
        json_key(&s->j, "scope");
        json_str(&s->j, scope_name(opts->scope));
        json_key(&s->j, "depth");
        json_u64(&s->j, opts->depth_max);
        json_key(&s->j, "seeds");
        json_open(&s->j, '[');
        for (size_t i = 0; i < opts->seed_count; i++)
            json_text(&s->j, opts->seeds[i]);
        json_close(&s->j, ']');
        json_close(&s->j, '}');
        buf_done(&hex);
    } else {
        buf_puts(&s->out, "  channel     ");
        if (opts->seed_count)
            put_safe(&s->out, opts->seeds[0]);
        if (opts->seed_count > 1) {
            buf_puts(&s->out, " and ");
            put_count(&s->out, opts->seed_count - 1);
            buf_puts(&s->out, " more");
        }
        buf_printf(&s->out, ", scope %s, depth %u\n", scope_name(opts->scope), opts->depth_max);
    }
    channel_free(c);
    return ST_OK;
}

/* ---- hosts ---- */

static void put_host(struct state *s, const struct frontier_info *h)
{
    int64_t wait_ms = h->next_ok > s->now ? h->next_ok - s->now : 0;
    if (s->is_json) {
        json_open(&s->j, '{');
        json_key(&s->j, "host");
        json_text(&s->j, h->name);
        json_key(&s->j, "queued");
        json_u64(&s->j, h->queued);
        json_key(&s->j, "failures");
        json_u64(&s->j, h->failures);
        json_key(&s->j, "last_failure");
        if (h->last_failure != ST_OK)
            json_str(&s->j, status_name(h->last_failure));
        else
            json_null(&s->j);
        json_key(&s->j, "last_http");
        json_i64(&s->j, h->last_http);
        json_key(&s->j, "given_up");
        json_bool(&s->j, h->is_given_up);
        json_key(&s->j, "wait_ms");
        json_i64(&s->j, wait_ms);
        json_close(&s->j, '}');
        return;
    }
    buf_puts(&s->out, "    ");
    put_safe(&s->out, h->name);
    buf_puts(&s->out, ": ");
    put_count(&s->out, h->queued);
    buf_printf(&s->out, " waiting, %u failures in a row", h->failures);
    if (h->last_failure != ST_OK)
        buf_printf(&s->out, " (%s)", status_name(h->last_failure));
    else if (h->last_http)
        buf_printf(&s->out, " (HTTP %d)", h->last_http);
    if (h->is_given_up)
        buf_puts(&s->out, ", left for the next run");
    else if (wait_ms) {
        buf_puts(&s->out, ", next try in ");
        put_clock(&s->out, (uint64_t)wait_ms / 1000);
    }
    buf_putc(&s->out, '\n');
}

static status see_host(void *arg, struct span host, struct span packed)
{
    struct state *s = arg;
    struct frontier_info info;
    if (frontier_info_read(packed, &info) != ST_OK)
        return ST_CORRUPT;
    if (info.queued && info.failures) {
        s->hosts_waiting++;
        if (s->is_json || s->hosts_waiting <= HOSTS_SHOWN)
            put_host(s, &info);
    }
    frontier_info_done(&info);
    return ST_OK;
}

/* ---- the two forms ---- */

static status put_json(struct state *s)
{
    const struct page_counts *c = &s->counts;
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"visited", c->known},
                  {"pages", c->good},
                  {"redirects", c->redirects},
                  {"gone", c->gone},
                  {"errors", c->errors},
                  {"refused", c->refused},
                  {"html", c->html},
                  {"not_html", c->not_html},
                  {"lists", c->lists},
                  {"thin", c->thin},
                  {"disk_bytes", s->disk_bytes},
                  {"index_docs", s->index.docs},
                  {"index_bytes", s->index.bytes},
                  {"index_segments", s->index.segments}};
    struct json *j = &s->j;
    json_open(j, '{');
    json_key(j, "data");
    json_str(j, s->dir);
    json_key(j, "running");
    json_bool(j, s->writer != 0);
    json_key(j, "pid");
    if (s->writer)
        json_i64(j, s->writer);
    else
        json_null(j);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        json_key(j, counts[i].name);
        json_u64(j, counts[i].value);
    }
    json_key(j, "progress");
    if (s->progress.n)
        json_raw(j, buf_span(&s->progress));
    else
        json_null(j);
    json_key(j, "channels");
    json_open(j, '[');
    status st = store_channel_each(s->store, put_channel, s);
    json_close(j, ']');
    json_key(j, "hosts_waiting");
    json_open(j, '[');
    if (st == ST_OK)
        st = store_host_each(s->store, see_host, s);
    json_close(j, ']');
    json_close(j, '}');
    buf_putc(&s->out, '\n');
    return st;
}

static void put_row(struct buf *out, const char *name, uint64_t n, const char *note)
{
    struct buf number = {0};
    put_count(&number, n);
    buf_printf(out, "  %-11s %10s%s%s\n", name, buf_cstr(&number), note[0] ? "  " : "", note);
    buf_done(&number);
}

static status put_text(struct state *s)
{
    const struct page_counts *c = &s->counts;
    uint64_t queued = json_peek_u64(buf_span(&s->progress), "queued");
    if (s->writer)
        buf_printf(&s->out, "%s: process %ld crawls now\n", s->dir, s->writer);
    else
        buf_printf(&s->out, "%s: no crawl runs%s\n", s->dir, queued ? "; run the same command to go on" : "");
    status st = store_channel_each(s->store, put_channel, s);
    put_row(&s->out, "pages", c->good, "");
    if (c->not_html)
        put_row(&s->out, "not HTML", c->not_html, "of them");
    if (c->lists)
        put_row(&s->out, "lists", c->lists, "sitemaps and feeds, besides");
    if (c->thin)
        put_row(&s->out, "thin", c->thin, "of them: under 200 bytes of text, they may need scripts to show more");
    if (s->index_status == ST_OK)
        put_row(&s->out, "searchable", s->index.docs, "");
    else if (s->index_status != ST_NOT_FOUND)
        buf_printf(&s->out, "  searchable  the index cannot be read (%s): run orb check\n",
                   status_name(s->index_status));
    put_row(&s->out, "redirects", c->redirects, "");
    put_row(&s->out, "gone", c->gone, "");
    put_row(&s->out, "errors", c->errors, "");
    put_row(&s->out, "refused", c->refused, "");
    if (s->progress.n)
        put_row(&s->out, "waiting", queued, "");
    struct buf size = {0};
    put_bytes(&size, s->disk_bytes);
    buf_printf(&s->out, "  %-11s %10s\n", "disk", buf_cstr(&size));
    buf_done(&size);
    size_t mark = s->out.n;
    if (st == ST_OK)
        st = store_host_each(s->store, see_host, s);
    if (s->hosts_waiting > HOSTS_SHOWN) {
        buf_puts(&s->out, "    and ");
        put_count(&s->out, s->hosts_waiting - HOSTS_SHOWN);
        buf_puts(&s->out, " more\n");
    }
    if (s->hosts_waiting) {
        struct buf tail = {0};
        buf_put(&tail, span_from(buf_span(&s->out), mark));
        s->out.n = mark;
        put_row(&s->out, "hosts", s->hosts_waiting, "that do not answer:");
        buf_put(&s->out, buf_span(&tail));
        buf_done(&tail);
    }
    return st;
}

static void look_at_index(struct state *s)
{
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct buf dir = {0};
    apply_index_dir(s->dir, &dir);
    s->index_status = index_reader_open(dir.p, &reader, NULL);
    if (s->index_status == ST_OK)
        s->index_status = index_reader_snapshot(reader, &snapshot);
    if (snapshot)
        index_snapshot_stats(snapshot, &s->index);
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    buf_done(&dir);
}

int cmd_status(const struct options *o)
{
    struct state s = {.dir = opt_cstr(o, OPT_DATA), .is_json = opt_flag(o, OPT_JSON), .now = clock_wall()};
    s.j.out = &s.out;
    int code = folder_open("status", s.dir, &s.store);
    if (code != EXIT_DONE)
        return code;
    s.writer = folder_writer(s.dir);
    s.disk_bytes = folder_bytes(s.dir);
    look_at_index(&s);
    status st = store_page_counts(s.store, &s.counts);
    if (st == ST_OK) {
        st = store_setting_get(s.store, "progress", &s.progress);
        st = st == ST_NOT_FOUND ? ST_OK : st;
    }
    if (st == ST_OK)
        st = s.is_json ? put_json(&s) : put_text(&s);
    if (st == ST_OK)
        print_buf(&s.out);
    else
        code = complain(exit_code_of(st), "status: read data folder %s: %s", s.dir, status_name(st));
    store_free(s.store);
    buf_done(&s.progress);
    buf_done(&s.out);
    return code;
}
