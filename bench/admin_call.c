#include "admin_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/http_call.h"
#include "measure.h"
#include "store/file.h"

#define ANSWER_MAX (16u << 20)
#define CALL_MS 60000

struct admin_line {
    struct http_caller *caller;
    struct buf authorization, target;
    struct http_answer answer;
};

/* What follows `"name":`. */
static struct span value_of(struct span text, const char *name)
{
    char quoted[64];
    int n = snprintf(quoted, sizeof(quoted), "\"%s\":", name);
    struct span rest = span_from(text, span_search(text, span_of(quoted, (size_t)n), false));
    return span_trim(span_from(rest, (size_t)n));
}

struct span admin_text(struct span answer, const char *name)
{
    struct span v = value_of(answer, name);
    if (!v.n || v.p[0] != '"')
        return (struct span){0};
    return span_cut(v, 1, span_find(v, '"', 1) - 1);
}

double admin_number(struct span answer, const char *part, const char *name)
{
    struct span v = value_of(part[0] ? value_of(answer, part) : answer, name);
    char text[40];
    snprintf(text, sizeof(text), "%.*s", (int)(v.n < 30 ? v.n : 30), v.n ? v.p : "");
    return strtod(text, NULL);
}

status admin_line_new(const char *data_dir, struct admin_line **out)
{
    struct buf path = {0}, file = {0};
    struct admin_line *l = mem_alloc(sizeof(*l));
    buf_printf(&path, "%s/coord/admin.token", data_dir);
    status st = file_read(buf_cstr(&path), 4096, &file);
    if (st == ST_OK)
        st = http_caller_new(
            &(struct http_caller_opts){.base = admin_text(buf_span(&file), "url"), .user_agent = SPAN("bench")},
            &l->caller);
    struct span token = admin_text(buf_span(&file), "token");
    buf_printf(&l->authorization, "Authorization: Bearer %.*s", SPAN_ARG(token));
    buf_done(&path);
    buf_done(&file);
    if (st == ST_OK)
        *out = l;
    else
        admin_line_free(l);
    return st;
}

void admin_line_free(struct admin_line *l)
{
    if (!l)
        return;
    http_caller_free(l->caller);
    http_answer_done(&l->answer);
    buf_done(&l->authorization);
    buf_done(&l->target);
    free(l);
}

struct span admin_ask(struct admin_line *l, const char *path, const char *json)
{
    struct span headers[] = {buf_span(&l->authorization), SPAN("Content-Type: application/json")};
    measure_must(path, http_call(l->caller,
                                 &(struct http_call){.method = json ? "POST" : "GET",
                                                     .target = span_str(path),
                                                     .headers = headers,
                                                     .header_count = json ? 2 : 1,
                                                     .body = span_str(json),
                                                     .answer_max = ANSWER_MAX,
                                                     .timeout_ms = CALL_MS},
                                 &l->answer));
    if (l->answer.status != 200) {
        fprintf(stderr, "bench: %s: HTTP %d %.*s\n", path, l->answer.status, SPAN_ARG(buf_span(&l->answer.body)));
        exit(1);
    }
    return buf_span(&l->answer.body);
}
