/* fuzz_folder.c - any bytes as one file of a data folder that a reader opens: the log of texts, keys of known URLs, an
 * archive, its notes and its mark, dead documents, what an agent hands over. The first byte says which; the rest is the
 * file, as it is and with its checksums put right. The reader says that it is damaged, or reads it; nothing else. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/parts.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "index/tombs.h"
#include "reseal.h"
#include "store/contents.h"
#include "store/file.h"
#include "store/seen_file.h"
#include "store/warc_folder.h"
#include "store/warc_purge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DOCS 77 /* of the segment whose dead ones are read */
#define SEEN_HEADER 32

/* One folder for all inputs, in memory where there is some; it is left empty, and removed when the program ends. */
static char folder[64];

static void remove_folder(void)
{
    static const char *const folders[] = {"contents", "parts", "seen", ""};
    char path[128];
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
        rmdir(path);
    }
}

static const char *the_folder(void)
{
    if (folder[0])
        return folder;
    snprintf(folder, sizeof(folder), "%s/orb-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    char *made = mkdtemp(folder);
    assert(made);
    static const char *const folders[] = {"contents", "parts", "seen"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
        status st = file_mkdir(path);
        assert(st == ST_OK);
    }
    atexit(remove_folder);
    return folder;
}

static void put_file(const char *name, struct span bytes, char path[static 192])
{
    snprintf(path, 192, "%s/%s", the_folder(), name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0);
    status st = file_write_all(fd, bytes);
    assert(st == ST_OK);
    close(fd);
}

static bool is_an_answer(status st)
{
    return st == ST_OK || st == ST_CORRUPT || st == ST_NEWER || st == ST_LIMIT;
}

static status count(void *arg, const struct contents_record *r)
{
    assert(r->content.n <= CONTENTS_RECORD_MAX && (!r->is_gone || r->content.n == 0));
    ++*(uint64_t *)arg;
    return ST_OK;
}

static void try_contents(struct span bytes)
{
    char path[192], dir[128];
    uint64_t n = 0;
    unsigned damaged = 0;
    put_file("contents/0000000000000001", bytes, path);
    snprintf(dir, sizeof(dir), "%s/contents", folder);
    assert(is_an_answer(contents_each(dir, 0, count, &n, &damaged)));
    unlink(path);
}

/* Whatever the keys are, the place is in the file; of keys in order it is the first that is not below. */
static void find_keys(const struct seen_file *f)
{
    bool is_sorted = true;
    for (size_t i = 1; i < f->n; i++)
        is_sorted = is_sorted && seen_file_key(f, i - 1) < seen_file_key(f, i);
    for (size_t i = 0, hint = 0; i < f->n; i++) {
        uint64_t key = seen_file_key(f, i);
        assert(seen_file_find(f, key + 1, 0) <= f->n);
        hint = seen_file_find(f, key, hint);
        assert(hint <= f->n && (!is_sorted || hint == i));
        if (is_sorted && key && (i == 0 || seen_file_key(f, i - 1) < key - 1))
            assert(seen_file_find(f, key - 1, i) == i);
    }
}

static void try_seen(struct span bytes)
{
    char path[192];
    struct buf name = {0};
    struct seen_file f;
    seen_file_path("", 1, 1, &name);
    put_file(buf_cstr(&name), bytes, path);
    status st = seen_file_open(the_folder(), 1, 1, &f);
    assert(is_an_answer(st));
    if (st == ST_OK) {
        find_keys(&f);
        seen_file_close(&f);
    }
    unlink(path);
    buf_done(&name);
}

/* The same number of keys in the header as there are. */
static void reseal_seen(char *file, size_t n)
{
    if (n < SEEN_HEADER)
        return;
    reseal_put(file + 16, (n - SEEN_HEADER) / 8, 8);
    reseal_put(file + 24, digest_crc32c(span_of(file, 24)), 4);
}

/* What of the archive goes when it is too old. */
static void try_expire(void)
{
    char path[192];
    struct warc_purged r;
    status st = warc_expire(the_folder(), true, 1, INT64_MAX, &r);
    assert(is_an_answer(st) && r.files <= 1 && r.kept == 0);
    buf_done(&r.names);
    snprintf(path, sizeof(path), "%s/lock", folder);
    unlink(path);
}

static void try_warc(struct span bytes)
{
    char path[192];
    struct buf tag = {0};
    put_file("orb-1.warc.gz.open", bytes, path);
    assert(is_an_answer(warc_folder_settle(the_folder(), false, &tag)));
    unlink(path);
    try_expire();
    snprintf(path, sizeof(path), "%s/orb-1.warc.gz", folder);
    unlink(path);
    buf_done(&tag);
}

/* With a file that the mark may be of, which does not grow. */
static void try_mark(struct span bytes)
{
    static const char *const names[] = {"orb-1.warc.gz.open", "orb-1.warc.gz", "mark"};
    char path[192];
    struct stat sb;
    struct buf tag = {0};
    put_file(names[0], SPAN("sixteen bytes of"), path);
    put_file("mark", bytes, path);
    status st = warc_folder_settle(the_folder(), true, &tag);
    assert(is_an_answer(st) && tag.n <= bytes.n);
    snprintf(path, sizeof(path), "%s/%s", folder, names[1]);
    assert(stat(path, &sb) != 0 || sb.st_size <= 16);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    buf_done(&tag);
}

static void try_notes(struct span bytes)
{
    char path[192], archive[192];
    static const struct sip_key key = {0};
    struct warc_seen *seen = warc_seen_new(&key, 1 << 20);
    put_file("seen/orb-1", bytes, path);
    assert(is_an_answer(warc_folder_load(the_folder(), seen)));
    warc_seen_free(seen);
    put_file("orb-1.warc.gz", SPAN("sixteen bytes of"), archive);
    try_expire();
    unlink(archive);
    unlink(path);
}

static void try_tombs(struct span bytes)
{
    char path[192];
    struct buf sealed = {0};
    struct tombs *t = NULL;
    buf_put(&sealed, bytes);
    pack_u32(&sealed, digest_crc32c(bytes));
    put_file("00000001.del-00000001", buf_span(&sealed), path);
    status st = tombs_read(the_folder(), 1, 1, DOCS, &t);
    assert(is_an_answer(st) && (st != ST_OK || t->dead <= DOCS));
    tombs_unref(t);
    unlink(path);
    buf_done(&sealed);
}

static void try_parts(struct span bytes)
{
    char path[192];
    struct parts p = {0};
    put_file("parts/1", bytes, path);
    status st = parts_read(the_folder(), 1, &p);
    assert(is_an_answer(st));
    parts_done(&p);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        void (*read)(struct span);
        void (*reseal)(char *file, size_t n); /* NULL: there are no checksums, or the reader gets right ones anyway */
    } files[] = {{try_contents, reseal_records},
                 {try_seen, reseal_seen},
                 {try_warc, NULL},
                 {try_notes, reseal_records},
                 {try_tombs, NULL},
                 {try_parts, NULL},
                 {try_mark, NULL}};
    if (!size)
        return 0;
    unsigned which = data[0] % (sizeof(files) / sizeof(*files));
    struct span file = span_of(data + 1, size - 1);
    struct buf sealed = {0};
    files[which].read(file);
    if (files[which].reseal) {
        buf_put(&sealed, file);
        files[which].reseal(sealed.p, sealed.n);
        if (!span_eq(buf_span(&sealed), file))
            files[which].read(buf_span(&sealed));
    }
    buf_done(&sealed);
    return 0;
}
