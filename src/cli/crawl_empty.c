#include "cli/crawl_empty.h"

#include "cli/command.h"
#include "store/store.h"

#define HOPS_MAX 12 /* more than a crawl follows: it goes round in a circle */

/* ---- hosts ---- */

/* The seed on `host`, for the message; the host itself when there is none. */
static struct span seed_on(const struct crawl_setup *s, struct span host)
{
    struct arena a;
    struct span found = host;
    arena_init(&a);
    for (size_t i = 0; i < s->seeds.n; i++) {
        struct url u;
        if (url_parse(&a, s->seeds.urls[i], NULL, &u) == ST_OK && span_eq(u.host, host)) {
            found = s->seeds.urls[i];
            break;
        }
    }
    arena_done(&a);
    return found;
}

static int complain_failure(struct span url, status st, struct span why)
{
    const char *wrong = NULL, *advice = NULL;
    switch (st) {
    case ST_DNS:
        wrong = "no such host";
        advice = "check the spelling or --resolver";
        break;
    case ST_TLS:
        wrong = "bad certificate";
        advice = "name its authority with --ca-file, or give --insecure to accept any";
        break;
    case ST_CONNECT:
        wrong = "no connection";
        advice = "check that the server runs, or --proxy";
        break;
    case ST_TIMEOUT:
        wrong = "no answer in time";
        advice = "try again later: run the same command";
        break;
    case ST_REFUSED:
        wrong = "refused";
        advice = "give --allow-private where such addresses are meant";
        break;
    default:
        wrong = status_name(st);
        advice = "see orb explain";
    }
    if (why.n && !span_is(why, wrong))
        return complain(exit_code_of(st), "crawl %.*s: %s (%.*s): %s", SPAN_ARG(url), wrong, SPAN_ARG(why), advice);
    return complain(exit_code_of(st), "crawl %.*s: %s: %s", SPAN_ARG(url), wrong, advice);
}

/* ---- answers ---- */

/* How the last visit of a page ended. */
struct ending {
    struct buf url, redirect, reason;
    uint8_t outcome, failure;
    unsigned http_status;
};

static void ending_done(struct ending *e)
{
    buf_done(&e->url);
    buf_done(&e->redirect);
    buf_done(&e->reason);
}

static status note_ending(void *arg, const struct page *p)
{
    struct ending *e = arg;
    struct buf *const to[] = {&e->url, &e->redirect, &e->reason};
    const struct span from[] = {p->url, p->redirect, p->reason};
    for (int i = 0; i < 3; i++) {
        buf_clear(to[i]);
        buf_put(to[i], from[i]);
    }
    e->outcome = p->outcome;
    e->failure = p->failure;
    e->http_status = p->http_status;
    return ST_OK;
}

/* Where a start page leads in the end. False: it was not visited. */
static bool find_ending(const char *dir, struct span url, struct ending *out)
{
    struct store *store = NULL;
    bool has = false, goes_on = store_open(dir, STORE_READ, &store, NULL) == ST_OK;
    for (int i = 0; i < HOPS_MAX && goes_on; i++) {
        goes_on = store_page_get(store, siphash(store_key(store), url), note_ending, out) == ST_OK;
        has |= goes_on;
        goes_on = goes_on && out->outcome == VISIT_REDIRECT && out->redirect.n && !out->reason.n;
        url = buf_span(&out->redirect);
    }
    store_free(store);
    if (goes_on)
        buf_puts(&out->reason, "redirects in a circle: it may want a cookie");
    return has;
}

static int complain_answer(const struct ending *e)
{
    struct span url = buf_span(&e->url);
    unsigned http = e->http_status;
    if (http == 404 || http == 410)
        return complain(EXIT_NO, "crawl %.*s: no such page: check the address", SPAN_ARG(url));
    if (http == 401 || http == 407)
        return complain(EXIT_NO, "crawl %.*s: the server answers %u: it wants a login: see --header", SPAN_ARG(url),
                        http);
    if (http == 429)
        return complain(EXIT_IO, "crawl %.*s: the server answers %u: too many requests: try again later", SPAN_ARG(url),
                        http);
    if (http >= 500)
        return complain(EXIT_IO, "crawl %.*s: the server answers %u, an error of its own: try again later",
                        SPAN_ARG(url), http);
    return complain(EXIT_NO, "crawl %.*s: the server answers %u: it may not want crawlers: see orb explain",
                    SPAN_ARG(url), http);
}

static int complain_ending(const struct ending *e)
{
    struct span url = buf_span(&e->url);
    if (e->outcome == VISIT_REFUSED)
        return complain(EXIT_NO, "crawl %.*s: refused by robots.txt: see orb explain for the rule", SPAN_ARG(url));
    if (e->failure != ST_OK)
        return complain_failure(url, (status)e->failure, buf_span(&e->reason));
    if (e->outcome == VISIT_GONE || e->outcome == VISIT_ERROR)
        return complain_answer(e);
    if (e->reason.n)
        return complain(EXIT_NO, "crawl %.*s: %.*s: see orb explain", SPAN_ARG(url), SPAN_ARG(buf_span(&e->reason)));
    return complain(EXIT_NO, "crawl %.*s: no page was found: see orb explain", SPAN_ARG(url));
}

int crawl_empty_complain(struct crawl *cr, const struct crawl_setup *s, const struct crawl_stats *stats)
{
    struct ending e = {0};
    struct buf host = {0}, why = {0};
    struct span url = s->seeds.urls[0];
    status st = ST_OK;
    int code;
    if (find_ending(s->opts.data_dir, url, &e))
        code = complain_ending(&e);
    else if (crawl_first_failure(cr, &host, &st, &why))
        code = complain_failure(seed_on(s, buf_span(&host)), st, buf_span(&why));
    else if (stats->refused_robots)
        code = complain(EXIT_NO, "crawl %.*s: refused by robots.txt: see orb explain for the rule", SPAN_ARG(url));
    else
        code = complain(EXIT_NO, "crawl %.*s: no page was found: see orb explain", SPAN_ARG(url));
    ending_done(&e);
    buf_done(&host);
    buf_done(&why);
    return code;
}
