/* page_status.c - what the crawl and the index are doing: for people, as JSON, and for Prometheus. */
#include <stdio.h>

#include "codec/json.h"
#include "io/clock.h"
#include "serve/html.h"
#include "serve/page.h"
#include "serve/request.h"

/* ---- the page ---- */

/* The sentence on top; status.js writes the same ones. */
static void put_state(struct buf *out, const struct watch_now *n)
{
    if (n->is_running)
        buf_puts(out, n->pass > 1 ? "A crawl is running: it looks for changes." : "A crawl is running.");
    else if (n->was_killed) {
        buf_puts(out, "The last crawl was interrupted ");
        html_duration(out, (n->at - n->crawl_at) / 1000);
        buf_puts(out, " ago. The same command goes on where it was.");
    } else if (n->has_crawl) {
        buf_puts(out, "No crawl is running. The last one ended ");
        html_duration(out, (n->at - n->crawl_at) / 1000);
        buf_puts(out, n->queued ? " ago with pages left to visit." : " ago.");
    } else
        buf_puts(out, "No crawl has run here yet.");
}

static void put_number(struct buf *out, const char *name, const char *key, uint64_t value, bool is_bytes)
{
    buf_printf(out, "<div><dt>%s</dt><dd data-key=\"%s\"%s>", name, key, is_bytes ? " data-unit=\"bytes\"" : "");
    if (is_bytes)
        html_bytes(out, value);
    else
        html_count(out, value);
    buf_puts(out, "</dd></div>");
}

static void put_numbers(struct buf *out, const struct watch_now *n)
{
    buf_puts(out, "<section aria-labelledby=\"crawl-h\"><h2 id=\"crawl-h\">Crawl</h2><dl class=\"numbers\">");
    buf_printf(out, "<div><dt>Pages a second</dt><dd data-key=\"crawl.pages_per_s\" data-unit=\"rate\">%.1f</dd></div>",
               n->pages_per_s);
    put_number(out, "Pages", "crawl.pages", n->pages, false);
    put_number(out, "Waiting URLs", "crawl.queued", n->queued, false);
    put_number(out, "Known URLs", "crawl.known_urls", n->known_urls, false);
    put_number(out, "Errors", "crawl.errors", n->errors, false);
    put_number(out, "Hosts", "crawl.hosts", n->hosts, false);
    put_number(out, "Hosts in back-off", "crawl.hosts_backoff", n->hosts_backoff, false);
    put_number(out, "Hosts given up", "crawl.hosts_given_up", n->hosts_given_up, false);
    put_number(out, "Received", "crawl.bytes", n->bytes, true);
    buf_puts(out, "</dl></section>\n<section aria-labelledby=\"index-h\"><h2 id=\"index-h\">Index</h2>");
    if (!n->has_index && n->index_status != ST_NOT_FOUND)
        buf_printf(out, "<p class=\"notice warn\">The index cannot be read (%s).</p>", status_name(n->index_status));
    else if (!n->has_index)
        buf_puts(out, "<p class=\"notice\">There is no index yet: <code>orb crawl</code> makes one.</p>");
    buf_puts(out, "<dl class=\"numbers\">");
    put_number(out, "Pages", "index.docs", n->index.docs, false);
    put_number(out, "Size", "index.bytes", n->index.bytes, true);
    put_number(out, "Segments", "index.segments", n->index.segments, false);
    put_number(out, "Removed", "index.deleted", n->index.deleted, false);
    put_number(out, "Commits", "index.generation", n->index.generation, false);
    buf_puts(out, "</dl></section>\n");
}

static void put_chart(struct buf *out, const char *id, const char *name)
{
    buf_printf(
        out,
        "<figure><figcaption>%s</figcaption><div><canvas id=\"chart-%s\" role=\"img\" aria-label=\"Chart: %s. The "
        "numbers are on this page too.\"></canvas></div></figure>",
        name, id, name);
}

static void put_kinds(struct buf *out, const struct watch_now *n)
{
    buf_puts(out, "<section aria-labelledby=\"errors-h\"><h2 id=\"errors-h\">Errors by kind</h2>"
                  "<div class=\"beside\"><table><thead><tr><th scope=\"col\">Kind</th><th scope=\"col\" "
                  "class=\"n\">Count</th></tr></thead>"
                  "<tbody id=\"kinds\">");
    for (unsigned i = 0; i < n->kind_count; i++) {
        if (n->kinds[i].count == 0)
            continue;
        buf_puts(out, "<tr><th scope=\"row\">");
        html_text(out, span_str(n->kinds[i].name));
        buf_puts(out, "</th><td class=\"n\">");
        html_count(out, n->kinds[i].count);
        buf_puts(out, "</td></tr>");
    }
    if (n->errors == 0)
        buf_puts(out, "<tr><th scope=\"row\">none</th><td class=\"n\">0</td></tr>");
    buf_puts(out, "</tbody></table><div class=\"charts\" id=\"kinds-chart\" hidden>");
    put_chart(out, "kinds", "Errors of this run");
    buf_puts(out, "</div></div></section>\n");
}

static void put_hosts(const struct page_request *r, struct buf *out)
{
    struct watch_host hosts[WATCH_HOSTS_SHOWN];
    uint64_t total = 0;
    size_t n = watch_hosts(r->s->watch, r->arena, hosts, WATCH_HOSTS_SHOWN, &total);
    buf_puts(out, "<section aria-labelledby=\"hosts-h\"><h2 id=\"hosts-h\">Hosts in back-off</h2>");
    buf_printf(out, "<p id=\"no-hosts\"%s>Every host that was asked lately answers.</p>", n ? " hidden" : "");
    buf_printf(out,
               "<div class=\"scroll\"><table id=\"hosts-table\"%s><thead><tr><th scope=\"col\">Host</th><th "
               "scope=\"col\">Why</th>"
               "<th scope=\"col\" class=\"n\">Failures</th><th scope=\"col\" class=\"n\">Waiting URLs</th>"
               "<th scope=\"col\" class=\"n\">Next try</th></tr></thead><tbody id=\"hosts\">",
               n ? "" : " hidden");
    for (size_t i = 0; i < n; i++) {
        buf_puts(out, "<tr><th scope=\"row\"><bdi>");
        html_text(out, hosts[i].name);
        buf_puts(out, "</bdi></th><td>");
        html_text(out, hosts[i].reason);
        buf_printf(out, "</td><td class=\"n\">%u</td><td class=\"n\">", hosts[i].failures);
        html_count(out, hosts[i].queued);
        buf_puts(out, "</td><td class=\"n\">");
        if (hosts[i].is_given_up)
            buf_puts(out, "next run");
        else if (hosts[i].wait_ms) {
            buf_puts(out, "in ");
            html_duration(out, hosts[i].wait_ms / 1000);
        } else
            buf_puts(out, "due");
        buf_puts(out, "</td></tr>");
    }
    buf_puts(out, "</tbody></table></div>");
    if (total > n) {
        buf_puts(out, "<p>And ");
        html_count(out, total - n);
        buf_puts(out, " more.</p>");
    }
    buf_puts(out, "</section>\n");
}

/* Filled by status.js; without scripts they are not shown, and the numbers above say the same. */
static void put_charts(struct buf *out)
{
    static const char *const charts[][2] = {{"rate", "Pages a second"},
                                            {"queue", "Waiting URLs"},
                                            {"backoff", "Hosts in back-off"},
                                            {"index", "Index size"}};
    buf_puts(out, "<section id=\"charts\" aria-labelledby=\"charts-h\" hidden><h2 id=\"charts-h\">Last half hour</h2>"
                  "<div class=\"charts\">");
    for (size_t i = 0; i < sizeof(charts) / sizeof(*charts); i++)
        buf_printf(
            out,
            "<figure><figcaption>%s</figcaption><div><canvas id=\"chart-%s\" role=\"img\" aria-label=\"Chart: %s. The "
            "numbers are on this page too.\"></canvas></div></figure>",
            charts[i][1], charts[i][0], charts[i][1]);
    buf_puts(out, "</div></section>\n");
}

void page_status(const struct page_request *r, struct httpd_answer *ans)
{
    static const char *const scripts[] = {"chart.min.js", "charts.js", "status.js", NULL};
    struct watch_now n;
    struct buf *out = &ans->body;
    watch_get(r->s->watch, &n);
    page_headers(ans, PAGE_HTML, "no-store");
    page_begin(r, out, AT_STATUS, SPAN("Status"), SPAN(""));
    buf_puts(out, "<div class=\"status\"><h1>Status</h1><p id=\"state\" role=\"status\" aria-live=\"polite\">");
    put_state(out, &n);
    buf_puts(out, "</p>\n<noscript><p class=\"notice\">This page shows how things stood when it was loaded. "
                  "<a href=\"/status\">Load it again</a> to see them now.</p></noscript>\n");
    put_charts(out);
    put_numbers(out, &n);
    put_kinds(out, &n);
    put_hosts(r, out);
    buf_puts(out, "</div>\n");
    page_end(r, out, AT_STATUS, scripts);
}

/* ---- JSON ---- */

static void field_u64(struct json *j, const char *name, uint64_t v)
{
    json_key(j, name);
    json_u64(j, v);
}

static void field_bool(struct json *j, const char *name, bool v)
{
    json_key(j, name);
    json_bool(j, v);
}

static void put_crawl_json(struct json *j, const struct watch_now *n)
{
    json_key(j, "crawl");
    if (!n->has_crawl) {
        json_null(j);
        return;
    }
    json_open(j, '{');
    field_bool(j, "running", n->is_running);
    field_bool(j, "interrupted", n->was_killed);
    field_u64(j, "at", (uint64_t)n->crawl_at);
    json_key(j, "pages_per_s");
    json_real(j, n->pages_per_s, 2);
    const struct {
        const char *name;
        uint64_t v;
    } fields[] = {{"pass", n->pass},
                  {"pages", n->pages},
                  {"fetched", n->fetched},
                  {"unchanged", n->unchanged},
                  {"errors", n->errors},
                  {"queued", n->queued},
                  {"known_urls", n->known_urls},
                  {"hosts", n->hosts},
                  {"hosts_backoff", n->hosts_backoff},
                  {"hosts_given_up", n->hosts_given_up},
                  {"parked", n->traps},
                  {"bytes", n->bytes},
                  {"seconds", n->seconds}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        field_u64(j, fields[i].name, fields[i].v);
    json_key(j, "errors_by_kind");
    json_open(j, '{');
    for (unsigned i = 0; i < n->kind_count; i++)
        field_u64(j, n->kinds[i].name, n->kinds[i].count);
    json_close(j, '}');
    json_close(j, '}');
}

static void put_index_json(struct json *j, const struct watch_now *n)
{
    json_key(j, "index");
    if (n->has_index) {
        json_open(j, '{');
        field_u64(j, "docs", n->index.docs);
        field_u64(j, "deleted", n->index.deleted);
        field_u64(j, "segments", n->index.segments);
        field_u64(j, "bytes", n->index.bytes);
        field_u64(j, "generation", n->index.generation);
        json_close(j, '}');
    } else
        json_null(j);
    json_key(j, "index_problem");
    if (n->has_index || n->index_status == ST_NOT_FOUND)
        json_null(j);
    else
        json_str(j, status_name(n->index_status));
}

static void put_hosts_json(const struct page_request *r, struct json *j)
{
    struct watch_host hosts[WATCH_HOSTS_SHOWN];
    uint64_t total = 0;
    size_t n = watch_hosts(r->s->watch, r->arena, hosts, WATCH_HOSTS_SHOWN, &total);
    json_key(j, "hosts_backoff");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(j, '{');
        json_key(j, "host");
        json_text(j, hosts[i].name);
        json_key(j, "reason");
        json_text(j, hosts[i].reason);
        field_u64(j, "failures", hosts[i].failures);
        field_u64(j, "queued", hosts[i].queued);
        field_u64(j, "wait_ms", (uint64_t)hosts[i].wait_ms);
        field_bool(j, "given_up", hosts[i].is_given_up);
        json_close(j, '}');
    }
    json_close(j, ']');
    field_u64(j, "hosts_backoff_total", total);
}

static void put_serve_json(struct serve *s, struct json *j)
{
    const struct serve_counters *c = &s->counters;
    json_key(j, "serve");
    json_open(j, '{');
    field_u64(j, "uptime_s", (uint64_t)(clock_mono() - s->started) / 1000);
    field_u64(j, "searches", atomic_load(&c->searches));
    field_u64(j, "searches_partial", atomic_load(&c->searches_partial));
    field_u64(j, "waiting", workers_waiting(s->workers));
    json_close(j, '}');
}

/* Columns, oldest first: shorter than a list of objects by two thirds. */
static void put_history_json(struct serve *s, struct arena *a, struct json *j)
{
    struct watch_sample *h = arena_alloc(a, WATCH_SAMPLES * sizeof(*h));
    size_t n = watch_history(s->watch, h, WATCH_SAMPLES);
    json_key(j, "history");
    json_open(j, '{');
#define COLUMN(name, put, expr)        \
    do {                               \
        json_key(j, name);             \
        json_open(j, '[');             \
        for (size_t i = 0; i < n; i++) \
            put(j, expr);              \
        json_close(j, ']');            \
    } while (0)
    COLUMN("at", json_i64, h[i].at);
    json_key(j, "pages_per_s");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++)
        json_real(j, (double)h[i].pages_per_s, 2);
    json_close(j, ']');
    COLUMN("queued", json_u64, h[i].queued);
    COLUMN("errors", json_u64, h[i].errors);
    COLUMN("hosts_backoff", json_u64, h[i].hosts_backoff);
    COLUMN("index_docs", json_u64, h[i].index_docs);
    COLUMN("index_bytes", json_u64, h[i].index_bytes);
#undef COLUMN
    json_close(j, '}');
}

void page_status_json(const struct page_request *r, struct httpd_answer *ans)
{
    struct watch_now n;
    struct json j = {.out = &ans->body};
    watch_get(r->s->watch, &n);
    page_headers(ans, PAGE_JSON, "no-store");
    json_open(&j, '{');
    field_u64(&j, "version", 1);
    field_u64(&j, "at", (uint64_t)n.at);
    field_u64(&j, "step_ms", WATCH_STEP_MS);
    put_crawl_json(&j, &n);
    put_index_json(&j, &n);
    put_hosts_json(r, &j);
    put_serve_json(r->s, &j);
    if (span_is(request_param(r->arena, r->query, "history"), "1"))
        put_history_json(r->s, r->arena, &j);
    json_close(&j, '}');
    buf_putc(&ans->body, '\n');
}

/* ---- Prometheus ---- */

static void metric(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metric_u64(struct buf *out, const char *name, const char *type, const char *help, uint64_t v)
{
    metric(out, name, type, help);
    buf_printf(out, "%s %llu\n", name, (unsigned long long)v);
}

/* A label value: backslash, quote and newline escaped, as the text format asks. */
static void put_label(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\\' || c == '"')
            buf_putc(out, '\\');
        if (c == '\n')
            buf_puts(out, "\\n");
        else
            buf_putc(out, c);
    }
}

static void put_crawl_metrics(struct buf *out, const struct watch_now *n)
{
    metric_u64(out, "orb_crawl_running", "gauge", "1 while a crawl writes to the folder.", n->is_running);
    if (!n->has_crawl)
        return;
    metric_u64(out, "orb_crawl_pages", "gauge", "Good pages in the folder.", n->pages);
    metric_u64(out, "orb_crawl_fetched_total", "counter", "Pages got with 2xx by the current or last run.", n->fetched);
    metric_u64(out, "orb_crawl_unchanged_total", "counter", "Visits that found a page as before.", n->unchanged);
    metric_u64(out, "orb_crawl_received_bytes_total", "counter", "Bytes received, before decompression.", n->bytes);
    metric_u64(out, "orb_crawl_queue_urls", "gauge", "URLs known and not yet visited.", n->queued);
    metric_u64(out, "orb_crawl_known_urls", "gauge", "URLs known.", n->known_urls);
    metric_u64(out, "orb_crawl_hosts", "gauge", "Hosts known.", n->hosts);
    metric_u64(out, "orb_crawl_hosts_backoff", "gauge", "Hosts that rest after failures.", n->hosts_backoff);
    metric_u64(out, "orb_crawl_hosts_given_up", "gauge", "Hosts left for the next run.", n->hosts_given_up);
    metric_u64(out, "orb_crawl_parked_urls", "gauge", "URLs that look endless and were put aside.", n->traps);
    metric(out, "orb_crawl_pages_per_second", "gauge", "Pages a second over the last seconds.");
    buf_printf(out, "orb_crawl_pages_per_second %.2f\n", n->pages_per_s);
    metric(out, "orb_crawl_last_progress_timestamp_seconds", "gauge", "When the crawl last wrote its progress.");
    buf_printf(out, "orb_crawl_last_progress_timestamp_seconds %.3f\n", (double)n->crawl_at / 1000);
    metric(out, "orb_crawl_errors_total", "counter", "Requests that ended in an error, after all retries, by kind.");
    uint64_t told = 0;
    for (unsigned i = 0; i < n->kind_count; i++) {
        buf_puts(out, "orb_crawl_errors_total{kind=\"");
        put_label(out, span_str(n->kinds[i].name));
        buf_printf(out, "\"} %llu\n", (unsigned long long)n->kinds[i].count);
        told += n->kinds[i].count;
    }
    if (n->kind_count == 0 || told < n->errors)
        buf_printf(out, "orb_crawl_errors_total{kind=\"other\"} %llu\n",
                   (unsigned long long)(n->errors > told ? n->errors - told : 0));
}

static void put_index_metrics(struct buf *out, const struct watch_now *n)
{
    metric_u64(out, "orb_index_up", "gauge", "1 while the index can be read.", n->has_index);
    if (!n->has_index)
        return;
    metric_u64(out, "orb_index_docs", "gauge", "Pages that can be found.", n->index.docs);
    metric_u64(out, "orb_index_deleted_docs", "gauge", "Removed pages that a merge will clear.", n->index.deleted);
    metric_u64(out, "orb_index_segments", "gauge", "Segments of the index.", n->index.segments);
    metric_u64(out, "orb_index_bytes", "gauge", "Size of the index on disk.", n->index.bytes);
    metric_u64(out, "orb_index_generation", "gauge", "Commits so far.", n->index.generation);
}

static void put_serve_metrics(struct buf *out, struct serve *s)
{
    struct serve_counters *c = &s->counters;
    metric(out, "orb_serve_info", "gauge", "The program that answers.");
    buf_puts(out, "orb_serve_info{version=\"");
    put_label(out, span_str(s->version));
    buf_puts(out, "\"} 1\n");
    metric(out, "orb_serve_uptime_seconds", "gauge", "Since the server was started.");
    buf_printf(out, "orb_serve_uptime_seconds %lld\n", (long long)(clock_mono() - s->started) / 1000);
    metric(out, "orb_serve_responses_total", "counter", "Answers by class of status code.");
    for (int i = 2; i <= 5; i++)
        buf_printf(out, "orb_serve_responses_total{code=\"%dxx\"} %llu\n", i,
                   (unsigned long long)atomic_load(&c->by_code[i]));
    metric(out, "orb_serve_refused_total", "counter", "Requests refused before they cost anything, by reason.");
    buf_printf(out, "orb_serve_refused_total{reason=\"rate\"} %llu\n", (unsigned long long)atomic_load(&c->limited));
    buf_printf(out, "orb_serve_refused_total{reason=\"busy\"} %llu\n", (unsigned long long)atomic_load(&c->overfull));
    buf_printf(out, "orb_serve_refused_total{reason=\"host\"} %llu\n", (unsigned long long)atomic_load(&c->wrong_host));
    metric_u64(out, "orb_serve_waiting_requests", "gauge", "Requests that wait for a worker.",
               workers_waiting(s->workers));
    metric_u64(out, "orb_serve_not_modified_total", "counter", "Searches answered with 304.",
               atomic_load(&c->not_modified));
    metric_u64(out, "orb_serve_searches_partial_total", "counter", "Searches stopped at their time limit.",
               atomic_load(&c->searches_partial));
    metric_u64(out, "orb_serve_searches_failed_total", "counter", "Searches that the index could not answer.",
               atomic_load(&c->searches_failed));
    metric(out, "orb_serve_search_seconds", "histogram", "Time that searches took on their worker.");
    unsigned long long sum = 0;
    for (int i = 0; i < TIMING_BUCKETS; i++) {
        sum += atomic_load(&c->timing[i]);
        if (i < TIMING_BUCKETS - 1)
            buf_printf(out, "orb_serve_search_seconds_bucket{le=\"%g\"} %llu\n", timing_bounds[i], sum);
        else
            buf_printf(out, "orb_serve_search_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
    }
    buf_printf(out, "orb_serve_search_seconds_sum %.6f\norb_serve_search_seconds_count %llu\n",
               (double)atomic_load(&c->timing_us) / 1e6, sum);
}

void page_metrics(const struct page_request *r, struct httpd_answer *ans)
{
    struct watch_now n;
    watch_get(r->s->watch, &n);
    page_headers(ans, "text/plain; version=0.0.4; charset=utf-8", "no-store");
    put_crawl_metrics(&ans->body, &n);
    put_index_metrics(&ans->body, &n);
    put_serve_metrics(&ans->body, r->s);
}
