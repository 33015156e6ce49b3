#include "index/search/search_json.h"

#include <time.h>

#include "base/utf8.h"

/* Characters from one byte of a text to another, the way json_text writes them. */
static uint64_t characters(struct span text, size_t from, size_t to)
{
    uint64_t n = 0;
    for (size_t at = from; at < to && at < text.n; n++)
        utf8_next(text, &at, NULL);
    return n;
}

/* Pairs of first character and count: characters, because most programs count these and few count bytes. */
static void put_marks(struct json *j, const struct marked *m)
{
    uint64_t start = 0;
    size_t at = 0;
    json_open(j, '[');
    for (size_t i = 0; i < m->mark_count; i++) {
        const struct mark *k = &m->marks[i];
        start += characters(m->text, at, k->at);
        json_open(j, '[');
        json_u64(j, start);
        json_u64(j, characters(m->text, k->at, k->at + k->bytes));
        json_close(j, ']');
        at = k->at;
    }
    json_close(j, ']');
}

static void put_time(struct json *j, wall_ms t)
{
    char text[32];
    struct tm tm;
    time_t s = (time_t)(t / 1000);
    if (t > 0 && gmtime_r(&s, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
        json_str(j, text);
    else
        json_null(j);
}

/* Whether a field before number `i` has its name. */
static bool is_repeated(const struct summary_field *f, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (span_eq(f[k].name, f[i].name))
            return true;
    return false;
}

static void put_values(struct json *j, const struct summary_field *f, size_t n, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < n; i++)
        count += span_eq(f[i].name, f[first].name);
    if (count > 1)
        json_open(j, '[');
    for (size_t i = first; i < n; i++)
        if (span_eq(f[i].name, f[first].name))
            json_text(j, f[i].value);
    if (count > 1)
        json_close(j, ']');
}

void search_json_fields(struct json *j, const struct summary_field *f, size_t n)
{
    if (!n) {
        json_null(j);
        return;
    }
    json_open(j, '{');
    for (size_t i = 0; i < n; i++) {
        char name[SUMMARY_FIELD_NAME_MAX + 1];
        if (is_repeated(f, i) || f[i].name.n >= sizeof(name))
            continue;
        memcpy(name, f[i].name.p, f[i].name.n);
        name[f[i].name.n] = '\0';
        json_key(j, name);
        put_values(j, f, n, i);
    }
    json_close(j, '}');
}

static void put_hit(struct json *j, const struct search_hit *h, uint64_t rank)
{
    json_open(j, '{');
    json_key(j, "rank");
    json_u64(j, rank);
    json_key(j, "url");
    json_text(j, h->url);
    json_key(j, "site");
    json_text(j, h->site);
    json_key(j, "title");
    json_text(j, h->title.text);
    json_key(j, "title_marks");
    put_marks(j, &h->title);
    json_key(j, "snippet");
    json_text(j, h->snippet.text);
    json_key(j, "snippet_marks");
    put_marks(j, &h->snippet);
    json_key(j, "words_only");
    json_bool(j, h->is_keywords);
    json_key(j, "fields");
    search_json_fields(j, h->fields, h->field_count);
    json_key(j, "type");
    json_text_or_null(j, span_str(h->type));
    json_key(j, "bytes");
    if (h->bytes)
        json_u64(j, h->bytes);
    else
        json_null(j);
    json_key(j, "lang");
    json_text_or_null(j, span_str(h->lang));
    json_key(j, "fetched");
    put_time(j, h->fetched);
    json_key(j, "changed");
    put_time(j, h->changed);
    json_key(j, "similar");
    json_u64(j, h->similar);
    json_key(j, "score");
    json_real(j, h->score, 4);
    json_close(j, '}');
}

static void put_facet(struct json *j, const char *name, const struct search_facet *f, unsigned n)
{
    json_key(j, name);
    json_open(j, '[');
    for (unsigned i = 0; i < n; i++) {
        json_open(j, '{');
        json_key(j, "name");
        json_text_or_null(j, f[i].name);
        json_key(j, "count");
        json_u64(j, f[i].count);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_facets(struct json *j, const struct search_result *r)
{
    json_open(j, '{');
    json_key(j, "estimates");
    json_bool(j, r->facets_are_estimates);
    put_facet(j, "sites", r->sites, r->site_count);
    put_facet(j, "langs", r->langs, r->lang_count);
    json_close(j, '}');
}

void search_json(const struct search_result *r, const struct search_opts *o, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "query");
    json_text(&j, o->query);
    json_key(&j, "offset");
    json_u64(&j, o->offset);
    json_key(&j, "limit");
    json_u64(&j, o->limit ? o->limit : 10);
    json_key(&j, "total");
    json_u64(&j, r->total);
    json_key(&j, "total_is_estimate");
    json_bool(&j, r->is_estimate);
    json_key(&j, "partial");
    json_bool(&j, r->is_partial);
    json_key(&j, "took_ms");
    json_real(&j, (double)r->cpu_us / 1000, 3);
    json_key(&j, "note");
    json_text_or_null(&j, r->note);
    json_key(&j, "suggestion");
    json_text_or_null(&j, r->suggestion);
    json_key(&j, "results");
    json_open(&j, '[');
    for (size_t i = 0; i < r->hit_count; i++)
        put_hit(&j, &r->hits[i], (uint64_t)o->offset + i + 1);
    json_close(&j, ']');
    json_key(&j, "facets");
    if (o->with_facets)
        put_facets(&j, r);
    else
        json_null(&j);
    json_close(&j, '}');
}
