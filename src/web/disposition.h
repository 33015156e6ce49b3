/* disposition.h - the file name of a Content-Disposition header (RFC 6266). Pure; any thread. */
#pragma once

#include "base/arena.h"
#include "base/span.h"

#define DISPOSITION_NAME_MAX 255 /* bytes; longer names are cut */

/* Of filename* where there is one in UTF-8 or ISO-8859-1, else of filename; without folders in front of it, control
 * characters and bytes that are no UTF-8. Empty: there is none. In the arena. */
struct span disposition_filename(struct arena *a, struct span value);
