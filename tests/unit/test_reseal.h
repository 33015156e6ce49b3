/* test_reseal.h - puts the checksums of a segment's file right after bytes of it were changed, so that what reads it
 * gets past them. */
#pragma once

#include <string.h>

#include "codec/digest.h"
#include "index/segment/chunked.h"

static inline void reseal_put(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

/* `size` is that of a whole file whose footer still tells where its body ends. */
static inline void reseal(unsigned char *file, size_t size)
{
    unsigned char *footer = file + size - CHUNKED_FOOTER_BYTES;
    uint64_t body = 0;
    for (int i = 7; i >= 0; i--)
        body = body << 8 | footer[i];
    for (uint64_t at = 0; at < body; at += CHUNKED_CHUNK) {
        size_t n = (size_t)(body - at < CHUNKED_CHUNK ? body - at : CHUNKED_CHUNK);
        reseal_put(file + body + 4 * (at / CHUNKED_CHUNK), digest_crc32c(span_of(file + at, n)));
    }
    reseal_put(footer + 20, digest_crc32c(span_of(file + body, (size_t)(footer + 20 - (file + body)))));
}
