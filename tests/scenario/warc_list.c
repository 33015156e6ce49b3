/* warc_list.c - reads WARC files the plain way, for tests: one line a record, and complaints about what is wrong.
 *
 *     warc_list FILE...
 *
 *     TYPE URL STATUS DATE PAYLOAD REFERS-TO-URL REFERS-TO-DATE PROFILE TRUNCATED CODING     tabs between; "-": none
 *
 * PAYLOAD is the SHA-1 of the body in hex, computed and not read. Every record must be a member (or frame) by itself,
 * all digests must be right, dates and ids well-formed, and what is concurrent to something be near it. Shares no code
 * with the writer: zlib, libzstd and nettle alone. Exit code 1: something is wrong, standard error says what. */
#include <nettle/sha1.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define RECORD_MAX (64u << 20)

static const char *file_name;
static size_t record_at;
static int wrong;

static void complain(const char *what)
{
    fprintf(stderr, "%s: member at %zu: %s\n", file_name, record_at, what);
    wrong = 1;
}

struct text {
    const char *p;
    size_t n;
};

static struct text find_field(struct text head, const char *name)
{
    size_t n = strlen(name);
    const char *at = head.p, *end = head.p + head.n;
    while (at < end) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        const char *stop = nl ? nl : end;
        if ((size_t)(stop - at) > n && strncasecmp(at, name, n) == 0 && at[n] == ':') {
            at += n + 1;
            while (at < stop && *at == ' ')
                at++;
            while (stop > at && (stop[-1] == '\r' || stop[-1] == ' '))
                stop--;
            return (struct text){at, (size_t)(stop - at)};
        }
        at = stop + 1;
    }
    return (struct text){"-", 1};
}

static bool is(struct text t, const char *s)
{
    return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

static void sha1(const char *p, size_t n, unsigned char out[20])
{
    struct sha1_ctx ctx;
    sha1_init(&ctx);
    sha1_update(&ctx, n, (const uint8_t *)p);
    sha1_digest(&ctx, 20, out);
}

/* Bit by bit, the slow way. */
static bool digest_is(struct text field, const unsigned char d[20])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char want[40] = "sha1:";
    for (unsigned i = 0; i < 32; i++) {
        unsigned v = 0;
        for (unsigned bit = i * 5; bit < i * 5 + 5; bit++)
            v = v * 2 + (d[bit / 8] >> (7 - bit % 8) & 1);
        want[5 + i] = letters[v];
    }
    return is(field, want);
}

static bool date_is_good(struct text t)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    if (t.n != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < t.n; i++)
        if (shape[i] == 'd' ? t.p[i] < '0' || t.p[i] > '9' : t.p[i] != shape[i])
            return false;
    return true;
}

static void print(struct text t)
{
    printf("\t%.*s", (int)t.n, t.p);
}

static void read_record(const char *p, size_t n)
{
    static const char first[] = "WARC/1.1\r\n", blank[] = "\r\n\r\n";
    unsigned char digest[20];
    static char last_id[256];
    if (n < sizeof(first) || memcmp(p, first, sizeof(first) - 1) != 0) {
        complain("no record");
        return;
    }
    const char *stop = memmem(p, n, blank, 4);
    if (!stop) {
        complain("head without an end");
        return;
    }
    struct text head = {p, (size_t)(stop - p) + 2}, type = find_field(head, "WARC-Type");
    struct text block = {stop + 4, 0}, length = find_field(head, "Content-Length"),
                id = find_field(head, "WARC-Record-ID");
    block.n = strtoul(length.p, NULL, 10);
    if ((size_t)(p + n - block.p) != block.n + 4 || memcmp(block.p + block.n, blank, 4) != 0) {
        complain("a member is not one record");
        return;
    }
    sha1(block.p, block.n, digest);
    if (!digest_is(find_field(head, "WARC-Block-Digest"), digest))
        complain("block digest");
    if (id.n != 47 || memcmp(id.p, "<urn:uuid:", 10) != 0)
        complain("record id");
    if (!date_is_good(find_field(head, "WARC-Date")))
        complain("date");
    bool is_answer = is(type, "response") || is(type, "revisit");
    struct text about = find_field(head, "WARC-Concurrent-To");
    if (!is_answer && !is(type, "warcinfo") && (about.n != strlen(last_id) || memcmp(about.p, last_id, about.n) != 0))
        complain("beside another record than it says");
    if (is_answer)
        snprintf(last_id, sizeof(last_id), "%.*s", (int)id.n, id.p);
    char status[16] = "-", hex[41] = "-";
    struct text coding = {"-", 1};
    if (is_answer) {
        const char *end = memmem(block.p, block.n, blank, 4);
        struct text http = {block.p, end ? (size_t)(end - block.p) + 4 : 0};
        if (!end || http.n < 12 || memcmp(http.p, "HTTP/1.", 7) != 0 || !memchr(http.p, ' ', 9))
            complain("no HTTP head");
        else
            snprintf(status, sizeof(status), "%.3s", (const char *)memchr(http.p, ' ', 9) + 1);
        if (!is(find_field(http, "Transfer-Encoding"), "-"))
            complain("says chunked");
        coding = find_field(http, "Content-Encoding");
        if (is(type, "response")) {
            sha1(block.p + http.n, block.n - http.n, digest);
            if (!digest_is(find_field(head, "WARC-Payload-Digest"), digest))
                complain("payload digest");
            for (unsigned i = 0; i < 20; i++)
                snprintf(hex + i * 2, 3, "%02x", digest[i]);
        } else if (block.n != http.n) {
            complain("a revisit with a body");
        }
    }
    printf("%.*s", (int)type.n, type.p);
    print(find_field(head, "WARC-Target-URI"));
    printf("\t%s", status);
    print(find_field(head, "WARC-Date"));
    printf("\t%s", hex);
    print(find_field(head, "WARC-Refers-To-Target-URI"));
    print(find_field(head, "WARC-Refers-To-Date"));
    struct text profile = find_field(head, "WARC-Profile");
    for (size_t i = profile.n; i > 0; i--)
        if (profile.p[i - 1] == '/') {
            profile = (struct text){profile.p + i, profile.n - i};
            break;
        }
    print(profile);
    print(find_field(head, "WARC-Truncated"));
    print(coding);
    putchar('\n');
}

/* One member at `p`; returns how long it is, 0: none. */
static size_t read_gzip(const unsigned char *p, size_t n, char *to)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)p,
                  .avail_in = (unsigned)n,
                  .next_out = (unsigned char *)to,
                  .avail_out = RECORD_MAX};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return 0;
    bool is_whole = inflate(&z, Z_FINISH) == Z_STREAM_END;
    if (is_whole)
        read_record(to, z.total_out);
    inflateEnd(&z);
    return is_whole ? z.total_in : 0;
}

static size_t read_zstd(const unsigned char *p, size_t n, char *to)
{
    size_t size = ZSTD_findFrameCompressedSize(p, n);
    if (ZSTD_isError(size))
        return 0;
    size_t got = ZSTD_decompress(to, RECORD_MAX, p, size);
    if (ZSTD_isError(got))
        return 0;
    read_record(to, got);
    return size;
}

int main(int argc, char **argv)
{
    char *to = malloc(RECORD_MAX);
    for (int i = 1; i < argc && to; i++) {
        file_name = argv[i];
        record_at = 0;
        FILE *f = fopen(argv[i], "rb");
        long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
        unsigned char *p = n > 0 ? malloc((size_t)n) : NULL;
        bool is_zstd = strstr(argv[i], ".zst") != NULL;
        if (p && fseek(f, 0, SEEK_SET) == 0 && fread(p, 1, (size_t)n, f) == (size_t)n) {
            for (size_t used = 1; used && record_at < (size_t)n; record_at += used) {
                size_t left = (size_t)n - record_at;
                used = is_zstd ? read_zstd(p + record_at, left, to) : read_gzip(p + record_at, left, to);
                if (!used)
                    complain("cut short, or damaged");
            }
        } else {
            complain("cannot be read, or is empty");
        }
        free(p);
        if (f)
            fclose(f);
    }
    free(to);
    return wrong;
}
