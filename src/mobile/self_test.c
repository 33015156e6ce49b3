#include "mobile/self_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mobile/landlock.h"
#include "mobile/sandbox.h"

#define MEMORY_BYTES (32u << 20)
#define CPU_S 10
#define FAR_FD 100 /* a descriptor that was open before */

/* What a child leaves with. Small errnos are left as themselves. */
enum { LEFT_DONE = 0, LEFT_NOT_ENTERED = 201, LEFT_WRONG = 202 };

/* Each returns 0 when it got what it wanted, else the errno. */
typedef int attempt_fn(void);

static int outcome(long rc)
{
    return rc < 0 ? errno : 0;
}

static int try_open(void)
{
    return outcome(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int try_create(void)
{
    return outcome(open("/tmp/orb-worker-self-test", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

static int try_unlink(void)
{
    return outcome(unlink("/tmp/orb-worker-self-test"));
}

static int try_socket(void)
{
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int try_connect(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return outcome(connect(FAR_FD, (struct sockaddr *)&to, sizeof(to)));
}

static int try_execve(void)
{
    char *none[] = {NULL};
    return outcome(execve("/bin/true", none, none));
}

static int try_fork(void)
{
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        syscall(SYS_exit_group, 0);
    return outcome(pid);
}

static int try_kill_parent(void)
{
    return outcome(kill(getppid(), 0));
}

static int try_kill_all(void)
{
    return outcome(syscall(SYS_kill, -1, 0));
}

static int try_ptrace(void)
{
    return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int try_read_far(void)
{
    char c;
    return outcome(read(FAR_FD, &c, 1));
}

static int try_write_error(void)
{
    return outcome(write(STDERR_FILENO, "", 1));
}

static int try_run_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int try_make_memory_run(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : outcome(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int try_map_file(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0) == MAP_FAILED ? errno : 0;
}

static int try_prctl(void)
{
    return outcome(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int try_raise_limit(void)
{
    struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
    return outcome(setrlimit(RLIMIT_NOFILE, &l));
}

static int try_signal(void)
{
    struct sigaction sa = {.sa_handler = SIG_IGN};
    return outcome(sigaction(SIGPROF, &sa, NULL));
}

static int try_unshare(void)
{
    return outcome(unshare(CLONE_NEWUSER));
}

static int try_ioctl(void)
{
    return outcome(syscall(SYS_ioctl, STDOUT_FILENO, 0x5401, 0)); /* TCGETS */
}

static int try_strange_number(void)
{
    return outcome(syscall(9999));
}

static int try_sleep(void)
{
    struct timespec t = {.tv_nsec = 1};
    return outcome(syscall(SYS_nanosleep, &t, NULL));
}

/* Memory in pieces of 1 MiB, as malloc does it, up to the ceiling and not past it. */
static int try_memory(void)
{
    size_t got = 0;
    while (got < (MEMORY_BYTES * 2u) >> 20) {
        char *volatile p = malloc(1u << 20); /* volatile: not optimised away */
        if (!p)
            break;
        memset(p, 1, 1u << 20);
        got++;
    }
    errno = ENOMEM;
    return got < (MEMORY_BYTES * 2u) >> 20 && got > 8 ? ENOMEM : 0;
}

static int try_clock(void)
{
    struct timespec t;
    return outcome(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
}

static int try_endless(void)
{
    sandbox_cpu_alarm(50);
    for (volatile unsigned i = 1; i != 0; i |= 1)
        ;
    return 0;
}

/* `end` > 0: killed by this signal; < 0: the call fails with -end; 0: works. */
static const struct attempt {
    const char *name;
    unsigned layers;
    attempt_fn *fn;
    int end;
    int landlock; /* version of Landlock that it needs */
} attempts[] = {
    {"open a file", SANDBOX_ALL, try_open, SIGSYS, 0},
    {"make a file", SANDBOX_ALL, try_create, SIGSYS, 0},
    {"remove a file", SANDBOX_ALL, try_unlink, SIGSYS, 0},
    {"make a socket", SANDBOX_ALL, try_socket, SIGSYS, 0},
    {"connect a socket", SANDBOX_ALL, try_connect, SIGSYS, 0},
    {"run a program", SANDBOX_ALL, try_execve, SIGSYS, 0},
    {"make a process", SANDBOX_ALL, try_fork, SIGSYS, 0},
    {"signal the parent", SANDBOX_ALL, try_kill_parent, SIGSYS, 0},
    {"signal everybody", SANDBOX_ALL, try_kill_all, SIGSYS, 0},
    {"be traced", SANDBOX_ALL, try_ptrace, SIGSYS, 0},
    {"read another descriptor", SANDBOX_ALL, try_read_far, SIGSYS, 0},
    {"write standard error", SANDBOX_ALL, try_write_error, SIGSYS, 0},
    {"map memory to run", SANDBOX_ALL, try_run_memory, SIGSYS, 0},
    {"make memory runnable", SANDBOX_ALL, try_make_memory_run, SIGSYS, 0},
    {"map a file", SANDBOX_ALL, try_map_file, SIGSYS, 0},
    {"prctl", SANDBOX_ALL, try_prctl, SIGSYS, 0},
    {"raise a limit", SANDBOX_ALL, try_raise_limit, SIGSYS, 0},
    {"change a signal", SANDBOX_ALL, try_signal, SIGSYS, 0},
    {"make a namespace", SANDBOX_ALL, try_unshare, SIGSYS, 0},
    {"ioctl", SANDBOX_ALL, try_ioctl, SIGSYS, 0},
    {"sleep", SANDBOX_ALL, try_sleep, SIGSYS, 0},
    {"a call that does not exist", SANDBOX_ALL, try_strange_number, SIGSYS, 0},
    {"compute without end", SANDBOX_ALL, try_endless, SIGPROF, 0},
    {"ask for the time", SANDBOX_ALL, try_clock, 0, 0},
    {"take memory past the ceiling", SANDBOX_ALL, try_memory, -ENOMEM, 0},
    /* Each layer alone. */
    {"closed: read another descriptor", SANDBOX_CLOSE, try_read_far, -EBADF, 0},
    {"closed: write standard error", SANDBOX_CLOSE, try_write_error, -EBADF, 0},
    {"rlimits: open a file", SANDBOX_RLIMITS, try_open, -EMFILE, 0},
    {"rlimits: make a socket", SANDBOX_RLIMITS, try_socket, -EMFILE, 0},
    {"landlock: open a file", SANDBOX_LANDLOCK, try_open, -EACCES, 1},
    {"landlock: make a file", SANDBOX_LANDLOCK, try_create, -EACCES, 1},
    {"landlock: run a program", SANDBOX_LANDLOCK, try_execve, -EACCES, 1},
    {"landlock: connect a socket", SANDBOX_LANDLOCK, try_connect, -EACCES, 4},
    {"landlock: signal the parent", SANDBOX_LANDLOCK, try_kill_parent, -EPERM, 6},
    {"seccomp: open a file", SANDBOX_SECCOMP, try_open, SIGSYS, 0},
    {"seccomp: run a program", SANDBOX_SECCOMP, try_execve, SIGSYS, 0},
};

static void run_child(const struct attempt *a)
{
    const struct sandbox_limits limits = {MEMORY_BYTES, CPU_S};
    const char *what;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || dup2(fd, FAR_FD) < 0 || sandbox_enter(a->layers, &limits, &what) != ST_OK)
        _exit(LEFT_NOT_ENTERED);
    int err = a->fn();
    _exit(err < LEFT_NOT_ENTERED ? err : LEFT_WRONG);
}

static bool judge(const struct attempt *a, int st, char *how, size_t size)
{
    if (WIFSIGNALED(st)) {
        snprintf(how, size, "killed by SIG%s", sigabbrev_np(WTERMSIG(st)));
        return WTERMSIG(st) == a->end;
    }
    int code = WEXITSTATUS(st);
    if (code == LEFT_NOT_ENTERED)
        snprintf(how, size, "the sandbox could not be entered");
    else if (code == LEFT_DONE)
        snprintf(how, size, "done");
    else
        snprintf(how, size, "%s", strerror(code));
    return -code == a->end;
}

int self_test_run(void)
{
    int landlock = landlock_version(), failed = 0;
    printf("landlock version %d\n", landlock);
    for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
        const struct attempt *a = &attempts[i];
        char how[64];
        int st;
        if (a->landlock > landlock || (SANDBOX_HAS_ASAN && a->fn == try_memory))
            continue;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            run_child(a);
        bool ok = pid > 0 && waitpid(pid, &st, 0) == pid && judge(a, st, how, sizeof(how));
        printf("%sok %s: %s\n", ok ? "" : "not ", a->name, pid > 0 ? how : "no process");
        failed += !ok;
    }
    return failed ? 1 : 0;
}
