#include "serve/asset.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "codec/zip.h"

struct assets {
    struct asset *list; /* owned; the plain texts too */
    size_t n;
};

static const char *type_of(struct span name)
{
    static const struct {
        const char *end, *type;
    } types[] = {{".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"},
                 {".html", "text/html; charset=utf-8"},
                 {".xml", "application/opensearchdescription+xml; charset=utf-8"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (span_ends(name, span_str(types[i].end)))
            return types[i].type;
    return "application/octet-stream";
}

static status fill(struct asset *a, const struct asset_file *f)
{
    struct buf plain = {0};
    struct span name = span_str(f->name), gzip = span_of(f->gzip, f->gzip_bytes);
    status st = unzip_gzip(gzip, f->plain_bytes, &plain);
    if (st == ST_OK && plain.n != f->plain_bytes)
        st = ST_CORRUPT;
    if (st != ST_OK) {
        buf_done(&plain);
        return ST_CORRUPT;
    }
    size_t dot = name.n;
    while (dot > 0 && name.p[dot - 1] != '.')
        dot--;
    struct span stem = span_cut(name, 0, dot ? dot - 1 : name.n), ext = span_from(name, dot);
    int n = snprintf(a->path, sizeof(a->path), "/static/%.*s-%s.%.*s", SPAN_ARG(stem), f->hash, SPAN_ARG(ext));
    assert(n > 0 && (size_t)n < sizeof(a->path));
    a->name = f->name;
    a->plain = buf_span(&plain); /* the buffer is kept by its pointer alone: assets_free */
    a->gzip = gzip;
    a->type = type_of(name);
    return ST_OK;
}

status assets_new(struct assets **out)
{
    struct assets *a = mem_alloc(sizeof(*a));
    a->list = mem_alloc(asset_file_count * sizeof(*a->list));
    status st = ST_OK;
    while (st == ST_OK && a->n < asset_file_count) {
        st = fill(&a->list[a->n], &asset_files[a->n]);
        a->n += st == ST_OK;
    }
    if (st != ST_OK) {
        assets_free(a);
        return st;
    }
    *out = a;
    return ST_OK;
}

void assets_free(struct assets *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++)
        free((void *)(uintptr_t)a->list[i].plain.p);
    free(a->list);
    free(a);
}

const struct asset *asset_by_name(const struct assets *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, name) == 0)
            return &a->list[i];
    assert(!"an asset that src/serve/meson.build does not list");
    return NULL;
}

const struct asset *asset_by_path(const struct assets *a, struct span path)
{
    for (size_t i = 0; i < a->n; i++)
        if (span_is(path, a->list[i].path))
            return &a->list[i];
    return NULL;
}
