#include "io/sockaddr.h"

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
