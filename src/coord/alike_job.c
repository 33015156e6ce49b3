#include "coord/alike_job.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "apply/alike.h"
#include "base/mem.h"
#include "store/groups.h"

#define EVERY_MS (60 * 60 * 1000)
#define RETRY_MS (60 * 1000) /* after a run that failed */
#define NEW_SHARE 50         /* one page in so many */

struct alike_job {
    struct alike_opts o; /* of the run under way */
    char *data_dir;      /* owned */
    const struct log *log;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_running, is_cancelled;
    /* the caller's own */
    mono_ms begun;     /* 0: never */
    uint64_t last;     /* content up to which the last run went */
    _Atomic status st; /* of the last run */
};

struct alike_job *alike_job_new(const char *data_dir, const struct sip_key *key, const struct log *log)
{
    struct alike_job *j = mem_alloc(sizeof(*j));
    struct buf path = {0};
    j->data_dir = mem_str(span_str(data_dir));
    j->log = log;
    j->o = (struct alike_opts){.data_dir = j->data_dir, .key = *key, .is_cancelled = &j->is_cancelled};
    groups_path(data_dir, &path);
    struct groups *now = groups_open(path.p);
    j->last = groups_stamp(now);
    groups_release(now);
    buf_done(&path);
    return j;
}

static void join(struct alike_job *j)
{
    if (j->has_thread)
        pthread_join(j->thread, NULL);
    j->has_thread = false;
}

void alike_job_free(struct alike_job *j)
{
    if (!j)
        return;
    atomic_store(&j->is_cancelled, true);
    join(j);
    free(j->data_dir);
    free(j);
}

static void *run(void *arg)
{
    struct alike_job *j = arg;
    struct alike_report r;
    status st = alike_run(&j->o, &r);
    if (st != ST_OK && st != ST_CANCELLED)
        log_write(j->log, LOG_WARN, "alike", "near-duplicates cannot be looked for what=\"%s\"", status_name(st));
    else if (st == ST_OK)
        log_write(j->log, LOG_INFO, "alike", "near-duplicates pages=%llu read=%llu groups=%llu folded=%llu",
                  (unsigned long long)r.pages, (unsigned long long)r.read, (unsigned long long)r.groups,
                  (unsigned long long)r.folded);
    atomic_store(&j->st, st);
    atomic_store(&j->is_running, false);
    return NULL;
}

static bool is_due(const struct alike_job *j, mono_ms now, bool is_idle, uint64_t last, uint64_t docs)
{
    if (atomic_load(&j->st) != ST_OK)
        return now - j->begun >= RETRY_MS;
    if (last <= j->last)
        return false;
    if (j->begun && now - j->begun >= EVERY_MS)
        return true;
    return is_idle && last - j->last >= docs / NEW_SHARE;
}

/* Whoever takes pages out for good takes the folder away, and may number the log anew. */
static bool was_erased(const struct alike_job *j, uint64_t last)
{
    struct buf dir = {0};
    alike_dir(j->data_dir, &dir);
    bool is = last < j->last || access(dir.p, F_OK) != 0;
    buf_done(&dir);
    return is;
}

void alike_job_poke(struct alike_job *j, mono_ms now, bool is_idle, uint64_t last, uint64_t docs)
{
    if (atomic_load(&j->is_running))
        return;
    join(j);
    if (!j->begun)
        j->begun = now; /* the hour counts from the start */
    if (was_erased(j, last))
        j->last = 0;
    if (!is_due(j, now, is_idle, last, docs))
        return;
    j->begun = now;
    j->last = j->o.last = last;
    atomic_store(&j->is_running, true);
    j->has_thread = pthread_create(&j->thread, NULL, run, j) == 0;
    if (!j->has_thread)
        atomic_store(&j->is_running, false); /* no thread means no memory for one: later perhaps */
}
