/* Input: a flag byte, a base up to the first newline, and the reference. Checks what must hold for every URL: the fast
 * path agrees with the whole state machine, a URL parses to itself, and normalising twice is normalising once. */
#include <stdint.h>
#include <stdlib.h>

#include "web/domain.h"
#include "web/url.h"
#include "web/url_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
    if (!claim)
        abort();
}

static void require_same(const struct url *x, const struct url *y)
{
    require(span_eq(x->href, y->href) && span_eq(x->scheme, y->scheme) && span_eq(x->username, y->username) &&
            span_eq(x->password, y->password) && span_eq(x->host, y->host) && span_eq(x->path, y->path) &&
            span_eq(x->query, y->query) && span_eq(x->fragment, y->fragment));
    require(x->port == y->port && x->has_explicit_port == y->has_explicit_port && x->has_host == y->has_host &&
            x->has_query == y->has_query && x->has_fragment == y->has_fragment && x->is_special == y->is_special &&
            x->has_opaque_path == y->has_opaque_path);
}

static void check_normal_form(struct arena *a, const struct url *u, bool sort)
{
    struct url_norm norm = url_norm_default;
    struct url once, twice, again;
    norm.sort_params = sort;
    if (url_normalise(a, u, &norm, SIZE_MAX, &once) != ST_OK)
        return;
    require(url_normalise(a, &once, &norm, SIZE_MAX, &twice) == ST_OK);
    require_same(&once, &twice);
    if (once.href.n <= URL_INPUT_MAX) {
        require(url_parse_slow(a, once.href, NULL, &again) == ST_OK);
        require_same(&once, &again);
    }
}

static void check(struct arena *a, struct span text, const struct url *base, bool sort)
{
    struct url slow, fast, again;
    status st = url_parse_slow(a, text, base, &slow);
    status quick = url_parse_fast(a, text, base, &fast);
    if (quick != ST_AGAIN) {
        require(quick == st);
        require_same(&fast, &slow);
    }
    if (st != ST_OK)
        return;
    require(slow.href.p[slow.href.n] == '\0');
    if (slow.href.n <= URL_INPUT_MAX) {
        require(url_parse_slow(a, slow.href, NULL, &again) == ST_OK);
        require_same(&slow, &again);
    }
    check_normal_form(a, &slow, sort);
    if (url_is_http(&slow)) {
        require(span_starts(url_site(a, &slow), SPAN("http")));
        require(url_request_target(&slow).p[0] == '/');
    }
    require(span_ends(slow.host, domain_registered(slow.host)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct url base;
    if (size == 0)
        return 0;
    struct span rest = {(const char *)data + 1, size - 1}, base_text = {NULL, 0};
    arena_init(&a);
    if (data[0] & 1) {
        size_t end = span_find(rest, '\n', 0);
        base_text = span_cut(rest, 0, end);
        rest = span_from(rest, end + 1);
    }
    bool has_base = (data[0] & 1) && url_parse(&a, base_text, NULL, &base) == ST_OK;
    check(&a, rest, has_base ? &base : NULL, data[0] & 2);
    arena_done(&a);
    return 0;
}
