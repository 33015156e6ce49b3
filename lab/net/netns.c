#include "lab/net/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HERE "/proc/thread-self/ns/net"

status netns_here(int *fd)
{
    *fd = open(HERE, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? ST_OK : ST_IO;
}

status netns_enter(int fd)
{
    return setns(fd, CLONE_NEWNET) == 0 ? ST_OK : ST_IO;
}

status netns_make(int *fd)
{
    int here, made = -1;
    status st = netns_here(&here);
    if (st != ST_OK)
        return st;
    if (unshare(CLONE_NEWNET) != 0) {
        st = ST_IO;
    } else {
        st = netns_here(&made);
        int err = errno;
        status back = netns_enter(here);
        if (st == ST_OK)
            st = back;
        else
            errno = err;
    }
    int err = errno;
    if (st != ST_OK && made >= 0)
        close(made);
    close(here);
    errno = err;
    if (st == ST_OK)
        *fd = made;
    return st;
}

bool netns_set(const char *name, const char *value)
{
    char path[128];
    snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t n = strlen(value);
    bool is_set = write(fd, value, n) == (ssize_t)n;
    close(fd);
    return is_set;
}

void netns_settings(void)
{
    static const struct {
        const char *name, *value;
    } settings[] = {
        {"ipv4/ip_unprivileged_port_start", "0"},
        {"ipv4/ip_nonlocal_bind", "1"},
        {"ipv6/ip_nonlocal_bind", "1"},
        {"ipv4/conf/all/rp_filter", "0"},
        {"ipv4/conf/default/rp_filter", "0"},
        {"ipv4/ip_local_port_range", "10000 65535"}, /* thousands of connections a second use the default up */
        {"ipv4/tcp_tw_reuse", "1"},
        {"ipv4/tcp_no_metrics_save", "1"}, /* a connection learns nothing from the one before: runs repeat */
        {"ipv4/tcp_max_syn_backlog", "4096"},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        (void)netns_set(settings[i].name, settings[i].value);
    /* In a user namespace there is one group only. */
    if (!netns_set("ipv4/ping_group_range", "0 2147483647"))
        (void)netns_set("ipv4/ping_group_range", "0 0");
}
