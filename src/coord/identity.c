#include "coord/identity.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "codec/armor.h"
#include "io/entropy.h"
#include "io/tls_key.h"
#include "store/file.h"

#define KEY_FILE_MAX 4096
#define PEM_FILE_MAX (256u << 10)

static void path_of(const char *data_dir, const char *name, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s/coord/%s", data_dir, name);
}

static status say(struct buf *why, const char *path, status st)
{
    buf_printf(why, "%s: %s", path, st == ST_IO || st == ST_FULL ? strerror(errno) : status_name(st));
    return st;
}

static status draw_key(struct sign_key *out)
{
    unsigned char seed[SIGN_SEED_BYTES];
    status st = entropy_draw(seed, sizeof(seed));
    if (st == ST_OK)
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    return st;
}

static status write_key(const char *path, const struct sign_key *key)
{
    struct buf text = {0};
    hex_put(&text, span_of((const char *)key->seed, sizeof(key->seed)));
    buf_puts(&text, "\n");
    status st = file_replace_secret(path, buf_span(&text));
    sign_wipe(text.p, text.n);
    buf_done(&text);
    return st;
}

static status read_key(const char *path, struct sign_key *out)
{
    struct buf text = {0};
    unsigned char seed[SIGN_SEED_BYTES];
    status st = file_read(path, KEY_FILE_MAX, &text);
    if (st == ST_OK)
        st = hex_get(span_trim(buf_span(&text)), seed, sizeof(seed)) == ST_OK ? ST_OK : ST_CORRUPT;
    if (st == ST_OK)
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    if (text.n)
        sign_wipe(text.p, text.n);
    buf_done(&text);
    return st;
}

static void take_fingerprint(struct identity *id)
{
    struct buf hex = {0};
    id->fingerprint = digest_sha256(span_of((const char *)id->key.open.b, sizeof(id->key.open.b)));
    hex_put(&hex, span_of((const char *)id->fingerprint.b, sizeof(id->fingerprint.b)));
    memcpy(id->fingerprint_hex, buf_cstr(&hex), sizeof(id->fingerprint_hex));
    buf_done(&hex);
}

static void take_old(struct identity *id)
{
    id->has_old = true;
    id->old_fingerprint = digest_sha256(span_of((const char *)id->old_key.open.b, sizeof(id->old_key.open.b)));
}

static status open_key(const char *data_dir, struct identity *id, struct buf *why)
{
    struct buf path = {0};
    path_of(data_dir, "identity.key", &path);
    status st = read_key(buf_cstr(&path), &id->key);
    if (st == ST_NOT_FOUND) {
        st = draw_key(&id->key);
        if (st == ST_OK)
            st = write_key(buf_cstr(&path), &id->key);
    }
    if (st == ST_OK)
        take_fingerprint(id);
    else
        say(why, buf_cstr(&path), st);
    path_of(data_dir, "identity.old", &path);
    if (st == ST_OK && read_key(buf_cstr(&path), &id->old_key) == ST_OK)
        take_old(id);
    buf_done(&path);
    return st;
}

static status read_pair(const char *cert, const char *key, struct identity *id, struct buf *why)
{
    status st = file_read(cert, PEM_FILE_MAX, &id->tls_cert);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? st : say(why, cert, st);
    st = file_read(key, PEM_FILE_MAX, &id->tls_key);
    if (st != ST_OK)
        return say(why, key, st);
    return tls_key_check(buf_span(&id->tls_cert), buf_span(&id->tls_key), why);
}

/* The key first: a certificate without its key would be found by the next start and never fit. */
static status make_pair(const char *cert, const char *key, struct span host, struct identity *id, struct buf *why)
{
    status st = tls_key_make(host, &id->tls_cert, &id->tls_key);
    if (st != ST_OK) {
        buf_puts(why, "cannot make a TLS key");
        return st;
    }
    st = file_replace_secret(key, buf_span(&id->tls_key));
    if (st == ST_OK)
        st = file_replace(cert, buf_span(&id->tls_cert));
    return st == ST_OK ? ST_OK : say(why, key, st);
}

static status open_tls(const struct identity_opts *o, struct identity *id, struct buf *why)
{
    struct buf cert = {0}, key = {0}, pin = {0};
    status st;
    if (o->tls_cert_file) {
        st = read_pair(o->tls_cert_file, o->tls_key_file, id, why);
        if (st == ST_NOT_FOUND)
            say(why, o->tls_cert_file, st);
    } else {
        path_of(o->data_dir, "tls.crt", &cert);
        path_of(o->data_dir, "tls.key", &key);
        st = read_pair(buf_cstr(&cert), buf_cstr(&key), id, why);
        if (st == ST_NOT_FOUND)
            st = make_pair(cert.p, key.p, o->host, id, why);
    }
    if (st == ST_OK && tls_key_pin(buf_span(&id->tls_cert), &pin) != ST_OK) {
        buf_puts(why, "the certificate cannot be read");
        st = ST_INVALID;
    }
    if (st == ST_OK && pin.n >= sizeof(id->pin))
        st = ST_LIMIT;
    if (st == ST_OK)
        memcpy(id->pin, buf_cstr(&pin), pin.n + 1);
    buf_done(&cert);
    buf_done(&key);
    buf_done(&pin);
    return st;
}

status identity_open(const struct identity_opts *o, struct identity *out, struct buf *why)
{
    struct buf dir = {0};
    *out = (struct identity){0};
    buf_printf(&dir, "%s/coord", o->data_dir);
    status st = file_mkdir(buf_cstr(&dir));
    if (st == ST_OK && chmod(dir.p, 0700) != 0)
        st = ST_IO;
    if (st != ST_OK)
        say(why, dir.p, st);
    if (st == ST_OK)
        st = open_key(o->data_dir, out, why);
    if (st == ST_OK && !o->is_plain)
        st = open_tls(o, out, why);
    buf_done(&dir);
    if (st != ST_OK)
        identity_done(out);
    return st;
}

status identity_rotate(const char *data_dir, struct identity *id, struct signature *sig, struct buf *why)
{
    struct sign_key fresh;
    struct buf path = {0};
    status st = draw_key(&fresh);
    if (st == ST_OK) {
        path_of(data_dir, "identity.old", &path);
        st = write_key(buf_cstr(&path), &id->key);
    }
    if (st == ST_OK) {
        path_of(data_dir, "identity.key", &path);
        sign_make(&id->key, span_of((const char *)fresh.open.b, sizeof(fresh.open.b)), sig);
        st = write_key(buf_cstr(&path), &fresh);
    }
    if (st == ST_OK) {
        id->old_key = id->key;
        take_old(id);
        id->key = fresh;
        take_fingerprint(id);
    } else {
        say(why, path.n ? path.p : "random bytes", st);
    }
    sign_wipe(&fresh, sizeof(fresh));
    buf_done(&path);
    return st;
}

void identity_done(struct identity *id)
{
    sign_wipe(&id->key, sizeof(id->key));
    sign_wipe(&id->old_key, sizeof(id->old_key));
    if (id->tls_key.n)
        sign_wipe(id->tls_key.p, id->tls_key.n);
    buf_done(&id->tls_key);
    buf_done(&id->tls_cert);
    *id = (struct identity){0};
}
