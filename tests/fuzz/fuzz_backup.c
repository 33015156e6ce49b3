/* fuzz_backup.c - any bytes as a backup. The input is the archive before it is compressed, with the checksums of its
 * headers put right; an odd first byte makes the last file the list of sums that the others really have, so that what
 * is behind a verified backup is reached too. What is not verified is not restored, and nothing lands outside the
 * folder. */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "codec/digest.h"
#include "codec/tar.h"
#include "codec/zip.h"
#include "reseal.h"
#include "store/backup.h"
#include "store/file.h"
#include "store/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SIZE_MOST (64u << 10)

/* In memory where there is some; removed when the program ends. */
static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

static const char *path_of(const char *name, char path[static 128])
{
    if (!folder[0]) {
        snprintf(folder, sizeof(folder), "%s/orb-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        const char *made = mkdtemp(folder);
        assert(made);
        (void)made;
        atexit(remove_folder);
    }
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

/* ---- sums that are right ---- */

struct summing {
    struct sha256 *hash;
    struct buf name, sums, whole; /* whole: the archive, up to the end of the last file */
};

static status on_entry(void *self, const struct tar_entry *e)
{
    struct summing *s = self;
    if (span_is(e->name, "orb-backup.sums"))
        return ST_END;
    buf_clear(&s->name);
    buf_put(&s->name, e->name);
    return tar_put_head(&s->whole, e);
}

static status on_bytes(void *self, struct span piece)
{
    struct summing *s = self;
    sha256_put(s->hash, piece);
    buf_put(&s->whole, piece);
    return ST_OK;
}

static status on_end(void *self)
{
    struct summing *s = self;
    struct sha256_sum d = sha256_end(s->hash);
    for (size_t i = 0; i < sizeof(d.b) && !span_is(buf_span(&s->name), "orb-backup.json"); i++)
        buf_printf(&s->sums, "%02x%s", d.b[i], i + 1 < sizeof(d.b) ? "" : "  ");
    if (!span_is(buf_span(&s->name), "orb-backup.json"))
        buf_printf(&s->sums, "%.*s\n", SPAN_ARG(buf_span(&s->name)));
    tar_put_padding(&s->whole, s->whole.n);
    return ST_OK;
}

/* As much of the archive as can be read, and the sums of that. */
static void put_sums(struct span archive, struct buf *out)
{
    struct summing s = {.hash = sha256_new()};
    struct tar_reader *r = tar_reader_new(&(struct tar_events){on_entry, on_bytes, on_end, &s});
    (void)!tar_reader_feed(r, archive);
    struct tar_entry e = {.name = SPAN("orb-backup.sums"), .bytes = s.sums.n, .mode = 0600};
    status st = tar_put_head(&s.whole, &e);
    assert(st == ST_OK);
    buf_put(&s.whole, buf_span(&s.sums));
    tar_put_padding(&s.whole, s.sums.n);
    tar_put_end(&s.whole);
    buf_done(out);
    *out = s.whole;
    tar_reader_free(r);
    sha256_free(s.hash);
    buf_done(&s.name);
    buf_done(&s.sums);
}

static size_t names_in(const char *dir)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf plain = {0}, packed = {0};
    struct backup_report verified, restored;
    char path[128], dir[128];
    if (size < 1 || size > SIZE_MOST)
        return 0;
    buf_put(&plain, span_of(data + 1, size - 1));
    reseal_tar(plain.p, plain.n);
    if (data[0] & 1)
        put_sums(buf_span(&plain), &plain);
    zip_zstd(buf_span(&plain), 1, &packed);
    int fd = open(path_of("backup", path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0);
    status st = file_write_all(fd, buf_span(&packed));
    assert(st == ST_OK);
    close(fd);
    st = backup_verify(path, NULL, NULL, &verified);
    assert(st == ST_OK || verified.problem.n > 0);
    status again = backup_restore(path, path_of("restored", dir), NULL, NULL, &restored);
    /* A name may be that of a file and of a folder of another one. */
    assert(again == st || (st == ST_OK && again == ST_IO) || (st != ST_OK && again != ST_OK));
    assert(names_in(folder) == 1u + (again == ST_OK));
    if (again == ST_OK) {
        assert(restored.files == verified.files && restored.bytes == verified.bytes);
        snapshot_remove(dir);
    }
    unlink(path);
    backup_report_done(&verified);
    backup_report_done(&restored);
    buf_done(&plain);
    buf_done(&packed);
    return 0;
}
