/* reader.h - documents that another program makes text of, each in a locked-down process of its own, from an event
 * loop.
 *
 *     reader_new -> reader_read (a document) ... -> reader_free
 *
 * The program (pdftotext) gets the document as standard input and says its text on standard output; it is run by
 * orb-worker in a cage (caged.h). One that hangs or says too much is killed; whatever it does costs that document
 * alone. What it says is believed no more than what comes from a network.
 *
 * One loop, one thread. All of these may be called from inside a reader_done_fn, but reader_free. */
#pragma once

#include "base/span.h"
#include "base/status.h"
#include "io/loop.h"

#define READER_MEMORY_BYTES (512u << 20) /* address space of one process, its libraries included */
#define READER_CPU_S 20
#define READER_WALL_MS 60000
#define READER_AT_ONCE_MAX 16

struct reader;

struct reader_opts {
    const char *worker_path; /* orb-worker; NULL: looked for (worker_path.h) */
    const char *const *args; /* of the program; the first is its path; NULL at the end. Copied */
    unsigned at_once;        /* processes; 0: 1. More wait in line */
    uint64_t memory_bytes;   /* 0: READER_MEMORY_BYTES */
    unsigned cpu_s;          /* 0: READER_CPU_S */
    int wall_ms;             /* 0: READER_WALL_MS */
    size_t output_max;       /* bytes of text; the rest is not waited for */
};

struct reading {
    status st;        /* ST_INVALID: the program gave up, with `code`; ST_LIMIT: more memory or processor time than it
                         may have, or a call that it may not make; ST_TIMEOUT; ST_IO: it could not be run;
                         ST_CANCELLED */
    int code;         /* what the program left with; 0 unless ST_INVALID */
    struct span text; /* what it said; valid during the callback */
    bool is_cut;      /* at output_max */
    const char *why;  /* one phrase for people, static; "" when ST_OK */
};

typedef void reader_done_fn(void *arg, const struct reading *r);

/* Whether documents can be read here at all. ST_NOT_FOUND: there is no such program, or no orb-worker; ST_REFUSED: the
 * kernel has no Landlock, and without it the program is not run (cage.h). */
MUST_USE status reader_look(const char *worker_path, const char *program);
/* pdftotext where Debian and others have it; NULL: it is not installed. */
const char *reader_find_pdftotext(void);

/* As reader_look. */
MUST_USE status reader_new(struct loop *l, const struct reader_opts *o, struct reader **out);
void reader_free(struct reader *r); /* documents in line and under way get ST_CANCELLED; NULL is fine */
/* `done` is called once, never from inside this call. `document` is borrowed until then. */
void reader_read(struct reader *r, struct span document, reader_done_fn *done, void *arg);
size_t reader_bytes(const struct reader *r); /* of all documents that are not done */
