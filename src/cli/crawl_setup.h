/* crawl_setup.h - from options to the engine's own terms. */
#pragma once

#include "apply/apply_sink.h"
#include "cli/options.h"
#include "cli/seeds.h"
#include "crawl/crawl.h"

/* Everything that a struct crawl_opts borrows. */
struct crawl_setup {
    struct arena arena;
    struct url_norm norm;
    struct seeds seeds, sitemaps;
    struct buf hosts_text;
    struct buf user_agent;
    struct channel *channel; /* owned until crawl_add */
    struct apply_sink_opts sink;
    struct warc_files *archive; /* owned; NULL: none */
    struct crawl_opts opts;
};

/* Complains by itself; returns an exit code. May ask for a contact on the terminal and keep it in the folder. */
int crawl_setup_init(struct crawl_setup *s, const struct options *o);
/* The WARC files of --warc, if it is given. Complains by itself; an exit code. */
int crawl_setup_open_archive(struct crawl_setup *s, const struct options *o);
void crawl_setup_close_archive(struct crawl_setup *s);
void crawl_setup_done(struct crawl_setup *s);

/* What to do about a data folder that could not be opened. */
const char *folder_advice(status st);
