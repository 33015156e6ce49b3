/* embed - turns files into a C source that holds them, gzip-compressed, for the pages that the program serves.
 *
 *     embed OUT.c FILE...
 *     embed --text NAME OUT.c FILE
 *
 * Run by the build on the machine that builds. A file is known by its last path component; its hash (FNV-1a, 64 bits,
 * of the plain bytes) goes into its address, so that browsers may keep it for ever. The second form is for data that
 * the program itself reads: the file as it is, as a function `struct span NAME(void)`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILE_BYTES_MAX (4u << 20)
#define FILES_MAX 64

struct file {
    const char *name;
    size_t plain_bytes;
    uint64_t hash;
};

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "embed: %s %s\n", what, path);
    exit(1);
}

static unsigned char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *p = malloc(FILE_BYTES_MAX);
    if (!f || !p)
        fail("cannot read", path);
    *n = fread(p, 1, FILE_BYTES_MAX, f);
    if (ferror(f) || *n == FILE_BYTES_MAX || *n == 0)
        fail("empty, too large or unreadable:", path);
    fclose(f);
    return p;
}

static uint64_t fnv1a(const unsigned char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static size_t compress_file(const unsigned char *p, size_t n, unsigned char *to, size_t cap, const char *path)
{
    z_stream z = {0};
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        fail("cannot compress", path);
    z.next_in = (unsigned char *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)cap;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        fail("cannot compress", path);
    size_t packed = cap - z.avail_out;
    deflateEnd(&z);
    return packed;
}

static void put_bytes(FILE *out, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%u,", i % 24 ? "" : "\n", p[i]);
    fputs("\n};\n", out);
}

static void put_file(FILE *out, size_t number, const char *path, struct file *f)
{
    size_t n = 0;
    unsigned char *p = read_file(path, &n);
    size_t cap = n + n / 100 + 1024;
    unsigned char *packed = malloc(cap);
    if (!packed)
        fail("no memory for", path);
    size_t packed_bytes = compress_file(p, n, packed, cap, path);
    fprintf(out, "static const unsigned char file%zu[] = {", number);
    put_bytes(out, packed, packed_bytes);
    const char *slash = strrchr(path, '/');
    f->name = slash ? slash + 1 : path;
    f->plain_bytes = n;
    f->hash = fnv1a(p, n);
    free(packed);
    free(p);
}

static int embed_text(const char *name, const char *to, const char *path)
{
    size_t n = 0;
    unsigned char *p = read_file(path, &n);
    FILE *out = fopen(to, "w");
    if (!out)
        fail("cannot write", to);
    fprintf(out, "#include \"base/span.h\"\nstruct span %s(void);\nstatic const unsigned char text[] = {", name);
    put_bytes(out, p, n);
    fprintf(out, "struct span %s(void)\n{\n    return span_of(text, sizeof(text));\n}\n", name);
    free(p);
    if (fclose(out) != 0)
        fail("cannot write", to);
    return 0;
}

int main(int argc, char **argv)
{
    struct file files[FILES_MAX];
    if (argc == 5 && strcmp(argv[1], "--text") == 0)
        return embed_text(argv[2], argv[3], argv[4]);
    if (argc < 3 || argc - 2 > FILES_MAX)
        fail("usage: embed OUT.c FILE...", "");
    FILE *out = fopen(argv[1], "w");
    if (!out)
        fail("cannot write", argv[1]);
    fputs("#include \"serve/asset.h\"\n", out);
    for (int i = 2; i < argc; i++)
        put_file(out, (size_t)i - 2, argv[i], &files[i - 2]);
    fputs("const struct asset_file asset_files[] = {\n", out);
    for (int i = 0; i < argc - 2; i++)
        fprintf(out, "    {\"%s\", \"%016llx\", file%d, sizeof(file%d), %zu},\n", files[i].name,
                (unsigned long long)files[i].hash, i, i, files[i].plain_bytes);
    fprintf(out, "};\nconst size_t asset_file_count = %d;\n", argc - 2);
    if (fclose(out) != 0)
        fail("cannot write", argv[1]);
    return 0;
}
