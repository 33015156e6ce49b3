/* folder.h - a data folder as the reading commands see it. */
#pragma once

#include "cli/options.h"
#include "store/store.h"

/* Opens for reading, or complains; `what` is the command's name. */
int folder_open(const char *what, const char *dir, struct store **out);
/* The process that crawls into it now; 0: none. */
long folder_writer(const char *dir);
uint64_t folder_bytes(const char *dir); /* on disk */
void folder_remove(const char *dir);    /* with all that is in it */
/* It has a good copy, and the last visit did not find it moved or gone. */
bool page_is_good(const struct page *p);
const char *outcome_name(unsigned outcome); /* "new" */
