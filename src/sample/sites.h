/* sites.h - the sites of the sample web as tables, and how each of their pages is answered.
 *
 * A site has a front page, one folder for each of its themes (theme.h), and a list of special pages. To grow the sample
 * web, add rows: expectations, seeds and hosts follow from the tables. */
#pragma once

#include <time.h>

#include "base/buf.h"
#include "base/status.h"
#include "sample/theme.h"

typedef enum special_kind {
    SP_PAGE,     /* loose sentences; text = own ones before them, or NULL */
    SP_ARTICLE,  /* number = of the hand-written article */
    SP_COPY,     /* another page again; text = its path, or "//host/path" of another site; number = COPY_* */
    SP_REDIRECT, /* number = status, text = Location: a path, or "//host/path" for another site */
    SP_FAR,      /* an endless redirect chain below path */
    SP_STATUS,   /* number = status */
    SP_BUSY,     /* 429 with Retry-After: 1 for the first `number` requests */
    SP_DROP,     /* connection dropped for the first `number` requests */
    SP_SLOW,     /* answers after `number` ms */
    SP_MAZE,     /* every page links one folder deeper, for ever */
    SP_CALENDAR, /* every month links to the next 25, for ever; says noindex */
    SP_SESSION,  /* links carry a session id that is new with each answer; text = paths, blank-separated */
    SP_CHANGING, /* new content after every `number` requests; text as of SP_PAGE */
    SP_FILE,     /* text = content type; not a web page unless text/plain; a PDF has real text in it */
    SP_LIST,     /* a sitemap or a feed; number = LIST_*; text = paths that it names, blank-separated */
    SP_MARKDOWN, /* text = Markdown before the loose sentences */
    SP_SCRIPT,   /* a page that is only scripts */
    SP_GZIP,     /* body compressed, whatever the client says it takes */
    SP_ZSTD,     /* body compressed where the client takes it */
    SP_LATIN1,   /* ISO-8859-1, said in the header only */
    SP_CP1251,   /* windows-1251, said in the page only */
    SP_META,     /* text = content of <meta name=robots>; number = index + 1 of the special it links to */
    SP_HEADER,   /* text = value of X-Robots-Tag */
    SP_LINKS,    /* text = extra markup */
} special_kind;

/* Of SP_COPY. A copy has one sentence more than the original, unless it is exact. */
enum {
    COPY_CANONICAL = 1, /* names the original */
    COPY_PRINT = 2,     /* without navigation, under a heading of its own */
    COPY_DATED = 4,     /* another date */
    COPY_EXACT = 8,     /* the same bytes; same site only, alone */
};

/* Of SP_LIST. Feeds, and sitemaps of plain text, are named in the head of the front page. */
enum {
    LIST_INDEX,
    LIST_URLSET,
    LIST_RSS,
    LIST_ATOM,
    LIST_TEXT,
    LIST_GZIP = 16, /* the file is */
};

typedef enum expect_kind {
    EXPECT_PAGE,
    EXPECT_DOCUMENT,
    EXPECT_REDIRECT,
    EXPECT_GONE,
    EXPECT_ERROR,
    EXPECT_REFUSED,
    EXPECT_HIDDEN,
    EXPECT_TRAP,
    EXPECT_LIST,
    EXPECT_MAX
} expect_kind;

const char *expect_name(expect_kind k);

struct special {
    const char *path;  /* with query; a prefix for the endless kinds */
    const char *title; /* also of the link to it */
    special_kind kind;
    expect_kind expect;
    bool is_linked; /* from the site's front page; else another page leads to it */
    int number;
    const char *text;
};

typedef enum site_pace {
    PACE_CALM, /* a crawl gets through without waiting */
    PACE_SOON, /* it has to wait for seconds */
    PACE_LATE, /* for a minute or longer */
} site_pace;

#define SITE_THEMES_MAX 5

struct site {
    const char *host, *lang;
    const char *name, *motto;
    const char *about; /* template of the front page, without subject */
    site_pace pace;
    bool is_closed; /* robots.txt answers 503: nothing may be asked for */
    int robots_status;
    const char *robots; /* body */
    const char *key;    /* in /KEY.txt: it announces changes (web/indexnow.h); NULL: it does not */
    bool has_etag, has_date;
    const struct theme *themes[SITE_THEMES_MAX]; /* up to the first NULL */
    const struct special *specials;
    unsigned special_count;
    const char *neighbours; /* links to other sites, one a line: "host/path anchor text"; or NULL */
};

extern const struct site sites[];
extern const unsigned site_count;

/* The tables write hosts as "bakery.example"; a sample may have them in another domain. */
#define SITE_DOMAIN "example"
const struct site *site_of(struct span host, const char *domain); /* NULL: none */
/* "bakery.example" as it is in that domain. */
void site_put_host(struct buf *out, struct span host, const char *domain);

/* Pages that come from themes, the front page included. */
unsigned site_pages(const struct site *site);
/* Pages of themes first, then specials; -1: no such page. */
int site_find(const struct site *site, struct span target);
/* The path of page `at`. */
void site_path(const struct site *site, unsigned at, struct buf *out);

/* Where page `at` below site_pages() stands. */
struct site_place {
    const struct theme *theme; /* NULL: the front page */
    int subject;               /* -1: the list of the theme */
    unsigned aspect;
};
struct site_place site_place(const struct site *site, unsigned at);

struct site_ask {
    uint64_t seed;
    int port;
    const char *domain;
    struct span target;
    unsigned version; /* how often the page was bumped */
    unsigned hits;    /* requests for the page before this one */
    bool takes_zstd;
};

struct site_reply {
    int status; /* 0 = drop the connection */
    int delay_ms;
    unsigned version;        /* of the content, for ETag and Last-Modified */
    time_t date;             /* of that version */
    struct buf *head, *body; /* borrowed */
};

void site_answer(const struct site *site, unsigned at, const struct site_ask *ask, struct site_reply *out);
