#include "mobile/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "mobile/landlock.h"
#include "mobile/sandbox_internal.h"

/* ---- rlimits ---- */

/* Bytes of address space in use; 0: /proc is not there, and the limit is then a little tighter than asked. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool sandbox_set_limit(__rlimit_resource_t what, uint64_t value)
{
    struct rlimit old, l;
    if (getrlimit(what, &old) != 0)
        return false;
    l.rlim_cur = l.rlim_max = value < old.rlim_max ? value : old.rlim_max;
    return setrlimit(what, &l) == 0;
}

static bool enter_rlimits(const struct sandbox_limits *limits)
{
    uint64_t space = address_space() + limits->memory_bytes;
    return (SANDBOX_HAS_ASAN || sandbox_set_limit(RLIMIT_AS, space)) && sandbox_set_limit(RLIMIT_CPU, limits->cpu_s) &&
           sandbox_set_limit(RLIMIT_NOFILE, 0) && sandbox_set_limit(RLIMIT_NPROC, 0) &&
           sandbox_set_limit(RLIMIT_FSIZE, 0) && sandbox_set_limit(RLIMIT_CORE, 0) &&
           sandbox_set_limit(RLIMIT_MEMLOCK, 0) && sandbox_set_limit(RLIMIT_MSGQUEUE, 0);
}

/* ---- Landlock ---- */

static bool enter_landlock(void)
{
    /* An older kernel, or turned off: the other layers hold. */
    return landlock_version() == 0 || landlock_restrict(landlock_ruleset());
}

/* ---- seccomp ---- */

static bool add_rules(scmp_filter_ctx f)
{
    static const int plain[] = {
        SCMP_SYS(exit_group), SCMP_SYS(exit), SCMP_SYS(brk),           SCMP_SYS(munmap),
        SCMP_SYS(mremap),     SCMP_SYS(time), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, plain[i], 0);
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, SCMP_A0(SCMP_CMP_EQ, STDIN_FILENO, 0));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(setitimer), 1, SCMP_A0(SCMP_CMP_EQ, ITIMER_PROF, 0));
    /* Memory of no file, that is never run: what malloc asks for. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                           SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
    /* malloc gives memory back by it; any other advice may be refused. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1, SCMP_A2(SCMP_CMP_EQ, MADV_DONTNEED, 0));
    if (SANDBOX_HAS_ASAN) { /* it looks at the stack at every longjmp, and has its own memory */
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(sigaltstack), 0);
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 0);
    }
    return rc == 0;
}

static bool enter_seccomp(void)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
    bool ok = f && seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 && add_rules(f) &&
              seccomp_load(f) == 0;
    if (ok)
        seccomp_release(f); /* frees memory only */
    return ok;
}

/* ---- all of it ---- */

static bool close_others(void)
{
    return syscall(SYS_close_range, (unsigned)STDERR_FILENO, ~0u, 0) == 0;
}

bool sandbox_renounce(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

status sandbox_enter(unsigned layers, const struct sandbox_limits *limits, const char **what)
{
    /* The limits come after Landlock, which needs one descriptor for a moment. */
    if ((layers & SANDBOX_CLOSE) && !close_others())
        *what = "close_range";
    else if (!sandbox_renounce())
        *what = "no_new_privs";
    else if ((layers & SANDBOX_LANDLOCK) && !enter_landlock())
        *what = "landlock";
    else if ((layers & SANDBOX_RLIMITS) && !enter_rlimits(limits))
        *what = "rlimits";
    else if ((layers & SANDBOX_SECCOMP) && !enter_seccomp())
        *what = "seccomp";
    else
        return ST_OK;
    return ST_IO;
}

void sandbox_cpu_alarm(unsigned ms)
{
    /* SIGPROF, whose default is the end of the process; a script has no way to a system call that changes that. */
    struct itimerval t = {.it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    (void)setitimer(ITIMER_PROF, &t, NULL);
}
