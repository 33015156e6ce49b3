#include "cli/import_report.h"

#include "cli/crawl_report.h"
#include "cli/format.h"
#include "codec/json.h"

static void row(struct buf *out, const char *name, uint64_t n, const char *note)
{
    struct buf number = {0};
    if (!n)
        return;
    put_count(&number, n);
    buf_printf(out, "  %-11s %10s%s%s\n", name, buf_cstr(&number), note[0] ? "  " : "", note);
    buf_done(&number);
}

static uint64_t others(const struct import_counts *n)
{
    return n->records - n->types[WARC_TYPE_RESPONSE] - n->types[WARC_TYPE_RESOURCE] - n->types[WARC_TYPE_REVISIT];
}

void import_report_text(const struct import_report *r, struct buf *out)
{
    const struct import_counts *n = r->n;
    struct buf value = {0};
    row(out, "records", n->records, "");
    row(out, "taken", n->taken, "answers, as visits of their dates");
    row(out, "known", n->known, "the folder has that visit, or a later one");
    row(out, "out of it", n->out_of_scope, "not of the channel: see --scope, --include, --exclude");
    row(out, "forgotten", n->forgotten, "of places that stay out: see orb forget --list");
    row(out, "no pages", n->no_page, "other schemes, robots.txt, parts, answers to anything but GET");
    row(out, "no original", n->no_original, "revisits whose body is in none of the files");
    row(out, "passed over", others(n), "requests, metadata and the like");
    row(out, "bad", n->bad, "damaged, cut short, or no answers: left out");
    row(out, "PDF unread", r->stats->pdf_failed, PDF_UNREAD_NOTE);
    row(out, "PDF left", r->stats->pdf_left, pdf_left_note(r->stats->pdf_state));
    row(out, "pages", r->stats->pages, "in the folder");
    row(out, "searchable", r->stats->index_docs, "");
    row(out, "waiting", r->stats->queued, "links that nobody has followed yet");
    put_bytes(&value, r->bytes);
    buf_printf(out, "  %-11s %10s  in ", "read", buf_cstr(&value));
    put_seconds(out, r->stats->seconds_ms);
    buf_clear(&value);
    put_bytes(&value, r->peak_rss);
    buf_printf(out, "\n  %-11s %10s  at most\n", "memory", buf_cstr(&value));
    buf_printf(out, "%s: %s\n", r->data_dir,
               r->is_stopped  ? "stopped; run the same command to go on"
               : r->has_index ? "imported; orb crawl URL goes on from there, orb search finds it"
                              : "imported; orb crawl URL goes on from there");
    buf_done(&value);
}

static void put_u64(struct json *j, const char *key, uint64_t v)
{
    json_key(j, key);
    json_u64(j, v);
}

void import_report_json(const struct import_report *r, struct buf *out)
{
    const struct import_counts *n = r->n;
    const struct crawl_stats *s = r->stats;
    struct json j = {.out = out};
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {{"files", r->files},
                  {"archives", r->archives},
                  {"bytes", r->bytes},
                  {"records", n->records},
                  {"taken", n->taken},
                  {"not_modified", n->unchanged},
                  {"known", n->known},
                  {"out_of_scope", n->out_of_scope},
                  {"forgotten", n->forgotten},
                  {"no_page", n->no_page},
                  {"no_original", n->no_original},
                  {"bad", n->bad},
                  {"problems", n->problems},
                  {"pages", s->pages},
                  {"fetched", s->fetched},
                  {"unchanged", s->unchanged},
                  {"redirects", s->redirects},
                  {"gone", s->gone},
                  {"errors", s->errors},
                  {"pdf_failed", s->pdf_failed},
                  {"pdf_left", s->pdf_left},
                  {"queued", s->queued},
                  {"known_urls", s->known_urls},
                  {"index_docs", s->index_docs},
                  {"peak_rss_bytes", r->peak_rss}};
    json_open(&j, '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
        put_u64(&j, counts[i].name, counts[i].value);
    json_key(&j, "seconds");
    json_real(&j, (double)s->seconds_ms / 1000, 3);
    json_key(&j, "end");
    json_str(&j, r->is_stopped ? "stopped" : "complete");
    json_key(&j, "types");
    json_open(&j, '{');
    for (int i = 0; i < WARC_TYPE_COUNT; i++)
        put_u64(&j, warc_type_name((warc_type)i), n->types[i]);
    json_close(&j, '}');
    json_close(&j, '}');
    buf_putc(out, '\n');
}
