/* query_value.h - the values of site:, lang:, before: and after:, read. For query.c. Pure. */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "index/text/analyze.h"

/* "2024", "2024-05" or "2024-05-31" ('/' and '.' serve as well), as the seconds of UTC that it begins with and that it
 * ends before. */
bool query_date(struct span s, int64_t *start_s, int64_t *end_s);

/* "de", "pt-BR", "german", "Deutsch"; 0: no language. `an` is only worked with. */
lang_code query_language(struct analyzer *an, struct span s);

/* "python.org", ".org", "*.python.org", "https://python.org/3/": host as the index has it, with the port when one is
 * named, and what follows it. ST_INVALID: no host. */
MUST_USE status query_site(struct arena *a, struct span s, struct span *host, struct span *path);
