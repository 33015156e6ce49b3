/* glob.h - shell-like patterns over text: '*' any run, '?' one byte, '\' quotes. Linear in pattern x text, no
 * recursion. */
#pragma once

#include "base/span.h"

bool glob_match(struct span pattern, struct span text);
/* ASCII case folded. */
bool glob_match_nocase(struct span pattern, struct span text);
