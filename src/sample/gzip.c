#include "sample/gzip.h"

void gzip_stored(struct span in, struct buf *out)
{
    uint32_t crc = 0xffffffffu, size = (uint32_t)in.n;
    for (size_t i = 0; i < in.n; i++) {
        crc ^= (unsigned char)in.p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    buf_put(out, span_of("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10));
    do {
        struct span part = span_cut(in, 0, 65535);
        in = span_from(in, part.n);
        unsigned len = (unsigned)part.n;
        const unsigned char head[5] = {in.n == 0, (unsigned char)len, (unsigned char)(len >> 8), (unsigned char)~len,
                                       (unsigned char)(~len >> 8)};
        buf_put(out, span_of(head, sizeof(head)));
        buf_put(out, part);
    } while (in.n > 0);
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(crc >> (8 * i)));
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(size >> (8 * i)));
}
