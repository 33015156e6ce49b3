#include "lab/map/wire.h"

#define NS 1000000000

/* As many bytes as have not been sent at `at`; by the rate that they have, which is not always the one of now. */
static double waiting(const struct wire *w, mono_ns at)
{
    return w->free > at ? (double)(w->free - at) * (double)w->rate / NS : 0;
}

static double room(uint64_t rate)
{
    double by_time = (double)rate * WIRE_WAIT_MS / 1000, by_count = (double)WIRE_PACKETS * PACKET_MAX;
    return by_time > by_count ? by_time : by_count;
}

bool wire_send(struct wire *w, uint64_t bytes_a_second, size_t bytes, mono_ns at, mono_ns *out)
{
    mono_ns start = w->free > at ? w->free : at;
    if (bytes_a_second == 0) {
        *out = start;
        return true;
    }
    if (waiting(w, at) + (double)bytes > room(bytes_a_second))
        return false;
    w->free = start + (mono_ns)((uint64_t)bytes * NS / bytes_a_second);
    w->rate = bytes_a_second;
    *out = w->free;
    return true;
}
