/* hierarchy_fetch.c - `orb hierarchy fetch`: the registries' public files. */
#include <errno.h>

#include "cli/format.h"
#include "cli/hierarchy_cmd.h"
#include "codec/json.h"
#include "io/registry_fetch.h"

struct fetching {
    const struct registry_source *source;
    unsigned shown_mb;
};

static void on_progress(void *self, uint64_t done, uint64_t total)
{
    struct fetching *f = self;
    unsigned mb = (unsigned)(done >> 20);
    if (mb == f->shown_mb)
        return;
    f->shown_mb = mb;
    if (total)
        show_progress("%s  %u of %u MiB", registry_source_name(f->source), mb, (unsigned)(total >> 20));
    else
        show_progress("%s  %u MiB", registry_source_name(f->source), mb);
}

static void put_text(const struct registry_source *s, status st, const struct download_result *r, struct buf *out)
{
    if (st != ST_OK)
        return;
    buf_printf(out, "%s  ", registry_source_name(s));
    put_bytes(out, r->file_bytes);
    buf_puts(out, r->is_unchanged ? ", unchanged\n" : r->was_resumed ? ", new, went on where it stopped\n" : ", new\n");
}

static void put_json(const struct registry_source *s, const char *dir, status st, const struct download_result *r,
                     struct span why, struct buf *out)
{
    struct json j = {.out = out};
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, registry_source_name(s));
    json_open(&j, '{');
    json_key(&j, "registry");
    json_str(&j, registry_name_text(s->registry));
    json_key(&j, "path");
    json_text(&j, buf_span(&path));
    json_key(&j, "result");
    json_str(&j, st != ST_OK ? status_name(st) : r->is_unchanged ? "unchanged" : "new");
    json_key(&j, "http_status");
    json_i64(&j, r->http);
    json_key(&j, "bytes");
    json_u64(&j, r->file_bytes);
    json_key(&j, "received");
    json_u64(&j, r->received);
    json_key(&j, "resumed");
    json_bool(&j, r->was_resumed);
    json_key(&j, "error");
    json_text_or_null(&j, why);
    json_key(&j, "licence");
    json_str(&j, registry_licence(s->registry));
    json_close(&j, '}');
    buf_putc(out, '\n');
    buf_done(&path);
}

/* False: it did not work, and that was said. */
static bool fetch(const struct options *o, const struct registry_source *s, const char *dir)
{
    struct fetching f = {s, 0};
    struct download_opts opts = {.user_agent = "orbweaver/" ORB_VERSION,
                                 .ca_file = opt_cstr(o, OPT_CA_FILE),
                                 .proxy = opt_cstr(o, OPT_PROXY),
                                 .progress = on_progress,
                                 .self = &f};
    struct download_result r;
    struct buf why = {0}, out = {0};
    status st = registry_fetch(s, dir, opt_cstr(o, OPT_FROM), &opts, &r, &why);
    show_progress(NULL);
    if (st != ST_OK)
        (void)complain(0, "hierarchy fetch: %s: %s", registry_source_name(s), buf_cstr(&why));
    if (opt_flag(o, OPT_JSON))
        put_json(s, dir, st, &r, buf_span(&why), &out);
    else
        put_text(s, st, &r, &out);
    print_buf(&out);
    buf_done(&why);
    buf_done(&out);
    return st == ST_OK;
}

static void put_licences(const bool seen[REGISTRY_OTHER + 1])
{
    struct buf out = {0};
    for (registry_name r = REGISTRY_IANA; r <= REGISTRY_OTHER; r++)
        if (seen[r])
            buf_printf(&out, "%s\n", registry_licence(r));
    print_buf(&out);
    buf_done(&out);
}

int hierarchy_cmd_fetch(const struct options *o)
{
    struct buf dir = {0};
    bool seen[REGISTRY_OTHER + 1] = {false};
    size_t good = 0, bad = 0;
    if (opt_cstr(o, OPT_OUTPUT))
        buf_puts(&dir, opt_cstr(o, OPT_OUTPUT));
    else
        buf_printf(&dir, "%s/registry", opt_text(o, OPT_DATA).p);
    int code = EXIT_DONE;
    if (file_mkdir(buf_cstr(&dir)) != ST_OK)
        code = complain(EXIT_IO, "hierarchy fetch: make folder %s: %s", buf_cstr(&dir), strerror(errno));
    for (size_t i = 0; i < registry_source_count && code == EXIT_DONE; i++) {
        const struct registry_source *s = &registry_sources[i];
        if (s->is_rpsl && !opt_flag(o, OPT_RPSL))
            continue;
        bool is_good = fetch(o, s, buf_cstr(&dir));
        good += is_good;
        bad += !is_good;
        seen[s->registry] |= is_good;
    }
    if (!opt_flag(o, OPT_JSON))
        put_licences(seen);
    buf_done(&dir);
    return code != EXIT_DONE || bad == 0 ? code : good ? EXIT_NO : EXIT_IO;
}
