#include "store/warc_needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "store/warc_seen.h"

#define NEEDS_MAX (1u << 21) /* bodies */

struct note {
    uint64_t key, bytes;
    bool is_body;
};

/* A body in `file` that the revisits of later files need, `until` the newest of these. It may be there more than once:
 * what was under way at the same time was not known to be the same. */
struct loan {
    uint64_t key, bytes, bodies;
    size_t file, until;
};

struct file_needs {
    uint64_t records;
    uint64_t bodies, bytes;
};

struct warc_needs {
    size_t files;
    struct file_needs *of; /* owned */
    struct table open;     /* key -> number of the newest file that needs it, + 1, as a pointer */
    struct note *notes;    /* owned: of the file that is being told */
    size_t note_count, note_cap, other_count;
    struct loan *loans; /* owned */
    size_t loan_count, loan_cap;
    struct table needed; /* mixed key and file of bodies that stay */
};

struct warc_needs *warc_needs_new(size_t files)
{
    struct warc_needs *n = mem_alloc(sizeof(*n));
    n->files = files;
    n->of = mem_alloc((files + 1) * sizeof(*n->of));
    return n;
}

void warc_needs_free(struct warc_needs *n)
{
    if (!n)
        return;
    table_done(&n->open);
    table_done(&n->needed);
    free(n->of);
    free(n->notes);
    free(n->loans);
    free(n);
}

static const struct sip_key hash_key = {5, 6}; /* of files of our own: somebody who makes two collide spoils his own */

uint64_t warc_need_key(struct span url, struct span digest)
{
    return siphash(&hash_key, warc_site_of(url)) ^ (siphash(&hash_key, digest) << 1);
}

/* ---- the survey ---- */

void warc_needs_note(struct warc_needs *n, uint64_t key, bool is_body, uint64_t bytes)
{
    n->notes = mem_grow(n->notes, &n->note_cap, n->note_count + 1, sizeof(*n->notes));
    n->notes[n->note_count++] = (struct note){key, bytes, is_body};
}

void warc_needs_note_other(struct warc_needs *n)
{
    n->other_count++;
}

/* Later files need it no more of anybody before this one. `lent` has what this one has lent: key -> number of the loan,
 * + 1, as a pointer. */
static void lend(struct warc_needs *n, size_t file, const struct note *note, struct table *lent)
{
    void *again = table_get(lent, note->key), *until = table_remove(&n->open, note->key);
    if (again) {
        struct loan *l = &n->loans[(uintptr_t)again - 1];
        l->bytes += note->bytes;
        l->bodies++;
        return;
    }
    if (!until || n->loan_count >= NEEDS_MAX)
        return;
    n->loans = mem_grow(n->loans, &n->loan_cap, n->loan_count + 1, sizeof(*n->loans));
    n->loans[n->loan_count++] = (struct loan){note->key, note->bytes, 1, file, (size_t)(uintptr_t)until - 1};
    table_put(lent, note->key, (void *)(uintptr_t)n->loan_count);
}

void warc_needs_end_file(struct warc_needs *n, size_t file, bool goes)
{
    struct table here = {0}, lent = {0}; /* bodies that the file has had so far */
    for (size_t i = n->note_count; i-- > 0;)
        if (n->notes[i].is_body)
            lend(n, file, &n->notes[i], &lent);
    for (size_t i = 0; i < n->note_count; i++) {
        uint64_t key = n->notes[i].key;
        if (n->notes[i].is_body)
            table_put(&here, key, n);
        else if (!goes && !table_get(&here, key) && !table_get(&n->open, key) && n->open.n < NEEDS_MAX)
            table_put(&n->open, key, (void *)(uintptr_t)(file + 1));
    }
    n->of[file].records = n->note_count + n->other_count;
    n->note_count = n->other_count = 0;
    table_done(&here);
    table_done(&lent);
}

/* ---- the choice ---- */

/* What is needed of files that go when all files before number `first` do: at `first`, from sums of what begins and
 * ends to be needed there. */
static uint64_t *sum_loans(const struct warc_needs *n, const bool *goes)
{
    uint64_t *sums = mem_alloc((n->files + 2) * sizeof(*sums));
    for (size_t i = 0; i < n->loan_count; i++) {
        const struct loan *l = &n->loans[i];
        sums[goes[l->file] ? 0 : l->file + 1] += l->bytes;
        sums[l->until + 1] -= l->bytes;
    }
    for (size_t i = 1; i <= n->files; i++)
        sums[i] += sums[i - 1];
    return sums;
}

static void mark_oldest(const struct warc_needs *n, const uint64_t *sizes, bool *goes, uint64_t bytes_max)
{
    uint64_t *lent = sum_loans(n, goes), stays = 0;
    size_t first = 0;
    for (size_t i = 0; i < n->files; i++)
        stays += goes[i] ? 0 : sizes[i];
    for (; first < n->files && stays + lent[first] > bytes_max; first++)
        stays -= goes[first] ? 0 : sizes[first];
    memset(goes, true, first * sizeof(*goes));
    free(lent);
}

static uint64_t mix(uint64_t key, size_t file)
{
    return key + (file + 1) * 0x9e3779b97f4a7c15u;
}

void warc_needs_choose(struct warc_needs *n, const uint64_t *sizes, bool *goes, uint64_t bytes_max)
{
    if (bytes_max)
        mark_oldest(n, sizes, goes, bytes_max);
    for (size_t i = 0; i < n->loan_count; i++) {
        const struct loan *l = &n->loans[i];
        if (!goes[l->file] || goes[l->until])
            continue;
        table_put(&n->needed, mix(l->key, l->file), n);
        n->of[l->file].bodies += l->bodies;
        n->of[l->file].bytes += l->bytes;
    }
}

struct warc_needed warc_needs_of(const struct warc_needs *n, size_t file)
{
    const struct file_needs *f = &n->of[file];
    return (struct warc_needed){f->bodies, f->bytes, f->bodies == f->records};
}

bool warc_needs_body(const struct warc_needs *n, size_t file, uint64_t key)
{
    return table_get(&n->needed, mix(key, file)) != NULL;
}
