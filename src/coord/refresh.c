#include "coord/refresh.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "coord/networks.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "io/registry_build.h"
#include "io/registry_fetch.h"
#include "store/file.h"

#define NEXT_NUMBER "refresh_next"

struct refresh {
    struct coord *c; /* borrowed: its options alone, in the thread */
    struct rng rng;
    wall_ms next;
    bool is_running;
    uint32_t nodes_before; /* of the hierarchy that is in use */
    pthread_t thread;
    atomic_bool cancel, is_over;
    /* of the thread until is_over */
    status st;
    struct buf why;
    unsigned fresh, unchanged, failed;
    uint32_t nodes; /* of the one that was made; 0: none was */
    bool seen[REGISTRY_OTHER + 1];
};

/* ---- the thread ---- */

static bool is_there(const char *dir, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", dir, name);
    bool is = access(buf_cstr(&path), R_OK) == 0;
    buf_done(&path);
    return is;
}

static void note_failure(struct refresh *r, status st, const char *what, const char *why)
{
    if (r->st == ST_OK)
        r->st = st;
    if (r->why.n < 1000)
        buf_printf(&r->why, "%s%s: %s", r->why.n ? "; " : "", what, why);
}

static void fetch_one(struct refresh *r, const struct registry_source *s, const char *dir)
{
    const struct coord_opts *o = &r->c->o;
    struct download_result got;
    struct buf why = {0}, agent = {0};
    buf_printf(&agent, "orbweaver/%.*s", SPAN_ARG(o->version));
    struct download_opts opts = {
        .user_agent = buf_cstr(&agent), .ca_file = o->refresh_ca_file, .proxy = o->refresh_proxy, .cancel = &r->cancel};
    status st = registry_fetch(s, dir, o->refresh_from, &opts, &got, &why);
    if (st == ST_OK) {
        r->fresh += !got.is_unchanged;
        r->unchanged += got.is_unchanged;
        r->seen[s->registry] = true;
    } else {
        r->failed++;
        note_failure(r, st, registry_source_name(s), why.n ? buf_cstr(&why) : status_name(st));
    }
    buf_done(&why);
    buf_done(&agent);
}

/* True: every file that a hierarchy is made of is there, new or from before. The databases of objects are large: those
 * alone that an operator fetched once are kept fresh. */
static bool fetch_all(struct refresh *r, const char *dir)
{
    bool is_whole = true;
    for (size_t i = 0; i < registry_source_count && !atomic_load(&r->cancel); i++) {
        const struct registry_source *s = &registry_sources[i];
        if (s->is_rpsl && !is_there(dir, registry_source_name(s)))
            continue;
        fetch_one(r, s, dir);
        is_whole &= is_there(dir, registry_source_name(s));
    }
    return is_whole;
}

/* A publisher's mishap must not take the place of what works, nor a small hierarchy that of one which was made of more
 * files than are here. */
static void check(struct refresh *r, const struct buf *bytes)
{
    struct hierarchy *h = NULL;
    struct buf why = {0};
    status st = hierarchy_open(buf_span(bytes), &h, &why);
    if (st == ST_OK)
        st = hierarchy_check(h, &why);
    if (st != ST_OK)
        note_failure(r, st, "the new hierarchy", buf_cstr(&why));
    else if (hierarchy_count(h) < r->nodes_before / 2) {
        buf_printf(&why, "%u networks, of %u in the one that is used: make it with orb hierarchy build if it is right",
                   hierarchy_count(h), r->nodes_before);
        note_failure(r, ST_REFUSED, "the new hierarchy has too few", buf_cstr(&why));
    } else
        r->nodes = hierarchy_count(h);
    hierarchy_free(h);
    buf_done(&why);
}

static void build(struct refresh *r, const char *dir)
{
    struct registry_paths paths = {0};
    struct registry_built built = {0};
    struct registry_watch watch = {.cancel = &r->cancel};
    status st = registry_paths_add_folder(&paths, dir);
    if (st == ST_OK)
        st = registry_build(&paths, &watch, clock_wall(), &built);
    if (st != ST_OK)
        note_failure(r, st, built.files && built.failed < paths.count ? paths.list[built.failed] : dir,
                     st == ST_IO ? strerror(errno) : status_name(st));
    else {
        check(r, &built.bytes);
        st = r->nodes ? file_replace(r->c->hierarchy_path, buf_span(&built.bytes)) : ST_OK;
        if (st != ST_OK) {
            r->nodes = 0;
            note_failure(r, st, r->c->hierarchy_path, strerror(errno));
        }
    }
    registry_built_done(&built);
    registry_paths_done(&paths);
}

/* Something came since the hierarchy was made, perhaps last time, when it could not be made. */
static bool is_newer(const struct refresh *r, const char *dir)
{
    struct registry_paths paths = {0};
    struct stat made, sb;
    bool is = stat(r->c->hierarchy_path, &made) != 0 || registry_paths_add_folder(&paths, dir) != ST_OK;
    for (size_t i = 0; i < paths.count && !is; i++)
        if (stat(paths.list[i], &sb) == 0)
            is = sb.st_mtim.tv_sec > made.st_mtim.tv_sec ||
                 (sb.st_mtim.tv_sec == made.st_mtim.tv_sec && sb.st_mtim.tv_nsec > made.st_mtim.tv_nsec);
    registry_paths_done(&paths);
    return is;
}

static void *work(void *arg)
{
    struct refresh *r = arg;
    struct buf dir = {0};
    buf_printf(&dir, "%s/registry", r->c->data_dir);
    if (file_mkdir(buf_cstr(&dir)) != ST_OK)
        note_failure(r, ST_IO, buf_cstr(&dir), strerror(errno));
    else {
        bool is_whole = fetch_all(r, buf_cstr(&dir));
        if (is_whole && is_newer(r, buf_cstr(&dir)) && !atomic_load(&r->cancel))
            build(r, buf_cstr(&dir));
    }
    buf_done(&dir);
    atomic_store(&r->is_over, true);
    return NULL;
}

/* ---- when ---- */

/* Not all the world's coordinators in the same hour. */
static wall_ms after(struct refresh *r, wall_ms now, int64_t ms)
{
    return now + ms + (int64_t)rng_below(&r->rng, (uint64_t)(ms / 10) + 1);
}

static void set_next(struct coord *c, struct refresh *r, wall_ms next)
{
    r->next = next;
    save_number(c, NEXT_NUMBER, (uint64_t)next);
}

/* Switched on for the first time: when the hierarchy that is there is a period old; at once when there is none. */
static wall_ms first_time(const struct coord *c)
{
    struct stat sb;
    if (stat(c->hierarchy_path, &sb) != 0)
        return 0;
    return (wall_ms)sb.st_mtim.tv_sec * 1000 + c->o.refresh_every_ms;
}

struct refresh *refresh_new(struct coord *c)
{
    uint64_t seed = 0;
    if (c->o.refresh_every_ms <= 0)
        return NULL;
    struct refresh *r = mem_alloc(sizeof(*r));
    r->c = c;
    if (entropy_draw(&seed, sizeof(seed)) != ST_OK)
        seed = (uint64_t)clock_wall(); /* only spreads the load of others */
    rng_seed(&r->rng, seed);
    r->next = (wall_ms)load_number(c, NEXT_NUMBER);
    if (r->next == 0)
        r->next = first_time(c);
    /* A shorter period than last time, or a clock that was wrong. */
    wall_ms latest = clock_wall() + c->o.refresh_every_ms + c->o.refresh_every_ms / 10;
    if (r->next > latest)
        r->next = latest;
    return r;
}

static void tell(struct coord *c, struct refresh *r)
{
    struct buf why = {0};
    log_escape(&why, buf_span(&r->why), 1000);
    log_write(c->o.log, r->st == ST_OK ? LOG_INFO : LOG_WARN, "refresh",
              "registry files new=%u unchanged=%u failed=%u networks=%u%s%s%s", r->fresh, r->unchanged, r->failed,
              r->nodes, why.n ? " why=\"" : "", why.n ? buf_cstr(&why) : "", why.n ? "\"" : "");
    for (registry_name i = REGISTRY_IANA; i <= REGISTRY_OTHER; i++)
        if (r->seen[i] && registry_licence(i)[0])
            log_write(c->o.log, LOG_INFO, "refresh", "licence: %s", registry_licence(i));
    buf_done(&why);
}

static void finish(struct coord *c, struct refresh *r, wall_ms now)
{
    int64_t every = c->o.refresh_every_ms, retry = every < REFRESH_RETRY_MS ? every : REFRESH_RETRY_MS;
    pthread_join(r->thread, NULL);
    r->is_running = false;
    tell(c, r);
    set_next(c, r, after(r, now, r->st == ST_OK ? every : retry));
    if (r->nodes)
        networks_look(c);
}

void refresh_tick(struct coord *c, struct refresh *r, wall_ms now)
{
    if (!r)
        return;
    if (r->is_running) {
        if (atomic_load(&r->is_over))
            finish(c, r, now);
        return;
    }
    if (now < r->next)
        return;
    r->st = ST_OK;
    buf_clear(&r->why);
    r->fresh = r->unchanged = r->failed = 0;
    r->nodes = 0;
    r->nodes_before = c->hierarchy ? hierarchy_count(c->hierarchy) : 0;
    memset(r->seen, 0, sizeof(r->seen));
    atomic_store(&r->is_over, false);
    /* Written down before: a refresh that the process does not survive must not be the first thing that the next one
     * does. */
    set_next(c, r, after(r, now, c->o.refresh_every_ms < REFRESH_RETRY_MS ? c->o.refresh_every_ms : REFRESH_RETRY_MS));
    r->is_running = pthread_create(&r->thread, NULL, work, r) == 0;
}

void refresh_free(struct refresh *r)
{
    if (!r)
        return;
    atomic_store(&r->cancel, true);
    if (r->is_running)
        pthread_join(r->thread, NULL);
    buf_done(&r->why);
    free(r);
}
