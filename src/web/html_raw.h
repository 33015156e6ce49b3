/* html_raw.h - the inner parts of html_token.c: where raw text and comments end.
 *
 * They work on [p, end) and return a pointer into it, or end. */
#pragma once

#include "base/span.h"
#include "web/html_token.h"

/* The '<' of the end tag called `name` (any case) that is followed by white space, '/' or '>'. */
const char *html_raw_end(const char *p, const char *end, struct span name);
/* The same by the script data states: "<!-- <script> ... </script> -->" hides an end tag. */
const char *html_script_end(const char *p, const char *end, struct span name);
/* What follows "<!--": *data is the comment; returns where the markup goes on. */
const char *html_comment_end(const char *p, const char *end, struct span *data);
