#include "agent/update.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/machine.h"
#include "codec/armor.h"
#include "store/file.h"
#include "wire/release.h"

#define SMALL_FILE_MAX (64u << 10)

bool version_is_good(struct span v)
{
    if (!v.n || v.n > UPDATE_VERSION_MAX || !ascii_is_digit(v.p[0]) || !ascii_is_digit(v.p[v.n - 1]))
        return false;
    for (size_t i = 0; i < v.n; i++)
        if (!ascii_is_digit(v.p[i]) && (v.p[i] != '.' || v.p[i - 1] == '.'))
            return false;
    return true;
}

int version_compare(struct span a, struct span b)
{
    for (;;) {
        struct span x = {0}, y = {0};
        bool has_x = span_split(&a, '.', &x), has_y = span_split(&b, '.', &y);
        uint64_t m = 0, n = 0;
        if (!has_x && !has_y)
            return 0;
        if (has_x && !span_u64(x, UINT64_MAX, &m))
            m = 0;
        if (has_y && !span_u64(y, UINT64_MAX, &n))
            n = 0;
        if (m != n)
            return m < n ? -1 : 1;
    }
}

static void bin_path(const char *data, struct span name, const char *suffix, struct buf *out)
{
    buf_printf(out, "%s/bin/%.*s%s", data, SPAN_ARG(name), suffix);
    (void)buf_cstr(out);
}

void update_part_path(const char *data, struct span version, struct buf *out)
{
    bin_path(data, version, ".part", out);
}

void update_path(const char *data, struct span version, struct buf *out)
{
    buf_printf(out, "%s/bin/orb-agent-%.*s", data, SPAN_ARG(version));
    (void)buf_cstr(out);
}

static bool is_signed(struct span version, struct span digest, struct span sig, const struct sign_public *key)
{
    struct buf message = {0}, machine = {0};
    struct signature s;
    bool ok = sig.n == sizeof(s.b);
    if (ok) {
        memcpy(s.b, sig.p, sizeof(s.b));
        machine_name(&machine);
        release_message(version, buf_span(&machine), digest, &message);
        ok = sign_check(key, buf_span(&message), &s);
    }
    buf_done(&message);
    buf_done(&machine);
    return ok;
}

static status refuse(struct buf *why, const char *text)
{
    buf_puts(why, text);
    return ST_REFUSED;
}

status update_check(const char *data, const struct update_order *o, const struct sign_public *key,
                    struct span own_version, struct buf *why)
{
    struct buf machine = {0};
    if (!version_is_good(o->version) || o->digest.n != 32 || !o->bytes || o->bytes > UPDATE_BYTES_MAX) {
        buf_puts(why, "not an update that makes sense");
        return ST_INVALID;
    }
    if (version_compare(o->version, own_version) == 0)
        return ST_EXISTS;
    if (!key)
        return refuse(why, "the owner of this machine takes no updates");
    machine_name(&machine);
    bool fits = span_eq(buf_span(&machine), o->machine);
    buf_done(&machine);
    if (!fits)
        return refuse(why, "it is for another kind of machine");
    if (!is_signed(o->version, o->digest, o->sig, key))
        return refuse(why, "not signed by the update-key of this machine's owner");
    if (version_compare(o->version, own_version) < 0)
        return refuse(why, "it is older than what runs here");
    if (update_is_bad(data, o->version))
        return refuse(why, "it was tried here and did not report in");
    return ST_OK;
}

static bool digest_of_file(const char *path, struct digest256 *out)
{
    struct mapped *m = NULL;
    if (mapped_open(path, &m) != ST_OK)
        return false;
    *out = digest_blake2b256(mapped_span(m));
    mapped_free(m);
    return true;
}

status update_accept(const char *data, const struct update_order *o)
{
    struct buf part = {0}, path = {0}, dir = {0};
    struct digest256 d;
    status st = ST_OK;
    update_part_path(data, o->version, &part);
    update_path(data, o->version, &path);
    buf_printf(&dir, "%s/bin", data);
    if (!digest_of_file(part.p, &d) || o->digest.n != sizeof(d.b) || !bytes_equal(d.b, o->digest.p, sizeof(d.b))) {
        unlink(part.p);
        st = ST_CORRUPT;
    } else if (chmod(part.p, 0755) != 0 || rename(part.p, path.p) != 0) {
        st = ST_IO;
    } else {
        st = file_sync_dir(buf_cstr(&dir));
    }
    buf_done(&part);
    buf_done(&path);
    buf_done(&dir);
    return st;
}

/* ---- how it went ---- */

status update_mark_ok(const char *data, struct span version)
{
    struct buf path = {0};
    bin_path(data, version, ".ok", &path);
    status st = file_replace(path.p, SPAN("ok\n"));
    buf_done(&path);
    return st;
}

bool update_is_ok(const char *data, struct span version)
{
    struct buf path = {0};
    bin_path(data, version, ".ok", &path);
    bool ok = access(path.p, F_OK) == 0;
    buf_done(&path);
    return ok;
}

void update_clear_ok(const char *data, struct span version)
{
    struct buf path = {0};
    bin_path(data, version, ".ok", &path);
    unlink(path.p);
    buf_done(&path);
}

static void read_bad(const char *data, struct buf *out)
{
    struct buf path = {0};
    bin_path(data, SPAN("bad"), "", &path);
    if (file_read(path.p, SMALL_FILE_MAX, out) != ST_OK)
        buf_clear(out);
    buf_done(&path);
}

bool update_is_bad(const char *data, struct span version)
{
    struct buf text = {0};
    struct span line;
    bool found = false;
    read_bad(data, &text);
    struct span rest = buf_span(&text);
    while (!found && span_split(&rest, '\n', &line))
        found = span_eq(line, version);
    buf_done(&text);
    return found;
}

status update_mark_bad(const char *data, struct span version)
{
    struct buf path = {0}, text = {0};
    read_bad(data, &text);
    buf_put(&text, version);
    buf_putc(&text, '\n');
    bin_path(data, SPAN("bad"), "", &path);
    status st = file_replace(path.p, buf_span(&text));
    buf_done(&path);
    buf_done(&text);
    return st;
}

status update_set_current(const char *data, const struct update_order *o)
{
    struct buf path = {0}, text = {0};
    buf_put(&text, o->version);
    buf_putc(&text, '\n');
    base64url_put(&text, o->digest);
    buf_putc(&text, '\n');
    base64url_put(&text, o->sig);
    buf_putc(&text, '\n');
    bin_path(data, SPAN("current"), "", &path);
    status st = file_replace(path.p, buf_span(&text));
    buf_done(&path);
    buf_done(&text);
    return st;
}

bool update_current(const char *data, const struct sign_public *key, struct span own_version, struct buf *path)
{
    struct buf text = {0};
    struct span version = {0}, digest = {0}, sig = {0};
    unsigned char digest_bytes[32], sig_bytes[SIGN_BYTES];
    struct digest256 d;
    bin_path(data, SPAN("current"), "", path);
    bool ok = file_read(path->p, SMALL_FILE_MAX, &text) == ST_OK;
    struct span rest = buf_span(&text);
    ok = ok && span_split(&rest, '\n', &version) && span_split(&rest, '\n', &digest) && span_split(&rest, '\n', &sig) &&
         version_is_good(version) && version_compare(version, own_version) > 0 && !update_is_bad(data, version) &&
         base64url_get(digest, digest_bytes, sizeof(digest_bytes)) == ST_OK &&
         base64url_get(sig, sig_bytes, sizeof(sig_bytes)) == ST_OK &&
         is_signed(version, span_of(digest_bytes, sizeof(digest_bytes)), span_of(sig_bytes, sizeof(sig_bytes)), key);
    buf_clear(path);
    if (ok) {
        update_path(data, version, path);
        ok = digest_of_file(path->p, &d) && bytes_equal(d.b, digest_bytes, sizeof(d.b));
    }
    buf_done(&text);
    return ok;
}
