/* facts.c - one page: tokens in, facts out.
 *
 * The life of "<p>See <a href=x>the <b>list</b></a>": p ends a block of the fold; "See " goes into the fold; the a adds
 * a link and begins the anchor's capture at the fold's position; "the ", "list" go into the fold (b is nothing to us);
 * the end of a copies what the fold got since into the link. */
#include "web/facts.h"

#include "base/utf8.h"
#include "web/facts_meta.h"
#include "web/facts_text.h"
#include "web/html_next.h"
#include "web/sitemap.h"

#define FOREIGN_MAX 64
#define NO_LINK SIZE_MAX

/* What a tag means to us, whatever its attributes. */
enum {
    DO_BREAK = 1,  /* block boundary */
    DO_GAP = 2,    /* word boundary */
    DO_LEAVE = 4,  /* as a start tag it ends svg and math (13.2.6.5) */
    DO_RAW = 8,    /* content is not markup, see raw_state */
    DO_START = 16, /* on_start has a case for it */
    DO_END = 32,   /* on_end has a case for it */
};

static const uint8_t DOES[HTML_TAG_COUNT] = {
    [HTML_TAG_a] = DO_START | DO_END,
    [HTML_TAG_address] = DO_BREAK,
    [HTML_TAG_area] = DO_START,
    [HTML_TAG_article] = DO_BREAK,
    [HTML_TAG_aside] = DO_BREAK,
    [HTML_TAG_audio] = DO_GAP,
    [HTML_TAG_b] = DO_LEAVE,
    [HTML_TAG_base] = DO_START,
    [HTML_TAG_big] = DO_LEAVE,
    [HTML_TAG_blockquote] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_body] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_br] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_button] = DO_GAP,
    [HTML_TAG_canvas] = DO_GAP,
    [HTML_TAG_caption] = DO_BREAK,
    [HTML_TAG_center] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_code] = DO_LEAVE,
    [HTML_TAG_datalist] = DO_GAP | DO_END,
    [HTML_TAG_dd] = DO_BREAK | DO_LEAVE | DO_START,
    [HTML_TAG_details] = DO_BREAK,
    [HTML_TAG_dialog] = DO_BREAK,
    [HTML_TAG_dir] = DO_BREAK,
    [HTML_TAG_div] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_dl] = DO_BREAK | DO_LEAVE | DO_END,
    [HTML_TAG_dt] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_em] = DO_LEAVE,
    [HTML_TAG_embed] = DO_GAP | DO_LEAVE,
    [HTML_TAG_fieldset] = DO_BREAK,
    [HTML_TAG_figcaption] = DO_BREAK,
    [HTML_TAG_figure] = DO_BREAK,
    [HTML_TAG_footer] = DO_BREAK,
    [HTML_TAG_form] = DO_BREAK,
    [HTML_TAG_frame] = DO_START,
    [HTML_TAG_frameset] = DO_BREAK,
    [HTML_TAG_h1] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_h2] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_h3] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_h4] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_h5] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_h6] = DO_BREAK | DO_LEAVE | DO_START | DO_END,
    [HTML_TAG_head] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_header] = DO_BREAK,
    [HTML_TAG_hgroup] = DO_BREAK,
    [HTML_TAG_hr] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_html] = DO_BREAK | DO_START,
    [HTML_TAG_i] = DO_LEAVE,
    [HTML_TAG_iframe] = DO_GAP | DO_RAW | DO_START,
    [HTML_TAG_image] = DO_START,
    [HTML_TAG_img] = DO_LEAVE | DO_START,
    [HTML_TAG_input] = DO_GAP,
    [HTML_TAG_legend] = DO_BREAK,
    [HTML_TAG_li] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_link] = DO_START,
    [HTML_TAG_listing] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_main] = DO_BREAK,
    [HTML_TAG_math] = DO_START,
    [HTML_TAG_menu] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_meta] = DO_LEAVE | DO_START,
    [HTML_TAG_nav] = DO_BREAK,
    [HTML_TAG_nobr] = DO_LEAVE,
    [HTML_TAG_noembed] = DO_RAW,
    [HTML_TAG_noframes] = DO_RAW,
    [HTML_TAG_noscript] = DO_BREAK,
    [HTML_TAG_object] = DO_GAP,
    [HTML_TAG_ol] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_optgroup] = DO_BREAK,
    [HTML_TAG_option] = DO_GAP | DO_START | DO_END,
    [HTML_TAG_p] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_plaintext] = DO_BREAK | DO_RAW,
    [HTML_TAG_pre] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_ruby] = DO_LEAVE,
    [HTML_TAG_s] = DO_LEAVE,
    [HTML_TAG_script] = DO_RAW | DO_START,
    [HTML_TAG_search] = DO_BREAK,
    [HTML_TAG_section] = DO_BREAK,
    [HTML_TAG_select] = DO_GAP | DO_END,
    [HTML_TAG_small] = DO_LEAVE,
    [HTML_TAG_span] = DO_LEAVE,
    [HTML_TAG_strike] = DO_LEAVE,
    [HTML_TAG_strong] = DO_LEAVE,
    [HTML_TAG_style] = DO_RAW,
    [HTML_TAG_sub] = DO_LEAVE,
    [HTML_TAG_summary] = DO_BREAK,
    [HTML_TAG_sup] = DO_LEAVE,
    [HTML_TAG_svg] = DO_GAP | DO_START,
    [HTML_TAG_table] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_tbody] = DO_BREAK,
    [HTML_TAG_td] = DO_GAP,
    [HTML_TAG_template] = DO_START | DO_END,
    [HTML_TAG_textarea] = DO_GAP | DO_RAW,
    [HTML_TAG_tfoot] = DO_BREAK,
    [HTML_TAG_th] = DO_GAP,
    [HTML_TAG_thead] = DO_BREAK,
    [HTML_TAG_title] = DO_RAW,
    [HTML_TAG_tr] = DO_BREAK,
    [HTML_TAG_tt] = DO_LEAVE,
    [HTML_TAG_u] = DO_LEAVE,
    [HTML_TAG_ul] = DO_BREAK | DO_LEAVE,
    [HTML_TAG_var] = DO_LEAVE,
    [HTML_TAG_video] = DO_GAP,
    [HTML_TAG_xmp] = DO_BREAK | DO_RAW,
};

static const bool WANTS_ATTRS[HTML_TAG_COUNT] = {
    [HTML_TAG_a] = true,    [HTML_TAG_area] = true,  [HTML_TAG_base] = true,   [HTML_TAG_frame] = true,
    [HTML_TAG_html] = true, [HTML_TAG_image] = true, [HTML_TAG_iframe] = true, [HTML_TAG_img] = true,
    [HTML_TAG_link] = true, [HTML_TAG_meta] = true,
};

/* Why text is not visible just now; several may hold at once. */
enum {
    MUTE_RAW = 1,      /* inside script, style and the like */
    MUTE_OPTION = 2,   /* inside option */
    MUTE_FOREIGN = 4,  /* inside title, style or script of an svg */
    MUTE_TEMPLATE = 8, /* inside template: tags do not count either */
};

enum { CAPTURE_ANCHOR, CAPTURE_HEADING, CAPTURE_COUNT };

struct collector {
    struct arena *a;
    const struct facts_opts *opts;
    struct facts *out;
    unsigned mute;
    html_tag raw_tag;      /* whose raw text comes next */
    html_tag foreign_mute; /* whose end tag ends MUTE_FOREIGN */
    unsigned template_depth;
    /* Which namespace we are in: a bit a level, 1 for svg and math, 0 for the places in them where HTML is
     * (foreignObject, desc). Deeper than FOREIGN_MAX is not followed. */
    uint64_t foreign;
    unsigned foreign_depth;
    size_t link_cap, heading_cap;
    size_t open_link; /* index, or NO_LINK */
    uint8_t heading_level;
    bool has_html_lang, has_description;
    struct capture captures[CAPTURE_COUNT];
    char anchor_text[FACTS_ANCHOR_MAX], heading_text[FACTS_HEADING_MAX];
    struct fold fold;
    struct html_tok tok;
};

/* Whether the current node is of svg or math. */
static bool in_foreign(const struct collector *c)
{
    return c->foreign_depth && (c->foreign >> (c->foreign_depth - 1) & 1);
}

/* ---- links and headings ---- */

/* Room for one more in an array of the arena: doubled, and the old one left behind. */
static void *grow(struct arena *a, void *items, size_t count, size_t *cap, size_t item)
{
    if (count < *cap)
        return items;
    size_t more = *cap ? *cap * 2 : 32;
    void *p = arena_alloc(a, more * item);
    if (count)
        memcpy(p, items, count * item);
    *cap = more;
    return p;
}

/* Index of the new link, or NO_LINK. */
static size_t add_link(struct collector *c, link_kind kind, struct span href, unsigned rel)
{
    struct facts *out = c->out;
    if (out->link_count == FACTS_LINKS_MAX) {
        out->links_cut = true;
        return NO_LINK;
    }
    out->links = grow(c->a, out->links, out->link_count, &c->link_cap, sizeof(*out->links));
    out->links[out->link_count] = (struct fact_link){
        .href = href,
        .text = {"", 0},
        .kind = (uint8_t)kind,
        .rel = (uint8_t)(rel & (REL_NOFOLLOW | REL_UGC | REL_SPONSORED)),
    };
    return out->link_count++;
}

/* The attribute decoded and trimmed; false when the tag does not have it. */
static bool attr_text(struct collector *c, const struct html_token *tok, struct span name, struct span *out)
{
    const struct span *raw = html_attr_find(tok, name);
    if (raw)
        *out = span_trim(html_attr_value(c->a, *raw));
    return raw != NULL;
}

static unsigned rel_of(struct collector *c, const struct html_token *tok)
{
    struct span rel;
    return attr_text(c, tok, SPAN("rel"), &rel) ? facts_rel(rel) : 0;
}

static void end_anchor(struct collector *c)
{
    if (c->open_link == NO_LINK)
        return;
    c->out->links[c->open_link].text = capture_end(&c->captures[CAPTURE_ANCHOR], &c->fold, c->a);
    c->open_link = NO_LINK;
}

static void start_anchor(struct collector *c, const struct html_token *tok)
{
    struct span href;
    end_anchor(c); /* an a within an a ends the outer one */
    if (!attr_text(c, tok, SPAN("href"), &href) && !(c->foreign_depth && attr_text(c, tok, SPAN("xlink:href"), &href)))
        return;
    size_t at = add_link(c, LINK_A, href, rel_of(c, tok));
    bool is_empty = tok->tag == HTML_TAG_area || (tok->self_closing && in_foreign(c));
    if (!c->opts->keep_anchors || at == NO_LINK || is_empty)
        return;
    c->open_link = at;
    capture_begin(&c->captures[CAPTURE_ANCHOR], &c->fold);
}

static void end_heading(struct collector *c)
{
    struct facts *out = c->out;
    struct capture *capture = &c->captures[CAPTURE_HEADING];
    if (!capture->on)
        return;
    if (out->heading_count == FACTS_HEADINGS_MAX) {
        capture->on = false;
        return;
    }
    struct span text = capture_end(capture, &c->fold, c->a);
    if (!text.n)
        return;
    out->headings = grow(c->a, out->headings, out->heading_count, &c->heading_cap, sizeof(*out->headings));
    out->headings[out->heading_count++] = (struct fact_heading){c->heading_level, text};
}

static void start_heading(struct collector *c, uint8_t level)
{
    end_heading(c);
    c->heading_level = level;
    capture_begin(&c->captures[CAPTURE_HEADING], &c->fold);
}

/* A term ends with its own end tag, the next term, its description or the list; a heading inside it ends it too. */
static void end_term(struct collector *c)
{
    if (c->heading_level == FACTS_TERM_LEVEL)
        end_heading(c);
}

/* ---- head ---- */

static bool is_feed(struct span type, struct span href)
{
    return span_is_nocase(type, "application/rss+xml") || span_is_nocase(type, "application/atom+xml") ||
           sitemap_may_be_json(type, href);
}

/* The language that it is said to be in goes where an anchor has its text. */
static void add_alternate(struct collector *c, const struct html_token *tok, struct span href, unsigned rel)
{
    struct span lang;
    size_t at = add_link(c, LINK_ALTERNATE, href, rel);
    if (at != NO_LINK && c->opts->keep_anchors && attr_text(c, tok, SPAN("hreflang"), &lang) &&
        lang.n <= FACTS_HREFLANG_MAX)
        c->out->links[at].text = lang;
}

static void on_link(struct collector *c, const struct html_token *tok)
{
    struct span href, type = {"", 0};
    unsigned rel = rel_of(c, tok);
    if (!(rel & ~(unsigned)REL_STYLESHEET) || !attr_text(c, tok, SPAN("href"), &href) || !href.n)
        return;
    if ((rel & REL_CANONICAL) && !c->out->canonical.n)
        c->out->canonical = href;
    if (rel & REL_NEXT)
        add_link(c, LINK_NEXT, href, rel);
    if (rel & REL_SITEMAP)
        add_link(c, LINK_SITEMAP, href, rel);
    if (!(rel & REL_ALTERNATE) || (rel & REL_STYLESHEET))
        return;
    attr_text(c, tok, SPAN("type"), &type);
    if (is_feed(type, href))
        add_link(c, LINK_FEED, href, rel);
    else if (!type.n || span_is_nocase(type, "text/html") || html_attr_find(tok, SPAN("hreflang")))
        add_alternate(c, tok, href, rel);
}

static void on_http_equiv(struct collector *c, struct span what, struct span content)
{
    struct span url;
    bool is_at_once;
    if (span_is_nocase(what, "refresh")) {
        if (!facts_refresh_url(content, &url, &is_at_once))
            return;
        add_link(c, LINK_REFRESH, span_trim(url), 0);
        if (is_at_once && !c->out->leads_to.n)
            c->out->leads_to = span_trim(url);
    } else if (span_is_nocase(what, "content-language") && !c->has_html_lang) {
        c->out->lang = content;
    }
}

static void on_meta(struct collector *c, const struct html_token *tok)
{
    struct facts *out = c->out;
    struct span name, content;
    if (!attr_text(c, tok, SPAN("content"), &content))
        return;
    if (attr_text(c, tok, SPAN("http-equiv"), &name))
        on_http_equiv(c, name, content);
    if (attr_text(c, tok, SPAN("name"), &name)) {
        if (span_is_nocase(name, "robots") || (c->opts->agent.n && span_eq_nocase(name, c->opts->agent)))
            out->page_flags |= facts_robots_content(content, c->opts->now);
        if (span_is_nocase(name, "description") && !c->has_description && content.n) {
            out->description = fold_line(c->a, content, FACTS_DESCRIPTION_MAX);
            c->has_description = true;
        }
    }
    if (!out->description.n && attr_text(c, tok, SPAN("property"), &name) && span_is_nocase(name, "og:description"))
        out->description = fold_line(c->a, content, FACTS_DESCRIPTION_MAX);
}

static void on_html(struct collector *c, const struct html_token *tok)
{
    struct span lang;
    if (!c->has_html_lang && attr_text(c, tok, SPAN("lang"), &lang) && lang.n) {
        c->out->lang = lang;
        c->has_html_lang = true;
    }
}

static void on_frame(struct collector *c, const struct html_token *tok)
{
    struct span src;
    if (attr_text(c, tok, SPAN("src"), &src) && src.n)
        add_link(c, LINK_FRAME, src, 0);
}

static void on_image(struct collector *c, const struct html_token *tok)
{
    struct span alt;
    if (c->open_link != NO_LINK && attr_text(c, tok, SPAN("alt"), &alt))
        capture_add(&c->captures[CAPTURE_ANCHOR], &c->fold, alt);
}

/* ---- svg and math ---- */

static void foreign_push(struct collector *c, bool is_foreign)
{
    if (c->foreign_depth == FOREIGN_MAX)
        return;
    uint64_t bit = (uint64_t)1 << c->foreign_depth++;
    c->foreign = is_foreign ? c->foreign | bit : c->foreign & ~bit;
}

static void foreign_changed(struct collector *c)
{
    if (!c->foreign_depth)
        c->foreign = 0;
    c->tok.foreign = in_foreign(c);
    if (!c->tok.foreign)
        c->mute &= ~(unsigned)MUTE_FOREIGN;
}

static void foreign_leave(struct collector *c)
{
    while (in_foreign(c))
        c->foreign_depth--;
    foreign_changed(c);
}

/* A start tag within svg or math. True: it belongs there, and is not a tag of HTML. */
static bool foreign_start(struct collector *c, const struct html_token *tok)
{
    if (!in_foreign(c))
        return false;
    if (DOES[tok->tag] & DO_LEAVE) {
        foreign_leave(c);
        return false;
    }
    if (tok->tag == HTML_TAG_script)
        c->out->has_script = true;
    if (tok->self_closing)
        return tok->tag != HTML_TAG_a;
    if (tok->tag == HTML_TAG_foreignobject || tok->tag == HTML_TAG_desc) {
        foreign_push(c, false);
        foreign_changed(c);
    } else if (tok->tag == HTML_TAG_title || tok->tag == HTML_TAG_style || tok->tag == HTML_TAG_script) {
        c->mute |= MUTE_FOREIGN;
        c->foreign_mute = (html_tag)tok->tag;
    }
    return tok->tag != HTML_TAG_a && tok->tag != HTML_TAG_svg && tok->tag != HTML_TAG_math;
}

static void foreign_end(struct collector *c, html_tag tag)
{
    if (tag == HTML_TAG_svg || tag == HTML_TAG_math) {
        while (c->foreign_depth && !in_foreign(c))
            c->foreign_depth--;
        if (c->foreign_depth)
            c->foreign_depth--;
    } else if ((tag == HTML_TAG_foreignobject || tag == HTML_TAG_desc) && !in_foreign(c)) {
        c->foreign_depth--;
    } else if ((c->mute & MUTE_FOREIGN) && tag == c->foreign_mute) {
        c->mute &= ~(unsigned)MUTE_FOREIGN;
    } else if (in_foreign(c) && (DOES[tag] & (DO_BREAK | DO_LEAVE))) {
        foreign_leave(c); /* most likely of an element that an unclosed svg is in */
    }
    foreign_changed(c);
}

/* ---- tags ---- */

static html_state raw_state(html_tag tag)
{
    switch (tag) {
    case HTML_TAG_title:
    case HTML_TAG_textarea:
        return HTML_RCDATA;
    case HTML_TAG_script:
        return HTML_SCRIPT;
    case HTML_TAG_plaintext:
        return HTML_PLAINTEXT;
    default:
        return HTML_RAWTEXT;
    }
}

/* Tags that say something by themselves. */
static void on_start(struct collector *c, const struct html_token *tok)
{
    switch (tok->tag) {
    case HTML_TAG_a:
    case HTML_TAG_area:
        start_anchor(c, tok);
        break;
    case HTML_TAG_iframe:
    case HTML_TAG_frame:
        on_frame(c, tok);
        break;
    case HTML_TAG_img:
    case HTML_TAG_image:
        on_image(c, tok);
        break;
    case HTML_TAG_link:
        on_link(c, tok);
        break;
    case HTML_TAG_meta:
        on_meta(c, tok);
        break;
    case HTML_TAG_html:
        on_html(c, tok);
        break;
    case HTML_TAG_base:
        if (!c->out->base.n)
            attr_text(c, tok, SPAN("href"), &c->out->base);
        break;
    case HTML_TAG_option:
        c->mute |= MUTE_OPTION;
        break;
    case HTML_TAG_script:
        c->out->has_script = true;
        break;
    case HTML_TAG_svg:
    case HTML_TAG_math:
        if (!tok->self_closing) {
            foreign_push(c, true);
            foreign_changed(c);
        }
        break;
    case HTML_TAG_template:
        break;
    case HTML_TAG_dt:
        start_heading(c, FACTS_TERM_LEVEL);
        break;
    case HTML_TAG_dd:
        end_term(c);
        break;
    default:
        start_heading(c, (uint8_t)(tok->tag - HTML_TAG_h1 + 1));
    }
}

static inline void boundary(struct collector *c, unsigned does)
{
    if (does & DO_BREAK) {
        c->mute &= ~(unsigned)MUTE_OPTION; /* an option that was never closed */
        fold_break(&c->fold);
    } else if (does & DO_GAP) {
        fold_gap(&c->fold);
    }
}

static void start_tag(struct collector *c, const struct html_token *tok)
{
    if (c->foreign_depth && foreign_start(c, tok))
        return;
    unsigned does = DOES[tok->tag];
    if (does & DO_RAW) {
        c->raw_tag = (html_tag)tok->tag;
        html_switch(&c->tok, raw_state(c->raw_tag));
        if (c->raw_tag != HTML_TAG_plaintext && c->raw_tag != HTML_TAG_xmp)
            c->mute |= MUTE_RAW;
    }
    if (tok->tag == HTML_TAG_template) {
        c->template_depth++;
        c->mute |= MUTE_TEMPLATE;
    }
    if (c->mute & MUTE_TEMPLATE)
        return;
    boundary(c, does);
    if (does & DO_START)
        on_start(c, tok);
}

static void end_tag(struct collector *c, html_tag tag)
{
    c->raw_tag = HTML_TAG_other;
    c->mute &= ~(unsigned)MUTE_RAW;
    if (c->foreign_depth)
        foreign_end(c, tag);
    unsigned does = DOES[tag];
    if (!does)
        return;
    if (tag == HTML_TAG_template && c->template_depth && --c->template_depth == 0)
        c->mute &= ~(unsigned)MUTE_TEMPLATE;
    if (c->mute & MUTE_TEMPLATE)
        return;
    if (does & DO_END) {
        if (tag == HTML_TAG_a)
            end_anchor(c);
        else if (tag >= HTML_TAG_h1 && tag <= HTML_TAG_h6)
            end_heading(c);
        else if (tag == HTML_TAG_dt || tag == HTML_TAG_dl)
            end_term(c);
        else
            c->mute &= ~(unsigned)MUTE_OPTION;
    }
    boundary(c, does);
}

static void on_title(struct collector *c, const struct html_token *tok)
{
    if (c->out->title.n || (c->mute & MUTE_TEMPLATE))
        return;
    /* A reference is 33 bytes at most, so this much of a hostile title is enough. */
    struct span raw = utf8_cut(tok->raw, FACTS_TITLE_MAX * 40);
    c->out->title = fold_line(c->a, html_decoded(c->a, raw, tok->decode), FACTS_TITLE_MAX);
}

static void begin(struct collector *c, struct arena *a, struct span page, const struct facts_opts *opts,
                  struct facts *out)
{
    struct span none = {"", 0};
    *out =
        (struct facts){.base = none, .canonical = none, .title = none, .description = none, .lang = none, .text = none};
    c->a = a;
    c->opts = opts;
    c->out = out;
    c->mute = 0;
    c->raw_tag = c->foreign_mute = HTML_TAG_other;
    c->template_depth = 0;
    c->foreign = 0;
    c->foreign_depth = 0;
    c->link_cap = c->heading_cap = 0;
    c->open_link = NO_LINK;
    c->heading_level = 0;
    c->has_html_lang = c->has_description = false;
    c->captures[CAPTURE_ANCHOR] = (struct capture){.max = sizeof(c->anchor_text), .text = c->anchor_text};
    c->captures[CAPTURE_HEADING] = (struct capture){.max = sizeof(c->heading_text), .text = c->heading_text};
    fold_begin(&c->fold, a, page, opts->keep_text);
    c->fold.captures = c->captures;
    c->fold.capture_count = CAPTURE_COUNT;
}

void facts_collect(struct arena *a, struct span html, const struct facts_opts *opts, struct facts *out)
{
    struct collector c; /* 24 KiB, and set up field by field: clearing all of it costs more than a small page */
    struct html_token tok;
    if (!html.p)
        html = span_of("", 0);
    begin(&c, a, html, opts, out);
    html_begin(&c.tok, html);
    c.tok.wants_attrs = WANTS_ATTRS;
    while (html_next_inline(&c.tok, &tok)) {
        if (tok.kind == HTML_TEXT) {
            if (!c.mute)
                fold_text(&c.fold, tok.raw, tok.decode & HTML_REFS);
            else if (c.raw_tag == HTML_TAG_title)
                on_title(&c, &tok);
        } else if (tok.kind == HTML_START) {
            start_tag(&c, &tok);
        } else if (tok.kind == HTML_END) {
            end_tag(&c, (html_tag)tok.tag);
        }
    }
    end_anchor(&c);
    end_heading(&c);
    fold_end(&c.fold, &out->text, &out->text_bytes, &out->digest);
}

void facts_collect_plain(struct arena *a, struct span text, const struct facts_opts *opts, struct facts *out)
{
    struct collector c;
    if (!text.p)
        text = span_of("", 0);
    begin(&c, a, text, opts, out);
    for (struct span line; span_split(&text, '\n', &line);) {
        line = span_trim(line);
        if (line.n && !out->title.n)
            out->title = fold_line(a, line, FACTS_TITLE_MAX);
        fold_text(&c.fold, line, false);
        fold_break(&c.fold);
    }
    fold_end(&c.fold, &out->text, &out->text_bytes, &out->digest);
}

uint64_t facts_digest(struct span text)
{
    struct text_digest d;
    text_digest_begin(&d);
    text_digest_add(&d, text);
    return text_digest_end(&d);
}
