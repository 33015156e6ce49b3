/* cmd_lab.c - `orb lab` is orb-lab: a program of its own, because it needs what nobody else here does. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/agent_process.h"
#include "cli/command.h"

int lab_become(int argc, char *const *argv)
{
    struct buf program = {0};
    if (!agent_process_find("orb-lab", &program)) {
        buf_done(&program);
        return complain(EXIT_IO, "lab: orb-lab is not beside orb: it comes with the same build");
    }
    const char **words = mem_alloc(((size_t)argc + 2) * sizeof(*words));
    words[0] = "orb-lab";
    for (int i = 0; i < argc; i++)
        words[i + 1] = argv[i];
    signal(SIGPIPE, SIG_DFL); /* ignored by us only */
    execv(buf_cstr(&program), (char *const *)(uintptr_t)words);
    return complain(EXIT_IO, "lab: start %s: %s", buf_cstr(&program), strerror(errno));
}

/* Without words; main sees to the others, for they are not ours to read. */
int cmd_lab(const struct options *o)
{
    return lab_become(0, NULL);
}
