/* orb-sample - serves the sample web to scripts until SIGTERM or SIGINT.
 *
 * Prints "port N" once it listens. Other output goes to files that are complete by then. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "sample/sample.h"

static const char usage[] =
    "usage: orb-sample [--port N] [--seed N] [--domain NAME] [--threads N] [--big PAGES] [--big-hosts N] [--no-sites] "
    "[--spread] "
    "[--no-ledger]\n"
    "                  [--live HOSTS] [--live-pages N] [--live-gap MS]\n"
    "                  [--latency MS] [--part calm|soon|sites|big|all|live] [--hosts-out FILE] [--seeds-out FILE] "
    "[--expected-out FILE]\n"
    "Serves the sample web on loopback until it is stopped. --part says whose seeds and expectations are written "
    "(default all).\n";

static const struct option options[] = {
    {"port", required_argument, NULL, 'p'},
    {"seed", required_argument, NULL, 's'},
    {"domain", required_argument, NULL, 'd'},
    {"threads", required_argument, NULL, 't'},
    {"big", required_argument, NULL, 'b'},
    {"big-hosts", required_argument, NULL, 'n'},
    {"no-sites", no_argument, NULL, 'S'},
    {"spread", no_argument, NULL, 'x'},
    {"no-ledger", no_argument, NULL, 'L'},
    {"latency", required_argument, NULL, 'l'},
    {"live", required_argument, NULL, 'v'},
    {"live-pages", required_argument, NULL, 'V'},
    {"live-gap", required_argument, NULL, 'g'},
    {"part", required_argument, NULL, 'P'},
    {"hosts-out", required_argument, NULL, 'H'},
    {"seeds-out", required_argument, NULL, 'E'},
    {"expected-out", required_argument, NULL, 'X'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct setup {
    struct sample_opts opts;
    sample_part part;
    const char *hosts_out, *seeds_out, *expected_out;
};

_Noreturn static void bad_usage(const char *what)
{
    fprintf(stderr, "orb-sample: %s\n%s", what, usage);
    exit(2);
}

static uint64_t number(const char *text, uint64_t max)
{
    uint64_t v;
    if (!span_u64(span_str(text), max, &v))
        bad_usage("a number is out of range");
    return v;
}

static sample_part part_of(const char *name)
{
    static const char *const names[] = {"calm", "soon", "sites", "big", "all", "live"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(names[i], name) == 0)
            return (sample_part)i;
    }
    bad_usage("no such part");
}

static void parse(int argc, char **argv, struct setup *s)
{
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'p':
            s->opts.port = (int)number(optarg, 65535);
            break;
        case 's':
            s->opts.seed = number(optarg, UINT64_MAX);
            break;
        case 'd':
            s->opts.domain = optarg;
            break;
        case 't':
            s->opts.threads = (unsigned)number(optarg, 64);
            break;
        case 'b':
            s->opts.big_pages = (unsigned)number(optarg, SAMPLE_BIG_PAGES_MAX);
            break;
        case 'n':
            s->opts.big_hosts = (unsigned)number(optarg, SAMPLE_BIG_HOSTS_MAX);
            break;
        case 'S':
            s->opts.no_sites = true;
            break;
        case 'x':
            s->opts.is_spread = true;
            break;
        case 'L':
            s->opts.no_ledger = true;
            break;
        case 'l':
            s->opts.latency_ms = (int)number(optarg, 60000);
            break;
        case 'v':
            s->opts.live_hosts = (unsigned)number(optarg, 4096);
            break;
        case 'V':
            s->opts.live_pages = (unsigned)number(optarg, 100);
            break;
        case 'g':
            s->opts.live_gap_ms = (int)number(optarg, 86400000);
            break;
        case 'P':
            s->part = part_of(optarg);
            break;
        case 'H':
            s->hosts_out = optarg;
            break;
        case 'E':
            s->seeds_out = optarg;
            break;
        case 'X':
            s->expected_out = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            bad_usage("unknown option");
        }
    }
    if (optind < argc)
        bad_usage("takes no arguments");
}

static bool write_file(const char *path, struct buf *text)
{
    bool ok = true;
    if (path) {
        FILE *f = fopen(path, "w");
        ok = f && fwrite(text->p, 1, text->n, f) == text->n;
        ok = f && fclose(f) == 0 && ok;
        if (!ok)
            fprintf(stderr, "orb-sample: cannot write %s\n", path);
    }
    buf_clear(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct setup setup = {.part = SAMPLE_ALL};
    struct sample *s = NULL;
    struct buf text = {0};
    parse(argc, argv, &setup);

    /* Blocked before the server's threads start, so that the signal waits for sigwait below. */
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);

    status st = sample_new(&setup.opts, &s);
    if (st != ST_OK) {
        fprintf(stderr, "orb-sample: cannot serve on port %d: %s\n", setup.opts.port, status_name(st));
        return 4;
    }
    sample_hosts_text(s, &text);
    bool ok = write_file(setup.hosts_out, &text);
    sample_seeds(s, setup.part, &text);
    ok = write_file(setup.seeds_out, &text) && ok;
    sample_expected_text(s, setup.part, &text);
    ok = write_file(setup.expected_out, &text) && ok;
    if (ok) {
        int which;
        printf("port %d\n", sample_port(s));
        fflush(stdout);
        sigwait(&stop, &which);
    }
    buf_done(&text);
    sample_free(s);
    return ok ? 0 : 4;
}
