#include "cli/admin_call.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "io/http_call.h"
#include "store/file.h"

#define TOKEN_FILE_MAX 4096
#define ANSWER_MAX (32u << 20)
#define TIMEOUT_MS 60000
#define UPLOAD_TIMEOUT_MS 600000

static void put_encoded(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char b = (unsigned char)text.p[i];
        if (ascii_is_alpha((char)b) || (b >= '0' && b <= '9') || (b && strchr("-_.~", b)))
            buf_printf(out, "%c", b);
        else
            buf_printf(out, "%%%02X", b);
    }
}

void form_text(struct buf *form, const char *name, struct span value)
{
    if (!value.n)
        return;
    if (form->n)
        buf_puts(form, "&");
    buf_puts(form, name);
    buf_puts(form, "=");
    put_encoded(form, value);
}

void form_number(struct buf *form, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    form_text(form, name, span_str(text));
}

void form_option(struct buf *form, const char *name, const struct options *o, opt_id id)
{
    size_t n;
    if (!opt_is_set(o, id) || o->v[id].source == FROM_DEFAULT)
        return;
    switch (option_table[id].type) {
    case TYPE_LIST: {
        const struct span *list = opt_list(o, id, &n);
        for (size_t i = 0; i < n; i++)
            form_text(form, name, list[i]);
        break;
    }
    case TYPE_FLAG:
        form_text(form, name, opt_flag(o, id) ? SPAN("true") : SPAN("false"));
        break;
    case TYPE_INT:
    case TYPE_SIZE:
    case TYPE_DURATION:
        form_number(form, name, (uint64_t)opt_number(o, id));
        break;
    default:
        form_text(form, name, opt_text(o, id));
        break;
    }
}

void form_path(struct buf *path, struct span part)
{
    put_encoded(path, part);
}

/* Where the running coordinator listens, and what it wants to be told. */
static int read_token(const struct options *o, const char *what, struct arena *a, struct span *url, struct span *token)
{
    struct buf path = {0}, text = {0};
    const struct json_node *root;
    const char *dir = opt_cstr(o, OPT_DATA);
    int code = EXIT_DONE;
    buf_printf(&path, "%s/coord/admin.token", dir ? dir : ".");
    status st = file_read(buf_cstr(&path), TOKEN_FILE_MAX, &text);
    if (st == ST_OK && json_tree(a, buf_span(&text), &root) != ST_OK)
        st = ST_CORRUPT;
    if (st == ST_OK) {
        *url = json_member_text(root, "url");
        *token = json_member_text(root, "token");
    } else if (st == ST_NOT_FOUND) {
        code = complain(EXIT_IO, "%s: no coordinator runs on %s: start one with orb coordinator --data %s", what, dir,
                        dir);
    } else {
        code = complain(exit_code_of(st), "%s: read %s: %s: it is for the user who started the coordinator", what,
                        path.p, status_name(st));
    }
    buf_done(&path);
    buf_done(&text);
    return code;
}

static int complain_answer(const char *what, int http, const struct json_node *root)
{
    const struct json_node *error = json_member(root, "error");
    struct span message = json_member_text(error, "message");
    struct buf text = {0};
    put_safe(&text, message);
    int code = http == 404 ? EXIT_NO : http < 500 ? EXIT_INPUT : EXIT_IO;
    code = complain(code, "%s: %s", what, text.n ? buf_cstr(&text) : "the coordinator answered with an error");
    buf_done(&text);
    return code;
}

static int ask(const struct options *o, const char *what, const struct http_call *given, const char *type,
               struct arena *a, struct buf *raw, const struct json_node **out)
{
    struct span url, token;
    int code = read_token(o, what, a, &url, &token);
    if (code != EXIT_DONE)
        return code;
    struct buf bearer = {0};
    struct http_caller *caller = NULL;
    struct http_answer answer = {0};
    buf_printf(&bearer, "Authorization: Bearer %.*s", SPAN_ARG(token));
    struct span headers[] = {buf_span(&bearer), span_str(type ? type : "")};
    struct http_call call = *given;
    call.method = type ? "POST" : "GET";
    call.headers = headers;
    call.header_count = type ? 2 : 1;
    call.answer_max = ANSWER_MAX;
    status st = http_caller_new(&(struct http_caller_opts){.base = url, .user_agent = SPAN("orb")}, &caller);
    if (st == ST_OK)
        st = http_call(caller, &call, &answer);
    if (st == ST_CONNECT)
        code =
            complain(EXIT_IO, "%s: the coordinator of %s does not answer: is it running?", what, opt_cstr(o, OPT_DATA));
    else if (st != ST_OK)
        code = complain(exit_code_of(st), "%s: ask the coordinator: %s", what, status_name(st));
    else if (json_tree(a, buf_span(&answer.body), out) != ST_OK)
        code = complain(EXIT_IO, "%s: the coordinator's answer cannot be read (HTTP %d)", what, answer.status);
    else if (answer.status < 200 || answer.status > 299)
        code = complain_answer(what, answer.status, *out);
    else
        buf_put(raw, buf_span(&answer.body));
    http_caller_free(caller);
    http_answer_done(&answer);
    buf_done(&bearer);
    return code;
}

int admin_call(const struct options *o, const char *what, const char *path, const struct buf *form, struct arena *a,
               struct buf *raw, const struct json_node **out)
{
    const struct http_call call = {
        .target = span_str(path), .body = form ? buf_span(form) : (struct span){0}, .timeout_ms = TIMEOUT_MS};
    return ask(o, what, &call, form ? "Content-Type: application/x-www-form-urlencoded" : NULL, a, raw, out);
}

int admin_upload(const struct options *o, const char *what, const char *path, struct span body, struct arena *a,
                 struct buf *raw, const struct json_node **out)
{
    const struct http_call call = {.target = span_str(path), .body = body, .timeout_ms = UPLOAD_TIMEOUT_MS};
    return ask(o, what, &call, "Content-Type: application/octet-stream", a, raw, out);
}

int admin_show(const struct options *o, struct buf *text, struct buf *raw)
{
    if (opt_flag(o, OPT_JSON)) {
        buf_puts(raw, raw->n && raw->p[raw->n - 1] != '\n' ? "\n" : "");
        print_buf(raw);
    } else {
        print_buf(text);
    }
    return finish_output(EXIT_DONE);
}
