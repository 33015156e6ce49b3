#include "sample/sites.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const expect_names[EXPECT_MAX] = {"page",  "document", "redirect", "gone",
                                                     "error", "refused",  "hidden",   "trap"};

const char *expect_name(expect_kind k)
{
    return expect_names[k];
}

static const struct special harbour[] = {
    {"/private/ledger.html", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/private/open.html", SP_PAGE, EXPECT_PAGE, true, 0, NULL},
    {"/print.html?page=1", SP_PAGE, EXPECT_REFUSED, true, 0, NULL},
    {"/report.pdf", SP_FILE, EXPECT_DOCUMENT, true, 0, "application/pdf"},
    {"/caf%C3%A9.html", SP_PAGE, EXPECT_PAGE, true, 0, NULL},
    {"/search?q=boats&lang=en", SP_PAGE, EXPECT_PAGE, true, 0, NULL},
};

static const struct special museum[] = {
    {"/old/1", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "/old/2"},
    {"/old/2", SP_REDIRECT, EXPECT_REDIRECT, false, 302, "/old/3"},
    {"/old/3", SP_REDIRECT, EXPECT_REDIRECT, false, 307, "/new.html"},
    {"/new.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/round/a", SP_REDIRECT, EXPECT_REDIRECT, true, 302, "/round/b"},
    {"/round/b", SP_REDIRECT, EXPECT_REDIRECT, false, 302, "/round/a"},
    {"/moved", SP_REDIRECT, EXPECT_REDIRECT, true, 308, "//garden.example/"},
    {"/away", SP_REDIRECT, EXPECT_REDIRECT, true, 301, "//nowhere.example/"},
    {"/far/", SP_FAR, EXPECT_TRAP, true, 0, NULL},
};

static const struct special garden[] = {
    {"/missing.html", SP_STATUS, EXPECT_GONE, true, 404, NULL},
    {"/felled.html", SP_STATUS, EXPECT_GONE, true, 410, NULL},
    {"/wilted.html", SP_STATUS, EXPECT_ERROR, true, 500, NULL},
    {"/packed.html", SP_GZIP, EXPECT_PAGE, true, 0, NULL},
    {"/pressed.html", SP_ZSTD, EXPECT_PAGE, true, 0, NULL},
    {"/latin.html", SP_LATIN1, EXPECT_PAGE, true, 0, NULL},
};

static const struct special library[] = {
    {"/catalogue.csv", SP_FILE, EXPECT_DOCUMENT, true, 0, "text/csv"},
    {"/cover.png", SP_FILE, EXPECT_DOCUMENT, true, 0, "image/png"},
    {"/readme.txt", SP_FILE, EXPECT_PAGE, true, 0, "text/plain; charset=utf-8"},
    {"/app.html", SP_SCRIPT, EXPECT_PAGE, true, 0, NULL},
    {"/quiet.html", SP_META, EXPECT_PAGE, true, 0, "noindex"},
    {"/stop.html", SP_META, EXPECT_PAGE, true, 7, "noindex, nofollow"},
    {"/behind-stop.html", SP_PAGE, EXPECT_HIDDEN, false, 0, NULL},
    {"/tagged.html", SP_HEADER, EXPECT_PAGE, true, 0, "noindex"},
    {"/base.html", SP_LINKS, EXPECT_PAGE, true, 0,
     "<base href=\"/shelf/deep/\"><a href=\"../target.html\">by base</a>"},
    {"/shelf/target.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/frames.html", SP_LINKS, EXPECT_PAGE, true, 0,
     "<iframe src=\"/framed.html\"></iframe><map name=\"m\"><area href=\"/area.html\" alt=\"an area\"></map>"},
    {"/framed.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/area.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/turn.html", SP_LINKS, EXPECT_PAGE, true, 0, "<meta http-equiv=\"refresh\" content=\"5; url=/turned.html\">"},
    {"/turned.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
    {"/votes.html", SP_LINKS, EXPECT_PAGE, true, 0,
     "<a rel=\"nofollow\" href=\"/unvoted.html\">no vote</a> <a href=\"mailto:a@library.example\">mail</a> <a "
     "href=\"javascript:void(0)\">script</a> <a href=\"http://outside.example/\">out</a> <!-- <a "
     "href=\"/comment.html\"> -->"},
    {"/unvoted.html", SP_PAGE, EXPECT_PAGE, false, 0, NULL},
};

static const struct special orchard[] = {
    {"/twin/a.html", SP_TWIN, EXPECT_PAGE, true, 1, NULL},
    {"/twin/b.html", SP_TWIN, EXPECT_PAGE, true, 1, "/twin/a.html"},
    {"/twin/c.html", SP_TWIN, EXPECT_PAGE, true, 1, NULL},
    {"/shop/", SP_SESSION, EXPECT_PAGE, true, 0, "/shop/ /shop/item1.html /shop/item2.html /shop/view?id=3"},
    {"/shop/item1.html", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/ /shop/item2.html"},
    {"/shop/item2.html", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/ /shop/item1.html"},
    {"/shop/view?id=3", SP_SESSION, EXPECT_PAGE, false, 0, "/shop/"},
};

static const struct special station[] = {
    {"/timetable.html", SP_CHANGING, EXPECT_PAGE, true, 3, NULL},
    {"/delays.html", SP_CHANGING, EXPECT_PAGE, true, 1, NULL},
};

static const struct special turtle[] = {
    {"/slow.html", SP_SLOW, EXPECT_PAGE, true, 1500, NULL},
};

static const struct special busy[] = {
    {"/rush.html", SP_BUSY, EXPECT_PAGE, true, 2, NULL},
};

static const struct special flaky[] = {
    {"/once.html", SP_DROP, EXPECT_PAGE, true, 1, NULL},
};

static const struct special maze[] = {
    {"/maze/", SP_MAZE, EXPECT_TRAP, true, 0, NULL},
    {"/calendar", SP_CALENDAR, EXPECT_TRAP, true, 0, NULL},
};

#define SPECIALS(a) a, COUNT(a)
const struct site sites[] = {
    {"harbour.example", "en", 12, true, false, 200,
     "# Two groups, the longest rule wins.\nUser-agent: *\nDisallow: /private/\nAllow: /private/open.html\nDisallow: "
     "/print*page=\n\n"
     "User-agent: badbot\nDisallow: /\n",
     true, true, SPECIALS(harbour)},
    {"museum.example", "de", 8, true, false, 404, "", true, false, SPECIALS(museum)},
    {"garden.example", "fr", 8, true, false, 200, "User-agent: *\nDisallow:\n", false, true, SPECIALS(garden)},
    {"library.example", "es", 8, true, false, 200, "", true, true, SPECIALS(library)},
    {"orchard.example", "el", 6, true, false, 404, "", true, true, SPECIALS(orchard)},
    {"station.example", "ja", 6, true, false, 200, "User-agent: *\nAllow: /\n", true, true, SPECIALS(station)},
    {"observatory.example", "ru", 5, true, false, 200, "Sitemap: /sitemap.xml\n", false, false, NULL, 0},
    {"turtle.example", "en", 3, false, false, 200, "User-agent: *\nCrawl-delay: 1\n", false, true, SPECIALS(turtle)},
    {"busy.example", "en", 3, false, false, 404, "", true, true, SPECIALS(busy)},
    {"flaky.example", "en", 3, false, false, 404, "", true, true, SPECIALS(flaky)},
    {"closed.example", "en", 4, false, true, 503, "", true, true, NULL, 0},
    {"maze.example", "en", 2, false, false, 404, "", false, false, SPECIALS(maze)},
};
const unsigned site_count = COUNT(sites);

static const char *const sections[] = {"notes", "guide", "archive"};

static void page_path(unsigned at, struct buf *out)
{
    if (at == 0)
        buf_putc(out, '/');
    else
        buf_printf(out, "/%s/%u.html", sections[at % COUNT(sections)], at);
}

void site_path(const struct site *site, unsigned at, struct buf *out)
{
    if (at < site->pages)
        page_path(at, out);
    else
        buf_puts(out, site->specials[at - site->pages].path);
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

int site_find(const struct site *site, struct span target)
{
    for (unsigned i = 0; i < site->special_count; i++) {
        if (special_is(&site->specials[i], target))
            return (int)(site->pages + i);
    }
    struct buf path = {0};
    int found = -1;
    for (unsigned at = 0; at < site->pages && found < 0; at++) {
        buf_clear(&path);
        page_path(at, &path);
        if (span_eq(target, buf_span(&path)))
            found = (int)at;
    }
    buf_done(&path);
    return found;
}
