#include "io/subprocess.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop_uv.h"

#define READ_BYTES 65536
/* Room in the pipes, so that most messages take one turn of the loop. The kernel's default is 64 KiB; more is refused
 * to a user who has many pipes already, and then it only takes more turns. */
#define PIPE_BYTES (256 << 10)

struct subprocess {
    uv_process_t process;
    uv_pipe_t to, from;
    subprocess_read_fn *read;
    subprocess_exit_fn *exited;
    void *arg; /* borrowed */
    int code, signal;
    bool has_exited, has_eof, is_freed;
    unsigned open_handles; /* the memory goes with the last of them */
    char data[READ_BYTES];
};

struct sent {
    uv_write_t req;
    char data[];
};

static void on_closed(uv_handle_t *h)
{
    struct subprocess *p = h->data;
    if (--p->open_handles == 0)
        free(p);
}

static void tell_exit(struct subprocess *p)
{
    if (p->has_exited && p->has_eof && !p->is_freed)
        p->exited(p->arg, p->code, p->signal);
}

static void on_child_exit(uv_process_t *process, int64_t code, int signal)
{
    struct subprocess *p = process->data;
    p->code = (int)code;
    p->signal = signal;
    p->has_exited = true;
    tell_exit(p);
}

static void give_room(uv_handle_t *h, size_t wanted, uv_buf_t *out)
{
    struct subprocess *p = h->data;
    *out = uv_buf_init(p->data, sizeof(p->data));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
    struct subprocess *p = s->data;
    if (n > 0) {
        p->read(p->arg, span_of(b->base, (size_t)n));
    } else if (n < 0) {
        uv_read_stop(s);
        p->has_eof = true;
        if (!p->has_exited)
            uv_process_kill(&p->process, SIGKILL);
        tell_exit(p);
    }
}

static void on_written(uv_write_t *req, int rc)
{
    free(req->data); /* a failure means that the child is gone, which on_child_exit tells */
}

void subprocess_write(struct subprocess *p, struct span data)
{
    struct sent *s = mem_alloc(sizeof(*s) + data.n);
    if (data.n)
        memcpy(s->data, data.p, data.n);
    s->req.data = s;
    uv_buf_t b = uv_buf_init(s->data, (unsigned)data.n);
    if (uv_write(&s->req, (uv_stream_t *)&p->to, &b, 1, on_written) != 0)
        free(s);
}

static void ignore_sigpipe(void)
{
    struct sigaction sa;
    if (sigaction(SIGPIPE, NULL, &sa) == 0 && sa.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static int spawn(struct subprocess *p, uv_loop_t *loop, const struct subprocess_opts *o, int child_in, int child_out)
{
    char *no_env[] = {NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_INHERIT_FD, .data.fd = child_in},
        {.flags = UV_INHERIT_FD, .data.fd = child_out},
        {.flags = UV_IGNORE},
    };
    uv_process_options_t opts = {
        .file = o->path,
        .args = (char **)(uintptr_t)o->args, /* execve changes none of them */
        .env = no_env,
        .cwd = "/",
        .flags = UV_PROCESS_DETACHED,
        .exit_cb = on_child_exit,
        .stdio = stdio,
        .stdio_count = 3,
    };
    return uv_spawn(loop, &p->process, &opts);
}

static void close_handles(struct subprocess *p)
{
    p->is_freed = true;
    p->open_handles = 3;
    uv_close((uv_handle_t *)&p->process, on_closed);
    uv_close((uv_handle_t *)&p->to, on_closed);
    uv_close((uv_handle_t *)&p->from, on_closed);
}

static status status_of(int rc)
{
    errno = -rc; /* libuv's errors are errno's, negated */
    return rc == 0 ? ST_OK : rc == UV_ENOENT || rc == UV_EACCES || rc == UV_ENOTDIR ? ST_NOT_FOUND : ST_IO;
}

status subprocess_new(struct loop *l, const struct subprocess_opts *o, struct subprocess **out)
{
    uv_loop_t *loop = loop_uv(l);
    int in[2] = {-1, -1}, back[2] = {-1, -1};
    int rc = uv_pipe(in, 0, UV_NONBLOCK_PIPE);
    if (rc == 0)
        rc = uv_pipe(back, UV_NONBLOCK_PIPE, 0);
    if (rc != 0) {
        close_pair(in);
        return status_of(rc);
    }
    (void)fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES);
    (void)fcntl(back[1], F_SETPIPE_SZ, PIPE_BYTES);
    ignore_sigpipe();
    struct subprocess *p = mem_alloc(sizeof(*p));
    p->read = o->read;
    p->exited = o->exited;
    p->arg = o->arg;
    p->process.data = p->to.data = p->from.data = p;
    uv_pipe_init(loop, &p->to, 0);
    uv_pipe_init(loop, &p->from, 0);
    rc = spawn(p, loop, o, in[0], back[1]);
    close(in[0]);
    close(back[1]);
    int failed = uv_pipe_open(&p->to, in[1]) | uv_pipe_open(&p->from, back[0]);
    assert(failed == 0);                                              /* they are pipes */
    (void)uv_read_start((uv_stream_t *)&p->from, give_room, on_read); /* fails only on a closing handle */
    if (rc != 0) {
        close_handles(p);
        return status_of(rc);
    }
    *out = p;
    return ST_OK;
}

void subprocess_free(struct subprocess *p)
{
    if (!p || p->is_freed)
        return;
    pid_t pid = p->process.pid;
    bool is_running = !p->has_exited;
    if (is_running)
        uv_process_kill(&p->process, SIGKILL);
    close_handles(p);
    /* libuv has let go of the process; without this it would stay a zombie. SIGKILL cannot be held up for long. */
    while (is_running && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
