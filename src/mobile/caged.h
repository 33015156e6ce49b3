/* caged.h - the mode of orb-worker that runs somebody else's program on one document (cage.h):
 *
 *     orb-worker --cage MEMORY-BYTES CPU-S PROGRAM [ARG...]
 *
 * Standard input brings the length of the document (8 bytes, little-endian), then the document. All of it is put in a
 * file in memory, which PROGRAM has as its standard input: it may be read twice and from any place. What it writes to
 * standard output goes to whoever started us. Started by a reader (reader.h) only. */
#pragma once

#define CAGED_INPUT_MAX (64u << 20)

/* What it leaves with when PROGRAM did not run; far from what such programs leave with themselves. */
enum { CAGED_USAGE = 121, CAGED_INPUT = 122, CAGED_LOCK = 123, CAGED_EXEC = 124 };

/* `argv` begins with the arguments behind --cage. Returns only when it failed, with one of the above. */
int caged_run(int argc, char **argv);
