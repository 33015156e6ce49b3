/* contact.h - who answers for a crawl: the text for site owners that a data folder keeps, and the User-Agent line that
 * carries it. */
#pragma once

#include "cli/options.h"

/* What the folder keeps; appended. It may be empty: somebody decided to give none. False: nothing is kept. */
bool contact_kept(const char *dir, struct buf *out);
/* Makes the folder when it is missing. Complains by itself, as the command `what`; an exit code. */
int contact_keep(const char *what, const char *dir, struct span contact);
/* Of a command that asks nobody: keeps what was given, else takes what is kept; appended to `out`. The page for site
 * owners then names the line that agents send which are given the same. As contact_keep. */
int contact_settle(const char *what, const struct options *o, struct buf *out);
/* orbweaver/VERSION (+PURPOSE; CONTACT), without what is empty; appended. */
void contact_agent(struct span purpose, struct span contact, struct buf *out);
