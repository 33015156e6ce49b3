/* url_words.h - what the address of a page says about it: words, depth, and the sites it belongs to. Pure. */
#pragma once

#include "base/buf.h"

#define URL_WORDS_BYTES_MAX 2048 /* of a URL looked at */
#define SITE_SUFFIXES_MAX 16

/* Appends the text of an http(s) URL that words are made from: host without "www." and port, path without the
 * extension of a page (".html"), query; percent escapes and '+' decoded. May hold any bytes.
 *
 *     "https://www.python.org/3.11/library%20x/os.path.html?q=a+b"    python.org /3.11/library x/os.path q=a b */
void url_words(struct buf *out, struct span url);
/* Segments of the path: 0 for "https://a/", 2 for "https://a/b/c" and "https://a/b/c/". */
unsigned url_depth(struct span url);

/* The names that "site:" finds a page by: the site and its suffixes by labels, each also without the port; the site
 * alone when it is an address. Spans point into `site`. Longest
 * first; a host of more than SITE_SUFFIXES_MAX labels counts whole and by its last ones. */
struct site_names {
    struct span names[2 * SITE_SUFFIXES_MAX];
    unsigned count;
};
void site_names(struct span site, struct site_names *out);
