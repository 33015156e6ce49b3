#include "mobile/worker_path.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef ORB_LIBEXEC
#define ORB_LIBEXEC "/usr/libexec"
#endif

bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

char *worker_find(void)
{
    static const char *const beside[] = {"orb-worker", "../mobile/orb-worker", "../libexec/orb-worker"};
    char self[PATH_MAX], path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    while (n > 0 && self[n - 1] != '/')
        n--;
    for (size_t i = 0; n > 0 && i < sizeof(beside) / sizeof(*beside); i++) {
        snprintf(path, sizeof(path), "%.*s%s", (int)n, self, beside[i]);
        if (is_program(path))
            return mem_str(span_str(path));
    }
    return mem_str(SPAN(ORB_LIBEXEC "/orb-worker"));
}
