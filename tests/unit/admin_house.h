/* admin_house.h - a coordinator, and somebody who asks its dashboard with a token, a cookie or nothing. */
#pragma once

#include "test.h"
#include "test_folder.h"

#include "coord/admin_internal.h"
#include "io/http_call.h"
#include "store/file.h"

struct house {
    struct coord *c;
    char base[64], token[64];
    struct http_caller *caller;
    struct http_answer ans;
    char cookie[128], csrf[64];
};

static inline void open_house(struct house *h)
{
    struct buf why = {0}, path = {0}, text = {0};
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .allow_private = true,
                           .seed = 1,
                           .public_url = SPAN("https://orb.example"),
                           .version = SPAN("9.9")};
    *h = (struct house){0};
    status st = coord_new(&o, &h->c, &why);
    if (st != ST_OK)
        fail_msg("coord_new: %s: %s", status_name(st), buf_cstr(&why));
    buf_printf(&path, "%s/coord/admin.token", test_folder());
    CHECK_STATUS("token", file_read(buf_cstr(&path), 1000, &text), ST_OK);
    snprintf(h->base, sizeof(h->base), "http://127.0.0.1:%d", coord_admin_port(h->c));
    size_t at = span_search(buf_span(&text), SPAN("\"token\":\""), false) + 9;
    snprintf(h->token, sizeof(h->token), "%.22s", buf_cstr(&text) + at);
    CHECK("url is in the file", span_search(buf_span(&text), span_str(h->base), false) < text.n);
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = span_str(h->base)}, &h->caller), ST_OK);
    buf_done(&why);
    buf_done(&path);
    buf_done(&text);
}

static inline void close_house(struct house *h)
{
    http_answer_done(&h->ans);
    http_caller_free(h->caller);
    coord_free(h->c);
}

/* What a request brings along. */
enum { WITH_NOTHING = 0, WITH_TOKEN = 1, WITH_COOKIE = 2, WITH_CSRF = 4, AS_JSON = 8, AS_TEXT = 16 };

static inline int ask_more(struct house *h, const char *method, const char *target, struct span body, int with,
                           const char *header)
{
    char auth[128], cookie[160], csrf[96];
    struct span headers[6];
    size_t n = 0;
    snprintf(auth, sizeof(auth), "Authorization: Bearer %s", h->token);
    snprintf(cookie, sizeof(cookie), "Cookie: a=b; %s", h->cookie);
    snprintf(csrf, sizeof(csrf), "X-CSRF-Token: %s", h->csrf);
    if (with & WITH_TOKEN)
        headers[n++] = span_str(auth);
    if (with & WITH_COOKIE)
        headers[n++] = span_str(cookie);
    if (with & WITH_CSRF)
        headers[n++] = span_str(csrf);
    if (with & AS_JSON)
        headers[n++] = SPAN("Content-Type: application/json");
    if (with & AS_TEXT)
        headers[n++] = SPAN("Content-Type: text/plain");
    if (header)
        headers[n++] = span_str(header);
    struct http_call call = {.method = method,
                             .target = span_str(target),
                             .headers = headers,
                             .header_count = n,
                             .body = body,
                             .answer_max = 4u << 20,
                             .timeout_ms = 30000};
    status st = http_call(h->caller, &call, &h->ans);
    if (st != ST_OK)
        fail_msg("%s %s: %s", method, target, status_name(st));
    return h->ans.status;
}

static inline int get(struct house *h, const char *target, int with)
{
    return ask_more(h, "GET", target, SPAN(""), with, NULL);
}

static inline int post(struct house *h, const char *target, const char *form, int with)
{
    return ask_more(h, "POST", target, span_str(form), with, NULL);
}

static inline bool said(const struct house *h, const char *text)
{
    return span_search(buf_span(&h->ans.body), span_str(text), false) < h->ans.body.n;
}

#define EXPECT(h, label, code, want)                                                               \
    do {                                                                                           \
        int code_ = (code);                                                                        \
        if (code_ != (want))                                                                       \
            fail_msg("%s: %d, want %d: %.300s", (label), code_, (want), buf_cstr(&(h)->ans.body)); \
    } while (0)

/* Cookie and CSRF token of the answer to a login. */
static inline void keep_session(struct house *h)
{
    struct span set = http_answer_header(&h->ans, "Set-Cookie");
    struct span value = span_cut(set, 0, span_find(set, ';', 0));
    CHECK("cookie", value.n > 20 && value.n < sizeof(h->cookie));
    CHECK("hidden", span_search(set, SPAN("; HttpOnly; SameSite=Strict"), false) < set.n);
    snprintf(h->cookie, sizeof(h->cookie), "%.*s", SPAN_ARG(value));
    EXPECT(h, "page with the token", get(h, "/", WITH_COOKIE), 200);
    struct span body = buf_span(&h->ans.body), mark = SPAN("name=\"csrf\" value=\"");
    size_t at = span_search(body, mark, false);
    CHECK("csrf token in the page", at < body.n);
    snprintf(h->csrf, sizeof(h->csrf), "%.22s", body.p + at + mark.n);
}

static inline void first_admin(struct house *h)
{
    struct buf link = {0}, form = {0};
    CHECK("link", coord_admin_link(h->c, &link));
    struct span key = span_from(buf_span(&link), span_search(buf_span(&link), SPAN("key="), false) + 4);
    buf_printf(&form, "key=%.*s&name=ada&password=engine+number+1", SPAN_ARG(key));
    EXPECT(h, "setup", post(h, "/setup", buf_cstr(&form), 0), 200);
    keep_session(h);
    buf_done(&link);
    buf_done(&form);
}
