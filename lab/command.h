/* command.h - the commands of orb-lab. Each gets its own words, name included, and returns the exit code. */
#pragma once

#include "lab/map/lab.h"
#include "lab/net/link.h"

/* As everywhere in this project: done, the answer is no, usage, bad input, input/output or no namespaces. */
enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_IO = 4 };

int command_run(int argc, char **argv);
int command_list(int argc, char **argv);
int command_up(int argc, char **argv);
int command_in(int argc, char **argv);
int command_tell(int argc, char **argv);
int command_show(int argc, char **argv);
int command_check(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_shell(int argc, char **argv);
int command_report(int argc, char **argv);
int command_results(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_get(int argc, char **argv);

/* ---- what they share ---- */

/* Says "orb-lab: what" on standard error; returns `code`. */
int command_fail(int code, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Loads a lab file or a world, or says what is wrong with it. */
MUST_USE status command_load(const char *path, struct lab *out);
bool command_link_kind(const char *name, link_kind *out);
/* A number option, or false. */
bool command_number(const char *text, uint64_t max, uint64_t *out);
/* After runner_run: says why, and picks the exit code. */
int command_end(status st, int code, struct buf *why);
/* Inside of a lab, whose folder it is (NULL: not inside, which is said): this process is at the place from now on. */
int command_enter(const char *folder, const char *place);
/* Only returns when it could not start the command: the exit code. */
int command_become(char **command);
