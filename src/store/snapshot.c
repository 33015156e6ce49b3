#include "store/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "store/fleet.h"
#include "store/store.h"

#define TRIES 20
#define OPEN ".open" /* of a WARC file that is being written */
#define DEPTH_MAX 8

/* ---- removing ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)remove(path);
    return 0;
}

void snapshot_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

static _Thread_local uint64_t bytes_sum; /* nftw passes no argument along */

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *at)
{
    if (type == FTW_F && st->st_nlink == 1)
        bytes_sum += (uint64_t)st->st_blocks * 512;
    return 0;
}

uint64_t snapshot_sweep(const char *data_dir, bool is_dry)
{
    struct buf path = {0};
    DIR *d = opendir(data_dir);
    bytes_sum = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        uint64_t pid;
        struct span name = span_str(e->d_name);
        if (!span_starts(name, SPAN(SNAPSHOT_PREFIX)) ||
            !span_u64(span_from(name, sizeof(SNAPSHOT_PREFIX) - 1), INT32_MAX, &pid) ||
            (pid && (kill((pid_t)pid, 0) == 0 || errno == EPERM)))
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s/%s", data_dir, e->d_name);
        (void)nftw(buf_cstr(&path), add_bytes, 16, FTW_PHYS);
        if (!is_dry)
            snapshot_remove(path.p);
    }
    if (d)
        closedir(d);
    buf_done(&path);
    return bytes_sum;
}

/* ---- linking ---- */

struct maker {
    const struct snapshot_opts *o;
    struct buf to; /* the snapshot */
    struct buf a, b;
    bool has_lost; /* something was gone before it could be linked */
};

static const char *path_in(struct buf *out, const char *dir, const char *name)
{
    buf_clear(out);
    buf_printf(out, "%s/%s", dir, name);
    return buf_cstr(out);
}

/* ST_NOT_FOUND: it is gone, or never was. */
static status link_file(struct maker *m, const char *name)
{
    path_in(&m->a, m->o->data_dir, name);
    path_in(&m->b, m->to.p, name);
    if (link(m->a.p, m->b.p) == 0 || errno == EEXIST)
        return ST_OK;
    if (errno == ENOENT)
        return ST_NOT_FOUND;
    return errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK ? ST_UNSUPPORTED : ST_IO;
}

static bool is_for_now_only(struct span name)
{
    return span_is(name, "lock") || span_is(name, "admin.token") || span_ends(name, SPAN(".tmp")) ||
           span_ends(name, SPAN(".part"));
}

typedef bool name_fn(struct span name);

/* Whether a file that was there a moment ago could be linked; one that was closed meanwhile by its new name. */
static status link_listed(struct maker *m, struct buf *name)
{
    status st = link_file(m, buf_cstr(name));
    if (st == ST_NOT_FOUND && span_ends(buf_span(name), SPAN(OPEN))) {
        name->n -= sizeof(OPEN) - 1;
        st = link_file(m, buf_cstr(name));
    }
    m->has_lost |= st == ST_NOT_FOUND;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

/* The files of a folder (`sub` empty: of the data folder itself) that `wants` says yes to; with `is_deep` folders too.
 */
static status link_folder(struct maker *m, const char *sub, name_fn *wants, bool is_deep, unsigned depth)
{
    struct buf path = {0}, name = {0};
    status st = ST_OK;
    DIR *d = opendir(path_in(&path, m->o->data_dir, sub));
    if (!d) {
        st = errno == ENOENT ? ST_OK : ST_IO;
        buf_done(&path);
        return st;
    }
    if (sub[0])
        st = file_mkdir(path_in(&path, m->to.p, sub));
    for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
        struct stat sb;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || is_for_now_only(span_str(e->d_name)) ||
            (wants && !wants(span_str(e->d_name))))
            continue;
        bool is_gone = fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) != 0;
        buf_clear(&name);
        buf_printf(&name, "%s%s%s", sub, sub[0] ? "/" : "", e->d_name);
        if (is_gone || S_ISREG(sb.st_mode))
            st = link_listed(m, &name);
        else if (S_ISDIR(sb.st_mode) && is_deep && depth < DEPTH_MAX)
            st = link_folder(m, buf_cstr(&name), NULL, true, depth + 1);
    }
    closedir(d);
    buf_done(&path);
    buf_done(&name);
    return st;
}

/* Whether the file is still the one that was linked; absent before and now is the same too. */
static bool is_same(struct maker *m, const char *name)
{
    struct stat now, then;
    bool is_now = stat(path_in(&m->a, m->o->data_dir, name), &now) == 0;
    bool was_then = stat(path_in(&m->b, m->to.p, name), &then) == 0;
    return is_now == was_then && (!is_now || now.st_ino == then.st_ino);
}

/* ---- the parts ---- */

static bool is_journal(struct span name)
{
    return span_starts(name, SPAN("journal-"));
}

/* What has a step of its own. */
static bool is_other(struct span name)
{
    static const char *const own[] = {"index",      "contents", "contents.new", "contents.old", "seen", "frontier",
                                      "checkpoint", "orb.db",   "fleet.db",     "alike.old",    "warc"};
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (span_is(name, own[i]))
            return false;
    return !is_journal(name) && !span_starts(name, SPAN("checkpoint-")) && !span_starts(name, SPAN(SNAPSHOT_PREFIX)) &&
           !span_ends(name, SPAN("-wal")) && !span_ends(name, SPAN("-shm")) && !span_ends(name, SPAN("-journal")) &&
           !span_starts(name, SPAN("orb-backup."));
}

/* The first file that names the others, then those; again when it was replaced meanwhile. */
static status link_set(struct maker *m, const char *head, const char *const *folders, size_t n)
{
    for (unsigned i = 0; i < TRIES; i++) {
        status st = ST_OK;
        for (size_t k = 0; k < n; k++)
            snapshot_remove(path_in(&m->b, m->to.p, folders[k]));
        (void)unlink(path_in(&m->b, m->to.p, head));
        for (size_t k = 0; st == ST_OK && k < n; k++)
            st = access(path_in(&m->a, m->o->data_dir, folders[k]), F_OK) == 0
                     ? file_mkdir(path_in(&m->b, m->to.p, folders[k]))
                     : ST_OK;
        if (st == ST_OK)
            st = link_file(m, head);
        if (st == ST_NOT_FOUND)
            st = ST_OK;
        for (size_t k = 0; st == ST_OK && k < n; k++)
            st = link_folder(m, folders[k], NULL, false, 0);
        if (st != ST_OK || is_same(m, head))
            return st;
    }
    return ST_AGAIN;
}

static status link_state(struct maker *m)
{
    static const char *const folders[] = {"seen", "frontier"};
    status st = link_set(m, "checkpoint", folders, 2);
    return st == ST_OK ? link_folder(m, "", is_journal, false, 0) : st;
}

static status copy_store(struct maker *m, struct buf *why)
{
    struct store *s = NULL;
    status st = store_open(m->o->data_dir, STORE_READ, &s, why);
    if (st == ST_OK)
        st = store_hold(s);
    /* Pages of a newer journal may be in it already. */
    if (st == ST_OK)
        st = link_folder(m, "", is_journal, false, 0);
    if (st == ST_OK)
        st = store_copy(s, path_in(&m->b, m->to.p, "orb.db"));
    store_free(s);
    return st;
}

/* Texts that are kept are appended before the file they were in goes: looked through once more, they are there. */
static status link_contents(struct maker *m)
{
    status st = ST_OK;
    for (unsigned i = 0; i < TRIES && st == ST_OK; i++) {
        m->has_lost = false;
        /* Where orb.db says so it is about to take the other's place; else it is removed again. */
        st = link_folder(m, "contents.new", NULL, false, 0);
        if (st == ST_OK)
            st = link_folder(m, "contents", NULL, false, 0);
        if (st != ST_OK || !m->has_lost)
            return st;
    }
    return ST_AGAIN;
}

/* When packages come so fast that there is always another mark, the last one has to do: what came behind it while the
 * rest was linked is sent again, and may be there twice. */
static status link_warc(struct maker *m)
{
    static const char *const folders[] = {"warc", "warc/seen"};
    status st = link_set(m, "warc/mark", folders, 2);
    return st == ST_AGAIN ? ST_OK : st;
}

static status make_once(struct maker *m, struct buf *why)
{
    static const char *const index[] = {"index"};
    status st = m->o->no_index ? ST_OK : link_set(m, "index/manifest", index, 1);
    if (st == ST_OK && fleet_is_there(m->o->data_dir))
        st = m->o->copy_fleet(m->o->self, path_in(&m->b, m->to.p, "fleet.db"));
    if (st == ST_OK)
        st = link_state(m);
    if (st == ST_OK)
        st = link_folder(m, "", is_other, true, 0);
    if (st == ST_OK)
        st = copy_store(m, why);
    if (st == ST_OK)
        st = link_contents(m);
    return st == ST_OK ? link_warc(m) : st;
}

/* 0: not there. */
static uint64_t contents_inode(struct maker *m)
{
    struct stat sb;
    return stat(path_in(&m->a, m->o->data_dir, "contents"), &sb) == 0 ? (uint64_t)sb.st_ino : 0;
}

/* Texts that are made anew have other numbers, which index and database must agree with. */
static status make(struct maker *m, struct buf *why)
{
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t before = contents_inode(m);
        status st = make_once(m, why);
        if (st != ST_OK || before == contents_inode(m))
            return st;
        snapshot_remove(m->to.p);
        if (mkdir(m->to.p, 0700) != 0)
            return ST_IO;
    }
    return ST_AGAIN;
}

status snapshot_make(const struct snapshot_opts *o, struct buf *dir, struct buf *why)
{
    struct maker m = {.o = o};
    (void)snapshot_sweep(o->data_dir, false);
    buf_printf(&m.to, "%s/" SNAPSHOT_PREFIX "%ld", o->data_dir, (long)getpid());
    (void)buf_cstr(&m.to);
    status st = access(o->data_dir, F_OK) == 0 ? ST_OK : ST_NOT_FOUND;
    if (st == ST_OK && mkdir(m.to.p, 0700) != 0)
        st = ST_IO;
    bool is_made = st == ST_OK;
    if (st == ST_OK)
        st = make(&m, why);
    int saved = errno;
    if (st == ST_OK)
        buf_put(dir, buf_span(&m.to));
    else if (is_made)
        snapshot_remove(m.to.p);
    if (st == ST_UNSUPPORTED && !why->n)
        buf_puts(why, "its file system has no hard links: stop whoever writes to it and copy the folder");
    if (st == ST_AGAIN && !why->n)
        buf_puts(why, "too much changed meanwhile");
    buf_done(&m.to);
    buf_done(&m.a);
    buf_done(&m.b);
    errno = saved;
    return st;
}
