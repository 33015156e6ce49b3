/* site_pages.c - what the sites answer: one small function a kind of page. */
#include "sample/page.h"

#include "base/utf8.h"
#include "codec/zip.h"
#include "sample/gzip.h"
#include "sample/pdf.h"
#include "sample/texts.h"

#define DAY_S 86400
#define SENTENCES 5 /* of a page without a text of its own */
#define CALENDAR_LINKS 25
#define CALENDAR_MONTH_MAX 1000000

/* A page of loose sentences, with own ones before them and markup behind. */
static void plain_page(struct draft *d, const struct draft_head *head, const char *own, const char *markup)
{
    draft_begin(d, head);
    if (own) {
        struct writer w;
        writer_init(&w, NULL, NULL, d->seed ^ d->at, d->date, d->out);
        writer_blocks(&w, own);
    }
    draft_sentences(d, own ? SENTENCES - 2 : SENTENCES);
    buf_puts(d->out, markup);
    draft_end(d, false);
}

static void article_page(struct draft *d, const struct article *a)
{
    struct buf about = {0};
    struct writer w;
    put_escaped(&about, span_str(a->about));
    draft_begin(d, &(struct draft_head){.lang = a->lang ? a->lang : "", .about = buf_span(&about)});
    writer_init(&w, NULL, NULL, d->seed ^ d->at, d->date, d->out);
    writer_blocks(&w, a->body);
    draft_end(d, false);
    buf_done(&about);
}

static void copy_page(struct draft *d, const struct special *sp)
{
    struct span to = span_str(sp->text);
    const struct site *from = d->site;
    if (span_starts(to, SPAN("//"))) {
        size_t slash = span_find(to, '/', 2);
        from = site_of(span_cut(to, 2, slash - 2), SITE_DOMAIN);
        to = span_from(to, slash);
    }
    int at = from ? site_find(from, to) : -1;
    if (at >= 0 && (unsigned)at < site_pages(from))
        draft_copy(d, from, (unsigned)at, sp->number);
}

static void maze_page(struct draft *d)
{
    draft_begin(d, &(struct draft_head){0});
    draft_sentences(d, SENTENCES);
    put_link(d->out, SPAN("deeper/"), SPAN("deeper"));
    draft_end(d, false);
}

static void calendar_page(struct draft *d, struct span target)
{
    uint64_t month = 0;
    struct span query = span_from(target, span_find(target, '=', 0) + 1);
    (void)span_u64(query, CALENDAR_MONTH_MAX, &month);
    draft_begin(d, &(struct draft_head){.extra = "<meta name=\"robots\" content=\"noindex\">"});
    buf_printf(d->out, "<p>Month %llu.</p>\n", (unsigned long long)month);
    draft_sentences(d, SENTENCES);
    for (unsigned i = 1; i <= CALENDAR_LINKS; i++)
        buf_printf(d->out, "<a href=\"/calendar?month=%llu\">%llu</a>\n", (unsigned long long)(month + i),
                   (unsigned long long)(month + i));
    draft_end(d, false);
}

/* The title of the special at `path`, which is one of the site's. */
static const char *title_at(const struct site *site, struct span path)
{
    for (unsigned i = 0; i < site->special_count; i++)
        if (span_is(path, site->specials[i].path))
            return site->specials[i].title;
    return site->name;
}

static void session_page(struct draft *d, const char *paths, unsigned hits)
{
    struct span rest = span_str(paths), path;
    struct buf href = {0};
    draft_begin(d, &(struct draft_head){0});
    draft_sentences(d, SENTENCES);
    while (span_split(&rest, ' ', &path)) {
        buf_clear(&href);
        buf_put(&href, path);
        buf_printf(&href, "%cPHPSESSID=%016llx", span_find(path, '?', 0) < path.n ? '&' : '?',
                   (unsigned long long)rng_u64(&d->rng) ^ hits);
        put_link(d->out, buf_span(&href), span_str(title_at(d->site, path)));
    }
    buf_done(&href);
    draft_end(d, false);
}

static void pdf_body(struct draft *d, const char *title)
{
    struct buf text = {0};
    buf_printf(&text, "%s\n\n", title);
    words_paragraph(d->words, &d->rng, 1200, &text);
    sample_pdf(span_str(title), buf_span(&text), d->out);
    buf_done(&text);
}

static void markdown_body(struct draft *d, const struct special *sp)
{
    buf_printf(d->out, "# %s\n\n%s\n\n## What else is new\n\n", sp->title, sp->text);
    words_paragraph(d->words, &d->rng, 600, d->out);
    buf_putc(d->out, '\n');
}

static void file_body(struct draft *d, const char *title, const char *type)
{
    if (strcmp(type, "application/pdf") == 0) {
        pdf_body(d, title);
        return;
    }
    if (strcmp(type, "image/png") == 0)
        buf_put(d->out, SPAN("\x89PNG\r\n\x1a\n"));
    buf_printf(d->out, "%s\n\n", title);
    words_paragraph(d->words, &d->rng, 1200, d->out);
    buf_putc(d->out, '\n');
}
static void script_page(struct draft *d)
{
    buf_printf(d->out, "<!DOCTYPE html><html lang=\"%s\"><head><title>App</title>", d->site->lang);
    buf_puts(d->out, "<script>var words = ['<a href=\"/only-in-script.html\">no</a>'];</script></head>"
                     "<body><div id=\"app\"></div><script src=\"/app.js\"></script></body></html>\n");
}

static void encode_body(struct site_reply *r, const char *coding)
{
    struct buf packed = {0};
    if (strcmp(coding, "gzip") == 0)
        gzip_stored(buf_span(r->body), &packed);
    else
        zip_zstd(buf_span(r->body), 3, &packed);
    buf_printf(r->head, "Content-Encoding: %s\n", coding);
    buf_done(r->body);
    *r->body = packed;
}

/* The page's characters are all below U+0100. */
static void to_latin1(struct buf *b)
{
    struct span in = buf_span(b);
    size_t n = 0;
    for (size_t at = 0; at < in.n;)
        b->p[n++] = (char)utf8_next(in, &at, NULL);
    b->n = n;
}

/* ASCII, Russian letters, guillemets and dashes: all that our pages have. */
static void to_cp1251(struct buf *b)
{
    struct span in = buf_span(b);
    size_t n = 0;
    for (size_t at = 0; at < in.n;) {
        uint32_t c = utf8_next(in, &at, NULL);
        bool is_letter = c >= 0x410 && c <= 0x44f;
        b->p[n++] = (char)(c < 0x80      ? c
                           : is_letter   ? c - 0x410 + 0xc0
                           : c == 0x401  ? 0xa8
                           : c == 0x451  ? 0xb8
                           : c == 0x2014 ? 0x97
                           : c == 0xab   ? 0xab
                           : c == 0xbb   ? 0xbb
                                         : '?');
    }
    b->n = n;
}

static void redirect(const struct site_ask *ask, int code, const char *to, struct site_reply *r)
{
    struct span rest = span_str(to);
    r->status = code;
    if (!span_starts(rest, SPAN("//"))) {
        buf_printf(r->head, "Location: %s\n", to);
        return;
    }
    size_t slash = span_find(rest, '/', 2);
    buf_puts(r->head, "Location: http://");
    site_put_host(r->head, span_cut(rest, 2, slash - 2), ask->domain);
    buf_printf(r->head, ":%d%s\n", ask->port, to + slash);
}

static void far_redirect(const struct special *sp, const struct site_ask *ask, struct site_reply *r)
{
    uint64_t step = 0;
    (void)span_u64(span_from(ask->target, strlen(sp->path)), CALENDAR_MONTH_MAX, &step);
    r->status = 302;
    buf_printf(r->head, "Location: %s%llu\n", sp->path, (unsigned long long)step + 1);
}

static void meta_page(struct draft *d, const struct special *sp)
{
    struct buf extra = {0};
    buf_printf(&extra, "<meta name=\"robots\" content=\"%s\">", sp->text);
    draft_begin(d, &(struct draft_head){.extra = buf_cstr(&extra)});
    draft_sentences(d, SENTENCES);
    if (sp->number > 0)
        draft_special_link(d, &d->site->specials[sp->number - 1]);
    draft_end(d, false);
    buf_done(&extra);
}

/* Status, delay and headers. */
static void special_head(struct draft *d, const struct special *sp, const struct site_ask *ask, struct site_reply *r)
{
    const char *type = "text/html; charset=utf-8";
    switch (sp->kind) {
    case SP_REDIRECT:
        redirect(ask, sp->number, sp->text, r);
        break;
    case SP_FAR:
        far_redirect(sp, ask, r);
        break;
    case SP_STATUS:
        r->status = sp->number;
        break;
    case SP_BUSY:
        if (ask->hits < (unsigned)sp->number) {
            r->status = 429;
            buf_puts(r->head, "Retry-After: 1\n");
        }
        break;
    case SP_DROP:
        if (ask->hits < (unsigned)sp->number)
            r->status = 0;
        break;
    case SP_SLOW:
        r->delay_ms = sp->number;
        break;
    case SP_CHANGING:
        d->version += ask->hits / (unsigned)sp->number;
        break;
    case SP_HEADER:
        buf_printf(r->head, "X-Robots-Tag: %s\n", sp->text);
        break;
    case SP_FILE:
        type = sp->text;
        break;
    case SP_LIST:
        type = site_list_type(sp);
        break;
    case SP_MARKDOWN:
        type = "text/markdown; charset=utf-8";
        break;
    case SP_LATIN1:
        type = "text/html; charset=iso-8859-1";
        break;
    case SP_CP1251:
        type = "text/html";
        break;
    default:
        break;
    }
    buf_printf(r->head, "Content-Type: %s\n", type);
}

static void special_body(struct draft *d, const struct special *sp, const struct site_ask *ask, struct site_reply *r)
{
    const struct draft_head none = {0};
    switch (sp->kind) {
    case SP_ARTICLE:
        article_page(d, &articles[sp->number]);
        break;
    case SP_COPY:
        copy_page(d, sp);
        break;
    case SP_MAZE:
        maze_page(d);
        break;
    case SP_CALENDAR:
        calendar_page(d, ask->target);
        break;
    case SP_SESSION:
        session_page(d, sp->text, ask->hits);
        break;
    case SP_FILE:
        file_body(d, sp->title, sp->text);
        break;
    case SP_LIST:
        site_list_body(d, sp, r->body);
        break;
    case SP_MARKDOWN:
        markdown_body(d, sp);
        break;
    case SP_SCRIPT:
        script_page(d);
        break;
    case SP_META:
        meta_page(d, sp);
        break;
    case SP_LINKS:
        plain_page(d, &none, NULL, sp->text);
        break;
    case SP_GZIP:
        plain_page(d, &none, NULL, "");
        encode_body(r, "gzip");
        break;
    case SP_ZSTD:
        plain_page(d, &none, NULL, "");
        if (ask->takes_zstd)
            encode_body(r, "zstd");
        break;
    case SP_LATIN1:
        plain_page(d, &(struct draft_head){.no_charset = true}, NULL, "");
        to_latin1(r->body);
        break;
    case SP_CP1251:
        plain_page(d, &(struct draft_head){.no_charset = true, .extra = "<meta charset=\"windows-1251\">"}, NULL, "");
        to_cp1251(r->body);
        break;
    case SP_HEADER:
        plain_page(d, &none, NULL, "");
        break;
    case SP_PAGE:
    case SP_CHANGING:
    case SP_SLOW:
        plain_page(d, &none, sp->text, "");
        break;
    default:
        plain_page(d, &none, NULL, "");
        break;
    }
}

void site_answer(const struct site *site, unsigned at, const struct site_ask *ask, struct site_reply *out)
{
    struct draft d;
    draft_init(&d, site, at, ask, out->body);
    out->status = 200;
    out->delay_ms = 0;
    if (at < site_pages(site)) {
        buf_puts(out->head, "Content-Type: text/html; charset=utf-8\n");
        draft_theme_page(&d);
    } else {
        const struct special *sp = &site->specials[at - site_pages(site)];
        special_head(&d, sp, ask, out);
        special_body(&d, sp, ask, out);
    }
    out->version = d.version;
    out->date = d.date + (time_t)d.version * DAY_S;
}
