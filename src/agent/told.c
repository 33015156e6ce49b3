#include "agent/told.h"

#include <stdlib.h>

#include "base/mem.h"

void told_done(struct told *t)
{
    free(t->known.tasks);
    free(t->next.tasks);
}

static bool is_known(const struct told_list *known, size_t *at, const struct told_task *now)
{
    const struct task_report *r = &now->report;
    size_t i = *at;
    while (i < known->count && known->tasks[i].report.task != r->task)
        i++;
    if (i == known->count)
        return false; /* it is new */
    *at = i + 1;
    const struct told_task *was = &known->tasks[i];
    const struct task_report *w = &was->report;
    return was->orders == now->orders && w->state == r->state && w->queued == r->queued && w->fetched == r->fetched &&
           w->unchanged == r->unchanged && w->errors == r->errors && w->gone == r->gone && w->bytes == r->bytes &&
           w->visit.number == r->visit.number;
}

size_t told_news(struct told *t, const struct task_report *all, const unsigned *orders, size_t n, bool is_all,
                 struct task_report *news)
{
    size_t at = 0, count = 0;
    t->next.tasks = mem_grow(t->next.tasks, &t->next.cap, n + 1, sizeof(*t->next.tasks));
    t->next.count = n;
    for (size_t i = 0; i < n; i++) {
        t->next.tasks[i] = (struct told_task){all[i], orders[i]};
        bool is_old = is_known(&t->known, &at, &t->next.tasks[i]);
        if (is_all || !is_old)
            news[count++] = all[i];
    }
    return count;
}

void told_arrived(struct told *t)
{
    struct told_list was = t->known;
    t->known = t->next;
    t->next = was;
}
