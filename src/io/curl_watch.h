/* curl_watch.h - lets a curl multi handle wait for its sockets and its one timer on our loop.
 *
 * Curl lets go of a socket at the end of each transfer and asks for the same one a moment later. A watch therefore
 * outlives the transfer and is dropped only with the socket, or when an idle connection says something: that saves two
 * epoll_ctl a request. It needs to see sockets come and go, hence curl_watch_open() and curl_watch_close() for the
 * callbacks of the easy handles. */
#pragma once

#include <curl/curl.h>

#include "io/loop.h"

struct curl_watch;

/* Sets the socket and timer callbacks of `multi` (borrowed). `ran` is called each time curl was run, outside curl;
 * it may free everything. */
struct curl_watch *curl_watch_new(struct loop *l, CURLM *multi, loop_fn *ran, void *arg);
void curl_watch_free(struct curl_watch *w); /* after curl_multi_cleanup */

curl_socket_t curl_watch_open(struct curl_watch *w, int family, int type, int protocol);
int curl_watch_close(struct curl_watch *w, curl_socket_t fd);
/* Runs curl now, as if its timer had ended. */
void curl_watch_run(struct curl_watch *w);
