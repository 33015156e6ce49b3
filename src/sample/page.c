#include "sample/page.h"

#define FIRST_DATE 1609459200 /* 2021-01-01: pages are dated from then on, within DATE_DAYS */
#define DATE_DAYS 1400
#define DAY_S 86400
#define SENTENCES_MAX 16

/* What is drawn for a page: each kind of thing from a stream of its own, so that a title is the same wherever it
 * stands. */
enum { STREAM_TEXT, STREAM_TITLE, STREAM_ABOUT, STREAM_DATE, STREAM_FRAME };

static uint64_t page_seed(uint64_t seed, const struct site *site, unsigned at, unsigned stream)
{
    return seed ^ ((uint64_t)(site - sites) << 48) ^ ((uint64_t)at << 24) ^ ((uint64_t)stream << 16);
}

time_t page_date(uint64_t seed, const struct site *site, unsigned at)
{
    struct rng r;
    rng_seed(&r, page_seed(seed, site, at, STREAM_DATE));
    return FIRST_DATE + (time_t)rng_below(&r, DATE_DAYS) * DAY_S + (time_t)rng_below(&r, DAY_S);
}

void draft_init(struct draft *d, const struct site *site, unsigned at, const struct site_ask *ask, struct buf *out)
{
    *d = (struct draft){.site = site,
                        .at = at,
                        .version = ask->version,
                        .seed = ask->seed,
                        .port = ask->port,
                        .domain = ask->domain,
                        .date = page_date(ask->seed, site, at),
                        .words = words_of(site->lang),
                        .out = out};
    rng_seed(&d->rng, page_seed(ask->seed, site, at, STREAM_FRAME) ^ ask->version);
}

/* ---- small parts ---- */

void put_link(struct buf *out, struct span href, struct span text)
{
    buf_puts(out, "<li><a href=\"");
    put_escaped(out, href);
    buf_printf(out, "\">%.*s</a></li>\n", SPAN_ARG(text));
}

static void draft_link(struct draft *d, unsigned to)
{
    struct buf path = {0}, title = {0};
    site_path(d->site, to, &path);
    page_title(d->site, to, d->seed, &title);
    put_link(d->out, buf_span(&path), buf_span(&title));
    buf_done(&path);
    buf_done(&title);
}

void draft_special_link(struct draft *d, const struct special *sp)
{
    struct buf title = {0};
    put_escaped(&title, span_str(sp->title));
    put_link(d->out, span_str(sp->path), buf_span(&title));
    buf_done(&title);
}

void put_origin(const struct draft *d, struct span host, struct buf *out)
{
    buf_puts(out, "http://");
    site_put_host(out, host, d->domain);
    buf_printf(out, ":%d", d->port);
}

/* "host/path anchor text" */
static void draft_neighbour(struct draft *d, struct span line)
{
    size_t blank = span_find(line, ' ', 0), slash = span_find(line, '/', 0);
    struct buf href = {0}, text = {0};
    put_origin(d, span_cut(line, 0, slash), &href);
    buf_put(&href, span_cut(line, slash, blank - slash));
    put_escaped(&text, span_from(line, blank + 1));
    put_link(d->out, buf_span(&href), buf_span(&text));
    buf_done(&href);
    buf_done(&text);
}

static void draft_neighbours(struct draft *d, bool all)
{
    struct span rest = span_str(d->site->neighbours), line, kept = {0};
    uint64_t n = 0;
    if (rest.n == 0)
        return;
    buf_printf(d->out, "<h2>%s</h2>\n<ul>\n", d->words->neighbours);
    while (span_split(&rest, '\n', &line)) {
        if (all)
            draft_neighbour(d, line);
        else if (rng_below(&d->rng, ++n) == 0)
            kept = line;
    }
    if (!all)
        draft_neighbour(d, kept);
    buf_puts(d->out, "</ul>\n");
}

void draft_sentences(struct draft *d, unsigned count)
{
    const struct words *w = d->words;
    unsigned order[SENTENCES_MAX], n = w->count < SENTENCES_MAX ? w->count : SENTENCES_MAX;
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    buf_puts(d->out, "<p>");
    for (unsigned i = 0; i < count && i < n; i++) {
        unsigned k = i + (unsigned)rng_below(&d->rng, n - i), at = order[k];
        order[k] = order[i];
        buf_printf(d->out, "%s%s", i ? " " : "", w->sentences[at]);
    }
    buf_puts(d->out, "</p>\n");
}

/* ---- titles ---- */

static void writer_for(struct writer *w, const struct site *site, unsigned at, uint64_t seed, unsigned stream,
                       struct buf *out)
{
    struct site_place p = site_place(site, at);
    writer_init(w, p.theme, p.subject >= 0 ? p.theme->subjects[p.subject].f : NULL, page_seed(seed, site, at, stream),
                page_date(seed, site, at), out);
}

void page_title(const struct site *site, unsigned at, uint64_t seed, struct buf *out)
{
    if (at >= site_pages(site)) {
        put_escaped(out, span_str(site->specials[at - site_pages(site)].title));
        return;
    }
    struct site_place p = site_place(site, at);
    struct writer w;
    writer_for(&w, site, at, seed, STREAM_TITLE, out);
    writer_plain(&w, !p.theme ? site->name : p.subject < 0 ? p.theme->name : p.theme->aspects[p.aspect].title);
}

static void page_about(const struct site *site, unsigned at, uint64_t seed, struct buf *out)
{
    struct site_place p = site_place(site, at);
    struct writer w;
    writer_for(&w, site, at, seed, STREAM_ABOUT, out);
    writer_plain(&w, !p.theme ? site->motto : p.subject < 0 ? p.theme->name : p.theme->aspects[p.aspect].about);
}

/* ---- the frame ---- */

static void put_head(struct draft *d, const struct draft_head *h, struct span title)
{
    const char *lang = h->lang ? h->lang : d->site->lang;
    buf_puts(d->out, "<!DOCTYPE html>\n<html");
    if (*lang)
        buf_printf(d->out, " lang=\"%s\"%s", lang, strcmp(lang, "ar") == 0 ? " dir=\"rtl\"" : "");
    buf_printf(d->out, ">\n<head>%s<title>%.*s", h->no_charset ? "" : "<meta charset=\"utf-8\">", SPAN_ARG(title));
    if (!h->is_bare) {
        buf_puts(d->out, " - ");
        put_escaped(d->out, span_str(d->at == 0 ? d->site->motto : d->site->name));
    }
    buf_puts(d->out, "</title>");
    if (h->about.n)
        buf_printf(d->out, "<meta name=\"description\" content=\"%.*s\">", SPAN_ARG(h->about));
    buf_printf(d->out, "%s</head>\n<body>\n", h->extra ? h->extra : "");
}

void draft_begin(struct draft *d, const struct draft_head *h)
{
    struct buf title = {0}, day = {0};
    struct site_place p = {0};
    if (h->title.n)
        buf_put(&title, h->title);
    else
        page_title(d->site, d->at, d->seed, &title);
    put_head(d, h, buf_span(&title));
    if (d->at < site_pages(d->site))
        p = site_place(d->site, d->at);
    if (!h->is_bare && d->at != 0) {
        buf_printf(d->out, "<p><a href=\"/\">%s</a>", d->words->home);
        if (p.theme && p.subject >= 0)
            buf_printf(d->out, " / <a href=\"/%s/\">%s</a>", p.theme->folder, p.theme->name);
        buf_puts(d->out, "</p>\n");
    }
    buf_printf(d->out, "<h1>%.*s</h1>\n", SPAN_ARG(buf_span(&title)));
    struct tm tm;
    char iso[16];
    gmtime_r(&d->date, &tm);
    strftime(iso, sizeof(iso), "%Y-%m-%d", &tm);
    words_date(words_of(p.theme ? p.theme->lang : d->words->lang), d->date, &day);
    buf_printf(d->out, "<p><time datetime=\"%s\">%s</time></p>\n", iso, buf_cstr(&day));
    if (d->version) {
        buf_printf(d->out, "<p>Revision %u.</p>\n", d->version);
        draft_sentences(d, 1);
    }
    buf_done(&title);
    buf_done(&day);
}

void draft_end(struct draft *d, bool is_bare)
{
    if (!is_bare) {
        buf_puts(d->out, "<p><a href=\"/\">");
        put_escaped(d->out, span_str(d->site->name));
        buf_puts(d->out, "</a></p>\n");
    }
    buf_puts(d->out, "</body></html>\n");
}

/* ---- pages of themes ---- */

static void front_links(struct draft *d)
{
    const struct site *site = d->site;
    unsigned at = 1;
    buf_puts(d->out, "<ul>\n");
    for (int i = 0; i < SITE_THEMES_MAX && site->themes[i]; i++) {
        draft_link(d, at);
        at += 1 + site->themes[i]->subject_count * site->themes[i]->aspect_count;
    }
    for (unsigned i = 0; i < site->special_count; i++) {
        if (site->specials[i].is_linked)
            draft_special_link(d, &site->specials[i]);
    }
    buf_puts(d->out, "</ul>\n");
    draft_neighbours(d, true);
}

static void list_links(struct draft *d, const struct theme *t)
{
    buf_puts(d->out, "<ul>\n");
    for (unsigned s = 0; s < t->subject_count; s++)
        draft_link(d, d->at + 1 + s * t->aspect_count);
    buf_puts(d->out, "</ul>\n");
}

static void subject_links(struct draft *d, const struct site_place *p)
{
    const struct theme *t = p->theme;
    unsigned subject = (unsigned)p->subject, own = d->at - p->aspect, list = own - 1 - subject * t->aspect_count;
    buf_printf(d->out, "<h2>%s</h2>\n<ul>\n", d->words->more);
    for (unsigned a = 0; a < t->aspect_count; a++)
        if (a != p->aspect)
            draft_link(d, own + a);
    if (t->subject_count > 1)
        draft_link(d, list + 1 + (subject + 1) % t->subject_count * t->aspect_count + p->aspect);
    buf_puts(d->out, "</ul>\n");
    if (p->aspect == 0)
        draft_neighbours(d, false);
}

static const char *body_of(const struct site *site, const struct site_place *p)
{
    return !p->theme ? site->about : p->subject < 0 ? p->theme->about : p->theme->aspects[p->aspect].body;
}

/* The lists of a site's themes, where these are in different languages, are said to be versions of each other. */
static void put_versions(const struct site *site, struct buf *out)
{
    unsigned at = 1;
    for (int i = 0; i < SITE_THEMES_MAX && site->themes[i]; i++) {
        buf_printf(out, "<link rel=\"alternate\" hreflang=\"%s\" href=\"", site->themes[i]->lang);
        site_path(site, at, out);
        buf_puts(out, "\">");
        at += 1 + site->themes[i]->subject_count * site->themes[i]->aspect_count;
    }
}

static bool has_versions(const struct site *site)
{
    return site->themes[1] && strcmp(site->themes[0]->lang, site->themes[1]->lang) != 0;
}

void draft_theme_page(struct draft *d)
{
    struct site_place p = site_place(d->site, d->at);
    struct buf about = {0}, extra = {0};
    struct writer w;
    page_about(d->site, d->at, d->seed, &about);
    if (!p.theme)
        site_list_links(d->site, &extra);
    d->words = words_of(p.theme ? p.theme->lang : d->site->lang);
    if (p.theme && p.subject < 0 && has_versions(d->site))
        put_versions(d->site, &extra);
    draft_begin(d, &(struct draft_head){
                       .lang = d->words->lang, .about = buf_span(&about), .extra = extra.n ? buf_cstr(&extra) : NULL});
    writer_for(&w, d->site, d->at, d->seed, STREAM_TEXT, d->out);
    writer_blocks(&w, body_of(d->site, &p));
    if (!p.theme)
        front_links(d);
    else if (p.subject < 0)
        list_links(d, p.theme);
    else
        subject_links(d, &p);
    draft_end(d, false);
    buf_done(&extra);
    buf_done(&about);
}

void draft_copy(struct draft *d, const struct site *from, unsigned at, int flags)
{
    if (flags & COPY_EXACT) {
        d->at = at;
        d->date = page_date(d->seed, from, at);
        rng_seed(&d->rng, page_seed(d->seed, from, at, STREAM_FRAME) ^ d->version);
        draft_theme_page(d);
        return;
    }
    struct site_place p = site_place(from, at);
    struct buf title = {0}, about = {0}, extra = {0};
    struct writer w;
    bool is_print = flags & COPY_PRINT;
    d->words = words_of(p.theme ? p.theme->lang : from->lang);
    page_title(from, at, d->seed, &title);
    if (is_print)
        buf_printf(&title, " (%s)", d->words->print);
    page_about(from, at, d->seed, &about);
    if (flags & COPY_CANONICAL) {
        buf_puts(&extra, "<link rel=\"canonical\" href=\"");
        put_origin(d, span_str(from->host), &extra);
        site_path(from, at, &extra);
        buf_puts(&extra, "\">");
    }
    if (!(flags & COPY_DATED))
        d->date = page_date(d->seed, from, at);
    draft_begin(d, &(struct draft_head){.lang = d->words->lang,
                                        .title = buf_span(&title),
                                        .about = buf_span(&about),
                                        .extra = buf_cstr(&extra),
                                        .is_bare = is_print});
    writer_for(&w, from, at, d->seed, STREAM_TEXT, d->out);
    w.no_links = true;
    writer_blocks(&w, body_of(from, &p));
    draft_sentences(d, 1);
    draft_end(d, is_print);
    buf_done(&title);
    buf_done(&about);
    buf_done(&extra);
}
