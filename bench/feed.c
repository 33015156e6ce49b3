#include "feed.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/zip.h"
#include "measure.h"
#include "web/content.h"

struct packer {
    struct zip_dict *dict; /* owned; NULL: none */
    struct zipper *zipper; /* owned */
    struct buf plain, packed;
};

struct packer *packer_new(struct span dictionary)
{
    struct packer *p = mem_alloc(sizeof(*p));
    if (dictionary.n)
        measure_must("zip_dict_new", zip_dict_new(dictionary, FEED_LEVEL, &p->dict));
    p->zipper = zipper_new(FEED_LEVEL);
    return p;
}

void packer_free(struct packer *p)
{
    if (!p)
        return;
    zip_dict_free(p->dict);
    zipper_free(p->zipper);
    buf_done(&p->plain);
    buf_done(&p->packed);
    free(p);
}

static void pack_zipf(uint64_t number, const struct zipf_doc *doc, struct buf *out)
{
    wall_ms when = FEED_EPOCH_MS + (wall_ms)number * 1000;
    struct content c = {.url = doc->url,
                        .title = doc->title,
                        .lang = doc->lang,
                        .digest = number,
                        .fetched = when,
                        .changed = when,
                        .headings = doc->headings,
                        .heading_count = doc->heading_count,
                        .text = doc->text};
    content_pack(&c, out);
}

static void pack_page(const struct page *page, struct buf *out)
{
    struct content c = {.url = page->url,
                        .title = page->title,
                        .description = page->description,
                        .lang = page->lang,
                        .digest = page->digest,
                        .fetched = FEED_EPOCH_MS,
                        .changed = FEED_EPOCH_MS,
                        .page_flags = (uint16_t)page->page_flags,
                        .headings = page->headings,
                        .heading_count = page->heading_count,
                        .text = page->text};
    content_pack(&c, out);
}

static struct span compress(struct packer *p)
{
    buf_clear(&p->packed);
    zipper_run(p->zipper, p->dict, buf_span(&p->plain), &p->packed);
    return buf_span(&p->packed);
}

struct span packer_zipf(struct packer *p, uint64_t number, const struct zipf_doc *doc)
{
    buf_clear(&p->plain);
    pack_zipf(number, doc, &p->plain);
    return compress(p);
}

struct span packer_page(struct packer *p, const struct page *page)
{
    buf_clear(&p->plain);
    pack_page(page, &p->plain);
    return compress(p);
}

void packer_train(struct zipf *z, const struct collection *c, struct buf *out)
{
    size_t sizes[FEED_SAMPLES], step = c ? c->count / FEED_SAMPLES + 1 : 1, count = 0;
    struct buf samples = {0};
    for (size_t i = 0; count < FEED_SAMPLES && (!c || i < c->count); i += step) {
        size_t before = samples.n;
        struct zipf_doc doc;
        if (c) {
            pack_page(&c->pages[i], &samples);
        } else {
            zipf_make(z, i, 0, &doc);
            pack_zipf(i, &doc, &samples);
        }
        sizes[count++] = samples.n - before;
    }
    if (zip_dict_train(buf_span(&samples), sizes, count, out) != ST_OK)
        buf_clear(out);
    buf_done(&samples);
}

/* An odd factor is a bijection; its inverse by Newton's method. */
#define KEY_FACTOR 0x9E3779B97F4A7C15u

uint64_t feed_key(uint64_t number)
{
    return (number + 1) * KEY_FACTOR;
}

uint64_t feed_number(uint64_t key)
{
    uint64_t inverse = KEY_FACTOR;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - KEY_FACTOR * inverse;
    return key * inverse - 1;
}

struct index_doc feed_zipf(uint64_t number, uint64_t fetch_number, const struct zipf_doc *doc, struct span record)
{
    wall_ms when = FEED_EPOCH_MS + (wall_ms)number * 1000;
    return (struct index_doc){.key = feed_key(number),
                              .fetch_number = fetch_number,
                              .url = doc->url,
                              .site = doc->site,
                              .lang = doc->lang,
                              .title = doc->title,
                              .text = doc->text,
                              .headings = doc->headings,
                              .heading_count = doc->heading_count,
                              .anchors = doc->anchors,
                              .votes = doc->votes,
                              .fetched = when,
                              .changed = when,
                              .digest = number,
                              .content = record};
}

struct index_doc feed_page(uint64_t fetch_number, const struct page *page, struct span record)
{
    return (struct index_doc){.key = page->key,
                              .fetch_number = fetch_number,
                              .url = page->url,
                              .site = page->site,
                              .lang = page->lang,
                              .title = page->title,
                              .text = page->text,
                              .headings = page->headings,
                              .heading_count = page->heading_count,
                              .anchors = page->anchors,
                              .votes = page->votes,
                              .foreign_votes = page->foreign_votes,
                              .fetched = FEED_EPOCH_MS,
                              .changed = FEED_EPOCH_MS,
                              .digest = page->digest,
                              .flags = (uint8_t)page->page_flags,
                              .content = record};
}

void feed_collection(const struct collection *c, const char *dir)
{
    struct index_opts opts = {.dir = dir, .seed = 1};
    struct index *ix = NULL;
    struct buf why = {0}, dictionary = {0};
    measure_must("index_open", index_open(&opts, &ix, &why));
    packer_train(NULL, c, &dictionary);
    struct packer *p = packer_new(buf_span(&dictionary));
    if (dictionary.n)
        measure_must("index_put_dictionary", index_put_dictionary(ix, buf_span(&dictionary)));
    for (size_t i = 0; i < c->count; i++) {
        struct index_doc doc = feed_page(i + 1, &c->pages[i], packer_page(p, &c->pages[i]));
        measure_must("index_add", index_add(ix, &doc));
    }
    measure_must("index_commit", index_commit(ix, c->count));
    measure_must("index_merge", index_merge(ix, false));
    index_close(ix);
    packer_free(p);
    buf_done(&why);
    buf_done(&dictionary);
}
