/* cmd_key.c - `orb key`: keys that sign programs. */
#include "cli/command.h"
#include "cli/key_file.h"
#include "codec/armor.h"
#include "codec/json.h"

static void put_key(const struct options *o, const struct sign_public *key, struct buf *out)
{
    struct buf text = {0}, print = {0};
    struct digest256 d = digest_sha256(span_of(key->b, sizeof(key->b)));
    base64url_put(&text, span_of(key->b, sizeof(key->b)));
    hex_put(&print, span_of(d.b, sizeof(d.b)));
    if (opt_flag(o, OPT_JSON)) {
        struct json j = {.out = out};
        json_open(&j, '{');
        json_key(&j, "key");
        json_text(&j, buf_span(&text));
        json_key(&j, "fingerprint");
        json_text(&j, buf_span(&print));
        json_close(&j, '}');
        buf_putc(out, '\n');
    } else {
        buf_printf(out, "key %.*s\nfingerprint %.*s\n", SPAN_ARG(buf_span(&text)), SPAN_ARG(buf_span(&print)));
    }
    buf_done(&text);
    buf_done(&print);
}

int cmd_key(const struct options *o)
{
    struct sign_key key;
    struct buf out = {0};
    const char *path = opt_cstr(o, OPT_PROGRAM_NAME);
    int code;
    if (!path && o->arg_count == 2)
        path = o->args[1].p;
    if (span_is(o->args[0], "new") && !path)
        return complain(EXIT_USAGE, "key: new: usage: orb key new FILE, for a key that signs programs or releases");
    if (span_is(o->args[0], "show") && o->arg_count != 2)
        return complain(EXIT_USAGE, "key: show: usage: orb key show FILE");
    if (span_is(o->args[0], "new"))
        code = key_file_make("key", path, &key);
    else if (span_is(o->args[0], "show"))
        code = key_file_read("key", o->args[1].p, &key);
    else
        return complain(EXIT_USAGE, "key: %s: neither new nor show", o->args[0].p);
    if (code == EXIT_DONE)
        put_key(o, &key.open, &out);
    sign_wipe(&key, sizeof(key));
    print_buf(&out);
    buf_done(&out);
    return code;
}
