#include "lab/play/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "lab/serve/pages.h"

#define READ_BYTES 65536
#define COLUMNS 8 /* docs/formats/lab.md */

/* ---- the pages ---- */

struct site_pages {
    struct span host; /* borrowed from the lab */
    uint32_t count;
    size_t first; /* bit of its page 0 */
};

struct pageset {
    struct site_pages *sites; /* owned */
    size_t site_count, all, met;
    struct table by_host;
    uint8_t *bits; /* owned */
};

/* Hosts are those of the lab file: nobody aims at the key. */
static uint64_t host_key(struct span host)
{
    static const struct sip_key key = {0x6c6162, 0x706c6179};
    return siphash(&key, host);
}

status pageset_new(const struct lab *lab, uint32_t most, struct pageset **out)
{
    struct pageset *s = mem_alloc(sizeof(*s));
    s->sites = mem_alloc((lab->site_count + 1) * sizeof(*s->sites));
    for (size_t i = 0; i < lab->site_count && s->all <= FOLLOW_PAGES_MAX; i++) {
        const struct lab_site *from = &lab->sites[i];
        struct site_pages *to = &s->sites[s->site_count];
        if (table_get(&s->by_host, host_key(from->host)))
            continue; /* the same one twice */
        *to = (struct site_pages){from->host, most && most < from->pages ? most : from->pages, s->all};
        s->all += to->count;
        s->site_count++;
        table_put(&s->by_host, host_key(from->host), to);
    }
    if (s->all > FOLLOW_PAGES_MAX) {
        pageset_free(s);
        return ST_LIMIT;
    }
    s->bits = mem_alloc(s->all / 8 + 1);
    *out = s;
    return ST_OK;
}

void pageset_free(struct pageset *s)
{
    if (!s)
        return;
    free(s->sites);
    free(s->bits);
    table_done(&s->by_host);
    free(s);
}

size_t pageset_all(const struct pageset *s)
{
    return s->all;
}

size_t pageset_met(const struct pageset *s)
{
    return s->met;
}

void pageset_forget(struct pageset *s)
{
    memset(s->bits, 0, s->all / 8 + 1);
    s->met = 0;
}

bool pageset_meet(struct pageset *s, struct span host, struct span path, bool *is_new)
{
    const struct site_pages *site = table_get(&s->by_host, host_key(host));
    uint32_t page;
    if (!site || site->count == 0 || !span_eq(site->host, host) || !pages_find(path, site->count, &page))
        return false;
    size_t bit = site->first + page;
    *is_new = !(s->bits[bit / 8] & 1u << bit % 8);
    s->bits[bit / 8] |= (uint8_t)(1u << bit % 8);
    s->met += *is_new;
    return true;
}

bool pageset_meet_url(struct pageset *s, struct span url)
{
    static const struct span scheme = SPAN_INIT("http://");
    bool is_new;
    if (!span_starts(url, scheme))
        return false;
    url = span_from(url, scheme.n);
    size_t slash = span_find(url, '/', 0);
    return pageset_meet(s, span_cut(url, 0, slash), span_from(url, slash), &is_new);
}

void pageset_missing(const struct pageset *s, size_t most, struct buf *out)
{
    size_t left = s->all - s->met, said = 0;
    for (size_t i = 0; i < s->site_count && said < most; i++) {
        for (uint32_t k = 0; k < s->sites[i].count && said < most; k++) {
            size_t bit = s->sites[i].first + k;
            if (s->bits[bit / 8] & 1u << bit % 8)
                continue;
            buf_printf(out, "%shttp://%.*s/", said++ ? ", " : "", SPAN_ARG(s->sites[i].host));
            if (k)
                buf_printf(out, "p/%u.html", k);
        }
    }
    if (left > said)
        buf_printf(out, "%s%zu more", said ? " and " : "", left - said);
}

uint32_t pageset_most(const struct span *words, size_t n)
{
    uint64_t most = 0, got;
    for (size_t i = 0; i < n; i++) {
        struct span value = {0};
        if (span_is(words[i], "--pages") && i + 1 < n)
            value = words[i + 1];
        else if (span_starts(words[i], SPAN("--pages=")))
            value = span_from(words[i], strlen("--pages="));
        if (value.n && span_u64(value, LAB_PAGES_MAX, &got))
            most = got;
    }
    return (uint32_t)most;
}

/* ---- the ledger ---- */

struct follower {
    const struct lab *lab;
    struct pageset *pages;
    off_t at;         /* read so far */
    struct buf rest;  /* the beginning of a line */
    bool is_skipping; /* a line that is too long */
    double *when;     /* owned: of each page met */
    double *last;     /* owned: of each place */
    unsigned watched;
    double watched_since, seen;
};

struct follower *follower_new(const struct lab *lab, struct pageset *pages)
{
    struct follower *f = mem_alloc(sizeof(*f));
    f->lab = lab;
    f->pages = pages;
    f->when = mem_alloc((pageset_all(pages) + 1) * sizeof(*f->when));
    f->last = mem_alloc((map_place_count(lab->map) + 1) * sizeof(*f->last));
    f->watched = UINT32_MAX;
    return f;
}

void follower_free(struct follower *f)
{
    if (!f)
        return;
    buf_done(&f->rest);
    free(f->when);
    free(f->last);
    free(f);
}

/* "1700000000.123456" */
static bool seconds(struct span text, double *out)
{
    size_t dot = span_find(text, '.', 0);
    struct span part = span_from(text, dot + 1);
    uint64_t whole, micros = 0;
    if (!span_u64(span_cut(text, 0, dot), UINT32_MAX, &whole) || part.n != 6 || !span_u64(part, 999999, &micros))
        return false;
    *out = (double)whole + (double)micros / 1e6;
    return true;
}

static void take_line(struct follower *f, struct span line)
{
    struct span column[COLUMNS], rest = line;
    struct addr from;
    unsigned place;
    double at;
    size_t n = 0;
    bool is_new = false;
    while (n < COLUMNS && span_split(&rest, '\t', &column[n]))
        n++;
    if (n < COLUMNS || !seconds(column[0], &at))
        return;
    bool is_page = span_is(column[4], "GET") &&
                   pages_find(span_cut(column[5], 0, span_find(column[5], '?', 0)), LAB_PAGES_MAX, &(uint32_t){0});
    if (is_page && span_is(column[6], "200") && pageset_meet(f->pages, column[3], column[5], &is_new) && is_new)
        f->when[pageset_met(f->pages) - 1] = at;
    if (addr_parse(column[1], &from) != ST_OK || !map_at(f->lab->map, &from, &place))
        return;
    f->last[place] = at;
    if (is_page && place == f->watched && at >= f->watched_since && f->seen <= 0)
        f->seen = at;
}

void follower_feed(struct follower *f, struct span text)
{
    while (text.n) {
        size_t end = span_find(text, '\n', 0);
        struct span part = span_cut(text, 0, end);
        bool is_whole = end < text.n;
        if (f->rest.n + part.n > FOLLOW_LINE_MAX)
            f->is_skipping = true;
        if (!f->is_skipping && (f->rest.n || !is_whole))
            buf_put(&f->rest, part);
        if (is_whole) {
            if (!f->is_skipping)
                take_line(f, f->rest.n ? buf_span(&f->rest) : part);
            buf_clear(&f->rest);
            f->is_skipping = false;
        }
        text = span_from(text, end + 1);
    }
}

status follower_read(struct follower *f, const char *path)
{
    struct stat st;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ST_OK : ST_IO;
    if (fstat(fd, &st) == 0 && st.st_size < f->at) {
        f->at = 0;
        buf_clear(&f->rest);
        f->is_skipping = false;
    }
    char *block = mem_alloc(READ_BYTES);
    while ((n = pread(fd, block, READ_BYTES, f->at)) > 0) {
        f->at += n;
        follower_feed(f, span_of(block, (size_t)n));
    }
    free(block);
    close(fd);
    return n < 0 ? ST_IO : ST_OK;
}

double follower_when(const struct follower *f, size_t n)
{
    return n > 0 && n <= pageset_met(f->pages) ? f->when[n - 1] : 0;
}

double follower_last(const struct follower *f, unsigned place)
{
    return f->last[place];
}

void follower_watch(struct follower *f, unsigned place, double since)
{
    f->watched = place;
    f->watched_since = since;
    f->seen = 0;
}

double follower_seen(const struct follower *f)
{
    return f->seen;
}
