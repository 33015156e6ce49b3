/* fuzz_document.c - any bytes as Markdown, as what pdftotext says, as text, and as a Content-Disposition; document.h.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "web/disposition.h"
#include "web/document.h"
#include "web/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool claim)
{
    if (!claim)
        abort();
}

static void check(const struct facts *f, bool is_list)
{
    insist(utf8_is_valid(f->title) && utf8_is_valid(f->text));
    /* That of a list is of what it lists. */
    insist(is_list || f->text_bytes > FACTS_TEXT_MAX || f->digest == facts_digest(f->text));
    for (size_t i = 0; i < f->link_count; i++)
        insist(utf8_is_valid(f->links[i].href) && utf8_is_valid(f->links[i].text));
    for (size_t i = 0; i < f->heading_count; i++)
        insist(utf8_is_valid(f->headings[i].text));
}

/* What is kept makes no difference to what is found. */
static void read_as(struct arena *a, const char *type, struct span body)
{
    struct document full, lean;
    const struct facts_opts all = {.keep_text = true, .keep_anchors = true}, none = {0};
    if (document_read(a, span_str(type), SPAN("http://a/x"), body, &all, &full) != ST_OK)
        return;
    insist(document_read(a, span_str(type), SPAN("http://a/x"), body, &none, &lean) == ST_OK);
    insist(full.kind == lean.kind);
    if (full.kind >= DOCUMENT_PDF)
        return;
    check(&full.facts, full.kind == DOCUMENT_LIST);
    insist(full.facts.digest == lean.facts.digest && full.facts.link_count == lean.facts.link_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span body = span_of(data, size);
    struct arena a;
    struct document d;
    struct buf words = {0};
    arena_init(&a);
    read_as(&a, "text/markdown; charset=utf-8", body);
    read_as(&a, "text/plain", body);
    if (document_read_pdf(&a, body, &(struct facts_opts){.keep_text = true}, &d) == ST_OK)
        check(&d.facts, false);
    struct span name = disposition_filename(&a, body);
    insist(name.n <= DISPOSITION_NAME_MAX && utf8_is_valid(name));
    (void)document_kind_of(body, body);
    (void)media_file_name(&a, body);
    (void)media_asked(body);
    media_describe(&words, body, body, size);
    buf_done(&words);
    arena_done(&a);
    return 0;
}
