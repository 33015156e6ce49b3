#include "cli/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "codec/armor.h"
#include "io/entropy.h"
#include "store/file.h"

#define HEAD "orb-program-key 1\nseed: "
#define KEY_FILE_MAX 256

static int write_new(const char *path, struct span text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    status st = file_write_all(fd, text);
    if (st == ST_OK)
        st = file_sync(fd);
    int err = st == ST_OK ? 0 : errno;
    if (close(fd) != 0 && !err)
        err = errno;
    if (err)
        unlink(path); /* half a key is none */
    return err;
}

int key_file_make(const char *what, const char *path, struct sign_key *out)
{
    unsigned char seed[SIGN_SEED_BYTES];
    struct buf text = {0};
    if (entropy_draw(seed, sizeof(seed)) != ST_OK)
        return complain(EXIT_IO, "%s: make a key: the system has no random numbers", what);
    buf_puts(&text, HEAD);
    base64url_put(&text, span_of(seed, sizeof(seed)));
    buf_putc(&text, '\n');
    int err = write_new(path, buf_span(&text));
    if (!err)
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    sign_wipe(text.p, text.n);
    buf_done(&text);
    if (err == EEXIST)
        return complain(EXIT_NO, "%s: write %s: there is such a file: choose another name", what, path);
    return err ? complain(EXIT_IO, "%s: write %s: %s", what, path, strerror(err)) : EXIT_DONE;
}

/* Reads through one descriptor, so that what was looked at is what is read. */
static int read_private(const char *path, struct buf *out, bool *is_open)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int err = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    *is_open = !err && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    ssize_t n = err ? 0 : read(fd, buf_room(out, KEY_FILE_MAX), KEY_FILE_MAX);
    if (n < 0)
        err = errno;
    else
        out->n = (size_t)n;
    close(fd);
    return err;
}

int key_file_read(const char *what, const char *path, struct sign_key *out)
{
    unsigned char seed[SIGN_SEED_BYTES];
    struct buf text = {0};
    bool is_open = false;
    int code = EXIT_DONE, err = read_private(path, &text, &is_open);
    struct span body = buf_span(&text);
    bool is_key = span_starts(body, SPAN(HEAD)) && span_ends(body, SPAN("\n"));
    if (is_key) {
        body = span_from(body, strlen(HEAD));
        body.n--;
        is_key = base64url_get(body, seed, sizeof(seed)) == ST_OK;
    }
    if (err)
        code = complain(EXIT_IO, "%s: read %s: %s", what, path, strerror(err));
    else if (!is_key)
        code = complain(EXIT_INPUT, "%s: read %s: not a key of orb key new", what, path);
    else if (is_open)
        code =
            complain(EXIT_INPUT, "%s: read %s: others may read this key: chmod 600 it, or make a new one", what, path);
    else
        sign_key_of(seed, out);
    sign_wipe(seed, sizeof(seed));
    if (text.p)
        sign_wipe(text.p, text.cap);
    buf_done(&text);
    return code;
}
