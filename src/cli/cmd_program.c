/* cmd_program.c - `orb program`: tries a program on one page, signs it, and sends it to agents. */

#include "cli/admin_call.h"
#include "cli/command.h"
#include "cli/fetch_one.h"
#include "cli/key_file.h"
#include "codec/json.h"
#include "io/clock.h"
#include "mobile/master.h"
#include "cli/program_file.h"
#include "mobile/page_make.h"

#define WHAT "program"
#define DEFAULT_BASE "https://example.org/"

/* ---- run: the page ---- */

struct trial {
    struct arena arena;
    struct fetched got;
    struct url document;
    struct program_page page;
    bool is_json;
    struct loop *loop;
    int code;
};

static int get_page(const struct options *o, struct span where, struct trial *t)
{
    if (span_search(where, SPAN("://"), false) < where.n)
        return fetch_one(o, WHAT, where, &t->got);
    t->got.http_status = 200;
    buf_puts(&t->got.content_type, "text/html");
    buf_puts(&t->got.headers, "Content-Type: text/html\n");
    buf_puts(&t->got.url, opt_is_set(o, OPT_BASE) ? opt_cstr(o, OPT_BASE) : DEFAULT_BASE);
    return read_input(WHAT, where.p, &t->got.body);
}

static int look_at_page(struct trial *t)
{
    if (url_parse(&t->arena, buf_span(&t->got.url), NULL, &t->document) != ST_OK)
        return complain(EXIT_INPUT, WHAT ": --base %s: not a URL", buf_cstr(&t->got.url));
    const struct page_source s = {.document = &t->document,
                                  .http_status = t->got.http_status,
                                  .headers = buf_span(&t->got.headers),
                                  .content_type = buf_span(&t->got.content_type),
                                  .body = buf_span(&t->got.body),
                                  .agent = SPAN("orbweaver")};
    if (page_read(&t->arena, &s, &t->page) != ST_OK)
        return complain(EXIT_INPUT, WHAT ": decode the page: too much text");
    return EXIT_DONE;
}

/* ---- run: what was said ---- */

/* A followed URL as the crawler would see it; "" when it is none. */
static struct span followed(struct trial *t, struct span ref)
{
    struct url u;
    return url_parse(&t->arena, ref, &t->document, &u) == ST_OK && url_is_http(&u) ? u.href : (struct span){0};
}

static void put_json(struct trial *t, const struct program_result *r, struct buf *out)
{
    struct json j = {.out = out};
    json_open(&j, '{');
    json_key(&j, "url");
    json_text(&j, t->page.url);
    json_key(&j, "status");
    json_u64(&j, (uint64_t)t->page.http_status);
    json_key(&j, "result");
    json_str(&j, status_name(r->st));
    json_key(&j, "error");
    json_text_or_null(&j, r->why);
    json_key(&j, "skipped");
    json_bool(&j, r->is_skipped);
    json_key(&j, "summary");
    if (r->has_summary)
        json_text(&j, r->summary);
    else
        json_null(&j);
    json_key(&j, "fields");
    json_open(&j, '[');
    for (size_t i = 0; i < r->field_count; i++) {
        json_open(&j, '{');
        json_key(&j, "name");
        json_text(&j, r->fields[i].name);
        json_key(&j, "value");
        json_text(&j, r->fields[i].value);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "follow");
    json_open(&j, '[');
    for (size_t i = 0; i < r->follow_count; i++)
        if (followed(t, r->follows[i]).n)
            json_text(&j, followed(t, r->follows[i]));
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(out, '\n');
}

static void put_lines(struct trial *t, const struct program_result *r, struct buf *out)
{
    struct span rest = r->summary, line;
    for (size_t i = 0; i < r->field_count; i++) {
        buf_printf(out, "field %.*s ", SPAN_ARG(r->fields[i].name));
        put_safe(out, r->fields[i].value);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < r->follow_count; i++) {
        struct span url = followed(t, r->follows[i]);
        buf_puts(out, url.n ? "follow " : "not a URL: ");
        put_safe(out, url.n ? url : r->follows[i]);
        buf_putc(out, '\n');
    }
    if (r->is_skipped)
        buf_puts(out, "skip\n");
    while (r->has_summary && span_split(&rest, '\n', &line)) {
        buf_puts(out, "summary ");
        put_safe(out, line);
        buf_putc(out, '\n');
    }
}

static void on_result(void *arg, const struct program_result *r)
{
    struct trial *t = arg;
    struct buf out = {0};
    if (t->is_json)
        put_json(t, r, &out);
    else
        put_lines(t, r, &out);
    print_buf(&out);
    buf_done(&out);
    t->code = EXIT_DONE;
    if (r->st != ST_OK)
        t->code = complain(EXIT_INPUT, WHAT ": run: %.*s", SPAN_ARG(r->why));
    loop_stop(t->loop);
}

static int try_page(struct trial *t, struct program *p)
{
    struct master *m = NULL;
    t->loop = loop_new();
    status st = master_new(t->loop, &(struct master_opts){0}, &m);
    if (st == ST_OK)
        st = master_set(m, p, NULL);
    if (st == ST_OK)
        st = master_run(m, p->name, &t->page, on_result, t);
    if (st == ST_NOT_FOUND)
        t->code = complain(EXIT_IO, WHAT ": start orb-worker: it is neither beside orb nor in libexec: install it");
    else if (st != ST_OK)
        t->code = complain(EXIT_INTERNAL, WHAT ": run: %s", status_name(st));
    else
        loop_run(t->loop);
    master_free(m);
    loop_free(t->loop);
    return t->code;
}

static int run_program(const struct options *o)
{
    struct trial t = {.is_json = opt_flag(o, OPT_JSON)};
    struct program p = {0};
    struct buf file = {0};
    if (o->arg_count != 3)
        return complain(EXIT_USAGE, WHAT ": run: usage: orb program run FILE URL, or a page's file instead of the URL");
    arena_init(&t.arena);
    int code = program_file_read(WHAT, o->args[1], &file, &p);
    if (code == EXIT_DONE)
        code = get_page(o, o->args[2], &t);
    if (code == EXIT_DONE)
        code = look_at_page(&t);
    if (code == EXIT_DONE)
        code = try_page(&t, &p);
    fetched_done(&t.got);
    arena_done(&t.arena);
    buf_done(&file);
    return code;
}

/* ---- sign ---- */

static int sign_program(const struct options *o)
{
    struct sign_key key;
    struct program p = {0};
    struct buf file = {0}, out = {0};
    if (o->arg_count != 2)
        return complain(EXIT_USAGE, WHAT ": sign: usage: orb program sign --key KEY FILE");
    if (!opt_cstr(o, OPT_KEY))
        return complain(EXIT_USAGE, WHAT ": sign: no --key: make one with orb key new --program FILE");
    int code = program_file_read(WHAT, o->args[1], &file, &p);
    if (code == EXIT_DONE)
        code = key_file_read(WHAT, opt_cstr(o, OPT_KEY), &key);
    if (code == EXIT_DONE) {
        /* Seconds grow from one signing to the next, which is all that a serial has to do. */
        p.serial = (uint64_t)(opt_is_set(o, OPT_SERIAL) ? opt_number(o, OPT_SERIAL) : clock_wall() / 1000);
        program_sign(&p, &key);
        sign_wipe(&key, sizeof(key));
        program_write(&p, &out);
        /* What the reader would refuse must not be signed: a compiled script, an empty one. */
        struct program again;
        struct buf why = {0};
        if (program_read(buf_span(&out), &again, &why) != ST_OK) {
            code = complain(EXIT_INPUT, WHAT ": sign %s: %s", o->args[1].p, buf_cstr(&why));
            buf_clear(&out);
        }
        buf_done(&why);
    }
    if (code == EXIT_DONE && opt_flag(o, OPT_JSON)) {
        struct buf text = {0};
        struct json j = {.out = &text};
        json_open(&j, '{');
        json_key(&j, "name");
        json_text(&j, p.name);
        json_key(&j, "serial");
        json_u64(&j, p.serial);
        json_key(&j, "program");
        json_text(&j, buf_span(&out));
        json_close(&j, '}');
        buf_putc(&text, '\n');
        print_buf(&text);
        buf_done(&text);
    } else {
        print_buf(&out);
    }
    buf_done(&file);
    buf_done(&out);
    return code;
}

/* ---- at the coordinator ---- */

static int push_program(const struct options *o, struct arena *a)
{
    struct buf file = {0}, form = {0}, raw = {0}, text = {0};
    struct program p;
    const struct json_node *answer;
    int code = program_file_read(WHAT, o->args[1], &file, &p);
    if (code == EXIT_DONE && !p.is_signed)
        code = complain(EXIT_INPUT, WHAT ": push %s: it is not signed, and agents take no other: orb program sign",
                        o->args[1].p);
    if (code == EXIT_DONE) {
        form_text(&form, "file", buf_span(&file));
        for (size_t i = 2; i < o->arg_count; i++)
            form_text(&form, "agents", o->args[i]);
        code = admin_call(o, "program push", "/api/v1/programs", &form, a, &raw, &answer);
    }
    if (code == EXIT_DONE) {
        buf_printf(&text, "%.*s %.0f goes to %.0f agents%s\n", SPAN_ARG(p.name), json_member_number(answer, "serial"),
                   json_member_number(answer, "agents"), o->arg_count == 2 ? ", and to those that come later" : "");
        code = admin_show(o, &text, &raw);
    }
    buf_done(&file);
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static void put_runner(struct buf *out, const struct json_node *r)
{
    struct buf agent = {0}, error = {0};
    put_safe(&agent, json_member_text(r, "agent"));
    put_safe(&error, json_member_text(r, "last_error"));
    buf_printf(out, "  %-20s %12.0f %10.0f %8.0f  %s%s\n", buf_cstr(&agent), json_member_number(r, "serial"),
               json_member_number(r, "pages"), json_member_number(r, "errors"),
               json_member_number(r, "fallback") != 0 ? "the newest failed; " : "", buf_cstr(&error));
    buf_done(&agent);
    buf_done(&error);
}

/* One block a program, the newest serial first, and who runs which. */
static int show_status(const struct options *o, struct arena *a)
{
    struct buf raw = {0}, text = {0};
    const struct json_node *answer;
    struct span last = {0};
    int code = admin_call(o, "program status", "/api/v1/programs", NULL, a, &raw, &answer);
    if (code != EXIT_DONE)
        return code;
    for (const struct json_node *n = json_member(answer, "programs")->children; n; n = n->next) {
        struct span name = json_member_text(n, "name");
        bool is_dropped = json_member_number(n, "removed") != 0;
        if (o->arg_count > 1 && !span_eq(name, o->args[1]))
            continue;
        buf_printf(&text, "%.*s serial %.0f%s, %.0f bytes\n", SPAN_ARG(name), json_member_number(n, "serial"),
                   is_dropped ? " (rolled back)" : "", json_member_number(n, "bytes"));
        if (span_eq(name, last))
            continue;
        last = name;
        buf_printf(&text, "  %-20s %12s %10s %8s\n", "AGENT", "SERIAL", "PAGES", "ERRORS");
        for (const struct json_node *r = json_member(answer, "runners")->children; r; r = r->next)
            if (span_eq(json_member_text(r, "name"), name))
                put_runner(&text, r);
    }
    if (!text.n)
        buf_puts(&text, "no program was sent yet: orb program push FILE\n");
    code = admin_show(o, &text, &raw);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

static int roll_back(const struct options *o, struct arena *a)
{
    struct buf path = {0}, form = {0}, raw = {0}, text = {0};
    const struct json_node *answer;
    buf_puts(&path, "/api/v1/programs/");
    form_path(&path, o->args[1]);
    buf_puts(&path, "/rollback");
    int code = admin_call(o, "program rollback", buf_cstr(&path), &form, a, &raw, &answer);
    if (code == EXIT_DONE) {
        buf_printf(&text, "%.*s %.0f is dropped; agents go on with the version before it, where they have one\n",
                   SPAN_ARG(o->args[1]), json_member_number(answer, "dropped"));
        code = admin_show(o, &text, &raw);
    }
    buf_done(&path);
    buf_done(&form);
    buf_done(&raw);
    buf_done(&text);
    return code;
}

int cmd_program(const struct options *o)
{
    struct span verb = o->args[0];
    struct arena a;
    int code;
    if (span_is(verb, "run"))
        return run_program(o);
    if (span_is(verb, "sign"))
        return sign_program(o);
    arena_init(&a);
    if (span_is(verb, "push") && o->arg_count >= 2)
        code = push_program(o, &a);
    else if (span_is(verb, "push"))
        code = complain(EXIT_USAGE, WHAT ": push: usage: orb program push FILE [AGENT...]");
    else if (span_is(verb, "status"))
        code = show_status(o, &a);
    else if (span_is(verb, "rollback") && o->arg_count == 2)
        code = roll_back(o, &a);
    else if (span_is(verb, "rollback"))
        code = complain(EXIT_USAGE, WHAT ": rollback: usage: orb program rollback NAME");
    else
        code = complain(EXIT_USAGE, WHAT ": %s: neither run, sign, push, status nor rollback", verb.p);
    arena_done(&a);
    return code;
}
