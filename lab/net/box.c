#include "lab/net/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPACES (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID)
#define EXIT_IO 4
#define FOLDERS_MAX 100

/* ---- namespaces ---- */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t n = strlen(text);
    bool is_written = write(fd, text, n) == (ssize_t)n;
    close(fd);
    return is_written;
}

/* We are root inside, and who we were outside. */
static bool map_ids(unsigned uid, unsigned gid)
{
    char text[64];
    (void)write_file("/proc/self/setgroups", "deny"); /* old kernels have no such file */
    snprintf(text, sizeof(text), "0 %u 1", gid);
    if (!write_file("/proc/self/gid_map", text))
        return false;
    snprintf(text, sizeof(text), "0 %u 1", uid);
    return write_file("/proc/self/uid_map", text);
}

static status unshare_all(bool *is_user_ns, struct buf *why)
{
    unsigned uid = geteuid(), gid = getegid();
    *is_user_ns = false;
    if (uid == 0 && unshare(SPACES) == 0)
        return ST_OK;
    *is_user_ns = true;
    if (unshare(CLONE_NEWUSER | SPACES) != 0 || !map_ids(uid, gid)) {
        buf_printf(why, "make namespaces without being root: %s", strerror(errno));
        return ST_REFUSED;
    }
    return ST_OK;
}

/* ---- inside ---- */

/* One folder for all labs of a user, always empty outside: each box mounts its own tmpfs over it. A name that somebody
 * else has taken, as the root of another user namespace does, is passed over. */
static bool make_folder(char *path, size_t n)
{
    const char *tmp = getenv("TMPDIR");
    struct stat s;
    for (unsigned i = 1; i <= FOLDERS_MAX; i++) {
        char more[16] = "";
        if (i > 1)
            snprintf(more, sizeof(more), "-%u", i);
        int wrote =
            snprintf(path, n, "%s/.orb-lab-%u%s", tmp && tmp[0] == '/' ? tmp : "/tmp", (unsigned)geteuid(), more);
        if (wrote < 0 || (size_t)wrote >= n) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
        if (lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid())
            return true;
    }
    errno = EEXIST;
    return false;
}

static status mount_all(const char *folder, struct buf *why)
{
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("orb-lab", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700,size=16m") != 0) {
        buf_printf(why, "mount a folder in the box: %s", strerror(errno));
        return errno == EPERM || errno == EACCES ? ST_REFUSED : ST_IO;
    }
    /* Process numbers of the box; where it is refused (some containers) the outer ones show, which only people see. */
    (void)mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    return ST_OK;
}

/* Says over the pipe how setting up went: a status, and why. Then 1 is on its own. */
static void child(int (*inside)(void *, const struct box_inside *), void *arg, const struct box_inside *box,
                  int pipe_fd, int life_fd)
{
    char nobody;
    struct buf why = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Had our parent died before that, its end of this pipe would be closed. */
    if (read(life_fd, &nobody, 1) == 0)
        _exit(EXIT_IO);
    status st = mount_all(box->folder, &why);
    if (st == ST_OK && setenv(BOX_FOLDER_VARIABLE, box->folder, 1) != 0)
        st = ST_IO;
    unsigned char first = (unsigned char)st;
    (void)!write(pipe_fd, &first, 1);
    if (why.n)
        (void)!write(pipe_fd, why.p, why.n);
    close(pipe_fd);
    buf_done(&why);
    _exit(st == ST_OK ? inside(arg, box) : EXIT_IO);
}

/* ---- outside ---- */

static void signal_set(sigset_t *set)
{
    static const int all[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        sigaddset(set, all[i]);
}

static int wait_for(pid_t pid)
{
    sigset_t set;
    signal_set(&set);
    for (;;) {
        int how;
        if (waitpid(pid, &how, WNOHANG) == pid)
            return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        siginfo_t info;
        int sig = sigwaitinfo(&set, &info);
        /* What comes from the terminal reaches the processes inside without us. */
        if (sig > 0 && sig != SIGCHLD && info.si_code != SI_KERNEL)
            kill(pid, sig);
    }
}

static status read_outcome(int fd, struct buf *why)
{
    unsigned char first = ST_IO;
    if (read(fd, &first, 1) != 1) {
        buf_puts(why, "the first process of the box ended at once");
        return ST_IO;
    }
    ssize_t n;
    while ((n = read(fd, buf_room(why, 256), 256)) > 0)
        why->n += (size_t)n;
    return (status)first;
}

status box_run(int (*inside)(void *arg, const struct box_inside *box), box_started *started, void *arg, int *code,
               struct buf *why)
{
    char folder[64];
    struct box_inside box = {.folder = folder};
    int outcome[2], life[2];
    sigset_t set, old;
    if (!make_folder(folder, sizeof(folder))) {
        buf_printf(why, "make %s: %s", folder, strerror(errno));
        return ST_IO;
    }
    if (pipe2(outcome, O_CLOEXEC) != 0 || pipe2(life, O_CLOEXEC | O_NONBLOCK) != 0) {
        buf_printf(why, "make a pipe: %s", strerror(errno));
        return ST_IO;
    }
    signal_set(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    status st = unshare_all(&box.is_user_ns, why);
    pid_t pid = st == ST_OK ? fork() : -1;
    if (pid == 0) {
        close(outcome[0]);
        close(life[1]);
        child(inside, arg, &box, outcome[1], life[0]);
    }
    close(outcome[1]);
    close(life[0]);
    if (st == ST_OK && pid < 0) {
        buf_printf(why, "start a process in the box: %s", strerror(errno));
        st = ST_IO;
    }
    if (st == ST_OK)
        st = read_outcome(outcome[0], why);
    if (st == ST_OK)
        started(arg, pid, folder);
    if (pid > 0)
        *code = wait_for(pid);
    close(outcome[0]);
    close(life[1]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return st;
}

/* ---- for those inside ---- */

void box_names(const struct box_inside *box, const struct addr *server)
{
    static const char *const doors[] = {"/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket",
                                        "/var/run/nscd/socket"};
    char path[128], text[ADDR_TEXT_MAX];
    snprintf(path, sizeof(path), "%s/resolv.conf", box->folder);
    FILE *f = fopen(path, "we");
    if (!f)
        return;
    fprintf(f, "nameserver %s\n", addr_format(server, text));
    if (fclose(f) == 0)
        (void)mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL);
    for (size_t i = 0; i < sizeof(doors) / sizeof(*doors); i++)
        (void)mount("/dev/null", doors[i], NULL, MS_BIND, NULL);
}
