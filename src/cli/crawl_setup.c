#include "cli/crawl_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/contact.h"
#include "cli/url_opts.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "io/in_lab.h"

#define CONTACT_BYTES_MAX 200

const char *folder_advice(status st)
{
    switch (st) {
    case ST_BUSY:
        return "wait for it, or choose another --data";
    case ST_NEWER:
        return "use the newer orb, or choose another --data";
    case ST_CORRUPT:
        return "see what orb check says, restore a backup, or choose another --data";
    case ST_INVALID:
        return "leave that out, or choose another --data";
    case ST_FULL:
        return "free some space, or choose another --data";
    case ST_NOT_FOUND:
        return "crawl something into it first, or choose another --data";
    default:
        return "check its permissions, or choose another --data";
    }
}

/* ---- contact ---- */

static void ask_contact(struct buf *out)
{
    char line[CONTACT_BYTES_MAX + 2];
    fputs("Site owners should be able to reach whoever crawls them.\n"
          "Mail address or URL to put into the user agent (empty for none; asked only once): ",
          stderr);
    if (fgets(line, sizeof(line), stdin))
        buf_put(out, span_trim(span_str(line)));
}

/* The contact to show: given now, else kept in the folder, else asked for. */
static int find_contact(const struct options *o, bool has_public, struct buf *out)
{
    const char *dir = opt_cstr(o, OPT_DATA);
    struct buf kept = {0};
    int code = EXIT_DONE;
    bool is_kept = contact_kept(dir, &kept);
    if (opt_is_set(o, OPT_CONTACT))
        buf_put(out, opt_text(o, OPT_CONTACT));
    else if (is_kept)
        buf_put(out, buf_span(&kept));
    else if (has_public && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        ask_contact(out);
    else if (has_public && !opt_flag(o, OPT_QUIET))
        (void)complain(0, "crawl: no contact in the user agent: site owners cannot reach you: give --contact once, it "
                          "is kept");
    bool is_decided = opt_is_set(o, OPT_CONTACT) || (has_public && isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
    if (is_decided && (!is_kept || !span_eq(buf_span(&kept), buf_span(out))))
        code = contact_keep("crawl", dir, buf_span(out));
    buf_done(&kept);
    return code;
}

static int make_user_agent(struct crawl_setup *s, const struct options *o)
{
    struct buf contact = {0};
    struct span purpose = opt_text(o, OPT_PURPOSE_URL);
    if (opt_text(o, OPT_USER_AGENT).n) {
        buf_put(&s->user_agent, opt_text(o, OPT_USER_AGENT));
        return EXIT_DONE;
    }
    int code = find_contact(o, s->seeds.has_public, &contact);
    contact_agent(purpose, buf_span(&contact), &s->user_agent);
    buf_done(&contact);
    return code;
}

/* ---- the rest ---- */

static int make_channel(struct crawl_setup *s, const struct options *o)
{
    struct buf why = {0};
    struct channel_opts c = {
        .seeds = s->seeds.urls,
        .seed_count = s->seeds.n,
        .scope = opt_is(o, OPT_SCOPE, "domain")   ? SCOPE_DOMAIN
                 : opt_is(o, OPT_SCOPE, "prefix") ? SCOPE_PREFIX
                                                  : SCOPE_SITE,
        .depth_max = (unsigned)opt_number(o, OPT_DEPTH),
    };
    c.include = opt_list(o, OPT_INCLUDE, &c.include_count);
    c.exclude = opt_list(o, OPT_EXCLUDE, &c.exclude_count);
    status st = channel_new(&c, &s->channel, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "crawl: %s", why.n ? buf_cstr(&why) : status_name(st));
    buf_done(&why);
    return code;
}

static int check_resolver(struct span server)
{
    struct addr addr;
    uint64_t port = 53;
    size_t close = span_find(server, ']', 0), colon = span_find(server, ':', close < server.n ? close : 0);
    bool is_bare_v6 = close == server.n && span_find(server, ':', colon + 1) < server.n;
    struct span host = is_bare_v6 ? server : span_cut(server, 0, colon);
    bool ok = addr_parse(host, &addr) == ST_OK &&
              (is_bare_v6 || colon == server.n || span_u64(span_from(server, colon + 1), 65535, &port));
    if (server.n == 0 || (ok && port > 0))
        return EXIT_DONE;
    return complain(EXIT_USAGE, "crawl: --resolver %.*s: not an address: write ADDR, ADDR:PORT or [ADDR]:PORT",
                    SPAN_ARG(server));
}

/* The site of what was typed; where that was http, https too: that is where such a site sends people. */
static size_t put_sites(struct arena *a, struct span url, struct span *to)
{
    struct url u;
    if (url_parse(a, url, NULL, &u) != ST_OK)
        return 0;
    to[0] = url_site(a, &u);
    if (!span_is(u.scheme, "http") || u.has_explicit_port)
        return 1;
    struct buf secure = {0};
    buf_puts(&secure, "https");
    buf_put(&secure, span_from(to[0], u.scheme.n));
    to[1] = arena_copy(a, buf_span(&secure));
    buf_done(&secure);
    return 2;
}

static const struct span *start_sites(struct crawl_setup *s, size_t *count)
{
    struct span *sites = arena_alloc(&s->arena, (s->seeds.n + s->sitemaps.n) * 2 * sizeof(*sites) + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->seeds.n; i++)
        n += put_sites(&s->arena, s->seeds.urls[i], sites + n);
    for (size_t i = 0; i < s->sitemaps.n; i++)
        n += put_sites(&s->arena, s->sitemaps.urls[i], sites + n);
    *count = n;
    return sites;
}

static void fill_opts(struct crawl_setup *s, const struct options *o)
{
    struct crawl_opts *c = &s->opts;
    *c = (struct crawl_opts){
        .data_dir = opt_cstr(o, OPT_DATA),
        .fetch = {.user_agent = buf_span(&s->user_agent),
                  .proxy = opt_text(o, OPT_PROXY),
                  .ca_file = opt_text(o, OPT_CA_FILE),
                  .insecure = opt_flag(o, OPT_INSECURE),
                  .allow_private = opt_flag(o, OPT_ALLOW_PRIVATE),
                  .rate_bytes_per_s = (uint64_t)opt_number(o, OPT_RATE)},
        .dns = {.server = opt_text(o, OPT_RESOLVER), .hosts = buf_span(&s->hosts_text)},
        .delay_ms = opt_number(o, OPT_DELAY),
        .in_lab = in_lab(),
        .per_host = (unsigned)opt_number(o, OPT_PER_HOST),
        .jobs = (unsigned)opt_number(o, OPT_JOBS),
        .shards = (unsigned)opt_number(o, OPT_SHARDS),
        .pages_max = (uint64_t)opt_number(o, OPT_PAGES),
        .time_max_ms = opt_number(o, OPT_MAX_TIME),
        .frontier_bytes = (size_t)opt_number(o, OPT_FRONTIER_MIB) << 20,
        .norm = &s->norm,
        .no_sitemaps = !opt_flag(o, OPT_SITEMAPS),
        .no_pdf = !opt_flag(o, OPT_PDF),
        .open_sink = apply_sink_open,
        .sink_arg = &s->sink,
    };
    s->sink = (struct apply_sink_opts){.no_index = !opt_flag(o, OPT_INDEX),
                                       .no_documents = !opt_flag(o, OPT_DOCUMENTS),
                                       .index_memory = (size_t)opt_number(o, OPT_INDEX_MIB) << 20,
                                       .shards = c->shards};
    c->fetch.headers = opt_list(o, OPT_HEADER, &c->fetch.header_count);
    c->fetch.secret_sites = start_sites(s, &c->fetch.secret_site_count);
    c->own_sites = opt_list(o, OPT_OWN_SITE, &c->own_site_count);
}

/* ---- WARC ---- */

static void draw_id(void *self, void *to, size_t n)
{
    (void)self;
    if (entropy_draw(to, n) != ST_OK)
        memset(to, (int)clock_mono_us() & 0xff, n); /* of warcinfo records: different is enough */
}

static const char *warc_advice(status st)
{
    switch (st) {
    case ST_BUSY:
        return "wait for it, or choose another --warc";
    case ST_FULL:
        return "free some space, or choose another --warc";
    default:
        return "check its permissions, or choose another --warc";
    }
}

/* Also when neither is there yet. */
static bool is_same_folder(struct span a, struct span b, const char *a_path, const char *b_path)
{
    struct stat x, y;
    if (stat(a_path, &x) == 0 && stat(b_path, &y) == 0)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    while (span_ends(a, SPAN("/")))
        a.n--;
    while (span_ends(b, SPAN("/")))
        b.n--;
    return span_eq(a, b);
}

int crawl_setup_open_archive(struct crawl_setup *s, const struct options *o)
{
    const char *dir = opt_cstr(o, OPT_WARC);
    char host[256] = "";
    struct buf why = {0}, contact = {0};
    if (!dir)
        return EXIT_DONE;
    if (is_same_folder(opt_text(o, OPT_WARC), opt_text(o, OPT_DATA), dir, opt_cstr(o, OPT_DATA)))
        return complain(EXIT_USAGE, "crawl: --warc %s: that is the data folder: choose another, such as %s/warc", dir,
                        dir);
    (void)gethostname(host, sizeof(host) - 1);
    buf_put(&contact, opt_text(o, OPT_CONTACT));
    if (!contact.n)
        (void)contact_kept(opt_cstr(o, OPT_DATA), &contact);
    struct warc_files_opts w = {.dir = dir,
                                .kind = opt_is(o, OPT_WARC_COMPRESSION, "zstd") ? MEMBER_ZSTD : MEMBER_GZIP,
                                .bytes_max = (uint64_t)opt_number(o, OPT_WARC_SIZE),
                                .info = {.software = SPAN("orbweaver/" ORB_VERSION_SHORT),
                                         .hostname = span_str(host),
                                         .user_agent = buf_span(&s->user_agent),
                                         .operator_contact = buf_span(&contact),
                                         .robots = SPAN("obey")},
                                .wall = clock_wall,
                                .draw = draw_id};
    draw_id(NULL, &w.key, sizeof(w.key));
    status st = warc_files_open(&w, &s->archive, &why);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "crawl: open WARC folder %s: %s: %s", dir, buf_cstr(&why), warc_advice(st));
    s->opts.archive = s->archive;
    s->opts.archive_kind = w.kind;
    buf_done(&why);
    buf_done(&contact);
    return code;
}

int crawl_setup_init(struct crawl_setup *s, const struct options *o)
{
    *s = (struct crawl_setup){0};
    arena_init(&s->arena);
    s->norm = url_norm_from(o, &s->arena);
    if (!opt_cstr(o, OPT_DATA))
        return complain(EXIT_USAGE, "crawl: --data: empty: give a folder");
    int code = seeds_gather(o, &s->arena, &s->norm, &s->seeds);
    if (code == EXIT_DONE)
        code = sitemaps_gather(o, &s->arena, &s->norm, &s->sitemaps);
    if (code == EXIT_DONE)
        code = make_channel(s, o);
    if (code == EXIT_DONE)
        code = check_resolver(opt_text(o, OPT_RESOLVER));
    if (code == EXIT_DONE && opt_cstr(o, OPT_HOSTS))
        code = read_input("crawl", opt_cstr(o, OPT_HOSTS), &s->hosts_text);
    if (code == EXIT_DONE && opt_cstr(o, OPT_CA_FILE) && access(opt_cstr(o, OPT_CA_FILE), R_OK) != 0)
        code = complain(EXIT_IO, "crawl: --ca-file %s: cannot be read: check the path", opt_cstr(o, OPT_CA_FILE));
    if (code == EXIT_DONE)
        code = make_user_agent(s, o);
    if (code == EXIT_DONE)
        fill_opts(s, o);
    return code;
}

void crawl_setup_close_archive(struct crawl_setup *s)
{
    warc_files_close(s->archive);
    s->archive = s->opts.archive = NULL;
}

void crawl_setup_done(struct crawl_setup *s)
{
    crawl_setup_close_archive(s);
    channel_free(s->channel);
    seeds_done(&s->seeds);
    seeds_done(&s->sitemaps);
    buf_done(&s->hosts_text);
    buf_done(&s->user_agent);
    arena_done(&s->arena);
}
