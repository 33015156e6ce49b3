#include "lab/net/netlink.h"

#include <errno.h>
#include <stdalign.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#define ACK_BYTES 8192

/* A neighbour that nobody has: with ARP off every neighbour has the device's own link address. One gateway for all
 * means one entry in the kernel's neighbour table, not one for each address ever talked to. */
static const unsigned char gateway4[4] = {169, 254, 0, 1};
static const unsigned char gateway6[16] = {0xfe, 0x80, [15] = 1};

status netlink_open(struct netlink *n)
{
    *n = (struct netlink){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    if (n->fd < 0)
        return ST_IO;
    n->doing = "talk to the kernel";
    n->has_ipv6 = access("/proc/net/if_inet6", F_OK) == 0;
    int on = 1;
    (void)setsockopt(n->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on)); /* without it answers are longer */
    return ST_OK;
}

void netlink_close(struct netlink *n)
{
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
    buf_done(&n->out);
}

/* ---- messages ---- */

/* Where a message or a nest of attributes begins; its length is filled in at the end. */
static size_t begin(struct netlink *n, const char *doing, int type, int flags, const void *body, size_t body_n)
{
    if (n->count == NETLINK_BATCH)
        (void)!netlink_flush(n); /* kept in n->st */
    struct nlmsghdr h = {.nlmsg_type = (uint16_t)type,
                         .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
                         .nlmsg_seq = ++n->seq};
    n->doings[n->seq % NETLINK_BATCH] = doing;
    size_t at = n->out.n;
    buf_put(&n->out, span_of(&h, sizeof(h)));
    buf_put(&n->out, span_of(body, body_n));
    return at;
}

static void pad(struct netlink *n)
{
    while (n->out.n % NLMSG_ALIGNTO)
        buf_putc(&n->out, 0);
}

static void end(struct netlink *n, size_t at)
{
    pad(n);
    struct nlmsghdr h;
    memcpy(&h, n->out.p + at, sizeof(h));
    h.nlmsg_len = (uint32_t)(n->out.n - at);
    memcpy(n->out.p + at, &h, sizeof(h));
    n->count++;
}

static void attr(struct netlink *n, int type, const void *value, size_t bytes)
{
    struct rtattr a = {.rta_len = (uint16_t)(sizeof(a) + bytes), .rta_type = (uint16_t)type};
    pad(n);
    buf_put(&n->out, span_of(&a, sizeof(a)));
    buf_put(&n->out, span_of(value, bytes));
}

static void attr_u32(struct netlink *n, int type, uint32_t v)
{
    attr(n, type, &v, sizeof(v));
}

static void attr_str(struct netlink *n, int type, const char *s)
{
    attr(n, type, s, strlen(s) + 1);
}

static size_t nest(struct netlink *n, int type)
{
    pad(n);
    size_t at = n->out.n;
    attr(n, type, NULL, 0);
    return at;
}

static void nest_end(struct netlink *n, size_t at)
{
    struct rtattr a;
    pad(n);
    memcpy(&a, n->out.p + at, sizeof(a));
    a.rta_len = (uint16_t)(n->out.n - at);
    memcpy(n->out.p + at, &a, sizeof(a));
}

/* ---- answers ---- */

static void take(struct netlink *n, const struct nlmsghdr *h)
{
    if (h->nlmsg_type != NLMSG_ERROR)
        return;
    const struct nlmsgerr *e = NLMSG_DATA(h);
    n->count--;
    if (e->error != 0 && n->st == ST_OK) {
        n->st = ST_IO;
        n->err = -e->error;
        n->doing = n->doings[h->nlmsg_seq % NETLINK_BATCH];
    }
}

static void take_answers(struct netlink *n)
{
    while (n->count > 0) {
        alignas(8) char in[ACK_BYTES];
        ssize_t got = recv(n->fd, in, sizeof(in), 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            n->st = n->st == ST_OK ? ST_IO : n->st;
            n->err = n->err ? n->err : errno;
            n->count = 0;
            return;
        }
        unsigned left = (unsigned)got;
        for (struct nlmsghdr *h = (struct nlmsghdr *)(void *)in; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left))
            take(n, h);
    }
}

status netlink_flush(struct netlink *n)
{
    if (n->count > 0 && n->st == ST_OK) {
        if (send(n->fd, n->out.p, n->out.n, 0) < 0) {
            n->st = ST_IO;
            n->err = errno;
        } else {
            take_answers(n);
        }
    }
    n->count = 0;
    buf_clear(&n->out);
    if (n->st != ST_OK)
        errno = n->err;
    return n->st;
}

/* ---- requests ---- */

static void queues(struct netlink *n)
{
    /* One a device: the default is one a processor, and hundreds of devices pay for it. */
    attr_u32(n, IFLA_NUM_TX_QUEUES, 1);
    attr_u32(n, IFLA_NUM_RX_QUEUES, 1);
}

void netlink_veth(struct netlink *n, int index, int inner_ns_fd)
{
    struct ifinfomsg outer = {.ifi_family = AF_UNSPEC, .ifi_index = index}, inner = outer;
    size_t m = begin(n, "make a veth pair", RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &outer, sizeof(outer));
    queues(n);
    size_t info = nest(n, IFLA_LINKINFO);
    attr_str(n, IFLA_INFO_KIND, "veth");
    size_t data = nest(n, IFLA_INFO_DATA);
    size_t peer = nest(n, VETH_INFO_PEER);
    buf_put(&n->out, span_of(&inner, sizeof(inner)));
    attr_str(n, IFLA_IFNAME, NETLINK_DEVICE);
    attr(n, IFLA_ADDRESS, NETLINK_MAC, 6);
    attr_u32(n, IFLA_NET_NS_FD, (uint32_t)inner_ns_fd);
    queues(n);
    nest_end(n, peer);
    nest_end(n, data);
    nest_end(n, info);
    end(n, m);
}

void netlink_up(struct netlink *n, int index)
{
    unsigned flags = index == NETLINK_LOOPBACK_INDEX ? IFF_UP : IFF_UP | IFF_NOARP;
    struct ifinfomsg i = {.ifi_family = AF_UNSPEC, .ifi_index = index, .ifi_flags = flags, .ifi_change = flags};
    uint8_t none = IN6_ADDR_GEN_MODE_NONE;
    if (index != NETLINK_LOOPBACK_INDEX && n->has_ipv6) {
        struct ifinfomsg q = {.ifi_family = AF_UNSPEC, .ifi_index = index};
        size_t m = begin(n, "stop link-local addresses", RTM_SETLINK, 0, &q, sizeof(q));
        size_t spec = nest(n, IFLA_AF_SPEC);
        size_t six = nest(n, AF_INET6);
        attr(n, IFLA_INET6_ADDR_GEN_MODE, &none, 1);
        nest_end(n, six);
        nest_end(n, spec);
        end(n, m);
    }
    end(n, begin(n, "bring a device up", RTM_SETLINK, 0, &i, sizeof(i)));
}

static size_t addr_bytes(const struct addr *a)
{
    return a->family == 4 ? 4 : 16;
}

static unsigned char family_of(const struct addr *a)
{
    return a->family == 4 ? AF_INET : AF_INET6;
}

void netlink_address(struct netlink *n, int index, const struct addr *a)
{
    if (a->family == 6 && !n->has_ipv6)
        return;
    struct ifaddrmsg i = {.ifa_family = family_of(a),
                          .ifa_prefixlen = a->family == 4 ? 32 : 128,
                          .ifa_flags = IFA_F_PERMANENT,
                          .ifa_scope = RT_SCOPE_UNIVERSE,
                          .ifa_index = (unsigned)index};
    size_t m = begin(n, "add an address", RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &i, sizeof(i));
    attr(n, IFA_LOCAL, a->b, addr_bytes(a));
    attr(n, IFA_ADDRESS, a->b, addr_bytes(a));
    attr_u32(n, IFA_FLAGS, IFA_F_NODAD | IFA_F_PERMANENT); /* usable at once */
    end(n, m);
}

void netlink_local(struct netlink *n, const struct network *net)
{
    if (net->first.family == 6 && !n->has_ipv6)
        return;
    struct rtmsg r = {.rtm_family = family_of(&net->first),
                      .rtm_dst_len = net->bits,
                      .rtm_table = RT_TABLE_LOCAL,
                      .rtm_protocol = RTPROT_STATIC,
                      .rtm_scope = net->first.family == 4 ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                      .rtm_type = RTN_LOCAL};
    size_t m = begin(n, "make a prefix local", RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &r, sizeof(r));
    attr(n, RTA_DST, net->first.b, addr_bytes(&net->first));
    attr_u32(n, RTA_OIF, NETLINK_LOOPBACK_INDEX);
    end(n, m);
}

void netlink_default(struct netlink *n, int index, const struct addr *source)
{
    if (source->family == 6 && !n->has_ipv6)
        return;
    struct rtmsg r = {.rtm_family = family_of(source),
                      .rtm_table = RT_TABLE_MAIN,
                      .rtm_protocol = RTPROT_STATIC,
                      .rtm_scope = RT_SCOPE_UNIVERSE,
                      .rtm_type = RTN_UNICAST,
                      .rtm_flags = RTNH_F_ONLINK};
    size_t m = begin(n, "add the default route", RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &r, sizeof(r));
    attr(n, RTA_GATEWAY, source->family == 4 ? gateway4 : gateway6, addr_bytes(source));
    attr_u32(n, RTA_OIF, (uint32_t)index);
    attr(n, RTA_PREFSRC, source->b, addr_bytes(source));
    end(n, m);
}
