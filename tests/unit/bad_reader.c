/* bad_reader.c - stands in for pdftotext: does what the document tells it to, and says what came of it.
 *
 * Run in the cage (mobile/cage.h) by test_reader.c. Says "done", or the name of the errno. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static int outcome(long rc)
{
    return rc < 0 ? errno : 0;
}

static int read_file(const char *path)
{
    char piece[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : outcome(read(fd, piece, sizeof(piece)));
}

static int make_file(void)
{
    return outcome(open("/tmp/orb-bad-reader", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int change_file(void)
{
    return outcome(open("/etc/hostname", O_RDWR | O_CLOEXEC));
}

static int unnamed_file(void)
{
    return outcome(open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

static int exec_other(void)
{
    char *none[] = {NULL};
    return outcome(execve("/bin/true", none, none));
}

static int fork_once(void)
{
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return outcome(pid);
}

static int eat_memory(void)
{
    for (size_t i = 0; i < 4096; i++) {
        char *volatile p = malloc(1u << 20);
        if (!p)
            return ENOMEM;
        memset(p, 1, 1u << 20);
    }
    return 0;
}

static int run_for_ever(void)
{
    for (volatile unsigned i = 1; i != 0; i |= 1)
        ;
    return 0;
}

static int wait_for_ever(void)
{
    static int nobody;
    while (syscall(SYS_futex, &nobody, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno == EINTR)
        ;
    return errno;
}

static int talk_for_ever(void)
{
    for (;;)
        if (write(STDOUT_FILENO, "0123456789abcdef", 16) < 0)
            return errno;
}

static int write_document(void)
{
    return outcome(write(STDIN_FILENO, "x", 1));
}

static int map_document(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, STDIN_FILENO, 0) == MAP_FAILED ? errno : 0;
}

static int runnable_memory(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static int make_runnable(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : outcome(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int raise_limit(void)
{
    struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
    return outcome(setrlimit(RLIMIT_AS, &l));
}

/* What was open before is not open here, and nothing of the environment came along. */
static int look_around(void)
{
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return EBADF;
    return environ && *environ ? EEXIST : 0;
}

static int crash(void)
{
    raise(SIGSEGV);
    abort();
}

static int make_socket(void)
{
    return outcome(socket(AF_INET, SOCK_STREAM, 0));
}

static int kill_parent(void)
{
    return outcome(kill(getppid(), 0));
}

static int remove_file(void)
{
    return outcome(unlink("/tmp/orb-bad-reader"));
}

static int make_folder(void)
{
    return outcome(mkdir("/tmp/orb-bad-reader", 0700));
}

static int read_passwords(void)
{
    return read_file("/etc/passwd");
}

static int read_parent(void)
{
    return read_file("/proc/1/environ");
}

static int read_library(void)
{
    return read_file("/etc/ld.so.cache");
}

/* The document again: it may be read from any place. */
static int read_twice(void)
{
    char piece[16] = "";
    if (lseek(STDIN_FILENO, 0, SEEK_SET) != 0 || read(STDIN_FILENO, piece, sizeof(piece) - 1) <= 0)
        return errno;
    return strncmp(piece, "twice", 5) == 0 ? 0 : EIO;
}

static const struct {
    const char *name;
    int (*fn)(void);
} deeds[] = {
    {"make-file", make_file},
    {"change-file", change_file},
    {"unnamed-file", unnamed_file},
    {"exec", exec_other},
    {"fork", fork_once},
    {"memory", eat_memory},
    {"run", run_for_ever},
    {"wait", wait_for_ever},
    {"talk", talk_for_ever},
    {"write-document", write_document},
    {"map-document", map_document},
    {"runnable-memory", runnable_memory},
    {"make-runnable", make_runnable},
    {"raise-limit", raise_limit},
    {"look-around", look_around},
    {"crash", crash},
    {"socket", make_socket},
    {"kill-parent", kill_parent},
    {"remove-file", remove_file},
    {"make-folder", make_folder},
    {"read-passwords", read_passwords},
    {"read-parent", read_parent},
    {"read-library", read_library},
    {"twice", read_twice},
};

static int say(const char *text)
{
    return write(STDOUT_FILENO, text, strlen(text)) < 0 ? 98 : 0;
}

int main(void)
{
    char word[64] = "";
    ssize_t n = read(STDIN_FILENO, word, sizeof(word) - 1);
    if (n <= 0)
        return 97;
    if (strncmp(word, "exit ", 5) == 0)
        return (int)strtol(word + 5, NULL, 10);
    for (size_t i = 0; i < sizeof(deeds) / sizeof(*deeds); i++)
        if (strcmp(word, deeds[i].name) == 0) {
            int err = deeds[i].fn();
            return say(err ? strerrorname_np(err) : "done");
        }
    return 96;
}
