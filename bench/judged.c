#include "judged.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/file.h"
#include "web/html_token.h"
#include "web/url.h"

#define DEPTH_MAX 8
#define INDEX_BYTES_MAX (64u << 20)

const char *const judged_sites[2] = {"postgresql-doc-15", "python3.11-doc"};

bool judged_is_index(struct span site, struct span path)
{
    if (span_starts(site, SPAN("postgresql")))
        return span_is(path, "bookindex.html");
    return span_starts(site, SPAN("python")) &&
           (span_starts(path, SPAN("genindex")) || span_is(path, "py-modindex.html"));
}

/* ---- words of an entry ---- */

static bool is_word_byte(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

static void put_words(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool is_inner = i && i + 1 < text.n && is_word_byte(text.p[i - 1]) && is_word_byte(text.p[i + 1]);
        if (is_word_byte(c) || ((c == '.' || c == '-') && is_inner))
            buf_putc(out, c);
        else if (out->n && out->p[out->n - 1] != ' ')
            buf_putc(out, ' ');
    }
    if (out->n && out->p[out->n - 1] != ' ')
        buf_putc(out, ' ');
}

/* What Python's index says in brackets after a name, "gamma() (in module math)", goes; a nested entry may be nothing
 * else. */
static struct span without_brackets(struct span text)
{
    size_t open = text.n;
    if (!span_ends(text, SPAN(")")))
        return text;
    while (open > 0 && text.p[open - 1] != '(')
        open--;
    return open ? span_trim(span_cut(text, 0, open - 1)) : text;
}

static void put_entry(struct buf *out, const struct buf *names, size_t depth, bool is_python)
{
    buf_clear(out);
    for (size_t i = 1; i <= depth; i++)
        put_words(out, is_python ? without_brackets(buf_span(&names[i])) : buf_span(&names[i]));
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    for (size_t i = 0; i + 2 <= out->n; i++)
        if (memcmp(out->p + i, "OR", 2) == 0 && (!i || out->p[i - 1] == ' ') &&
            (i + 2 == out->n || out->p[i + 2] == ' '))
            memcpy(out->p + i, "or", 2);
}

/* ---- collecting ---- */

struct parser {
    struct judged *j;
    const struct collection *c;
    const struct url *base;
    bool is_python;
    size_t depth;
    struct buf names[DEPTH_MAX + 1]; /* by depth, from 1 */
    struct buf text;                 /* since the last tag that matters */
    struct span href;                /* of the link that is open */
    struct arena work;
    struct buf query;
};

static struct judgement *find_query(struct judged *j, struct span query)
{
    char *lower = arena_bytes(&j->arena, query.n);
    for (size_t i = 0; i < query.n; i++)
        lower[i] = ascii_lower(query.p[i]);
    uint64_t key = collection_key(span_of(lower, query.n));
    size_t at = (size_t)(uintptr_t)table_get(&j->by_query, key);
    if (at)
        return &j->queries[at - 1];
    j->queries = mem_grow(j->queries, &j->cap, j->count + 1, sizeof(*j->queries));
    j->queries[j->count] = (struct judgement){.query = arena_copy(&j->arena, query), .is_reported = key & 1};
    table_put(&j->by_query, key, (void *)(uintptr_t)++j->count);
    return &j->queries[j->count - 1];
}

static void add_relevant(struct parser *p, const struct page *page)
{
    put_entry(&p->query, p->names, p->depth, p->is_python);
    if (!p->query.n)
        return;
    struct judgement *q = find_query(p->j, buf_span(&p->query));
    for (size_t i = 0; i < q->relevant_count; i++)
        if (q->relevant[i] == page->key)
            return;
    q->relevant = mem_realloc(q->relevant, (q->relevant_count + 1) * sizeof(*q->relevant));
    q->relevant[q->relevant_count++] = page->key;
}

/* Text before the first link names the entry; a link that comes first names it itself. */
static void name_entry(struct parser *p)
{
    struct buf *name = &p->names[p->depth];
    struct span text = span_trim(buf_span(&p->text));
    while (text.n && (text.p[text.n - 1] == ',' || ascii_is_space(text.p[text.n - 1])))
        text.n--;
    if (!name->n)
        buf_put(name, text);
    buf_clear(&p->text);
}

static void on_start(struct parser *p, const struct html_token *tok)
{
    const struct span *href;
    switch (tok->tag) {
    case HTML_TAG_dl:
    case HTML_TAG_ul:
        if (p->depth)
            name_entry(p);
        if (p->depth < DEPTH_MAX)
            p->depth++;
        buf_clear(&p->names[p->depth]);
        break;
    case HTML_TAG_dt:
    case HTML_TAG_li:
        buf_clear(&p->names[p->depth]);
        buf_clear(&p->text);
        break;
    case HTML_TAG_a:
        href = html_attr_find(tok, SPAN("href"));
        if (p->depth && href) {
            name_entry(p);
            p->href = html_attr_value(&p->work, *href);
        }
        break;
    default:
        break;
    }
}

static void on_link_end(struct parser *p)
{
    struct url u;
    struct span href = p->href;
    name_entry(p);
    p->href = (struct span){0};
    if (!href.n || href.p[0] == '#' || url_parse(&p->work, href, p->base, &u) != ST_OK)
        return;
    href = u.href;
    if (u.has_fragment)
        href.n -= u.fragment.n + 1;
    const struct page *page = collection_find(p->c, href);
    if (page)
        add_relevant(p, page);
}

static void on_end(struct parser *p, const struct html_token *tok)
{
    if ((tok->tag == HTML_TAG_dl || tok->tag == HTML_TAG_ul) && p->depth)
        p->depth--;
    else if (tok->tag == HTML_TAG_a && p->href.n)
        on_link_end(p);
}

/* The list itself, without the navigation around it: from `from` to `to`. */
static struct span list_part(struct span html, struct span from, struct span to)
{
    html = span_from(html, span_search(html, from, false));
    size_t last = 0;
    for (size_t at = 0; (at += span_search(span_from(html, at), to, false)) < html.n; at += to.n)
        last = at;
    return last ? span_cut(html, 0, last) : html;
}

static void parse_list(struct parser *p, struct span html)
{
    static struct html_tok t;
    struct html_token tok;
    html_begin(&t, html);
    p->depth = 0;
    while (html_next(&t, &tok)) {
        if (tok.kind == HTML_TEXT)
            html_decode(&p->text, tok.raw, tok.decode);
        else if (tok.kind == HTML_START)
            on_start(p, &tok);
        else if (tok.kind == HTML_END)
            on_end(p, &tok);
    }
}

static void parse_file(struct judged *j, const struct collection *c, const char *path, const char *site,
                       const char *name)
{
    struct parser p = {.j = j, .c = c, .is_python = span_starts(span_str(site), SPAN("python"))};
    struct buf html = {0};
    struct url base;
    char address[1024];
    arena_init(&p.work);
    snprintf(address, sizeof(address), "http://%s.example/%s", site, name);
    if (file_read(path, INDEX_BYTES_MAX, &html) == ST_OK &&
        url_parse(&p.work, span_str(address), NULL, &base) == ST_OK) {
        p.base = &base;
        parse_list(&p, p.is_python ? list_part(buf_span(&html), SPAN("class=\"indextable\""), SPAN("</table>"))
                                   : list_part(buf_span(&html), SPAN("id=\"BOOKINDEX\""), SPAN("</dl>")));
    }
    for (size_t i = 0; i <= DEPTH_MAX; i++)
        buf_done(&p.names[i]);
    buf_done(&p.text);
    buf_done(&p.query);
    buf_done(&html);
    arena_done(&p.work);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_list(const struct dirent *e)
{
    struct span name = span_str(e->d_name);
    return span_is(name, "bookindex.html") || (span_starts(name, SPAN("genindex-")) && span_ends(name, SPAN(".html")));
}

status judged_read(const char *sites, const struct collection *c, struct judged **out)
{
    struct judged *j = mem_alloc(sizeof(*j));
    arena_init(&j->arena);
    for (size_t i = 0; i < sizeof(judged_sites) / sizeof(judged_sites[0]); i++) {
        char folder[4096], path[8192];
        struct dirent **names = NULL;
        snprintf(folder, sizeof(folder), "%s/%s", sites, judged_sites[i]);
        int n = scandir(folder, &names, is_list, by_name);
        for (int k = 0; k < n; k++) {
            snprintf(path, sizeof(path), "%s/%s", folder, names[k]->d_name);
            parse_file(j, c, path, judged_sites[i], names[k]->d_name);
            free(names[k]);
        }
        free(names);
    }
    if (!j->count) {
        judged_free(j);
        return ST_NOT_FOUND;
    }
    *out = j;
    return ST_OK;
}

void judged_free(struct judged *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->count; i++)
        free(j->queries[i].relevant);
    free(j->queries);
    table_done(&j->by_query);
    arena_done(&j->arena);
    free(j);
}

/* ---- measures ---- */

static bool is_relevant(const struct judgement *q, uint64_t key)
{
    for (size_t i = 0; i < q->relevant_count; i++)
        if (q->relevant[i] == key)
            return true;
    return false;
}

double judged_ndcg(const struct judgement *q, const uint64_t *hits, size_t n)
{
    double gain = 0, ideal = 0;
    for (size_t i = 0; i < 10; i++) {
        double worth = 1 / log2((double)i + 2);
        if (i < n && is_relevant(q, hits[i]))
            gain += worth;
        if (i < q->relevant_count)
            ideal += worth;
    }
    return ideal > 0 ? gain / ideal : 0;
}

double judged_reciprocal_rank(const struct judgement *q, const uint64_t *hits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_relevant(q, hits[i]))
            return 1 / (double)(i + 1);
    return 0;
}
