#include "web/indexnow.h"

#include "base/buf.h"
#include "codec/json_tree.h"

#define MEMBERS_MAX 16 /* of the object; the rest of its commas are the URLs' */

/* ---- JSON ---- */

/* One object with one list, and no more values than an announcement has: a reader needs fifty times the bytes of a body
 * that is nothing but brackets. */
static status look_at_shape(struct span json, const char **why)
{
    size_t objects = 0, lists = 0, commas = 0;
    bool in_text = false;
    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        if (in_text && c == '\\')
            i++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text) {
            objects += c == '{';
            lists += c == '[';
            commas += c == ',';
        }
    }
    if (objects != 1 || lists > 1) {
        *why = "the body is one JSON object with host, key, urlList and perhaps keyLocation";
        return ST_INVALID;
    }
    *why = "there are more than 10,000 URLs";
    return commas > INDEXNOW_URLS_MAX + MEMBERS_MAX ? ST_LIMIT : ST_OK;
}

/* ---- what it says ---- */

static bool is_key(struct span key)
{
    bool is = key.n >= INDEXNOW_KEY_MIN && key.n <= INDEXNOW_KEY_MAX;
    for (size_t i = 0; is && i < key.n; i++)
        is = ascii_is_alpha(key.p[i]) || ascii_is_digit(key.p[i]) || key.p[i] == '-';
    return is;
}

static status read_url(struct arena *a, struct span text, struct url *out, const char **why)
{
    struct url parsed;
    *why = "a URL is longer than 2,048 bytes";
    if (text.n > INDEXNOW_URL_MAX)
        return ST_LIMIT;
    status st = url_parse(a, text, NULL, &parsed);
    if (st == ST_OK && url_is_http(&parsed))
        st = url_normalise(a, &parsed, &url_norm_default, INDEXNOW_URL_MAX, out);
    else
        st = ST_INVALID;
    if (st == ST_INVALID || st == ST_UNSUPPORTED)
        *why = "a URL is no http or https URL";
    return st == ST_OK || st == ST_LIMIT ? st : ST_REFUSED;
}

/* A site by both of its usual doors is one; at another port it may be somebody else's. */
static bool is_same_door(const struct url *a, const struct url *b)
{
    return span_eq(a->host, b->host) && a->has_explicit_port == b->has_explicit_port &&
           (!a->has_explicit_port || a->port == b->port);
}

static struct span folder_of(struct span path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path;
}

/* Where the key is: at the root of the first URL's site, or where it says. */
static status place_key(struct arena *a, struct span location, struct indexnow *out, struct url *at, const char **why)
{
    struct buf text = {0};
    if (location.n) {
        buf_put(&text, location);
    } else {
        buf_put(&text, url_site(a, &out->urls[0]));
        buf_puts(&text, "/");
        buf_put(&text, out->key);
        buf_puts(&text, ".txt");
    }
    status st = read_url(a, buf_span(&text), at, why);
    buf_done(&text);
    if (st == ST_OK && !is_same_door(at, &out->urls[0])) {
        *why = "keyLocation is on another host";
        return ST_REFUSED;
    }
    out->key_url = st == ST_OK ? at->href : (struct span){0};
    return st;
}

static status check_urls(const struct indexnow *n, const struct url *key, const char **why)
{
    struct span folder = folder_of(key->path);
    for (size_t i = 0; i < n->url_count; i++) {
        if (!is_same_door(&n->urls[i], key)) {
            *why = "a URL is of another host";
            return ST_REFUSED;
        }
        if (!span_starts(n->urls[i].path, folder)) {
            *why = "a URL is not below the folder of the key file";
            return ST_REFUSED;
        }
    }
    return ST_OK;
}

static status finish(struct arena *a, struct span key, struct span location, struct indexnow *out, const char **why)
{
    struct url at;
    if (!is_key(key)) {
        *why = "a key is 8 to 128 letters, digits and dashes";
        return ST_REFUSED;
    }
    out->host = out->urls[0].host;
    out->key = key;
    status st = place_key(a, location, out, &at, why);
    return st == ST_OK ? check_urls(out, &at, why) : st;
}

/* The host as people write it; with its port, or without. */
static bool names_host(struct arena *a, struct span text, const struct url *u)
{
    struct buf b = {0};
    struct url host;
    buf_puts(&b, "http://");
    buf_put(&b, text);
    bool is = text.n <= INDEXNOW_URL_MAX && url_parse(a, buf_span(&b), NULL, &host) == ST_OK &&
              span_eq(host.host, u->host) && (!host.has_explicit_port || host.port == u->port) &&
              span_is(host.path, "/");
    buf_done(&b);
    return is;
}

static status read_list(struct arena *a, const struct json_node *list, struct indexnow *out, const char **why)
{
    size_t n = 0;
    for (const struct json_node *u = list->children; u; u = u->next)
        n++;
    *why = "there are more than 10,000 URLs";
    if (n > INDEXNOW_URLS_MAX)
        return ST_LIMIT;
    struct url *urls = arena_alloc(a, (n + 1) * sizeof(*urls));
    status st = ST_OK;
    out->urls = urls;
    for (const struct json_node *u = list->children; st == ST_OK && u; u = u->next) {
        *why = "urlList is not a list of texts";
        st = u->kind == NODE_TEXT ? read_url(a, u->text, &urls[out->url_count], why) : ST_INVALID;
        out->url_count += st == ST_OK;
    }
    return st;
}

status indexnow_read(struct arena *a, struct span json, struct indexnow *out, const char **why)
{
    const struct json_node *root;
    struct indexnow n = {0};
    *why = "the body is too large";
    if (json.n > INDEXNOW_BYTES_MAX)
        return ST_LIMIT;
    status st = look_at_shape(json, why);
    if (st != ST_OK)
        return st;
    *why = "the body is no JSON object";
    if (json_tree(a, json, &root) != ST_OK || root->kind != NODE_OBJECT)
        return ST_INVALID;
    const struct json_node *list = json_member(root, "urlList");
    struct span host = json_member_text(root, "host"), key = json_member_text(root, "key");
    *why = "host, key and urlList must be there";
    if (!host.n || !key.n || list->kind != NODE_LIST || !list->children)
        return ST_INVALID;
    st = read_list(a, list, &n, why);
    if (st == ST_OK && !names_host(a, host, &n.urls[0])) {
        *why = "a URL is of another host";
        st = ST_REFUSED;
    }
    if (st == ST_OK)
        st = finish(a, key, json_member_text(root, "keyLocation"), &n, why);
    if (st == ST_OK)
        *out = n;
    return st;
}

status indexnow_of(struct arena *a, struct span url, struct span key, struct span location, struct indexnow *out,
                   const char **why)
{
    struct url *u = arena_alloc(a, sizeof(*u));
    struct indexnow n = {.urls = u, .url_count = 1};
    *why = "url and key must be there";
    if (!url.n || !key.n)
        return ST_INVALID;
    status st = read_url(a, url, u, why);
    if (st == ST_OK)
        st = finish(a, arena_copy(a, key), location, &n, why);
    if (st == ST_OK)
        *out = n;
    return st;
}

bool indexnow_is_key(struct span file, struct span key)
{
    if (span_starts(file, SPAN("\xef\xbb\xbf")))
        file = span_from(file, 3);
    return key.n && span_eq(span_trim(file), key);
}
