#include "mobile/caged.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/pack.h"
#include "base/span.h"
#include "mobile/cage.h"

#define PIECE_BYTES 65536
#define MEMORY_BYTES_MAX (UINT64_C(1) << 36)
#define CPU_S_MAX 3600

static bool read_all(char *p, size_t n)
{
    while (n) {
        ssize_t got = read(STDIN_FILENO, p, n);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        p += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno != EINTR)
            return false;
        p += put > 0 ? put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* The document becomes standard input. */
static bool take_document(void)
{
    char piece[PIECE_BYTES];
    int fd = memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || !read_all(piece, sizeof(uint64_t)))
        return false;
    struct unpack u = unpack_of(span_of(piece, sizeof(uint64_t)));
    uint64_t left = unpack_u64(&u);
    if (left > CAGED_INPUT_MAX)
        return false;
    while (left) {
        size_t n = left < sizeof(piece) ? (size_t)left : sizeof(piece);
        if (!read_all(piece, n) || !write_all(fd, piece, n))
            return false;
        left -= n;
    }
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 &&
           lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO;
}

int caged_run(int argc, char **argv)
{
    struct cage c = {0};
    const char *what;
    if (argc < 3 || !span_u64(span_str(argv[0]), MEMORY_BYTES_MAX, &c.memory_bytes) ||
        !span_u64(span_str(argv[1]), CPU_S_MAX, &c.cpu_s) || argv[2][0] != '/')
        return CAGED_USAGE;
    c.program = argv[2];
    /* Nobody else ends it when whoever started us is killed: the program need not look at its pipes ever again. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!take_document())
        return CAGED_INPUT;
    if (cage_enter(&c, &what) != ST_OK)
        return CAGED_LOCK;
    cage_exec(&c, argv + 2);
    return CAGED_EXEC;
}
