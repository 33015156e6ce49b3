#include "cli/explain_alternates.h"

#include "apply/apply.h"
#include "cli/command.h"
#include "codec/json.h"
#include "index/index.h"
#include "store/store.h"
#include "web/content.h"

static void put(const struct index_document *d, struct buf *lines, struct buf *json)
{
    struct json j = {.out = json};
    json_open(&j, '[');
    for (size_t i = 0; i < d->alternate_count; i++) {
        const struct content_alternate *a = &d->alternates[i];
        buf_puts(lines, "alternate        ");
        put_safe(lines, a->lang);
        buf_putc(lines, ' ');
        put_safe(lines, a->url);
        buf_putc(lines, '\n');
        json_open(&j, '{');
        json_key(&j, "lang");
        json_text(&j, a->lang);
        json_key(&j, "url");
        json_text(&j, a->url);
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

void explain_alternates(const char *dir, struct span url, struct buf *lines, struct buf *json)
{
    struct store *store = NULL;
    struct index_reader *reader = NULL;
    struct index_snapshot *snapshot = NULL;
    struct index_document d;
    struct buf path = {0};
    struct arena a;
    arena_init(&a);
    apply_index_dir(dir, &path);
    status st = store_open(dir, STORE_READ, &store, NULL);
    if (st == ST_OK)
        st = index_reader_open(path.p, &reader, NULL);
    if (st == ST_OK)
        st = index_reader_snapshot(reader, &snapshot);
    if (st == ST_OK)
        st = index_document(snapshot, siphash(store_key(store), url), &a, &d);
    if (st == ST_OK && d.alternate_count)
        put(&d, lines, json);
    index_snapshot_free(snapshot);
    index_reader_free(reader);
    store_free(store);
    arena_done(&a);
    buf_done(&path);
}
