/* fuzz_folder.c - any bytes as one file of a data folder that a reader opens: the log of texts, keys of known URLs, an
 * archive and its notes, dead documents, what an agent hands over. The first byte says which; the rest is the file, as
 * it is and with its checksum put right. The reader says that it is damaged, or reads it; nothing else. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/parts.h"
#include "base/pack.h"
#include "codec/digest.h"
#include "index/tombs.h"
#include "store/contents.h"
#include "store/file.h"
#include "store/seen_file.h"
#include "store/warc_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DOCS 77 /* of the segment whose dead ones are read */

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
        for (uint64_t key = 0; key < 4; key++)
            assert(seen_file_find(&f, key << 62, 0) <= f.n);
        seen_file_close(&f);
    }
    unlink(path);
    buf_done(&name);
}

static void try_warc(struct span bytes)
{
    char path[192];
    struct buf tag = {0};
    put_file("orb-1.warc.gz.open", bytes, path);
    assert(is_an_answer(warc_folder_settle(the_folder(), false, &tag)));
    unlink(path);
    snprintf(path, sizeof(path), "%s/orb-1.warc.gz", folder);
    unlink(path);
    buf_done(&tag);
}

static void try_notes(struct span bytes)
{
    char path[192];
    static const struct sip_key key = {0};
    struct warc_seen *seen = warc_seen_new(&key, 1 << 20);
    put_file("seen/orb-1.warc", bytes, path);
    assert(is_an_answer(warc_folder_load(the_folder(), seen)));
    warc_seen_free(seen);
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
    static void (*const readers[])(struct span) = {try_contents, try_seen, try_warc, try_notes, try_tombs, try_parts};
    if (size)
        readers[data[0] % 6](span_of(data + 1, size - 1));
    return 0;
}
