#include "io/entropy.h"

#include <errno.h>
#include <sys/random.h>

status entropy_draw(void *out, size_t n)
{
    unsigned char *p = out;
    while (n) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ST_IO;
        p += got;
        n -= (size_t)got;
    }
    return ST_OK;
}
