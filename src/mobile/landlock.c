#include "mobile/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

/* The kernel's header of Debian 12 knows only the first versions, so the calls are written out here. */

struct ruleset {
    uint64_t files, net, scoped;
};

#define RULESET_VERSION 1u /* flag: tell the version */

int landlock_version(void)
{
    long v = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);
    return v > 0 ? (int)v : 0;
}

int landlock_ruleset(void)
{
    int version = landlock_version();
    /* File rights: 13 in version 1, then rename to elsewhere, truncate, and (5) ioctl on devices. Bind and connect of
     * TCP came with 4; signals and abstract sockets to the outside with 6. */
    unsigned rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
    struct ruleset r = {.files = (UINT64_C(1) << rights) - 1, .net = 3, .scoped = 3};
    size_t size = version >= 6 ? sizeof(r) : version >= 4 ? 16 : 8;
    return (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
}

bool landlock_restrict(int ruleset)
{
    bool ok = ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    if (ruleset >= 0)
        close(ruleset);
    return ok;
}

#define RULE_PATH_BENEATH 1

struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

bool landlock_allow(int ruleset, const char *path, uint64_t rights)
{
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rights &= ~(uint64_t)LANDLOCK_MAY_READ_DIR;
    struct path_rule rule = {rights, fd};
    bool ok = syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return ok;
}
