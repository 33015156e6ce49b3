#include "cli/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "web/facts.h"

int folder_open(const char *what, const char *dir, struct store **out)
{
    struct buf why = {0};
    if (!dir)
        return complain(EXIT_USAGE, "%s: --data: empty: give a folder", what);
    status st = store_open(dir, STORE_READ, out, &why);
    int code = EXIT_DONE;
    if (st == ST_NOT_FOUND)
        code = complain(EXIT_IO, "%s: open data folder %s: not there: %s", what, dir, folder_advice(st));
    else if (st != ST_OK)
        code = complain(exit_code_of(st), "%s: open data folder %s: %s: %s", what, dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    buf_done(&why);
    return code;
}

long folder_writer(const char *dir)
{
    struct buf path = {0};
    char text[24] = {0};
    buf_printf(&path, "%s/lock", dir);
    int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
    buf_done(&path);
    if (fd < 0)
        return 0;
    long pid = read(fd, text, sizeof(text) - 1) > 0 ? strtol(text, NULL, 10) : 0;
    /* Only a living process is worth touching its lock for: a crawl that starts this very moment must find it free. */
    bool is_alive = pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
    bool is_held = is_alive && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_held ? pid : 0;
}

/* nftw passes no argument along, and the commands have one thread. */
static _Thread_local uint64_t bytes_sum;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *at)
{
    if (type == FTW_F)
        bytes_sum += (uint64_t)st->st_blocks * 512;
    return 0;
}

uint64_t folder_bytes(const char *dir)
{
    bytes_sum = 0;
    (void)nftw(dir, add_bytes, 16, FTW_PHYS);
    return bytes_sum;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)remove(path);
    return 0;
}

void folder_remove(const char *dir)
{
    (void)nftw(dir, remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

bool page_is_good(const struct page *p)
{
    return p->good_at != 0 && p->outcome != VISIT_REDIRECT && p->outcome != VISIT_GONE && !(p->page_flags & PAGE_LIST);
}

const char *outcome_name(unsigned outcome)
{
    static const char *const names[] = {"new", "changed", "unchanged", "redirect", "gone", "error", "refused"};
    return outcome < sizeof(names) / sizeof(*names) ? names[outcome] : "unknown";
}
