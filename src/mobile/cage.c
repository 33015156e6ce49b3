#include "mobile/cage.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mobile/landlock.h"
#include "mobile/sandbox.h"
#include "mobile/sandbox_internal.h"

#define OPEN_FILES_MAX 64

/* ---- Landlock ---- */

/* Where libraries are, and what poppler reads besides: the tables of Asian encodings. */
static const char *const readable[] = {
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/poppler", "/etc/ld.so.cache",
};

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Phdr program_header;
#else
typedef Elf32_Phdr program_header;
#endif

/* The loader that the kernel starts a program with. It is the same for all programs of a system, so ours is taken. */
static const char *loader_path(void)
{
    const program_header *headers = (const program_header *)getauxval(AT_PHDR);
    unsigned long count = getauxval(AT_PHNUM);
    uintptr_t base = 0;
    for (unsigned long i = 0; i < count; i++)
        if (headers[i].p_type == PT_PHDR)
            base = (uintptr_t)headers - headers[i].p_vaddr;
    for (unsigned long i = 0; i < count; i++)
        if (headers[i].p_type == PT_INTERP)
            return (const char *)(base + headers[i].p_vaddr); /* NOLINT: where the kernel has put us */
    return NULL;
}

static bool enter_landlock(const struct cage *c)
{
    const char *loader = loader_path();
    if (landlock_version() == 0)
        return false;
    int ruleset = landlock_ruleset();
    bool ok = ruleset >= 0 && landlock_allow(ruleset, c->program, LANDLOCK_MAY_EXECUTE | LANDLOCK_MAY_READ_FILE) &&
              (!loader || landlock_allow(ruleset, loader, LANDLOCK_MAY_EXECUTE | LANDLOCK_MAY_READ_FILE));
    for (size_t i = 0; ok && i < sizeof(readable) / sizeof(*readable); i++)
        ok = landlock_allow(ruleset, readable[i], LANDLOCK_MAY_READ_FILE | LANDLOCK_MAY_READ_DIR);
    if (ok)
        return landlock_restrict(ruleset);
    if (ruleset >= 0)
        close(ruleset);
    return false;
}

/* ---- rlimits ---- */

static bool enter_rlimits(const struct cage *c)
{
    return sandbox_set_limit(RLIMIT_CPU, c->cpu_s) && sandbox_set_limit(RLIMIT_NOFILE, OPEN_FILES_MAX) &&
           sandbox_set_limit(RLIMIT_NPROC, 0) && sandbox_set_limit(RLIMIT_FSIZE, 0) &&
           sandbox_set_limit(RLIMIT_CORE, 0) && sandbox_set_limit(RLIMIT_MEMLOCK, 0) &&
           sandbox_set_limit(RLIMIT_MSGQUEUE, 0) && (SANDBOX_HAS_ASAN || sandbox_set_limit(RLIMIT_AS, c->memory_bytes));
}

/* ---- seccomp ----
 *
 * A call that is not named fails as if the kernel had never heard of it: loaders and libraries of other versions then
 * take the older way. Those that only somebody who has broken out of the document would make end the process. */

static bool add_plain(scmp_filter_ctx f)
{
    static const int allowed[] = {
        /* memory and the end */
        SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(exit), SCMP_SYS(exit_group),
        /* files that are open, or are only looked at */
        SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat),
        SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(getdents64), SCMP_SYS(access),
        SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd),
        /* what a C library sets up, and asks about */
        SCMP_SYS(arch_prctl), SCMP_SYS(set_tid_address), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(futex),
        SCMP_SYS(getrandom), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
        SCMP_SYS(sigaltstack), SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
        SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
        SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield), SCMP_SYS(getrlimit)};
    static const int fatal[] = {SCMP_SYS(socket),
                                SCMP_SYS(socketpair),
                                SCMP_SYS(connect),
                                SCMP_SYS(bind),
                                SCMP_SYS(clone),
                                SCMP_SYS(clone3),
                                SCMP_SYS(fork),
                                SCMP_SYS(vfork),
                                SCMP_SYS(execveat),
                                SCMP_SYS(ptrace),
                                SCMP_SYS(process_vm_readv),
                                SCMP_SYS(process_vm_writev),
                                SCMP_SYS(kill),
                                SCMP_SYS(unshare),
                                SCMP_SYS(setns),
                                SCMP_SYS(mount),
                                SCMP_SYS(bpf),
                                SCMP_SYS(io_uring_setup),
                                SCMP_SYS(keyctl),
                                SCMP_SYS(userfaultfd)};
    int rc = 0;
    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
    for (size_t i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_KILL_PROCESS, fatal[i], 0);
    return rc == 0;
}

static bool add_looked_at(scmp_filter_ctx f, const struct cage *c)
{
    /* Bits of flags with which a file would be changed or made. */
    const uint64_t changes = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
    int rc = 0;
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(open), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, changes, O_RDONLY));
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, (uint64_t)fd));
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(writev), 1, SCMP_A0(SCMP_CMP_EQ, (uint64_t)fd));
    }
    /* Libraries are mapped to be run; memory of no file never is, nor is any made so afterwards. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
                           SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC),
                           SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    /* Its own limits may be asked for, not set. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_GETFD));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_SETFD));
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, F_GETFL));
    /* One exec: by the address of our path, which nobody knows afterwards, for the address space is another one. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(execve), 1, SCMP_A0(SCMP_CMP_EQ, (uintptr_t)c->program));
    rc |= seccomp_rule_add(f, SCMP_ACT_KILL_PROCESS, SCMP_SYS(execve), 1, SCMP_A0(SCMP_CMP_NE, (uintptr_t)c->program));
    return rc == 0;
}

static bool enter_seccomp(const struct cage *c)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    bool ok = f && seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 && add_plain(f) &&
              add_looked_at(f, c) && seccomp_load(f) == 0;
    if (f)
        seccomp_release(f);
    return ok;
}

/* ---- all of it ---- */

status cage_enter(const struct cage *c, const char **what)
{
    if (syscall(SYS_close_range, (unsigned)STDERR_FILENO + 1, ~0u, 0) != 0)
        *what = "close_range";
    else if (!sandbox_renounce())
        *what = "no_new_privs";
    else if (!enter_landlock(c))
        *what = "landlock";
    else if (!enter_rlimits(c))
        *what = "rlimits";
    else if (!enter_seccomp(c))
        *what = "seccomp";
    else
        return ST_OK;
    return ST_IO;
}

void cage_exec(const struct cage *c, char *const *argv)
{
    char *none[] = {NULL};
    (void)syscall(SYS_execve, c->program, argv, none);
}
