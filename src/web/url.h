/* url.h - the WHATWG URL: parse, resolve against a base, serialise.
 *
 * Follows the URL Standard's state machine for every scheme; IDNA by libidn2 (UTS 46, non-transitional). A struct url
 * is one serialised string and spans into it; it lives as long as the arena it was made in. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"

#define URL_INPUT_MAX 65536 /* longer input is ST_LIMIT before any work */
#define URL_HREF_MAX 262144 /* so is a longer result: escapes triple, and a base adds its path */

struct url {
    struct span href;     /* serialised, fragment included; NUL follows it; every other span points into it */
    struct span scheme;   /* "https", without the colon */
    struct span username; /* percent-encoded */
    struct span password;
    struct span host;     /* serialised: lower case, punycode, "[::1]" with its brackets */
    struct span path;     /* "/a/b", or the opaque path */
    struct span query;    /* without '?' */
    struct span fragment; /* without '#' */
    int port;             /* the effective port: explicit or the scheme's default; -1 where there is none */
    bool has_explicit_port;
    bool has_host; /* false: null host ("mailto:x") */
    bool has_query;
    bool has_fragment;
    bool is_special; /* http, https, ws, wss, ftp, file */
    bool has_opaque_path;
};

/* Parses `input` (UTF-8; invalid bytes become U+FFFD), relative to `base` when that is not NULL.
 * ST_INVALID: the standard says failure. ST_LIMIT: too long. */
MUST_USE status url_parse(struct arena *a, struct span input, const struct url *base, struct url *out);

bool url_is_http(const struct url *u); /* http or https with a host */

/* "https://host:port", without the port where it is the default: the site of an http(s) URL. A prefix of href when
 * there is no user name; made in the arena otherwise. */
struct span url_site(struct arena *a, const struct url *u);

/* A reference out of a header, where bytes that are no UTF-8 stand for themselves ("/caf\xe9" -> "/caf%E9"), as in
 * browsers. The value itself when it is UTF-8. */
struct span url_header_ref(struct arena *a, struct span value);

/* Path and query as sent in a request line: "/a?b". Points into href. */
struct span url_request_target(const struct url *u);

/* The crawler's own normalisation, on top of parsing: what makes two spellings of a page one page. */
struct url_norm {
    const struct span *drop_params; /* borrowed: globs of query parameter names to drop, such as "utm_*" */
    size_t drop_param_count;
    bool sort_params; /* default false: order may matter to a server */
};

/* The default list of dropped parameters: session ids and tracking marks. */
extern const struct url_norm url_norm_default;

/* Drops fragment and credentials, dropped parameters (of the query, and ";name=value" of path segments) and then an
 * empty query; upper-cases %xx, decodes those that stand for unreserved characters, writes %25 for a '%' that begins no
 * escape. Idempotent, and the result parses to itself. Shares the bytes of `in` where nothing changes. ST_LIMIT over
 * `max` bytes, ST_UNSUPPORTED when not http(s). */
MUST_USE status url_normalise(struct arena *a, const struct url *in, const struct url_norm *norm, size_t max,
                              struct url *out);
