/* fuzz_indexnow.c - any bytes as an announcement. What was read is of one host and within the ceilings, and its key is
 * looked for there. */
#include <assert.h>

#include "web/indexnow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct arena *a, const struct indexnow *n)
{
    struct url key;
    assert(n->url_count >= 1 && n->url_count <= INDEXNOW_URLS_MAX);
    assert(n->key.n >= INDEXNOW_KEY_MIN && n->key.n <= INDEXNOW_KEY_MAX);
    assert(url_parse(a, n->key_url, NULL, &key) == ST_OK && span_eq(key.host, n->host) &&
           span_eq(key.href, n->key_url));
    for (size_t i = 0; i < n->url_count; i++) {
        struct url u;
        assert(n->urls[i].href.n <= INDEXNOW_URL_MAX && span_eq(n->urls[i].host, n->host));
        assert(url_parse(a, n->urls[i].href, NULL, &u) == ST_OK && span_eq(u.href, n->urls[i].href));
    }
    assert(indexnow_is_key(n->key, n->key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of(data, size), rest = text, url = {0}, key = {0};
    struct indexnow n;
    const char *why = NULL;
    struct arena a;
    arena_init(&a);
    status st = indexnow_read(&a, text, &n, &why);
    assert(st == ST_OK || ((st == ST_INVALID || st == ST_REFUSED || st == ST_LIMIT) && why && *why));
    if (st == ST_OK)
        check(&a, &n);
    (void)span_split(&rest, '\n', &url);
    (void)span_split(&rest, '\n', &key);
    st = indexnow_of(&a, url, key, rest, &n, &why);
    assert(st == ST_OK || ((st == ST_INVALID || st == ST_REFUSED || st == ST_LIMIT) && why && *why));
    if (st == ST_OK)
        check(&a, &n);
    arena_done(&a);
    return 0;
}
