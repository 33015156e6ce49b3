/* page_flags.h - what a page asks of robots (PAGE_* of web/facts.h) in words. */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

void put_page_flags(struct buf *out, unsigned flags); /* "noindex nofollow" */
void json_page_flags(struct json *j, unsigned flags); /* ["noindex","nofollow"] */
