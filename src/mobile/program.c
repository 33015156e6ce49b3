#include "mobile/program.h"

#include "codec/armor.h"

#define FORMAT "orb-program "
#define FORMAT_VERSION 1
#define SERIAL_MAX INT64_MAX /* what a database column holds */

bool program_name_is_good(struct span name)
{
    if (name.n == 0 || name.n > PROGRAM_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && c != '-' && c != '_')
            return false;
    }
    return true;
}

/* ---- reading ---- */

static status bad(struct buf *why, const char *text)
{
    if (why)
        buf_puts(why, text);
    return ST_INVALID;
}

/* The value of the next line of *rest when it is "key: value"; the line is cut off then. */
static bool take_line(struct span *rest, struct span key, struct span *value)
{
    size_t end = span_find(*rest, '\n', 0);
    struct span line = span_cut(*rest, 0, end);
    if (end == rest->n || !span_starts(line, key))
        return false;
    *value = span_from(line, key.n);
    *rest = span_from(*rest, end + 1);
    return true;
}

static status read_version(struct span *rest, struct buf *why)
{
    struct span value;
    uint64_t version;
    if (!take_line(rest, SPAN(FORMAT), &value) || !span_u64(value, UINT32_MAX, &version) || version == 0 ||
        value.p[0] == '0')
        return bad(why, "the first line is not \"orb-program 1\"");
    return version > FORMAT_VERSION ? ST_NEWER : ST_OK;
}

/* A number has one spelling, so that a file has one. */
static bool read_serial(struct span value, uint64_t *out)
{
    return span_u64(value, SERIAL_MAX, out) && (value.n == 1 || value.p[0] != '0');
}

static status read_script(struct span script, struct buf *why)
{
    if (script.n > PROGRAM_SCRIPT_MAX)
        return ST_LIMIT;
    if (script.n == 0)
        return bad(why, "there is no script");
    if (script.p[0] == '\x1b') /* what compiled Lua begins with */
        return bad(why, "the script is compiled: only text is run");
    return ST_OK;
}

status program_read(struct span file, struct program *out, struct buf *why)
{
    struct program p = {0};
    struct span rest = file, value, end;
    if (file.n > PROGRAM_FILE_MAX)
        return ST_LIMIT;
    status st = read_version(&rest, why);
    if (st != ST_OK)
        return st;
    if (!take_line(&rest, SPAN("name: "), &p.name) || !program_name_is_good(p.name))
        return bad(why, "the second line is no \"name: NAME\" of letters, digits, '-' and '_'");
    if (!take_line(&rest, SPAN("serial: "), &value) || !read_serial(value, &p.serial))
        return bad(why, "the third line is no \"serial: NUMBER\"");
    if (take_line(&rest, SPAN("key: "), &value)) {
        p.is_signed = true;
        if (base64url_get(value, p.key.b, sizeof(p.key.b)) != ST_OK)
            return bad(why, "the key is none");
        if (!take_line(&rest, SPAN("sig: "), &value) || base64url_get(value, p.sig.b, sizeof(p.sig.b)) != ST_OK)
            return bad(why, "the signature is none");
    }
    if (!take_line(&rest, SPAN(""), &end) || end.n)
        return bad(why, "no empty line before the script");
    p.script = rest;
    st = read_script(p.script, why);
    if (st == ST_OK)
        *out = p;
    return st;
}

/* ---- writing ---- */

static void put_head(const struct program *p, struct buf *out)
{
    buf_printf(out, FORMAT "%d\nname: %.*s\nserial: %llu\n", FORMAT_VERSION, SPAN_ARG(p->name),
               (unsigned long long)p->serial);
}

void program_write(const struct program *p, struct buf *out)
{
    put_head(p, out);
    if (p->is_signed) {
        buf_puts(out, "key: ");
        base64url_put(out, span_of(p->key.b, sizeof(p->key.b)));
        buf_puts(out, "\nsig: ");
        base64url_put(out, span_of(p->sig.b, sizeof(p->sig.b)));
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
    buf_put(out, p->script);
}

/* ---- signatures ---- */

/* What is signed is the file without its two lines of signature: its first line keeps it apart from all else that such
 * a key may sign, and no two programs give the same bytes. */
static void put_signed(const struct program *p, struct buf *out)
{
    put_head(p, out);
    buf_putc(out, '\n');
    buf_put(out, p->script);
}

void program_sign(struct program *p, const struct sign_key *key)
{
    struct buf message = {0};
    put_signed(p, &message);
    sign_make(key, buf_span(&message), &p->sig);
    p->key = key->open;
    p->is_signed = true;
    buf_done(&message);
}

bool program_is_signed_by(const struct program *p, const struct sign_public *key)
{
    struct buf message = {0};
    if (!p->is_signed || memcmp(p->key.b, key->b, sizeof(key->b)) != 0)
        return false;
    put_signed(p, &message);
    bool is_good = sign_check(key, buf_span(&message), &p->sig);
    buf_done(&message);
    return is_good;
}
