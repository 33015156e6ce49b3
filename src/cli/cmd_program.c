/* cmd_program.c - `orb program`: tries a program on one page, and signs it. */

#include "cli/command.h"
#include "cli/fetch_one.h"
#include "cli/key_file.h"
#include "codec/json.h"
#include "io/clock.h"
#include "mobile/master.h"
#include "mobile/page_make.h"
#include "web/charset.h"
#include "web/lang.h"

#define WHAT "program"
#define DEFAULT_BASE "https://example.org/"
#define TEXT_BYTES_MAX (64u << 20) /* of a page after decoding */

/* ---- the program's file ---- */

/* "dir/prices.lua" is called prices. */
static struct span name_of(struct span path)
{
    size_t from = path.n;
    while (from > 0 && path.p[from - 1] != '/')
        from--;
    struct span name = span_from(path, from);
    name.n = span_find(name, '.', 0);
    return program_name_is_good(name) ? name : SPAN("program");
}

/* A program file, or a bare Lua script, which gets its name from the file and serial 0. */
static int read_program(struct span path, struct buf *file, struct program *out)
{
    struct buf why = {0};
    int code = read_input(WHAT, path.p, file);
    if (code != EXIT_DONE)
        return code;
    status st = ST_OK;
    if (span_starts(buf_span(file), SPAN("orb-program ")))
        st = program_read(buf_span(file), out, &why);
    else if (file->n > PROGRAM_SCRIPT_MAX)
        st = ST_LIMIT;
    else
        *out = (struct program){.name = name_of(path), .script = buf_span(file)};
    if (st == ST_LIMIT)
        code = complain(EXIT_INPUT, WHAT ": read %s: larger than %u KiB", path.p, PROGRAM_SCRIPT_MAX >> 10);
    else if (st != ST_OK)
        code = complain(EXIT_INPUT, WHAT ": read %s: %s", path.p, why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
    return code;
}

/* ---- run: the page ---- */

struct trial {
    struct arena arena;
    struct fetched got;
    struct url document;
    struct facts facts;
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
    const struct facts_opts opts = {.agent = SPAN("orbweaver"), .keep_text = true, .keep_anchors = true};
    struct span type = buf_span(&t->got.content_type);
    bool is_plain = span_is_nocase(content_type_media(type), "text/plain");
    struct charset_result decoded;
    struct span html = {0}, lang;
    if (url_parse(&t->arena, buf_span(&t->got.url), NULL, &t->document) != ST_OK)
        return complain(EXIT_INPUT, WHAT ": --base %s: not a URL", buf_cstr(&t->got.url));
    if (charset_decode(&t->arena, buf_span(&t->got.body), content_type_charset(type), !is_plain, TEXT_BYTES_MAX,
                       &decoded) != ST_OK)
        return complain(EXIT_INPUT, WHAT ": decode the page: more than %u MiB of text", TEXT_BYTES_MAX >> 20);
    if (is_plain) {
        facts_collect_plain(&t->arena, decoded.text, &opts, &t->facts);
    } else {
        html = decoded.text;
        facts_collect(&t->arena, html, &opts, &t->facts);
    }
    lang = span_str(lang_detect(t->facts.text, t->facts.lang));
    page_make(&t->arena, &t->document, t->got.http_status, buf_span(&t->got.headers), html, &t->facts, lang, &t->page);
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
        st = master_set(m, p);
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
    int code = read_program(o->args[1], &file, &p);
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
    int code = read_program(o->args[1], &file, &p);
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

int cmd_program(const struct options *o)
{
    if (span_is(o->args[0], "run"))
        return run_program(o);
    if (span_is(o->args[0], "sign"))
        return sign_program(o);
    return complain(EXIT_USAGE, WHAT ": %s: neither run nor sign", o->args[0].p);
}
