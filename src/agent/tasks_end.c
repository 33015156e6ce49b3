/* tasks_end.c - tasks that end, and networks that leave: what is known of them is taken out of the crawl, and waits as
 * parts until the coordinator has everything that was found. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/tasks_internal.h"
#include "base/mem.h"

void ending_done(struct ending *e)
{
    texts_done(&e->networks);
    texts_done(&e->to_take);
    parts_done(&e->parts);
}

static bool another_has(const struct tasks *t, const struct task *task, struct span network)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i] != task && !t->items[i]->is_ending && t->items[i]->is_started &&
            texts_have(&t->items[i]->networks, network) && !texts_have(&t->items[i]->leaving, network))
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
        char text[NETWORK_TEXT_MAX];
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
    struct task *task = tasks_find(t, o->task);
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
        task_tell_gate(t, task);
        task->is_changed = true;
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

/* Networks go one after the other. */
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
    e->has_new_parts |= e->parts.count != before;
    return st;
}

status tasks_keep_parts(struct tasks *t)
{
    status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < t->ending_count; i++) {
        struct ending *e = &t->endings[i];
        if (e->has_new_parts)
            st = parts_write(t->o.data, e->order, &e->parts);
        e->has_new_parts &= st != ST_OK;
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
    unlink(task_path(t->o.data, task->number, ".states", &path));
    if (unlink(task_path(t->o.data, task->number, "", &path)) != 0 && errno != ENOENT)
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
    struct task *task = tasks_find(t, e->task);
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
        task_tell_gate(t, task);
        task->is_changed = true;
    }
    ending_done(&gone);
    return st;
}

status tasks_end_step(struct tasks *t, uint64_t order, bool *has_parts)
{
    struct ending *e = find_ending(t, order);
    if (!e)
        return ST_NOT_FOUND;
    const struct task *task = tasks_find(t, e->task);
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
