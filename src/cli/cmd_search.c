#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/screen.h"
#include "cli/wrap.h"
#include "index/search/search.h"
#include "index/search/search_json.h"
#include "io/clock.h"
#include "store/groups.h"

#define TEXT_WIDTH_MAX 100 /* columns: longer lines are hard to read */
#define INDENT 4
#define CRUMB_MAX 300 /* bytes of a URL shown */
#define FIELDS_SHOWN 6
#define FIELD_BYTES_SHOWN 120

struct finding {
    const char *dir; /* data folder */
    struct buf query;
    struct search_opts opts;
    struct search_result found;
    struct arena arena;
    struct index_reader *reader;
    struct index_snapshot *snapshot;
    struct groups *groups; /* of near-duplicates */
};

/* What a terminal shows otherwise. All empty where there are no colours. */
struct styles {
    const char *title, *url, *mark, *dim, *plain;
};

/* ---- finding ---- */

static int complain_index(const struct finding *f, status st, const struct buf *why)
{
    switch (st) {
    case ST_NOT_FOUND:
        return complain(EXIT_IO, "search: no index in %s: run orb crawl first, or choose another --data", f->dir);
    case ST_CORRUPT:
        return complain(EXIT_IO, "search: the index in %s cannot be read%s%.*s: run orb check, which makes it anew",
                        f->dir, why->n ? ": " : "", SPAN_ARG(buf_span(why)));
    case ST_NEWER:
        return complain(EXIT_IO, "search: the index in %s was made by a newer orb: use that one", f->dir);
    default:
        return complain(EXIT_IO, "search: open the index in %s: %.*s: check its permissions", f->dir,
                        SPAN_ARG(why->n ? buf_span(why) : span_str(status_name(st))));
    }
}

static int open_index(struct finding *f)
{
    struct buf dir = {0}, why = {0};
    if (!f->dir)
        return complain(EXIT_USAGE, "search: --data: empty: give a folder");
    apply_index_dir(f->dir, &dir);
    status st = index_reader_open(buf_cstr(&dir), &f->reader, &why);
    if (st == ST_OK)
        st = index_reader_snapshot(f->reader, &f->snapshot);
    int code = st == ST_OK ? EXIT_DONE : complain_index(f, st, &why);
    buf_clear(&dir);
    groups_path(f->dir, &dir);
    f->groups = groups_open(dir.p);
    f->opts.group_of = groups_translate;
    f->opts.group_arg = f->groups;
    buf_done(&dir);
    buf_done(&why);
    return code;
}

static int find(struct finding *f)
{
    f->opts.now = clock_wall();
    f->opts.with_snippets = f->opts.with_suggestion = true;
    int code = open_index(f);
    if (code != EXIT_DONE)
        return code;
    status st = search_run(f->snapshot, &f->opts, &f->arena, &f->found);
    if (st == ST_INVALID)
        return complain(EXIT_INPUT, "search: %.*s",
                        SPAN_ARG(f->found.note.n ? f->found.note : SPAN("there is no word to look for")));
    if (st == ST_LIMIT && f->opts.query.n > SEARCH_QUERY_MAX)
        return complain(EXIT_INPUT, "search: the query is longer than %d bytes: leave out some words",
                        SEARCH_QUERY_MAX);
    if (st == ST_LIMIT)
        return complain(EXIT_USAGE, "search: --offset and --limit: only the first %d results can be seen",
                        SEARCH_DEPTH_MAX);
    if (st == ST_CORRUPT)
        return complain_index(f, st, &(struct buf){0});
    if (st != ST_OK)
        return complain(exit_code_of(st), "search: read the index in %s: %s", f->dir, status_name(st));
    return EXIT_DONE;
}

/* ---- text ---- */

static void wrap_marked(struct wrap *w, const struct marked *m, const char *mark, const char *after)
{
    size_t at = 0;
    for (size_t i = 0; i < m->mark_count; i++) {
        wrap_text(w, span_cut(m->text, at, m->marks[i].at - at));
        wrap_style(w, mark);
        wrap_text(w, span_cut(m->text, m->marks[i].at, m->marks[i].bytes));
        wrap_style(w, after);
        at = m->marks[i].at + m->marks[i].bytes;
    }
    wrap_text(w, span_from(m->text, at));
}

/* "https://a.org/b/c%20d?e" as "a.org > b > c d?e", with the sign of breadcrumbs for '>'; the scheme only where it is
 * not https. */
static void put_crumbs(struct buf *out, struct span url)
{
    struct span rest = span_cut(url, 0, CRUMB_MAX), part;
    size_t query = span_find(rest, '?', 0);
    struct span tail = span_from(rest, query);
    rest = span_cut(rest, 0, query);
    if (span_starts(rest, SPAN("https://")))
        rest = span_from(rest, 8);
    else if (span_starts(rest, SPAN("http://"))) {
        buf_puts(out, "http://");
        rest = span_from(rest, 7);
    }
    bool is_first = true;
    while (span_split(&rest, '/', &part)) {
        if (part.n == 0)
            continue;
        buf_puts(out, is_first ? "" : " \u203a ");
        is_first = false;
        for (size_t i = 0; i < part.n; i++) {
            bool is_escape = part.p[i] == '%' && i + 2 < part.n && ascii_hex(part.p[i + 1]) >= 0;
            if (is_escape && ascii_hex(part.p[i + 2]) >= 0) {
                buf_putc(out, (char)(ascii_hex(part.p[i + 1]) << 4 | ascii_hex(part.p[i + 2])));
                i += 2;
            } else
                buf_putc(out, part.p[i]);
        }
    }
    buf_put(out, tail);
    buf_puts(out, url.n > CRUMB_MAX ? "\u2026" : "");
}

static void put_facts(struct buf *out, const struct search_hit *h)
{
    struct buf date = {0};
    const char *between = "";
    wall_ms t = h->changed ? h->changed : h->fetched;
    if (t > 0) {
        put_iso_time(&date, t);
        buf_put(out, span_cut(buf_span(&date), 0, 10));
        between = " \u00b7 ";
    }
    if (h->type[0] && strcmp(h->type, "html") != 0) {
        buf_printf(out, "%s%s", between, h->type);
        if (h->bytes) {
            buf_putc(out, ' ');
            put_bytes(out, h->bytes);
        }
        between = " \u00b7 ";
    }
    if (h->lang[0]) {
        buf_printf(out, "%s%.3s", between, h->lang);
        between = " \u00b7 ";
    }
    if (h->is_keywords) {
        buf_printf(out, "%sknown by its words only", between);
        between = " \u00b7 ";
    }
    if (h->similar)
        buf_printf(out, "%s%u similar", between, h->similar);
    buf_done(&date);
}

struct look {
    const struct styles *styles;
    size_t width; /* 0: no terminal, lines as long as they are */
    bool is_terminal;
};

static void begin_line(struct wrap *w, struct buf *out, const struct look *l)
{
    buf_printf(out, "%*s", INDENT, "");
    wrap_begin(w, out, l->width, INDENT, INDENT);
}

static void put_title(struct buf *out, const struct search_hit *h, size_t number, const struct look *l)
{
    const struct styles *s = l->styles;
    struct wrap w;
    buf_printf(out, "%2zu. ", number);
    wrap_begin(&w, out, l->width, INDENT, number > 99 ? INDENT + 1 : INDENT);
    wrap_style(&w, s->title);
    wrap_marked(&w, &h->title, s->mark, s->title);
    wrap_style(&w, s->plain);
    wrap_end(&w);
}

static void put_address(struct buf *out, struct span url, const struct look *l)
{
    struct wrap w;
    struct buf text = {0};
    if (l->is_terminal)
        put_crumbs(&text, url);
    else
        buf_put(&text, url);
    begin_line(&w, out, l);
    wrap_style(&w, l->styles->url);
    wrap_text(&w, buf_span(&text));
    wrap_style(&w, l->styles->plain);
    wrap_end(&w);
    buf_done(&text);
}

/* "author: Jane Doe \u00b7 price: 12 \u00b7 3 more" */
static void put_fields(struct buf *out, const struct search_hit *h, const struct look *l)
{
    struct wrap w;
    char more[32];
    if (!h->field_count)
        return;
    begin_line(&w, out, l);
    for (size_t i = 0; i < h->field_count && i < FIELDS_SHOWN; i++) {
        const struct summary_field *f = &h->fields[i];
        struct span value = utf8_cut(f->value, FIELD_BYTES_SHOWN);
        wrap_text(&w, i ? SPAN(" \u00b7 ") : SPAN(""));
        wrap_text(&w, f->name);
        wrap_text(&w, SPAN(": "));
        wrap_text(&w, value);
        wrap_text(&w, value.n < f->value.n ? SPAN("\u2026") : SPAN(""));
    }
    if (h->field_count > FIELDS_SHOWN) {
        snprintf(more, sizeof(more), " \u00b7 %zu more", h->field_count - FIELDS_SHOWN);
        wrap_text(&w, span_str(more));
    }
    wrap_end(&w);
}

static void put_hit(struct buf *out, const struct search_hit *h, size_t number, const struct look *l)
{
    struct wrap w;
    struct buf facts = {0};
    put_title(out, h, number, l);
    put_address(out, h->url, l);
    if (h->snippet.text.n) {
        begin_line(&w, out, l);
        wrap_marked(&w, &h->snippet, l->styles->mark, l->styles->plain);
        wrap_end(&w);
    }
    put_fields(out, h, l);
    put_facts(&facts, h);
    if (facts.n) {
        begin_line(&w, out, l);
        wrap_style(&w, l->styles->dim);
        wrap_text(&w, buf_span(&facts));
        wrap_style(&w, l->styles->plain);
        wrap_end(&w);
    }
    buf_putc(out, '\n');
    buf_done(&facts);
}

static void put_safe_line(struct buf *out, const char *before, struct span text, size_t width)
{
    struct wrap w;
    wrap_begin(&w, out, width, 0, 0);
    wrap_text(&w, span_str(before));
    wrap_text(&w, text);
    wrap_end(&w);
}

static void put_total(struct buf *out, const struct finding *f, const struct styles *s)
{
    const struct search_result *r = &f->found;
    buf_puts(out, s->dim);
    buf_puts(out, r->is_estimate ? "about " : "");
    put_count(out, r->total);
    buf_puts(out, r->total == 1 ? " page" : " pages");
    if (f->opts.offset)
        buf_printf(out, ", %sfrom number %u on", r->hit_count ? "" : "none ", f->opts.offset + 1);
    if (r->cpu_us < 1000)
        buf_puts(out, ", under 1 ms");
    else
        buf_printf(out, ", %lld ms", (long long)(r->cpu_us + 500) / 1000);
    buf_printf(out, "%s\n", s->plain);
    if (r->is_partial)
        buf_puts(out, "The search ran out of time: there may be better pages. Fewer or rarer words help.\n");
}

static void put_text(const struct finding *f, struct buf *out)
{
    static const struct styles coloured = {"\033[0;1m", "\033[32m", "\033[1;31m", "\033[2m", "\033[0m"};
    static const struct styles none = {"", "", "", "", ""};
    const struct search_result *r = &f->found;
    struct look l = {.styles = wants_colour(STDOUT_FILENO) ? &coloured : &none, .is_terminal = isatty(STDOUT_FILENO)};
    struct winsize size;
    if (l.is_terminal) {
        l.width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
        l.width = l.width < TEXT_WIDTH_MAX ? l.width : TEXT_WIDTH_MAX;
    }
    if (r->note.n)
        put_safe_line(out, "Note: ", r->note, l.width);
    if (r->total)
        put_total(out, f, l.styles);
    else
        put_safe_line(out, "No page has this: ", f->opts.query, l.width);
    if (r->suggestion.n)
        put_safe_line(out, "Did you mean: ", r->suggestion, l.width);
    if (r->hit_count)
        buf_putc(out, '\n');
    for (size_t i = 0; i < r->hit_count; i++)
        put_hit(out, &r->hits[i], f->opts.offset + i + 1, &l);
    size_t next = f->opts.offset + r->hit_count;
    if (r->has_more && next < SEARCH_DEPTH_MAX)
        buf_printf(out, "%sMore: --offset %zu%s\n", l.styles->dim, next, l.styles->plain);
}

/* ---- opening ---- */

/* Runs a browser with the URL as its only argument, without a shell, and waits for it to return. */
static int run_browser(const char *program, const char *url)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null >= 0 && !isatty(STDIN_FILENO))
            dup2(null, STDIN_FILENO);
        signal(SIGPIPE, SIG_DFL);
        execlp(program, program, url, (char *)NULL);
        _exit(127);
    }
    int ended = 0;
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
        return EXIT_DONE;
    if (pid > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 127)
        return complain(EXIT_IO, "search: run %s: not there: name a browser in BROWSER", program);
    return complain(EXIT_IO, "search: %s could not open %s", program, url);
}

static int open_hit(const struct finding *f, int64_t number)
{
    const char *browser = getenv("BROWSER");
    if (f->found.hit_count == 0)
        return complain(EXIT_NO, "search: --open %lld: there are not so many results", (long long)number);
    struct span url = f->found.hits[0].url;
    struct buf text = {0};
    /* An index is data from outside too: nothing but a web page is handed to another program. */
    bool is_web = span_starts(url, SPAN("http://")) || span_starts(url, SPAN("https://"));
    buf_put(&text, url);
    int code = is_web && strlen(buf_cstr(&text)) == url.n
                   ? run_browser(browser && *browser ? browser : "xdg-open", buf_cstr(&text))
                   : complain(EXIT_INPUT, "search: --open: %s is no web page", buf_cstr(&text));
    buf_done(&text);
    return code;
}

/* ---- the command ---- */

int cmd_search(const struct options *o)
{
    struct finding f = {.dir = opt_cstr(o, OPT_DATA)};
    struct buf out = {0};
    int64_t number = opt_number(o, OPT_OPEN);
    bool is_json = opt_flag(o, OPT_JSON);
    arena_init(&f.arena);
    for (size_t i = 0; i < o->arg_count; i++) {
        buf_puts(&f.query, i ? " " : "");
        buf_put(&f.query, o->args[i]);
    }
    f.opts.query = buf_span(&f.query);
    f.opts.offset = number ? (unsigned)number - 1 : (unsigned)opt_number(o, OPT_OFFSET);
    f.opts.no_folding = opt_flag(o, OPT_SIMILAR);
    f.opts.limit = number ? 1 : (unsigned)opt_number(o, OPT_LIMIT);
    f.opts.with_facets = is_json;
    int code = find(&f);
    if (code == EXIT_DONE && number)
        code = open_hit(&f, number);
    else if (code == EXIT_DONE) {
        if (is_json) {
            search_json(&f.found, &f.opts, &out);
            buf_putc(&out, '\n');
        } else
            put_text(&f, &out);
        print_buf(&out);
        code = f.found.hit_count ? EXIT_DONE : EXIT_NO;
    }
    index_snapshot_free(f.snapshot);
    index_reader_free(f.reader);
    groups_release(f.groups);
    arena_done(&f.arena);
    buf_done(&f.query);
    buf_done(&out);
    return code;
}
