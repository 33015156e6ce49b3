/* walk - which URLs of a folder of files a crawler can reach, found without a crawler.
 *
 *   walk ROOT PREFIX START...   prints "KIND<TAB>URL<TAB>REFERRER", sorted by URL; KIND is html, text, other or
 * redirect walk --canonical PREFIX     rewrites URLs from standard input the way the above writes them
 *
 * An oracle for tests: shares no code with the crawler. Pages are parsed by gumbo, references are resolved by the
 * reading of RFC 3986 below, and files are found as nginx finds them: "dir/" is dir/index.html, "dir" redirects to
 * "dir/". URLs are compared in one form: path and query percent-decoded, then only what must be is encoded again. */
#include <ctype.h>
#include <gumbo.h>
#include <iconv.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FILE_MAX (64u << 20)

struct target {
    char *path;  /* decoded, starts with '/' */
    char *query; /* decoded, or NULL */
};

struct node {
    struct target at;
    const char *url;  /* canonical */
    const char *from; /* URL of the page that first linked here */
    const char *kind;
};

static const char *root, *prefix;
static void *known; /* tree of nodes by url */
static struct node **queue;
static size_t queue_n, queue_cap;

static void *must(void *p)
{
    if (!p) {
        fputs("walk: out of memory\n", stderr);
        exit(5);
    }
    return p;
}

static char *text(const char *p, size_t n)
{
    return must(strndup(p, n));
}

/* ---- URLs ---- */

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

static char *decoded(const char *s)
{
    char *out = must(malloc(strlen(s) + 1)), *to = out;
    for (; *s; s++) {
        if (*s == '%' && hex(s[1]) >= 0 && hex(s[2]) >= 0 && (hex(s[1]) || hex(s[2]))) {
            *to++ = (char)(hex(s[1]) * 16 + hex(s[2]));
            s += 2;
        } else {
            *to++ = *s;
        }
    }
    *to = 0;
    return out;
}

static void put_encoded(FILE *out, const char *s, const char *also)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c <= ' ' || c >= 0x7f || c == '%' || strchr(also, c))
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

static char *canonical(const struct target *t)
{
    char *s = NULL;
    size_t n;
    FILE *out = must(open_memstream(&s, &n));
    fputs(prefix, out);
    put_encoded(out, t->path, "?#");
    if (t->query) {
        fputc('?', out);
        put_encoded(out, t->query, "#");
    }
    fclose(out);
    return s;
}

/* RFC 3986 5.2.4 on a decoded path. */
static char *without_dots(const char *path)
{
    size_t n = strlen(path);
    char *out = must(malloc(n + 2));
    size_t at = 0;
    const char *p = path;
    while (*p) {
        const char *end = strchrnul(p + 1, '/');
        size_t len = (size_t)(end - p); /* "/segment" */
        if (len == 2 && p[1] == '.') {
            if (!*end)
                out[at++] = '/';
        } else if (len == 3 && p[1] == '.' && p[2] == '.') {
            while (at > 0 && out[--at] != '/')
                ;
            if (!*end)
                out[at++] = '/';
        } else {
            memcpy(out + at, p, len);
            at += len;
        }
        p = end;
    }
    if (at == 0)
        out[at++] = '/';
    out[at] = 0;
    return out;
}

/* Browsers drop these from an attribute before they look at it. */
static char *cleaned(const char *ref)
{
    while (*ref && (unsigned char)*ref <= ' ')
        ref++;
    size_t n = strlen(ref), to = 0;
    while (n > 0 && (unsigned char)ref[n - 1] <= ' ')
        n--;
    char *s = text(ref, n);
    bool in_query = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\t' || s[i] == '\n' || s[i] == '\r')
            continue;
        in_query = in_query || s[i] == '?' || s[i] == '#';
        s[to++] = s[i] == '\\' && !in_query ? '/' : s[i];
    }
    s[to] = 0;
    s[strcspn(s, "#")] = 0;
    return s;
}

static bool has_scheme(const char *s)
{
    size_t n = 0;
    if (!isalpha((unsigned char)*s))
        return false;
    while (isalnum((unsigned char)s[n]) || s[n] == '+' || s[n] == '-' || s[n] == '.')
        n++;
    return s[n] == ':';
}

/* False: the reference leads away from the site, or is empty of meaning for a crawler. */
static bool resolve(const struct target *base, const char *ref, struct target *out)
{
    char *s = cleaned(ref), *rest = s;
    size_t site = strlen(prefix);
    if (strncasecmp(s, prefix, site) == 0 && (s[site] == '/' || s[site] == '?' || !s[site]))
        rest = s + site;
    else if (has_scheme(s) || strncmp(s, "//", 2) == 0)
        return false;
    bool is_absolute = rest != s;
    char *mark = strchr(rest, '?');
    char *query = mark ? decoded(mark + 1) : NULL;
    if (mark)
        *mark = 0;
    char *path = decoded(rest);
    if (!*path && is_absolute) {
        path = text("/", 1);
    } else if (!*path) {
        path = strdup(base->path);
        if (!mark && base->query)
            query = strdup(base->query);
    } else if (*path != '/') {
        size_t folder = (size_t)(strrchr(base->path, '/') - base->path) + 1;
        char *joined = must(malloc(folder + strlen(path) + 1));
        memcpy(joined, base->path, folder);
        strcpy(joined + folder, path);
        path = joined;
    }
    out->path = without_dots(path);
    out->query = query && *query ? query : NULL; /* an empty query is no other page */
    return true;
}

/* ---- files ---- */

static const char *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/'))
        return "other";
    if (!strcasecmp(dot, ".html") || !strcasecmp(dot, ".htm") || !strcasecmp(dot, ".xhtml"))
        return "html";
    return strcasecmp(dot, ".txt") ? "other" : "text";
}

/* The file that answers, or NULL; *kind says how. */
static char *find_file(const char *path, const char **kind)
{
    char *file = NULL;
    struct stat st;
    size_t n = strlen(path);
    bool is_folder = n > 0 && path[n - 1] == '/';
    if (asprintf(&file, "%s%s%s", root, path, is_folder ? "index.html" : "") < 0)
        exit(5);
    if (stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
        *kind = kind_of(file);
        return file;
    }
    *kind = stat(file, &st) == 0 && S_ISDIR(st.st_mode) ? "redirect" : NULL;
    free(file);
    return NULL;
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *data = must(malloc(FILE_MAX));
    *n = fread(data, 1, FILE_MAX, f);
    fclose(f);
    return must(realloc(data, *n + 1));
}

/* To UTF-8 by the charset that the page names in its first kilobyte; as it is when it names none or a wrong one. */
static char *to_utf8(char *data, size_t *n)
{
    char name[40];
    size_t head = *n < 1024 ? *n : 1024;
    const char *at = memmem(data, head, "charset=", 8);
    if (!at)
        at = memmem(data, head,
                    "encoding=", 9); /* XHTML's declaration; "=" is one byte further, the quote is skipped below */
    if (!at)
        return data;
    at = strchr(at, '=') + 1;
    at += strspn(at, "\"' ");
    size_t len = strcspn(at, "\"'; />?\n");
    if (len == 0 || len >= sizeof(name) || !strncasecmp(at, "utf-8", 5))
        return data;
    memcpy(name, at, len);
    name[len] = 0;
    iconv_t cd = iconv_open("UTF-8", strcasecmp(name, "iso-8859-1") ? name : "windows-1252");
    if (cd == (iconv_t)-1)
        return data;
    size_t cap = *n * 4 + 16, in_left = *n, out_left = cap;
    char *out = must(malloc(cap)), *in = data, *to = out;
    while (in_left > 0 && iconv(cd, &in, &in_left, &to, &out_left) == (size_t)-1) {
        if (out_left < 4)
            break;
        in++, in_left--;
        *to++ = '?', out_left--;
    }
    iconv_close(cd);
    free(data);
    *n = (size_t)(to - out);
    return out;
}

/* ---- the walk ---- */

static int by_url(const void *a, const void *b)
{
    return strcmp(((const struct node *)a)->url, ((const struct node *)b)->url);
}

static void add(const struct target *t, const char *from)
{
    struct node *n = must(calloc(1, sizeof(*n)));
    n->at = *t;
    n->url = canonical(t);
    n->from = from;
    if (*(struct node **)must(tsearch(n, &known, by_url)) != n)
        return;
    if (queue_n == queue_cap)
        queue = must(realloc(queue, (queue_cap = queue_cap * 2 + 1024) * sizeof(*queue)));
    queue[queue_n++] = n;
}

static const char *attribute(const GumboElement *e, const char *name)
{
    const GumboAttribute *a = gumbo_get_attribute(&e->attributes, name);
    return a ? a->value : NULL;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at && (at = strcasestr(at, word)); at += n) {
        bool starts = at == list || strchr(" ,\t\n\r\f", at[-1]), ends = !at[n] || strchr(" ,\t\n\r\f", at[n]);
        if (starts && ends)
            return true;
    }
    return false;
}

/* "5; url='x'" -> x, or NULL. */
static char *refresh_target(const char *content)
{
    const char *at = content + strspn(content, " \t\n0123456789.");
    if (*at != ';' && *at != ',')
        return NULL;
    at++;
    at += strspn(at, " \t\n");
    if (strncasecmp(at, "url", 3) == 0) {
        const char *eq = at + 3 + strspn(at + 3, " ");
        if (*eq == '=')
            at = eq + 1 + strspn(eq + 1, " ");
    }
    if (*at == '"' || *at == '\'')
        return text(at + 1, strcspn(at + 1, *at == '"' ? "\"" : "'"));
    return *at ? strdup(at) : NULL;
}

static const char *link_of(const GumboElement *e)
{
    const char *rel, *content, *equiv;
    switch (e->tag) {
    case GUMBO_TAG_A:
    case GUMBO_TAG_AREA:
        return attribute(e, "href");
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_FRAME:
        return attribute(e, "src");
    case GUMBO_TAG_LINK:
        rel = attribute(e, "rel");
        if (has_word(rel, "next") || has_word(rel, "prev") || (has_word(rel, "alternate") && attribute(e, "hreflang")))
            return attribute(e, "href");
        return NULL;
    case GUMBO_TAG_META:
        equiv = attribute(e, "http-equiv");
        content = attribute(e, "content");
        return equiv && content && !strcasecmp(equiv, "refresh") ? refresh_target(content) : NULL;
    default:
        return NULL;
    }
}

struct found {
    const char **refs;
    size_t n, cap;
    const char *base;
    bool nofollow;
};

static void visit(const GumboElement *e, struct found *f)
{
    const char *href = link_of(e);
    if (href) {
        if (f->n == f->cap)
            f->refs = must(realloc(f->refs, (f->cap = f->cap * 2 + 64) * sizeof(*f->refs)));
        f->refs[f->n++] = href;
    }
    if (e->tag == GUMBO_TAG_BASE && !f->base)
        f->base = attribute(e, "href");
    const char *name = e->tag == GUMBO_TAG_META ? attribute(e, "name") : NULL;
    if (name && !strcasecmp(name, "robots"))
        f->nofollow =
            f->nofollow || has_word(attribute(e, "content"), "nofollow") || has_word(attribute(e, "content"), "none");
}

/* Every element, without recursion: the children of a node are pushed before the next is taken. */
static void visit_all(GumboNode *top, struct found *f)
{
    GumboNode **stack = must(malloc(sizeof(*stack)));
    size_t n = 1, cap = 1;
    stack[0] = top;
    while (n > 0) {
        GumboNode *node = stack[--n];
        if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE)
            continue;
        visit(&node->v.element, f);
        const GumboVector *kids = &node->v.element.children;
        if (n + kids->length > cap)
            stack = must(realloc(stack, (cap = (n + kids->length) * 2) * sizeof(*stack)));
        for (unsigned i = kids->length; i > 0; i--)
            stack[n++] = kids->data[i - 1];
    }
    free(stack);
}

static void follow(const struct node *node, const char *file)
{
    size_t n;
    char *data = read_file(file, &n);
    if (!data)
        return;
    data = to_utf8(data, &n);
    GumboOutput *doc = gumbo_parse_with_options(&kGumboDefaultOptions, data, n);
    struct found f = {0};
    struct target base = node->at, t;
    visit_all(doc->root, &f);
    if (f.base && !resolve(&node->at, f.base, &base))
        f.n = 0; /* every relative link leads away */
    for (size_t i = 0; i < f.n && !f.nofollow; i++) {
        if (resolve(&base, f.refs[i], &t))
            add(&t, node->url);
    }
    free(f.refs);
    gumbo_destroy_output(&kGumboDefaultOptions, doc);
    free(data);
}

static void walk_one(struct node *node)
{
    char *file = find_file(node->at.path, &node->kind);
    if (file && !strcmp(node->kind, "html"))
        follow(node, file);
    free(file);
    if (node->kind && !strcmp(node->kind, "redirect")) {
        struct target t = {NULL, node->at.query};
        if (asprintf(&t.path, "%s/", node->at.path) < 0)
            exit(5);
        add(&t, node->from);
    }
}

static int by_node(const void *a, const void *b)
{
    return by_url(*(struct node *const *)a, *(struct node *const *)b);
}

static int canonical_stream(void)
{
    char *line = NULL;
    size_t cap = 0;
    struct target home = {.path = "/"}, t;
    while (getline(&line, &cap, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        puts(resolve(&home, line, &t) ? canonical(&t) : line);
    }
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--canonical")) {
        prefix = argv[2];
        return canonical_stream();
    }
    if (argc < 4) {
        fputs("usage: walk ROOT PREFIX START...\n       walk --canonical PREFIX <URLS\n", stderr);
        return 2;
    }
    root = argv[1];
    prefix = argv[2];
    struct target home = {.path = "/"}, t;
    for (int i = 3; i < argc; i++) {
        if (resolve(&home, argv[i], &t))
            add(&t, "start");
    }
    for (size_t i = 0; i < queue_n; i++)
        walk_one(queue[i]);
    qsort(queue, queue_n, sizeof(*queue), by_node);
    for (size_t i = 0; i < queue_n; i++) {
        if (queue[i]->kind)
            printf("%s\t%s\t%s\n", queue[i]->kind, queue[i]->url, queue[i]->from);
    }
    return 0;
}
