/* The first line is a query string as a browser sends it, the rest a text from a page or a URL. Whatever they are, what
 * comes out has nothing in it that means something in HTML but our own tags, and what a link says is what it meant. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "serve/filters.h"
#include "serve/html.h"
#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX 20000

/* Only these tags, and inside them no quotes but those around attributes that we wrote. */
static void check_html(struct span html)
{
    static const char *const tags[] = {"<mark>", "</mark>", "<span class=\"host\">",
                                       "<span>", "</span>", "<span class=\"sep\" aria-hidden=\"true\">"};
    if (!utf8_is_valid(html))
        abort();
    for (size_t i = 0; i < html.n;) {
        char c = html.p[i];
        size_t tag = 0;
        for (size_t k = 0; c == '<' && k < sizeof(tags) / sizeof(*tags); k++)
            if (span_starts(span_from(html, i), span_str(tags[k])))
                tag = strlen(tags[k]);
        if ((c == '<' && tag == 0) || c == '>' || c == '"' || c == '\'' || (unsigned char)c < 0x20)
            abort();
        i += tag ? tag : 1;
    }
}

static void check_texts(struct arena *a, struct span text)
{
    struct buf out = {0};
    html_text(&out, text);
    check_html(buf_span(&out));
    buf_clear(&out);
    /* Marks made from the text itself: any numbers at all. */
    size_t n = text.n / 8;
    struct mark *marks = mem_alloc(n * sizeof(*marks) + 1);
    if (n)
        memcpy(marks, text.p, n * sizeof(*marks));
    for (size_t i = 0; i < n; i++)
        if (i % 2) {
            marks[i].at %= (uint32_t)text.n;
            marks[i].bytes %= 16;
        }
    html_marked(&out, &(struct marked){text, marks, n});
    check_html(buf_span(&out));
    free(marks);
    buf_clear(&out);
    html_language(&out, text);
    check_html(buf_span(&out));
    buf_clear(&out);
    html_template(&out, SPAN("{{text}} {{other}}{{text"), &(struct html_fill){"text", text, false}, 1);
    check_html(buf_span(&out));
    buf_clear(&out);
    html_breadcrumbs(&out, a, text);
    check_html(buf_span(&out));
    buf_clear(&out);
    if (html_href(&out, a, text)) {
        check_html(buf_span(&out));
        if (!span_starts(buf_span(&out), SPAN("http://")) && !span_starts(buf_span(&out), SPAN("https://")))
            abort();
    }
    buf_done(&out);
}

static void check_filters(struct arena *a, struct span query)
{
    struct span without = filter_without(a, query, FILTER_SITE);
    struct span with = filter_with(a, query, FILTER_SITE, SPAN("x.example")), rest = with, word, value;
    unsigned sites = 0, quotes = 0;
    for (size_t i = 0; i < without.n; i++)
        quotes += without.p[i] == '"';
    while (filter_next_word(&rest, &word))
        sites += filter_of(word, &value) == FILTER_SITE;
    /* An open quote swallows what is added behind it. */
    if (sites > 1 || (sites == 0 && quotes % 2 == 0))
        abort();
    if (!span_eq(filter_without(a, without, FILTER_SITE), without))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size < TEXT_MAX ? size : TEXT_MAX);
    size_t end = span_find(in, '\n', 0);
    struct span query = span_cut(in, 0, end), text = span_from(in, end + 1);
    struct arena a;
    struct addr addr;
    int port;
    arena_init(&a);
    struct span q = request_param(&a, query, "q");
    struct buf link = {0};
    buf_puts(&link, "q=");
    html_query_value(&link, q);
    check_html(buf_span(&link));
    if (!span_eq(request_param(&a, buf_span(&link), "q"), q))
        abort();
    buf_done(&link);
    check_filters(&a, q);
    uint64_t page = 0;
    if (request_number(&a, query, "page", 1, 500, &page) && page > 500)
        abort();
    check_texts(&a, text);
    check_texts(&a, q);
    if (request_host_is_loopback(text) && !request_host_is_plain(text))
        abort();
    if (request_listen_parse(text, &addr, &port) == ST_OK && (port < 0 || port > 65535 || addr.family == 0))
        abort();
    arena_done(&a);
    return 0;
}
