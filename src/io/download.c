#include "io/download.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/curl_status.h"

#define BYTES_MAX_DEFAULT (UINT64_C(8) << 30)
#define STALL_DEFAULT_MS 60000
#define TRIES_DEFAULT 5
#define CONNECT_TIMEOUT_MS 30000
#define REDIRECTS_MAX 5
#define VALIDATOR_MAX 256
#define NOTE_MAX 1024 /* bytes of a .http file */

/* What a server says of one version of a file. */
struct note {
    char etag[VALIDATOR_MAX], modified[VALIDATOR_MAX]; /* "": did not say */
};

struct transfer {
    const struct download_opts *o;
    struct download_result *result;
    char *note_path, *part_path, *part_note_path; /* owned */
    uint64_t bytes_max;
    /* of one try */
    struct note note;    /* of what is coming */
    uint64_t part_bytes; /* that are there already */
    int http;
    uint64_t range_start; /* of a 206; UINT64_MAX: did not say */
    int fd;               /* the part; -1 while nothing of the body came */
    uint64_t at;          /* bytes of the part now */
    status failed;        /* on our side, inside of a callback */
    int failed_errno;
};

static char *path_with(const char *path, const char *suffix)
{
    struct buf b = {0};
    buf_printf(&b, "%s%s", path, suffix);
    char *s = mem_str(buf_span(&b));
    buf_done(&b);
    return s;
}

static status status_of_errno(void)
{
    return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
}

/* ---- notes ---- */

static void set_text(char to[VALIDATOR_MAX], struct span s)
{
    to[0] = '\0';
    if (s.n >= VALIDATOR_MAX)
        return;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F)
            return;
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
}

static void take_note(struct note *n, struct span line)
{
    size_t colon = span_find(line, ':', 0);
    struct span name = span_cut(line, 0, colon), value = span_trim(span_from(line, colon + 1));
    if (span_is_nocase(name, "etag"))
        set_text(n->etag, value);
    else if (span_is_nocase(name, "last-modified"))
        set_text(n->modified, value);
}

static bool read_note(const char *path, struct note *n)
{
    char text[NOTE_MAX];
    *n = (struct note){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text));
    close(fd);
    struct span rest = span_of(text, got > 0 ? (size_t)got : 0), line;
    while (rest.n && span_split(&rest, '\n', &line))
        take_note(n, line);
    return n->etag[0] || n->modified[0];
}

static status write_note(const char *path, const struct note *n)
{
    struct buf text = {0};
    if (n->etag[0])
        buf_printf(&text, "ETag: %s\n", n->etag);
    if (n->modified[0])
        buf_printf(&text, "Last-Modified: %s\n", n->modified);
    status st = ST_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || (text.n && write(fd, text.p, text.n) != (ssize_t)text.n))
        st = status_of_errno();
    if (fd >= 0)
        close(fd);
    buf_done(&text);
    return st;
}

/* What may stand in If-Range: a weak ETag may not. */
static const char *strong_validator(const struct note *n)
{
    if (n->etag[0] && strncmp(n->etag, "W/", 2) != 0)
        return n->etag;
    return n->modified[0] ? n->modified : NULL;
}

/* ---- what comes in ---- */

static size_t take_header(char *p, size_t size, size_t n, void *arg)
{
    struct transfer *t = arg;
    struct span line = span_trim(span_of(p, size * n));
    if (span_starts(line, SPAN("HTTP/"))) { /* a new answer: after a redirect, or after "go on" */
        t->note = (struct note){0};
        t->range_start = UINT64_MAX;
        return size * n;
    }
    take_note(&t->note, line);
    if (span_starts_nocase(line, SPAN("content-range:"))) {
        struct span range = span_trim(span_from(line, sizeof("content-range:") - 1));
        if (span_starts_nocase(range, SPAN("bytes ")))
            range = span_from(range, 6);
        uint64_t start;
        if (span_u64(span_cut(range, 0, span_find(range, '-', 0)), INT64_MAX, &start))
            t->range_start = start;
    }
    return size * n;
}

static bool fail(struct transfer *t, status st)
{
    t->failed = st;
    t->failed_errno = errno;
    return false;
}

/* The first bytes of a body are there: go on with the part, or begin it anew. */
static bool open_part(struct transfer *t, CURL *e)
{
    long http = 0;
    curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &http);
    t->http = (int)http;
    bool goes_on = http == 206;
    if (goes_on && t->range_start != t->part_bytes) {
        errno = 0;
        return fail(t, ST_PROTOCOL);
    }
    t->fd = open(t->part_path, O_WRONLY | O_CREAT | O_CLOEXEC | (goes_on ? O_APPEND : O_TRUNC), 0666);
    if (t->fd < 0)
        return fail(t, status_of_errno());
    t->at = goes_on ? t->part_bytes : 0;
    t->result->was_resumed |= goes_on && t->part_bytes > 0;
    if (!goes_on) {
        status st = write_note(t->part_note_path, &t->note);
        if (st != ST_OK)
            return fail(t, st);
    }
    return true;
}

struct body_arg {
    struct transfer *t;
    CURL *easy;
};

static size_t take_body(char *p, size_t size, size_t n, void *arg)
{
    struct body_arg *b = arg;
    struct transfer *t = b->t;
    long http = 0;
    curl_easy_getinfo(b->easy, CURLINFO_RESPONSE_CODE, &http);
    if (http != 200 && http != 206)
        return size * n; /* the page that comes with an error */
    if (t->fd < 0 && !open_part(t, b->easy))
        return 0;
    struct span rest = span_of(p, size * n);
    if (rest.n > t->bytes_max - t->at) {
        fail(t, ST_LIMIT);
        return 0;
    }
    while (rest.n) {
        ssize_t wrote = write(t->fd, rest.p, rest.n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            fail(t, status_of_errno());
            return 0;
        }
        t->at += (uint64_t)wrote;
        t->result->received += (uint64_t)wrote;
        rest = span_from(rest, (size_t)wrote);
    }
    return size * n;
}

static int on_progress(void *arg, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    struct transfer *t = arg;
    uint64_t base = t->fd >= 0 && t->http == 206 ? t->part_bytes : 0;
    (void)up_total;
    (void)up_now;
    if (t->o->progress && now > 0)
        t->o->progress(t->o->self, base + (uint64_t)now, total > 0 ? base + (uint64_t)total : 0);
    return t->o->cancel && atomic_load(t->o->cancel);
}

/* ---- one try ---- */

static void add_header(struct curl_slist **list, const char *name, const char *value)
{
    struct buf line = {0};
    buf_printf(&line, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*list, buf_cstr(&line));
    if (longer)
        *list = longer;
    buf_done(&line);
}

/* Either the rest of a part, or the file unless it is the one that we have. */
static struct curl_slist *make_headers(struct transfer *t)
{
    struct curl_slist *list = NULL;
    struct note n;
    struct stat sb;
    char range[64];
    t->part_bytes = 0;
    if (stat(t->part_path, &sb) == 0 && sb.st_size > 0 && read_note(t->part_note_path, &n) && strong_validator(&n)) {
        t->part_bytes = (uint64_t)sb.st_size;
        snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)t->part_bytes);
        add_header(&list, "Range", range);
        add_header(&list, "If-Range", strong_validator(&n));
    } else if (stat(t->o->path, &sb) == 0 && read_note(t->note_path, &n)) {
        if (n.etag[0])
            add_header(&list, "If-None-Match", n.etag);
        if (n.modified[0])
            add_header(&list, "If-Modified-Since", n.modified);
    }
    return list;
}

static void set_options(struct transfer *t, CURL *e, struct body_arg *body, struct curl_slist *headers)
{
    const struct download_opts *o = t->o;
    bool is_tls = strncmp(o->url, "https://", 8) == 0;
    curl_easy_setopt(e, CURLOPT_URL, o->url);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(e, CURLOPT_USERAGENT, o->user_agent ? o->user_agent : "orbweaver");
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, is_tls ? "https" : "http,https");
    curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, is_tls ? "https" : "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(e, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(e, CURLOPT_PROXY, o->proxy ? o->proxy : "");
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)((o->stall_ms ? o->stall_ms : STALL_DEFAULT_MS) + 999) / 1000);
    if (o->ca_file)
        curl_easy_setopt(e, CURLOPT_CAINFO, o->ca_file);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(e, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
}

static status status_of_http(int http)
{
    if (http == 200 || http == 206 || http == 304)
        return ST_OK;
    if (http == 404 || http == 410)
        return ST_NOT_FOUND;
    return http >= 400 && http < 500 ? ST_REFUSED : ST_PROTOCOL;
}

/* The part is whole: it becomes the file. */
static status finish(struct transfer *t)
{
    status st = fdatasync(t->fd) == 0 ? ST_OK : status_of_errno();
    if (st == ST_OK && rename(t->part_path, t->o->path) != 0)
        st = status_of_errno();
    if (st == ST_OK)
        st = write_note(t->note_path, &t->note);
    if (st == ST_OK)
        unlink(t->part_note_path);
    return st;
}

static status try_once(struct transfer *t, CURL *e, char error[CURL_ERROR_SIZE])
{
    struct body_arg body = {t, e};
    struct curl_slist *headers = make_headers(t);
    t->fd = -1;
    t->failed = ST_OK;
    t->http = 0;
    curl_easy_reset(e);
    set_options(t, e, &body, headers);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, error);
    CURLcode code = curl_easy_perform(e);
    long http = 0;
    curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &http);
    t->result->http = (int)http;
    status st = t->failed != ST_OK           ? t->failed
                : code == CURLE_PARTIAL_FILE ? ST_CONNECT /* hung up: what came is kept */
                                             : curl_status(code);
    errno = t->failed != ST_OK ? t->failed_errno : errno;
    if (st == ST_OK)
        st = status_of_http((int)http);
    if (st == ST_OK && http == 304)
        t->result->is_unchanged = true;
    else if (st == ST_OK && t->fd < 0)
        st = ST_PROTOCOL; /* a file of nothing */
    else if (st == ST_OK)
        st = finish(t);
    int saved = errno;
    if (t->fd >= 0)
        close(t->fd);
    curl_slist_free_all(headers);
    errno = saved;
    return st;
}

/* A part that the server does not want to go on with; one whose beginning does not fit. */
static bool is_part_useless(const struct transfer *t, status st)
{
    return t->part_bytes > 0 && (t->result->http == 416 || (st == ST_PROTOCOL && t->result->http == 206));
}

static void say(struct buf *why, const struct transfer *t, status st, const char *error)
{
    if (!why || st == ST_OK)
        return;
    if (st == ST_IO || st == ST_FULL)
        buf_puts(why, strerror(errno));
    else if (error[0] && t->result->http < 400)
        buf_puts(why, error);
    else if (t->result->http)
        buf_printf(why, "the server answered with status %d", t->result->http);
    else
        buf_puts(why, status_name(st));
}

static status run(struct transfer *t, CURL *e, struct buf *why)
{
    unsigned tries = t->o->tries ? t->o->tries : TRIES_DEFAULT;
    char error[CURL_ERROR_SIZE];
    status st;
    for (;;) {
        uint64_t before = t->result->received;
        error[0] = '\0';
        st = try_once(t, e, error);
        bool may_go_on = (st == ST_CONNECT || st == ST_TIMEOUT) && t->result->received > before;
        if (is_part_useless(t, st)) {
            unlink(t->part_path);
            unlink(t->part_note_path);
            may_go_on = true;
        }
        if (!may_go_on || --tries == 0)
            break;
    }
    say(why, t, st, error);
    return st;
}

status download(const struct download_opts *o, struct download_result *out, struct buf *why)
{
    struct transfer t = {.o = o, .result = out, .bytes_max = o->bytes_max ? o->bytes_max : BYTES_MAX_DEFAULT};
    *out = (struct download_result){0};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return ST_IO;
    CURL *e = curl_easy_init();
    t.note_path = path_with(o->path, ".http");
    t.part_path = path_with(o->path, ".part");
    t.part_note_path = path_with(o->path, ".part.http");
    status st = e ? run(&t, e, why) : ST_IO;
    int saved = errno;
    struct stat sb;
    if (stat(o->path, &sb) == 0)
        out->file_bytes = (uint64_t)sb.st_size;
    free(t.note_path);
    free(t.part_path);
    free(t.part_note_path);
    curl_easy_cleanup(e);
    curl_global_cleanup();
    errno = saved;
    return st;
}
