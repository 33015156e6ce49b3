/* program_file.h - a program from a file of the user's: signed, or a bare Lua script. */
#pragma once

#include "base/buf.h"
#include "mobile/program.h"

/* A bare script gets its name from the file, and serial 0. Texts of *out point into *file. Complains by itself and
 * returns an exit code; `what` is the command's name. */
int program_file_read(const char *what, struct span path, struct buf *file, struct program *out);
