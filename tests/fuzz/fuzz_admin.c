/* The input is the body of a request to the administration: a form, JSON, or a number as people write it. Whatever it
 * is, the fields stay within their ceilings, and sending them again as a form gives the same ones. */
#include <stdlib.h>

#include "coord/admin_internal.h"
#include "serve/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX 20000

static void check_again(struct arena *a, const struct pairs *p)
{
    struct buf form = {0};
    struct pairs again = {0};
    for (size_t i = 0; i < p->n; i++) {
        buf_puts(&form, i ? "&" : "");
        html_query_value(&form, p->list[i].name);
        buf_putc(&form, '=');
        html_query_value(&form, p->list[i].value);
    }
    /* A form with one field that has neither name nor value is the empty form. */
    if (p->n && pairs_read_form(a, buf_span(&form), &again) != ST_OK)
        abort();
    for (size_t i = 0; i < again.n; i++)
        if (!span_eq(again.list[i].name, p->list[i].name) || !span_eq(again.list[i].value, p->list[i].value))
            abort();
    if (again.n != p->n)
        abort();
    buf_done(&form);
}

static void check_lines(struct arena *a, const struct pairs *p)
{
    struct span *lines;
    size_t n = pairs_lines(a, p, "seeds", 100, &lines);
    if (n > 100)
        abort();
    for (size_t i = 0; i < n; i++)
        if (lines[i].n == 0 || lines[i].p[0] == '#' || span_find(lines[i], '\n', 0) < lines[i].n ||
            span_trim(lines[i]).n != lines[i].n)
            abort();
}

/* Each value as everything that a handler may take it for. */
static void check_values(struct arena *a, const struct pairs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const char *name = arena_copy(a, p->list[i].name).p; /* NUL-terminated; one inside makes it another name */
        uint64_t n = 0, bytes = 0;
        double real = 0;
        bool is_there = false;
        admin_role role;
        if (pairs_get(p, name).n && !pairs_has(p, name))
            abort();
        if (pairs_u64(p, name, 1000, &n) && n > 1000)
            abort();
        if (pairs_real(p, name, -5, 5, &real, &is_there) && !(real >= -5 && real <= 5))
            abort();
        if (pairs_bytes(p, name, &bytes) && bytes > INT64_MAX)
            abort();
        (void)pairs_is_true(p, name);
        if (role_parse(p->list[i].value, &role) && !span_is(p->list[i].value, role_name(role)))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct pairs form = {0}, json = {0};
    struct span text = span_of(data, size < TEXT_MAX ? size : TEXT_MAX);
    const char *why = "";
    uint64_t bytes = 0;
    int64_t ms = 0;
    arena_init(&a);
    if (pairs_read_form(&a, text, &form) == ST_OK) {
        if (form.n > ADMIN_PAIRS_MAX)
            abort();
        check_again(&a, &form);
        check_lines(&a, &form);
        check_values(&a, &form);
    }
    if (pairs_read_json(&a, text, &json, &why) == ST_OK) {
        check_lines(&a, &json);
        check_values(&a, &json);
    }
    if (bytes_parse(text, &bytes) && bytes > INT64_MAX)
        abort();
    if (duration_parse(text, &ms) && ms < 0)
        abort();
    arena_done(&a);
    return 0;
}
