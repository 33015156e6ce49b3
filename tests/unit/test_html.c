/* test_html.c - the tokenizer against html5lib's vectors, its own corner cases, and hostile input. */
#include "test.h"

#include <jansson.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "web/html_entity.h"
#include "web/html_token.h"

/* Tokens as text, one a line, neighbouring text joined: what the vectors' output is turned into as well. */
struct dump {
    struct buf out;
    bool in_text;
};

static void put_quoted(struct buf *out, struct span s)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ')
            buf_printf(out, "\\%02x", (unsigned char)s.p[i]);
        else
            buf_putc(out, s.p[i]);
    buf_putc(out, '"');
}

static void dump_line(struct dump *d, const char *kind)
{
    if (d->in_text)
        buf_puts(&d->out, "\"\n");
    d->in_text = false;
    buf_puts(&d->out, kind);
}

static void dump_text(struct dump *d, struct span s)
{
    if (!s.n)
        return;
    if (!d->in_text) {
        buf_puts(&d->out, "text \"");
        d->in_text = true;
    }
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ')
            buf_printf(&d->out, "\\%02x", (unsigned char)s.p[i]);
        else
            buf_putc(&d->out, s.p[i]);
}

static int by_name(const void *a, const void *b)
{
    return span_cmp(((const struct html_attr *)a)->name, ((const struct html_attr *)b)->name);
}

static void dump_decoded(struct dump *d, struct span raw, unsigned flags)
{
    struct buf b = {0};
    html_decode(&b, raw, flags);
    put_quoted(&d->out, buf_span(&b));
    buf_done(&b);
}

static void dump_attrs(struct dump *d, const struct html_token *tok)
{
    struct html_attr attrs[HTML_ATTRS_MAX];
    struct buf names[HTML_ATTRS_MAX] = {{0}};
    for (size_t i = 0; i < tok->attr_count; i++) {
        html_decode_name(&names[i], tok->attrs[i].name);
        attrs[i] = (struct html_attr){buf_span(&names[i]), tok->attrs[i].value};
    }
    qsort(attrs, tok->attr_count, sizeof(attrs[0]), by_name);
    for (size_t i = 0; i < tok->attr_count; i++) {
        buf_putc(&d->out, ' ');
        put_quoted(&d->out, attrs[i].name);
        buf_putc(&d->out, '=');
        dump_decoded(d, attrs[i].value, HTML_REFS | HTML_IN_ATTR | HTML_NUL_SHOWN);
    }
    for (size_t i = 0; i < tok->attr_count; i++)
        buf_done(&names[i]);
}

static void dump_optional(struct dump *d, struct span raw, bool is_name)
{
    struct buf b = {0};
    buf_putc(&d->out, ' ');
    if (!raw.p) {
        buf_puts(&d->out, "null");
        return;
    }
    if (is_name)
        html_decode_name(&b, raw);
    else
        html_decode(&b, raw, HTML_NUL_SHOWN);
    put_quoted(&d->out, buf_span(&b));
    buf_done(&b);
}

static void dump_token(struct dump *d, const struct html_token *tok)
{
    struct buf b = {0};
    struct html_doctype doctype;
    switch (tok->kind) {
    case HTML_TEXT:
        html_decode(&b, tok->raw, tok->decode);
        dump_text(d, buf_span(&b));
        break;
    case HTML_START:
    case HTML_END:
        dump_line(d, tok->kind == HTML_START ? "start " : "end ");
        html_decode_name(&b, tok->raw);
        put_quoted(&d->out, buf_span(&b));
        if (tok->kind == HTML_START) {
            dump_attrs(d, tok);
            buf_puts(&d->out, tok->self_closing ? " /\n" : "\n");
        } else {
            buf_puts(&d->out, "\n");
        }
        break;
    case HTML_COMMENT:
        dump_line(d, "comment ");
        dump_decoded(d, tok->raw, tok->decode);
        buf_puts(&d->out, "\n");
        break;
    case HTML_DOCTYPE:
        doctype = html_doctype_parse(tok);
        dump_line(d, "doctype");
        dump_optional(d, doctype.name, true);
        dump_optional(d, doctype.public_id, false);
        dump_optional(d, doctype.system_id, false);
        buf_puts(&d->out, doctype.force_quirks ? " quirks\n" : " fine\n");
        break;
    }
    buf_done(&b);
}

static void dump_end(struct dump *d)
{
    if (d->in_text)
        buf_puts(&d->out, "\"\n");
    d->in_text = false;
    buf_cstr(&d->out);
}

/* `last` names the last start tag, for raw states. */
static void dump_html(struct dump *d, struct span html, html_state state, struct span last, bool foreign)
{
    static struct html_tok t;
    struct html_token tok;
    /* An exact copy on the heap: ASan sees any byte read past it. */
    char *copy = malloc(html.n ? html.n : 1);
    memcpy(copy, html.p, html.n);
    html_begin(&t, span_of(copy, html.n));
    html_switch(&t, state);
    t.last_start = last;
    t.foreign = foreign;
    while (html_next(&t, &tok))
        dump_token(d, &tok);
    dump_end(d);
    free(copy);
}

/* ---- html5lib ---- */

static struct span json_span(const json_t *j)
{
    return j && json_is_string(j) ? span_of(json_string_value(j), json_string_length(j)) : (struct span){0};
}

static void dump_json_optional(struct dump *d, const json_t *j)
{
    buf_putc(&d->out, ' ');
    if (json_is_string(j))
        put_quoted(&d->out, json_span(j));
    else
        buf_puts(&d->out, "null");
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void dump_json_attrs(struct dump *d, json_t *attrs)
{
    const char *keys[HTML_ATTRS_MAX], *key;
    json_t *value;
    size_t n = 0;
    json_object_foreach(attrs, key, value) keys[n++] = key;
    qsort(keys, n, sizeof(keys[0]), by_key);
    for (size_t i = 0; i < n; i++) {
        buf_putc(&d->out, ' ');
        put_quoted(&d->out, span_str(keys[i]));
        buf_putc(&d->out, '=');
        put_quoted(&d->out, json_span(json_object_get(attrs, keys[i])));
    }
}

static void dump_expected(struct dump *d, json_t *output)
{
    for (size_t i = 0; i < json_array_size(output); i++) {
        json_t *tok = json_array_get(output, i);
        const char *kind = json_string_value(json_array_get(tok, 0));
        json_t *first = json_array_get(tok, 1);
        if (strcmp(kind, "Character") == 0) {
            dump_text(d, json_span(first));
        } else if (strcmp(kind, "Comment") == 0) {
            dump_line(d, "comment ");
            put_quoted(&d->out, json_span(first));
            buf_puts(&d->out, "\n");
        } else if (strcmp(kind, "DOCTYPE") == 0) {
            dump_line(d, "doctype");
            for (size_t k = 1; k <= 3; k++)
                dump_json_optional(d, json_array_get(tok, k));
            buf_puts(&d->out, json_is_true(json_array_get(tok, 4)) ? " fine\n" : " quirks\n");
        } else {
            bool is_start = strcmp(kind, "StartTag") == 0;
            dump_line(d, is_start ? "start " : "end ");
            put_quoted(&d->out, json_span(first));
            if (is_start) {
                dump_json_attrs(d, json_array_get(tok, 2));
                buf_puts(&d->out, json_is_true(json_array_get(tok, 3)) ? " /" : "");
            }
            buf_puts(&d->out, "\n");
        }
    }
    dump_end(d);
}

/* "\uXXXX" of doubleEscaped tests. */
static struct span unescaped(struct arena *a, struct span s)
{
    struct buf b = {0};
    for (size_t i = 0; i < s.n; i++) {
        if (i + 5 < s.n && s.p[i] == '\\' && s.p[i + 1] == 'u') {
            char hex[5] = {s.p[i + 2], s.p[i + 3], s.p[i + 4], s.p[i + 5], 0};
            buf_put_utf8(&b, (uint32_t)strtoul(hex, NULL, 16));
            i += 5;
        } else {
            buf_putc(&b, s.p[i]);
        }
    }
    struct span copy = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return copy;
}

static html_state state_of(const char *name)
{
    static const struct {
        const char *name;
        html_state state;
    } states[] = {{"Data state", HTML_DATA},           {"RCDATA state", HTML_RCDATA},
                  {"RAWTEXT state", HTML_RAWTEXT},     {"Script data state", HTML_SCRIPT},
                  {"PLAINTEXT state", HTML_PLAINTEXT}, {"CDATA section state", HTML_DATA}};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (strcmp(states[i].name, name) == 0)
            return states[i].state;
    fail_msg("unknown state %s", name);
    return HTML_DATA;
}

static void check_vector(struct arena *a, json_t *test, const char *state)
{
    struct dump got = {0}, want = {0};
    struct span input = json_span(json_object_get(test, "input"));
    struct span last = json_span(json_object_get(test, "lastStartTag"));
    bool cdata = strcmp(state, "CDATA section state") == 0;
    if (json_is_true(json_object_get(test, "doubleEscaped")))
        input = unescaped(a, input);
    if (cdata) {
        struct buf b = {0};
        buf_puts(&b, "<![CDATA[");
        buf_put(&b, input);
        input = arena_copy(a, buf_span(&b));
        buf_done(&b);
    }
    dump_html(&got, input, state_of(state), last, cdata);
    dump_expected(&want, json_object_get(test, "output"));
    if (!span_eq(buf_span(&got.out), buf_span(&want.out)))
        fail_msg("%s (%s): input \"%.*s\"\ngot:\n%s\nwant:\n%s",
                 json_string_value(json_object_get(test, "description")), state, SPAN_ARG(input), got.out.p,
                 want.out.p);
    buf_done(&got.out);
    buf_done(&want.out);
}

static void html5lib_tokens_are_the_same(void **state)
{
    json_error_t err;
    struct arena a;
    json_t *root = json_load_file(TEST_DATA "/html/html5lib-tokenizer-test1.test", JSON_ALLOW_NUL, &err);
    if (!root)
        fail_msg("%s", err.text);
    arena_init(&a);
    json_t *tests = json_object_get(root, "tests");
    size_t count = json_array_size(tests), runs = 0;
    for (size_t i = 0; i < count; i++) {
        json_t *test = json_array_get(tests, i), *states = json_object_get(test, "initialStates");
        if (!states) {
            check_vector(&a, test, "Data state");
            runs++;
        }
        for (size_t k = 0; k < json_array_size(states); k++, runs++)
            check_vector(&a, test, json_string_value(json_array_get(states, k)));
    }
    print_message("%zu vectors, %zu runs\n", count, runs);
    assert_true(count >= 60);
    json_decref(root);
    arena_done(&a);
}

/* ---- our own cases ---- */

struct token_case {
    const char *label;
    struct span html;
    html_state state;
    const char *last; /* start tag, for raw states */
    const char *want;
};

/* SPAN is a compound literal, which gcc -Wpedantic does not take for a constant. */
#define LIT(s)              \
    {                       \
        "" s, sizeof(s) - 1 \
    }

static const struct token_case CASES[] = {
    {"CR and CRLF become LF", LIT("a\r\nb\rc<x y='1\r\n2'><!--\r-->"), HTML_DATA, "",
     "text \"a\\0ab\\0ac\"\nstart \"x\" \"y\"=\"1\\0a2\"\ncomment \"\\0a\"\n"},
    {"a written CR stays", LIT("&#13;&#xD;"), HTML_DATA, "", "text \"\\0d\\0d\"\n"},
    {"NUL in text stays", LIT("a\0b"), HTML_DATA, "", "text \"a\\00b\"\n"},
    {"NUL elsewhere is replaced", LIT("<a\0 b\0=c\0><!--\0-->"), HTML_DATA, "",
     "start \"a\xEF\xBF\xBD\" \"b\xEF\xBF\xBD\"=\"c\xEF\xBF\xBD\"\ncomment \"\xEF\xBF\xBD\"\n"},
    {"NUL in a known tag makes another tag", LIT("<p\0></p\0>"), HTML_DATA, "",
     "start \"p\xEF\xBF\xBD\"\nend \"p\xEF\xBF\xBD\"\n"},
    {"NUL in raw text is replaced", LIT("\0</x>"), HTML_RAWTEXT, "x", "text \"\xEF\xBF\xBD\"\nend \"x\"\n"},
    {"lone signs are text", LIT("1 < 2 <3 & 4 &x <"), HTML_DATA, "", "text \"1 < 2 <3 & 4 &x <\"\n"},
    {"end tag opening at the end", LIT("x</"), HTML_DATA, "", "text \"x</\"\n"},
    {"bogus comments", LIT("<?pi x?></ y></1><!x><![CDATA[z]]><!"), HTML_DATA, "",
     "comment \"?pi x?\"\ncomment \" y\"\ncomment \"1\"\ncomment \"x\"\ncomment \"[CDATA[z]]\"\ncomment \"\"\n"},
    {"comment ends", LIT("<!--><!---><!----><!-----><!--a--!><!--a--!b--><!--a--"), HTML_DATA, "",
     "comment \"\"\ncomment \"\"\ncomment \"\"\ncomment \"-\"\ncomment \"a\"\ncomment \"a--!b\"\ncomment \"a\"\n"},
    {"comment at the end with a bang", LIT("<!--a--!"), HTML_DATA, "", "comment \"a\"\n"},
    {"tag cut off leaves nothing", LIT("x<a href='y"), HTML_DATA, "", "text \"x\"\n"},
    {"attribute oddities", LIT("<a =b c==d e = 'f'g/h/=i \"j k=>"), HTML_DATA, "",
     "start \"a\" \"\\\"j\"=\"\" \"=b\"=\"\" \"=i\"=\"\" \"c\"=\"=d\" \"e\"=\"f\" \"g\"=\"\" \"h\"=\"\" \"k\"=\"\"\n"},
    {"slash in an unquoted value", LIT("<a b=/c/><d/ ><e/>"), HTML_DATA, "",
     "start \"a\" \"b\"=\"/c/\"\nstart \"d\"\nstart \"e\" /\n"},
    {"first of two attributes counts", LIT("<a B=1 b=2 B=3>"), HTML_DATA, "", "start \"a\" \"b\"=\"1\"\n"},
    {"names are lower-cased, letters only", LIT("<A\xC3\x84[Z></DIV>"), HTML_DATA, "",
     "start \"a\xC3\x84[z\"\nend \"div\"\n"},
    {"references in attributes", LIT("<a b='?x=1&copy=2&copyx&copy;&copy &lt=&lt&#x41'>"), HTML_DATA, "",
     "start \"a\" \"b\"=\"?x=1&copy=2&copyx\xC2\xA9\xC2\xA9 &lt=<A\"\n"},
    {"references in text", LIT("&copy=&copyx&notit;&notin;&amp&#65&#x;&#;&"), HTML_DATA, "",
     "text \"\xC2\xA9=\xC2\xA9x\xC2\xACit;\xE2\x88\x89&A&#x;&#;&\"\n"},
    {"numeric corner cases", LIT("&#0;&#xD800;&#x110000;&#99999999999999999999;&#x80;&#129;&#x10FFFF;"), HTML_DATA, "",
     "text \"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xE2\x82\xAC\xC2\x81\xF4\x8F\xBF\xBF\"\n"},
    {"two code points", LIT("&nLt;&acE;"), HTML_DATA, "", "text \"\xE2\x89\xAA\xE2\x83\x92\xE2\x88\xBE\xCC\xB3\"\n"},
    {"the longest name", LIT("&CounterClockwiseContourIntegral;"), HTML_DATA, "", "text \"\xE2\x88\xB3\"\n"},
    {"RCDATA", LIT("a<b>&lt;</titlex></TITLE \n>c"), HTML_RCDATA, "title",
     "text \"a<b><</titlex>\"\nend \"title\"\ntext \"c\"\n"},
    {"RCDATA that never ends", LIT("a</title"), HTML_RCDATA, "title", "text \"a</title\"\n"},
    {"RAWTEXT keeps references", LIT("&lt;</style/>x"), HTML_RAWTEXT, "style",
     "text \"&lt;\"\nend \"style\"\ntext \"x\"\n"},
    {"PLAINTEXT", LIT("a</plaintext>&lt;"), HTML_PLAINTEXT, "plaintext", "text \"a</plaintext>&lt;\"\n"},
    {"script in a comment in a script", LIT("<!--<script>1</script>2</script>3"), HTML_SCRIPT, "script",
     "text \"<!--<script>1</script>2\"\nend \"script\"\ntext \"3\"\n"},
    {"script comment closed", LIT("<!--<script>--></script>x"), HTML_SCRIPT, "script",
     "text \"<!--<script>-->\"\nend \"script\"\ntext \"x\"\n"},
    {"script escape that closes at once", LIT("<!--><script></script>x"), HTML_SCRIPT, "script",
     "text \"<!--><script>\"\nend \"script\"\ntext \"x\"\n"},
    {"escaped but not doubly", LIT("<!--<scriptx>1</script>2"), HTML_SCRIPT, "script",
     "text \"<!--<scriptx>1\"\nend \"script\"\ntext \"2\"\n"},
    {"doctypes",
     LIT("<!doctype><!DOCTYPE a b><!doctypeHtml public \"P\" 'S' x><!doctype h public\"P><!doctype h system 's"),
     HTML_DATA, "",
     "doctype null null null quirks\ndoctype \"a\" null null quirks\ndoctype \"html\" \"P\" \"S\" fine\n"
     "doctype \"h\" \"P\" null quirks\ndoctype \"h\" null \"s\" quirks\n"},
};

static void corner_cases_follow_the_standard(void **state)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dump d = {0};
        dump_html(&d, CASES[i].html, CASES[i].state, span_str(CASES[i].last), false);
        /* Quotes inside names are not escaped by the dump; the table writes them with a backslash. */
        struct buf want = {0};
        for (const char *p = CASES[i].want; *p; p++)
            if (!(p[0] == '\\' && p[1] == '"'))
                buf_putc(&want, *p);
        buf_cstr(&want);
        if (!span_eq(buf_span(&d.out), buf_span(&want)))
            fail_msg("%s:\ngot:\n%s\nwant:\n%s", CASES[i].label, d.out.p, want.p);
        buf_done(&want);
        buf_done(&d.out);
    }
}

static void cdata_is_text_in_foreign_content_only(void **state)
{
    struct dump d = {0};
    dump_html(&d, SPAN("<![CDATA[a]]]>b<![CDATA[]]><![CDATA[&lt;]]"), HTML_DATA, SPAN(""), true);
    CHECK_SPAN("foreign", buf_span(&d.out), SPAN("text \"a]b&lt;]]\"\n"));
    buf_done(&d.out);
}

static void every_known_tag_is_found(void **state)
{
    for (unsigned tag = HTML_TAG_other + 1; tag < HTML_TAG_COUNT; tag++) {
        struct html_tok t;
        struct html_token tok;
        char html[64];
        const char *name = html_tag_name((html_tag)tag);
        CHECK(name, html_tag_of(span_str(name)) == (html_tag)tag);
        for (int upper = 0; upper < 2; upper++) {
            snprintf(html, sizeof(html), "<%s>        ", name);
            for (char *p = html; upper && *p; p++)
                *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
            html_begin(&t, span_str(html));
            CHECK(name, html_next(&t, &tok) && tok.tag == tag);
            snprintf(html, sizeof(html), "</%sx>        ", name);
            html_begin(&t, span_str(html));
            CHECK(name, html_next(&t, &tok) && tok.tag != tag);
        }
    }
    CHECK("empty", html_tag_of(SPAN("")) == HTML_TAG_other);
}

static void entity_table_is_whole_and_sorted(void **state)
{
    static const struct {
        const char *name;
        uint32_t first, second;
        bool legacy;
    } rows[] = {
#define E(name, a, b) {#name, a, b, false},
#define L(name, a, b) {#name, a, b, true},
#include "web/html_entity_table.h"
#undef E
#undef L
    };
    size_t count = sizeof(rows) / sizeof(rows[0]), entries = 0;
    for (size_t i = 0; i < count; i++) {
        char text[64], out[HTML_REF_OUT];
        struct buf want = {0};
        size_t n = 0;
        entries += 1 + rows[i].legacy;
        CHECK(rows[i].name, i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
        buf_put_utf8(&want, rows[i].first);
        if (rows[i].second)
            buf_put_utf8(&want, rows[i].second);
        int len = snprintf(text, sizeof(text), "&%s;", rows[i].name);
        CHECK(text, html_ref(span_str(text), false, out, &n) == (size_t)len);
        CHECK_SPAN(text, span_of(out, n), buf_span(&want));
        CHECK(text, n <= (size_t)len + (size_t)len / 4); /* what the decoder's buffer relies on */
        text[len - 1] = ' ';
        size_t used = html_ref(span_str(text), false, out, &n);
        CHECK(text, rows[i].legacy ? used == (size_t)len - 1 : used < (size_t)len - 1);
        buf_done(&want);
    }
    assert_int_equal(entries, 2231);
}

static void attributes_can_be_skipped_by_tag(void **state)
{
    static const bool wants[HTML_TAG_COUNT] = {[HTML_TAG_a] = true};
    struct html_tok t;
    struct html_token tok;
    html_begin(&t, SPAN("<div x='>' y>1<a x='>' y/></a z='>'>"));
    t.wants_attrs = wants;
    CHECK("div", html_next(&t, &tok) && tok.tag == HTML_TAG_div && tok.attr_count == 0);
    CHECK("text", html_next(&t, &tok) && tok.kind == HTML_TEXT && span_is(tok.raw, "1"));
    CHECK("a", html_next(&t, &tok) && tok.tag == HTML_TAG_a && tok.attr_count == 2 && tok.self_closing);
    CHECK("value", span_is(*html_attr_find(&tok, SPAN("x")), ">"));
    CHECK("none", !html_attr_find(&tok, SPAN("z")));
    CHECK("end", html_next(&t, &tok) && tok.kind == HTML_END && tok.attr_count == 0);
    CHECK("over", !html_next(&t, &tok));
}

/* Whether attributes are wanted makes no difference to where a tag ends. */
static void skipped_attributes_end_where_read_ones_do(void **state)
{
    static const bool wants_none[HTML_TAG_COUNT];
    static const char *const bits[] = {
        " a",       "=",     "\"",    "'",        "/",
        ">",        " ",     "a=b",   "=\"x\"",   "='y'",
        "\x1f",     "\r\n",  "class", "\"/",      "'>",
        "<div",     "</div", "x",     " c=\"d\"", " long-name=\"a value that is longer than a block\"",
        "a=b=\"c\""};
    static struct html_tok read, skipped;
    struct html_token a, b;
    struct rng r;
    rng_seed(&r, 11);
    for (int round = 0; round < 50000; round++) {
        struct buf html = {0};
        buf_puts(&html, "<div");
        for (uint64_t n = rng_below(&r, 24); n > 0; n--)
            buf_puts(&html, bits[rng_below(&r, sizeof(bits) / sizeof(bits[0]))]);
        buf_puts(&html, rng_below(&r, 2) ? "                    " : ""); /* so that whole blocks can be read, or not */
        html_begin(&read, buf_span(&html));
        html_begin(&skipped, buf_span(&html));
        skipped.wants_attrs = wants_none;
        while (html_next(&read, &a)) {
            bool is_same = html_next(&skipped, &b) && a.kind == b.kind && a.raw.p == b.raw.p && a.raw.n == b.raw.n &&
                           read.at == skipped.at;
            CHECK(buf_cstr(&html), is_same && (a.kind > HTML_END || !a.kind || a.self_closing == b.self_closing));
        }
        CHECK(buf_cstr(&html), !html_next(&skipped, &b));
        buf_done(&html);
    }
}

static void attributes_past_the_ceiling_are_dropped(void **state)
{
    struct buf b = {0};
    struct html_tok t;
    struct html_token tok;
    buf_puts(&b, "<a");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, " a%d=%d", i % 300, i);
    buf_puts(&b, ">x");
    html_begin(&t, buf_span(&b));
    CHECK("tag", html_next(&t, &tok) && tok.attr_count == HTML_ATTRS_MAX);
    CHECK_SPAN("first kept", *html_attr_find(&tok, SPAN("a7")), SPAN("7"));
    CHECK("text", html_next(&t, &tok) && span_is(tok.raw, "x"));
    buf_done(&b);
}

static void decoding_copies_only_when_it_must(void **state)
{
    struct arena a;
    arena_init(&a);
    struct span plain = SPAN("/a?b=c"), amp = SPAN("/a?b&amp;c&nLt;&nLt;");
    CHECK("same", html_attr_value(&a, plain).p == plain.p);
    CHECK_SPAN("decoded", html_attr_value(&a, amp), SPAN("/a?b&c\xE2\x89\xAA\xE2\x83\x92\xE2\x89\xAA\xE2\x83\x92"));
    arena_done(&a);
}

/* Each token covers input of its own, in order, and the tokenizer always moves on. */
static void random_input_is_cut_in_order(void **state)
{
    static const char *const bits[] = {"<", ">",   "/",         "!",         "-", "--",  "a",   "script", "title",
                                       " ", "=",   "\"",        "'",         "&", "&lt", ";",   "#x41",   "\r\n",
                                       "x", "]]>", "<![CDATA[", "<!doctype", "?", "</",  "<!--"};
    struct rng r;
    rng_seed(&r, 7);
    for (int round = 0; round < 20000; round++) {
        struct buf b = {0};
        struct dump d = {0};
        static struct html_tok t;
        struct html_token tok;
        for (uint64_t n = rng_below(&r, 40); n > 0; n--)
            buf_puts(&b, bits[rng_below(&r, sizeof(bits) / sizeof(bits[0]))]);
        struct span html = b.n ? buf_span(&b) : SPAN("");
        html_begin(&t, html);
        html_switch(&t, (html_state)rng_below(&r, 5));
        t.last_start = SPAN("script");
        t.foreign = rng_below(&r, 2);
        const char *last = html.p;
        while (html_next(&t, &tok)) {
            CHECK("in order", tok.raw.p >= last && tok.raw.p + tok.raw.n <= html.p + html.n && t.at > last);
            last = tok.raw.p + tok.raw.n;
            dump_token(&d, &tok);
        }
        CHECK("all of it", t.at == t.end);
        buf_done(&d.out);
        buf_done(&b);
    }
}

static double seconds_for(const char *bit, size_t bytes)
{
    struct buf b = {0};
    static struct html_tok t;
    struct html_token tok;
    while (b.n < bytes)
        buf_puts(&b, bit);
    clock_t start = clock();
    for (int state = HTML_DATA; state <= HTML_SCRIPT; state++) {
        html_begin(&t, buf_span(&b));
        html_switch(&t, (html_state)state);
        t.last_start = SPAN("script");
        while (html_next(&t, &tok))
            if (tok.kind == HTML_TEXT || tok.kind == HTML_COMMENT) {
                struct buf out = {0};
                html_decode(&out, tok.raw, tok.decode);
                buf_done(&out);
            }
    }
    buf_done(&b);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void hostile_input_takes_linear_time(void **state)
{
    static const char *const bits[] = {"<",
                                       "<a ",
                                       "<a a",
                                       "&",
                                       "&a",
                                       "&#",
                                       "&#x1",
                                       "<!",
                                       "<!--",
                                       "--",
                                       "<!-- --!",
                                       "</",
                                       "</script",
                                       "<script",
                                       "<!--<script",
                                       "]",
                                       "<![CDATA[",
                                       "<a b=",
                                       "<a b='",
                                       "<x>",
                                       "&CounterClockwiseContourIntegra",
                                       "&lt",
                                       "<!doctype ",
                                       " a=1",
                                       "<a a=1 b=2 c>"};
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        /* Four passes over a megabyte; quadratic time would be minutes, even here under a sanitizer. */
        double s = seconds_for(bits[i], 1 << 20);
        if (s > 5)
            fail_msg("1 MiB of \"%s\" took %.1f s", bits[i], s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html5lib_tokens_are_the_same),
        cmocka_unit_test(corner_cases_follow_the_standard),
        cmocka_unit_test(cdata_is_text_in_foreign_content_only),
        cmocka_unit_test(every_known_tag_is_found),
        cmocka_unit_test(entity_table_is_whole_and_sorted),
        cmocka_unit_test(attributes_can_be_skipped_by_tag),
        cmocka_unit_test(skipped_attributes_end_where_read_ones_do),
        cmocka_unit_test(attributes_past_the_ceiling_are_dropped),
        cmocka_unit_test(decoding_copies_only_when_it_must),
        cmocka_unit_test(random_input_is_cut_in_order),
        cmocka_unit_test(hostile_input_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
