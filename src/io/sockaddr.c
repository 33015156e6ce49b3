#include "io/sockaddr.h"

#include <netinet/tcp.h>

struct addr addr_of_sockaddr(const struct sockaddr *sa)
{
    struct addr a = {0};
    if (sa->sa_family == AF_INET) {
        a.family = 4;
        memcpy(a.b, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
    } else if (sa->sa_family == AF_INET6) {
        a.family = 6;
        memcpy(a.b, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
    }
    return addr_unmapped(&a);
}

int port_of_sockaddr(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
    if (sa->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)sa)->sin6_port);
    return 0;
}

socklen_t sockaddr_of_addr(const struct addr *a, int port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (a->family == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        memcpy(&in->sin_addr, a->b, 4);
        return sizeof(*in);
    }
    if (a->family == 6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        memcpy(&in6->sin6_addr, a->b, 16);
        return sizeof(*in6);
    }
    return 0;
}

/* In the kernel's struct tcp_info for good; the C library's headers end before it. */
#define TCP_INFO_MIN_RTT 148
#define TCP_INFO_BYTES 152

uint32_t socket_path_us(int fd)
{
    char info[TCP_INFO_BYTES] = {0};
    socklen_t n = sizeof(info);
    uint32_t us;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &n) != 0 || n < sizeof(info))
        return 0;
    memcpy(&us, info + TCP_INFO_MIN_RTT, sizeof(us));
    return us == UINT32_MAX ? 0 : us; /* nothing was measured yet */
}
