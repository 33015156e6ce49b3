#include "sim/recrawl_fleet.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/draw.h"

#define RING 4096u /* steps that events are sorted into; later ones go round */
#define NOBODY UINT32_MAX
#define LIFE_MEAN 1000.0
#define LIFE_DEVIATION 200.0
#define AWAY_MEAN 600.0
#define AWAY_DEVIATION 200.0
#define NOTICE_SHARE (1.0 / 3)

typedef enum event_kind { EVENT_DONE, EVENT_LATE, EVENT_LEAVE, EVENT_RETURN, EVENT_NOTICE } event_kind;

struct event {
    uint32_t at, id, number; /* number: of the task's or agent's stage; it is void when that is over */
    event_kind kind;
};

struct bucket {
    struct event *list;
    size_t count, cap;
};

struct task {
    uint32_t channel, asked, timeout;
    uint32_t agent, next, prev;
    uint32_t number;      /* of its stage */
    uint32_t begun, ends; /* in a thread; waiting: since */
    uint32_t waited;      /* steps, before that: running is no waiting */
    float left, run_steps;
    bool is_running;
};

struct list {
    uint32_t first, last;
};

struct agent {
    struct list running, queue;
    uint32_t busy, queued, lives;
    bool is_here, is_called; /* is_called: it comes back when its time is over */
    bool gives_notice;
};

struct fleet {
    const struct recrawl_ground *ground;
    void (*ended)(void *arg, const struct fleet_end *e);
    void *arg;
    uint32_t step;
    struct agent *agents;
    uint32_t *node_here, *node_idle, *node_room; /* agents that are there, with a thread free, with room to wait */
    size_t here, idle_threads, queued, busy;
    struct task *tasks;
    size_t task_count, task_cap;
    uint32_t task_free;
    struct bucket ring[RING];
    struct fleet_figures figures;
    double *page_rate; /* of an agent's thread */
    double rate_here, rate_steps;
};

/* ---- events ---- */

static void post(struct fleet *f, event_kind kind, uint32_t at, uint32_t id, uint32_t number)
{
    uint32_t to = at <= f->step ? f->step + 1 : at - f->step < RING ? at : f->step + RING - 1;
    struct bucket *b = &f->ring[to % RING];
    b->list = mem_grow(b->list, &b->cap, b->count + 1, sizeof(*b->list));
    b->list[b->count++] = (struct event){at, id, number, kind};
}

/* ---- lists of tasks ---- */

static void list_add(struct fleet *f, struct list *l, uint32_t id)
{
    f->tasks[id].prev = l->last;
    f->tasks[id].next = NOBODY;
    if (l->last == NOBODY)
        l->first = id;
    else
        f->tasks[l->last].next = id;
    l->last = id;
}

static void list_remove(struct fleet *f, struct list *l, uint32_t id)
{
    struct task *t = &f->tasks[id];
    if (t->prev == NOBODY)
        l->first = t->next;
    else
        f->tasks[t->prev].next = t->next;
    if (t->next == NOBODY)
        l->last = t->prev;
    else
        f->tasks[t->next].prev = t->prev;
}

static uint32_t task_new(struct fleet *f)
{
    uint32_t id = f->task_free;
    if (id != NOBODY) {
        f->task_free = f->tasks[id].next;
        return id;
    }
    f->tasks = mem_grow(f->tasks, &f->task_cap, f->task_count + 1, sizeof(*f->tasks));
    f->tasks[f->task_count] = (struct task){0};
    return (uint32_t)f->task_count++;
}

static void task_end(struct fleet *f, uint32_t id, fleet_fate fate)
{
    struct task *t = &f->tasks[id];
    struct fleet_end e = {fate, t->channel, t->asked, (double)t->run_steps};
    t->number++;
    t->next = f->task_free;
    f->task_free = id;
    f->ended(f->arg, &e);
}

/* ---- agents and their room ---- */

static unsigned load_of(const struct agent *a)
{
    return a->busy + a->queued;
}

/* What an agent counts for in its node, added or taken away: before and after each change of its load. */
static void count_agent(struct fleet *f, uint32_t id, int by)
{
    const struct agent *a = &f->agents[id];
    uint32_t node = f->ground->agent[id].node;
    if (!a->is_here)
        return;
    f->node_here[node] += (uint32_t)by;
    f->node_idle[node] += a->busy < RECRAWL_THREADS ? (uint32_t)by : 0;
    f->node_room[node] += load_of(a) < RECRAWL_THREADS + RECRAWL_QUEUE ? (uint32_t)by : 0;
    f->idle_threads += (size_t)(by * (int)(RECRAWL_THREADS - a->busy));
    f->here += (size_t)by;
    f->rate_here += by * f->page_rate[id];
}

static void begin(struct fleet *f, uint32_t agent, uint32_t id)
{
    struct agent *a = &f->agents[agent];
    struct task *t = &f->tasks[id];
    double steps = ceil((double)t->left * ground_crawl_steps(f->ground, t->channel, agent));
    list_add(f, &a->running, id);
    a->busy++;
    f->busy++;
    t->is_running = true;
    t->begun = f->step;
    t->ends = f->step + (steps > 1 ? (uint32_t)steps : 1);
    post(f, EVENT_DONE, t->ends, id, ++t->number);
}

static void give(struct fleet *f, uint32_t agent, uint32_t id)
{
    struct agent *a = &f->agents[agent];
    struct task *t = &f->tasks[id];
    count_agent(f, agent, -1);
    t->agent = agent;
    if (a->busy < RECRAWL_THREADS)
        begin(f, agent, id);
    else {
        list_add(f, &a->queue, id);
        a->queued++;
        f->queued++;
        t->is_running = false;
        t->begun = f->step;
        post(f, EVENT_LATE, f->step + (t->waited < t->timeout ? t->timeout - t->waited : 0), id, ++t->number);
    }
    count_agent(f, agent, 1);
}

/* Takes it out of its agent's hands. */
static void withdraw(struct fleet *f, uint32_t id)
{
    struct task *t = &f->tasks[id];
    struct agent *a = &f->agents[t->agent];
    if (t->is_running) {
        double all = (double)(t->ends - t->begun), ran = (double)(f->step - t->begun);
        list_remove(f, &a->running, id);
        a->busy--;
        f->busy--;
        t->run_steps += (float)ran;
        t->left *= (float)(1 - ran / all);
    } else {
        list_remove(f, &a->queue, id);
        a->queued--;
        f->queued--;
        t->waited += f->step - t->begun;
    }
}

static void next_of_queue(struct fleet *f, uint32_t agent)
{
    struct agent *a = &f->agents[agent];
    if (a->queue.first == NOBODY || a->busy >= RECRAWL_THREADS)
        return;
    uint32_t id = a->queue.first;
    withdraw(f, id);
    begin(f, agent, id);
}

/* ---- who gets a task ---- */

static size_t agents_of_node(const struct fleet *f, size_t node)
{
    return (f->ground->agents - node + f->ground->nodes - 1) / f->ground->nodes;
}

static uint32_t agent_of_node(const struct fleet *f, size_t node, size_t k)
{
    return (uint32_t)(node + k * f->ground->nodes);
}

/* The nearest node's, and of that always the same one, or the next that is there. */
static uint32_t owner_of(const struct fleet *f, uint32_t channel)
{
    const struct recrawl_ground *g = f->ground;
    const uint16_t *order = g->order + (size_t)g->channel[channel].site * g->nodes;
    for (size_t i = 0; i < g->nodes; i++) {
        size_t n = agents_of_node(f, order[i]), first = channel * UINT64_C(0x9e3779b97f4a7c15) >> 33;
        for (size_t k = 0; f->node_here[order[i]] && k < n; k++) {
            uint32_t a = agent_of_node(f, order[i], (first + k) % n);
            if (f->agents[a].is_here)
                return a;
        }
    }
    return NOBODY;
}

static uint32_t least_loaded(const struct fleet *f, size_t node)
{
    uint32_t best = NOBODY;
    for (size_t k = 0, n = agents_of_node(f, node); k < n; k++) {
        uint32_t a = agent_of_node(f, node, k);
        if (f->agents[a].is_here && (best == NOBODY || load_of(&f->agents[a]) < load_of(&f->agents[best])))
            best = a;
    }
    return best;
}

/* The least loaded of the nearest node that has room by `count`; NOBODY. */
static uint32_t elsewhere(const struct fleet *f, uint32_t channel, const uint32_t *count, size_t reach)
{
    const struct recrawl_ground *g = f->ground;
    const uint16_t *order = g->order + (size_t)g->channel[channel].site * g->nodes;
    for (size_t i = 0; i < g->nodes && i < reach; i++)
        if (count[order[i]])
            return least_loaded(f, order[i]);
    return NOBODY;
}

static void assign(struct fleet *f, uint32_t id)
{
    uint32_t channel = f->tasks[id].channel, owner = owner_of(f, channel), other = NOBODY;
    if (owner == NOBODY) {
        task_end(f, id, FATE_LOST);
        return;
    }
    const struct agent *a = &f->agents[owner];
    if (a->busy >= RECRAWL_THREADS && f->idle_threads)
        other = elsewhere(f, channel, f->node_idle, f->ground->nodes);
    else if (load_of(a) >= RECRAWL_THREADS + RECRAWL_QUEUE)
        other = elsewhere(f, channel, f->node_room, FLEET_REACH);
    f->figures.forwarded += other != NOBODY;
    give(f, other != NOBODY ? other : owner, id);
}

void fleet_submit(struct fleet *f, uint32_t channel, uint32_t timeout)
{
    uint32_t id = task_new(f), number = f->tasks[id].number;
    f->tasks[id] = (struct task){
        .channel = channel, .asked = f->step, .timeout = timeout, .left = 1, .number = number, .agent = NOBODY};
    assign(f, id);
}

/* ---- coming and going ---- */

static void arrive(struct fleet *f, uint32_t id)
{
    struct agent *a = &f->agents[id];
    struct rng r = draw_for(f->ground->seed, DRAW_LIFE, id, ++a->lives);
    double life = LIFE_MEAN + LIFE_DEVIATION * draw_normal(&r);
    a->gives_notice = rng_unit(&r) < NOTICE_SHARE;
    a->is_here = true;
    count_agent(f, id, 1);
    post(f, EVENT_LEAVE, f->step + (life > 1 ? (uint32_t)life : 1), id, a->lives);
}

static void lose(struct fleet *f, uint32_t id)
{
    f->tasks[id].number++;
    post(f, EVENT_NOTICE, f->step + FLEET_NOTICE_STEPS, id, f->tasks[id].number);
}

static void depart(struct fleet *f, uint32_t id)
{
    struct agent *a = &f->agents[id];
    struct rng r = draw_for(f->ground->seed, DRAW_LIFE, id, UINT64_C(1) << 32 | a->lives);
    double away = AWAY_MEAN + AWAY_DEVIATION * draw_normal(&r);
    count_agent(f, id, -1);
    a->is_here = false;
    while (a->running.first != NOBODY || a->queue.first != NOBODY) {
        uint32_t task = a->running.first != NOBODY ? a->running.first : a->queue.first;
        withdraw(f, task);
        if (a->gives_notice) {
            f->figures.handed_over++;
            assign(f, task);
        } else
            lose(f, task);
    }
    if (a->is_called)
        post(f, EVENT_RETURN, f->step + (away > 1 ? (uint32_t)away : 1), id, a->lives);
}

void fleet_leave(struct fleet *f, size_t from, size_t to, size_t stride)
{
    for (size_t i = from; i < to; i += stride) {
        f->agents[i].is_called = false;
        if (f->agents[i].is_here)
            depart(f, (uint32_t)i);
        f->agents[i].lives++; /* what was to happen to it does not */
    }
}

void fleet_come(struct fleet *f, size_t from, size_t to, size_t stride)
{
    for (size_t i = from; i < to; i += stride) {
        f->agents[i].is_called = true;
        if (!f->agents[i].is_here)
            arrive(f, (uint32_t)i);
    }
}

/* ---- steps ---- */

static void task_event(struct fleet *f, const struct event *e)
{
    struct task *t = &f->tasks[e->id];
    if (t->number != e->number)
        return;
    if (e->kind == EVENT_NOTICE) {
        task_end(f, e->id, FATE_LOST);
        return;
    }
    uint32_t agent = t->agent;
    count_agent(f, agent, -1);
    withdraw(f, e->id);
    next_of_queue(f, agent);
    count_agent(f, agent, 1);
    task_end(f, e->id, e->kind == EVENT_DONE ? FATE_DONE : FATE_LATE);
}

static void happen(struct fleet *f, const struct event *e)
{
    struct agent *a = &f->agents[e->kind == EVENT_LEAVE || e->kind == EVENT_RETURN ? e->id : 0];
    if (e->at > f->step)
        post(f, e->kind, e->at, e->id, e->number);
    else if (e->kind == EVENT_LEAVE) {
        if (a->is_here && a->lives == e->number)
            depart(f, e->id);
    } else if (e->kind == EVENT_RETURN) {
        if (!a->is_here && a->is_called && a->lives == e->number)
            arrive(f, e->id);
    } else
        task_event(f, e);
}

void fleet_step(struct fleet *f, uint32_t step)
{
    f->step = step;
    f->figures.thread_steps += (double)(f->here * RECRAWL_THREADS);
    f->figures.busy_steps += (double)f->busy;
    f->rate_steps += f->rate_here;
    struct bucket *b = &f->ring[step % RING];
    for (size_t i = 0; i < b->count; i++) {
        struct event e = b->list[i];
        happen(f, &e);
    }
    b->count = 0;
}

struct fleet *fleet_new(const struct recrawl_ground *g, size_t agents,
                        void (*ended)(void *arg, const struct fleet_end *e), void *arg)
{
    struct fleet *f = mem_alloc(sizeof(*f));
    double near_ms = 0;
    *f = (struct fleet){.ground = g, .ended = ended, .arg = arg, .task_free = NOBODY};
    f->agents = mem_alloc(g->agents * sizeof(*f->agents));
    f->page_rate = mem_alloc(g->agents * sizeof(*f->page_rate));
    f->node_here = mem_alloc(g->nodes * sizeof(*f->node_here));
    f->node_idle = mem_alloc(g->nodes * sizeof(*f->node_idle));
    f->node_room = mem_alloc(g->nodes * sizeof(*f->node_room));
    for (size_t i = 0; i < g->channels; i++)
        near_ms += (double)(g->rtt_ms[g->channel[i].site * g->nodes + g->order[g->channel[i].site * g->nodes]] +
                            g->channel[i].spread_ms);
    near_ms /= (double)g->channels;
    for (size_t i = 0; i < g->agents; i++) {
        f->agents[i].running = f->agents[i].queue = (struct list){NOBODY, NOBODY};
        f->page_rate[i] = 60 / ((double)g->agent[i].page_s + (near_ms + (double)g->agent[i].spread_ms) / 1000);
    }
    fleet_come(f, 0, agents, 1);
    return f;
}

void fleet_free(struct fleet *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < RING; i++)
        free(f->ring[i].list);
    free(f->agents);
    free(f->page_rate);
    free(f->node_here);
    free(f->node_idle);
    free(f->node_room);
    free(f->tasks);
    free(f);
}

size_t fleet_free_threads(const struct fleet *f)
{
    return f->idle_threads;
}

size_t fleet_queued(const struct fleet *f)
{
    return f->queued;
}

size_t fleet_present(const struct fleet *f)
{
    return f->here;
}

double fleet_load_variation(const struct fleet *f)
{
    double sum = 0, squares = 0, n = (double)f->here;
    for (size_t i = 0; i < f->ground->agents; i++)
        if (f->agents[i].is_here) {
            double load = load_of(&f->agents[i]);
            sum += load;
            squares += load * load;
        }
    return sum > 0 ? sqrt(fmax(0, squares / n - sum / n * (sum / n))) / (sum / n) : 0;
}

void fleet_figures(const struct fleet *f, struct fleet_figures *out)
{
    *out = f->figures;
    out->page_rate = f->figures.thread_steps > 0 ? f->rate_steps * RECRAWL_THREADS / f->figures.thread_steps : 0;
}
