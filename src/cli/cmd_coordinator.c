#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/contact.h"
#include "cli/crawl_setup.h"
#include "cli/local_agent.h"
#include "cli/screen.h"
#include "cli/strategy_opts.h"
#include "coord/coord.h"
#include "serve/request.h"
#include "store/file.h"

static int parse_listen(const struct options *o, opt_id id, struct addr *addr, int *port)
{
    struct span text = opt_text(o, id);
    if (request_listen_parse(text, addr, port) == ST_OK)
        return EXIT_DONE;
    return complain(EXIT_USAGE, "coordinator: --%s %.*s: not an address: write ADDR:PORT, [ADDR]:PORT or PORT",
                    option_table[id].name, SPAN_ARG(text));
}

static int fill(const struct options *o, const struct log *log, struct span hosts, struct coord_opts *c)
{
    *c = (struct coord_opts){.data_dir = opt_cstr(o, OPT_DATA),
                             .is_plain = opt_flag(o, OPT_PLAIN),
                             .tls_cert_file = opt_cstr(o, OPT_TLS_CERT),
                             .tls_key_file = opt_cstr(o, OPT_TLS_KEY),
                             .public_host = opt_text(o, OPT_PUBLIC_HOST),
                             .lease_ms = opt_number(o, OPT_LEASE),
                             .move_after_ms = opt_number(o, OPT_MOVE_AFTER),
                             .check_every = (unsigned)opt_number(o, OPT_CHECK_EVERY),
                             .hierarchy_file = opt_cstr(o, OPT_HIERARCHY),
                             .discovers = opt_flag(o, OPT_DISCOVER),
                             .allow_private = opt_flag(o, OPT_ALLOW_PRIVATE),
                             .dns = {.server = opt_text(o, OPT_RESOLVER), .hosts = hosts},
                             .index_memory = (size_t)opt_number(o, OPT_INDEX_MIB) << 20,
                             .no_documents = !opt_flag(o, OPT_DOCUMENTS),
                             .query_rate = (double)opt_number(o, OPT_QUERY_RATE),
                             .public_url = opt_text(o, OPT_PUBLIC_URL),
                             .version = SPAN(ORB_VERSION_SHORT),
                             .opt_out_file = opt_cstr(o, OPT_OPT_OUT),
                             .retention = {.gone_days = (unsigned)opt_number(o, OPT_KEEP_GONE),
                                           .days = (unsigned)opt_number(o, OPT_KEEP_DAYS),
                                           .warc_bytes = (uint64_t)opt_number(o, OPT_KEEP_WARC),
                                           .warc_days = (unsigned)opt_number(o, OPT_KEEP_WARC_DAYS)},
                             .log = log};
    if (!c->data_dir)
        return complain(EXIT_USAGE, "coordinator: --data: empty: give a folder");
    if (opt_flag(o, OPT_REFRESH_REGISTRIES) && c->hierarchy_file)
        return complain(EXIT_USAGE, "coordinator: --refresh-registries makes DIR/hierarchy: not with --hierarchy");
    if (opt_flag(o, OPT_REFRESH_REGISTRIES)) {
        c->refresh_every_ms = opt_number(o, OPT_REFRESH_EVERY);
        c->refresh_from = opt_cstr(o, OPT_REFRESH_FROM);
        c->refresh_ca_file = opt_cstr(o, OPT_CA_FILE);
        c->refresh_proxy = opt_cstr(o, OPT_PROXY);
    }
    if (o->v[OPT_RECRAWL].source != FROM_DEFAULT) { /* else as it was switched to last */
        c->no_recrawl = opt_is(o, OPT_RECRAWL, "off");
        if (!c->no_recrawl && !recrawl_strategy_parse(opt_text(o, OPT_RECRAWL), &c->recrawl))
            return complain(EXIT_INTERNAL, "coordinator: --recrawl: a name that nobody knows");
    }
    c->recrawl_pages = (uint64_t)opt_number(o, OPT_RECRAWL_PAGES);
    c->recrawl_scale = (double)opt_number(o, OPT_RECRAWL_TIME_SCALE);
    struct strategy_opts s;
    int code = take_real(o, "coordinator", OPT_RECRAWL_CEILING, 0.01, 1000, &c->recrawl_ceiling);
    if (code == EXIT_DONE)
        code = strategy_opts_read(o, "coordinator", &s);
    if (code != EXIT_DONE)
        return code;
    c->strategy = s.strategy;
    c->threshold_ms = s.threshold_ms;
    c->same_holder = s.same_holder;
    c->probe_cost_ms = s.cost_ms;
    c->calibrate = s.calibrate;
    c->balance = s.balance;
    c->no_balance = s.no_balance;
    code = parse_listen(o, OPT_LISTEN, &c->addr, &c->port);
    return code == EXIT_DONE ? parse_listen(o, OPT_ADMIN_LISTEN, &c->admin_addr, &c->admin_port) : code;
}

static void put_address(struct buf *out, const char *scheme, const struct addr *addr, int port)
{
    char text[ADDR_TEXT_MAX];
    static const struct addr any4 = {.family = 4}, any6 = {.family = 6};
    if (addr_eq(addr, &any4) || addr_eq(addr, &any6))
        buf_printf(out, "%s://localhost:%d/", scheme, port);
    else
        buf_printf(out, addr->family == 6 ? "%s://[%s]:%d/" : "%s://%s:%d/", scheme, addr_format(addr, text), port);
}

/* The link is as good as a password: to the terminal of whoever started us, or to a file that only they can read. */
static void show_link(struct coord *c, const struct coord_opts *opts, struct buf *out)
{
    struct buf link = {0}, path = {0};
    buf_printf(&path, "%s/coord/admin-link", opts->data_dir);
    if (!coord_admin_link(c, &link)) {
        unlink(buf_cstr(&path));
    } else if (isatty(STDOUT_FILENO)) {
        buf_printf(out, "  first visit      %s\n                   sets a password; good for 15 minutes\n",
                   buf_cstr(&link));
    } else {
        buf_puts(&link, "\n");
        if (file_replace_secret(buf_cstr(&path), buf_span(&link)) == ST_OK)
            buf_printf(out, "  first visit      the address in %s sets a password; good for 15 minutes\n", path.p);
    }
    buf_done(&link);
    buf_done(&path);
}

static void show(struct coord *c, const struct coord_opts *opts, bool has_agent)
{
    struct buf out = {0};
    buf_printf(&out, "Coordinator of %s\n  identity         ", opts->data_dir);
    coord_fingerprint(c, &out);
    buf_puts(&out, "\n  search, agents   ");
    put_address(&out, opts->is_plain ? "http" : "https", &opts->addr, coord_port(c));
    buf_puts(&out, "\n  administration   ");
    put_address(&out, "http", &opts->admin_addr, coord_admin_port(c));
    buf_puts(&out, "\n");
    show_link(c, opts, &out);
    if (has_agent)
        buf_printf(
            &out,
            "  agent here       what it says is in %s/agent.log\n  crawl            orb channel add URL --data %s\n",
            opts->data_dir, opts->data_dir);
    buf_printf(&out, "  add an agent     orb agent add NAME --data %s\n", opts->data_dir);
    print_buf(&out);
    fflush(stdout);
    buf_done(&out);
}

static int open_log(const struct options *o, struct screen **out)
{
    struct screen_opts so = {.log_path = opt_cstr(o, OPT_LOG), .level = LOG_INFO};
    if (opt_is_set(o, OPT_LOG_LEVEL))
        (void)log_level_parse(opt_text(o, OPT_LOG_LEVEL), &so.level);
    *out = screen_new(&so);
    return *out ? EXIT_DONE
                : complain(EXIT_IO, "coordinator: open log %s: %s: check --log", so.log_path, strerror(errno));
}

int cmd_coordinator(const struct options *o)
{
    struct coord_opts opts;
    struct coord *c = NULL;
    struct local_agent *agent = NULL;
    struct buf why = {0};
    struct screen *screen = NULL;
    struct buf hosts = {0}, contact = {0};
    int code = open_log(o, &screen);
    if (code == EXIT_DONE && opt_cstr(o, OPT_HOSTS))
        code = read_input("coordinator", opt_cstr(o, OPT_HOSTS), &hosts);
    if (code == EXIT_DONE)
        code = fill(o, screen_log(screen), buf_span(&hosts), &opts);
    if (code == EXIT_DONE)
        code = contact_settle("coordinator", o, &contact);
    if (code == EXIT_DONE) {
        errno = 0;
        status st = coord_new(&opts, &c, &why);
        if (st == ST_OK && opt_flag(o, OPT_WITH_AGENT))
            code = local_agent_new(o, c, &opts, contact.n ? buf_cstr(&contact) : NULL, &agent);
        if (st == ST_OK && code == EXIT_DONE) {
            show(c, &opts, agent != NULL);
            st = coord_run(c);
        }
        local_agent_free(agent);
        if (st != ST_OK)
            code = complain(exit_code_of(st), "coordinator: %s: %s", buf_cstr(&why), folder_advice(st));
    }
    coord_free(c);
    screen_free(screen);
    buf_done(&why);
    buf_done(&hosts);
    buf_done(&contact);
    return code;
}
