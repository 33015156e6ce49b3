/* fetch_request.h - a request as text, and what in a URL must not get into one. Pure; used by the fetcher. */
#pragma once

#include "base/buf.h"

/* Not a byte in it that could end a line or a part of one: controls, spaces, DEL. */
bool fetch_url_is_clean(struct span url);
/* The host with its port, as the Host line has it. False: there is none, or it has a name and password in front, which
 * only curl knows how to send. */
bool fetch_url_host(struct span url, struct span *host);

/* "If-None-Match: ..." into *to; empty when there is no value, or one that could not have come from a header. */
void fetch_condition(struct buf *to, struct span name, struct span value);

/* Adds a header line of an operator's, by curl's rules: "Name: value"; "Name;" sends it without a value, "Name:" not
 * at all. */
void fetch_request_header(struct buf *headers, struct span line);

/* A header line whose value is for one site alone: credentials, sessions, keys; told by its name. */
bool fetch_header_is_secret(struct span line);
/* Takes such lines out of a request: archives are passed on. */
void fetch_request_hide(struct buf *request);

/* "https://a.example:8443" of a normalised URL. */
struct span fetch_url_site(struct span url);

struct fetch_request_parts {
    bool is_head;
    struct span url;           /* normalised; fetch_url_host() is true of it */
    struct span conditions[2]; /* lines without their ends; empty: none */
    struct span headers;       /* lines with their ends; a Host line among them is sent instead of the URL's */
};
void fetch_request_write(const struct fetch_request_parts *parts, struct buf *out); /* in place of what it has */
