/* site_pages.c - what the sites answer: one small function a kind of page. */
#include "sample/sites.h"

#include "base/rng.h"
#include "base/utf8.h"
#include "codec/zip.h"
#include "sample/words.h"

#define PAGE_BYTES 1200
#define CALENDAR_LINKS 25
#define CALENDAR_MONTH_MAX 1000000

/* A page being written. */
struct draft {
    const struct site *site;
    unsigned at, version;
    struct rng rng;
    const struct words *words;
    struct buf *out; /* borrowed */
};

static void put_link(struct buf *out, struct span href, struct span text)
{
    buf_puts(out, "<li><a href=\"");
    for (size_t i = 0; i < href.n; i++) {
        if (href.p[i] == '&')
            buf_puts(out, "&amp;");
        else
            buf_putc(out, href.p[i]);
    }
    buf_printf(out, "\">%.*s</a></li>\n", SPAN_ARG(text));
}

static void draft_begin(struct draft *d, const char *head)
{
    struct span title = words_title(d->words, &d->rng);
    buf_printf(
        d->out,
        "<!DOCTYPE html>\n<html lang=\"%s\">\n<head><title>%.*s (%s %u)</title>%s</head>\n<body>\n<h1>%.*s</h1>\n",
        d->site->lang, SPAN_ARG(title), d->site->host, d->at, head, SPAN_ARG(title));
    if (d->version)
        buf_printf(d->out, "<p>Revision %u.</p>\n", d->version);
}

static void draft_text(struct draft *d, size_t bytes)
{
    size_t end = d->out->n + bytes;
    while (d->out->n < end) {
        buf_puts(d->out, "<p>");
        words_paragraph(d->words, &d->rng, 400, d->out);
        buf_puts(d->out, "</p>\n");
    }
}

static void draft_end(struct draft *d)
{
    buf_printf(d->out, "<p><a href=\"/\">%s</a></p>\n</body></html>\n", d->site->host);
}

static void plain_page(struct draft *d, const char *head, const char *markup)
{
    draft_begin(d, head);
    draft_text(d, PAGE_BYTES);
    buf_puts(d->out, markup);
    draft_end(d);
}

static void ordinary_page(struct draft *d)
{
    const struct site *site = d->site;
    struct buf path = {0};
    draft_begin(d, "<meta charset=\"utf-8\">");
    draft_text(d, PAGE_BYTES);
    buf_puts(d->out, "<ul>\n");
    for (unsigned child = d->at * 4 + 1; child <= d->at * 4 + 4 && child < site->pages; child++) {
        buf_clear(&path);
        site_path(site, child, &path);
        put_link(d->out, buf_span(&path), words_title(d->words, &d->rng));
    }
    for (unsigned i = 0; d->at == 0 && i < site->special_count; i++) {
        if (site->specials[i].is_linked)
            put_link(d->out, span_str(site->specials[i].path), words_title(d->words, &d->rng));
    }
    buf_puts(d->out, "</ul>\n");
    draft_end(d);
    buf_done(&path);
}

static void maze_page(struct draft *d)
{
    draft_begin(d, "<meta charset=\"utf-8\">");
    draft_text(d, PAGE_BYTES);
    put_link(d->out, SPAN("deeper/"), SPAN("deeper"));
    draft_end(d);
}

static void calendar_page(struct draft *d, struct span target)
{
    uint64_t month = 0;
    struct span query = span_from(target, span_find(target, '=', 0) + 1);
    (void)span_u64(query, CALENDAR_MONTH_MAX, &month);
    draft_begin(d, "<meta charset=\"utf-8\">");
    buf_printf(d->out, "<p>Month %llu.</p>\n", (unsigned long long)month);
    draft_text(d, PAGE_BYTES);
    for (unsigned i = 1; i <= CALENDAR_LINKS; i++)
        buf_printf(d->out, "<a href=\"/calendar?month=%llu\">%llu</a>\n", (unsigned long long)(month + i),
                   (unsigned long long)(month + i));
    draft_end(d);
}

static void session_page(struct draft *d, const char *paths, unsigned hits)
{
    struct span rest = span_str(paths), path;
    struct buf href = {0};
    draft_begin(d, "<meta charset=\"utf-8\">");
    draft_text(d, PAGE_BYTES);
    while (span_split(&rest, ' ', &path)) {
        buf_clear(&href);
        buf_put(&href, path);
        buf_printf(&href, "%cPHPSESSID=%016llx", span_find(path, '?', 0) < path.n ? '&' : '?',
                   (unsigned long long)rng_u64(&d->rng) ^ hits);
        put_link(d->out, buf_span(&href), words_title(d->words, &d->rng));
    }
    buf_done(&href);
    draft_end(d);
}

static void twin_page(struct draft *d, const struct special *sp, uint64_t seed)
{
    struct buf head = {0};
    buf_puts(&head, "<meta charset=\"utf-8\">");
    if (sp->text)
        buf_printf(&head, "<link rel=\"canonical\" href=\"%s\">", sp->text);
    draft_begin(d, buf_cstr(&head));
    struct rng own = d->rng;
    rng_seed(&d->rng, seed ^ (uint64_t)sp->number); /* the text that all twins share */
    draft_text(d, 3 * PAGE_BYTES);
    buf_puts(d->out, "<p>");
    words_paragraph(d->words, &own, 1, d->out);
    buf_puts(d->out, "</p>\n");
    draft_end(d);
    buf_done(&head);
}

static void file_body(struct draft *d, const char *type)
{
    if (strcmp(type, "application/pdf") == 0)
        buf_puts(d->out, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
    else if (strcmp(type, "image/png") == 0)
        buf_put(d->out, SPAN("\x89PNG\r\n\x1a\n"));
    words_paragraph(d->words, &d->rng, PAGE_BYTES, d->out);
    buf_putc(d->out, '\n');
}

static void script_page(struct draft *d)
{
    buf_printf(d->out, "<!DOCTYPE html><html lang=\"%s\"><head><title>App</title>", d->site->lang);
    buf_puts(d->out, "<script>var words = ['<a href=\"/only-in-script.html\">no</a>'];</script></head>"
                     "<body><div id=\"app\"></div><script src=\"/app.js\"></script></body></html>\n");
}

/* Stored blocks: gzip that every decoder takes, without a compressor. */
static void gzip_stored(struct span in, struct buf *out)
{
    uint32_t crc = 0xffffffffu, size = (uint32_t)in.n;
    for (size_t i = 0; i < in.n; i++) {
        crc ^= (unsigned char)in.p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    buf_put(out, span_of("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
    do {
        struct span part = span_cut(in, 0, 65535);
        in = span_from(in, part.n);
        unsigned len = (unsigned)part.n;
        const unsigned char head[5] = {in.n == 0, (unsigned char)len, (unsigned char)(len >> 8), (unsigned char)~len,
                                       (unsigned char)(~len >> 8)};
        buf_put(out, span_of(head, sizeof(head)));
        buf_put(out, part);
    } while (in.n > 0);
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(crc >> (8 * i)));
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(size >> (8 * i)));
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

static void redirect(const struct site_ask *ask, int code, const char *to, struct site_reply *r)
{
    struct span rest = span_str(to);
    r->status = code;
    if (!span_starts(rest, SPAN("//"))) {
        buf_printf(r->head, "Location: %s\n", to);
        return;
    }
    size_t slash = span_find(rest, '/', 2);
    buf_printf(r->head, "Location: http:%.*s:%d%s\n", (int)slash, to, ask->port, to + slash);
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
    struct buf head = {0}, markup = {0};
    buf_printf(&head, "<meta charset=\"utf-8\"><meta name=\"robots\" content=\"%s\">", sp->text);
    if (sp->number > 0)
        put_link(&markup, span_str(d->site->specials[sp->number - 1].path), SPAN("hidden"));
    plain_page(d, buf_cstr(&head), buf_cstr(&markup));
    buf_done(&head);
    buf_done(&markup);
}

static void special_page(struct draft *d, const struct special *sp, const struct site_ask *ask, struct site_reply *r)
{
    static const char utf8[] = "<meta charset=\"utf-8\">";
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
        r->version = d->version += ask->hits / (unsigned)sp->number;
        break;
    case SP_HEADER:
        buf_printf(r->head, "X-Robots-Tag: %s\n", sp->text);
        break;
    case SP_FILE:
        type = sp->text;
        break;
    case SP_LATIN1:
        type = "text/html; charset=iso-8859-1";
        break;
    default:
        break;
    }
    buf_printf(r->head, "Content-Type: %s\n", type);
    switch (sp->kind) {
    case SP_MAZE:
        maze_page(d);
        break;
    case SP_CALENDAR:
        calendar_page(d, ask->target);
        break;
    case SP_SESSION:
        session_page(d, sp->text, ask->hits);
        break;
    case SP_TWIN:
        twin_page(d, sp, ask->seed);
        break;
    case SP_FILE:
        file_body(d, sp->text);
        break;
    case SP_SCRIPT:
        script_page(d);
        break;
    case SP_META:
        meta_page(d, sp);
        break;
    case SP_LINKS:
        plain_page(d, utf8, sp->text);
        break;
    case SP_GZIP:
        plain_page(d, utf8, "");
        encode_body(r, "gzip");
        break;
    case SP_ZSTD:
        plain_page(d, utf8, "");
        if (ask->takes_zstd)
            encode_body(r, "zstd");
        break;
    case SP_LATIN1:
        plain_page(d, "", "");
        to_latin1(r->body);
        break;
    default:
        plain_page(d, utf8, "");
        break;
    }
}

void site_answer(const struct site *site, unsigned at, const struct site_ask *ask, struct site_reply *out)
{
    struct draft d = {.site = site, .at = at, .version = ask->version, .words = words_of(site->lang), .out = out->body};
    rng_seed(&d.rng, ask->seed ^ ((uint64_t)(site - sites) << 48) ^ ((uint64_t)at << 24) ^ ask->version);
    out->status = 200;
    out->delay_ms = 0;
    out->version = ask->version;
    if (at < site->pages) {
        buf_puts(out->head, "Content-Type: text/html; charset=utf-8\n");
        ordinary_page(&d);
    } else {
        special_page(&d, &site->specials[at - site->pages], ask, out);
    }
}
