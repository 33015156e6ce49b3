#include "serve/corpus.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/clock.h"

#define RETRY_MS 500 /* between two looks for an index that is not there */

struct corpus {
    char *dir;
    pthread_mutex_t lock;        /* the fields below; opening is short: files are mapped, not read */
    struct index_reader *reader; /* NULL: not opened */
    mono_ms tried;               /* 0: never */
    status open_status, trouble;
};

struct corpus *corpus_new(const char *index_dir)
{
    struct corpus *c = mem_alloc(sizeof(*c));
    c->dir = mem_str(span_str(index_dir));
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void corpus_free(struct corpus *c)
{
    if (!c)
        return;
    index_reader_free(c->reader);
    pthread_mutex_destroy(&c->lock);
    free(c->dir);
    free(c);
}

static status open_reader(struct corpus *c)
{
    mono_ms now = clock_mono();
    if (c->tried && now - c->tried < RETRY_MS)
        return c->open_status;
    struct buf why = {0};
    c->tried = now;
    c->open_status = index_reader_open(c->dir, &c->reader, &why);
    buf_done(&why);
    return c->open_status;
}

static status snapshot(struct corpus *c, struct index_snapshot **out)
{
    struct index_snapshot *s = NULL;
    status st = c->reader ? ST_OK : open_reader(c);
    if (st != ST_OK)
        return st;
    st = index_reader_snapshot(c->reader, &s);
    c->trouble = st;
    if (st == ST_NOT_FOUND) {
        /* The folder was removed: what the old files say is no longer asked for. */
        index_snapshot_free(s);
        index_reader_free(c->reader);
        c->reader = NULL;
        c->tried = clock_mono();
        c->open_status = ST_NOT_FOUND;
        c->trouble = ST_OK;
        return ST_NOT_FOUND;
    }
    if (!s)
        return st == ST_OK ? ST_NOT_FOUND : st;
    *out = s;
    return ST_OK;
}

status corpus_snapshot(struct corpus *c, struct index_snapshot **out)
{
    pthread_mutex_lock(&c->lock);
    status st = snapshot(c, out);
    pthread_mutex_unlock(&c->lock);
    return st;
}

status corpus_trouble(struct corpus *c)
{
    pthread_mutex_lock(&c->lock);
    status st = c->trouble;
    pthread_mutex_unlock(&c->lock);
    return st;
}
