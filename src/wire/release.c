#include "wire/release.h"

void release_message(struct span version, struct span machine, struct span digest, struct buf *out)
{
    buf_puts(out, RELEASE_CONTEXT);
    buf_put(out, version);
    buf_putc(out, '\n');
    buf_put(out, machine);
    buf_putc(out, '\n');
    buf_put(out, digest);
}
