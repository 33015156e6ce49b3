#include "agent/parts.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/file.h"
#include "wire/fields.h"

void parts_done(struct parts *p)
{
    for (size_t i = 0; i < p->count; i++) {
        buf_done(&p->items[i].host);
        buf_done(&p->items[i].packed);
    }
    free(p->items);
    *p = (struct parts){0};
}

void parts_put(struct parts *p, struct span host, struct span packed)
{
    for (size_t i = 0; i < p->count; i++)
        if (span_eq(buf_span(&p->items[i].host), host) && span_eq(buf_span(&p->items[i].packed), packed))
            return;
    p->items = mem_grow(p->items, &p->cap, p->count + 1, sizeof(*p->items));
    struct part *at = &p->items[p->count++];
    *at = (struct part){0};
    buf_put(&at->host, host);
    buf_put(&at->packed, packed);
}

static const char *path_of(const char *data, uint64_t order, struct buf *path)
{
    buf_printf(path, "%s/parts/%llu", data, (unsigned long long)order);
    return buf_cstr(path);
}

status parts_write(const char *data, uint64_t order, const struct parts *p)
{
    struct buf path = {0}, content = {0};
    buf_printf(&path, "%s/parts", data);
    status st = file_mkdir(buf_cstr(&path));
    buf_clear(&path);
    for (size_t i = 0; i < p->count; i++) {
        field_text(&content, 1, buf_span(&p->items[i].host));
        field_text(&content, 2, buf_span(&p->items[i].packed));
    }
    if (st == ST_OK)
        st = file_replace(path_of(data, order, &path), buf_span(&content));
    buf_done(&path);
    buf_done(&content);
    return st;
}

status parts_read(const char *data, uint64_t order, struct parts *out)
{
    struct buf path = {0}, content = {0};
    struct parts p = {0};
    status st = file_read(path_of(data, order, &path), PARTS_BYTES_MAX, &content);
    if (st == ST_OK) {
        struct fields f = fields_of(buf_span(&content));
        struct span v, host = {0};
        unsigned tag;
        while (fields_next(&f, &tag, &v)) {
            if (tag == 1)
                host = v;
            else if (tag == 2)
                parts_put(&p, host, v);
        }
        st = fields_bad(&f) ? ST_CORRUPT : ST_OK;
    }
    if (st == ST_OK)
        *out = p;
    else
        parts_done(&p);
    buf_done(&path);
    buf_done(&content);
    return st;
}

void parts_remove(const char *data, uint64_t order)
{
    struct buf path = {0};
    unlink(path_of(data, order, &path));
    buf_done(&path);
}
