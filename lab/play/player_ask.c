/* player_ask.c - orders to router and servers over their sockets; questions to the coordinator over its administration,
 * without a process for each of them: they are asked several times a second while the machine is busy. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/clock.h"
#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/play/player_internal.h"
#include "store/file.h"

#define TOKEN_FILE_MAX 4096
#define ANSWER_MAX (32u << 20)
#define ASK_MS 20000
#define EXPORT_MAX (1u << 30)

/* ---- orders ---- */

static struct span after_ok(struct span answer)
{
    return span_trim(span_from(answer, strlen("ok")));
}

status play_tell(const char *socket, struct span line, struct buf *answer)
{
    struct buf got = {0};
    status st = control_ask(socket, line, &got, NULL);
    struct span said = st == ST_OK ? after_ok(buf_span(&got)) : span_trim(buf_span(&got));
    if (st == ST_REFUSED && span_starts(said, SPAN("error")))
        said = span_trim(span_from(said, strlen("error")));
    buf_put(answer, said);
    buf_done(&got);
    return st;
}

const char *play_servers_socket(struct play *p)
{
    const struct words *w = &p->run->serve;
    struct span name = SPAN("serve");
    struct buf path = {0};
    const char *box = getenv(BOX_FOLDER_VARIABLE);
    for (size_t i = 0; i + 1 < w->n; i++)
        if (span_is(w->w[i], "--control"))
            name = w->w[i + 1];
    buf_printf(&path, "%s/%.*s", box ? box : "", SPAN_ARG(name));
    const char *copy = arena_copy(&p->arena, buf_span(&path)).p;
    buf_done(&path);
    return copy;
}

/* ---- questions ---- */

void play_ask_done(struct play *p)
{
    http_caller_free(p->caller);
    p->caller = NULL;
    buf_done(&p->token);
}

/* Where the coordinator listens, and what it wants to be told; both are others after a new start. */
static status find_coordinator(struct play *p)
{
    struct buf path = {0}, text = {0};
    struct arena a;
    const struct json_node *root;
    arena_init(&a);
    buf_printf(&path, "%s/coord/admin.token", play_path(p, p->data));
    status st = file_read(buf_cstr(&path), TOKEN_FILE_MAX, &text);
    if (st == ST_OK)
        st = json_tree(&a, buf_span(&text), &root);
    if (st == ST_OK)
        st = http_caller_new(
            &(struct http_caller_opts){.base = json_member_text(root, "url"), .user_agent = SPAN("orb-lab")},
            &p->caller);
    if (st == ST_OK)
        buf_printf(&p->token, "Authorization: Bearer %.*s", SPAN_ARG(json_member_text(root, "token")));
    arena_done(&a);
    buf_done(&path);
    buf_done(&text);
    return st;
}

status play_ask(struct play *p, const char *target, struct buf *raw, const struct json_node **out)
{
    struct http_answer answer = {0};
    status st = ST_OK;
    if (!p->coordinator.is_wanted)
        return ST_NOT_FOUND;
    if (!p->caller)
        st = find_coordinator(p);
    if (st == ST_OK) {
        struct span header = buf_span(&p->token);
        const struct http_call call = {.method = "GET",
                                       .target = span_str(target),
                                       .headers = &header,
                                       .header_count = 1,
                                       .answer_max = ANSWER_MAX,
                                       .timeout_ms = ASK_MS};
        st = http_call(p->caller, &call, &answer);
    }
    arena_done(&p->answer);
    arena_init(&p->answer);
    if (st == ST_OK && answer.status != 200)
        st = ST_REFUSED;
    if (st == ST_OK)
        st = json_tree(&p->answer, buf_span(&answer.body), out);
    if (st == ST_OK && raw)
        buf_put(raw, buf_span(&answer.body));
    if (st != ST_OK)
        play_ask_done(p);
    http_answer_done(&answer);
    return st;
}

status play_look_at_networks(struct play *p, size_t *hosts)
{
    const struct json_node *answer;
    status st = play_ask(p, "/api/v1/networks", NULL, &answer);
    if (st != ST_OK)
        return st;
    p->settled = *hosts = 0;
    for (const struct json_node *n = json_member(answer, "networks")->children; n; n = n->next) {
        bool is_settled = span_is(json_member_text(n, "state"), "owned") && json_member_text(n, "agent").n &&
                          json_member_number(n, "trial") <= 0;
        p->settled += is_settled;
        *hosts += is_settled ? (size_t)json_member_number(n, "hosts") : 0;
    }
    p->networks = (size_t)json_member_number(answer, "total");
    return ST_OK;
}

status play_count_networks(struct play *p, const struct play_agent *a, size_t *out)
{
    const struct json_node *answer;
    size_t has = 0;
    status st = play_ask(p, "/api/v1/networks", NULL, &answer);
    if (st != ST_OK)
        return st;
    for (const struct json_node *n = json_member(answer, "networks")->children; n; n = n->next)
        has += span_is(json_member_text(n, "agent"), a->actor.name);
    *out = has;
    return ST_OK;
}

status play_look_at_agent(struct play *p, const struct play_agent *a, const struct json_node **out)
{
    static const struct json_node none;
    const struct json_node *answer;
    status st = play_ask(p, "/api/v1/agents", NULL, &answer);
    if (st != ST_OK)
        return st;
    *out = &none;
    for (const struct json_node *n = json_member(answer, "agents")->children; n; n = n->next)
        if (span_is(json_member_text(n, "name"), a->actor.name))
            *out = n;
    return ST_OK;
}

status play_heard(struct play *p, size_t *out)
{
    const struct json_node *answer;
    size_t heard = 0;
    status st = play_ask(p, "/api/v1/agents", NULL, &answer);
    if (st != ST_OK)
        return st;
    for (const struct json_node *n = json_member(answer, "agents")->children; n; n = n->next)
        heard += json_member(n, "heard_s")->kind == NODE_NUMBER;
    *out = heard;
    return ST_OK;
}

/* ---- pages in the data folder ---- */

static status run_quietly(struct play *p, struct args *args, const char *out)
{
    struct buf why = {0};
    const struct process_opts o = {.args = args, .dir = p->folder, .out = out, .err = "/dev/null"};
    unlink(play_path(p, out));
    status st = process_run(&o, PLAY_COMMAND_MS, &why);
    buf_done(&why);
    return st;
}

/* All good pages of the folder: cheap, but some may be others than ours. */
static status count_pages(struct play *p, size_t *out)
{
    struct args args = {0};
    struct buf text = {0};
    struct arena a;
    const struct json_node *said;
    arena_init(&a);
    args_adds(&args, p->orb, "status", "--data", p->data, "--json");
    status st = run_quietly(p, &args, "status.json");
    if (st == ST_OK)
        st = file_read(play_path(p, "status.json"), ANSWER_MAX, &text);
    if (st == ST_OK)
        st = json_tree(&a, buf_span(&text), &said);
    if (st == ST_OK)
        *out = (size_t)json_member_number(said, "pages");
    arena_done(&a);
    args_done(&args);
    buf_done(&text);
    return st;
}

static status read_pages(struct play *p, const char *file)
{
    struct mapped *m = NULL;
    struct span rest, line, mark = SPAN("\"url\":\"");
    status st = mapped_open(play_path(p, file), &m);
    if (st != ST_OK)
        return st;
    pageset_forget(p->applied);
    rest = mapped_span(m);
    while (rest.n && span_split(&rest, '\n', &line)) {
        struct span url = span_from(line, span_search(line, mark, false) + mark.n);
        pageset_meet_url(p->applied, span_cut(url, 0, span_find(url, '"', 0)));
    }
    mapped_free(m);
    return ST_OK;
}

status play_count_applied(struct play *p, size_t enough)
{
    struct args args = {0};
    size_t pages = 0;
    status st = count_pages(p, &pages);
    if (st != ST_OK || pages < enough)
        return st;
    args_adds(&args, p->orb, "export", "--data", p->data);
    st = run_quietly(p, &args, "applied.jsonl");
    if (st == ST_OK)
        st = read_pages(p, "applied.jsonl");
    unlink(play_path(p, "applied.jsonl"));
    args_done(&args);
    return st;
}
