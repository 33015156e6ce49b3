#include "sim/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/registry_files.h"
#include "place/hierarchy_format.h"
#include "store/file.h"

struct tree {
    struct mapped *mapped; /* owned; NULL: built */
    struct buf bytes;
    struct hierarchy *hierarchy;
};

static status complain_file(struct buf *why, const char *path, status st, const char *reason)
{
    log_escape(why, span_str(path), 4096);
    buf_printf(why, ": %s", reason);
    return st;
}

/* Lines that cannot be understood are left out; `orb hierarchy build` names them. */
static status build(const char *path, struct tree *t, struct buf *why)
{
    struct hierarchy_builder *b = hierarchy_builder_new();
    struct hierarchy_figures figures;
    struct registry_file file;
    status st = registry_file_add(b, path, &(struct registry_watch){0}, &file);
    int err = errno;
    if (st == ST_OK)
        st = hierarchy_builder_finish(b, (struct span){0}, &t->bytes, &figures);
    hierarchy_builder_free(b);
    if (st == ST_OK)
        return ST_OK;
    return complain_file(why, path, st,
                         st == ST_LIMIT                             ? "too large, or too many networks"
                         : st == ST_CORRUPT                         ? "is damaged"
                         : st == ST_UNSUPPORTED || st == ST_INVALID ? "no line of it looks like a registry's"
                                                                    : strerror(err));
}

/* Mapped when it is a file of a hierarchy, told by its first bytes. */
static status map_or_build(const char *path, struct tree *t, struct buf *why)
{
    struct mapped *m = NULL;
    status st = mapped_open(path, &m);
    if (st != ST_OK)
        return complain_file(why, path, st, st == ST_NOT_FOUND ? "no such file" : strerror(errno));
    if (span_starts(mapped_span(m), SPAN(HIERARCHY_MAGIC))) {
        t->mapped = m;
        return ST_OK;
    }
    mapped_free(m);
    return build(path, t, why);
}

status tree_open(const char *path, struct tree **out, struct buf *why)
{
    struct tree *t = mem_alloc(sizeof(*t));
    status st = map_or_build(path, t, why);
    if (st == ST_OK) {
        struct buf reason = {0};
        st = hierarchy_open(t->mapped ? mapped_span(t->mapped) : buf_span(&t->bytes), &t->hierarchy, &reason);
        if (st != ST_OK)
            (void)complain_file(why, path, st, buf_cstr(&reason));
        buf_done(&reason);
    }
    if (st != ST_OK) {
        tree_free(t);
        return st;
    }
    *out = t;
    return ST_OK;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    hierarchy_free(t->hierarchy);
    mapped_free(t->mapped);
    buf_done(&t->bytes);
    free(t);
}

const struct hierarchy *tree_hierarchy(const struct tree *t)
{
    return t ? t->hierarchy : NULL;
}
