/* house.h - a coordinator in a folder of the test's, and somebody who may ask its dashboard everything. */
#pragma once

#include "test.h"
#include "test_folder.h"

#include "coord/coord.h"
#include "io/http_call.h"
#include "store/file.h"

struct house {
    struct coord *c;
    char token[32];
    struct http_caller *caller;
    struct http_answer ans;
};

static inline void open_house(struct house *h, const char *hierarchy_file)
{
    struct buf why = {0}, text = {0};
    char path[TEST_PATH], base[64];
    struct coord_opts o = {.data_dir = test_folder(),
                           .addr = {4, {127, 0, 0, 1}},
                           .admin_addr = {4, {127, 0, 0, 1}},
                           .is_plain = true,
                           .allow_private = true,
                           .hierarchy_file = hierarchy_file,
                           .seed = 1,
                           .version = SPAN("9.9")};
    *h = (struct house){0};
    status st = coord_new(&o, &h->c, &why);
    if (st != ST_OK)
        fail_msg("coord_new: %s: %s", status_name(st), buf_cstr(&why));
    test_path(path, "coord/admin.token");
    CHECK_STATUS("token", file_read(path, 1000, &text), ST_OK);
    snprintf(base, sizeof(base), "http://127.0.0.1:%d", coord_admin_port(h->c));
    size_t at = span_search(buf_span(&text), SPAN("\"token\":\""), false) + 9;
    snprintf(h->token, sizeof(h->token), "%.22s", buf_cstr(&text) + at);
    CHECK_STATUS("caller", http_caller_new(&(struct http_caller_opts){.base = span_str(base)}, &h->caller), ST_OK);
    buf_done(&why);
    buf_done(&text);
}

static inline void close_house(struct house *h)
{
    http_answer_done(&h->ans);
    http_caller_free(h->caller);
    coord_free(h->c);
}

static inline int get(struct house *h, const char *target)
{
    char auth[128];
    snprintf(auth, sizeof(auth), "Authorization: Bearer %s", h->token);
    struct span header = span_str(auth);
    struct http_call call = {.method = "GET",
                             .target = span_str(target),
                             .headers = &header,
                             .header_count = 1,
                             .answer_max = 4u << 20,
                             .timeout_ms = 30000};
    CHECK_STATUS(target, http_call(h->caller, &call, &h->ans), ST_OK);
    return h->ans.status;
}

static inline bool said(const struct house *h, const char *text)
{
    return span_search(buf_span(&h->ans.body), span_str(text), false) < h->ans.body.n;
}

#define SAYS(h, label, text)                                                                 \
    do {                                                                                     \
        if (!said((h), (text)))                                                              \
            fail_msg("%s: no \"%s\" in %.6000s", (label), (text), buf_cstr(&(h)->ans.body)); \
    } while (0)
