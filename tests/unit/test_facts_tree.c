/* test_facts_tree.c - text and links found without a tree, against those of a tree: the expected trees of the
 * tree-construction vectors, and gumbo's over random tag soup. */
#include "test.h"

#include <gumbo.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "web/facts.h"

/* What a tree says: text without white space, and the href of every a, each as a line, sorted, once. */
struct tree {
    struct buf text;
    struct span *hrefs;
    size_t href_count, href_cap;
    struct arena a;
};

static void tree_begin(struct tree *t)
{
    *t = (struct tree){0};
    arena_init(&t->a);
}

static void tree_done(struct tree *t)
{
    buf_done(&t->text);
    free(t->hrefs);
    arena_done(&t->a);
}

static void tree_text(struct tree *t, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_space(s.p[i]) && s.p[i])
            buf_putc(&t->text, s.p[i]);
}

static void tree_href(struct tree *t, struct span href)
{
    href = span_trim(href);
    for (size_t i = 0; i < t->href_count; i++)
        if (span_eq(t->hrefs[i], href))
            return;
    t->hrefs = mem_grow(t->hrefs, &t->href_cap, t->href_count + 1, sizeof(*t->hrefs));
    t->hrefs[t->href_count++] = arena_copy(&t->a, href);
}

static int by_span(const void *a, const void *b)
{
    return span_cmp(*(const struct span *)a, *(const struct span *)b);
}

static int by_byte(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

static void tree_of_facts(struct tree *t, struct span html)
{
    static const struct facts_opts opts = {.keep_text = true, .keep_anchors = true};
    struct facts f;
    /* An exact copy on the heap: ASan sees any byte read past it. */
    char *copy = malloc(html.n ? html.n : 1);
    memcpy(copy, html.p, html.n);
    facts_collect(&t->a, span_of(copy, html.n), &opts, &f);
    tree_text(t, f.text);
    for (size_t i = 0; i < f.link_count; i++)
        if (f.links[i].kind == LINK_A)
            tree_href(t, f.links[i].href);
    free(copy);
}

static bool same_hrefs(struct tree *x, struct tree *y)
{
    if (x->href_count != y->href_count)
        return false;
    if (x->href_count) {
        qsort(x->hrefs, x->href_count, sizeof(*x->hrefs), by_span);
        qsort(y->hrefs, y->href_count, sizeof(*y->hrefs), by_span);
    }
    for (size_t i = 0; i < x->href_count; i++)
        if (!span_eq(x->hrefs[i], y->hrefs[i]))
            return false;
    return true;
}

/* The same bytes in any order: what moves elements about (foster parenting, adoption agency) loses nothing. */
static bool same_bytes(struct tree *x, struct tree *y)
{
    if (x->text.n)
        qsort(x->text.p, x->text.n, 1, by_byte);
    if (y->text.n)
        qsort(y->text.p, y->text.n, 1, by_byte);
    return span_eq(buf_span(&x->text), buf_span(&y->text));
}

static bool hides_text(struct span name)
{
    static const char *const names[] = {"script", "style",   "title",    "textarea", "option",
                                        "iframe", "noembed", "noframes", "template"};
    size_t space = span_find(name, ' ', 0);
    if (space < name.n)
        name = span_from(name, space + 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

#define DEPTH_MAX 64

/* Reads the "| <p>" lines of a #document section. */
static void tree_of_lines(struct tree *t, struct span lines)
{
    bool hides[DEPTH_MAX] = {false}, is_a[DEPTH_MAX] = {false};
    struct span line, rest = lines;
    size_t text_depth = 0;
    bool in_text = false;
    while (span_split(&rest, '\n', &line)) {
        if (!span_starts(line, SPAN("| "))) {
            /* A text node goes on, up to its closing quote. */
            if (in_text && span_ends(line, SPAN("\"")))
                line.n--;
            if (in_text && !hides[text_depth])
                tree_text(t, line);
            continue;
        }
        in_text = false;
        line = span_from(line, 2);
        size_t depth = 0;
        while (span_starts(line, SPAN("  "))) {
            line = span_from(line, 2);
            depth++;
        }
        assert_true(depth + 1 < DEPTH_MAX);
        size_t equals = span_search(line, SPAN("=\""), false);
        if (span_starts(line, SPAN("\""))) {
            in_text = true;
            text_depth = depth;
            line = span_from(line, 1);
            if (span_ends(line, SPAN("\"")) && !(rest.n && rest.p[0] != '|'))
                line.n--;
            if (!hides[depth])
                tree_text(t, line);
        } else if (span_starts(line, SPAN("<!"))) {
            continue;
        } else if (span_starts(line, SPAN("<")) && span_ends(line, SPAN(">"))) {
            struct span name = span_cut(line, 1, line.n - 2);
            hides[depth + 1] = hides[depth] || hides_text(name);
            is_a[depth + 1] = span_is(name, "a") && !hides[depth];
        } else if (equals < line.n) {
            if (is_a[depth] && span_is(span_cut(line, 0, equals), "href"))
                tree_href(t, span_cut(line, equals + 2, line.n - equals - 3));
        } else {
            hides[depth + 1] = hides[depth]; /* "content" of a template */
        }
    }
}

/* Vectors whose facts differ from the tree's, and why a collector without a tree cannot or need not agree. */
#define FRAMESET "a frameset page has no body, so its stray text is in no node; to us it is text"
static const struct {
    const char *data, *why;
} DIFFERENT[] = {
    {"<!DOCTYPE html><frameset>test", FRAMESET},
    {"<!DOCTYPE html><frameset> te st", FRAMESET},
    {"<!DOCTYPE html><frameset></frameset> te st", FRAMESET},
};

/* Vectors whose text is the same in another order. */
static const char *const MOVED[] = {
    /* foster parenting: the x in the table goes in front of it */
    "<a href=\"blah\">aba<table><tr><td><a href=\"foo\">br</td></tr>x</table>aoe",
    "<table><a href=\"blah\">aba<tr><td><a href=\"foo\">br</td></tr>x</table>aoe",
};

static bool is_moved(struct span data)
{
    for (size_t i = 0; i < sizeof(MOVED) / sizeof(MOVED[0]); i++)
        if (span_is(data, MOVED[i]))
            return true;
    return false;
}

static const char *why_different(struct span data)
{
    for (size_t i = 0; i < sizeof(DIFFERENT) / sizeof(DIFFERENT[0]); i++)
        if (span_is(data, DIFFERENT[i].data))
            return DIFFERENT[i].why;
    return NULL;
}

struct tree_counts {
    unsigned same, moved, listed, skipped;
};

static void check_tree(struct span test, struct tree_counts *counts)
{
    size_t errors = span_search(test, SPAN("\n#errors\n"), false);
    size_t document = span_search(test, SPAN("\n#document\n"), false);
    if (document == test.n || span_search(test, SPAN("\n#document-fragment\n"), false) < test.n ||
        span_search(test, SPAN("\n#script-on\n"), false) < test.n) {
        counts->skipped++;
        return;
    }
    struct span data = span_cut(test, 0, errors), lines = span_from(test, document + 11);
    while (span_ends(lines, SPAN("\n")))
        lines.n--;
    struct tree got, want;
    tree_begin(&got);
    tree_begin(&want);
    tree_of_facts(&got, data);
    tree_of_lines(&want, lines);
    const char *why = why_different(data);
    bool is_equal = span_eq(buf_span(&got.text), buf_span(&want.text));
    struct span got_text = arena_copy(&got.a, buf_span(&got.text));
    struct span want_text = arena_copy(&want.a, buf_span(&want.text));
    bool is_same = same_hrefs(&got, &want) && (is_equal || (is_moved(data) && same_bytes(&got, &want)));
    if (why && is_same)
        fail_msg("listed as different and is not: %.*s", SPAN_ARG(data));
    if (!why && !is_same)
        fail_msg("%.*s\n got %zu hrefs, text \"%.*s\"\n want %zu hrefs, text \"%.*s\"", SPAN_ARG(data), got.href_count,
                 SPAN_ARG(got_text), want.href_count, SPAN_ARG(want_text));
    counts->listed += why != NULL;
    counts->same += !why && is_equal;
    counts->moved += !why && !is_equal;
    tree_done(&got);
    tree_done(&want);
}

static void check_tree_file(const char *path, struct tree_counts *counts)
{
    struct span file = test_read_file(path), rest = file;
    assert_true(span_starts(rest, SPAN("#data\n")));
    rest = span_from(rest, 6);
    while (rest.n) {
        size_t next = span_search(rest, SPAN("\n#data\n"), false);
        check_tree(span_cut(rest, 0, next), counts);
        rest = span_from(rest, next + 7);
    }
    free((void *)file.p);
}

static void trees_of_the_vectors_say_the_same(void **state)
{
    struct tree_counts counts = {0};
    check_tree_file(TEST_DATA "/html/tests1.dat", &counts);
    check_tree_file(TEST_DATA "/html/tests2.dat", &counts);
    print_message("trees: %u the same, %u in another order, %u listed as different, %u skipped\n", counts.same,
                  counts.moved, counts.listed, counts.skipped);
    assert_true(counts.same >= 100);
}

/* ---- gumbo ---- */

/* Without recursion: gumbo's parents lead the way back. */
static const GumboNode *next_node(const GumboNode *node, const GumboNode *root)
{
    bool has_children = node->type == GUMBO_NODE_DOCUMENT || node->type == GUMBO_NODE_ELEMENT;
    if (has_children) {
        const GumboVector *kids =
            node->type == GUMBO_NODE_DOCUMENT ? &node->v.document.children : &node->v.element.children;
        if (kids->length)
            return kids->data[0];
    }
    while (node != root) {
        const GumboNode *parent = node->parent;
        const GumboVector *kids =
            parent->type == GUMBO_NODE_DOCUMENT ? &parent->v.document.children : &parent->v.element.children;
        if (node->index_within_parent + 1 < kids->length)
            return kids->data[node->index_within_parent + 1];
        node = parent;
    }
    return NULL;
}

/* Templates are nodes of their own type in gumbo, and next_node does not enter them. */
static bool is_hidden(const GumboNode *node)
{
    for (node = node->parent; node && node->type == GUMBO_NODE_ELEMENT; node = node->parent)
        if (hides_text(span_str(gumbo_normalized_tagname(node->v.element.tag))))
            return true;
    return false;
}

static void tree_of_gumbo(struct tree *t, struct span html)
{
    GumboOptions opts = kGumboDefaultOptions;
    opts.max_errors = 0;
    GumboOutput *out = gumbo_parse_with_options(&opts, html.p, html.n);
    for (const GumboNode *n = out->root; n; n = next_node(n, out->root)) {
        if (n->type == GUMBO_NODE_ELEMENT && n->v.element.tag == GUMBO_TAG_A) {
            GumboAttribute *href = gumbo_get_attribute(&n->v.element.attributes, "href");
            if (href)
                tree_href(t, span_str(href->value));
        } else if ((n->type == GUMBO_NODE_TEXT || n->type == GUMBO_NODE_CDATA) && !is_hidden(n)) {
            tree_text(t, span_str(n->v.text.text));
        }
    }
    gumbo_destroy_output(&kGumboDefaultOptions, out);
}

/* Pieces that tag soup is made of. Left out: select, frameset, caption and colgroup, where the tree throws text away;
 * MathML, whose text integration points we do not follow; and "</>", after which gumbo 0.10 misses an end tag. '%'
 * becomes a number, so that words and links differ. */
/* clang-format off */
static const char *const SOUP[] = {
    "w% ", " x% ", "&lt;", "&amp%", "&copy;", "&#6%;", "&notin%", "&", "<", "\n", "<p>", "</p>", "<div class='a>%'>",
    "</div>", "<a href=l%>", "<a href='m%&amp;n&copy=%'>", "<a href=\"?%&lt\" rel=nofollow>", "</a>", "<b>", "</b>",
    "<I title=\"</i>\">", "</i>", "<br>", "<br/>", "<ul><li>", "<li>", "</ul>", "<h%>", "</h%>", "<!-- c% -->",
    "<!--", "-->", "<!x%>", "<?y?>", "</ z>", "<script>s%</script>",
    "<script>'<b>s%'<!--<script></script>--></script>", "<style>p% <b></style>", "<title>t%</title>",
    "<textarea><a href=no>%</textarea>", "<noscript>n%</noscript>", "<template>t%<a href=t%></a></template>",
    "<img alt=i%>", "<span>", "</span>", "<pre>", "</pre>", "<x-y a=b c>",
    "<svg><title>s%</title><text>v%</text></svg>", "<svg><![CDATA[c%<d>]]></svg>", "<![CDATA[e%]]>", "<em", ">", " ",
    "<iframe>f%</iframe>", "<xmp><q>%</xmp>", "<noframes>g%</noframes>", "<form>", "</form>", "<button>", "</button>",
};
static const char *const TABLES[] = {"<table>", "</table>", "<tr>", "<td>", "</td>", "<tbody>", "<th>", "</tr>"};
/* clang-format on */

static void put_piece(struct buf *b, struct rng *r, const char *piece)
{
    for (; *piece; piece++)
        if (*piece == '%')
            buf_printf(b, "%u", (unsigned)(1 + rng_below(r, 6)));
        else
            buf_putc(b, *piece);
}

static void check_soup(struct rng *r, bool with_tables)
{
    struct buf html = {0};
    struct tree got, want;
    buf_puts(&html, "<!doctype html><body>");
    for (uint64_t n = rng_below(r, 30); n > 0; n--) {
        if (with_tables && rng_below(r, 4) == 0)
            put_piece(&html, r, TABLES[rng_below(r, sizeof(TABLES) / sizeof(TABLES[0]))]);
        else
            put_piece(&html, r, SOUP[rng_below(r, sizeof(SOUP) / sizeof(SOUP[0]))]);
    }
    tree_begin(&got);
    tree_begin(&want);
    tree_of_facts(&got, buf_span(&html));
    tree_of_gumbo(&want, buf_span(&html));
    struct span got_text = arena_copy(&got.a, buf_span(&got.text));
    struct span want_text = arena_copy(&want.a, buf_span(&want.text));
    bool is_same = span_eq(got_text, want_text) || (with_tables && same_bytes(&got, &want));
    if (!same_hrefs(&got, &want) || !is_same)
        fail_msg("%.*s\n got %zu hrefs, text \"%.*s\"\n want %zu hrefs, text \"%.*s\"", SPAN_ARG(buf_span(&html)),
                 got.href_count, SPAN_ARG(got_text), want.href_count, SPAN_ARG(want_text));
    tree_done(&got);
    tree_done(&want);
    buf_done(&html);
}

static void gumbo_says_the_same_of_tag_soup(void **state)
{
    struct rng r;
    rng_seed(&r, 42);
    for (int i = 0; i < 20000; i++)
        check_soup(&r, false);
    for (int i = 0; i < 10000; i++)
        check_soup(&r, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_the_vectors_say_the_same),
        cmocka_unit_test(gumbo_says_the_same_of_tag_soup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
