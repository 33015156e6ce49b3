/* channels.c - what is to be crawled, and which channels a URL belongs to. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/digest.h"
#include "coord/agents.h"
#include "coord/assign.h"
#include "coord/channels.h"
#include "coord/recrawling.h"
#include "io/clock.h"
#include "store/file.h"
#include "store/store.h"
#include "web/domain.h"

struct c_channel *channel_get(struct coord *c, uint64_t id)
{
    return table_get(&c->channels, id);
}

/* A channel over whole domains is found by the domains of its seeds; the others by the names of their hosts. */
static void note_domains(struct coord *c, struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    struct arena a;
    if (o->scope != SCOPE_DOMAIN)
        return;
    arena_init(&a);
    for (size_t i = 0; i < o->seed_count; i++) {
        struct url u;
        arena_reset(&a);
        if (url_parse(&a, o->seeds[i], NULL, &u) != ST_OK)
            continue;
        struct span domain = domain_registered(u.host);
        uint64_t key = siphash(&c->key, domain);
        if (!table_get(&c->domains, key))
            table_put(&c->domains, key, ch);
    }
    arena_done(&a);
}

void channels_index(struct coord *c)
{
    size_t at = 0;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));)
        note_domains(c, ch);
}

/* Somebody says that it is there: if it was not, it is looked up again without waiting. */
static void seed_host(struct coord *c, struct c_channel *ch, struct span url)
{
    struct arena a;
    struct url u;
    arena_init(&a);
    struct c_host *h = url_parse(&a, url, NULL, &u) == ST_OK ? assign_host(c, ch, u.host) : NULL;
    if (h)
        h->retry_at = h->lookups_failed = 0;
    arena_done(&a);
}

static void seed_all(struct coord *c, struct c_channel *ch)
{
    const struct channel_opts *o = channel_get_opts(ch->channel);
    for (size_t i = 0; i < o->seed_count; i++)
        seed_host(c, ch, o->seeds[i]);
    for (size_t i = 0; i < o->list_count; i++) /* whoever has its network reads it */
        seed_host(c, ch, o->lists[i]);
}

status channel_put(struct coord *c, struct channel_form *f, struct c_channel **out, struct buf *why)
{
    uint64_t id = channel_id(f->channel), pinned = 0;
    if (f->agent.n) {
        struct c_agent *a = agent_by_name(c, f->agent);
        if (!a) {
            buf_puts(why, "there is no agent of this name");
            return ST_NOT_FOUND;
        }
        pinned = a->number;
    }
    struct c_channel *ch = channel_get(c, id);
    if (!ch && c->channels.n >= COORD_CHANNELS_MAX) {
        buf_printf(why, "there are %d channels", COORD_CHANNELS_MAX);
        return ST_LIMIT;
    }
    if (ch && ch->is_removed) {
        buf_puts(why, "it is being removed; try again when its agents have confirmed");
        return ST_BUSY;
    }
    bool is_new = !ch;
    if (is_new) {
        ch = mem_alloc(sizeof(*ch));
        ch->id = id;
        ch->added = ch->checked = clock_wall();
        table_put(&c->channels, id, ch);
    } else {
        channel_adopt(f->channel, ch->channel);
        channel_free(ch->channel);
    }
    ch->channel = f->channel;
    f->channel = NULL;
    channel_refuse(ch->channel, c->forgotten);
    set_text(ch->label, sizeof(ch->label), f->label);
    set_text(ch->program, sizeof(ch->program), f->program);
    ch->kind = f->kind ? f->kind : SUMMARY_TEXT;
    ch->wants_warc = f->wants_warc;
    ch->is_paused = f->is_paused;
    ch->is_found = f->is_found;
    ch->is_own = f->is_own;
    ch->expected_pages = f->expected_pages;
    ch->recrawl.rule = f->rule;
    ch->pinned_agent = pinned;
    note_domains(c, ch);
    save_channel(c, ch);
    seed_all(c, ch);
    if (!is_new)
        assign_channel_changed(c, ch);
    recrawling_changed(c, ch);
    *out = ch;
    return ST_OK;
}

/* ---- links into a channel ----
 *
 * They are seeds that its agent gets once. Should that agent vanish with them, nobody would find these pages again: so
 * they are kept, one a line, in links/ID, as far as LINKS_FILE_MAX goes. A line that a kill cut short is no URL of a
 * host we know. */

#define LINKS_FILE_MAX (16u << 20)

static void links_path(const struct coord *c, const struct c_channel *ch, struct buf *out)
{
    buf_printf(out, "%s/links/%016llx", c->data_dir, (unsigned long long)ch->id);
}

/* Its tasks have to end first: their agents still work on it. */
void channel_remove(struct coord *c, struct c_channel *ch)
{
    ch->is_removed = ch->is_paused = c->has_removed = true;
    save_channel(c, ch);
    recrawling_changed(c, ch);
    assign_channel_ends(c, ch);
}

static void forget_domains(struct coord *c, const struct c_channel *ch)
{
    for (size_t at = 0; at < c->domains.cap;) {
        if (c->domains.slots[at].value == ch) {
            table_remove(&c->domains, c->domains.slots[at].key);
            at = 0; /* slots have moved */
        } else {
            at++;
        }
    }
}

static void forget_hosts(struct coord *c, const struct c_channel *ch)
{
    for (size_t i = ch->host_count; i-- > 0;) {
        struct c_host *h = table_get(&c->hosts, siphash(&c->key, ch->hosts[i]));
        for (size_t k = 0; h && k < h->channel_count; k++)
            if (h->channels[k] == ch) {
                h->channels[k] = h->channels[--h->channel_count];
                break;
            }
        if (h && !h->channel_count)
            assign_forget_host(c, h);
    }
}

/* True: it is gone. */
static bool bury(struct coord *c, struct c_channel *ch)
{
    for (size_t i = 0; i < ch->task_count; i++)
        if (!ch->tasks[i]->is_ended)
            return false;
    if (!recrawling_let_go(c, ch))
        return false;
    assign_drop_tasks(c, ch);
    forget_domains(c, ch);
    forget_hosts(c, ch);
    table_remove(&c->channels, ch->id);
    struct buf path = {0};
    links_path(c, ch, &path);
    unlink(buf_cstr(&path));
    buf_done(&path);
    note_trouble(c, remove_channel(c, ch), "forget a channel");
    channel_dispose(ch);
    return true;
}

void channel_dispose(struct c_channel *ch)
{
    for (size_t i = 0; i < ch->host_count; i++)
        free((char *)ch->hosts[i].p);
    free(ch->hosts);
    free(ch->links);
    free(ch->tasks);
    channel_free(ch->channel);
    free(ch);
}

void channel_add_task(struct c_channel *ch, struct c_task *t)
{
    ch->tasks = mem_grow(ch->tasks, &ch->task_cap, ch->task_count + 1, sizeof(struct c_task *));
    ch->tasks[ch->task_count++] = t;
}

/* ---- URLs ---- */

size_t channels_of_url(struct coord *c, const struct url *u, struct c_channel **out, size_t max)
{
    struct c_host *h = table_get(&c->hosts, siphash(&c->key, u->host));
    size_t n = 0;
    for (size_t i = 0; h && i < h->channel_count && n < max; i++)
        if (!h->channels[i]->is_removed && channel_check(h->channels[i]->channel, u, 0, NULL) == CHANNEL_YES)
            out[n++] = h->channels[i];
    struct c_channel *wide = table_get(&c->domains, siphash(&c->key, domain_registered(u->host)));
    bool has_wide = !wide || wide->is_removed;
    for (size_t i = 0; i < n; i++)
        has_wide |= out[i] == wide;
    if (!has_wide && n < max && channel_check(wide->channel, u, 0, NULL) == CHANNEL_YES)
        out[n++] = wide;
    return n;
}

static void remember_link(struct coord *c, struct c_channel *ch, struct span url)
{
    struct buf path = {0}, line = {0};
    links_path(c, ch, &path);
    buf_put(&line, url);
    buf_puts(&line, "\n");
    int fd = open(buf_cstr(&path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat info;
    status st = fd < 0 ? ST_IO : ST_OK;
    if (st == ST_OK && fstat(fd, &info) == 0 && info.st_size < LINKS_FILE_MAX)
        st = file_write_all(fd, buf_span(&line));
    if (fd >= 0)
        close(fd);
    note_trouble(c, st, "keep a link");
    buf_done(&path);
    buf_done(&line);
}

typedef void link_fn(void *arg, struct c_channel *ch, struct c_host *h, const struct url *u);

/* The links that are kept of a channel, to hosts that are known. */
static void each_link(struct coord *c, struct c_channel *ch, link_fn *fn, void *arg)
{
    struct buf path = {0}, text = {0};
    struct arena a;
    links_path(c, ch, &path);
    arena_init(&a);
    if (file_read(buf_cstr(&path), LINKS_FILE_MAX + URL_INPUT_MAX, &text) == ST_OK) {
        struct span rest = buf_span(&text), line;
        while (span_split(&rest, '\n', &line)) {
            struct url u;
            arena_reset(&a);
            if (!line.n || url_parse(&a, line, NULL, &u) != ST_OK)
                continue;
            struct c_host *h = table_get(&c->hosts, siphash(&c->key, u.host));
            if (h)
                fn(arg, ch, h, &u);
        }
    }
    arena_done(&a);
    buf_done(&path);
    buf_done(&text);
}

struct telling {
    struct coord *c;
    const struct c_network *network; /* NULL: all of the agent's */
    uint64_t agent;
    struct store *store;
};

static void tell_network(void *arg, struct c_channel *ch, struct c_host *h, const struct url *u)
{
    const struct telling *t = arg;
    if (h->network && (t->network ? h->network == t->network : h->network->agent == t->agent))
        assign_seed(t->c, ch, h, u->href);
}

void channel_tell_links(struct coord *c, struct c_channel *ch, const struct c_network *n, uint64_t agent)
{
    each_link(c, ch, tell_network, &(struct telling){.c = c, .network = n, .agent = agent});
}

static status is_there(void *arg, const struct page *p)
{
    return ST_OK;
}

static void tell_unvisited(void *arg, struct c_channel *ch, struct c_host *h, const struct url *u)
{
    const struct telling *t = arg;
    if (store_page_get(t->store, siphash(&t->c->key, u->href), is_there, NULL) == ST_NOT_FOUND)
        assign_seed(t->c, ch, h, u->href);
}

/* Between the package that brought a link and the order that passes it on there is nothing on the disk but links/.
 * Whoever has such a URL already leaves it out. */
status channels_tell_again(struct coord *c, struct buf *why)
{
    struct telling t = {.c = c};
    status st = store_open(c->data_dir, STORE_READ, &t.store, why);
    size_t at = 0;
    for (struct c_channel *ch; st == ST_OK && (ch = table_next(&c->channels, &at));)
        if (!ch->is_removed)
            each_link(c, ch, tell_unvisited, &t);
    store_free(t.store);
    return st;
}

void channels_link(struct coord *c, const struct url *u)
{
    struct c_channel *in[8];
    size_t n = channels_of_url(c, u, in, 8);
    for (size_t i = 0; i < n; i++) {
        struct c_host *h = assign_host(c, in[i], u->host);
        if (!h)
            continue;
        remember_link(c, in[i], u->href);
        assign_seed(c, in[i], h, u->href);
    }
}

void channel_know_link(struct c_channel *ch, uint64_t digest)
{
    if (!ch->links)
        ch->links = mem_alloc(COORD_LINKS_A_CHANNEL * sizeof(*ch->links));
    ch->links[ch->link_at] = digest;
    ch->link_at = (ch->link_at + 1) % COORD_LINKS_A_CHANNEL;
    if (ch->link_count < COORD_LINKS_A_CHANNEL)
        ch->link_count++;
}

/* A site that nobody told us of: its start page is the seed. */
void channels_discover(struct coord *c, const struct url *u)
{
    struct buf seed = {0}, why = {0};
    size_t n = (size_t)(u->path.p - u->href.p);
    buf_put(&seed, span_cut(u->href, 0, n));
    buf_puts(&seed, "/");
    struct span seeds[] = {buf_span(&seed)};
    struct channel_opts o = {.seeds = seeds, .seed_count = 1, .scope = SCOPE_SITE, .depth_max = 64};
    struct channel_form f = {.label = u->host, .is_found = true};
    struct c_channel *ch;
    status st = channel_new(&o, &f.channel, &why);
    if (st == ST_OK && !channel_get(c, channel_id(f.channel)))
        st = channel_put(c, &f, &ch, &why);
    if (st != ST_OK)
        log_write(c->o.log, LOG_DEBUG, "channels", "a site that links lead to is not taken why=\"%s\"", buf_cstr(&why));
    channel_free(f.channel);
    buf_done(&seed);
    buf_done(&why);
}

/* ---- how often ---- */

void channel_set_every(struct recrawl_rule *rule, int64_t every_ms)
{
    rule->is_never = every_ms == 0;
    rule->at_most_every = rule->at_least_every = every_ms;
}

int64_t channel_every_ms(const struct c_channel *ch)
{
    const struct recrawl_rule *r = &ch->recrawl.rule;
    return r->at_most_every == r->at_least_every ? r->at_most_every : 0;
}

/* ---- now and then ---- */

void channels_tick(struct coord *c, wall_ms now)
{
    size_t at = 0;
    if (!c->has_removed)
        return;
    c->has_removed = false;
    for (struct c_channel *ch; (ch = table_next(&c->channels, &at));) {
        if (!ch->is_removed)
            continue;
        c->has_removed = true;
        if (bury(c, ch))
            return; /* slots have moved: the others have their turn next time */
    }
}
