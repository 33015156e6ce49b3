/* fuzz_page.c - the first line is a Content-Type, the rest a body: what a program is given of the page. Links are
 * absolute, texts are UTF-8, and what the worker gets of it through its pipe is the same page. */
#include <assert.h>

#include "base/utf8.h"
#include "mobile/message.h"
#include "mobile/page_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct arena *a, const struct program_page *p)
{
    assert(utf8_is_valid(p->title) && utf8_is_valid(p->description) && utf8_is_valid(p->text));
    assert(p->meta_count <= PROGRAM_METAS_MAX);
    for (size_t i = 0; i < p->meta_count; i++)
        assert(p->metas[i].name.n && utf8_is_valid(p->metas[i].name) && utf8_is_valid(p->metas[i].content));
    for (size_t i = 0; i < p->link_count; i++) {
        struct url u;
        status st = url_parse(a, p->links[i].href, NULL, &u);
        assert(st == ST_LIMIT || (st == ST_OK && span_eq(u.href, p->links[i].href)));
    }
}

static void send(struct arena *a, const struct program_page *p)
{
    struct buf sent = {0};
    struct span rest, payload = {0};
    struct program_page got;
    uint8_t kind = 0;
    message_put_page(&sent, p);
    rest = buf_span(&sent);
    status st = message_next(&rest, MESSAGE_TO_WORKER_MAX, &kind, &payload);
    assert(st == ST_OK && kind == MSG_PAGE && rest.n == 0);
    st = message_get_page(a, payload, &got);
    assert(st == ST_OK && span_eq(got.url, p->url) && got.http_status == p->http_status);
    assert(got.link_count <= p->link_count && got.meta_count <= p->meta_count);
    buf_done(&sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    size_t end = span_find(in, '\n', 0);
    struct arena a;
    struct url document;
    struct program_page p;
    arena_init(&a);
    status st = url_parse(&a, SPAN("https://www.example.org/a/b.html?c"), NULL, &document);
    assert(st == ST_OK);
    struct page_source source = {.document = &document,
                                 .http_status = 200,
                                 .headers = SPAN("Server: x\n"),
                                 .content_type = span_cut(in, 0, end),
                                 .body = span_from(in, end + 1),
                                 .agent = SPAN("orbbot")};
    st = page_read(&a, &source, &p);
    assert(st == ST_OK || st == ST_LIMIT || st == ST_CORRUPT);
    if (st == ST_OK) {
        check(&a, &p);
        send(&a, &p);
    }
    arena_done(&a);
    return 0;
}
