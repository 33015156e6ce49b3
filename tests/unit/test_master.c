/* test_master.c - programs in real workers: what they may say, and everything that they must not be able to do. */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "mobile/master.h"

/* ---- a master, and what came back ---- */

struct said {
    status st;
    struct buf all; /* "why|skip|summary|name=value;...|follow;..." */
};

struct bench {
    struct loop *loop;
    struct master *master;
    struct timer *guard;
    struct said *said; /* in the order in which they came */
    size_t n, cap, want;
};

static const char *worker_path(void)
{
    static char path[PATH_MAX + 64];
    if (getenv("ORB_TEST_WORKER"))
        return getenv("ORB_TEST_WORKER");
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    while (n > 0 && path[n - 1] != '/')
        n--;
    snprintf(path + n, 64, "../../src/mobile/orb-worker");
    return path;
}

static void give_up(void *arg)
{
    fail_msg("no answer in a minute");
}

static void bench_init(struct bench *b, const struct master_opts *opts)
{
    struct master_opts o = opts ? *opts : (struct master_opts){0};
    if (!o.worker_path)
        o.worker_path = worker_path();
    if (!o.wall_ms)
        o.wall_ms = 20000; /* a busy machine is no reason to fail: those who test the clock set it */
    if (!o.cpu_ms)
        o.cpu_ms = 10000;
    *b = (struct bench){.loop = loop_new()};
    CHECK_STATUS("master", master_new(b->loop, &o, &b->master), ST_OK);
    b->guard = timer_new(b->loop, give_up, NULL);
    timer_set(b->guard, 60000);
}

static void bench_done(struct bench *b)
{
    master_free(b->master);
    for (size_t i = 0; i < b->n; i++)
        buf_done(&b->said[i].all);
    free(b->said);
    timer_free(b->guard);
    loop_free(b->loop);
}

static void note(void *arg, const struct program_result *r)
{
    struct bench *b = arg;
    b->said = mem_grow(b->said, &b->cap, b->n + 1, sizeof(*b->said));
    struct said *s = &b->said[b->n++];
    *s = (struct said){.st = r->st};
    buf_put(&s->all, r->why);
    buf_printf(&s->all, "|%s|", r->is_skipped ? "skip" : "");
    if (r->has_summary)
        buf_printf(&s->all, "<%.*s>", SPAN_ARG(r->summary));
    buf_putc(&s->all, '|');
    for (size_t i = 0; i < r->field_count; i++)
        buf_printf(&s->all, "%.*s=%.*s;", SPAN_ARG(r->fields[i].name), SPAN_ARG(r->fields[i].value));
    buf_putc(&s->all, '|');
    for (size_t i = 0; i < r->follow_count; i++)
        buf_printf(&s->all, "%.*s;", SPAN_ARG(r->follows[i]));
    if (b->n == b->want)
        loop_stop(b->loop);
}

static void wait_for(struct bench *b, size_t n)
{
    b->want = n;
    if (b->n < n)
        loop_run(b->loop);
    assert_true(b->n >= n); /* two workers may answer in one turn of the loop */
}

static status give(struct bench *b, const char *name, uint64_t serial, const char *script)
{
    const struct program p = {.name = span_str(name), .serial = serial, .script = span_str(script)};
    return master_set(b->master, &p, NULL);
}

static const struct fact_heading headings[] = {{1, SPAN_INIT("One")}, {2, SPAN_INIT("Two")}};
static const struct fact_link links[] = {
    {SPAN_INIT("http://h/a"), SPAN_INIT("A"), LINK_A, 0},
    {SPAN_INIT("http://h/b"), SPAN_INIT("Older posts"), LINK_A, REL_NOFOLLOW | REL_UGC}};
static const struct program_meta metas[] = {{SPAN_INIT("Author"), SPAN_INIT("Ann")},
                                            {SPAN_INIT("author"), SPAN_INIT("Bob")}};

static struct program_page sample_page(const char *text)
{
    return (struct program_page){.url = SPAN("http://h/list?page=3&x=1"),
                                 .http_status = 200,
                                 .headers = SPAN("Content-Type: text/html\r\nX-A: 1\nx-a: 2\nnothing\n"),
                                 .title = SPAN("The title"),
                                 .description = SPAN("The description"),
                                 .lang = SPAN("en"),
                                 .text = span_str(text),
                                 .headings = headings,
                                 .heading_count = 2,
                                 .links = links,
                                 .link_count = 2,
                                 .metas = metas,
                                 .meta_count = 2};
}

static void ask(struct bench *b, const char *name, const char *text)
{
    struct program_page p = sample_page(text);
    CHECK_STATUS(name, master_run(b->master, span_str(name), &p, note, b), ST_OK);
}

/* ---- what a program may do ---- */

static void program_says_what_it_says(void **state)
{
    static const struct {
        const char *label, *body, *want;
    } cases[] = {
        {"nothing", "", "||||"},
        {"url", "emit{a = p.url}", "|||a=http://h/list?page=3&x=1;|"},
        {"status", "emit{a = p.status + 1}", "|||a=201;|"},
        {"texts", "emit{a = p.title, b = p.description, c = p.language, d = p.text}",
         "|||a=The title;b=The description;c=en;d=some text;|"},
        {"headers", "emit{a = p.headers['content-type'], b = p.headers['x-a'], c = tostring(p.headers.nothing)}",
         "|||a=text/html;b=1, 2;c=nil;|"},
        {"headings", "for _, h in ipairs(p.headings) do emit{h = h.level .. h.text} end", "|||h=1One;h=2Two;|"},
        {"links", "for _, l in ipairs(p.links) do emit{l = l.url .. ' ' .. l.text .. ' ' .. l.rel} end",
         "|||l=http://h/a A ;l=http://h/b Older posts nofollow ugc;|"},
        {"meta: the first counts", "emit{a = p.meta.author}", "|||a=Ann;|"},
        {"kinds of values", "emit{a = 'x', b = 1, c = 1.5, d = 2.0, e = true, f = false, g = -2^53}",
         "|||a=x;b=1;c=1.5;d=2;e=true;f=false;g=-9.007199254741e+15;|"},
        {"follow", "follow('/x') follow(p.links[1].url)", "||||/x;http://h/a;"},
        {"skip", "skip()", "|skip|||"},
        {"summary: the last counts", "summary('a') summary('b\\nc')", "||<b\nc>||"},
        {"summary of nothing", "summary('')", "||<>||"},
        {"all", "emit{a = 1} follow('u') skip() summary('s')", "|skip|<s>|a=1;|u;"},
        {"a cut character is mended", "emit{a = ('\\xc3\\xa9'):sub(1, 1)}", "|||a=\xef\xbf\xbd;|"},
        {"a caught error is none", "emit{a = tostring(pcall(error))}", "|||a=false;|"},
        {"libraries", "emit{a = math.max(1, 2), b = ('x'):rep(3), c = table.concat({1, 2}), d = utf8.char(233)}",
         "|||a=2;b=xxx;c=12;d=\xc3\xa9;|"},
        {"metatables", "emit{a = setmetatable({}, {__index = function() return 7 end}).x}", "|||a=7;|"},
        {"chance is the same for every page", "emit{a = math.random(1000) == math.random(1000)}", "|||a=false;|"},
    };
    struct bench b;
    bench_init(&b, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf script = {0}, name = {0};
        buf_printf(&script, "function page(p)\n%s\nend", cases[i].body);
        buf_printf(&name, "p%zu", i);
        CHECK_STATUS(cases[i].label, give(&b, buf_cstr(&name), 1, buf_cstr(&script)), ST_OK);
        ask(&b, buf_cstr(&name), "some text");
        wait_for(&b, i + 1);
        CHECK_SPAN(cases[i].label, buf_span(&b.said[i].all), span_str(cases[i].want));
        CHECK_STATUS(cases[i].label, b.said[i].st, ST_OK);
        master_remove(b.master, buf_span(&name)); /* its worker */
        buf_done(&script);
        buf_done(&name);
    }
    bench_done(&b);
}

static void errors_name_the_line_and_do_not_end_the_worker(void **state)
{
    static const struct {
        const char *label, *text, *want;
    } cases[] = {
        {"field of nil", "return nil .. p.x.y", "x:2: attempt to index a nil value (field 'x')"},
        {"error", "error('oh')", "x:2: oh"},
        {"error in two lines", "\nerror('oh')", "x:3: oh"},
        {"error object", "error({})", "x:2: error that is a table"},
        {"error nil", "error()", "x:2: error that is a nil"},
        {"error with tostring", "error(setmetatable({}, {__tostring = error}))", "x:2: error that is a table"},
        {"error number", "error(7)", "x:2: error 7"},
        {"error without a place", "error('oh', 0)", "oh"},
        {"name in capitals", "emit{A = 1}", "x:2: emit: bad name: up to 32 lower case letters, digits and _"},
        {"number as a name", "emit{'a'}", "x:2: emit: a field's name is a number: write emit{name = value}"},
        {"long name",
         "emit{['"
         "aaaaaaaaaabbbbbbbbbbccccccccccddd"
         "'] = 1}",
         "x:2: emit: bad name"},
        {"table as a value", "emit{a = {}}", "x:2: emit: a is a table, not a text, number or boolean"},
        {"no number", "emit{a = 0/0}", "x:2: emit: a is no finite number"},
        {"long value", "emit{a = ('x'):rep(4097)}", "x:2: emit: a is longer than 4096 bytes"},
        {"much in all", "for i = 1, 5 do emit{a = ('x'):rep(4000)} end", "x:2: emit: more than 16384 bytes in all"},
        {"many fields", "for i = 1, 33 do emit{a = i} end", "x:2: emit: more than 32 fields"},
        {"no table", "emit(1)", "x:2: bad argument #1 to 'emit' (table expected, got number)"},
        {"follow nothing", "follow('')", "x:2: follow: a URL has 1 to 2048 bytes"},
        {"follow much", "follow(('x'):rep(2049))", "x:2: follow: a URL has 1 to 2048 bytes"},
        {"follow many", "for i = 1, 1001 do follow('x') end", "x:2: follow: more than 1000 URLs"},
        {"long summary", "summary(('x'):rep(262145))", "x:2: summary: longer than 262144 bytes"},
        {"summary that grows when mended", "summary(('\\xff'):rep(100000))", "x:2: summary: longer than 262144 bytes"},
        {"finaliser", "setmetatable({}, {__gc = function() end})", "x:2: a program's metatable has no __gc"},
    };
    struct bench b;
    bench_init(&b, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf script = {0};
        buf_printf(&script, "n = 0 function page(p) n = n + 1 if n > 1 then return emit{n = n} end\n%s\nend",
                   cases[i].text);
        CHECK_STATUS(cases[i].label, give(&b, "x", i + 1, buf_cstr(&script)), ST_OK);
        ask(&b, "x", "");
        ask(&b, "x", "");
        wait_for(&b, 2 * i + 2);
        CHECK_STATUS(cases[i].label, b.said[2 * i].st, ST_INVALID);
        if (!span_starts(buf_span(&b.said[2 * i].all), span_str(cases[i].want)))
            fail_msg("%s: %s", cases[i].label, buf_cstr(&b.said[2 * i].all));
        CHECK_SPAN(cases[i].label, buf_span(&b.said[2 * i + 1].all), SPAN("|||n=2;|")); /* the same worker */
        buf_done(&script);
    }
    bench_done(&b);
}

/* ---- what it may not ---- */

static void dangerous_names_are_absent(void **state)
{
    static const char *const names[] = {
        "os",      "io",          "package",         "debug",  "require",
        "load",    "loadfile",    "loadstring",      "dofile", "collectgarbage",
        "print",   "warn",        "coroutine",       "module", "setfenv",
        "getfenv", "string.dump", "math.randomseed", "arg",    "package.loadlib",
    };
    struct bench b;
    struct buf script = {0};
    bench_init(&b, NULL);
    buf_puts(&script, "function page(p) local seen = {} ");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t dot = span_find(span_str(names[i]), '.', 0);
        if (dot < strlen(names[i]))
            buf_printf(&script, "if %.*s and %s then seen[#seen + 1] = '%s' end ", (int)dot, names[i], names[i],
                       names[i]);
        else
            buf_printf(&script, "if %s ~= nil then seen[#seen + 1] = '%s' end ", names[i], names[i]);
    }
    /* Nothing else either: what a new Lua brings is not there until somebody has thought about it. */
    buf_puts(&script, "local all = {} for name in pairs(_G) do all[#all + 1] = name end table.sort(all) "
                      "emit{seen = table.concat(seen, ' '), all = table.concat(all, ' ')} end");
    CHECK_STATUS("set", give(&b, "x", 1, buf_cstr(&script)), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_SPAN(
        "names", buf_span(&b.said[0].all),
        SPAN("|||all=_G _VERSION assert emit error follow getmetatable ipairs math next page pairs pcall rawequal "
             "rawget rawlen rawset select setmetatable skip string summary table tonumber tostring type utf8 "
             "xpcall;seen=;|"));
    buf_done(&script);
    bench_done(&b);
}

static void hostile_scripts_are_stopped(void **state)
{
    static const struct {
        const char *label, *body;
        status st, or_st; /* which of two limits is hit first is a matter of the machine */
    } cases[] = {
        {"endless loop", "while true do end", ST_LIMIT, ST_LIMIT},
        {"endless loop that catches errors", "while true do pcall(function() while true do end end) end", ST_LIMIT,
         ST_LIMIT},
        {"endless loop in a handler of errors", "xpcall(error, function() while true do end end)", ST_LIMIT,
         ST_TIMEOUT},
        {"stack overflow", "local function f() return 1 + f() end f()", ST_INVALID, ST_LIMIT},
        {"endless recursion by tail calls", "local function f() return f() end f()", ST_LIMIT, ST_LIMIT},
        {"endless recursion that catches errors", "local function f() pcall(f) pcall(f) end f()", ST_LIMIT, ST_TIMEOUT},
        {"endless closing",
         "local function f() local x <close> = setmetatable({}, {__close = function() f() end}) error() end f()",
         ST_INVALID, ST_LIMIT},
        {"catastrophic pattern", "string.find(('a'):rep(40), ('a*'):rep(40) .. 'b')", ST_TIMEOUT, ST_TIMEOUT},
        {"catastrophic pattern in gsub", "(('a'):rep(3000)):gsub(('.-'):rep(30) .. 'b', '')", ST_TIMEOUT, ST_TIMEOUT},
        {"repeat nothing for ever", "(''):rep(1 << 62)", ST_TIMEOUT, ST_TIMEOUT},
        {"string.rep bomb", "local s = ('x'):rep(1 << 40)", ST_LIMIT, ST_INVALID},
        {"string.rep bomb in steps", "local s = 'x' while true do s = s .. s end", ST_LIMIT, ST_LIMIT},
        {"string.format bomb", "local t = {} for i = 1, 1e9 do t[i] = ('%099d'):format(i) end", ST_LIMIT, ST_LIMIT},
        {"table bomb", "local t = {} while true do t = {t, {}, {}} end", ST_LIMIT, ST_LIMIT},
        {"table of tables", "local t = {} for i = 1, 1e9 do t[i] = {} end", ST_LIMIT, ST_LIMIT},
        {"table.concat bomb", "local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1000) end return table.concat(t)",
         ST_LIMIT, ST_LIMIT},
        {"unpack bomb", "return select('#', table.unpack({}, 1, 1e7))", ST_INVALID, ST_LIMIT},
        {"sort by a liar", "local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return true end)",
         ST_INVALID, ST_LIMIT},
        {"table.move without end", "table.move({}, 1, 1 << 61, 2)", ST_TIMEOUT, ST_INVALID},
        {"keep across pages", "all = all or {} for i = 1, 1e9 do all[#all + 1] = i end", ST_LIMIT, ST_LIMIT},
        {"pcall pyramid", "local function f(n) return pcall(f, n + 1) end f(1) while true do end", ST_LIMIT, ST_LIMIT},
        {"coroutine bomb", "while true do coroutine.wrap(function() end)() end", ST_INVALID, ST_INVALID},
        {"load bytecode", "load('\\27Lua')()", ST_INVALID, ST_INVALID},
        {"dump", "string.dump(page)", ST_INVALID, ST_INVALID},
        {"open a file", "io.open('/etc/passwd')", ST_INVALID, ST_INVALID},
        {"run a program", "os.execute('true')", ST_INVALID, ST_INVALID},
        {"require", "require('os')", ST_INVALID, ST_INVALID},
        {"garbage on the pipe", "print('\\0\\0\\0\\0')", ST_INVALID, ST_INVALID},
        {"metatable of strings", "getmetatable('').__index = function() while true do end end return ('').x", ST_LIMIT,
         ST_LIMIT},
    };
    const struct master_opts o = {.memory_bytes = 16u << 20, .steps_max = 3000000, .cpu_ms = 1000, .wall_ms = 30000};
    struct bench b;
    bench_init(&b, &o);
    CHECK_STATUS("quiet", give(&b, "quiet", 1, "function page(p) emit{a = 1} end"), ST_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf script = {0};
        buf_printf(&script, "function page(p) if p.text == 'good' then return emit{a = 1} end\n%s\nend", cases[i].body);
        CHECK_STATUS(cases[i].label, give(&b, "evil", i + 1, buf_cstr(&script)), ST_OK);
        ask(&b, "evil", "");
        wait_for(&b, 3 * i + 1);
        const struct said *s = &b.said[3 * i];
        if (s->st != cases[i].st && s->st != cases[i].or_st)
            fail_msg("%s: status %s: %.*s", cases[i].label, status_name(s->st), (int)s->all.n, s->all.p);
        CHECK(cases[i].label,
              s->all.n > 4 && span_ends(buf_span(&s->all), SPAN("||||"))); /* a reason, and nothing else */
        ask(&b, "evil", "good"); /* it goes on with the next page, in a new worker where it must */
        wait_for(&b, 3 * i + 2);
        CHECK_SPAN(cases[i].label, buf_span(&b.said[3 * i + 1].all), SPAN("|||a=1;|"));
        ask(&b, "quiet", ""); /* and others never noticed */
        wait_for(&b, 3 * i + 3);
        CHECK_SPAN(cases[i].label, buf_span(&b.said[3 * i + 2].all), SPAN("|||a=1;|"));
        buf_done(&script);
    }
    bench_done(&b);
}

static void worker_that_takes_too_long_is_killed(void **state)
{
    const struct master_opts o = {.wall_ms = 100, .cpu_ms = 60000, .steps_max = INT64_MAX};
    struct bench b;
    bench_init(&b, &o);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) while p.text == 'bad' do end end"), ST_OK);
    ask(&b, "x", "bad");
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_STATUS("bad", b.said[0].st, ST_TIMEOUT);
    CHECK_SPAN("why", buf_span(&b.said[0].all), SPAN("x: took longer than 100 ms||||"));
    wait_for(&b, 2);
    CHECK("next", b.said[1].st == ST_OK || b.said[1].st == ST_TIMEOUT); /* the machine may be slow */
    bench_done(&b);
}

/* A worker that is not ours at all: whatever it writes, or when it dies, the master stands. */
static void any_other_program_as_worker_is_survived(void **state)
{
    static const struct {
        const char *label, *script;
    } cases[] = {
        {"ends", "exit 0"},
        {"fails", "exit 3"},
        {"dies", "kill -9 $$"},
        {"garbage", "printf garbagegarbagegarbage; exec cat >/dev/null"},
        {"much garbage", "exec cat /dev/zero"},
        {"closes its output", "exec >&-; exec cat >/dev/null"},
        {"empty message", "printf '\\0\\0\\0\\0'; exec cat >/dev/null"},
        {"huge message", "printf '\\377\\377\\377\\377'; exec cat >/dev/null"},
        {"result before the page", "printf '\\1\\0\\0\\0\\5'; exec cat >/dev/null"},
        {"ready, then dies", "printf '\\1\\0\\0\\0\\3'; exit 0"},
        {"ready, then a bad result",
         "printf '\\1\\0\\0\\0\\3'; head -c 100 >/dev/null; printf '\\2\\0\\0\\0\\5x'; exec cat >/dev/null"},
        {"ready twice", "printf '\\1\\0\\0\\0\\3\\1\\0\\0\\0\\3'; exec cat >/dev/null"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[] = "/tmp/orb-test-worker-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        dprintf(fd, "#!/bin/sh\n%s\n", cases[i].script);
        fchmod(fd, 0700);
        close(fd);
        struct bench b;
        const struct master_opts o = {.worker_path = path, .wall_ms = 200};
        bench_init(&b, &o);
        CHECK_STATUS(cases[i].label, give(&b, "x", 1, "function page(p) end"), ST_OK);
        for (unsigned n = 0; n < 2; n++)
            ask(&b, "x", "");
        wait_for(&b, 2);
        for (unsigned n = 0; n < 2; n++)
            CHECK(cases[i].label, b.said[n].st == ST_INVALID || b.said[n].st == ST_TIMEOUT);
        bench_done(&b);
        unlink(path);
    }
}

/* ---- versions ---- */

static struct program_status found_status;
static char found_error[PROGRAM_WHY_MAX + 1];

static void keep_status(void *arg, const struct program_status *s)
{
    if (!span_is(s->name, arg))
        return;
    found_status = *s;
    snprintf(found_error, sizeof(found_error), "%.*s", SPAN_ARG(s->last_error));
}

static const struct program_status *status_of(struct bench *b, const char *name)
{
    memset(&found_status, 0, sizeof(found_status));
    master_each(b->master, keep_status, (void *)(uintptr_t)name);
    return &found_status;
}

static void version_is_swapped_between_two_pages(void **state)
{
    struct bench b;
    bench_init(&b, NULL);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) emit{v = 1, t = p.text} end"), ST_OK);
    for (unsigned n = 0; n < 20; n++) {
        char text[8];
        snprintf(text, sizeof(text), "%u", n);
        ask(&b, "x", text);
    }
    wait_for(&b, 5);
    CHECK_STATUS("set", give(&b, "x", 2, "function page(p) emit{v = 2, t = p.text} end"), ST_OK);
    wait_for(&b, 20);
    /* Each page once and in order, the later ones by the new version. */
    unsigned first_new = 0;
    for (unsigned n = 0; n < 20; n++) {
        char one[32], two[32];
        snprintf(one, sizeof(one), "|||t=%u;v=1;|", n);
        snprintf(two, sizeof(two), "|||t=%u;v=2;|", n);
        bool is_new = span_is(buf_span(&b.said[n].all), two);
        CHECK("answer", is_new || span_is(buf_span(&b.said[n].all), one));
        CHECK("order", is_new || !first_new);
        if (is_new && !first_new)
            first_new = n;
    }
    assert_true(first_new >= 5 && first_new <= 7);
    const struct program_status *s = status_of(&b, "x");
    assert_int_equal(s->serial, 2);
    assert_int_equal(s->newest_serial, 2);
    assert_int_equal(s->pages, 20);
    assert_int_equal(s->errors, 0);
    assert_true(s->is_running);
    bench_done(&b);
}

static void lower_serial_is_refused(void **state)
{
    struct bench b;
    bench_init(&b, NULL);
    CHECK_STATUS("first", give(&b, "x", 5, "function page(p) emit{v = 5} end"), ST_OK);
    CHECK_STATUS("same", give(&b, "x", 5, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("lower", give(&b, "x", 4, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("other program", give(&b, "y", 1, "function page(p) end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_SPAN("answer", buf_span(&b.said[0].all), SPAN("|||v=5;|"));
    CHECK_STATUS("still", give(&b, "x", 4, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("bad name", give(&b, "a/b", 4, "function page(p) end"), ST_INVALID);
    bench_done(&b);
}

static void failing_version_gives_way_to_the_last_good_one(void **state)
{
    struct bench b;
    bench_init(&b, NULL);
    CHECK_STATUS("good", give(&b, "x", 1, "function page(p) emit{v = 1} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_STATUS("bad", give(&b, "x", 2, "function page(p) error('bad') end"), ST_OK);
    for (unsigned n = 0; n < MASTER_STRIKES + 2; n++)
        ask(&b, "x", "");
    wait_for(&b, MASTER_STRIKES + 3);
    for (unsigned n = 0; n < MASTER_STRIKES; n++)
        CHECK_SPAN("bad", buf_span(&b.said[1 + n].all), SPAN("x:1: bad||||"));
    for (unsigned n = 0; n < 2; n++)
        CHECK_SPAN("good again", buf_span(&b.said[1 + MASTER_STRIKES + n].all), SPAN("|||v=1;|"));
    const struct program_status *s = status_of(&b, "x");
    assert_int_equal(s->serial, 1);
    assert_int_equal(s->newest_serial, 2);
    assert_int_equal(s->errors, MASTER_STRIKES);
    assert_string_equal(found_error, "x:1: bad");
    CHECK_STATUS("the bad one again", give(&b, "x", 2, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("a better one", give(&b, "x", 3, "function page(p) emit{v = 3} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, MASTER_STRIKES + 4);
    CHECK_SPAN("better", buf_span(&b.said[MASTER_STRIKES + 3].all), SPAN("|||v=3;|"));
    bench_done(&b);
}

static void strikes_count_only_in_a_row(void **state)
{
    struct bench b;
    bench_init(&b, NULL);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) if p.text == 'bad' then error('bad') end end"), ST_OK);
    for (unsigned n = 0; n < 4 * MASTER_STRIKES; n++)
        ask(&b, "x", n % MASTER_STRIKES == 0 ? "good" : "bad");
    wait_for(&b, 4 * MASTER_STRIKES);
    assert_false(status_of(&b, "x")->is_broken);
    assert_int_equal(status_of(&b, "x")->serial, 1);
    bench_done(&b);
}

static void version_that_does_not_start_costs_no_page(void **state)
{
    static const struct {
        const char *label, *script, *error;
    } cases[] = {
        {"syntax", "function page(p", "x:1: ')' expected near <eof>"},
        {"no page", "function pages(p) end", "x: there is no function page(p)"},
        {"page is no function", "page = 1", "x: there is no function page(p)"},
        {"error at the start", "error('no')", "x:1: no"},
        {"endless start", "while true do end", "x:1: more than 1000000 steps"},
        {"large start", "t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
         "x: more than 16777216 bytes of memory"},
        {"bytecode", "\x1bLua", "attempt to load a binary chunk (mode is 't')"},
        {"catastrophic start", "string.find(('a'):rep(40), ('a*'):rep(40) .. 'b')",
         "x: more than 1000 ms of processor time"},
    };
    const struct master_opts o = {.memory_bytes = 16u << 20, .steps_max = 1000000, .cpu_ms = 1000};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench b;
        bench_init(&b, &o);
        CHECK_STATUS("good", give(&b, "x", 1, "function page(p) emit{v = 1} end"), ST_OK);
        ask(&b, "x", "");
        wait_for(&b, 1);
        CHECK_STATUS("bad", give(&b, "x", 2, cases[i].script), ST_OK);
        ask(&b, "x", "");
        wait_for(&b, 2);
        CHECK_SPAN(cases[i].label, buf_span(&b.said[1].all), SPAN("|||v=1;|"));
        assert_int_equal(status_of(&b, "x")->serial, 1);
        assert_int_equal(status_of(&b, "x")->newest_serial, 2);
        if (strncmp(found_error, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s: \"%s\", want \"%s\"", cases[i].label, found_error, cases[i].error);
        bench_done(&b);
    }
}

static void broken_program_without_a_good_version_is_none(void **state)
{
    struct bench b;
    struct program_page p = sample_page("");
    bench_init(&b, NULL);
    CHECK_STATUS("none", master_run(b.master, SPAN("x"), &p, note, &b), ST_NOT_FOUND);
    CHECK_STATUS("bad", give(&b, "x", 1, "oh"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_STATUS("bad", b.said[0].st, ST_INVALID);
    assert_true(status_of(&b, "x")->is_broken);
    CHECK_STATUS("broken", master_run(b.master, SPAN("x"), &p, note, &b), ST_NOT_FOUND);
    CHECK_STATUS("mended", give(&b, "x", 2, "function page(p) emit{v = 2} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 2);
    CHECK_SPAN("mended", buf_span(&b.said[1].all), SPAN("|||v=2;|"));
    bench_done(&b);
}

/* ---- lines and ends ---- */

static void line_has_an_end(void **state)
{
    const struct master_opts o = {.waiting_max = 3};
    struct bench b;
    struct program_page p = sample_page("");
    bench_init(&b, &o);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) end"), ST_OK);
    for (unsigned n = 0; n < 3; n++)
        ask(&b, "x", "");
    CHECK_STATUS("busy", master_run(b.master, SPAN("x"), &p, note, &b), ST_BUSY);
    wait_for(&b, 3);
    ask(&b, "x", "");
    wait_for(&b, 4);
    bench_done(&b);
}

static void pages_in_line_are_cancelled(void **state)
{
    struct bench b;
    bench_init(&b, NULL);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) end"), ST_OK);
    CHECK_STATUS("set", give(&b, "y", 1, "function page(p) end"), ST_OK);
    for (unsigned n = 0; n < 3; n++)
        ask(&b, "x", "");
    ask(&b, "y", "");
    wait_for(&b, 1);
    assert_true(master_has(b.master, SPAN("x")));
    master_remove(b.master, SPAN("x"));
    assert_false(master_has(b.master, SPAN("x")));
    master_remove(b.master, SPAN("x"));
    CHECK_STATUS("anew, with any serial", give(&b, "x", 1, "function page(p) emit{v = 9} end"), ST_OK);
    wait_for(&b, 4);
    ask(&b, "x", "");
    wait_for(&b, 5);
    CHECK_SPAN("anew", buf_span(&b.said[4].all), SPAN("|||v=9;|"));
    ask(&b, "x", "");
    ask(&b, "x", "");
    master_free(b.master);
    b.master = NULL;
    assert_int_equal(b.n, 7);
    CHECK_STATUS("freed", b.said[5].st, ST_CANCELLED);
    CHECK_STATUS("freed", b.said[6].st, ST_CANCELLED);
    bench_done(&b);
}

static uint64_t serial_in_use(struct bench *b, bool *is_there);

static void dropped_version_sees_no_further_page(void **state)
{
    struct bench b;
    bool is_there;
    bench_init(&b, NULL);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) emit{v = 1} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    CHECK_STATUS("set", give(&b, "x", 2, "function page(p) emit{v = 2} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 2);
    CHECK_SPAN("new", buf_span(&b.said[1].all), SPAN("|||v=2;|"));
    master_drop(b.master, SPAN("x"), 7); /* never was */
    master_drop(b.master, SPAN("x"), 2);
    for (unsigned i = 0; i < 3; i++)
        ask(&b, "x", "");
    wait_for(&b, 5);
    CHECK_SPAN("back", buf_span(&b.said[4].all), SPAN("|||v=1;|"));
    assert_int_equal(serial_in_use(&b, &is_there), 1);
    CHECK_STATUS("a serial that was dropped", give(&b, "x", 2, "function page(p) end"), ST_EXISTS);
    CHECK_STATUS("a higher one", give(&b, "x", 3, "function page(p) emit{v = 3} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 6);
    CHECK_SPAN("newer", buf_span(&b.said[5].all), SPAN("|||v=3;|"));
    bench_done(&b);
}

static void program_without_a_version_is_gone(void **state)
{
    struct bench b;
    struct program_page p = sample_page("");
    bench_init(&b, NULL);
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) emit{v = 1} end"), ST_OK);
    CHECK_STATUS("set", give(&b, "y", 1, "function page(p) emit{v = 1} end"), ST_OK);
    ask(&b, "x", "");
    wait_for(&b, 1);
    ask(&b, "x", "");
    ask(&b, "x", "");
    master_drop(b.master, SPAN("x"), 1);
    wait_for(&b, 3);
    CHECK_STATUS("in line", b.said[2].st, ST_CANCELLED);
    CHECK_STATUS("gone", master_run(b.master, SPAN("x"), &p, note, &b), ST_NOT_FOUND);
    master_drop(b.master, SPAN("y"), 1); /* before it has begun */
    ask(&b, "y", "");
    wait_for(&b, 4);
    CHECK_STATUS("never begun", b.said[3].st, ST_CANCELLED);
    bench_done(&b);
}

static void last_good_version_may_come_along(void **state)
{
    const struct program bad = {.name = SPAN("x"), .serial = 9, .script = SPAN("function page(p) error('no') end")};
    const struct program good = {.name = SPAN("x"), .serial = 4, .script = SPAN("function page(p) emit{v = 4} end")};
    struct bench b;
    bool is_there;
    bench_init(&b, NULL);
    CHECK_STATUS("set", master_set(b.master, &bad, &good), ST_OK);
    for (unsigned i = 0; i <= MASTER_STRIKES; i++)
        ask(&b, "x", "");
    wait_for(&b, MASTER_STRIKES + 1);
    CHECK_STATUS("failed", b.said[MASTER_STRIKES - 1].st, ST_INVALID);
    CHECK_SPAN("the one before", buf_span(&b.said[MASTER_STRIKES].all), SPAN("|||v=4;|"));
    assert_int_equal(serial_in_use(&b, &is_there), 4);
    assert_true(is_there);
    bench_done(&b);
}

struct in_use {
    uint64_t serial;
    bool is_there;
};

static void note_in_use(void *arg, const struct program_status *s)
{
    struct in_use *u = arg;
    if (span_is(s->name, "x"))
        *u = (struct in_use){s->serial, true};
}

static uint64_t serial_in_use(struct bench *b, bool *is_there)
{
    struct in_use u = {0};
    master_each(b->master, note_in_use, &u);
    *is_there = u.is_there;
    return u.serial;
}

struct chain {
    struct bench *bench;
    unsigned left;
};

static void go_on(void *arg, const struct program_result *r)
{
    struct chain *c = arg;
    assert_int_equal(r->st, ST_OK);
    struct program_page p = sample_page("");
    if (c->left == 0) {
        loop_stop(c->bench->loop);
        return;
    }
    if (--c->left % 7 == 0) { /* changes from inside the callback */
        master_remove(c->bench->master, SPAN("x"));
        CHECK_STATUS("set", give(c->bench, "x", 1, "function page(p) end"), ST_OK);
    }
    CHECK_STATUS("run", master_run(c->bench->master, SPAN("x"), &p, go_on, c), ST_OK);
}

static void callback_may_change_everything(void **state)
{
    struct bench b;
    struct chain c = {&b, 50};
    bench_init(&b, NULL);
    struct program_page p = sample_page("");
    CHECK_STATUS("set", give(&b, "x", 1, "function page(p) end"), ST_OK);
    CHECK_STATUS("run", master_run(b.master, SPAN("x"), &p, go_on, &c), ST_OK);
    loop_run(b.loop);
    assert_int_equal(c.left, 0);
    bench_done(&b);
}

static void worker_is_replaced_after_many_pages(void **state)
{
    const struct master_opts o = {.waiting_max = MASTER_WORKER_PAGES + 2};
    struct bench b;
    bench_init(&b, &o);
    CHECK_STATUS("set", give(&b, "x", 1, "n = 0 function page(p) n = n + 1 emit{n = n} end"), ST_OK);
    for (unsigned n = 0; n < MASTER_WORKER_PAGES + 2; n++)
        ask(&b, "x", "");
    wait_for(&b, MASTER_WORKER_PAGES + 2);
    CHECK_SPAN("last of the first", buf_span(&b.said[MASTER_WORKER_PAGES - 1].all), SPAN("|||n=1000;|"));
    CHECK_SPAN("first of the second", buf_span(&b.said[MASTER_WORKER_PAGES].all), SPAN("|||n=1;|"));
    bench_done(&b);
}

static void missing_worker_is_told_at_once(void **state)
{
    struct loop *l = loop_new();
    struct master *m = NULL;
    const struct master_opts o = {.worker_path = "/nowhere/orb-worker"};
    CHECK_STATUS("none", master_new(l, &o, &m), ST_NOT_FOUND);
    assert_null(m);
    master_free(NULL);
    loop_free(l);
}

static void programs_are_so_many(void **state)
{
    struct bench b;
    char name[16];
    bench_init(&b, NULL);
    for (unsigned n = 0; n < MASTER_PROGRAMS_MAX; n++) {
        snprintf(name, sizeof(name), "p%u", n);
        CHECK_STATUS(name, give(&b, name, 1, "function page(p) end"), ST_OK);
    }
    CHECK_STATUS("one more", give(&b, "more", 1, "function page(p) end"), ST_LIMIT);
    CHECK_STATUS("a new version", give(&b, "p0", 2, "function page(p) end"), ST_OK);
    bench_done(&b);
}

/* ---- the cage itself ---- */

static void nothing_gets_out_of_the_sandbox(void **state)
{
    char line[256];
    unsigned good = 0;
    struct buf command = {0};
    buf_printf(&command, "'%s' --self-test", worker_path());
    FILE *f = popen(buf_cstr(&command), "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "not ok", 6) == 0)
            fail_msg("%s", line);
        good += strncmp(line, "ok ", 3) == 0;
    }
    assert_int_equal(pclose(f), 0);
    assert_true(good >= 25);
    buf_done(&command);
}

/* ---- the examples of docs/programs.md ---- */

static void example_programs_do_what_they_say(void **state)
{
    static const char long_text[] =
        "\nBy Ann Other\nPaper\nAbstract\nWe weigh webs.\nIntroduction\nWebs are light and were long thought to weigh "
        "nothing. They do not. A web of an orb weaver in the garden of one of the authors was put on scales, and the "
        "scales moved. Price of the book: 12,50 €.\n";
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"prices", "only 9.99 $ today", "|||currency=USD;price=9.99;|"},
        {"prices", long_text, "|||currency=EUR;price=12.5;|"},
        {"prices", "for free", "||||"},
        {"articles", long_text, "|||author=Ann;is_long=false;words=50;|"},
        {"thin", "short", "|skip|||"},
        {"thin", long_text, "||||"},
        {"next-pages", "", "||||http://h/list?page=4&x=1;"},
        {"abstracts", long_text,
         "||<The title\nThe description\nOne\nTwo\nWe weigh webs.>|has_abstract=true;language=en;|"},
        {"abstracts", "text", "||<The title\nThe description\nOne\nTwo\ntext>|has_abstract=false;language=en;|"},
    };
    struct bench b;
    bench_init(&b, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf path = {0};
        buf_printf(&path, TEST_DATA "/../../data/programs/%s.lua", cases[i].name);
        struct span script = test_read_file(buf_cstr(&path));
        if (!master_has(b.master, span_str(cases[i].name)))
            CHECK_STATUS(cases[i].name, give(&b, cases[i].name, 1, script.p), ST_OK);
        ask(&b, cases[i].name, cases[i].text);
        wait_for(&b, i + 1);
        CHECK_SPAN(cases[i].name, buf_span(&b.said[i].all), span_str(cases[i].want));
        free((char *)(uintptr_t)script.p);
        buf_done(&path);
    }
    bench_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_says_what_it_says),
        cmocka_unit_test(errors_name_the_line_and_do_not_end_the_worker),
        cmocka_unit_test(dangerous_names_are_absent),
        cmocka_unit_test(hostile_scripts_are_stopped),
        cmocka_unit_test(worker_that_takes_too_long_is_killed),
        cmocka_unit_test(any_other_program_as_worker_is_survived),
        cmocka_unit_test(version_is_swapped_between_two_pages),
        cmocka_unit_test(lower_serial_is_refused),
        cmocka_unit_test(failing_version_gives_way_to_the_last_good_one),
        cmocka_unit_test(strikes_count_only_in_a_row),
        cmocka_unit_test(version_that_does_not_start_costs_no_page),
        cmocka_unit_test(broken_program_without_a_good_version_is_none),
        cmocka_unit_test(line_has_an_end),
        cmocka_unit_test(pages_in_line_are_cancelled),
        cmocka_unit_test(dropped_version_sees_no_further_page),
        cmocka_unit_test(program_without_a_version_is_gone),
        cmocka_unit_test(last_good_version_may_come_along),
        cmocka_unit_test(callback_may_change_everything),
        cmocka_unit_test(worker_is_replaced_after_many_pages),
        cmocka_unit_test(missing_worker_is_told_at_once),
        cmocka_unit_test(programs_are_so_many),
        cmocka_unit_test(nothing_gets_out_of_the_sandbox),
        cmocka_unit_test(example_programs_do_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
