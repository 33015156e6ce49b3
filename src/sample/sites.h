/* sites.h - the sites of the sample web as tables, and how each of their pages is answered.
 *
 * A site has `pages` ordinary pages ("/" and /SECTION/i.html, a tree with four children each) and a list of special
 * ones. To grow the sample web, add rows: expectations, seeds and hosts follow from the tables. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

typedef enum special_kind {
    SP_PAGE,     /* an ordinary page */
    SP_REDIRECT, /* number = status, text = Location: a path, or "//host/path" for another site */
    SP_FAR,      /* an endless redirect chain below path */
    SP_STATUS,   /* number = status */
    SP_BUSY,     /* 429 with Retry-After: 1 for the first `number` requests */
    SP_DROP,     /* connection dropped for the first `number` requests */
    SP_SLOW,     /* answers after `number` ms */
    SP_MAZE,     /* every page links one folder deeper, for ever */
    SP_CALENDAR, /* every month links to the next 25, for ever */
    SP_SESSION,  /* links carry a session id that is new with each answer; text = paths, blank-separated */
    SP_TWIN,     /* differs from its twins (same number) in one sentence; text = canonical or NULL */
    SP_CHANGING, /* new content after every `number` requests */
    SP_FILE,     /* text = content type; not a web page unless text/plain */
    SP_SCRIPT,   /* a page that is only scripts */
    SP_GZIP,     /* body compressed, whatever the client says it takes */
    SP_ZSTD,     /* body compressed where the client takes it */
    SP_LATIN1,   /* ISO-8859-1, said in the header only */
    SP_META,     /* text = content of <meta name=robots>; number = index + 1 of the special it links to */
    SP_HEADER,   /* text = value of X-Robots-Tag */
    SP_LINKS,    /* text = extra markup */
} special_kind;

typedef enum expect_kind {
    EXPECT_PAGE,
    EXPECT_DOCUMENT,
    EXPECT_REDIRECT,
    EXPECT_GONE,
    EXPECT_ERROR,
    EXPECT_REFUSED,
    EXPECT_HIDDEN,
    EXPECT_TRAP,
    EXPECT_MAX
} expect_kind;

const char *expect_name(expect_kind k);

struct special {
    const char *path; /* with query; a prefix for the endless kinds */
    special_kind kind;
    expect_kind expect;
    bool is_linked; /* from the site's front page; else another special leads to it */
    int number;
    const char *text;
};

struct site {
    const char *host;
    const char *lang;
    unsigned pages;
    bool is_calm;   /* a crawl gets through without waiting */
    bool is_closed; /* robots.txt answers 503: nothing may be asked for */
    int robots_status;
    const char *robots; /* body */
    bool has_etag, has_date;
    const struct special *specials;
    unsigned special_count;
};

extern const struct site sites[];
extern const unsigned site_count;

/* Ordinary pages first, then specials; -1: no such page. */
int site_find(const struct site *site, struct span target);
/* The path of page `at`. */
void site_path(const struct site *site, unsigned at, struct buf *out);

struct site_ask {
    uint64_t seed;
    int port;
    struct span target;
    unsigned version; /* how often the page was bumped */
    unsigned hits;    /* requests for the page before this one */
    bool takes_zstd;
};

struct site_reply {
    int status; /* 0 = drop the connection */
    int delay_ms;
    unsigned version;        /* of the content, for ETag and Last-Modified */
    struct buf *head, *body; /* borrowed */
};

void site_answer(const struct site *site, unsigned at, const struct site_ask *ask, struct site_reply *out);
