#include "cli/agent_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/clock.h"

#define END_MS 10000 /* an agent that has not ended by then is killed */

extern char **environ;

/* Beside this program, as installed; or where the build has it. */
bool agent_process_find(const char *name, struct buf *out)
{
    static const char *const folders[] = {"", "../agent/", "../../lab/"};
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof(folders) / sizeof(*folders); i++) {
        buf_clear(out);
        buf_printf(out, "%.*s/%s%s", (int)(slash - self), self, folders[i], name);
        if (access(buf_cstr(out), X_OK) == 0)
            return true;
    }
    return false;
}

/* Its signals are as usual again: whoever starts it has blocked them for itself. */
status agent_process_start(const char *program, char *const *argv, char *const *env, const char *log, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setpgroup(&attr, 0); /* Ctrl-C is for whoever started it, who ends it */
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int err = posix_spawn(pid, program, &files, &attr, argv, env ? env : environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = err;
    return err ? ST_IO : ST_OK;
}

void agent_process_end(pid_t *pids, unsigned count)
{
    mono_ms deadline = clock_mono() + END_MS;
    for (unsigned i = 0; i < count; i++)
        if (pids[i])
            kill(pids[i], SIGTERM);
    for (unsigned i = 0; i < count; i++)
        while (pids[i] && waitpid(pids[i], NULL, WNOHANG) == 0) {
            if (clock_mono() > deadline)
                kill(pids[i], SIGKILL);
            usleep(20000);
        }
}
