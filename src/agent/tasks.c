#include "agent/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/parts.h"
#include "base/mem.h"
#include "base/pack.h"
#include "store/file.h"
#include "wire/fields.h"

#define PAGES_AT_A_TIME 1000
#define STATE_MAX 8192 /* bytes of one packed page state */

/* An order to end that is being carried out. */
struct ending {
    uint64_t order, task;
    bool is_whole;
    struct texts networks; /* of the task, that go */
    struct texts to_take;  /* of those, the ones that no other task has */
    struct parts parts;
    enum { ENDING_TAKES, ENDING_SETTLES, ENDING_WAITS } phase;
    uint64_t wait_for; /* package that must be acknowledged */
};

struct tasks {
    struct tasks_opts o;
    struct crawl *crawl; /* borrowed; NULL: none is open */
    struct task **items; /* owned; oldest first */
    size_t count, cap;
    struct ending *endings; /* owned */
    size_t ending_count, ending_cap;
    bool needs_settling;
};

static const char *path_of(const char *data, uint64_t number, const char *suffix, struct buf *path)
{
    buf_clear(path);
    buf_printf(path, "%s/tasks/%llu%s", data, (unsigned long long)number, suffix);
    return buf_cstr(path);
}

void tasks_states_path(const char *data, uint64_t task, struct buf *out)
{
    path_of(data, task, ".states", out);
}

static struct task *find(const struct tasks *t, uint64_t number)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i]->number == number)
            return t->items[i];
    return NULL;
}

static void add(struct tasks *t, struct task *task)
{
    t->items = mem_grow(t->items, &t->cap, t->count + 1, sizeof(struct task *));
    t->items[t->count++] = task;
}

static status save(struct tasks *t, struct task *task)
{
    struct buf packed = {0}, path = {0};
    task_pack(task, &packed);
    status st = file_replace(path_of(t->o.data, task->number, "", &path), buf_span(&packed));
    if (st == ST_OK)
        task->is_changed = false;
    buf_done(&packed);
    buf_done(&path);
    return st;
}

/* ---- the gate ---- */

static bool has_text(const struct texts *t, struct span text)
{
    for (size_t i = 0; i < t->count; i++)
        if (span_eq(t->items[i], text))
            return true;
    return false;
}

/* What the gate lets through: not what is about to leave. */
static void tell_gate(struct tasks *t, const struct task *task)
{
    struct arena a;
    size_t n, kept = 0;
    arena_init(&a);
    struct network *networks = task_networks(&task->networks, &a, &n);
    for (size_t i = 0; i < n; i++) {
        char text[ADDR_TEXT_MAX + 4];
        bool leaves = has_text(&task->leaving, span_str(network_format(&networks[i], text)));
        if (!leaves && !task->is_ending)
            networks[kept++] = networks[i];
    }
    gate_put(t->o.gate, &(struct gate_task){.task = task->number,
                                            .channel = task->channel,
                                            .kind = task->kind,
                                            .networks = networks,
                                            .network_count = kept,
                                            .hosts = task->hosts.items,
                                            .host_count = task->is_ending ? 0 : task->hosts.count,
                                            .known_links = task->known_links,
                                            .known_link_count = task->known_link_count,
                                            .is_ending = task->is_ending});
    networks = task_networks(&task->pinned, &a, &n);
    for (size_t i = 0; i < n; i++)
        gate_pinned_put(t->o.gate, task->number, &networks[i]);
    arena_done(&a);
}

/* ---- opening ---- */

static void put_aside(struct tasks *t, const char *path)
{
    struct buf bad = {0};
    buf_printf(&bad, "%s.bad", path);
    (void)rename(path, buf_cstr(&bad));
    log_write(t->o.log, LOG_ERROR, "tasks", "a task's file is damaged and put aside path=%s.bad", path);
    buf_done(&bad);
}

static status load_one(struct tasks *t, uint64_t number)
{
    struct buf path = {0}, packed = {0};
    struct task *task = NULL;
    status st = file_read(path_of(t->o.data, number, "", &path), TASK_FILE_MAX, &packed);
    if (st == ST_OK) {
        if (task_unpack(buf_span(&packed), &task) == ST_OK && task->number == number) {
            add(t, task);
            tell_gate(t, task);
        } else {
            task_free(task);
            put_aside(t, path.p);
        }
    }
    buf_done(&path);
    buf_done(&packed);
    return st;
}

static int by_number(const void *a, const void *b)
{
    const struct task *x = *(struct task *const *)a, *y = *(struct task *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static status load(struct tasks *t)
{
    struct buf path = {0};
    buf_printf(&path, "%s/tasks", t->o.data);
    status st = file_mkdir(buf_cstr(&path));
    DIR *d = st == ST_OK ? opendir(path.p) : NULL;
    if (st == ST_OK && !d)
        st = ST_IO;
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        uint64_t number;
        if (span_u64(span_str(e->d_name), UINT64_MAX, &number) && number)
            st = load_one(t, number);
    }
    if (d)
        closedir(d);
    if (t->count)
        qsort(t->items, t->count, sizeof(struct task *), by_number);
    buf_done(&path);
    return st;
}

status tasks_new(const struct tasks_opts *o, struct tasks **out)
{
    struct tasks *t = mem_alloc(sizeof(*t));
    t->o = *o;
    status st = load(t);
    if (st != ST_OK) {
        tasks_free(t);
        return st;
    }
    *out = t;
    return ST_OK;
}

static void ending_done(struct ending *e)
{
    texts_done(&e->networks);
    texts_done(&e->to_take);
    parts_done(&e->parts);
}

void tasks_free(struct tasks *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        task_free(t->items[i]);
    for (size_t i = 0; i < t->ending_count; i++)
        ending_done(&t->endings[i]);
    free(t->items);
    free(t->endings);
    free(t);
}

static status add_channel(struct tasks *t, const struct task *task)
{
    struct channel *c = NULL;
    status st = channel_unpack(buf_span(&task->packed_channel), &c);
    if (st == ST_OK)
        st = crawl_add(t->crawl, c);
    return st == ST_OK ? crawl_program_bind(t->crawl, task->channel, buf_span(&task->program)) : st;
}

status tasks_attach(struct tasks *t, struct crawl *cr)
{
    status st = ST_OK;
    t->crawl = cr;
    for (size_t i = 0; i < t->count; i++) {
        t->items[i]->before = t->items[i]->now; /* the crawl counts anew */
        /* One that is ending may be out of the crawl already: it does not begin again. */
        if (st == ST_OK && t->items[i]->is_started && !t->items[i]->is_ending)
            st = add_channel(t, t->items[i]);
    }
    return st;
}

void tasks_detach(struct tasks *t)
{
    t->crawl = NULL;
}

/* ---- starting ---- */

static bool page_of_state(struct span packed, struct page *out)
{
    struct fields f = fields_of(packed);
    struct span v;
    unsigned tag;
    *out = (struct page){0};
    while (fields_next(&f, &tag, &v)) {
        if (tag == 1)
            out->url = v;
        else if (tag == 2)
            out->depth = (uint16_t)value_u64(v);
        else if (tag == 3)
            out->at = value_i64(v);
        else if (tag == 4)
            out->http_status = (uint16_t)value_u64(v);
        else if (tag == 5)
            out->digest = value_u64(v);
        else if (tag == 6)
            out->etag = v;
        else if (tag == 7)
            out->last_modified = v;
        else if (tag == 8)
            out->page_flags = (uint16_t)value_u64(v);
    }
    return !fields_bad(&f) && out->url.n;
}

static status take_states(struct tasks *t, const struct task *task)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    struct page *pages = mem_alloc(PAGES_AT_A_TIME * sizeof(*pages));
    status st = mapped_open(path_of(t->o.data, task->number, ".states", &path), &m);
    if (st == ST_NOT_FOUND) { /* taken in already, by a run that was killed right after */
        st = ST_OK;
    } else if (st == ST_OK) {
        struct unpack u = unpack_of(mapped_span(m));
        size_t n = 0;
        while (st == ST_OK && !u.bad && !unpack_at_end(&u)) {
            struct span packed = unpack_text(&u, STATE_MAX);
            n += page_of_state(packed, &pages[n]);
            if (n == PAGES_AT_A_TIME) {
                st = crawl_pages_put(t->crawl, task->channel, pages, n);
                n = 0;
            }
        }
        if (st == ST_OK && n)
            st = crawl_pages_put(t->crawl, task->channel, pages, n);
    }
    mapped_free(m);
    buf_done(&path);
    free(pages);
    return st;
}

/* The shards stay parked until the progress callback returns: known pages are known before the first seed is lent. */
static status hand_over(struct tasks *t, struct task *task)
{
    status st = add_channel(t, task); /* again, too: it may have been edited, or have another program */
    if (st == ST_OK && task->has_states)
        st = take_states(t, task);
    for (size_t i = 0; st == ST_OK && i < task->host_states.count; i++) {
        st = crawl_hosts_put(t->crawl, task->host_states.items[i]);
        if (st == ST_CORRUPT || st == ST_NEWER || st == ST_INVALID) {
            log_write(t->o.log, LOG_WARN, "tasks", "a host that was handed over cannot be read task=%llu",
                      (unsigned long long)task->number);
            st = ST_OK;
        }
    }
    if (st == ST_OK && task->seeds.count)
        st = crawl_seed(t->crawl, task->channel, task->seeds.items, task->seeds.count);
    if (st == ST_OK) {
        task->is_started = task->is_handed_over = true;
        task->is_changed = t->needs_settling = true;
    }
    return st;
}

static bool has_news(const struct task *task)
{
    return task->has_states || task->seeds.count || task->host_states.count;
}

status tasks_order(struct tasks *t, const struct task_order *o, bool has_states, struct buf *why)
{
    struct task *task = find(t, o->task);
    bool is_new = !task;
    if (!o->task) {
        buf_puts(why, "a task without a number");
        return ST_INVALID;
    }
    if (is_new)
        task = task_new(o->task);
    status st = task_merge(task, o, why);
    if (st != ST_OK) {
        if (is_new)
            task_free(task);
        return st;
    }
    task->has_states |= has_states;
    if (is_new)
        add(t, task);
    tell_gate(t, task);
    st = save(t, task);
    if (st == ST_OK && task->is_started && t->crawl)
        st = hand_over(t, task);
    if (st != ST_OK)
        buf_printf(why, "cannot be written down (%s)", status_name(st));
    return st;
}

/* ---- rechecks ---- */

static status recheck_now(struct tasks *t, struct task *task)
{
    uint64_t queued = 0;
    status st =
        crawl_recheck(t->crawl, task->channel, task->recheck_pages, task->recheck_older, task->recheck_whole, &queued);
    if (st == ST_OK) {
        task->wants_recheck = false;
        task->is_changed = t->needs_settling = true;
        log_write(t->o.log, LOG_INFO, "tasks", "known pages are looked at again task=%llu pages=%llu",
                  (unsigned long long)task->number, (unsigned long long)queued);
    }
    return st;
}

status tasks_recheck(struct tasks *t, const struct recheck_order *o, struct buf *why)
{
    struct task *task = find(t, o->task);
    if (!task || task->is_ending) {
        buf_puts(why, "no such task");
        return ST_NOT_FOUND;
    }
    task->wants_recheck = true;
    task->recheck_pages = o->pages_max;
    task->recheck_older = o->older_than;
    task->recheck_whole = o->is_whole;
    if (task->is_started && t->crawl)
        return recheck_now(t, task);
    return save(t, task); /* when its turn comes */
}

void tasks_recheck_hosts(struct tasks *t, const struct span *hosts, size_t n)
{
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        bool is_own = false;
        for (size_t k = 0; k < n; k++)
            is_own |= has_text(&task->hosts, hosts[k]);
        if (!is_own || task->is_ending || !task->is_started)
            continue;
        task->wants_recheck = true;
        task->recheck_pages = 0;
        task->recheck_older = 0;
        task->recheck_whole = false;
    }
}

/* ---- ending ---- */

static bool another_has(const struct tasks *t, const struct task *task, struct span network)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i] != task && !t->items[i]->is_ending && t->items[i]->is_started &&
            has_text(&t->items[i]->networks, network) && !has_text(&t->items[i]->leaving, network))
            return true;
    return false;
}

static void list_networks(struct tasks *t, const struct task *task, const struct end_order *o, struct ending *e)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    for (size_t i = 0; i < o->network_count; i++)
        texts_put_new(&e->networks, o->networks[i]);
    for (size_t i = 0; e->is_whole && i < task->networks.count; i++)
        texts_put_new(&e->networks, task->networks.items[i]);
    const struct network *pinned = gate_pinned_networks(t->o.gate, task->number, &a, &n);
    for (size_t i = 0; e->is_whole && i < n; i++) {
        char text[ADDR_TEXT_MAX + 4];
        texts_put_new(&e->networks, span_str(network_format(&pinned[i], text)));
    }
    /* The hosts of a network go when its last task goes: all channels share them. */
    for (size_t i = 0; task->is_started && i < e->networks.count; i++)
        if (!another_has(t, task, e->networks.items[i]))
            texts_put(&e->to_take, e->networks.items[i]);
    arena_done(&a);
}

static struct ending *find_ending(const struct tasks *t, uint64_t order)
{
    for (size_t i = 0; i < t->ending_count; i++)
        if (t->endings[i].order == order)
            return &t->endings[i];
    return NULL;
}

status tasks_end(struct tasks *t, uint64_t order, const struct end_order *o, struct buf *why)
{
    struct task *task = find(t, o->task);
    if (find_ending(t, order))
        return ST_OK;
    struct ending e = {.order = order, .task = o->task, .is_whole = o->network_count == 0, .phase = ENDING_TAKES};
    /* What a killed run took out already is here. */
    status st = parts_read(t->o.data, order, &e.parts);
    if (st != ST_OK && st != ST_NOT_FOUND) {
        buf_puts(why, "what was taken out before cannot be read");
        return st;
    }
    if (task) {
        list_networks(t, task, o, &e);
        /* What it never began with is handed on as it came. */
        for (size_t i = 0; e.is_whole && !task->is_started && i < task->host_states.count; i++) {
            char name[32];
            snprintf(name, sizeof(name), "#%zu", i);
            parts_put(&e.parts, span_str(name), task->host_states.items[i]);
        }
        task->is_ending |= e.is_whole;
        for (size_t i = 0; i < e.networks.count; i++)
            texts_put_new(&task->leaving, e.networks.items[i]);
        tell_gate(t, task);
        st = save(t, task); /* after a kill nothing of it is asked again before the order is */
        if (st != ST_OK) {
            ending_done(&e);
            return st;
        }
    }
    t->endings = mem_grow(t->endings, &t->ending_cap, t->ending_count + 1, sizeof(*t->endings));
    t->endings[t->ending_count++] = e;
    return ST_OK;
}

static status keep_host(void *arg, struct span host, struct span packed)
{
    parts_put(arg, host, packed);
    return ST_OK;
}

/* Networks go one after the other; each that is out is on the disk before the next checkpoint forgets it. */
static status take_networks(struct tasks *t, struct ending *e)
{
    status st = ST_OK;
    size_t before = e->parts.count;
    while (st == ST_OK && e->to_take.count) {
        struct network n;
        struct span text = e->to_take.items[e->to_take.count - 1];
        if (network_parse(text, &n) == ST_OK)
            st = crawl_network_take(t->crawl, &n, keep_host, &e->parts);
        if (st == ST_OK)
            texts_remove(&e->to_take, text);
    }
    if (e->parts.count != before) {
        status written = parts_write(t->o.data, e->order, &e->parts);
        if (written != ST_OK)
            return written;
    }
    return st;
}

static bool channel_is_used(const struct tasks *t, const struct task *task)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i] != task && t->items[i]->channel == task->channel && !t->items[i]->is_ending)
            return true;
    return false;
}

static status remove_task(struct tasks *t, struct task *task)
{
    struct buf path = {0};
    status st = ST_OK;
    unlink(path_of(t->o.data, task->number, ".states", &path));
    if (unlink(path_of(t->o.data, task->number, "", &path)) != 0 && errno != ENOENT)
        st = ST_IO;
    gate_remove(t->o.gate, task->number);
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i] == task) {
            memmove(&t->items[i], &t->items[i + 1], (t->count - i - 1) * sizeof(*t->items));
            t->count--;
            break;
        }
    task_free(task);
    buf_done(&path);
    return st;
}

/* Its packages are safe at the coordinator: now the task may forget the networks. */
static status conclude(struct tasks *t, struct ending *e, bool *has_parts)
{
    struct task *task = find(t, e->task);
    status st = ST_OK;
    *has_parts = e->parts.count > 0;
    if (*has_parts)
        st = parts_write(t->o.data, e->order, &e->parts);
    struct ending gone = *e;
    size_t at = (size_t)(e - t->endings);
    if (st != ST_OK)
        return st;
    memmove(e, e + 1, (t->ending_count - at - 1) * sizeof(*e));
    t->ending_count--;
    if (task && gone.is_whole) {
        st = remove_task(t, task);
    } else if (task) {
        for (size_t i = 0; i < gone.networks.count; i++) {
            texts_remove(&task->networks, gone.networks.items[i]);
            texts_remove(&task->pinned, gone.networks.items[i]);
            texts_remove(&task->leaving, gone.networks.items[i]);
        }
        tell_gate(t, task);
        st = save(t, task);
    }
    ending_done(&gone);
    return st;
}

status tasks_end_step(struct tasks *t, uint64_t order, bool *has_parts)
{
    struct ending *e = find_ending(t, order);
    if (!e)
        return ST_NOT_FOUND;
    const struct task *task = find(t, e->task);
    bool needs_crawl = task && task->is_started;
    status st = ST_OK;
    if (needs_crawl && !t->crawl)
        return ST_AGAIN;
    if (e->phase == ENDING_TAKES) {
        if (needs_crawl)
            st = take_networks(t, e);
        if (st == ST_OK && needs_crawl && e->is_whole && !channel_is_used(t, task))
            st = crawl_drop(t->crawl, task->channel);
        if (st != ST_OK)
            return st;
        e->phase = ENDING_SETTLES;
        if (needs_crawl) {
            t->needs_settling = true;
            return ST_AGAIN;
        }
    }
    if (e->phase == ENDING_SETTLES) {
        if (t->needs_settling)
            return ST_AGAIN;
        e->wait_for = spool_newest(t->o.spool);
        e->phase = ENDING_WAITS;
    }
    return spool_acknowledged(t->o.spool) >= e->wait_for ? conclude(t, e, has_parts) : ST_AGAIN;
}

/* ---- now and then ---- */

static void look(struct tasks *t, struct task *task)
{
    struct channel_progress p = {0};
    bool is_there = t->crawl && task->is_started && crawl_channel_progress(t->crawl, task->channel, &p);
    if (is_there) {
        task->queued = p.queued - (p.queued_given_up < p.queued ? p.queued_given_up : p.queued);
        task->now = (struct task_totals){task->before.fetched + p.fetched, task->before.unchanged + p.unchanged,
                                         task->before.errors + p.errors, task->before.gone + p.gone,
                                         task->before.bytes + p.bytes};
    }
    task->state = task->is_ending     ? TASK_ENDING
                  : !task->is_started ? TASK_WAITING
                  : task->queued      ? TASK_RUNNING
                                      : TASK_DONE;
}

static void note_pinned(struct tasks *t, struct task *task)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    const struct network *pinned = gate_pinned_networks(t->o.gate, task->number, &a, &n);
    for (size_t i = task->pinned.count; i < n; i++) {
        char text[ADDR_TEXT_MAX + 4];
        task->is_changed |= texts_put_new(&task->pinned, span_str(network_format(&pinned[i], text)));
    }
    arena_done(&a);
}

void tasks_look(struct tasks *t)
{
    for (size_t i = 0; i < t->count; i++) {
        look(t, t->items[i]);
        if (t->items[i]->hosts.count)
            note_pinned(t, t->items[i]);
    }
}

status tasks_tick(struct tasks *t, unsigned running_max, bool may_start)
{
    status st = ST_OK;
    tasks_look(t);
    size_t running = tasks_count(t, TASK_RUNNING);
    for (size_t i = 0; t->crawl && st == ST_OK && i < t->count; i++) {
        struct task *task = t->items[i];
        bool begins = task->state == TASK_WAITING && may_start && running < running_max;
        if (begins || (task->is_started && !task->is_ending && has_news(task)))
            st = hand_over(t, task);
        if (begins) {
            running++;
            task->state = TASK_RUNNING;
        }
        if (st == ST_OK && task->wants_recheck && task->is_started && !task->is_ending)
            st = recheck_now(t, task);
    }
    return st;
}

bool tasks_need_settling(const struct tasks *t)
{
    return t->needs_settling;
}

status tasks_settled(struct tasks *t)
{
    struct buf path = {0};
    status st = ST_OK;
    t->needs_settling = false;
    for (size_t i = 0; i < t->count && st == ST_OK; i++) {
        struct task *task = t->items[i];
        if (!task->is_changed)
            continue;
        bool had_states = task->has_states && task->is_handed_over;
        if (task->is_handed_over) {
            task->has_states = task->is_handed_over = false;
            texts_done(&task->seeds);
            texts_done(&task->host_states);
        }
        st = save(t, task);
        if (st == ST_OK && had_states)
            unlink(path_of(t->o.data, task->number, ".states", &path));
    }
    buf_done(&path);
    return st;
}

status tasks_save_progress(struct tasks *t)
{
    status st = ST_OK;
    for (size_t i = 0; i < t->count && st == ST_OK; i++) {
        struct task *task = t->items[i];
        if (task->is_changed || memcmp(&task->now, &task->saved, sizeof(task->now)) != 0) {
            st = save(t, task);
            task->saved = task->now;
        }
    }
    return st;
}

size_t tasks_count(const struct tasks *t, task_state s)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += t->items[i]->state == s;
    return n;
}

struct task_report *tasks_report(const struct tasks *t, struct arena *a, size_t *count)
{
    struct task_report *out = arena_alloc(a, (t->count + 1) * sizeof(*out));
    for (size_t i = 0; i < t->count; i++) {
        const struct task *k = t->items[i];
        out[i] = (struct task_report){.task = k->number,
                                      .state = k->state,
                                      .queued = k->queued,
                                      .fetched = k->now.fetched,
                                      .unchanged = k->now.unchanged,
                                      .errors = k->now.errors,
                                      .gone = k->now.gone,
                                      .bytes = k->now.bytes};
    }
    *count = t->count;
    return out;
}

void tasks_each(const struct tasks *t, task_fn *fn, void *arg)
{
    for (size_t i = 0; i < t->count; i++)
        fn(arg, t->items[i]);
}
