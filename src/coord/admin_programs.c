/* admin_programs.c - what travels to agents besides tasks: programs, the coordinator's new key, newer agents.
 *
 * A program is kept as it was signed, by name and serial; the coordinator has no key to sign one. Rolling back is an
 * order to drop the newest serial: agents then run the last good one that they have. */
#include <stdio.h>
#include <string.h>

#include "codec/armor.h"
#include "coord/admin_internal.h"
#include "coord/agents.h"
#include "io/clock.h"
#include "mobile/program.h"

enum { G_FILE = 1, G_PUSHED, G_BY, G_ALL, G_REMOVED };

struct kept {
    struct program_row row;
    struct span file; /* borrowed */
};

/* name, NUL, serial: serials sort as numbers. */
static void key_of(struct span name, uint64_t serial, struct buf *out)
{
    struct fleet_number n = fleet_number(serial);
    buf_put(out, name);
    buf_putc(out, '\0');
    buf_put(out, fleet_number_span(&n));
}

static bool kept_read(struct span key, struct span packed, struct kept *out)
{
    size_t nul = span_find(key, '\0', 0);
    struct fields f = fields_of(packed);
    unsigned tag;
    struct span v;
    *out = (struct kept){0};
    if (nul == key.n || nul >= sizeof(out->row.name))
        return false;
    memcpy(out->row.name, key.p, nul);
    out->row.serial = fleet_number_of(span_from(key, nul + 1));
    while (fields_next(&f, &tag, &v))
        switch (tag) {
        case G_FILE:
            out->file = v;
            out->row.bytes = v.n;
            break;
        case G_PUSHED:
            out->row.pushed = value_i64(v);
            break;
        case G_BY:
            snprintf(out->row.by, sizeof(out->row.by), "%.*s", SPAN_ARG(v));
            break;
        case G_ALL:
            out->row.is_for_all = value_u64(v);
            break;
        case G_REMOVED:
            out->row.is_removed = value_u64(v);
            break;
        }
    return !fields_bad(&f);
}

static status kept_write(struct coord *c, const struct kept *k)
{
    struct buf key = {0}, b = {0};
    key_of(span_str(k->row.name), k->row.serial, &key);
    field_text(&b, G_FILE, k->file);
    field_i64(&b, G_PUSHED, k->row.pushed);
    field_str(&b, G_BY, k->row.by);
    field_u64(&b, G_ALL, k->row.is_for_all);
    field_u64(&b, G_REMOVED, k->row.is_removed);
    status st = fleet_put(c->fleet, FLEET_PROGRAM, buf_span(&key), buf_span(&b));
    buf_done(&key);
    buf_done(&b);
    return st;
}

/* ---- listing ---- */

struct listing {
    struct program_row *out;
    size_t n, max;
};

static status list_one(void *arg, struct span key, struct span packed)
{
    struct listing *l = arg;
    struct kept k;
    if (!kept_read(key, packed, &k))
        return ST_OK; /* one that we cannot read is not shown */
    /* Keys come with serials rising: before the others of its name. */
    size_t at = l->n;
    while (at > 0 && strcmp(l->out[at - 1].name, k.row.name) == 0)
        at--;
    if (l->n >= l->max)
        return ST_END;
    memmove(l->out + at + 1, l->out + at, (l->n - at) * sizeof(*l->out));
    l->out[at] = k.row;
    l->n++;
    return ST_OK;
}

size_t programs_list(struct coord *c, struct program_row *out, size_t max)
{
    struct listing l = {out, 0, max};
    (void)!fleet_each(c->fleet, FLEET_PROGRAM, list_one, &l); /* what could be read is shown */
    return l.n;
}

/* Who runs what, from the newest reports. coord.lock held. */
static void put_runners(struct ask *r, struct json *j)
{
    struct c_agent **list;
    size_t n = agents_sorted(r->c, r->arena, &list);
    json_key(j, "runners");
    json_open(j, '[');
    for (size_t i = 0; i < n; i++) {
        struct report rep;
        if (!list[i]->report.n || report_unpack(r->arena, buf_span(&list[i]->report), &rep) != ST_OK)
            continue;
        for (size_t k = 0; k < rep.program_count; k++) {
            json_open(j, '{');
            put_str(j, "agent", list[i]->name);
            put_program_report(j, &rep.programs[k]);
            json_close(j, '}');
        }
    }
    json_close(j, ']');
}

void deed_programs(struct ask *r, struct deed *d)
{
    struct program_row *rows = arena_alloc(r->arena, PROGRAMS_MAX * sizeof(*rows));
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    size_t n = programs_list(r->c, rows, PROGRAMS_MAX);
    json_open(&j, '{');
    put_runners(r, &j);
    pthread_mutex_unlock(&r->c->lock);
    json_key(&j, "programs");
    json_open(&j, '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&j, '{');
        put_str(&j, "name", rows[i].name);
        put_u64(&j, "serial", rows[i].serial);
        put_u64(&j, "bytes", rows[i].bytes);
        put_time(&j, "pushed", rows[i].pushed);
        put_str(&j, "by", rows[i].by);
        put_bool(&j, "all", rows[i].is_for_all);
        put_bool(&j, "removed", rows[i].is_removed);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

/* ---- sending ---- */

static void order_program(struct coord *c, struct c_agent *a, const struct kept *k)
{
    struct buf b = {0};
    struct program_order o = {.name = span_str(k->row.name),
                              .serial = k->row.serial,
                              .is_removed = k->row.is_removed,
                              .bytes = k->row.is_removed ? SPAN("") : k->file};
    program_order_pack(&o, &b);
    agent_order(c, a, ORDER_PROGRAM, buf_span(&b));
    buf_done(&b);
}

struct greeting {
    struct coord *c;
    struct c_agent *a;
};

static status greet_one(void *arg, struct span key, struct span packed)
{
    struct greeting *g = arg;
    struct kept k;
    if (kept_read(key, packed, &k) && k.row.is_for_all && !k.row.is_removed)
        order_program(g->c, g->a, &k);
    return ST_OK;
}

void programs_greet(struct coord *c, struct c_agent *a)
{
    struct greeting g = {c, a};
    note_trouble(c, fleet_each(c->fleet, FLEET_PROGRAM, greet_one, &g), "read the programs");
}

/* Agents named in the field "agents", one a line; or all. False: one of them is not there. */
static bool send_to(struct ask *r, struct deed *d, const struct kept *k, size_t *sent)
{
    struct span *names;
    size_t n = k->row.is_for_all ? 0 : pairs_lines(r->arena, &r->in, "agents", COORD_AGENTS_MAX, &names);
    for (size_t i = 0; i < n; i++)
        if (!agent_by_name(r->c, names[i])) {
            deed_fail(d, 404, "not_found", "There is no agent called %.*s. Nothing was sent.",
                      SPAN_ARG(span_cut(names[i], 0, JOIN_NAME_MAX)));
            d->field = "agents";
            return false;
        }
    status st = kept_write(r->c, k);
    if (st != ST_OK) {
        deed_fail_status(d, st, &(struct buf){0});
        return false;
    }
    for (size_t i = 0; i < n; i++, (*sent)++)
        order_program(r->c, agent_by_name(r->c, names[i]), k);
    for (size_t i = 0; k->row.is_for_all && i < r->c->agent_count; i++)
        if (r->c->agents[i] && r->c->agents[i]->name[0]) {
            order_program(r->c, r->c->agents[i], k);
            (*sent)++;
        }
    return true;
}

static uint64_t newest_serial(struct coord *c, struct arena *a, struct span name, bool is_removed_too)
{
    struct program_row *rows = arena_alloc(a, PROGRAMS_MAX * sizeof(*rows));
    size_t n = programs_list(c, rows, PROGRAMS_MAX);
    for (size_t i = 0; i < n; i++)
        if (span_is(name, rows[i].name) && (is_removed_too || !rows[i].is_removed))
            return rows[i].serial;
    return 0;
}

void deed_program_push(struct ask *r, struct deed *d)
{
    struct span file = r->is_octets ? r->body : SPAN("");
    struct program p;
    struct buf why = {0};
    size_t sent = 0;
    for (size_t i = 0; !r->is_octets && i < r->in.n; i++)
        if (span_is(r->in.list[i].name, "file"))
            file = r->in.list[i].value;
    /* A text field of a form has CR LF for each line's end; a signature covers what the file had. */
    struct buf unix_text = {0};
    for (size_t i = 0; r->form_page.n && i < file.n; i++)
        if (file.p[i] != '\r')
            buf_putc(&unix_text, file.p[i]);
    if (r->form_page.n)
        file = arena_copy(r->arena, buf_span(&unix_text));
    buf_done(&unix_text);
    status st = program_read(file, &p, &why);
    d->field = "file"; /* if anything */
    if (st != ST_OK) {
        deed_fail(d, 400, "invalid", "This is no program file (%.*s). orb program sign makes one.",
                  SPAN_ARG(buf_span(&why)));
    } else if (!p.is_signed || !program_is_signed_by(&p, &p.key)) {
        deed_fail(d, 400, "unsigned",
                  "The program is not signed, or was changed since. orb program sign signs it; agents take no other.");
    } else {
        struct kept k = {
            .row = {.serial = p.serial,
                    .bytes = file.n,
                    .pushed = clock_wall(),
                    .is_for_all = pairs_get(&r->in, "agents").n == 0 || span_is(pairs_get(&r->in, "agents"), "all")},
            .file = file};
        snprintf(k.row.name, sizeof(k.row.name), "%.*s", SPAN_ARG(p.name));
        snprintf(k.row.by, sizeof(k.row.by), "%s", r->who.name);
        pthread_mutex_lock(&r->c->lock);
        uint64_t newest = newest_serial(r->c, r->arena, p.name, true);
        bool is_dropped = newest != newest_serial(r->c, r->arena, p.name, false);
        if (p.serial < newest || (p.serial == newest && is_dropped))
            deed_fail(d, 409, "old",
                      "There is serial %llu already, and agents take no lower one. Sign it with a higher serial.",
                      (unsigned long long)newest);
        else if (send_to(r, d, &k, &sent)) {
            struct json j = {.out = &d->out};
            json_open(&j, '{');
            put_str(&j, "name", k.row.name);
            put_u64(&j, "serial", k.row.serial);
            put_u64(&j, "agents", sent);
            json_close(&j, '}');
            buf_printf(&d->message, "%s %llu goes to %zu agents.", k.row.name, (unsigned long long)k.row.serial, sent);
            log_write(r->c->o.log, LOG_INFO, "admin", "a program was pushed name=%s serial=%llu agents=%zu by=%s",
                      k.row.name, (unsigned long long)k.row.serial, sent, r->who.name);
        }
        pthread_mutex_unlock(&r->c->lock);
    }
    buf_done(&why);
}

/* POST .../programs/NAME/rollback: the newest serial is dropped everywhere. */
void deed_program_do(struct ask *r, struct deed *d)
{
    struct buf key = {0}, packed = {0};
    struct kept k;
    size_t sent = 0;
    if (!span_is(r->args[1], "rollback")) {
        deed_fail(d, 404, "not_found", "That cannot be done with programs: rollback can.");
        return;
    }
    pthread_mutex_lock(&r->c->lock);
    uint64_t serial = newest_serial(r->c, r->arena, r->args[0], false);
    key_of(r->args[0], serial, &key);
    status st = serial ? fleet_get(r->c->fleet, FLEET_PROGRAM, buf_span(&key), &packed) : ST_NOT_FOUND;
    if (st != ST_OK || !kept_read(buf_span(&key), buf_span(&packed), &k))
        deed_fail(d, 404, "not_found",
                  "There is no such program, or it was rolled back. GET /api/v1/programs lists them.");
    else {
        k.row.is_removed = true;
        k.row.is_for_all = true; /* whoever does not have it has nothing to drop */
        if (send_to(r, d, &k, &sent)) {
            struct json j = {.out = &d->out};
            json_open(&j, '{');
            put_str(&j, "name", k.row.name);
            put_u64(&j, "dropped", serial);
            put_u64(&j, "serial", newest_serial(r->c, r->arena, r->args[0], false));
            json_close(&j, '}');
            buf_printf(&d->message, "Serial %llu is dropped; agents run the last good one that they have.",
                       (unsigned long long)serial);
            log_write(r->c->o.log, LOG_INFO, "admin", "a program was rolled back name=%s serial=%llu by=%s", k.row.name,
                      (unsigned long long)serial, r->who.name);
        }
    }
    pthread_mutex_unlock(&r->c->lock);
    buf_done(&key);
    buf_done(&packed);
}

/* ---- the coordinator's key ---- */

/* An agent that has not heard of the newest key yet, or has not said so; NULL: all have. coord.lock held. */
static const struct c_agent *find_unaware(struct coord *c)
{
    for (size_t i = 0; i < c->agent_count; i++) {
        const struct c_agent *a = c->agents[i];
        if (a && a->is_joined && agent_has_identity_order(c, a))
            return a;
    }
    return NULL;
}

/* Calls are taken that were made for the key before this one, and no older: whoever slept through two rotations would
 * be locked out. */
void deed_rotate(struct ask *r, struct deed *d)
{
    struct signature sig;
    struct buf why = {0};
    pthread_mutex_lock(&r->c->lock);
    const struct c_agent *unaware = find_unaware(r->c);
    if (unaware) {
        deed_fail(d, 409, "refused",
                  "Agent %s has not heard of the newest key yet and would not be known any more. Wait until it was "
                  "here, or remove it.",
                  unaware->name);
        pthread_mutex_unlock(&r->c->lock);
        return;
    }
    pthread_rwlock_wrlock(&r->c->id_lock);
    status st = identity_rotate(r->c->data_dir, &r->c->id, &sig, &why);
    pthread_rwlock_unlock(&r->c->id_lock);
    if (st != ST_OK) {
        deed_fail_status(d, st, &why);
    } else {
        for (size_t i = 0; i < r->c->agent_count; i++)
            if (r->c->agents[i] && r->c->agents[i]->is_joined)
                agent_tell_identity(r->c, r->c->agents[i]);
        struct json j = {.out = &d->out};
        json_open(&j, '{');
        put_str(&j, "fingerprint", r->c->id.fingerprint_hex);
        json_close(&j, '}');
        buf_puts(&d->message, "The coordinator has a new key. Lines to join with that were not used are void.");
        log_write(r->c->o.log, LOG_WARN, "admin", "the coordinator has a new key by=%s", r->who.name);
    }
    pthread_mutex_unlock(&r->c->lock);
    buf_done(&why);
}

/* ---- newer agents ---- */

/* Its machine, as it said when it set itself up; unknown: it finds out itself whether the file is for it. */
static bool machine_fits(struct ask *r, const struct c_agent *a, struct span machine)
{
    struct report rep;
    if (!a->setup.n || report_unpack(r->arena, buf_span(&a->setup), &rep) != ST_OK || !rep.has_setup)
        return true;
    return rep.setup.machine.n == 0 || span_eq(rep.setup.machine, machine);
}

/* The body is the program file; version, machine and sig (hex) are in the query. Whether the signature is one of the
 * release key is for the agents to find: the coordinator cannot vouch for it. */
void deed_update(struct ask *r, struct deed *d)
{
    struct span version = pairs_get(&r->in, "version"), machine = pairs_get(&r->in, "machine");
    struct signature sig;
    if (!r->is_octets || r->body.n == 0 || version.n == 0 || version.n > 64 || machine.n == 0 || machine.n > 64 ||
        hex_get(pairs_get(&r->in, "sig"), sig.b, sizeof(sig.b)) != ST_OK) {
        deed_fail(d, 400, "invalid",
                  "Send the file as application/octet-stream, with version, machine (such as x86_64-linux-gnu) and sig "
                  "(hex) in the query.");
        return;
    }
    struct digest256 digest = digest_blake2b256(r->body);
    struct buf order = {0}, hex = {0};
    size_t sent = 0;
    struct update_order o = {.version = version,
                             .digest = span_of(digest.b, sizeof(digest.b)),
                             .bytes = r->body.n,
                             .sig = span_of(sig.b, sizeof(sig.b)),
                             .machine = machine};
    update_order_pack(&o, &order);
    hex_put(&hex, o.digest);
    pthread_mutex_lock(&r->c->lock);
    status st = fleet_put(r->c->fleet, FLEET_BLOB, o.digest, r->body);
    if (st != ST_OK)
        deed_fail_status(d, st, &(struct buf){0});
    for (size_t i = 0; st == ST_OK && i < r->c->agent_count; i++) {
        struct c_agent *a = r->c->agents[i];
        if (!a || !a->is_joined || !machine_fits(r, a, machine))
            continue;
        agent_order(r->c, a, ORDER_UPDATE, buf_span(&order));
        sent++;
    }
    pthread_mutex_unlock(&r->c->lock);
    if (st == ST_OK) {
        struct json j = {.out = &d->out};
        json_open(&j, '{');
        put_text(&j, "digest", buf_span(&hex));
        put_u64(&j, "agents", sent);
        json_close(&j, '}');
        struct buf said = {0};
        log_escape(&said, version, 64);
        log_write(r->c->o.log, LOG_INFO, "admin", "an update is offered version=\"%s\" agents=%zu by=%s",
                  buf_cstr(&said), sent, r->who.name);
        buf_done(&said);
    }
    buf_done(&order);
    buf_done(&hex);
}
