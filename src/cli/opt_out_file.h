/* opt_out_file.h - the file of --opt-out: read at the start, looked at again while a crawl runs, and once more when it
 * ends. */
#pragma once

#include "base/log.h"
#include "cli/options.h"
#include "crawl/crawl.h"

struct opt_out_file {
    const char *path; /* borrowed; NULL: none is given */
    const char *dir;  /* borrowed: the data folder */
    const struct log *log;
    mono_ms looked;
    uint64_t seen;    /* what the file looked like when it was read */
    bool has_changed; /* since opt_out_file_apply */
};

/* Reads it and writes it down in the folder's store; complains by itself. An exit code. */
int opt_out_file_put(struct opt_out_file *f, const char *what, const struct options *o, struct store *store);
/* The same for a folder that is not open, and is made when missing; complains by itself. An exit code. */
int opt_out_file_apply(struct opt_out_file *f, const char *what, const struct options *o);
/* Takes the records of what the list names out of the WARC files of --warc, where that was not done for this very list
 * already; nobody may have them open. Without a list the note of that goes: what is written now nobody has looked at.
 * Complains by itself; an exit code. */
int opt_out_file_purge(struct opt_out_file *f, const char *what, const struct options *o);
/* Now and then, from the progress callback: has it changed? Then the crawl asks for nothing of what it names now. */
void opt_out_file_watch(struct opt_out_file *f, struct crawl *cr);
/* The crawl is closed: what the list names by now is taken out of the folder, and out of the WARC
 * files, which are closed too. */
int opt_out_file_finish(struct opt_out_file *f, const char *what, const struct options *o);
