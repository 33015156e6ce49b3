#include "apply/apply.h"

#include "web/summary.h"

static visit_outcome outcome_of(const struct summary *s)
{
    if (s->is_refused)
        return VISIT_REFUSED;
    if (s->failure != ST_OK)
        return VISIT_ERROR;
    if (s->http_status == 304)
        return VISIT_UNCHANGED;
    if (s->http_status >= 200 && s->http_status < 300)
        return VISIT_NEW; /* the store knows whether it is new, changed or the same */
    if (s->http_status >= 300 && s->http_status < 400)
        return VISIT_REDIRECT;
    return s->http_status == 404 || s->http_status == 410 ? VISIT_GONE : VISIT_ERROR;
}

status apply_summary(struct store *store, struct arena *scratch, struct span packed, visit_outcome *outcome)
{
    struct summary s;
    arena_reset(scratch);
    status st = summary_unpack(scratch, packed, &s);
    if (st != ST_OK)
        return st;
    struct page p = {
        .key = siphash(store_key(store), s.url),
        .url = s.url,
        .channel = s.channel,
        .fetch_number = s.fetch_number,
        .at = s.at,
        .outcome = (uint8_t)outcome_of(&s),
        .failure = s.failure,
        .http_status = s.http_status,
        .depth = s.depth,
        .page_flags = s.page_flags,
        .digest = s.digest,
        .title = s.title,
        .lang = s.lang,
        .canonical = s.canonical,
        .etag = s.etag,
        .last_modified = s.last_modified,
        .content_type = s.content_type,
        .charset = s.charset,
        .redirect = s.redirect,
        .reason = s.reason,
        .address = s.address,
        .body_bytes = s.body_bytes,
        .wire_bytes = s.wire_bytes,
        .text_bytes = s.text_bytes,
        .dns_us = s.dns_us,
        .connect_us = s.connect_us,
        .tls_us = s.tls_us,
        .first_byte_us = s.first_byte_us,
        .total_us = s.total_us,
    };
    return store_page_visit(store, &p, outcome);
}
