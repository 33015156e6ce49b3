/* admin_login.c - people, their passwords, sessions, and the tokens of programs.
 *
 * A session is 128 random bits in a cookie; here is only their SHA-256. A person's role is looked up at each request,
 * so that taking it away works at once. Everything but the people is forgotten when the coordinator ends. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "codec/armor.h"
#include "codec/password.h"
#include "codec/sign.h"
#include "coord/admin_internal.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "store/file.h"

static const char *const role_names[] = {[ROLE_NONE] = "none",
                                         [ROLE_METRICS] = "metrics",
                                         [ROLE_VIEWER] = "viewer",
                                         [ROLE_OPERATOR] = "operator",
                                         [ROLE_ADMIN] = "admin"};

const char *role_name(admin_role r)
{
    return role_names[r];
}

bool role_parse(struct span s, admin_role *out)
{
    for (admin_role r = ROLE_VIEWER; r <= ROLE_ADMIN; r++)
        if (span_is(s, role_names[r])) {
            *out = r;
            return true;
        }
    return false;
}

/* ---- secrets ---- */

static status draw_secret(char text[SECRET_TEXT])
{
    unsigned char bytes[SECRET_BYTES];
    struct buf b = {0};
    status st = entropy_draw(bytes, sizeof(bytes));
    if (st == ST_OK) {
        base64url_put(&b, span_of(bytes, sizeof(bytes)));
        snprintf(text, SECRET_TEXT, "%s", buf_cstr(&b));
        sign_wipe(b.p, b.n);
    }
    sign_wipe(bytes, sizeof(bytes));
    buf_done(&b);
    return st;
}

/* In constant time whatever was sent: digests are compared. */
static bool secret_is(struct span text, const struct digest256 *want)
{
    struct digest256 d = digest_sha256(text);
    return text.n && bytes_equal(d.b, want->b, sizeof(d.b));
}

static void folder_path(struct admin *a, const char *name, struct buf *out)
{
    buf_printf(out, "%s/coord/%s", a->c->data_dir, name);
}

static status write_secret(struct admin *a, const char *name, struct span content, struct buf *why)
{
    struct buf path = {0};
    folder_path(a, name, &path);
    status st = file_replace_secret(buf_cstr(&path), content);
    if (st != ST_OK)
        buf_printf(why, "cannot write %s: %s", buf_cstr(&path), strerror(errno));
    buf_done(&path);
    return st;
}

/* For programs of the person who runs us: new at every start. Written when the port is known. */
static status make_token(struct admin *a, struct buf *why)
{
    char token[SECRET_TEXT], host[ADDR_TEXT_MAX + 2];
    struct buf text = {0};
    struct json j = {.out = &text};
    status st = draw_secret(token);
    if (st != ST_OK) {
        buf_puts(why, "no random bytes");
        return st;
    }
    a->token = digest_sha256(span_str(token));
    struct addr addr = a->c->o.admin_addr;
    static const struct addr any4 = {.family = 4}, any6 = {.family = 6};
    if (addr.family == 0 || addr_eq(&addr, &any4) || addr_eq(&addr, &any6))
        addr = (struct addr){4, {127, 0, 0, 1}};
    addr_format(&addr, host + 1);
    struct buf url = {0};
    buf_printf(&url, addr.family == 6 ? "http://[%s]:%d" : "http://%s:%d", host + 1, admin_port(a));
    json_open(&j, '{');
    put_text(&j, "url", buf_span(&url));
    put_str(&j, "token", token);
    json_close(&j, '}');
    buf_putc(&text, '\n');
    st = write_secret(a, "admin.token", buf_span(&text), why);
    sign_wipe(token, sizeof(token));
    sign_wipe(text.p, text.n);
    buf_done(&text);
    buf_done(&url);
    return st;
}

/* For Prometheus, which reads it from the file: stays the same. */
static status make_metrics_token(struct admin *a, struct buf *why)
{
    char token[SECRET_TEXT];
    struct buf path = {0}, old = {0};
    folder_path(a, "metrics.token", &path);
    status st = file_read(buf_cstr(&path), 256, &old);
    struct span have = span_trim(buf_span(&old));
    if (st == ST_OK && have.n >= SECRET_TEXT - 1) {
        a->metrics_token = digest_sha256(have);
    } else {
        st = draw_secret(token);
        a->metrics_token = digest_sha256(span_str(token));
        if (st == ST_OK)
            st = write_secret(a, "metrics.token", span_str(token), why);
        sign_wipe(token, sizeof(token));
    }
    buf_done(&path);
    buf_done(&old);
    return st;
}

/* ---- people ---- */

enum { P_NAME = 1, P_ROLE, P_HASH, P_ADDED };

static struct person *person_by_name(struct admin *a, struct span name)
{
    for (size_t i = 0; i < a->person_count; i++)
        if (name.n && span_is(name, a->people[i].name))
            return &a->people[i];
    return NULL;
}

static void keep_text(char *to, size_t size, struct span s)
{
    snprintf(to, size, "%.*s", SPAN_ARG(s));
}

static status load_person(void *arg, struct span key, struct span packed)
{
    struct admin *a = arg;
    struct person p = {0};
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    while (fields_next(&f, &tag, &v))
        switch (tag) {
        case P_NAME:
            keep_text(p.name, sizeof(p.name), v);
            break;
        case P_ROLE:
            (void)role_parse(v, &p.role); /* one that we do not know may do nothing */
            break;
        case P_HASH:
            keep_text(p.hash, sizeof(p.hash), v);
            break;
        case P_ADDED:
            p.added = value_i64(v);
            break;
        }
    if (fields_bad(&f) || !p.name[0])
        return ST_CORRUPT;
    a->people = mem_grow(a->people, &a->person_cap, a->person_count + 1, sizeof(*a->people));
    a->people[a->person_count++] = p;
    return ST_OK;
}

/* Takes coord.lock: the fleet store is under it. */
static status save_person(struct admin *a, const struct person *p)
{
    struct buf b = {0};
    field_str(&b, P_NAME, p->name);
    field_str(&b, P_ROLE, role_name(p->role));
    field_str(&b, P_HASH, p->hash);
    field_i64(&b, P_ADDED, p->added);
    pthread_mutex_lock(&a->c->lock);
    status st = fleet_put(a->c->fleet, FLEET_PERSON, span_str(p->name), buf_span(&b));
    pthread_mutex_unlock(&a->c->lock);
    buf_done(&b);
    return st;
}

bool admin_has_people(struct admin *a)
{
    pthread_mutex_lock(&a->lock);
    bool has = a->person_count > 0;
    pthread_mutex_unlock(&a->lock);
    return has;
}

/* Lock held. */
static size_t admins(const struct admin *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->person_count; i++)
        n += a->people[i].role == ROLE_ADMIN;
    return n;
}

/* ---- sessions ---- */

/* Lock held. NULL: none, or it is over. */
static struct session *session_find(struct admin *a, const struct digest256 *key)
{
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (a->sessions[i].used && bytes_equal(a->sessions[i].key.b, key->b, sizeof(key->b)))
            return &a->sessions[i];
    return NULL;
}

static void session_end(struct session *s)
{
    sign_wipe(s, sizeof(*s));
}

/* Lock held. All of a person's. */
static void sessions_end_of(struct admin *a, struct span name)
{
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (a->sessions[i].used && span_is(name, a->sessions[i].name))
            session_end(&a->sessions[i]);
}

/* The longest unused gives way when there are too many. */
static status session_begin(struct admin *a, const char *name, char cookie[SECRET_TEXT])
{
    struct session s = {.used = clock_mono()};
    status st = draw_secret(cookie);
    if (st == ST_OK)
        st = draw_secret(s.csrf);
    if (st != ST_OK)
        return st;
    s.key = digest_sha256(span_str(cookie));
    snprintf(s.name, sizeof(s.name), "%s", name);
    pthread_mutex_lock(&a->lock);
    struct session *to = &a->sessions[0];
    for (size_t i = 0; i < SESSIONS_MAX && to->used; i++)
        if (a->sessions[i].used < to->used)
            to = &a->sessions[i];
    *to = s;
    pthread_mutex_unlock(&a->lock);
    return ST_OK;
}

void login_tick(struct admin *a, mono_ms now)
{
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < SESSIONS_MAX; i++)
        if (a->sessions[i].used && now - a->sessions[i].used > SESSION_MS)
            session_end(&a->sessions[i]);
    if (a->setup_key[0] && now > a->setup_until)
        sign_wipe(a->setup_key, sizeof(a->setup_key));
    pthread_mutex_unlock(&a->lock);
}

void session_flash_put(struct admin *a, const struct who *w, struct span text)
{
    pthread_mutex_lock(&a->lock);
    struct session *s = w->csrf[0] ? session_find(a, &w->session) : NULL;
    if (s)
        keep_text(s->flash, sizeof(s->flash), text);
    pthread_mutex_unlock(&a->lock);
}

void session_flash_take(struct admin *a, const struct who *w, struct buf *out)
{
    pthread_mutex_lock(&a->lock);
    struct session *s = w->csrf[0] ? session_find(a, &w->session) : NULL;
    if (s) {
        buf_puts(out, s->flash);
        s->flash[0] = '\0';
    }
    pthread_mutex_unlock(&a->lock);
}

void session_line_put(struct admin *a, const struct who *w, uint64_t agent, struct span line)
{
    pthread_mutex_lock(&a->lock);
    struct session *s = w->csrf[0] ? session_find(a, &w->session) : NULL;
    if (s) {
        s->line_of = agent;
        keep_text(s->line, sizeof(s->line), line);
    }
    pthread_mutex_unlock(&a->lock);
}

void session_line_get(struct admin *a, const struct who *w, uint64_t agent, struct buf *out)
{
    pthread_mutex_lock(&a->lock);
    const struct session *s = w->csrf[0] ? session_find(a, &w->session) : NULL;
    if (s && s->line_of == agent)
        buf_puts(out, s->line);
    pthread_mutex_unlock(&a->lock);
}

/* ---- who asks ---- */

static struct span cookie_value(struct span header, const char *name)
{
    struct span part, want = span_str(name);
    while (span_split(&header, ';', &part)) {
        part = span_trim(part);
        if (part.n > want.n && span_starts(part, want) && part.p[want.n] == '=')
            return span_from(part, want.n + 1);
    }
    return SPAN("");
}

static void who_by_cookie(struct admin *a, struct span cookie, struct who *out)
{
    struct digest256 key = digest_sha256(cookie);
    pthread_mutex_lock(&a->lock);
    mono_ms now = clock_mono();
    struct session *s = session_find(a, &key);
    struct person *p = s && now - s->used <= SESSION_MS ? person_by_name(a, span_str(s->name)) : NULL;
    if (p) {
        s->used = now;
        out->role = p->role;
        out->session = key;
        snprintf(out->name, sizeof(out->name), "%s", p->name);
        snprintf(out->csrf, sizeof(out->csrf), "%s", s->csrf);
    }
    pthread_mutex_unlock(&a->lock);
}

void login_who(struct admin *a, struct span cookie, struct span authorization, struct who *out)
{
    struct span bearer = SPAN("Bearer ");
    *out = (struct who){.role = ROLE_NONE};
    if (span_starts_nocase(authorization, bearer)) {
        struct span token = span_trim(span_from(authorization, bearer.n));
        bool is_admin = secret_is(token, &a->token), is_metrics = secret_is(token, &a->metrics_token);
        out->role = is_admin ? ROLE_ADMIN : is_metrics ? ROLE_METRICS : ROLE_NONE;
        snprintf(out->name, sizeof(out->name), "%s", is_admin ? "token" : is_metrics ? "metrics" : "");
        return;
    }
    struct span value = cookie_value(cookie, a->cookie_name);
    if (value.n == SECRET_TEXT - 1)
        who_by_cookie(a, value, out);
}

/* ---- the first one ---- */

static status new_setup_key(struct admin *a)
{
    status st = draw_secret(a->setup_key);
    a->setup_until = clock_mono() + SETUP_MS;
    return st;
}

bool admin_link(struct admin *a, struct buf *out)
{
    struct addr addr = a->c->o.admin_addr;
    static const struct addr any4 = {.family = 4}, any6 = {.family = 6};
    char text[ADDR_TEXT_MAX];
    pthread_mutex_lock(&a->lock);
    bool is_open = a->person_count == 0;
    if (is_open && (!a->setup_key[0] || clock_mono() > a->setup_until))
        is_open = new_setup_key(a) == ST_OK;
    if (is_open) {
        if (addr.family == 0 || addr_eq(&addr, &any4) || addr_eq(&addr, &any6))
            addr = (struct addr){4, {127, 0, 0, 1}};
        addr_format(&addr, text);
        buf_printf(out, addr.family == 6 ? "http://[%s]:%d/setup?key=%s" : "http://%s:%d/setup?key=%s", text,
                   admin_port(a), a->setup_key);
    }
    pthread_mutex_unlock(&a->lock);
    return is_open;
}

bool setup_key_is_right(struct admin *a, struct span key)
{
    pthread_mutex_lock(&a->lock);
    bool is_right = a->person_count == 0 && a->setup_key[0] && clock_mono() <= a->setup_until &&
                    key.n == SECRET_TEXT - 1 && bytes_equal(key.p, a->setup_key, SECRET_TEXT - 1);
    pthread_mutex_unlock(&a->lock);
    return is_right;
}

status login_open(struct admin *a, struct buf *why)
{
    struct buf dir = {0};
    folder_path(a, "", &dir);
    status st = file_mkdir(buf_cstr(&dir));
    buf_done(&dir);
    if (st == ST_OK) {
        pthread_mutex_lock(&a->c->lock);
        st = fleet_each(a->c->fleet, FLEET_PERSON, load_person, a);
        pthread_mutex_unlock(&a->c->lock);
        if (st != ST_OK)
            buf_puts(why, "the people in fleet.db cannot be read");
    }
    if (st == ST_OK)
        st = make_token(a, why);
    if (st == ST_OK)
        st = make_metrics_token(a, why);
    if (st == ST_OK && a->person_count == 0)
        st = new_setup_key(a);
    return st;
}

/* ---- tries are counted ---- */

/* A name's bucket is kept in a limiter of addresses, under an address made of its hash: a /64 has one. */
static bool may_try(struct ask *r, struct span name, struct deed *d)
{
    int retry_s = 1;
    mono_ms now = clock_mono();
    bool is_ok = limiter_take(r->a->by_address, &r->peer, now, &retry_s);
    if (is_ok && name.n) {
        uint64_t h = siphash(&r->c->key, name);
        struct addr of_name = {.family = 6};
        of_name.b[0] = 0x20; /* never a v4-mapped one */
        memcpy(of_name.b + 1, &h, 7);
        is_ok = limiter_take(r->a->by_name, &of_name, now, &retry_s);
    }
    if (!is_ok) {
        deed_fail(d, 429, "too_many", "Too many tries. Wait %d seconds and try again.", retry_s);
        buf_printf(&d->head, "Retry-After: %d\n", retry_s);
        log_write(r->c->o.log, LOG_WARN, "admin", "too many tries to log in");
    }
    return is_ok;
}

/* It ends with the browser; the twelve hours are counted here, from the last request. */
static void put_cookie(struct ask *r, struct deed *d, const char *value)
{
    buf_printf(&d->head, "Set-Cookie: %s=%s; Path=/; HttpOnly; SameSite=Strict%s%s\n", r->a->cookie_name, value,
               value[0] ? "" : "; Max-Age=0", r->is_secure ? "; Secure" : "");
}

static void enter(struct ask *r, struct deed *d, const char *name)
{
    char cookie[SECRET_TEXT];
    if (session_begin(r->a, name, cookie) != ST_OK) {
        deed_fail(d, 500, "internal", "The machine has no random bytes. Try again.");
        return;
    }
    put_cookie(r, d, cookie);
    sign_wipe(cookie, sizeof(cookie));
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    put_str(&j, "name", name);
    json_close(&j, '}');
}

/* Only a path of ours: "//elsewhere" is another machine. */
static bool next_is_good(struct span s)
{
    if (s.n == 0 || s.p[0] != '/' || (s.n > 1 && (s.p[1] == '/' || s.p[1] == '\\')))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f || s.p[i] == '\\')
            return false;
    return true;
}

void deed_login(struct ask *r, struct deed *d)
{
    struct span name = pairs_get(&r->in, "name"), password = SPAN("");
    struct person p = {0};
    for (size_t i = 0; i < r->in.n; i++)
        if (span_is(r->in.list[i].name, "password"))
            password = r->in.list[i].value; /* blanks at its ends belong to it */
    if (!may_try(r, name, d))
        return;
    pthread_mutex_lock(&r->a->lock);
    const struct person *found = person_by_name(r->a, name);
    if (found)
        p = *found;
    pthread_mutex_unlock(&r->a->lock);
    bool is_right = false;
    if (p.name[0] && password.n <= PASSWORD_MAX) {
        is_right = password_check(span_str(p.hash), password);
    } else { /* takes as long as for somebody who is known */
        static const unsigned char salt[PASSWORD_SALT_BYTES];
        struct buf b = {0};
        (void)!password_hash(SPAN("nobody is called so"), salt, &b);
        buf_done(&b);
    }
    if (!is_right) {
        char peer[ADDR_TEXT_MAX];
        log_write(r->c->o.log, LOG_WARN, "admin", "a try to log in failed from=%s", addr_format(&r->peer, peer));
        deed_fail(d, 403, "wrong", "Name or password is wrong.");
        return;
    }
    log_write(r->c->o.log, LOG_INFO, "admin", "logged in name=%s", p.name);
    enter(r, d, p.name);
    struct span next = pairs_get(&r->in, "next");
    if (next_is_good(next))
        buf_put(&d->next, next);
    else
        buf_puts(&d->next, "/");
}

void deed_logout(struct ask *r, struct deed *d)
{
    pthread_mutex_lock(&r->a->lock);
    struct session *s = r->who.csrf[0] ? session_find(r->a, &r->who.session) : NULL;
    if (s)
        session_end(s);
    pthread_mutex_unlock(&r->a->lock);
    put_cookie(r, d, "");
    buf_puts(&d->next, "/login");
    buf_puts(&d->out, "{}");
}

/* ---- people come and go ---- */

static bool person_name_is_good(struct span name)
{
    bool ok = name.n >= 1 && name.n <= PERSON_NAME_MAX;
    for (size_t i = 0; ok && i < name.n; i++)
        ok = ascii_is_alpha(name.p[i]) || ascii_is_digit(name.p[i]) || name.p[i] == '-' || name.p[i] == '_' ||
             name.p[i] == '.' || name.p[i] == '@';
    return ok;
}

static bool take_password(struct ask *r, struct deed *d, struct person *p)
{
    struct span password = SPAN(""), again = SPAN("");
    bool has_again = false;
    for (size_t i = 0; i < r->in.n; i++) {
        if (span_is(r->in.list[i].name, "password"))
            password = r->in.list[i].value;
        if (span_is(r->in.list[i].name, "again")) {
            again = r->in.list[i].value;
            has_again = true;
        }
    }
    unsigned char salt[PASSWORD_SALT_BYTES];
    struct buf hash = {0};
    if (has_again && !span_eq(password, again)) {
        deed_fail(d, 400, "invalid", "The two passwords differ. Type the same one twice.");
        d->field = "again";
        return false;
    }
    status st = entropy_draw(salt, sizeof(salt));
    if (st == ST_OK)
        st = password_hash(password, salt, &hash);
    if (st == ST_INVALID)
        deed_fail(d, 400, "invalid", "The password is too short: it needs %d characters or more.", PASSWORD_MIN);
    else if (st == ST_LIMIT)
        deed_fail(d, 400, "invalid", "The password is too long.");
    else if (st != ST_OK || hash.n >= sizeof(p->hash))
        deed_fail(d, 500, "internal", "The password could not be kept. Try again.");
    else
        keep_text(p->hash, sizeof(p->hash), buf_span(&hash));
    if (st == ST_INVALID || st == ST_LIMIT)
        d->field = "password";
    buf_done(&hash);
    return d->code < 400;
}

/* Puts a person in the list and on the disk. `is_first`: only while there is nobody. */
static bool keep_person(struct ask *r, struct deed *d, const struct person *p, bool is_first)
{
    struct admin *a = r->a;
    pthread_mutex_lock(&a->lock);
    bool is_taken = person_by_name(a, span_str(p->name)) != NULL, is_full = a->person_count >= PEOPLE_MAX;
    bool is_late = is_first && a->person_count > 0;
    if (!is_taken && !is_full && !is_late) {
        a->people = mem_grow(a->people, &a->person_cap, a->person_count + 1, sizeof(*a->people));
        a->people[a->person_count++] = *p;
        sign_wipe(a->setup_key, sizeof(a->setup_key));
    }
    pthread_mutex_unlock(&a->lock);
    if (is_late)
        deed_fail(d, 403, "over", "Somebody has set a password already. Log in instead.");
    else if (is_taken) {
        deed_fail(d, 409, "exists", "Somebody is called so. Choose another name.");
        d->field = "name";
    } else if (is_full)
        deed_fail(d, 409, "limit", "There are %d people. Remove one first.", PEOPLE_MAX);
    if (d->code >= 400)
        return false;
    status st = save_person(a, p);
    if (st != ST_OK) {
        pthread_mutex_lock(&a->lock);
        struct person *mine = person_by_name(a, span_str(p->name));
        if (mine)
            *mine = a->people[--a->person_count];
        pthread_mutex_unlock(&a->lock);
        deed_fail_status(d, st, &(struct buf){0});
        return false;
    }
    return true;
}

static bool take_name(struct ask *r, struct deed *d, struct person *p)
{
    struct span name = pairs_get(&r->in, "name");
    if (!person_name_is_good(name)) {
        deed_fail(d, 400, "invalid", "A name is 1 to %d letters, digits and . _ - @. Choose such a one.",
                  PERSON_NAME_MAX);
        d->field = "name";
        return false;
    }
    keep_text(p->name, sizeof(p->name), name);
    return true;
}

void deed_setup(struct ask *r, struct deed *d)
{
    struct person p = {.role = ROLE_ADMIN, .added = clock_wall()};
    if (!may_try(r, SPAN(""), d))
        return;
    if (!setup_key_is_right(r->a, pairs_get(&r->in, "key"))) {
        deed_fail(d, 403, "over",
                  "This link is not, or no longer, good: it works once and for 15 minutes. A new start of the "
                  "coordinator shows a new one while nobody has set a password.");
        return;
    }
    if (!take_name(r, d, &p) || !take_password(r, d, &p) || !keep_person(r, d, &p, true))
        return;
    log_write(r->c->o.log, LOG_INFO, "admin", "the first admin has set a password name=%s", p.name);
    enter(r, d, p.name);
    buf_puts(&d->next, "/");
}

void deed_people(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    json_key(&j, "people");
    json_open(&j, '[');
    pthread_mutex_lock(&r->a->lock);
    for (size_t i = 0; i < r->a->person_count; i++) {
        json_open(&j, '{');
        put_str(&j, "name", r->a->people[i].name);
        put_str(&j, "role", role_name(r->a->people[i].role));
        put_time(&j, "added", r->a->people[i].added);
        json_close(&j, '}');
    }
    pthread_mutex_unlock(&r->a->lock);
    json_close(&j, ']');
    json_close(&j, '}');
}

void deed_person_add(struct ask *r, struct deed *d)
{
    struct person p = {.added = clock_wall()};
    if (!take_name(r, d, &p))
        return;
    if (!role_parse(pairs_get(&r->in, "role"), &p.role)) {
        deed_fail(d, 400, "invalid", "The role is viewer, operator or admin. Name one of them.");
        d->field = "role";
        return;
    }
    if (!take_password(r, d, &p) || !keep_person(r, d, &p, false))
        return;
    log_write(r->c->o.log, LOG_INFO, "admin", "a person was added name=%s role=%s by=%s", p.name, role_name(p.role),
              r->who.name);
    struct json j = {.out = &d->out};
    json_open(&j, '{');
    put_str(&j, "name", p.name);
    put_str(&j, "role", role_name(p.role));
    json_close(&j, '}');
    buf_printf(&d->message, "%s may log in now.", p.name);
}

static void remove_person(struct ask *r, struct deed *d, const struct person *p)
{
    pthread_mutex_lock(&r->c->lock);
    status st = fleet_remove(r->c->fleet, FLEET_PERSON, span_str(p->name));
    pthread_mutex_unlock(&r->c->lock);
    if (st != ST_OK) {
        deed_fail_status(d, st, &(struct buf){0});
        return;
    }
    pthread_mutex_lock(&r->a->lock);
    struct person *mine = person_by_name(r->a, span_str(p->name));
    if (mine)
        *mine = r->a->people[--r->a->person_count];
    sessions_end_of(r->a, span_str(p->name));
    pthread_mutex_unlock(&r->a->lock);
    buf_printf(&d->message, "%s was removed.", p->name);
}

/* A new role or a new password. */
static void change_person(struct ask *r, struct deed *d, struct person p)
{
    status st = save_person(r->a, &p);
    if (st != ST_OK) {
        deed_fail_status(d, st, &(struct buf){0});
        return;
    }
    pthread_mutex_lock(&r->a->lock);
    struct person *mine = person_by_name(r->a, span_str(p.name));
    if (mine)
        *mine = p;
    pthread_mutex_unlock(&r->a->lock);
    buf_printf(&d->message, "%s was changed.", p.name);
}

/* POST .../people/NAME/{remove,role,password}. Everybody may change their own password. */
void deed_person_do(struct ask *r, struct deed *d)
{
    struct span verb = r->args[1];
    struct person p = {0};
    pthread_mutex_lock(&r->a->lock);
    const struct person *found = person_by_name(r->a, r->args[0]);
    bool is_last = found && found->role == ROLE_ADMIN && admins(r->a) == 1;
    if (found)
        p = *found;
    pthread_mutex_unlock(&r->a->lock);
    bool is_self = p.name[0] && strcmp(p.name, r->who.name) == 0 && r->who.csrf[0];
    if (r->who.role < ROLE_ADMIN && !(is_self && span_is(verb, "password"))) {
        deed_fail(d, 403, "role", "Only an admin may do this. Ask one.");
        return;
    }
    if (!p.name[0]) {
        deed_fail(d, 404, "not_found", "Nobody is called so. GET /api/v1/people lists everybody.");
        return;
    }
    if (span_is(verb, "remove")) {
        if (is_last)
            deed_fail(d, 409, "last", "This is the last admin. Make somebody else an admin first.");
        else
            remove_person(r, d, &p);
    } else if (span_is(verb, "role")) {
        admin_role role;
        if (!role_parse(pairs_get(&r->in, "role"), &role))
            deed_fail(d, 400, "invalid", "The role is viewer, operator or admin. Name one of them.");
        else if (is_last && role != ROLE_ADMIN)
            deed_fail(d, 409, "last", "This is the last admin. Make somebody else an admin first.");
        else {
            p.role = role;
            change_person(r, d, p);
        }
    } else if (span_is(verb, "password")) {
        if (take_password(r, d, &p)) {
            pthread_mutex_lock(&r->a->lock);
            for (size_t i = 0; i < SESSIONS_MAX; i++) /* whoever else has the old one is out */
                if (strcmp(r->a->sessions[i].name, p.name) == 0 &&
                    !(is_self && bytes_equal(r->a->sessions[i].key.b, r->who.session.b, 32)))
                    session_end(&r->a->sessions[i]);
            pthread_mutex_unlock(&r->a->lock);
            change_person(r, d, p);
        }
    } else
        deed_fail(d, 404, "not_found", "That cannot be done with people: remove, role and password can.");
    if (d->code < 400) {
        log_write(r->c->o.log, LOG_INFO, "admin", "a person was changed name=%s what=%.*s by=%s", p.name,
                  SPAN_ARG(verb), r->who.name);
        buf_puts(&d->out, "{}");
    }
}
