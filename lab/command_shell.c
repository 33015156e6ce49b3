#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lab/command.h"
#include "lab/net/box.h"
#include "lab/orders.h"
#include "lab/registry.h"
#include "lab/runner.h"

#define SOCKET_WAIT_MS 3000 /* a lab that is coming up takes no orders yet */

/* ---- which lab ---- */

static bool is_meant(const struct registry_entry *e, const char *which)
{
    uint64_t pid;
    if (!which)
        return true;
    if (command_number(which, INT32_MAX, &pid))
        return (pid_t)pid == e->pid || (pid_t)pid == e->first;
    char *path = realpath(which, NULL);
    size_t n = path ? strlen(path) : 0;
    bool is_it = path && strncmp(e->title, path, n) == 0 && (e->title[n] == '\0' || e->title[n] == '/');
    free(path);
    return is_it;
}

static int list(void)
{
    struct registry_entry *all;
    size_t n = registry_list(&all);
    for (size_t i = 0; i < n; i++)
        printf("%d\t%lld s\t%s\n", (int)all[i].pid, (long long)(time(NULL) - all[i].since), all[i].title);
    free(all);
    return n ? EXIT_DONE : command_fail(EXIT_NO, "no lab of yours runs; start one with: orb-lab up FILE COMMAND...");
}

static bool find(const char *which, struct registry_entry *out)
{
    struct registry_entry *all;
    size_t n = registry_list(&all), i = 0;
    while (i < n && !is_meant(&all[i], which))
        i++;
    if (i < n)
        *out = all[i];
    free(all);
    return i < n;
}

/* ---- getting in ---- */

static bool same_namespace(pid_t pid, const char *kind)
{
    char path[64];
    struct stat theirs, ours;
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
    if (stat(path, &theirs) != 0)
        return true;
    snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    return stat(path, &ours) == 0 && ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/* All at once: the kernel takes the user namespace first, which allows the others. Our children are in the process
 * namespace then; we are not. */
static status enter_box(const struct registry_entry *e)
{
    int spaces = CLONE_NEWNS | CLONE_NEWPID;
    int fd = (int)syscall(SYS_pidfd_open, e->first, 0);
    if (fd < 0)
        return ST_NOT_FOUND;
    status st = ST_NOT_FOUND;
    if (registry_is_alive(e->first, e->start)) { /* so the descriptor is of the right process, whatever comes */
        if (!same_namespace(e->first, "user"))
            spaces |= CLONE_NEWUSER;
        st = setns(fd, spaces) == 0 ? ST_OK : ST_IO;
    }
    int err = errno;
    close(fd);
    errno = err;
    return st;
}

/* ---- inside ---- */

static void wait_for_socket(const char *folder)
{
    char path[128];
    struct timespec step = {0, 20000000};
    snprintf(path, sizeof(path), "%.64s/%s", folder, ORDERS_SOCKET);
    for (int ms = 0; ms < SOCKET_WAIT_MS && access(path, F_OK) != 0; ms += 20)
        nanosleep(&step, NULL);
}

/* bash has the prompt from the user's own file, so that ours has to come after that. */
static int become_shell(const char *folder, const char *place)
{
    const char *shell = getenv("SHELL");
    char rc[128], prompt[MAP_NAME_MAX + 32];
    if (!shell || shell[0] != '/')
        shell = "/bin/sh";
    snprintf(prompt, sizeof(prompt), "(lab %s) $ ", place);
    setenv("PS1", prompt, 1);
    const char *name = strrchr(shell, '/') + 1;
    char *plain[] = {(char *)(uintptr_t)shell, NULL};
    char *bash[] = {(char *)(uintptr_t)shell, "--rcfile", rc, NULL};
    if (strcmp(name, "bash") != 0 || snprintf(rc, sizeof(rc), "%s/bashrc", folder) >= (int)sizeof(rc))
        return command_become(plain);
    FILE *f = fopen(rc, "we");
    if (!f)
        return command_become(plain);
    fputs("[ -f ~/.bashrc ] && . ~/.bashrc\nPS1=\"(lab $" RUNNER_PLACE_VARIABLE ") ${PS1#(lab * }\"\n", f);
    return fclose(f) == 0 ? command_become(bash) : command_become(plain);
}

static int at_place(const char *folder, const char *place, char **command)
{
    int code = command_enter(folder, place);
    if (code != EXIT_DONE)
        return code;
    return command[0] ? command_become(command) : become_shell(folder, place);
}

/* A shell asks the terminal who is in front, and must know that process group: ours has no number inside. */
static void to_front(void)
{
    signal(SIGTTOU, SIG_IGN);
    (void)setpgid(0, 0);
    (void)tcsetpgrp(STDIN_FILENO, getpgrp());
    signal(SIGTTOU, SIG_DFL);
}

static int inside(const struct registry_entry *e, const char *cwd, const char *place, char **command)
{
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGTTOU, SIG_DFL);
    if (!cwd || chdir(cwd) != 0)
        (void)!chdir("/");
    if (setenv(BOX_FOLDER_VARIABLE, e->folder, 1) != 0)
        return EXIT_IO;
    if (!command[0] && isatty(STDIN_FILENO))
        to_front();
    wait_for_socket(e->folder);
    return at_place(e->folder, place, command);
}

static int look_inside(const struct registry_entry *e, const char *place, char **command)
{
    char *cwd = getcwd(NULL, 0);
    int how = 0;
    status st = enter_box(e);
    pid_t pid = -1;
    if (st == ST_OK) {
        signal(SIGINT, SIG_IGN); /* of the terminal: they are for the process inside */
        signal(SIGQUIT, SIG_IGN);
        signal(SIGTTOU, SIG_IGN); /* we come back to the front afterwards */
        fflush(NULL);
        pid = fork();
    }
    if (pid == 0)
        _exit(inside(e, cwd, place, command));
    free(cwd);
    if (pid < 0)
        return command_fail(EXIT_IO, "enter the lab of process %d: %s", (int)e->pid,
                            st == ST_NOT_FOUND ? "it has ended" : strerror(errno));
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (isatty(STDIN_FILENO))
        (void)tcsetpgrp(STDIN_FILENO, getpgrp());
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

int command_shell(int argc, char **argv)
{
    static const struct option options[] = {
        {"run", required_argument, NULL, 'r'}, {"list", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    const char *which = NULL, *folder = getenv(BOX_FOLDER_VARIABLE);
    struct registry_entry e;
    bool is_list = false;
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        if (c == 'r')
            which = optarg;
        else if (c == 'l')
            is_list = true;
        else
            return command_fail(EXIT_USAGE, "shell [--run PID|FOLDER] PLACE [COMMAND...], or shell --list");
    }
    if (is_list)
        return list();
    if (optind >= argc)
        return command_fail(EXIT_USAGE, "shell: say at which place");
    const char *place = argv[optind];
    char **command = argv + optind + 1;
    if (folder && !which) /* we are inside of one */
        return at_place(folder, place, command);
    if (!find(which, &e))
        return command_fail(EXIT_NO, "no %slab of yours runs; start one with: orb-lab up FILE COMMAND...",
                            which ? "such " : "");
    return look_inside(&e, place, command);
}
