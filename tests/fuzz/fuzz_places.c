/* fuzz_places.c - any bytes as a list of places. What was read finds itself: a place has the page that it is written
 * as, and is written in one way only. */
#include <assert.h>

#include "web/places.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sip_key key = {3, 4};

static void use(struct span text)
{
    struct arena a;
    struct places_item p, again;
    struct buf why = {0};
    arena_init(&a);
    status st = places_parse(&a, text, &p, &why);
    assert(st == ST_OK || st == ST_INVALID || st == ST_LIMIT);
    assert(st != ST_INVALID || why.n);
    if (st == ST_OK && p.text.n <= PLACES_TEXT_MAX) {
        struct places *ps = places_new(&key);
        struct buf href = {0};
        struct url u;
        assert(places_parse(&a, p.text, &again, NULL) == ST_OK && span_eq(again.text, p.text) && again.kind == p.kind);
        assert(places_add(ps, text, NULL) == ST_OK && places_add(ps, p.text, NULL) == ST_OK && places_count(ps) == 1);
        if (p.kind == PLACES_HOST || p.kind == PLACES_DOMAIN)
            buf_puts(&href, "http://");
        buf_put(&href, p.kind == PLACES_DOMAIN ? p.host : p.text);
        if (p.kind == PLACES_FOLDER)
            href.p[href.n - 1] = 'a'; /* something that follows; without it "/." would be "/" */
        assert(url_parse(&a, buf_span(&href), NULL, &u) == ST_OK && places_find(ps, &u));
        buf_done(&href);
        places_free(ps);
    }
    buf_done(&why);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span list = span_of(data, size), rest = list, place, note;
    struct places *ps = places_new(&key);
    unsigned line = 0, last = 0;
    while (places_next_line(&rest, &line, &place, &note)) {
        assert(place.n && line > last);
        last = line;
        use(place);
    }
    status st = places_add_list(ps, list, NULL);
    assert(st == ST_OK || st == ST_INVALID || st == ST_LIMIT);
    places_free(ps);
    return 0;
}
