#include "sample/sites.h"

static const char *const expect_names[EXPECT_MAX] = {"page",    "document", "redirect", "gone", "error",
                                                     "refused", "hidden",   "trap",     "list"};

const char *expect_name(expect_kind k)
{
    return expect_names[k];
}

static struct span label_of(struct span host)
{
    return span_cut(host, 0, span_find(host, '.', 0));
}

const struct site *site_of(struct span host, const char *domain)
{
    struct span label = label_of(host);
    for (unsigned i = 0; span_is_nocase(span_from(host, label.n + 1), domain) && i < site_count; i++)
        if (span_eq_nocase(label, label_of(span_str(sites[i].host))))
            return &sites[i];
    return NULL;
}

void site_put_host(struct buf *out, struct span host, const char *domain)
{
    buf_put(out, label_of(host));
    buf_putc(out, '.');
    buf_puts(out, domain);
}

static unsigned theme_pages(const struct theme *t)
{
    return 1 + t->subject_count * t->aspect_count;
}

unsigned site_pages(const struct site *site)
{
    unsigned n = 1;
    for (int i = 0; i < SITE_THEMES_MAX && site->themes[i]; i++)
        n += theme_pages(site->themes[i]);
    return n;
}

struct site_place site_place(const struct site *site, unsigned at)
{
    struct site_place p = {.subject = -1};
    unsigned rest = at;
    for (int i = 0; rest > 0 && i < SITE_THEMES_MAX && site->themes[i]; i++) {
        p.theme = site->themes[i];
        if (rest <= theme_pages(p.theme))
            break;
        rest -= theme_pages(p.theme);
    }
    if (rest > 1) {
        p.subject = (int)((rest - 2) / p.theme->aspect_count);
        p.aspect = (rest - 2) % p.theme->aspect_count;
    }
    return p;
}

void site_path(const struct site *site, unsigned at, struct buf *out)
{
    if (at >= site_pages(site)) {
        buf_puts(out, site->specials[at - site_pages(site)].path);
        return;
    }
    struct site_place p = site_place(site, at);
    buf_putc(out, '/');
    if (p.theme)
        buf_printf(out, "%s/", p.theme->folder);
    if (p.subject >= 0)
        buf_printf(out, "%s/%s", p.theme->subjects[p.subject].f[0], p.theme->aspects[p.aspect].file);
}

static bool special_is(const struct special *sp, struct span target)
{
    struct span path = span_str(sp->path);
    switch (sp->kind) {
    case SP_MAZE:
    case SP_FAR:
        return span_starts(target, path);
    case SP_CALENDAR:
        return span_starts(target, path) && (target.n == path.n || target.p[path.n] == '?');
    case SP_SESSION: {
        /* The session id is the last parameter: the page is the same without it. */
        if (!span_starts(target, path))
            return false;
        struct span rest = span_from(target, path.n);
        return rest.n == 0 || span_starts(rest, SPAN("?PHPSESSID=")) || span_starts(rest, SPAN("&PHPSESSID="));
    }
    default:
        return span_eq(target, path);
    }
}

/* The page of a theme below its folder: "", "SUBJECT/" or "SUBJECT/ASPECT"; -1: none. */
static int find_in_theme(const struct theme *t, struct span rest)
{
    size_t slash = span_find(rest, '/', 0);
    struct span name = span_cut(rest, 0, slash), file = span_from(rest, slash + 1);
    if (rest.n == 0)
        return 0;
    for (unsigned s = 0; slash < rest.n && s < t->subject_count; s++) {
        for (unsigned a = 0; span_is(name, t->subjects[s].f[0]) && a < t->aspect_count; a++)
            if (span_is(file, t->aspects[a].file))
                return (int)(1 + s * t->aspect_count + a);
    }
    return -1;
}

int site_find(const struct site *site, struct span target)
{
    for (unsigned i = 0; i < site->special_count; i++) {
        if (special_is(&site->specials[i], target))
            return (int)(site_pages(site) + i);
    }
    if (span_is(target, "/"))
        return 0;
    struct span rest = span_from(target, 1);
    unsigned first = 1;
    for (int i = 0; i < SITE_THEMES_MAX && site->themes[i]; i++) {
        struct span folder = span_str(site->themes[i]->folder);
        if (span_starts(rest, folder) && rest.n > folder.n && rest.p[folder.n] == '/') {
            int at = find_in_theme(site->themes[i], span_from(rest, folder.n + 1));
            return at < 0 ? -1 : (int)first + at;
        }
        first += theme_pages(site->themes[i]);
    }
    return -1;
}
