/* say.c - complaints, output and input that all commands share. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"

#define LINE_MAX_BYTES 4096

int complain(int code, const char *fmt, ...)
{
    struct buf raw = {0}, line = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    buf_puts(&line, "orb: ");
    log_escape(&line, buf_span(&raw), LINE_MAX_BYTES);
    buf_putc(&line, '\n');
    fflush(stdout);
    fwrite(line.p, 1, line.n, stderr);
    buf_done(&raw);
    buf_done(&line);
    return code;
}

int exit_code_of(status st)
{
    switch (st) {
    case ST_OK:
        return EXIT_DONE;
    case ST_REFUSED:
    case ST_NOT_FOUND:
    case ST_CANCELLED:
        return EXIT_NO;
    case ST_INVALID:
    case ST_LIMIT:
    case ST_UNSUPPORTED:
        return EXIT_INPUT;
    case ST_BUSY:
    case ST_CORRUPT:
    case ST_NEWER:
    case ST_IO:
    case ST_FULL:
    case ST_DNS:
    case ST_CONNECT:
    case ST_TLS:
    case ST_TIMEOUT:
    case ST_PROTOCOL:
        return EXIT_IO;
    default:
        return EXIT_INTERNAL;
    }
}

static int output_error; /* errno of the first failed write to standard output */

bool print_buf(struct buf *b)
{
    if (b->n && fwrite(b->p, 1, b->n, stdout) != b->n && output_error == 0)
        output_error = errno;
    buf_clear(b);
    return output_error == 0;
}

int finish_output(int code)
{
    if (fflush(stdout) != 0 && output_error == 0)
        output_error = errno;
    if (output_error == 0 || output_error == EPIPE) /* a closed pipe: the reader has seen enough */
        return code;
    return complain(EXIT_IO, "write standard output: %s", strerror(output_error));
}

void put_safe(struct buf *out, struct span s)
{
    log_escape(out, s, LINE_MAX_BYTES);
}

static int read_fd(int fd, struct buf *out)
{
    for (;;) {
        ssize_t n = read(fd, buf_room(out, 65536), 65536);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        out->n += (size_t)n;
        if (out->n > INPUT_BYTES_MAX)
            return EFBIG;
    }
}

int read_input(const char *what, const char *path, struct buf *out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int err = fd < 0 ? errno : read_fd(fd, out);
    if (fd >= 0 && !is_stdin)
        close(fd);
    if (err == EFBIG)
        return complain(EXIT_INPUT, "%s: read %s: larger than %u MiB", what, path, INPUT_BYTES_MAX >> 20);
    if (err)
        return complain(EXIT_IO, "%s: read %s: %s", what, is_stdin ? "standard input" : path, strerror(err));
    return EXIT_DONE;
}
