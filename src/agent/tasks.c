#include "agent/tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/tasks_internal.h"
#include "base/mem.h"
#include "base/pack.h"
#include "io/clock.h"
#include "store/file.h"
#include "wire/fields.h"

#define PAGES_AT_A_TIME 1000
#define STATE_MAX 8192 /* bytes of one packed page state */

const char *task_path(const char *data, uint64_t number, const char *suffix, struct buf *path)
{
    buf_clear(path);
    buf_printf(path, "%s/tasks/%llu%s", data, (unsigned long long)number, suffix);
    return buf_cstr(path);
}

void tasks_states_path(const char *data, uint64_t task, struct buf *out)
{
    task_path(data, task, ".states", out);
}

struct task *tasks_find(const struct tasks *t, uint64_t number)
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

/* ---- writing down ---- */

static void put_file(struct tasks *t, struct file_batch *b, const struct task *task)
{
    struct buf packed = {0}, path = {0};
    task_pack(task, &packed);
    file_batch_put(b, task_path(t->o.data, task->number, "", &path), buf_span(&packed));
    buf_done(&packed);
    buf_done(&path);
}

/* Those that have changed; with_progress: those whose counters have, too. */
static status write_down(struct tasks *t, bool with_progress)
{
    struct file_batch b = {0};
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        bool is_due = with_progress && memcmp(&task->now, &task->saved, sizeof(task->now)) != 0;
        if (task->is_changed || is_due)
            put_file(t, &b, task);
    }
    status st = file_batch_end(&b);
    for (size_t i = 0; st == ST_OK && i < t->count; i++) {
        t->items[i]->is_changed = false;
        t->items[i]->saved = t->items[i]->now;
    }
    return st;
}

status tasks_write_down(struct tasks *t)
{
    return write_down(t, false);
}

status tasks_save_progress(struct tasks *t)
{
    return write_down(t, true);
}

/* ---- the gate ---- */

/* Limits of networks that others have parts of. */
static void share_limits(struct tasks *t, const struct task *task)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    struct network *networks = task_networks(&task->networks, &a, &n);
    for (size_t i = 0; i < n; i++) {
        t->has_shared |= networks[i].parts != 0;
        networks[i].parts = gate_parts_of(t->o.gate, &networks[i]);
        if (t->has_shared && t->crawl)
            crawl_network_share(t->crawl, &networks[i]);
    }
    arena_done(&a);
}

/* What the gate lets through: not what is about to leave. */
void task_tell_gate(struct tasks *t, const struct task *task)
{
    struct arena a;
    size_t n, kept = 0;
    arena_init(&a);
    struct network *networks = task_networks(&task->networks, &a, &n);
    for (size_t i = 0; i < n; i++) {
        char text[NETWORK_TEXT_MAX];
        bool leaves = texts_have(&task->leaving, span_str(network_format(&networks[i], text)));
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
                                            .others = task->others.items,
                                            .other_count = task->others.count,
                                            .known_links = task->known_links,
                                            .known_link_count = task->known_link_count,
                                            .is_ending = task->is_ending});
    for (size_t i = 0; i < task->countries.count; i++) {
        struct span network = task->countries.items[i], country;
        struct network at;
        if (span_split(&network, ' ', &country) && network_parse(network, &at) == ST_OK)
            gate_country(t->o.gate, &at, country);
    }
    networks = task_networks(&task->pinned, &a, &n);
    for (size_t i = 0; i < n; i++)
        gate_pinned_put(t->o.gate, task->number, &networks[i]);
    arena_done(&a);
    share_limits(t, task);
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
    status st = file_read(task_path(t->o.data, number, "", &path), TASK_FILE_MAX, &packed);
    if (st == ST_OK) {
        if (task_unpack(buf_span(&packed), &task) == ST_OK && task->number == number) {
            task->visit_here = clock_wall();
            add(t, task);
            task_tell_gate(t, task);
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
        st = crawl_add_unseeded(t->crawl, c);
    if (st == ST_OK)
        st = crawl_capture(t->crawl, task->channel, task->wants_warc);
    return st == ST_OK ? crawl_program_bind(t->crawl, task->channel, buf_span(&task->program)) : st;
}

static bool has_news(const struct task *task)
{
    return task->has_states || task->seeds.count || task->host_states.count;
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
        if (st == ST_OK && t->items[i]->is_started && !t->items[i]->is_ending && !has_news(t->items[i]))
            st = crawl_add_seeds(cr, t->items[i]->channel);
        share_limits(t, t->items[i]);
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
        else if (tag == 9)
            out->rate = value_u64(v);
    }
    return !fields_bad(&f) && out->url.n;
}

static status take_states(struct tasks *t, const struct task *task)
{
    struct buf path = {0};
    struct mapped *m = NULL;
    struct page *pages = mem_alloc(PAGES_AT_A_TIME * sizeof(*pages));
    status st = mapped_open(task_path(t->o.data, task->number, ".states", &path), &m);
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
    if (st == ST_OK)
        st = crawl_add_seeds(t->crawl, task->channel);
    if (st == ST_OK && task->seeds.count)
        st = crawl_seed(t->crawl, task->channel, task->seeds.items, task->seeds.count);
    if (st == ST_OK) {
        task->is_started = task->is_handed_over = true;
        task->is_changed = t->needs_settling = true;
    }
    return st;
}

status tasks_order(struct tasks *t, const struct task_order *o, bool has_states, struct buf *why)
{
    struct task *task = tasks_find(t, o->task);
    bool is_new = !task;
    if (!o->task) {
        buf_puts(why, "a task without a number");
        return ST_INVALID;
    }
    if (is_new)
        task = task_new(o->task);
    task->orders++;
    status st = task_merge(task, o, why);
    if (st != ST_OK) {
        if (is_new)
            task_free(task);
        return st;
    }
    task->has_states |= has_states;
    if (is_new)
        add(t, task);
    task_tell_gate(t, task);
    task->is_changed = true;
    if (task->is_started && t->crawl)
        st = hand_over(t, task);
    if (st != ST_OK)
        buf_printf(why, "cannot be written down (%s)", status_name(st));
    return st;
}

/* ---- rechecks ---- */

static status recheck_now(struct tasks *t, struct task *task)
{
    uint64_t queued = 0;
    wall_ms older = task->visit_begun > task->recheck_older ? task->visit_begun : task->recheck_older;
    status st = crawl_recheck(t->crawl, task->channel, task->recheck_pages, older, task->recheck_whole, &queued);
    if (st == ST_OK) {
        task->wants_recheck = false;
        task->is_changed = t->needs_settling = true;
        log_write(t->o.log, LOG_INFO, "tasks", "known pages are looked at again task=%llu pages=%llu",
                  (unsigned long long)task->number, (unsigned long long)queued);
    }
    return st;
}

/* A visit is written down before its first request: whoever comes after a kill looks only at what was not visited since
 * it began. So it begins with the next tick. */
static void begin_visit(struct task *task, uint64_t visit)
{
    task->visit = visit;
    task->visit_begun = task->visit_here = clock_wall();
    task->visit_from = task->now;
}

status tasks_recheck(struct tasks *t, const struct recheck_order *o, struct buf *why)
{
    struct task *task = tasks_find(t, o->task);
    if (!task || task->is_ending) {
        buf_puts(why, "no such task");
        return ST_NOT_FOUND;
    }
    task->orders++;
    if (o->visit && (o->visit == task->visit || o->visit <= task->visited.number))
        return ST_OK; /* said again */
    task->wants_recheck = true;
    task->recheck_pages = o->pages_max;
    task->recheck_older = o->older_than;
    task->recheck_whole = o->is_whole;
    if (o->visit)
        begin_visit(task, o->visit);
    else if (task->is_started && t->crawl)
        return recheck_now(t, task);
    task->is_changed = true; /* when its turn comes */
    return ST_OK;
}

/* One that was not begun knows no pages: there is nothing to be told of. */
status tasks_told(struct tasks *t, const struct told_order *o, struct buf *why)
{
    const struct task *task = tasks_find(t, o->task);
    struct texts urls = {0};
    struct span rest = o->urls, line;
    if (!task || task->is_ending) {
        buf_puts(why, "no such task");
        return ST_NOT_FOUND;
    }
    if (!task->is_started)
        return ST_OK;
    if (!t->crawl)
        return ST_AGAIN;
    while (span_split(&rest, '\n', &line))
        if (line.n)
            texts_put(&urls, line);
    status st = crawl_told(t->crawl, task->channel, urls.items, urls.count, o->at);
    texts_done(&urls);
    t->needs_settling |= st == ST_OK;
    return st;
}

void tasks_recheck_hosts(struct tasks *t, const struct span *hosts, size_t n)
{
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        bool is_own = false;
        for (size_t k = 0; k < n; k++)
            is_own |= texts_have(&task->hosts, hosts[k]);
        if (!is_own || task->is_ending || !task->is_started)
            continue;
        task->wants_recheck = true;
        task->recheck_pages = 0;
        task->recheck_older = 0;
        task->recheck_whole = false;
    }
}

/* ---- now and then ---- */

static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0;
}

/* Nothing of it waits any more, and all that was found is in the store and counted. */
static void end_visit(struct tasks *t, struct task *task)
{
    const struct task_totals *now = &task->now, *from = &task->visit_from;
    struct visit_report v = {.number = task->visit,
                             .changed = since(now->changed, from->changed),
                             .added = since(now->added, from->added),
                             .gone = since(now->gone, from->gone),
                             .failed = since(now->errors, from->errors),
                             .took_ms = clock_wall() - task->visit_here,
                             .changed_at = task->changed_at};
    /* A visit that had time for lists alone did look at something, and so the site answered. */
    v.looked = v.changed + v.added + v.gone + v.failed + since(now->unchanged, from->unchanged) +
               since(now->lists, from->lists);
    if (v.took_ms < 0)
        v.took_ms = 0;
    if (crawl_count_told(t->crawl, task->channel, &v.told) != ST_OK)
        v.told = 0; /* the next one says it */
    task->visited = v;
    task->visit = 0;
    task->visit_begun = 0;
    task->is_changed = true;
}

static void look(struct tasks *t, struct task *task)
{
    struct channel_progress p = {0};
    bool is_there = t->crawl && task->is_started && crawl_channel_progress(t->crawl, task->channel, &p);
    if (is_there) {
        task->queued = p.queued - (p.queued_given_up < p.queued ? p.queued_given_up : p.queued);
        task->now = (struct task_totals){task->before.fetched + p.fetched, task->before.unchanged + p.unchanged,
                                         task->before.errors + p.errors,   task->before.gone + p.gone,
                                         task->before.bytes + p.bytes,     task->before.added + p.added,
                                         task->before.changed + p.changed, task->before.lists + p.lists};
        task->storing = p.storing;
        task->changed_at = p.changed_at;
    }
    task->state = task->is_ending     ? TASK_ENDING
                  : !task->is_started ? TASK_WAITING
                  : task->queued      ? TASK_RUNNING
                                      : TASK_DONE;
    if (is_there && task->visit_begun && !task->wants_recheck && !task->queued && !task->storing)
        end_visit(t, task);
}

static void note_pinned(struct tasks *t, struct task *task)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    const struct network *pinned = gate_pinned_networks(t->o.gate, task->number, &a, &n);
    for (size_t i = task->pinned.count; i < n; i++) {
        char text[NETWORK_TEXT_MAX];
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
    t->needs_settling = false;
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        if (!task->is_handed_over)
            continue;
        texts_done(&task->seeds);
        texts_done(&task->host_states);
        task->drops_states = task->has_states;
        task->has_states = task->is_handed_over = false;
        task->is_changed = true;
    }
    status st = write_down(t, false);
    for (size_t i = 0; st == ST_OK && i < t->count; i++) {
        if (t->items[i]->drops_states)
            unlink(task_path(t->o.data, t->items[i]->number, ".states", &path));
        t->items[i]->drops_states = false;
    }
    buf_done(&path);
    return st;
}

size_t tasks_count(const struct tasks *t, task_state s)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += t->items[i]->state == s;
    return n;
}

size_t tasks_busy(const struct tasks *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++)
        n += (t->items[i]->state == TASK_WAITING || t->items[i]->state == TASK_RUNNING) && !t->items[i]->visit;
    return n;
}

bool tasks_have_visits(const struct tasks *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i]->visit)
            return true;
    return false;
}

struct task_report *tasks_report(const struct tasks *t, struct arena *a, size_t *count, unsigned **orders)
{
    struct task_report *out = arena_alloc(a, (t->count + 1) * sizeof(*out));
    *orders = arena_alloc(a, (t->count + 1) * sizeof(**orders));
    for (size_t i = 0; i < t->count; i++) {
        const struct task *k = t->items[i];
        out[i] = (struct task_report){.task = k->number,
                                      .state = k->state,
                                      .queued = k->queued,
                                      .fetched = k->now.fetched,
                                      .unchanged = k->now.unchanged,
                                      .errors = k->now.errors,
                                      .gone = k->now.gone,
                                      .bytes = k->now.bytes,
                                      .has_visit = k->visited.number != 0,
                                      .visit = k->visited};
        (*orders)[i] = k->orders;
    }
    *count = t->count;
    return out;
}

void tasks_each(const struct tasks *t, task_fn *fn, void *arg)
{
    for (size_t i = 0; i < t->count; i++)
        fn(arg, t->items[i]);
}
