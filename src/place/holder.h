/* holder.h - names of holders, folded so that two spellings of one name compare equal. Pure; any thread.
 *
 *     "Example Networks, Ltd."   "EXAMPLE NETWORKS LIMITED"   "Exämple  networks (Pty) Ltd"   ->  "example networks"
 *
 * Case, accents of Latin letters, spaces, punctuation and legal forms go; the other words and their order stay. */
#pragma once

#include "base/buf.h"

#define HOLDER_NAME_MAX 256 /* bytes; longer names are cut, never inside of a character. Folding makes none longer */

/* Appends the folded name: words of UTF-8 with one blank between them. Bytes that are not UTF-8 count as blanks. A name
 * of nothing but legal forms keeps one; a name without a letter or digit becomes empty. Folding again changes nothing.
 */
void holder_fold(struct span name, struct buf *out);
