/* admin_pins.c - who may crawl what: the operator's lines (plan/pins.h), for programs and as a form. */
#include <string.h>

#include "coord/admin_pages.h"
#include "coord/pinning.h"

#define FIELD "pins"

/* ---- the text, line by line ---- */

/* The text without the lines that are `line`, blanks at the ends aside. False: there is none. */
static bool drop_line(struct span text, struct span line, struct buf *out)
{
    struct span at;
    bool is_there = false;
    while (span_split(&text, '\n', &at)) {
        if (span_eq(span_trim(at), line)) {
            is_there = true;
            continue;
        }
        buf_put(out, at);
        buf_putc(out, '\n');
    }
    while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
        out->n--;
    return is_there;
}

static void add_line(struct span text, struct span line, struct buf *out)
{
    buf_put(out, text);
    if (out->n && out->p[out->n - 1] != '\n')
        buf_putc(out, '\n');
    buf_put(out, line);
    buf_putc(out, '\n');
}

/* ---- the API ---- */

struct decided {
    uint64_t networks, waiting; /* waiting: not yet with an agent that may have them */
};

/* What each line decides about, by its number. coord.lock held. */
static struct decided *count_decided(struct ask *r, size_t lines)
{
    struct decided *by_line = arena_alloc(r->arena, (lines + 1) * sizeof(*by_line));
    size_t at = 0;
    memset(by_line, 0, (lines + 1) * sizeof(*by_line));
    for (struct c_network *n; (n = table_next(&r->c->networks, &at));) {
        const struct pin *pin = pinning_of(r->c, n);
        if (!pin || pin_line(pin) > lines)
            continue;
        by_line[pin_line(pin)].networks++;
        by_line[pin_line(pin)].waiting += n->state != NETWORK_OWNED || !pinning_allows(r->c, n, n->agent);
    }
    return by_line;
}

static void put_lines(struct ask *r, struct json *j)
{
    struct span text = buf_span(&r->c->pins_text), rest = text, line;
    size_t lines = 0;
    while (span_split(&rest, '\n', &line))
        lines++;
    const struct decided *by_line = count_decided(r, lines);
    for (size_t number = 1; span_split(&text, '\n', &line); number++) {
        line = span_trim(line);
        if (!line.n || line.p[0] == '#')
            continue;
        json_open(j, '{');
        put_u64(j, "line", number);
        json_key(j, "text");
        json_text(j, line);
        put_u64(j, "networks", by_line[number].networks);
        put_u64(j, "waiting", by_line[number].waiting);
        json_close(j, '}');
    }
}

void deed_pins(struct ask *r, struct deed *d)
{
    struct json j = {.out = &d->out};
    pthread_mutex_lock(&r->c->lock);
    json_open(&j, '{');
    json_key(&j, "text");
    json_text(&j, buf_span(&r->c->pins_text));
    json_key(&j, "lines");
    json_open(&j, '[');
    put_lines(r, &j);
    json_close(&j, ']');
    json_close(&j, '}');
    pthread_mutex_unlock(&r->c->lock);
}

void deed_pins_set(struct ask *r, struct deed *d)
{
    struct span add = pairs_get(&r->in, "add"), remove = pairs_get(&r->in, "remove");
    struct buf text = {0}, why = {0};
    bool is_found = true;
    pthread_mutex_lock(&r->c->lock);
    struct span now = buf_span(&r->c->pins_text);
    if (add.n)
        add_line(now, add, &text);
    else if (remove.n)
        is_found = drop_line(now, remove, &text);
    else if (pairs_has(&r->in, FIELD))
        add_line((struct span){0}, pairs_get(&r->in, FIELD), &text);
    if (!add.n && !remove.n && !pairs_has(&r->in, FIELD))
        deed_fail(d, 400, "invalid", "One of pins (the whole text), add and remove (one line) is wanted.");
    else if (!is_found)
        deed_fail(d, 404, "not_found", "There is no such line. orb network pins (GET /api/v1/pins) shows them.");
    else {
        status st = pinning_set(r->c, buf_span(&text), &why);
        if (st != ST_OK) {
            deed_fail_status(d, st, &why);
            d->field = FIELD;
        } else {
            buf_puts(&d->out, "{}");
            buf_puts(&d->message, "Networks that may not stay where they are move.");
            log_write(r->c->o.log, LOG_INFO, "admin", "pins are changed lines=%zu by=%s", pins_count(r->c->pins),
                      r->who.name);
        }
    }
    pthread_mutex_unlock(&r->c->lock);
    buf_done(&text);
    buf_done(&why);
}

/* ---- the form ---- */

void put_pins_form(struct ask *r, struct buf *out)
{
    const char *action = "/api/v1/pins";
    size_t count = r->c->pins ? pins_count(r->c->pins) : 0;
    buf_printf(out, "<details class=\"more\" id=\"pins\"%s><summary>Who may crawl what (%zu %s)</summary>",
               form_was_sent(r, action) ? " open" : "", count, count == 1 ? "line" : "lines");
    form_begin(r, out, action, "wide-form");
    buf_puts(out, "<fieldset><legend>Who may crawl what</legend>");
    form_field(r, out,
               &(struct form_field){.name = FIELD,
                                    .label = "Lines",
                                    .value = buf_span(&r->c->pins_text),
                                    .is_long = true,
                                    .rows = 8,
                                    .help =
                                        "For example: country DE -&gt; group eu, or site example.org -&gt; "
                                        "agent paris, or holder &quot;Example Ltd&quot; -&gt; group country:CH. The "
                                        "most precise line that is about a network decides. Networks that may not "
                                        "stay where they are move at once."});
    buf_puts(out, "</fieldset><button class=\"button main\">Save</button></form></details>\n");
}
