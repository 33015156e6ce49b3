/* html_files.h - the HTML files below a folder, in an order that does not depend on the locale. */
#pragma once

#include <sys/stat.h>

#include "base/span.h"

/* `name` is the path below the folder. */
typedef void html_file_fn(void *arg, const char *path, const struct stat *st, struct span name);
void html_files_each(const char *folder, html_file_fn *fn, void *arg);
