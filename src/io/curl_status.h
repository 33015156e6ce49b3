/* curl_status.h - what became of a transfer, in our words. */
#pragma once

#include <curl/curl.h>

#include "base/status.h"

/* ST_DNS, ST_CONNECT, ST_TLS, ST_TIMEOUT, ST_CANCELLED (by a callback of ours), ST_INVALID (the URL); ST_PROTOCOL for
 * all else. A proxy that has no address is no connection. */
status curl_status(CURLcode code);
