/* visit.c - from an HTTP answer to a summary: charset, facts, links, and which of the links are new. */
#include <assert.h>
#include <string.h>

#include "base/pack.h"
#include "base/utf8.h"
#include "codec/digest.h"
#include "crawl/engine.h"
#include "io/clock.h"
#include "web/content.h"
#include "web/disposition.h"
#include "web/document.h"
#include "web/facts_meta.h"
#include "web/lang.h"
#include "wire/capture.h"

#define FOREIGN_SET 8               /* a cache line */
#define FINDS_BYTES_MAX (40u << 20) /* of URLs of a page's links: a summary has its limit too */
/* Feeds are followed from pages no deeper than this: those of a site and of its parts are named there, and those of
 * single pages (every page of a blog has one of its comments) would double the requests. */
#define FEED_DEPTH_MAX 1
#define PDF_NOT_ALLOWED 3                     /* pdftotext leaves with it when the document forbids copying */
#define WISHES (PAGE_NOINDEX | PAGE_NOFOLLOW) /* of a site: they change what becomes of a page */

struct frontier_result frontier_result_of(struct crawl *cr, const struct fetch_result *r, wall_ms wall)
{
    if (cr->o.note_path && r->timing.path_us > 0)
        cr->o.note_path(cr->o.self, &r->addr, (uint32_t)r->timing.path_us);
    return (struct frontier_result){.st = r->st,
                                    .http_status = r->http_status,
                                    .retry_after_ms =
                                        r->retry_after.n ? fetch_retry_after_ms(r->retry_after, wall) : -1,
                                    .connect_us = r->reused ? 0 : r->timing.connect_us,
                                    .total_us = r->timing.total_us};
}

/* What one page adds: parallel arrays in the page's arena. */
struct finds {
    struct summary_link *links;
    const struct url **urls;
    uint64_t *keys;
    uint64_t *marks; /* of shard.recent; 0: none */
    bool *is_name;   /* its text is news for the index */
    size_t n, cap;
    size_t bytes;      /* of URLs, near and far */
    size_t far;        /* links that leave the channel, at the end of `links`, last one first */
    unsigned verdicts; /* on links of the page: a bit for each channel_verdict */
    bool is_too_far;   /* it is a list, and too many lists led to it for all that it lists to be followed */
};

static void finds_init(struct finds *f, struct arena *a, size_t cap)
{
    f->cap = cap;
    f->n = f->far = f->bytes = 0;
    f->verdicts = 0;
    f->is_too_far = false;
    f->links = arena_alloc(a, cap * sizeof(*f->links));
    f->urls = arena_alloc(a, cap * sizeof(const struct url *));
    f->keys = arena_alloc(a, cap * sizeof(*f->keys));
    f->marks = arena_alloc(a, cap * sizeof(*f->marks));
    f->is_name = arena_alloc(a, cap + 1);
}

static struct summary_link *finds_add(struct finds *f, const struct crawl *cr, const struct url *u)
{
    struct summary_link *l = &f->links[f->n];
    *l = (struct summary_link){.url = u->href, .key = siphash(&cr->key, u->href)};
    f->urls[f->n] = u;
    f->keys[f->n] = l->key;
    f->marks[f->n] = 0;
    f->is_name[f->n] = false;
    f->n++;
    return l;
}

/* The newest of a small set push the oldest out. */
static bool is_new_far(struct shard *s, uint64_t key)
{
    uint64_t *set = &s->foreign[key % (RECENT_NAMES / FOREIGN_SET) * FOREIGN_SET];
    for (unsigned i = 0; i < FOREIGN_SET; i++)
        if (set[i] == key)
            return false;
    memmove(set + 1, set, (FOREIGN_SET - 1) * sizeof(*set));
    set[0] = key;
    return true;
}

/* For others to follow. Each is passed on once, as far back as the table remembers. */
static void finds_add_far(struct shard *s, struct finds *f, const struct url *u, const struct fact_link *l,
                          unsigned depth)
{
    uint64_t key = siphash(&s->crawl->key, u->href);
    if (!is_new_far(s, key))
        return;
    f->links[f->cap - ++f->far] = (struct summary_link){.url = u->href,
                                                        .text = l->text,
                                                        .key = key,
                                                        .kind = l->kind,
                                                        .rel = l->rel,
                                                        .flags = SUMMARY_LINK_FOREIGN,
                                                        .depth = (uint16_t)depth};
}

/* A channel may reach over hosts that others crawl: which those are is known only when they have an address. So links
 * between hosts are passed on even where they are followed. */
static void pass_on(struct shard *s, const struct job *j, const struct url *u, struct summary_link *l)
{
    if (s->crawl->sink.keeps_foreign && !span_eq(u->host, j->lease.host) && is_new_far(s, l->key))
        l->flags |= SUMMARY_LINK_FOREIGN;
}

/* Marks the new ones; drops the others unless they tell the index something. ST_FULL, ST_IO: nothing was changed. */
static status finds_settle(struct shard *s, struct finds *f)
{
    bool *is_new = arena_alloc(&s->arena, f->n + 1);
    status st = crawl_note_urls(s->crawl, f->keys, f->n, is_new);
    if (st != ST_OK)
        return st;
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->marks[i])
            s->recent[f->marks[i] % RECENT_LINKS] = f->marks[i];
        if (is_new[i])
            f->links[i].flags |= SUMMARY_LINK_NEW;
        else if (!f->is_name[i] && !(f->links[i].flags & SUMMARY_LINK_FOREIGN))
            continue;
        f->links[kept] = f->links[i];
        f->urls[kept++] = f->urls[i];
    }
    for (size_t i = 0; i < f->far; i++) {
        f->links[kept] = f->links[f->cap - f->far + i];
        f->urls[kept++] = NULL;
    }
    f->n = kept;
    return ST_OK;
}

static bool is_followed(const struct shard *s, const struct job *j, uint8_t kind)
{
    if (kind == LINK_SITEMAP || kind == LINK_LISTED)
        return !s->crawl->o.no_sitemaps;
    if (kind == LINK_FEED)
        return !s->crawl->o.no_sitemaps && j->lease.depth <= FEED_DEPTH_MAX;
    return kind == LINK_A || kind == LINK_FRAME || kind == LINK_REFRESH || kind == LINK_NEXT || kind == LINK_ALTERNATE;
}

/* An absolute, normalised http(s) URL in the page's arena; NULL when it is none, or too long. */
static struct url *resolve(struct shard *s, struct span ref, const struct url *base)
{
    struct url parsed, *u = arena_alloc(&s->arena, sizeof(*u));
    const struct url_norm *norm = s->crawl->o.norm ? s->crawl->o.norm : &url_norm_default;
    if (url_parse(&s->arena, ref, base, &parsed) != ST_OK || !url_is_http(&parsed))
        return NULL;
    return url_normalise(&s->arena, &parsed, norm, CRAWL_URL_MAX, u) == ST_OK ? u : NULL;
}

/* The same link on the same folder's pages means the same URL, and most links of a site are its navigation. So a shard
 * remembers, by keyed hash of folder and reference, links that it has put in the seen set already, and does not parse
 * them again: a fifth of the CPU time on pages full of links. References to the page itself ("?x") depend on more than
 * the folder and are always parsed. With an index the text of the link counts too. */
static uint64_t mark_of(const struct shard *s, uint64_t folder, const struct fact_link *l)
{
    if (l->href.p[0] == '?')
        return 0;
    uint64_t mark = siphash(&s->crawl->key, l->href) ^ folder;
    if (l->text.n)
        mark ^= siphash(&s->crawl->key, l->text) * 3;
    return mark ? mark : 1;
}

/* The text of a link goes to the index once for each target and site that says it, as far back as the table remembers:
 * navigation repeats itself on every page, and says no more the second time. */
static bool is_news(struct shard *s, const struct fact_link *l, uint64_t target, uint64_t site)
{
    bool is_name =
        s->crawl->sink.keeps_text && l->kind == LINK_A && !(l->rel & (REL_NOFOLLOW | REL_UGC | REL_SPONSORED));
    if (!l->text.n || !(is_name || l->kind == LINK_LISTED)) /* a date is for the store, index or not */
        return false;
    uint64_t mark = (siphash(&s->crawl->key, l->text) * 3 ^ target) * 0x9e3779b97f4a7c15u ^ site;
    uint64_t *slot = &s->named[mark % RECENT_NAMES];
    if (*slot == mark)
        return false;
    *slot = mark;
    return true;
}

static uint64_t folder_of(const struct shard *s, const struct url *base)
{
    size_t n = (size_t)(base->path.p - base->href.p) + base->path.n;
    while (n > 0 && base->href.p[n - 1] != '/')
        n--;
    return siphash(&s->crawl->key, span_of(base->href.p, n)) * 31;
}

/* How far from a seed the links of a page are. What a list names is as far away as the list, which was a link away from
 * whoever named it: a page is no deeper for being found in a sitemap. Only seeds are at depth 0. */
static unsigned depth_of_links(const struct job *j, bool is_list)
{
    return j->lease.depth + (!is_list || !j->lease.depth);
}

/* ---- steps that are no links ---- */

/* So that redirects and lists of lists come to an end, a URL knows how many of them led to it since a page's link, in
 * eight bits (`hops`):
 *
 *     0 .. 10     redirects
 *     11 .. 110   lists that lists led to as such, and their redirects
 *     111 .. 121  what a list names as a page; its redirects, and lists among that
 *
 * No step goes back, and none leaves the last row. */
#define HOPS_LIST (CRAWL_REDIRECTS_MAX + 1)
#define HOPS_LISTED (HOPS_LIST + CRAWL_LISTS_MAX)
#define HOPS_TOO_MANY (HOPS_LISTED + CRAWL_REDIRECTS_MAX + 1)
static_assert(HOPS_TOO_MANY <= UINT8_MAX, "a queue has eight bits for it");

static unsigned hops_after(unsigned hops)
{
    bool is_last = hops + 1 == HOPS_LIST || hops + 1 == HOPS_LISTED || hops + 1 >= HOPS_TOO_MANY;
    return is_last ? HOPS_TOO_MANY : hops + 1;
}

/* From a list to what it names. */
static unsigned hops_of_listed(unsigned hops, uint8_t kind)
{
    if (hops < HOPS_LISTED && kind != LINK_SITEMAP)
        return HOPS_LISTED;
    return hops < HOPS_LIST ? HOPS_LIST : hops_after(hops);
}

static channel_verdict check_link(struct channel *c, const struct fact_link *l, const struct url *u, unsigned depth)
{
    if (l->kind == LINK_SITEMAP && channel_takes_list(c, u, depth))
        return CHANNEL_YES;
    return channel_check(c, u, depth, NULL);
}

static void find_links(struct shard *s, const struct job *j, struct channel *c, const struct facts *facts,
                       const struct url *base, struct finds *f)
{
    bool is_list = facts->page_flags & PAGE_LIST;
    unsigned depth = depth_of_links(j, is_list), versions = 0;
    uint64_t folder = folder_of(s, base) + j->lease.channel;
    uint64_t site = siphash(&s->crawl->key, j->lease.host);
    for (size_t i = 0; i < facts->link_count; i++) {
        const struct fact_link *l = &facts->links[i];
        if (!is_followed(s, j, l->kind) || l->href.n == 0 || l->href.p[0] == '#')
            continue;
        bool is_version =
            s->crawl->sink.keeps_text && l->kind == LINK_ALTERNATE && l->text.n && versions++ < CONTENT_ALTERNATES_MAX;
        uint64_t mark = is_version ? 0 : mark_of(s, folder, l); /* told of every page, however often it was seen */
        if (mark && s->recent[mark % RECENT_LINKS] == mark) {
            f->verdicts |= 1u << CHANNEL_YES;
            continue;
        }
        struct url *u = resolve(s, l->href, base);
        if (!u)
            continue;
        if ((f->bytes += u->href.n) > FINDS_BYTES_MAX)
            break;
        channel_verdict verdict = check_link(c, l, u, depth);
        f->verdicts |= 1u << verdict;
        if (verdict == CHANNEL_OUT_OF_SCOPE && s->crawl->sink.keeps_foreign && !(l->rel & REL_NOFOLLOW))
            finds_add_far(s, f, u, l, depth);
        unsigned hops = is_list ? hops_of_listed(j->lease.hops, l->kind) : 0;
        f->is_too_far |= verdict == CHANNEL_YES && hops == HOPS_TOO_MANY;
        if (verdict != CHANNEL_YES || hops == HOPS_TOO_MANY)
            continue;
        struct summary_link *out = finds_add(f, s->crawl, u);
        out->kind = l->kind;
        out->rel = l->rel;
        out->text = l->text;
        out->depth = (uint16_t)depth;
        out->hops = (uint8_t)hops;
        if (!(l->rel & REL_NOFOLLOW))
            pass_on(s, j, u, out);
        f->marks[f->n - 1] = mark;
        f->is_name[f->n - 1] = is_version || is_news(s, l, out->key, site);
        if (!f->is_name[f->n - 1])
            out->text = (struct span){0};
    }
}

/* What is out of scope, and was asked for all the same, is a list. */
static channel_verdict check_redirect(struct channel *c, const struct url *from, const struct url *to, unsigned depth)
{
    channel_verdict v = channel_check(c, to, depth, NULL);
    bool is_list = v == CHANNEL_OUT_OF_SCOPE && channel_check(c, from, depth, NULL) == CHANNEL_OUT_OF_SCOPE;
    return is_list && channel_takes_list(c, to, depth) ? CHANNEL_YES : v;
}

/* Where a seed leads may be out of the channel's scope: the person meant that place ("example.org" that moved to
 * "www.example.org"), so the scope follows. */
static void widen_by_seed(struct shard *s, const struct job *j, struct channel *c, const struct url *to)
{
    struct crawl *cr = s->crawl;
    if (j->lease.depth || j->imported_at || channel_check(c, to, 0, NULL) != CHANNEL_OUT_OF_SCOPE)
        return;
    channel_widen(c, to);
    for (unsigned i = 0; i < cr->shard_count; i++)
        if (i != s->index)
            shard_send_widen(&cr->shards[i], j->lease.channel, to->href);
    struct buf b = {0};
    pack_u64(&b, j->lease.channel);
    pack_text(&b, to->href);
    records_frame(&s->framed, REC_WIDEN, buf_span(&b));
    buf_done(&b);
}

/* A redirect's target is a link of the same depth. */
static void find_redirect(struct shard *s, const struct job *j, struct channel *c, const struct url *from,
                          struct span location, struct summary *sum, struct finds *f)
{
    struct crawl *cr = s->crawl;
    struct url *u = resolve(s, url_header_ref(&s->arena, location), from);
    finds_init(f, &s->arena, 1);
    if (!u) {
        sum->reason = SPAN("redirect to something that is no http URL");
        return;
    }
    sum->redirect = u->href;
    if (span_eq(u->href, j->lease.url)) {
        sum->reason = SPAN("redirects to itself: it may want a cookie");
        return;
    }
    unsigned hops = hops_after(j->lease.hops);
    if (hops == HOPS_TOO_MANY) {
        sum->reason = SPAN("too many redirects");
        return;
    }
    widen_by_seed(s, j, c, u);
    channel_verdict verdict = check_redirect(c, from, u, j->lease.depth);
    if (verdict == CHANNEL_OUT_OF_SCOPE && cr->sink.keeps_foreign)
        finds_add_far(s, f, u, &(struct fact_link){.kind = LINK_REFRESH}, j->lease.depth);
    if (verdict != CHANNEL_YES) {
        sum->reason = SPAN("redirect out of scope");
        return;
    }
    struct summary_link *out = finds_add(f, cr, u);
    out->kind = LINK_REFRESH;
    out->depth = (uint16_t)j->lease.depth;
    out->hops = (uint8_t)hops;
    pass_on(s, j, u, out);
}

static unsigned header_flags(const struct crawl *cr, struct span values)
{
    unsigned flags = 0;
    struct span one;
    while (span_split(&values, '\n', &one))
        flags |= facts_robots_header(one, cr->agent, clock_wall());
    return flags;
}

/* An answer that is no page says that the page is the same; a wish in its head that came since is of the page. */
static bool is_half(const struct job *j, const struct fetch_result *r, const struct summary *sum)
{
    return r->st == ST_OK && r->http_status == 304 && sum->page_flags & WISHES && !j->imported_at;
}

/* "Not modified" to somebody who has nothing that it could be compared with. */
static bool is_about_nothing(const struct job *j, const struct fetch_result *r)
{
    return r->st == ST_OK && r->http_status == 304 && !j->lease.etag.n && !j->lease.last_modified.n && !j->imported_at;
}

static struct span cut(struct span s, size_t max)
{
    return utf8_cut(s, max);
}

/* Why a PDF is known by its name only, in words. */
static const char *pdf_trouble(const struct reading *r, struct span body)
{
    bool is_encrypted = span_search(body, SPAN("/Encrypt"), false) < body.n;
    if (r->st != ST_INVALID)
        return r->why;
    if (r->code == PDF_NOT_ALLOWED)
        return "its author does not allow that its text is taken";
    return is_encrypted ? "it is encrypted" : "it is damaged, or no PDF";
}

/* What pdftotext said of a PDF. False: nothing of use, and sum->reason says why. */
static bool read_pdf(struct shard *s, const struct job *j, const struct fetch_result *r, const struct facts_opts *fo,
                     struct summary *sum, struct document *d)
{
    const char *why = NULL;
    /* Without validators: it is read when somebody installs pdftotext and it is asked for again. */
    if (r->body_unwanted && s->crawl->pdf_state != ST_OK) {
        sum->etag = sum->last_modified = (struct span){0};
        s->stats.pdf_left += s->crawl->pdf_state != ST_UNSUPPORTED;
        return false;
    }
    if (!j->reading)
        why = r->body_short                     ? "it was cut off"
              : r->body_cut || r->body_unwanted ? "it is too long"
              : !r->body.n                      ? "it is empty"
                                                : "pdftotext could not be run";
    else if (j->reading->st != ST_OK)
        why = pdf_trouble(j->reading, r->body);
    else if (document_read_pdf(&s->arena, j->reading->text, fo, d) != ST_OK || !d->facts.text_bytes)
        why = "there is no text in it: its pages may be pictures";
    if (why) {
        struct buf b = {0};
        buf_printf(&b, "PDF known by its name only: %s", why);
        sum->reason = arena_copy(&s->arena, buf_span(&b));
        buf_done(&b);
        s->stats.pdf_failed++;
    }
    return !why;
}

/* The body as a document; NULL when nothing here reads it. */
static const struct document *read_document(struct shard *s, const struct job *j, const struct fetch_result *r,
                                            struct summary *sum)
{
    struct crawl *cr = s->crawl;
    const struct facts_opts fo = {
        .agent = cr->agent, .keep_text = cr->sink.keeps_text, .keep_anchors = cr->sink.keeps_text, .now = clock_wall()};
    struct document *d = arena_alloc(&s->arena, sizeof(*d));
    document_kind kind = document_kind_of(r->content_type, j->lease.url);
    bool is_read = false;
    if (kind == DOCUMENT_PDF)
        is_read = read_pdf(s, j, r, &fo, sum, d);
    else if (kind != DOCUMENT_OTHER && !r->body_unwanted &&
             document_read(&s->arena, r->content_type, j->lease.url, r->body, &fo, d) == ST_OK) {
        kind = d->kind; /* its bytes may say otherwise */
        is_read = kind != DOCUMENT_OTHER;
    }
    sum->is_html = kind == DOCUMENT_HTML && !r->body_unwanted;
    return is_read ? d : NULL;
}

/* Why only the beginning of a document counts; empty: all of it does. */
static struct span cut_why(const struct job *j, const struct fetch_result *r, const struct facts *facts)
{
    if (r->body_short)
        return SPAN("only its beginning was read: it was cut off each time");
    if (r->body_cut && j->imported_at)
        return SPAN("only its beginning was read: it is too long, or was cut when it was recorded");
    if (r->body_cut)
        return SPAN("only its beginning was read: it is too long");
    if (facts->links_cut && (facts->page_flags & PAGE_LIST))
        return SPAN("not all that it lists was taken: it is too much");
    return (struct span){0};
}

/* Fills in what the body tells; returns the page's facts for its links, or NULL when it has none to follow. */
static const struct facts *read_body(struct shard *s, const struct job *j, const struct fetch_result *r,
                                     struct summary *sum)
{
    struct crawl *cr = s->crawl;
    sum->body_bytes = r->body_unwanted ? r->declared_bytes : r->body.n;
    const struct document *d = read_document(s, j, r, sum);
    if (!d) {
        sum->title = disposition_filename(&s->arena, r->disposition);
        return NULL;
    }
    const struct facts *facts = &d->facts;
    sum->reason = cut_why(j, r, facts);
    sum->charset = d->charset;
    sum->title = cut(facts->title, FACTS_TITLE_MAX);
    sum->description = cut(facts->description, FACTS_DESCRIPTION_MAX);
    sum->lang = cr->sink.keeps_text ? span_str(lang_detect(facts->text, facts->lang)) : cut(facts->lang, 64);
    sum->digest = facts->digest;
    sum->text_bytes = facts->text_bytes;
    sum->page_flags |= (uint16_t)facts->page_flags;
    if (cr->sink.keeps_text) {
        sum->text = facts->text;
        sum->headings = facts->headings;
        sum->heading_count = facts->heading_count;
    }
    return facts;
}

static void describe(const struct shard *s, const struct job *j, struct summary *sum)
{
    *sum = (struct summary){.channel = j->lease.channel,
                            .at = j->imported_at ? j->imported_at : clock_wall(),
                            .url = j->lease.url,
                            .depth = (uint16_t)j->lease.depth,
                            .hops = (uint16_t)j->lease.hops,
                            .is_known = j->lease.is_known,
                            .dns_us = -1,
                            .connect_us = -1,
                            .tls_us = -1,
                            .first_byte_us = -1,
                            .total_us = -1};
}

static void describe_answer(struct shard *s, const struct job *j, const struct fetch_result *r, struct summary *sum)
{
    char *address = arena_bytes(&s->arena, ADDR_TEXT_MAX);
    describe(s, j, sum);
    sum->failure = (uint8_t)r->st;
    sum->http_status = (uint16_t)r->http_status;
    sum->reason = span_str(r->why);
    sum->address = r->addr.family ? span_str(addr_format(&r->addr, address)) : (struct span){0};
    sum->content_type = cut(r->content_type, 256);
    sum->etag = r->etag.n <= 512 ? r->etag : (struct span){0};
    sum->last_modified = r->last_modified.n <= 64 ? r->last_modified : (struct span){0};
    sum->wire_bytes = r->wire_bytes;
    sum->page_flags = (uint16_t)header_flags(s->crawl, r->robots_tags);
    if (sum->page_flags & WISHES) /* a 304 need not repeat it, so without conditions: it shows when it is gone */
        sum->etag = sum->last_modified = (struct span){0};
    sum->dns_us = j->dns_us;
    sum->connect_us = r->timing.connect_us;
    sum->tls_us = r->timing.tls_us;
    sum->first_byte_us = r->timing.first_byte_us;
    sum->total_us = r->timing.total_us;
}

/* ---- what a program said ---- */

/* Links that a program found are links like any other, after those of the page. */
static void find_follows(struct shard *s, const struct job *j, struct channel *c, const struct url *page,
                         const struct program_result *said, struct finds *f)
{
    unsigned depth = j->lease.depth + 1;
    for (size_t i = 0; i < said->follow_count; i++) {
        struct url *u = resolve(s, said->follows[i], page);
        channel_verdict verdict = u ? channel_check(c, u, depth, NULL) : CHANNEL_EXCLUDED;
        if (verdict == CHANNEL_OUT_OF_SCOPE && s->crawl->sink.keeps_foreign)
            finds_add_far(s, f, u, &(struct fact_link){.kind = LINK_A}, depth);
        if (verdict != CHANNEL_YES)
            continue;
        struct summary_link *out = finds_add(f, s->crawl, u);
        out->kind = LINK_A;
        out->depth = (uint16_t)depth;
        pass_on(s, j, u, out);
    }
}

static void take_said(struct shard *s, const struct program_result *said, struct summary *sum)
{
    struct summary_field *fields = arena_alloc(&s->arena, (said->field_count + 1) * sizeof(*fields));
    for (size_t i = 0; i < said->field_count; i++)
        fields[i] = (struct summary_field){said->fields[i].name, said->fields[i].value};
    sum->fields = fields;
    sum->field_count = said->field_count;
    if (said->is_skipped)
        sum->page_flags |= PAGE_NOINDEX | PAGE_SKIPPED;
    if (said->has_summary && s->crawl->sink.keeps_text) {
        /* What it is found by has changed when this has. */
        sum->digest = digest_blake2b64(said->summary);
        sum->text = said->summary;
        sum->headings = NULL;
        sum->heading_count = 0;
    }
}

static struct span why_left(struct arena *a, unsigned verdicts)
{
    static const char *const why[] = {[CHANNEL_OUT_OF_SCOPE] = "out of scope",
                                      [CHANNEL_TOO_DEEP] = "deeper than --depth",
                                      [CHANNEL_NOT_INCLUDED] = "no --include pattern matches",
                                      [CHANNEL_EXCLUDED] = "an --exclude pattern matches",
                                      [CHANNEL_FORGOTTEN] = "forgotten"};
    struct buf b = {0};
    for (unsigned i = 0; i < sizeof(why) / sizeof(*why); i++)
        if (why[i] && verdicts & 1u << i)
            buf_printf(&b, "%s%s", b.n ? ", " : "nothing that it lists is followed: ", why[i]);
    struct span said = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return said;
}

/* A list of which nothing is followed: people want to know why nothing is found. Where links are told to a coordinator,
 * another channel may want them. */
static void judge_list(struct shard *s, const struct finds *f, struct summary *sum)
{
    s->stats.lists_too_far += f->is_too_far;
    if (f->is_too_far && !sum->reason.n)
        sum->reason = SPAN("not all that it lists is followed: too many lists led to it");
    bool is_left = f->verdicts && !(f->verdicts & 1u << CHANNEL_YES);
    if (!(sum->page_flags & PAGE_LIST) || !is_left || s->crawl->sink.keeps_foreign)
        return;
    bool is_elsewhere = f->verdicts == 1u << CHANNEL_OUT_OF_SCOPE;
    s->stats.lists_elsewhere += is_elsewhere;
    s->stats.lists_left += !is_elsewhere;
    s->stats.lists_left_by |= is_elsewhere ? 0 : f->verdicts;
    if (!sum->reason.n)
        sum->reason = is_elsewhere ? SPAN("nothing that it lists is in scope") : why_left(&s->arena, f->verdicts);
}

/* A refresh in the head of an answer is a link as one in its text is, found after the others. */
static void find_refresh(struct shard *s, const struct job *j, struct channel *c, const struct url *u, struct finds *f)
{
    unsigned depth = j->lease.depth + 1;
    channel_verdict verdict = channel_check(c, u, depth, NULL);
    if (verdict == CHANNEL_OUT_OF_SCOPE && s->crawl->sink.keeps_foreign)
        finds_add_far(s, f, u, &(struct fact_link){.kind = LINK_REFRESH}, depth);
    if (verdict != CHANNEL_YES)
        return;
    struct summary_link *out = finds_add(f, s->crawl, u);
    out->kind = LINK_REFRESH;
    out->depth = (uint16_t)depth;
    pass_on(s, j, u, out);
}

/* Links, and where a seed leads at once: that is a redirect in other words. */
static void follow(struct shard *s, const struct job *j, struct channel *c, const struct facts *facts,
                   const struct url *page, const struct url *base, struct span refresh, struct finds *f)
{
    struct span ref;
    bool is_at_once = false, has_refresh = refresh.n && facts_refresh_url(refresh, &ref, &is_at_once);
    const struct url *in_text = facts->leads_to.n ? resolve(s, facts->leads_to, base) : NULL;
    const struct url *in_head = has_refresh ? resolve(s, url_header_ref(&s->arena, ref), page) : NULL;
    if (in_text)
        widen_by_seed(s, j, c, in_text);
    if (in_head && is_at_once)
        widen_by_seed(s, j, c, in_head);
    find_links(s, j, c, facts, base, f);
    if (in_head)
        find_refresh(s, j, c, in_head, f);
}

/* What the text says comes before what the head of the answer says, which no base of the text is applied to (RFC 8288,
 * 3.1). */
static void note_canonical(struct shard *s, const struct facts *facts, const struct url *page, const struct url *base,
                           struct span in_head, struct summary *sum)
{
    const struct url *u = NULL;
    if (facts && facts->canonical.n)
        u = resolve(s, facts->canonical, base);
    else if (in_head.n)
        u = resolve(s, url_header_ref(&s->arena, in_head), page);
    if (u)
        sum->canonical = u->href;
}

static void find_in_page(struct shard *s, const struct job *j, struct channel *c, const struct url *page,
                         const struct fetch_result *r, const struct program_result *said, struct summary *sum,
                         struct finds *f)
{
    const struct facts *facts = read_body(s, j, r, sum);
    struct url parsed;
    const struct url *base = page;
    if (facts && facts->base.n && url_parse(&s->arena, facts->base, page, &parsed) == ST_OK)
        base = &parsed;
    note_canonical(s, facts, page, base, r->link_canonical, sum);
    bool may_follow = facts && !(sum->page_flags & PAGE_NOFOLLOW);
    finds_init(f, &s->arena, (facts ? facts->link_count : 0) + (said ? said->follow_count : 0) + 1);
    if (may_follow) {
        follow(s, j, c, facts, page, base, r->refresh, f);
        judge_list(s, f, sum);
    }
    if (may_follow && said)
        find_follows(s, j, c, page, said, f);
    if (said)
        take_said(s, said, sum);
}

/* The answer as it came, beside what was made of it. */
static void capture(struct shard *s, const struct fetch_result *r, struct summary *sum)
{
    char address[ADDR_TEXT_MAX];
    struct warc_capture c = capture_of(sum->url, r, address);
    buf_clear(&s->captured);
    if (capture_pack(&c, &s->captured))
        sum->capture = buf_span(&s->captured);
}

void visit_page(struct shard *s, struct job *j, const struct fetch_result *answer, const struct program_result *said)
{
    struct summary sum;
    struct finds finds = {0};
    struct url page;
    struct fetch_result nothing;
    const struct fetch_result *r = answer;
    if (is_about_nothing(j, answer)) {
        nothing = *answer;
        nothing.st = ST_PROTOCOL;
        nothing.why = "\"not modified\", and nobody had asked for changes";
        r = &nothing;
    }
    j->result = frontier_result_of(s->crawl, r, clock_wall());
    describe_answer(s, j, r, &sum);
    j->result.is_half = is_half(j, r, &sum);
    if (r->st != ST_OK && !j->imported_at)
        crawl_note_host_failure(s->crawl, j->lease.host, r->st, r->why);

    struct channel *c = shard_channel(s, j->lease.channel);
    bool is_read = r->st == ST_OK && c && url_parse(&s->arena, j->lease.url, NULL, &page) == ST_OK;
    if (is_read && r->http_status >= 200 && r->http_status < 300)
        find_in_page(s, j, c, &page, r, said, &sum, &finds);
    else if (is_read && r->http_status >= 300 && r->http_status < 400 && r->location.n)
        find_redirect(s, j, c, &page, r->location, &sum, &finds);
    else if (is_read && r->http_status >= 300 && r->http_status < 400 && r->http_status != 304)
        sum.reason = SPAN("redirect that names no place");

    status st = finds_settle(s, &finds);
    if (st != ST_OK) {
        crawl_fail(s->crawl, st, "note the URLs that were found");
        job_free(j);
        return;
    }
    if (r->has_raw && wants_capture(s, sum.channel))
        capture(s, r, &sum);
    sum.links = finds.links;
    sum.link_count = finds.n;
    finish_page(s, j, &sum, finds.urls);
}

void visit_without_request(struct shard *s, struct job *j)
{
    struct summary sum;
    describe(s, j, &sum);
    sum.is_refused = j->lease.kind == LEASE_REFUSED;
    sum.failure = (uint8_t)j->lease.failure;
    sum.reason = sum.is_refused ? j->lease.rule : SPAN("the host answers, but not at this scheme and port");
    j->result = (struct frontier_result){.st = ST_OK, .retry_after_ms = -1};
    finish_page(s, j, &sum, NULL);
}
