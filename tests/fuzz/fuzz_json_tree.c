/* fuzz_json_tree.c - any bytes as JSON that a coordinator answers with, or that a lab has written down. Trees are as
 * deep as they may be, and hold texts of the input's size at most. */
#include <assert.h>
#include <stdint.h>

#include "codec/json_tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const struct json_node *n, unsigned depth)
{
    size_t bytes = n->name.n + n->text.n;
    assert(depth <= JSON_TREE_DEPTH_MAX && n->kind <= NODE_OBJECT);
    assert(n->kind == NODE_TEXT || n->text.n == 0);
    assert(n->kind == NODE_LIST || n->kind == NODE_OBJECT || !n->children);
    for (const struct json_node *c = n->children; c; c = c->next)
        bytes += walk(c, depth + 1);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    const struct json_node *root;
    arena_init(&a);
    if (json_tree(&a, span_of(data, size), &root) == ST_OK) {
        assert(walk(root, 0) <= size);
        assert(json_member(root, "name")->kind <= NODE_OBJECT);
        (void)json_member_text(root, "name");
        (void)json_member_number(root, "n");
    }
    arena_done(&a);
    return 0;
}
