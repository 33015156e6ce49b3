#include "web/pdf_text.h"

#include "web/plain_title.h"

/* What office programs put before the name of the file, and what they write when nobody gave a title. */
static struct span good_title(struct span title)
{
    static const struct span prefixes[] = {SPAN_INIT("Microsoft Word - "), SPAN_INIT("Microsoft PowerPoint - "),
                                           SPAN_INIT("Microsoft Excel - ")};
    static const char *const none[] = {"untitled", "untitled document",      "title", "no title", "document",
                                       "slide 1",  "powerpoint presentation"};
    title = span_trim(title);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (span_starts_nocase(title, prefixes[i]))
            title = span_trim(span_from(title, prefixes[i].n));
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
        if (span_is_nocase(title, none[i]))
            return (struct span){0};
    return title;
}

void pdf_facts(struct arena *a, struct span said, const struct facts_opts *opts, struct facts *out)
{
    const struct span opens = SPAN("<pre>"), closes = SPAN("</pre>\n</body>\n</html>");
    const struct facts_opts head_opts = {0};
    struct facts *head = arena_alloc(a, sizeof(*head));
    size_t at = span_search(said, opens, false);
    struct span title = {0}, text = said;
    if (at < said.n) {
        facts_collect(a, span_cut(said, 0, at), &head_opts, head);
        title = good_title(head->title);
        text = span_from(said, at + opens.n);
    }
    struct span rest = span_trim(text);
    if (span_ends(rest, closes))
        text = span_cut(rest, 0, rest.n - closes.n);
    facts_collect_plain(a, text, opts, out);
    out->title = title.n ? title : plain_title(a, text);
}
