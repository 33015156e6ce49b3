#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "base/mem.h"
#include "lab/net/link_kind.h"
#include "lab/net/netlink.h"
#include "lab/net/netns.h"

/* The ring is not counted against the socket's buffer, which ordinary users cannot make larger: 16 MiB of frames hold
 * what comes while the router waits for a processor. */
#define FRAME 2048
#define BLOCK (64 * FRAME)
#define FRAMES_MAX 8192
#define FRAMES_MIN 512
#define SEND_BATCH 64
/* A stamp farther back is a clock that was set, not a packet that waited. */
#define STAMP_MAX_NS 200000000

struct veth {
    struct netlink nl; /* in the router's namespace */
    int home;          /* that namespace */
    int in, out;       /* AF_PACKET sockets: one hears all devices, the other only sends */
    unsigned char *ring;
    size_t frame_count, at;
    struct tpacket2_hdr *lent; /* the frame that the caller looks at */
    mono_ns offset_of;         /* the `now` that `offset` was taken at */
    int64_t offset;            /* the wall clock, which stamps are of, ahead of ours */
    struct link_counts counts;
};

static void veth_free(void *self)
{
    struct veth *v = self;
    if (v->ring)
        munmap(v->ring, v->frame_count * FRAME);
    int fds[] = {v->in, v->out, v->home};
    for (size_t i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    netlink_close(&v->nl);
    free(v);
}

static status open_ring(struct veth *v, struct buf *why)
{
    int version = TPACKET_V2, on = 1;
    v->in = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (v->in < 0)
        return link_fail(why, "open a packet socket");
    if (setsockopt(v->in, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0)
        return link_fail(why, "choose the packet ring");
    (void)setsockopt(v->in, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
    for (v->frame_count = FRAMES_MAX; v->frame_count >= FRAMES_MIN; v->frame_count /= 2) {
        struct tpacket_req r = {.tp_block_size = BLOCK,
                                .tp_block_nr = (unsigned)(v->frame_count * FRAME / BLOCK),
                                .tp_frame_size = FRAME,
                                .tp_frame_nr = (unsigned)v->frame_count};
        if (setsockopt(v->in, SOL_PACKET, PACKET_RX_RING, &r, sizeof(r)) == 0)
            break;
        if (errno != ENOMEM)
            return link_fail(why, "make the packet ring");
    }
    void *ring = mmap(NULL, v->frame_count * FRAME, PROT_READ | PROT_WRITE, MAP_SHARED, v->in, 0);
    if (ring == MAP_FAILED)
        return link_fail(why, "map the packet ring");
    v->ring = ring;
    return ST_OK;
}

status link_veth_new(void **out, struct buf *why)
{
    struct veth *v = mem_alloc(sizeof(*v));
    int on = 1;
    v->in = v->out = v->home = v->nl.fd = -1;
    status st = netns_here(&v->home);
    if (st == ST_OK)
        st = netlink_open(&v->nl);
    if (st != ST_OK)
        st = link_fail(why, "talk to the kernel");
    if (st == ST_OK)
        st = open_ring(v, why);
    if (st == ST_OK) {
        v->out = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (v->out < 0)
            st = link_fail(why, "open a packet socket");
        else
            (void)setsockopt(v->out, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on));
    }
    if (st == ST_OK)
        *out = v;
    else
        veth_free(v);
    return st;
}

static status veth_add(void *self, int ns_fd, unsigned link, struct buf *why)
{
    struct veth *v = self;
    netlink_veth(&v->nl, NETLINK_DEVICE_INDEX + (int)link, ns_fd);
    netlink_up(&v->nl, NETLINK_DEVICE_INDEX + (int)link);
    if (netlink_flush(&v->nl) != ST_OK)
        return link_fail(why, v->nl.doing);
    status st = netns_enter(ns_fd);
    if (st != ST_OK)
        return link_fail(why, "enter a namespace");
    st = link_plain(NETLINK_DEVICE, why);
    if (netns_enter(v->home) != ST_OK)
        return link_fail(why, "come back from a namespace");
    return st;
}

static status veth_start(void *self, struct buf *why)
{
    struct veth *v = self;
    struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    if (bind(v->in, (struct sockaddr *)&all, sizeof(all)) != 0)
        return link_fail(why, "listen to the links");
    return ST_OK;
}

static int veth_fd(void *self)
{
    return ((struct veth *)self)->in;
}

/* ---- in ---- */

static mono_ns stamp_of(struct veth *v, const struct tpacket2_hdr *h, mono_ns now)
{
    if (v->offset_of != now) {
        struct timespec ts;
        clock_gettime(CLOCK_REALTIME, &ts);
        v->offset = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec - now;
        v->offset_of = now;
    }
    mono_ns at = (int64_t)h->tp_sec * 1000000000 + h->tp_nsec - v->offset;
    return at > now || at < now - STAMP_MAX_NS ? now : at;
}

static bool veth_next(void *self, mono_ns now, struct link_packet *out)
{
    struct veth *v = self;
    for (;;) {
        if (v->lent) {
            __atomic_store_n(&v->lent->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
            v->lent = NULL;
            v->at = (v->at + 1) % v->frame_count;
        }
        struct tpacket2_hdr *h = (struct tpacket2_hdr *)(void *)(v->ring + v->at * FRAME);
        if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            return false;
        v->lent = h;
        const struct sockaddr_ll *from =
            (const struct sockaddr_ll *)(void *)((unsigned char *)h + TPACKET_ALIGN(sizeof(*h)));
        int link = from->sll_ifindex - NETLINK_DEVICE_INDEX;
        bool is_ip = from->sll_protocol == htons(ETH_P_IP) || from->sll_protocol == htons(ETH_P_IPV6);
        if (!is_ip || link < 0 || link >= LINKS_MAX || from->sll_pkttype == PACKET_OUTGOING)
            continue;
        if (h->tp_len > PACKET_MAX || h->tp_snaplen < h->tp_len) {
            v->counts.too_long++;
            continue;
        }
        *out = (struct link_packet){(unsigned)link, span_of((unsigned char *)h + h->tp_net, h->tp_len),
                                    stamp_of(v, h, now)};
        return true;
    }
}

/* ---- out ---- */

static void send_batch(struct veth *v, struct line_packet *const *packets, size_t n)
{
    struct mmsghdr msgs[SEND_BATCH] = {0};
    struct sockaddr_ll to[SEND_BATCH];
    struct iovec iov[SEND_BATCH];
    for (size_t i = 0; i < n; i++) {
        bool is6 = packets[i]->data[0] >> 4 == 6;
        to[i] = (struct sockaddr_ll){.sll_family = AF_PACKET,
                                     .sll_protocol = is6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP),
                                     .sll_ifindex = NETLINK_DEVICE_INDEX + (int)packets[i]->link,
                                     .sll_halen = 6};
        memcpy(to[i].sll_addr, NETLINK_MAC, 6);
        iov[i] = (struct iovec){packets[i]->data, packets[i]->n};
        msgs[i].msg_hdr.msg_name = &to[i];
        msgs[i].msg_hdr.msg_namelen = sizeof(to[i]);
        msgs[i].msg_hdr.msg_iov = &iov[i];
        msgs[i].msg_hdr.msg_iovlen = 1;
    }
    for (size_t done = 0; done < n;) {
        int sent = sendmmsg(v->out, msgs + done, (unsigned)(n - done), MSG_DONTWAIT);
        if (sent <= 0) {
            v->counts.lost_out++;
            sent = 1;
        }
        done += (size_t)sent;
    }
}

static void veth_send(void *self, struct line_packet *const *packets, size_t n)
{
    for (size_t at = 0; at < n; at += SEND_BATCH)
        send_batch(self, packets + at, n - at < SEND_BATCH ? n - at : SEND_BATCH);
}

static struct link_counts veth_counts(void *self)
{
    struct veth *v = self;
    struct tpacket_stats s = {0};
    socklen_t n = sizeof(s);
    if (getsockopt(v->in, SOL_PACKET, PACKET_STATISTICS, &s, &n) == 0) /* reading sets them back to 0 */
        v->counts.lost_in += s.tp_drops;
    return v->counts;
}

const struct link_ops link_veth_ops = {.free = veth_free,
                                       .add = veth_add,
                                       .start = veth_start,
                                       .fd = veth_fd,
                                       .next = veth_next,
                                       .send = veth_send,
                                       .counts = veth_counts};
