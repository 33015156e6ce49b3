/* indexnow.h - what a site says when it announces that pages have changed: the IndexNow protocol (indexnow.org).
 *
 *     {"host": "example.org", "key": "0123456789abcdef",
 *      "keyLocation": "https://example.org/0123456789abcdef.txt",
 *      "urlList": ["https://example.org/a", "https://example.org/b"]}
 *
 * or one URL as parameters of a GET. Whoever can put a file with the key on the site may speak for it: for all of it
 * when the file is at its root, else for what is below the file's folder. Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "web/url.h"

#define INDEXNOW_URLS_MAX 10000       /* of one announcement: the protocol's own */
#define INDEXNOW_BYTES_MAX (2u << 20) /* of its body: 200 bytes a URL */
#define INDEXNOW_URL_MAX 2048
#define INDEXNOW_KEY_MIN 8
#define INDEXNOW_KEY_MAX 128

struct indexnow {
    struct span host;       /* that all URLs are of */
    const struct url *urls; /* in the one form that pages are known by */
    size_t url_count;       /* 1 at least */
    struct span key;
    struct span key_url; /* where the key must be found */
};

/* All in the arena. ST_INVALID: not of this form. ST_REFUSED: of this form, and the key is no key, a URL is of another
 * host or not below the key's folder, or the key is to be looked for elsewhere. ST_LIMIT: more than the ceilings
 * above. *why (static) says which, for people. */
MUST_USE status indexnow_read(struct arena *a, struct span json, struct indexnow *out, const char **why);
/* The parameters of a GET, decoded; `location` may be empty. */
MUST_USE status indexnow_of(struct arena *a, struct span url, struct span key, struct span location,
                            struct indexnow *out, const char **why);
/* The text of a key file says the key: alone, but for blanks around it. */
bool indexnow_is_key(struct span file, struct span key);
