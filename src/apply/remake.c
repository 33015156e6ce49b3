#include "apply/remake.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "apply/alike.h"
#include "apply/apply.h"
#include "apply/erase.h"
#include "apply/learn.h"
#include "base/pack.h"
#include "index/index.h"
#include "store/contents.h"
#include "store/file.h"
#include "web/content.h"

#define SWAP_SETTING "contents_swap" /* number of the last record of contents.new */
#define TELL_EVERY 1024

struct remake {
    struct store *store;
    const struct zip_dict *old;
    struct zip_dict *dict;
    struct contents *to;
    struct learner learner;
    struct zipper *zipper;
    struct unzipper *unzipper;
    struct buf raw, zipped;
    uint64_t content, done;
    remake_progress_fn *progress;
    void *arg;
};

static void dir_of(struct store *s, const char *more, struct buf *out)
{
    buf_clear(out);
    apply_contents_dir(store_dir(s), out);
    buf_puts(out, more);
    (void)buf_cstr(out);
}

/* ---- writing ---- */

static status note_content(void *arg, const struct page *p)
{
    ((struct remake *)arg)->content = p->content;
    return ST_OK;
}

/* ST_NOT_FOUND: the record is of the past. Else its content is in `raw`. */
static status read_live(struct remake *m, const struct contents_record *r)
{
    m->content = 0;
    status st = r->is_gone ? ST_NOT_FOUND : store_page_get(m->store, r->key, note_content, m);
    if (st == ST_OK && m->content != r->fetch_number)
        st = ST_NOT_FOUND;
    buf_clear(&m->raw);
    return st == ST_OK ? unzipper_run(m->unzipper, m->old, r->content, CONTENT_BYTES_MAX, &m->raw) : st;
}

static status learn_record(void *arg, const struct contents_record *r)
{
    struct remake *m = arg;
    status st = read_live(m, r);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_OK : st;
    return learner_add(&m->learner, buf_span(&m->raw)) ? ST_END : ST_OK;
}

static status copy_record(void *arg, const struct contents_record *r)
{
    struct remake *m = arg;
    struct contents_record again = *r;
    status st = read_live(m, r);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_OK : st;
    if (m->progress && ++m->done % TELL_EVERY == 0)
        m->progress(m->arg, "writing texts anew", m->done, 0);
    buf_clear(&m->zipped);
    zipper_run(m->zipper, m->dict, buf_span(&m->raw), &m->zipped);
    again.content = buf_span(&m->zipped);
    return contents_append(m->to, &again);
}

/* With fewer pages than it takes there is none, as in a new folder. */
static status learn(struct remake *m, const char *from)
{
    struct buf d = {0};
    status st = contents_each(from, 0, learn_record, m, NULL);
    if (st != ST_END)
        return st;
    st = learner_train(&m->learner, &d);
    if (st == ST_OK)
        st = contents_put_dictionary(m->to, buf_span(&d));
    if (st == ST_OK)
        st = zip_dict_new(buf_span(&d), LEARN_ZIP_LEVEL, &m->dict);
    buf_done(&d);
    return st == ST_INVALID ? ST_OK : st;
}

static status write_all(struct remake *m, const char *from, const char *to)
{
    struct buf mark = {0};
    status st = contents_open(to, &m->to);
    if (st == ST_OK)
        st = learn(m, from);
    if (st == ST_OK)
        st = contents_each(from, 0, copy_record, m, NULL);
    if (st == ST_OK)
        st = contents_sync(m->to);
    if (st == ST_OK)
        st = file_sync_dir(to);
    if (st == ST_OK) {
        pack_u64(&mark, contents_last(m->to));
        st = store_setting_put(m->store, SWAP_SETTING, buf_span(&mark));
    }
    buf_done(&mark);
    return st == ST_OK ? store_sync(m->store) : st;
}

status remake_write(struct store *s, const struct zip_dict *dict, remake_progress_fn *progress, void *arg)
{
    struct remake m = {.store = s,
                       .old = dict,
                       .zipper = zipper_new(LEARN_ZIP_LEVEL),
                       .unzipper = unzipper_new(),
                       .progress = progress,
                       .arg = arg};
    struct buf from = {0}, to = {0};
    dir_of(s, "", &from);
    dir_of(s, ".new", &to);
    status st = file_remove_dir(to.p);
    if (st == ST_OK)
        st = write_all(&m, from.p, to.p);
    int saved = errno;
    contents_free(m.to);
    zip_dict_free(m.dict);
    zipper_free(m.zipper);
    unzipper_free(m.unzipper);
    learner_done(&m.learner);
    buf_done(&m.raw);
    buf_done(&m.zipped);
    buf_done(&from);
    buf_done(&to);
    errno = saved;
    return st;
}

/* ---- taking its place ---- */

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static status swap(struct store *s, const char *here, const char *new, const char *old)
{
    status st = ST_OK;
    if (is_there(new)) {
        /* Beside `new`, `old` is this run's or an interrupted one's: of both, `here` has what counts least. */
        if (is_there(here) && is_there(old))
            st = file_remove_dir(old);
        if (st == ST_OK && is_there(here) && rename(here, old) != 0)
            st = ST_IO;
        if (st == ST_OK && rename(new, here) != 0)
            st = ST_IO;
        if (st == ST_OK)
            st = file_sync_dir(store_dir(s));
    }
    return st == ST_OK ? file_remove_dir(old) : st;
}

static status settle(struct store *s, struct span mark)
{
    struct buf index = {0};
    apply_index_dir(store_dir(s), &index);
    status st = index_erase(index.p);
    buf_done(&index);
    if (st == ST_OK)
        st = alike_erase(store_dir(s)); /* its stamps are numbers of the old log */
    if (st == ST_OK)
        st = store_begin(s);
    if (st != ST_OK)
        return st;
    /* Numbers of contents are others now; the anchors are those of the same pages. */
    st = store_setting_put(s, APPLY_ANCHORS_SETTING, mark);
    if (st == ST_OK)
        st = store_setting_remove(s, SWAP_SETTING);
    if (st == ST_OK)
        st = erase_settled(s);
    if (st == ST_OK)
        st = store_commit(s);
    if (st != ST_OK)
        store_rollback(s);
    return st;
}

status remake_finish(struct store *s)
{
    struct buf mark = {0}, here = {0}, new = {0}, old = {0};
    dir_of(s, "", &here);
    dir_of(s, ".new", &new);
    dir_of(s, ".old", &old);
    status st = store_setting_get(s, SWAP_SETTING, &mark);
    if (st == ST_NOT_FOUND) {
        st = file_remove_dir(new.p);
    } else if (st == ST_OK) {
        st = swap(s, here.p, new.p, old.p);
        if (st == ST_OK)
            st = settle(s, buf_span(&mark));
    }
    int saved = errno;
    buf_done(&mark);
    buf_done(&here);
    buf_done(&new);
    buf_done(&old);
    errno = saved;
    return st;
}
