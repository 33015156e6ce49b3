#include "agent/key.h"

#include <stdio.h>

#include "codec/armor.h"
#include "io/entropy.h"
#include "store/file.h"

#define KEY_FILE_MAX 128

static const char *path_of(const char *data, const char *name, struct buf *path)
{
    buf_clear(path);
    buf_printf(path, "%s/%s", data, name);
    return buf_cstr(path);
}

static status read_key(const char *path, struct sign_key *out)
{
    struct buf text = {0};
    unsigned char seed[SIGN_SEED_BYTES];
    status st = file_read(path, KEY_FILE_MAX, &text);
    if (st == ST_OK)
        st = hex_get(span_trim(buf_span(&text)), seed, sizeof(seed)) == ST_OK ? ST_OK : ST_CORRUPT;
    else if (st == ST_LIMIT)
        st = ST_CORRUPT;
    if (st == ST_OK)
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    if (text.n)
        sign_wipe(text.p, text.n);
    buf_done(&text);
    return st;
}

static status draw(const char *path, struct sign_key *out)
{
    struct buf text = {0};
    unsigned char seed[SIGN_SEED_BYTES];
    status st = entropy_draw(seed, sizeof(seed));
    if (st == ST_OK) {
        hex_put(&text, span_of(seed, sizeof(seed)));
        buf_putc(&text, '\n');
        st = file_replace_secret(path, buf_span(&text));
    }
    if (st == ST_OK)
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    if (text.n)
        sign_wipe(text.p, text.n);
    buf_done(&text);
    return st;
}

status key_open(const char *data, struct sign_key *out)
{
    struct buf path = {0};
    status st = read_key(path_of(data, "agent.key", &path), out);
    if (st == ST_NOT_FOUND)
        st = draw(buf_cstr(&path), out);
    buf_done(&path);
    return st;
}

status key_draw_next(const char *data, struct sign_key *out)
{
    struct buf path = {0};
    status st = draw(path_of(data, "agent.key.new", &path), out);
    buf_done(&path);
    return st;
}

status key_next(const char *data, struct sign_key *out)
{
    struct buf path = {0};
    status st = read_key(path_of(data, "agent.key.new", &path), out);
    buf_done(&path);
    return st;
}

status key_replace(const char *data)
{
    struct buf from = {0}, to = {0};
    status st = ST_OK;
    if (rename(path_of(data, "agent.key.new", &from), path_of(data, "agent.key", &to)) != 0)
        st = ST_IO;
    if (st == ST_OK)
        st = file_sync_dir(data);
    buf_done(&from);
    buf_done(&to);
    return st;
}
