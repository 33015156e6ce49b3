/* phrase.h - do the words of an atom stand in a row? */
#pragma once

#include "index/search/match.h"

/* The atom is at its document; looks for its words next to each other, in its field. Damage shows in the cursors. */
bool phrase_is_in_a_row(struct matcher *m, struct atom_cursor *a);
