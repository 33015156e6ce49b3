#include "cli/crawl_report.h"

#include "cli/command.h"
#include "cli/format.h"
#include "crawl/channel.h"

const char *crawl_end_name(crawl_end end)
{
    static const char *const names[] = {"complete", "pages", "time", "stopped", "failed"};
    return names[end];
}

/* ---- for people ---- */

static void row(struct buf *out, const char *name, uint64_t n)
{
    struct buf number = {0};
    put_count(&number, n);
    buf_printf(out, "  %-11s %10s", name, buf_cstr(&number));
    buf_done(&number);
}

static void put_kind(struct buf *out, const char *name, uint64_t n)
{
    if (n == 0)
        return;
    buf_puts(out, out->n ? ", " : "");
    put_count(out, n);
    buf_printf(out, " %s", name);
}

static void put_errors(const struct crawl_stats *s, struct buf *out)
{
    struct buf kinds = {0};
    put_kind(&kinds, "HTTP 4xx", s->http_4xx);
    put_kind(&kinds, "HTTP 5xx", s->http_5xx);
    for (status st = ST_OK + 1; st < ST_MAX; st++)
        put_kind(&kinds, status_name(st), s->errors_by_kind[st]);
    row(out, "errors", s->errors);
    if (kinds.n)
        buf_printf(out, "  %s", buf_cstr(&kinds));
    buf_putc(out, '\n');
    buf_done(&kinds);
}

static void put_pages(const struct crawl_stats *s, struct buf *out)
{
    struct buf parts = {0};
    put_kind(&parts, "fetched now", s->fetched);
    put_kind(&parts, "unchanged", s->unchanged);
    put_kind(&parts, "known from before", s->resumed);
    row(out, "pages", s->pages);
    if (parts.n)
        buf_printf(out, "  %s", buf_cstr(&parts));
    buf_putc(out, '\n');
    buf_done(&parts);
}

static void put_row_if(struct buf *out, const char *name, uint64_t n, const char *note)
{
    if (n == 0)
        return;
    row(out, name, n);
    buf_printf(out, "%s%s\n", note[0] ? "  " : "", note);
}

const char *pdf_left_note(status pdf_state)
{
    return pdf_state == ST_REFUSED ? "known by name: this kernel has no Landlock to lock pdftotext up with"
                                   : "known by name: install poppler-utils, and they are read the next time";
}

static void put_documents(const struct crawl_stats *s, struct buf *out)
{
    struct buf parts = {0};
    if (!s->not_html)
        return;
    put_kind(&parts, "read", s->not_html - s->not_read);
    put_kind(&parts, "known by name, type and size", s->not_read);
    row(out, "not HTML", s->not_html);
    buf_printf(out, "  %s\n", buf_cstr(&parts));
    buf_done(&parts);
    put_row_if(out, "PDF unread", s->pdf_failed, PDF_UNREAD_NOTE);
    put_row_if(out, "PDF left", s->pdf_left, pdf_left_note(s->pdf_state));
}

static void put_part(struct buf *out, uint64_t n, const char *says)
{
    if (!n)
        return;
    buf_puts(out, out->n ? "; in " : "in ");
    put_count(out, n);
    buf_puts(out, says);
}

/* The options that keep what lists name from being followed. */
static void put_options(struct buf *out, unsigned verdicts)
{
    static const char *const options[] = {[CHANNEL_OUT_OF_SCOPE] = "--scope",
                                          [CHANNEL_TOO_DEEP] = "--depth",
                                          [CHANNEL_NOT_INCLUDED] = "--include",
                                          [CHANNEL_EXCLUDED] = "--exclude"};
    const char *before = ": see ";
    for (unsigned i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i] && verdicts & 1u << i) {
            buf_printf(out, "%s%s", before, options[i]);
            before = ", ";
        }
}

static void put_lists(const struct crawl_stats *s, struct buf *out)
{
    struct buf parts = {0}, note = {0};
    put_part(&parts, s->lists_elsewhere, " of them nothing is in scope: see --scope");
    put_part(&parts, s->lists_left, " of them nothing is followed");
    put_options(&parts, s->lists_left_by);
    put_part(&parts, s->lists_too_far, " of them are more lists than are followed: see --sitemap");
    buf_printf(&note, "sitemaps and feeds: %s", parts.n ? buf_cstr(&parts) : "what they list was followed");
    put_row_if(out, "lists", s->lists, buf_cstr(&note));
    buf_done(&parts);
    buf_done(&note);
}

static void put_program(const struct program_state *p, struct buf *out)
{
    if (!p)
        return;
    row(out, "program", p->pages - p->errors);
    buf_printf(out, "  pages asked %s about%s\n", p->name, p->serial ? "" : "; it was given up");
    if (!p->errors)
        return;
    row(out, "", p->errors);
    buf_puts(out, "  went wrong, the last: ");
    put_safe(out, span_str(p->last_error));
    buf_puts(out, "\n");
}

static void put_transfer(const struct crawl_report *r, struct buf *out)
{
    const struct crawl_stats *s = r->stats;
    struct buf value = {0};
    put_bytes(&value, s->bytes_wire);
    buf_printf(out, "  %-11s %10s  in ", "received", buf_cstr(&value));
    put_seconds(out, s->seconds_ms);
    if (s->seconds_ms)
        buf_printf(out, ", %.1f pages/s", (double)s->fetched * 1000 / (double)s->seconds_ms);
    buf_clear(&value);
    put_bytes(&value, r->peak_rss);
    buf_printf(out, "\n  %-11s %10s  at most\n", "memory", buf_cstr(&value));
    buf_done(&value);
}

static void put_end(const struct crawl_report *r, struct buf *out)
{
    const struct crawl_stats *s = r->stats;
    switch (r->end) {
    case CRAWL_COMPLETE:
        buf_puts(out, s->queued_given_up
                          ? "finished but for hosts that do not answer; run the same command to try them again\n"
                          : "finished; the same command again looks for changes\n");
        if (s->index_docs)
            buf_puts(out, "try: orb search WORDS, or orb serve for a search page\n");
        break;
    case CRAWL_LIMIT_PAGES:
        buf_puts(out, "stopped at --pages ");
        put_count(out, r->pages_max);
        buf_puts(out, "; the same command with a higher limit goes on\n");
        break;
    case CRAWL_LIMIT_TIME:
        buf_puts(out, "stopped at --max-time; run the same command to go on\n");
        break;
    case CRAWL_STOPPED:
        buf_puts(out, "stopped; run the same command to go on\n");
        break;
    case CRAWL_FAILED:
        buf_puts(out, "broken off; run the same command to go on\n");
        break;
    }
}

void crawl_report_text(const struct crawl_report *r, struct buf *out)
{
    const struct crawl_stats *s = r->stats;
    put_pages(s, out);
    put_row_if(out, "searchable", s->index_docs, "");
    put_row_if(out, "redirects", s->redirects, "");
    put_row_if(out, "gone", s->gone, "404 or 410");
    put_errors(s, out);
    put_program(r->program, out);
    put_row_if(out, "refused", s->refused_robots, "by robots.txt");
    put_row_if(out, "parked", s->parked_traps, "look endless: see orb explain URL");
    put_lists(s, out);
    put_documents(s, out);
    put_row_if(out, "thin", s->thin, "under 200 bytes of text: they may need scripts to show more");
    put_row_if(out, "slowed", s->slowed_hosts, "hosts ask for more than 120 s between requests: 120 s used");
    put_row_if(out, "waiting", s->queued, r->end == CRAWL_COMPLETE ? "" : "known, not yet visited");
    if (s->hosts_given_up) {
        row(out, "no answer", s->hosts_given_up);
        buf_puts(out, s->hosts_given_up == 1 ? "  host, with " : "  hosts, with ");
        put_count(out, s->queued_given_up);
        buf_puts(out, " waiting URLs\n");
    }
    put_transfer(r, out);
    buf_printf(out, "%s: ", r->data_dir);
    put_end(r, out);
}

/* ---- for programs ---- */

static void put_u64(struct json *j, const char *key, uint64_t v)
{
    json_key(j, key);
    json_u64(j, v);
}

void crawl_report_json(const struct crawl_report *r, struct buf *out)
{
    const struct crawl_stats *s = r->stats;
    struct json j = {.out = out};
    double seconds = (double)s->seconds_ms / 1000;
    json_open(&j, '{');
    put_u64(&j, "pages", s->pages);
    put_u64(&j, "fetched", s->fetched);
    put_u64(&j, "unchanged", s->unchanged);
    put_u64(&j, "errors", s->errors);
    put_u64(&j, "bytes", s->bytes_wire);
    json_key(&j, "seconds");
    json_real(&j, seconds, 3);
    json_key(&j, "pages_per_s");
    json_real(&j, s->seconds_ms ? (double)s->fetched / seconds : 0, 2);
    put_u64(&j, "peak_rss_bytes", r->peak_rss);
    if (r->program) {
        json_key(&j, "program");
        json_open(&j, '{');
        json_key(&j, "name");
        json_str(&j, r->program->name);
        put_u64(&j, "pages", r->program->pages);
        put_u64(&j, "errors", r->program->errors);
        json_key(&j, "last_error");
        json_text_or_null(&j, span_str(r->program->last_error));
        json_close(&j, '}');
    }
    json_key(&j, "end");
    json_str(&j, crawl_end_name(r->end));
    json_key(&j, "pass");
    json_i64(&j, s->pass);
    const struct {
        const char *name;
        uint64_t value;
    } more[] = {
        {"resumed", s->resumed},
        {"redirects", s->redirects},
        {"gone", s->gone},
        {"refused_robots", s->refused_robots},
        {"parked", s->parked_traps},
        {"not_html", s->not_html},
        {"not_read", s->not_read},
        {"pdf_failed", s->pdf_failed},
        {"pdf_left", s->pdf_left},
        {"thin", s->thin},
        {"lists", s->lists},
        {"lists_out_of_scope", s->lists_elsewhere},
        {"lists_left_out", s->lists_left},
        {"lists_too_far", s->lists_too_far},
        {"robots_fetched", s->robots_fetched},
        {"requests", s->requests},
        {"retries", s->retries},
        {"body_bytes", s->bytes_body},
        {"known_urls", s->known_urls},
        {"queued", s->queued},
        {"queued_given_up", s->queued_given_up},
        {"hosts", s->hosts},
        {"hosts_waiting", s->hosts_waiting},
        {"hosts_given_up", s->hosts_given_up},
        {"slowed_hosts", s->slowed_hosts},
        {"frontier_bytes", s->frontier_memory},
        {"hosts_bytes", s->hosts_memory},
        {"seen_bytes", s->seen_memory},
        {"disk_bytes", s->disk_bytes},
        {"index_docs", s->index_docs},
        {"index_bytes", s->index_bytes},
        {"index_segments", s->index_segments},
    };
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
        put_u64(&j, more[i].name, more[i].value);
    json_key(&j, "errors_by_kind");
    json_open(&j, '{');
    if (s->http_4xx)
        put_u64(&j, "http_4xx", s->http_4xx);
    if (s->http_5xx)
        put_u64(&j, "http_5xx", s->http_5xx);
    for (status st = ST_OK + 1; st < ST_MAX; st++)
        if (s->errors_by_kind[st])
            put_u64(&j, status_name(st), s->errors_by_kind[st]);
    json_close(&j, '}');
    json_close(&j, '}');
    buf_putc(out, '\n');
}
