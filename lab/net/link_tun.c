#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>

#include "base/mem.h"
#include "lab/net/link_kind.h"
#include "lab/net/netlink.h"
#include "lab/net/netns.h"

#define DEVICE "/dev/net/tun"
#define READY 64
#define QUEUE 4096 /* packets that wait to be read; the default of 500 is one busy moment */

struct tun {
    int home;    /* the router's namespace */
    int poll_fd; /* epoll over all devices */
    int fds[LINKS_MAX];
    unsigned count;
    struct epoll_event ready[READY];
    int ready_count, at;
    unsigned char packet[PACKET_MAX + 64];
    struct link_counts counts;
};

static void tun_free(void *self)
{
    struct tun *t = self;
    for (unsigned i = 0; i < t->count; i++)
        close(t->fds[i]);
    if (t->poll_fd >= 0)
        close(t->poll_fd);
    if (t->home >= 0)
        close(t->home);
    free(t);
}

static int fd_of(int fd, bool is_good)
{
    if (is_good)
        return fd;
    int err = errno;
    close(fd);
    errno = err;
    return -1;
}

/* In the namespace that the thread is in. The device outlives its descriptor, and goes with the namespace: the kernel
 * ends those all at once, while closing descriptors would end devices one by one, some 20 ms for each. -1 with errno.
 */
static int open_device(unsigned index, bool is_try)
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", NETLINK_DEVICE);
    return fd_of(fd, ioctl(fd, TUNSETIFINDEX, &index) == 0 && ioctl(fd, TUNSETIFF, &r) == 0 &&
                         (is_try || ioctl(fd, TUNSETPERSIST, 1) == 0));
}

status link_tun_new(void **out, struct buf *why)
{
    int try = open_device(NETLINK_DEVICE_INDEX, true);
    if (try < 0)
        return link_fail(why, "open " DEVICE);
    close(try);
    struct tun *t = mem_alloc(sizeof(*t));
    t->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->home = -1;
    status st = netns_here(&t->home);
    if (st != ST_OK || t->poll_fd < 0) {
        st = link_fail(why, "open the links");
        tun_free(t);
        return st;
    }
    *out = t;
    return ST_OK;
}

static void lengthen_queue(void)
{
    struct ifreq r = {.ifr_qlen = QUEUE};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", NETLINK_DEVICE);
    (void)ioctl(fd, SIOCSIFTXQLEN, &r);
    close(fd);
}

static status tun_add(void *self, int ns_fd, unsigned link, struct buf *why)
{
    struct tun *t = self;
    if (netns_enter(ns_fd) != ST_OK)
        return link_fail(why, "enter a namespace");
    int fd = open_device(NETLINK_DEVICE_INDEX + link, false), err = errno;
    if (fd >= 0)
        lengthen_queue();
    if (netns_enter(t->home) != ST_OK)
        return link_fail(why, "come back from a namespace");
    errno = err;
    if (fd < 0)
        return link_fail(why, "make a tun device");
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = link};
    t->fds[t->count++] = fd;
    return epoll_ctl(t->poll_fd, EPOLL_CTL_ADD, fd, &e) == 0 ? ST_OK : link_fail(why, "watch a tun device");
}

static status tun_start(void *self, struct buf *why)
{
    return ST_OK;
}

static int tun_fd(void *self)
{
    return ((struct tun *)self)->poll_fd;
}

static bool tun_next(void *self, mono_ns now, struct link_packet *out)
{
    struct tun *t = self;
    for (;;) {
        if (t->at == t->ready_count) {
            t->at = 0;
            t->ready_count = epoll_wait(t->poll_fd, t->ready, READY, 0);
            if (t->ready_count <= 0) {
                t->ready_count = 0;
                return false;
            }
        }
        unsigned link = t->ready[t->at].data.u32;
        ssize_t n = read(t->fds[link], t->packet, sizeof(t->packet));
        if (n <= 0) {
            t->at++;
        } else if (n > PACKET_MAX) {
            t->counts.too_long++;
        } else {
            *out = (struct link_packet){link, span_of(t->packet, (size_t)n), now};
            return true;
        }
    }
}

static void tun_send(void *self, struct line_packet *const *packets, size_t n)
{
    struct tun *t = self;
    for (size_t i = 0; i < n; i++) {
        if (write(t->fds[packets[i]->link], packets[i]->data, packets[i]->n) < 0)
            t->counts.lost_out++;
    }
}

static struct link_counts tun_counts(void *self)
{
    return ((struct tun *)self)->counts;
}

const struct link_ops link_tun_ops = {.free = tun_free,
                                      .add = tun_add,
                                      .start = tun_start,
                                      .fd = tun_fd,
                                      .next = tun_next,
                                      .send = tun_send,
                                      .counts = tun_counts};
