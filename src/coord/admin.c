/* admin.c - the server of the administration: who may ask what, and the way from a request to an answer. */
#include "coord/admin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coord/admin_fresh.h"
#include "coord/admin_internal.h"
#include "coord/admin_near.h"
#include "io/clock.h"
#include "serve/page.h"
#include "serve/request.h"

#define TARGET_BYTES_MAX 8192
#define HEADER_BYTES_MAX 4096 /* of Cookie and Authorization */
#define CONNECTIONS_MAX 256
#define CONNECTIONS_PER_ADDRESS 64
#define IDLE_TIMEOUT_S 30
#define WORKERS 2
#define WAITING_MAX 64
#define PASSWORD_WORKERS 2
#define PASSWORDS_WAITING_MAX 16
#define TRIES_PER_S 0.1 /* to log in, from an address and for a name */
#define TRIES_BURST 10

/* ---- routes ---- */

typedef enum route_line { LINE_WORK, LINE_PASSWORDS } route_line;

struct admin_route {
    bool is_post;
    const char *pattern; /* '*' stands for one part of the path */
    admin_role role;     /* the least that is needed; ROLE_NONE: nobody need be known */
    deed_fn *deed;
    admin_page_fn *page; /* in place of a deed */
    route_line line;
    size_t body_max;
};

static const struct admin_route routes[] = {
    {false, "/", ROLE_VIEWER, NULL, page_overview, LINE_WORK, 0},
    {false, "/agents", ROLE_VIEWER, NULL, page_agents, LINE_WORK, 0},
    {false, "/agents/new", ROLE_OPERATOR, NULL, page_agent_new, LINE_WORK, 0},
    {false, "/agents/*", ROLE_VIEWER, NULL, page_agent, LINE_WORK, 0},
    {false, "/channels", ROLE_VIEWER, NULL, page_channels, LINE_WORK, 0},
    {false, "/channels/*", ROLE_VIEWER, NULL, page_channel, LINE_WORK, 0},
    {false, "/forgotten", ROLE_VIEWER, NULL, page_forgotten, LINE_WORK, 0},
    {false, "/networks", ROLE_VIEWER, NULL, page_networks, LINE_WORK, 0},
    {false, "/near", ROLE_VIEWER, NULL, page_near, LINE_WORK, 0},
    {false, "/freshness", ROLE_VIEWER, NULL, page_fresh, LINE_WORK, 0},
    {false, "/freshness/sites", ROLE_VIEWER, NULL, page_fresh_sites, LINE_WORK, 0},
    {false, "/hierarchy", ROLE_VIEWER, NULL, page_hierarchy, LINE_WORK, 0},
    {false, "/programs", ROLE_VIEWER, NULL, page_programs, LINE_WORK, 0},
    {false, "/people", ROLE_VIEWER, NULL, page_people, LINE_WORK, 0},
    {false, "/login", ROLE_NONE, NULL, page_login, LINE_WORK, 0},
    {false, "/setup", ROLE_NONE, NULL, page_setup, LINE_WORK, 0},
    {true, "/login", ROLE_NONE, deed_login, NULL, LINE_PASSWORDS, 4096},
    {true, "/setup", ROLE_NONE, deed_setup, NULL, LINE_PASSWORDS, 4096},
    {true, "/logout", ROLE_VIEWER, deed_logout, NULL, LINE_WORK, 4096},
    {false, "/metrics", ROLE_METRICS, deed_metrics, NULL, LINE_WORK, 0},
    {false, "/api/v1/overview", ROLE_VIEWER, deed_overview, NULL, LINE_WORK, 0},
    {false, "/api/v1/agents", ROLE_VIEWER, deed_agents, NULL, LINE_WORK, 0},
    {false, "/api/v1/agents/*", ROLE_VIEWER, deed_agent, NULL, LINE_WORK, 0},
    {true, "/api/v1/agents", ROLE_OPERATOR, deed_agent_add, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {true, "/api/v1/agents/*/*", ROLE_OPERATOR, deed_agent_do, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {false, "/api/v1/channels", ROLE_VIEWER, deed_channels, NULL, LINE_WORK, 0},
    {false, "/api/v1/channels/*", ROLE_VIEWER, deed_channel, NULL, LINE_WORK, 0},
    {true, "/api/v1/channels", ROLE_OPERATOR, deed_channel_add, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {true, "/api/v1/channels/import", ROLE_OPERATOR, deed_channel_import, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {true, "/api/v1/channels/*/*", ROLE_OPERATOR, deed_channel_do, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {false, "/api/v1/networks", ROLE_VIEWER, deed_networks, NULL, LINE_WORK, 0},
    {false, "/api/v1/explain", ROLE_VIEWER, deed_explain, NULL, LINE_WORK, 0},
    {false, "/api/v1/nearest", ROLE_VIEWER, deed_nearest, NULL, LINE_WORK, 0},
    {false, "/api/v1/pins", ROLE_VIEWER, deed_pins, NULL, LINE_WORK, 0},
    {true, "/api/v1/pins", ROLE_OPERATOR, deed_pins_set, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {false, "/api/v1/forget", ROLE_VIEWER, deed_forgotten, NULL, LINE_WORK, 0},
    {true, "/api/v1/forget", ROLE_OPERATOR, deed_forget, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {true, "/api/v1/backup", ROLE_ADMIN, deed_backup, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {false, "/api/v1/near", ROLE_VIEWER, deed_near, NULL, LINE_WORK, 0},
    {false, "/api/v1/freshness", ROLE_VIEWER, deed_fresh, NULL, LINE_WORK, 0},
    {false, "/api/v1/hierarchy", ROLE_VIEWER, deed_hierarchy, NULL, LINE_WORK, 0},
    {true, "/api/v1/networks/move", ROLE_OPERATOR, deed_network_move, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {false, "/api/v1/recrawl", ROLE_VIEWER, deed_recrawl, NULL, LINE_WORK, 0},
    {true, "/api/v1/recrawl", ROLE_OPERATOR, deed_recrawl_set, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {false, "/api/v1/tasks", ROLE_VIEWER, deed_tasks, NULL, LINE_WORK, 0},
    {false, "/api/v1/programs", ROLE_VIEWER, deed_programs, NULL, LINE_WORK, 0},
    {true, "/api/v1/programs", ROLE_ADMIN, deed_program_push, NULL, LINE_WORK, ADMIN_TEXT_MAX},
    {true, "/api/v1/programs/*/*", ROLE_ADMIN, deed_program_do, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {false, "/api/v1/people", ROLE_ADMIN, deed_people, NULL, LINE_WORK, 0},
    {true, "/api/v1/people", ROLE_ADMIN, deed_person_add, NULL, LINE_PASSWORDS, ADMIN_BODY_MAX},
    {true, "/api/v1/people/*/*", ROLE_VIEWER, deed_person_do, NULL, LINE_PASSWORDS, ADMIN_BODY_MAX},
    {true, "/api/v1/identity/rotate", ROLE_ADMIN, deed_rotate, NULL, LINE_WORK, ADMIN_BODY_MAX},
    {true, "/api/v1/update", ROLE_ADMIN, deed_update, NULL, LINE_WORK, ADMIN_UPDATE_MAX},
};

static bool matches(const char *pattern, struct span path, struct span args[2])
{
    struct span want = span_str(pattern), w, p;
    unsigned n = 0;
    while (span_split(&want, '/', &w)) {
        if (!span_split(&path, '/', &p))
            return false;
        if (!span_is(w, "*")) {
            if (!span_eq(w, p))
                return false;
        } else if (p.n == 0)
            return false;
        else
            args[n++] = p;
    }
    return !span_split(&path, '/', &p);
}

/* *is_known: the path is one of ours, perhaps for the other method. */
static const struct admin_route *find_route(struct span path, bool is_post, struct span args[2], bool *is_known)
{
    *is_known = false;
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        struct span found[2] = {{0}};
        if (!matches(routes[i].pattern, path, found))
            continue;
        *is_known = true;
        if (routes[i].is_post != is_post)
            continue;
        memcpy(args, found, sizeof(found));
        return &routes[i];
    }
    return NULL;
}

admin_page_fn *admin_page_by_path(struct ask *r, struct span path)
{
    struct span args[2] = {{0}};
    bool is_known;
    const struct admin_route *route = find_route(span_cut(path, 0, span_find(path, '?', 0)), false, args, &is_known);
    if (!route || !route->page || route->role > r->who.role)
        return NULL;
    memcpy(r->args, args, sizeof(args));
    return route->page;
}

/* ---- answers ---- */

void deed_fail(struct deed *d, int code, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    d->code = code;
    d->name = name;
    buf_clear(&d->why);
    buf_vprintf(&d->why, fmt, ap);
    va_end(ap);
}

void deed_fail_status(struct deed *d, status st, const struct buf *why)
{
    static const struct {
        status st;
        int code;
        const char *name, *text;
    } table[] = {{ST_INVALID, 400, "invalid", "What was sent is not right."},
                 {ST_LIMIT, 400, "limit", "That is more than can be taken."},
                 {ST_NOT_FOUND, 404, "not_found", "There is no such thing."},
                 {ST_EXISTS, 409, "exists", "It is so already."},
                 {ST_BUSY, 409, "busy", "Not now: try again in a minute."},
                 {ST_REFUSED, 409, "refused", "That agent cannot take it: it has to have joined and to be running."},
                 {ST_FULL, 507, "full", "The coordinator's disk is full. Make room and try again."}};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (table[i].st == st) {
            if (why->n)
                deed_fail(d, table[i].code, table[i].name, "%.*s", SPAN_ARG(buf_span(why)));
            else
                deed_fail(d, table[i].code, table[i].name, "%s", table[i].text);
            return;
        }
    deed_fail(d, 500, "internal", "It could not be written down (%s). The coordinator's log says more.",
              status_name(st));
}

void deed_fail_field(struct deed *d, const char *field, const char *want)
{
    deed_fail(d, 400, "invalid", "%s is not right: %s.", field, want);
    d->field = field;
    d->hint = want;
}

static void answer_error(struct ask *r, struct httpd_answer *ans, bool is_page, int code, const char *name,
                         const char *heading, const char *text)
{
    if (is_page)
        admin_message(r, ans, code, heading, span_str(text));
    else
        page_error_json(ans, code, name, text);
}

static void redirect(struct httpd_answer *ans, struct span to)
{
    ans->status = 303;
    page_headers(ans, PAGE_HTML, "no-store");
    buf_printf(&ans->head, "Location: %.*s\n", SPAN_ARG(to));
}

/* The form again, as it was filled in, with what is wrong with it. */
static void show_form_again(struct ask *r, struct deed *d, struct httpd_answer *ans)
{
    admin_page_fn *page = admin_page_by_path(r, r->form_page);
    r->error = buf_span(&d->why);
    r->error_field = d->field;
    r->error_hint = d->hint ? span_str(d->hint) : r->error;
    r->form_action = r->path;
    r->path = span_cut(r->form_page, 0, span_find(r->form_page, '?', 0));
    if (page)
        page(r, ans);
    else
        admin_message(r, ans, d->code, "That did not work", r->error);
    ans->status = d->code;
}

static bool location_is_good(struct span s)
{
    bool ok = s.n > 0 && s.p[0] == '/' && (s.n == 1 || s.p[1] != '/') && s.n < 512;
    for (size_t i = 0; ok && i < s.n; i++)
        ok = s.p[i] > ' ' && s.p[i] < 0x7f && s.p[i] != '\\';
    return ok;
}

static void run_deed(struct ask *r, const struct admin_route *route, struct httpd_answer *ans)
{
    struct deed d = {.code = 200};
    unsigned long long troubles = atomic_load(&r->c->troubles);
    route->deed(r, &d);
    if (r->is_post && d.code < 400 && atomic_load(&r->c->troubles) != troubles)
        deed_fail(&d, 507, "full",
                  "It could not be written down, and agents may not have been told: the coordinator's "
                  "disk is full, or fails. Make room; then see whether it is so, and repeat it if not.");
    if (d.code >= 400 && r->form_page.n)
        show_form_again(r, &d, ans);
    else if (d.code >= 400)
        page_error_json(ans, d.code, d.name, buf_cstr(&d.why));
    else if (r->form_page.n) {
        struct span next = d.next.n ? buf_span(&d.next) : r->form_page;
        if (d.message.n)
            session_flash_put(r->a, &r->who, buf_span(&d.message));
        redirect(ans, location_is_good(next) ? next : SPAN("/"));
    } else {
        ans->status = d.code;
        page_headers(ans, d.plain ? d.plain : PAGE_JSON, "no-store");
        buf_put(&ans->body, buf_span(&d.out));
        if (!d.plain)
            buf_putc(&ans->body, '\n');
    }
    buf_put(&ans->head, buf_span(&d.head));
    buf_done(&d.why);
    buf_done(&d.out);
    buf_done(&d.next);
    buf_done(&d.head);
    buf_done(&d.message);
}

/* ---- fields ---- */

/* False: the answer says what is wrong with them. */
static bool read_fields(struct ask *r, struct httpd_answer *ans)
{
    const char *why = "";
    status st = pairs_read_form(r->arena, r->query, &r->in);
    if (st == ST_OK && r->is_post && r->is_json)
        st = pairs_read_json(r->arena, r->body, &r->in, &why);
    else if (st == ST_OK && r->is_post && !r->is_octets)
        st = pairs_read_form(r->arena, r->body, &r->in);
    if (st == ST_OK)
        return true;
    struct buf text = {0};
    buf_printf(&text, "The fields cannot be read (%s%s%s). Send a form or one flat JSON object.",
               st == ST_LIMIT ? "too many" : "not valid", why[0] ? ": " : "", why);
    page_error_json(ans, 400, "invalid", buf_cstr(&text));
    buf_done(&text);
    return false;
}

static void decode_args(struct ask *r)
{
    for (int i = 0; i < 2; i++) {
        struct pairs one = {0};
        if (r->args[i].n && pairs_read_form(r->arena, r->args[i], &one) == ST_OK && one.n)
            r->args[i] = one.list[0].name;
    }
}

/* What changes things and comes with a cookie must come from a page of ours: it has the session's token in it. */
static bool is_forged(const struct ask *r, struct span header)
{
    struct span token = header.n ? header : pairs_get(&r->in, "csrf"), want = span_str(r->who.csrf);
    return r->is_post && want.n && !(token.n == want.n && bytes_equal(token.p, want.p, want.n));
}

/* ---- jobs ---- */

/* Owns its texts, in its own arena. */
struct job {
    struct httpd_later *later;
    const struct admin_route *route;
    struct arena arena;
    struct buf body; /* owned */
    struct span csrf;
    struct ask r;
};

static void run_route(struct job *j, struct httpd_answer *ans)
{
    struct ask *r = &j->r;
    if (!read_fields(r, ans))
        return;
    r->form_page = r->is_post && !r->is_json ? pairs_get(&r->in, "page") : SPAN("");
    decode_args(r);
    if (is_forged(r, j->csrf)) {
        answer_error(r, ans, r->form_page.n > 0, 403, "csrf", "That was not taken",
                     "The request did not come from a page of this server, or the page is older than your login. Open "
                     "the page again and repeat it.");
        return;
    }
    if (j->route->page)
        j->route->page(r, ans);
    else
        run_deed(r, j->route, ans);
}

static void run_job(void *arg, unsigned worker, bool is_cancelled)
{
    struct job *j = arg;
    struct httpd_answer ans = {.status = 200};
    if (is_cancelled) {
        answer_error(&j->r, &ans, j->route->page != NULL, 503, "busy", "Too much going on",
                     "More requests are waiting than can be answered soon. Try again in a few seconds.");
        buf_puts(&ans.head, "Retry-After: 2\n");
    } else
        run_route(j, &ans);
    httpd_answer_later(j->later, &ans);
    arena_done(&j->arena);
    buf_done(&j->body);
    free(j);
}

/* ---- a request ---- */

static bool host_is_ours(const struct admin *a, struct span host)
{
    if (a->public_host.n && span_eq_nocase(host, a->public_host))
        return true;
    return a->is_loopback ? request_host_is_loopback(host) : request_host_is_plain(host);
}

/* Browsers say where a form comes from; programs say nothing. */
static bool origin_is_ours(const struct admin *a, const struct httpd_request *req)
{
    struct span site = httpd_header(req, "Sec-Fetch-Site");
    if (site.n)
        return span_is(site, "same-origin") || span_is(site, "none");
    struct span origin = httpd_header(req, "Origin");
    if (origin.n == 0)
        return true;
    struct span host = span_from(origin, span_search(origin, SPAN("://"), false) + 3);
    return host.n && (span_eq_nocase(host, req->host) || (a->public_host.n && span_eq_nocase(host, a->public_host)));
}

static void who_asks(struct admin *a, const struct httpd_request *req, struct who *out)
{
    struct span cookie = httpd_header(req, "Cookie"), auth = httpd_header(req, "Authorization");
    *out = (struct who){.role = ROLE_NONE};
    if (cookie.n <= HEADER_BYTES_MAX && auth.n <= HEADER_BYTES_MAX)
        login_who(a, cookie, auth, out);
}

struct asking {
    const struct admin_route *route;
    struct span path, query, args[2];
    bool is_post, is_api, is_known;
    struct who who;
};

static void look(struct admin *a, const struct httpd_request *req, struct asking *q)
{
    size_t mark = span_find(req->target, '?', 0);
    *q = (struct asking){.path = span_cut(req->target, 0, mark), .query = span_from(req->target, mark + 1)};
    q->is_post = strcmp(req->method, "POST") == 0;
    q->is_api = span_starts(q->path, SPAN("/api/")) || span_is(q->path, "/metrics");
    q->route = find_route(q->path, q->is_post, q->args, &q->is_known);
    who_asks(a, req, &q->who);
}

/* Nobody is known: to the login, and from there back. */
static void answer_stranger(struct ask *r, const struct asking *q, struct httpd_answer *ans)
{
    if (q->is_api || q->is_post) {
        page_error_json(ans, 401, "login",
                        "Nobody is logged in. Send \"Authorization: Bearer TOKEN\" with the token of the file "
                        "coord/admin.token in the data folder, or log in at /login.");
        buf_puts(&ans->head, "WWW-Authenticate: Bearer\n");
        return;
    }
    struct buf to = {0};
    buf_puts(&to, "/login");
    if (!span_is(q->path, "/") && location_is_good(q->path)) {
        buf_puts(&to, "?next=");
        buf_put(&to, q->path);
    }
    redirect(ans, buf_span(&to));
    buf_done(&to);
}

/* True: refused, and the answer says why. Costs nothing; before a body is taken. */
static bool is_refused(struct admin *a, const struct httpd_request *req, const struct asking *q,
                       struct httpd_answer *ans)
{
    struct ask r = {.a = a, .c = a->c, .path = q->path, .who = q->who};
    bool is_page = !q->is_api;
    bool is_get = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;
    if (!host_is_ours(a, req->host)) {
        ans->status = 421;
        page_headers(ans, "text/plain; charset=utf-8", "no-store");
        buf_puts(&ans->body, "This server is known as localhost. If it is meant to be reached by another name, start "
                             "the coordinator with --public-url.\n");
    } else if (req->target.n > TARGET_BYTES_MAX)
        answer_error(&r, ans, is_page, 414, "too_long", "The address is too long", "Shorten it and try again.");
    else if ((!q->route && q->is_known) || !(is_get || q->is_post)) {
        answer_error(&r, ans, is_page, 405, "method", "That cannot be done here",
                     "This address is for another method: docs/formats/admin.md lists them.");
    } else if (!q->route)
        answer_error(&r, ans, is_page, 404, "not_found", "There is no such page",
                     "There is nothing at this address: docs/formats/admin.md lists what there is.");
    else if (q->is_post && !origin_is_ours(a, req))
        answer_error(&r, ans, is_page, 403, "csrf", "That was not taken", "It came from a page of another server.");
    else if (q->route->role > ROLE_NONE && q->who.role == ROLE_NONE)
        answer_stranger(&r, q, ans);
    else if (q->route->role > q->who.role)
        answer_error(&r, ans, is_page, 403, "role", "You may not do this",
                     q->route->role == ROLE_ADMIN ? "Only an admin may do this. Ask one."
                                                  : "Only an operator or an admin may do this. Ask one.");
    else
        return false;
    return true;
}

static const struct asset *find_asset(struct admin *a, const struct httpd_request *req)
{
    struct span path = span_cut(req->target, 0, span_find(req->target, '?', 0));
    if (span_is(path, "/favicon.ico"))
        return asset_by_name(a->assets, "favicon.svg");
    return asset_by_path(a->assets, path);
}

static bool on_admit(void *self, const struct httpd_request *req, struct httpd_admission *adm, struct httpd_answer *ans)
{
    struct admin *a = self;
    struct asking q;
    if (find_asset(a, req) && host_is_ours(a, req->host))
        return true;
    look(a, req, &q);
    if (is_refused(a, req, &q, ans))
        return false;
    adm->body_max = q.route->body_max;
    adm->is_known = q.who.role > ROLE_NONE;
    if (req->declared != HTTPD_LENGTH_UNKNOWN && req->declared > adm->body_max) {
        answer_error(&(struct ask){.a = a, .c = a->c, .who = q.who}, ans, !q.is_api, 413, "too_large",
                     "That is too much", "The request has more bytes than are taken here. Send less.");
        return false;
    }
    return true;
}

static void answer_asset(const struct asset *f, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct span accepted = httpd_header(req, "Accept-Encoding");
    bool is_zipped = span_search(accepted, SPAN("gzip"), true) < accepted.n;
    page_headers(ans, f->type, "public, max-age=31536000, immutable");
    buf_puts(&ans->head, "Vary: Accept-Encoding\n");
    if (is_zipped)
        buf_puts(&ans->head, "Content-Encoding: gzip\n");
    ans->fixed_body = is_zipped ? f->gzip : f->plain;
}

static void put_in_line(struct admin *a, const struct httpd_request *req, const struct asking *q,
                        struct httpd_answer *ans)
{
    struct job *j = mem_alloc(sizeof(*j));
    struct span type = httpd_header(req, "Content-Type"), csrf = httpd_header(req, "X-CSRF-Token");
    arena_init(&j->arena);
    j->route = q->route;
    j->csrf = arena_copy(&j->arena, span_cut(csrf, 0, 64));
    j->r = (struct ask){.a = a,
                        .c = a->c,
                        .arena = &j->arena,
                        .is_post = q->is_post,
                        .path = arena_copy(&j->arena, q->path),
                        .query = arena_copy(&j->arena, q->query),
                        .args = {arena_copy(&j->arena, q->args[0]), arena_copy(&j->arena, q->args[1])},
                        .is_json = span_starts_nocase(type, SPAN("application/json")),
                        .is_octets = span_starts_nocase(type, SPAN("application/octet-stream")) ||
                                     span_starts_nocase(type, SPAN("text/plain")),
                        .peer = req->peer,
                        .is_secure = a->is_https && a->public_host.n && span_eq_nocase(req->host, a->public_host),
                        .who = q->who};
    httpd_take_body(req, &j->body);
    j->r.body = buf_span(&j->body);
    j->later = httpd_defer(req);
    if (!j->later) { /* the server is being stopped */
        page_error_json(ans, 503, "busy", "The coordinator is being stopped.");
        arena_done(&j->arena);
        buf_done(&j->body);
        free(j);
    } else if (workers_add(q->route->line == LINE_PASSWORDS ? a->passwords : a->work, run_job, j) != ST_OK)
        run_job(j, 0, true);
}

static void on_request(void *self, const struct httpd_request *req, struct httpd_answer *ans)
{
    struct admin *a = self;
    const struct asset *asset = find_asset(a, req);
    struct asking q;
    if (asset) {
        answer_asset(asset, req, ans);
        return;
    }
    look(a, req, &q); /* again: a session may have ended while the body came */
    if (!is_refused(a, req, &q, ans))
        put_in_line(a, req, &q, ans);
}

/* ---- life ---- */

static void take_public_url(struct admin *a)
{
    struct span url = a->c->o.public_url;
    size_t slashes = span_search(url, SPAN("://"), false);
    if (slashes < url.n) {
        struct span host = span_from(url, slashes + 3);
        a->public_host = span_cut(host, 0, span_find(host, '/', 0));
        a->is_https = span_starts_nocase(url, SPAN("https://"));
    }
}

static status start_server(struct admin *a, struct buf *why)
{
    struct httpd_opts o = {.addr = a->c->o.admin_addr,
                           .port = a->c->o.admin_port,
                           .threads = 1,
                           .connections_max = CONNECTIONS_MAX,
                           .connections_per_address = a->is_loopback ? 0 : CONNECTIONS_PER_ADDRESS,
                           .idle_timeout_s = IDLE_TIMEOUT_S,
                           .request_head_max = 32768,
                           .admit = on_admit,
                           .fn = on_request,
                           .self = a};
    char text[ADDR_TEXT_MAX];
    if (o.addr.family == 0)
        o.addr = (struct addr){4, {127, 0, 0, 1}};
    status st = httpd_new(&o, &a->httpd);
    if (st != ST_OK)
        buf_printf(why, "cannot listen on %s port %d for the administration: %s", addr_format(&o.addr, text), o.port,
                   st == ST_BUSY ? "another program does" : strerror(errno));
    return st;
}

status admin_new(struct coord *c, struct admin **out, struct buf *why)
{
    struct admin *a = mem_alloc(sizeof(*a));
    a->c = c;
    pthread_mutex_init(&a->lock, NULL);
    a->is_loopback = c->o.admin_addr.family == 0 || addr_classify(&c->o.admin_addr) == ADDR_LOOPBACK;
    a->ring = mem_alloc(FIGURES_SAMPLES * sizeof(*a->ring));
    take_public_url(a);
    struct limiter_opts tries = {.per_s = TRIES_PER_S, .burst = TRIES_BURST, .loopback_factor = 1, .key = c->key};
    a->by_address = limiter_new(&tries);
    a->by_name = limiter_new(&tries);
    status st = assets_new(&a->assets);
    if (st == ST_OK)
        st = workers_new(WORKERS, WAITING_MAX, &a->work);
    if (st == ST_OK)
        st = workers_new(PASSWORD_WORKERS, PASSWORDS_WAITING_MAX, &a->passwords);
    if (st == ST_OK)
        st = start_server(a, why);
    if (st == ST_OK) {
        /* Cookies know no ports: two coordinators on a machine must not take each other's. */
        snprintf(a->cookie_name, sizeof(a->cookie_name), "orb_admin_%d", admin_port(a));
        st = login_open(a, why);
    }
    if (st != ST_OK) {
        admin_free(a);
        return st;
    }
    figures_tick(a, clock_mono());
    *out = a;
    return ST_OK;
}

void admin_free(struct admin *a)
{
    if (!a)
        return;
    if (a->work)
        workers_stop(a->work);
    if (a->passwords)
        workers_stop(a->passwords);
    if (a->httpd)
        httpd_free(a->httpd);
    workers_free(a->work);
    workers_free(a->passwords);
    assets_free(a->assets);
    limiter_free(a->by_address);
    limiter_free(a->by_name);
    free(a->people);
    figures_free(a);
    near_view_forget(a);
    fresh_view_forget(a);
    pthread_mutex_destroy(&a->lock);
    sign_wipe(a, sizeof(*a));
    free(a);
}

int admin_port(const struct admin *a)
{
    return httpd_port(a->httpd);
}

void admin_tick(struct admin *a, mono_ms now)
{
    if (now - a->sampled < FIGURES_STEP_MS)
        return;
    a->sampled = now;
    login_tick(a, now);
    figures_tick(a, now);
}
