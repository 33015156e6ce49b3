#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "serve/request.h"
#include "serve/serve.h"

static int check_folder(const char *dir)
{
    struct stat st;
    if (!dir)
        return complain(EXIT_USAGE, "serve: --data: empty: give a folder");
    if (stat(dir, &st) != 0)
        return complain(EXIT_IO, "serve: open data folder %s: %s: %s", dir,
                        errno == ENOENT ? "not there" : strerror(errno),
                        folder_advice(errno == ENOENT ? ST_NOT_FOUND : ST_IO));
    return EXIT_DONE;
}

static int fill(const struct options *o, struct serve_opts *s)
{
    struct span listen = opt_text(o, OPT_LISTEN);
    *s = (struct serve_opts){.data_dir = opt_cstr(o, OPT_DATA),
                             .query_rate = (double)opt_number(o, OPT_QUERY_RATE),
                             .public_url = opt_text(o, OPT_PUBLIC_URL),
                             .version = SPAN(ORB_VERSION_SHORT)};
    if (request_listen_parse(listen, &s->addr, &s->port) != ST_OK)
        return complain(EXIT_USAGE, "serve: --listen %.*s: not an address: write ADDR:PORT, [ADDR]:PORT or PORT",
                        SPAN_ARG(listen));
    return check_folder(s->data_dir);
}

static int complain_start(status st, const struct options *o, int port)
{
    struct span listen = opt_text(o, OPT_LISTEN);
    int err = errno;
    switch (st) {
    case ST_BUSY:
        return complain(EXIT_IO,
                        "serve: listen on %.*s: the port is taken: stop what has it, or give --listen with "
                        "another, such as %d",
                        SPAN_ARG(listen), port < 65535 ? port + 1 : 8081);
    case ST_REFUSED:
        return complain(EXIT_IO,
                        "serve: listen on %.*s: not allowed: ports below 1024 are the administrator's, choose "
                        "a higher one with --listen",
                        SPAN_ARG(listen));
    case ST_INVALID:
        if (opt_text(o, OPT_PUBLIC_URL).n && err != EADDRNOTAVAIL)
            return complain(EXIT_USAGE, "serve: --public-url %.*s: not the address of a site: write https://HOST/",
                            SPAN_ARG(opt_text(o, OPT_PUBLIC_URL)));
        return complain(EXIT_IO, "serve: listen on %.*s: not an address of this machine: give another --listen",
                        SPAN_ARG(listen));
    default:
        return complain(exit_code_of(st), "serve: listen on %.*s: %s: give another --listen", SPAN_ARG(listen),
                        err ? strerror(err) : status_name(st));
    }
}

/* Where a browser on this machine finds it. */
static void put_address(struct buf *out, const struct serve_opts *s, int port)
{
    char text[ADDR_TEXT_MAX];
    static const struct addr any4 = {.family = 4}, any6 = {.family = 6};
    if (addr_eq(&s->addr, &any4) || addr_eq(&s->addr, &any6))
        buf_printf(out, "http://localhost:%d/\n", port);
    else
        buf_printf(out, s->addr.family == 6 ? "http://[%s]:%d/\n" : "http://%s:%d/\n", addr_format(&s->addr, text),
                   port);
}

int cmd_serve(const struct options *o)
{
    struct serve_opts opts;
    struct serve *serve = NULL;
    struct buf out = {0};
    sigset_t stop, before;
    int code = fill(o, &opts), sig = 0;
    if (code != EXIT_DONE)
        return code;
    /* Blocked before the first thread starts, so that no thread of the server takes them. */
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, &before);
    errno = 0;
    status st = serve_new(&opts, &serve);
    if (st == ST_OK) {
        put_address(&out, &opts, serve_port(serve));
        print_buf(&out);
        fflush(stdout);
        bool is_private = addr_classify(&opts.addr) == ADDR_LOOPBACK;
        fprintf(stderr, "Search page of %s: open the address above%s. Ctrl-C ends it.\n", opts.data_dir,
                is_private ? "" : "; everybody who can reach this machine can");
        while (sigwait(&stop, &sig) != 0)
            ;
    } else
        code = complain_start(st, o, opts.port);
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* a second signal ends the process at once */
    serve_free(serve);
    buf_done(&out);
    return code;
}
