#include "cli/seeds.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/url_opts.h"
#include "crawl/channel.h"
#include "place/addr.h"

bool host_is_private(struct span host)
{
    struct addr addr;
    if (span_is_nocase(host, "localhost") || (host.n > 10 && span_ends(host, SPAN(".localhost"))))
        return true;
    return addr_parse(host, &addr) == ST_OK && addr_classify(&addr) != ADDR_PUBLIC;
}

/* "mailto:x" has a scheme; "localhost:8080/x" and "example.org" have none. */
static bool has_scheme(struct span s)
{
    size_t i = 0;
    if (s.n == 0 || !ascii_is_alpha(s.p[0]))
        return false;
    while (i < s.n && (ascii_is_alpha(s.p[i]) || ascii_is_digit(s.p[i]) || memchr("+-.", s.p[i], 3)))
        i++;
    return i + 1 < s.n && s.p[i] == ':' && !ascii_is_digit(s.p[i + 1]);
}

/* The host part of something without a scheme. */
static struct span bare_host(struct span s)
{
    size_t n = 0;
    bool in_brackets = false;
    for (; n < s.n; n++) {
        in_brackets = s.p[n] == '[' || (in_brackets && s.p[n] != ']');
        if (!in_brackets && memchr(":/?#", s.p[n], 4))
            break;
    }
    return span_cut(s, 0, n);
}

static status with_scheme(struct span typed, struct buf *out, struct buf *why)
{
    if (has_scheme(typed)) {
        buf_put(out, typed);
        return ST_OK;
    }
    size_t colon = span_find(typed, ':', 0);
    if (span_starts(span_from(typed, colon), SPAN("://"))) {
        buf_puts(why, "not a URL: that is no scheme, write http:// or https://");
        return ST_INVALID;
    }
    if (span_starts(typed, SPAN("//")))
        typed = span_from(typed, 2);
    struct span host = bare_host(typed);
    bool is_word = span_find(host, '.', 0) == host.n && host.n == typed.n && !host_is_private(host);
    if (host.n == 0 || is_word) {
        buf_puts(why, host.n ? "not a URL: write http://HOST/ for a host with such a name"
                             : "not a URL: write it as https://example.org/");
        return ST_INVALID;
    }
    buf_puts(out, host_is_private(host) ? "http://" : "https://");
    buf_put(out, typed);
    return ST_OK;
}

status seed_parse(struct arena *a, struct span typed, const struct url_norm *norm, struct url *out, struct buf *why)
{
    struct buf text = {0};
    struct url parsed;
    typed = span_trim(typed);
    status st = with_scheme(typed, &text, why);
    if (st == ST_OK && url_parse(a, buf_span(&text), NULL, &parsed) != ST_OK) {
        buf_puts(why, "not a URL: write it as https://example.org/");
        st = ST_INVALID;
    } else if (st == ST_OK && !url_is_http(&parsed)) {
        buf_puts(why, "not a web page: only http and https can be crawled");
        st = ST_INVALID;
    } else if (st == ST_OK && (parsed.username.n || parsed.password.n)) {
        buf_puts(why, "a name and password in a URL are not sent: leave them out; orb crawl has --header for "
                      "\"Authorization: Basic ...\"");
        st = ST_INVALID;
    } else if (st == ST_OK && port_is_bad(parsed.port)) {
        buf_printf(why, "port %d is one that browsers refuse too: it is not for web pages", parsed.port);
        st = ST_INVALID;
    }
    if (st == ST_OK && url_normalise(a, &parsed, norm, URL_BYTES_MAX, out) != ST_OK) {
        buf_printf(why, "longer than %d bytes", URL_BYTES_MAX);
        st = ST_INVALID;
    }
    buf_done(&text);
    return st;
}

/* For messages, which may end up in logs: without a name and password in front of the host. */
static struct span shown(struct span typed)
{
    size_t scheme = span_search(typed, SPAN("://"), false), host = scheme < typed.n ? scheme + 3 : 0;
    struct span authority = span_cut(typed, 0, span_find(typed, '/', host));
    size_t user = authority.n;
    while (user > host && authority.p[user - 1] != '@')
        user--;
    return span_cut(user > host ? span_from(typed, user) : typed, 0, 200);
}

static int add(struct seeds *s, const char *command, struct arena *a, const struct url_norm *norm, struct span typed,
               const char *where, unsigned line)
{
    struct buf why = {0};
    struct url u;
    int code = EXIT_DONE;
    if (seed_parse(a, typed, norm, &u, &why) != ST_OK) {
        if (where)
            code = complain(EXIT_INPUT, "%s: %s line %u: %.*s: %s", command, where, line, SPAN_ARG(shown(typed)),
                            buf_cstr(&why));
        else
            code = complain(EXIT_INPUT, "%s %.*s: %s", command, SPAN_ARG(shown(typed)), buf_cstr(&why));
    } else if (s->n >= CHANNEL_SEEDS_MAX)
        code = complain(EXIT_INPUT, "%s: more than %d start pages: give fewer, links lead to the rest", command,
                        CHANNEL_SEEDS_MAX);
    else {
        s->urls = mem_grow(s->urls, &s->cap, s->n + 1, sizeof(*s->urls));
        s->urls[s->n++] = u.href;
        s->has_public = s->has_public || !host_is_private(u.host);
    }
    buf_done(&why);
    return code;
}

static int add_lines(struct seeds *s, const char *command, struct arena *a, const struct url_norm *norm,
                     const char *path)
{
    struct buf text = {0};
    int code = read_input(command, path, &text);
    struct span rest = buf_span(&text), line;
    for (unsigned n = 1; code == EXIT_DONE && span_split(&rest, '\n', &line); n++) {
        line = span_trim(line);
        if (line.n && line.p[0] != '#')
            code = add(s, command, a, norm, line, strcmp(path, "-") == 0 ? "standard input" : path, n);
    }
    buf_done(&text);
    return code;
}

int sitemaps_gather(const struct options *o, struct arena *a, const struct url_norm *norm, struct seeds *out)
{
    size_t n;
    const struct span *typed = opt_list(o, OPT_SITEMAP, &n);
    int code = EXIT_DONE;
    if (n && !opt_flag(o, OPT_SITEMAPS))
        return complain(EXIT_USAGE, "crawl: --sitemap and --no-sitemaps contradict each other: give one of them");
    for (size_t i = 0; code == EXIT_DONE && i < n; i++)
        code = add(out, "crawl", a, norm, typed[i], NULL, 0);
    return code;
}

int seeds_gather(const struct options *o, struct arena *a, const struct url_norm *norm, struct seeds *out)
{
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < o->arg_count; i++)
        code = span_is(o->args[i], "-") ? add_lines(out, "crawl", a, norm, "-")
                                        : add(out, "crawl", a, norm, o->args[i], NULL, 0);
    if (code == EXIT_DONE && opt_cstr(o, OPT_SEEDS))
        code = add_lines(out, "crawl", a, norm, opt_cstr(o, OPT_SEEDS));
    if (code == EXIT_DONE && out->n == 0 && !o->arg_count && !opt_cstr(o, OPT_SEEDS))
        code = sitemaps_gather(o, a, norm, out);
    if (code == EXIT_DONE && out->n == 0 && (o->arg_count || opt_cstr(o, OPT_SEEDS)))
        code = complain(EXIT_INPUT, "crawl: no start page among what was read: give one URL a line");
    else if (code == EXIT_DONE && out->n == 0)
        code = complain(EXIT_USAGE, "crawl: nothing to crawl: give a URL, or --seeds FILE");
    return code;
}

int seeds_read(const char *command, const char *path, struct arena *a, const struct url_norm *norm, struct seeds *out)
{
    int code = add_lines(out, command, a, norm, path);
    if (code == EXIT_DONE && out->n == 0)
        code = complain(EXIT_INPUT, "%s: no start page among what was read: give one URL a line", command);
    return code;
}

void seeds_done(struct seeds *s)
{
    free(s->urls);
}
