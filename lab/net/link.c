#include "lab/net/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>

#include "base/mem.h"
#include "lab/net/link_kind.h"

struct links {
    link_kind kind;
    const struct link_ops *ops;
    void *self; /* owned, by ops->free */
    unsigned count;
};

const char *link_kind_name(link_kind k)
{
    static const char *const names[] = {"auto", "veth", "tun"};
    return (size_t)k < sizeof(names) / sizeof(*names) ? names[k] : "unknown";
}

status links_new(link_kind kind, struct links **out, struct buf *why)
{
    struct links l = {.kind = kind, .ops = &link_tun_ops};
    status st = ST_UNSUPPORTED;
    if (kind != LINK_VETH) {
        st = link_tun_new(&l.self, why);
        l.kind = LINK_TUN;
    }
    if (st != ST_OK && kind != LINK_TUN) {
        buf_clear(why);
        st = link_veth_new(&l.self, why);
        l.kind = LINK_VETH;
        l.ops = &link_veth_ops;
    }
    if (st != ST_OK)
        return st;
    *out = mem_alloc(sizeof(**out));
    **out = l;
    return ST_OK;
}

void links_free(struct links *l)
{
    if (!l)
        return;
    l->ops->free(l->self);
    free(l);
}

link_kind links_kind(const struct links *l)
{
    return l->kind;
}

status links_add(struct links *l, int ns_fd, unsigned *link, struct buf *why)
{
    if (l->count == LINKS_MAX)
        return ST_LIMIT;
    status st = l->ops->add(l->self, ns_fd, l->count, why);
    if (st == ST_OK)
        *link = l->count++;
    return st;
}

status links_start(struct links *l, struct buf *why)
{
    return l->ops->start(l->self, why);
}

int links_fd(const struct links *l)
{
    return l->ops->fd(l->self);
}

bool links_next(struct links *l, mono_ns now, struct link_packet *out)
{
    return l->ops->next(l->self, now, out);
}

void links_send(struct links *l, struct line_packet *const *packets, size_t n)
{
    l->ops->send(l->self, packets, n);
}

struct link_counts links_counts(struct links *l)
{
    return l->ops->counts(l->self);
}

status link_plain(const char *device, struct buf *why)
{
    static const uint32_t off[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGRO};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool is_off = fd >= 0;
    for (size_t i = 0; i < sizeof(off) / sizeof(*off) && is_off; i++) {
        struct ethtool_value v = {.cmd = off[i]};
        struct ifreq r = {0};
        snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
        r.ifr_data = (void *)&v;
        /* Only the checksums must go: without them the kernel has no segmentation to offload either. */
        is_off = ioctl(fd, SIOCETHTOOL, &r) == 0 || off[i] != ETHTOOL_STXCSUM;
    }
    int err = errno;
    if (fd >= 0)
        close(fd);
    if (!is_off)
        buf_printf(why, "turn offloading off: %s", strerror(err));
    return is_off ? ST_OK : ST_IO;
}

status link_fail(struct buf *why, const char *doing)
{
    int err = errno;
    buf_printf(why, "%s: %s", doing, strerror(err));
    errno = err;
    return ST_IO;
}
