/* reseal.h - puts the checksums of files right after a fuzzer has changed them: behind a sum that is wrong no reader
 * looks at what the rest says. */
#pragma once

#include <string.h>

#include "base/span.h"
#include "codec/digest.h"

static inline void reseal_put(char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (char)(v >> (8 * i));
}

static inline uint32_t reseal_get(const char *from)
{
    const unsigned char *p = (const unsigned char *)from;
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* A file of records (store/records.h): its header, and each record as long as lengths stay inside the file. */
static inline void reseal_records(char *file, size_t n)
{
    if (n < 24)
        return;
    reseal_put(file + 20, digest_crc32c(span_of(file, 20)), 4);
    for (size_t at = 24; n - at >= 9 && reseal_get(file + at) <= n - at - 9;) {
        size_t payload = reseal_get(file + at);
        reseal_put(file + at + 4, digest_crc32c(span_of(file + at + 8, 1 + payload)), 4);
        at += 9 + payload;
    }
}

/* A tar archive (codec/tar.h): each header whose place follows from the sizes before it. */
static inline void reseal_tar(char *file, size_t n)
{
    static const char none[512];
    for (size_t at = 0; n - at >= 512; at += 512) {
        char *head = file + at;
        unsigned sum = 0;
        uint64_t size = 0;
        if (memcmp(head, none, 512) == 0)
            continue;
        memset(head + 148, ' ', 8);
        for (int i = 0; i < 512; i++)
            sum += (unsigned char)head[i];
        for (int i = 0; i < 6; i++)
            head[148 + i] = (char)('0' + (sum >> (3 * (5 - i)) & 7));
        head[154] = '\0';
        for (int i = 124; i < 136 && head[i] >= '0' && head[i] <= '7'; i++)
            size = size << 3 | (uint64_t)(head[i] - '0');
        if (size > n - at - 512)
            return;
        at += (size + 511) / 512 * 512;
        if (n - at < 512)
            return;
    }
}
