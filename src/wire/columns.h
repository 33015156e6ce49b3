/* columns.h - the columns of a package's body, and the coders that writer and reader share. Inside wire/ only.
 *
 * A body is PACKAGE_COLUMNS times (varint length), then the columns' bytes one after the other. Values of one kind
 * stand together, because zstd then meets them in their own company; a value is found by reading all columns side by
 * side. docs/formats/package.md tells what is in each. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/pack.h"
#include "base/status.h"
#include "web/summary.h"
#include "wire/intern.h"

typedef enum column {
    /* numbers of a visit */
    COL_TASK,
    COL_FLAGS,
    COL_ANSWER,
    COL_SHAPE,
    COL_AT,
    COL_SIZES,
    COL_DIGEST,
    COL_SETUP,
    COL_WAIT,
    /* small texts that repeat */
    COL_ADDRESS,
    COL_REASON,
    COL_CONTENT_TYPE,
    COL_CHARSET,
    COL_LANG,
    COL_LAST_MODIFIED,
    COL_FIELD_NAME,
    COL_NEW_NAME,
    COL_NAME_BYTES,
    /* texts of a visit */
    COL_TEXT_SIZE,
    COL_TITLE_BYTES,
    COL_DESCRIPTION_BYTES,
    COL_ETAG_BYTES,
    COL_VALUE_BYTES,
    /* addresses: of pages, of links */
    COL_URL_SIZE,
    COL_URL_BYTES,
    COL_LINK_URL_SIZE,
    COL_LINK_URL_BYTES,
    /* headings and links */
    COL_HEADING,
    COL_HEADING_LINE,
    COL_HEADING_BYTES,
    COL_LINK_COUNT,
    COL_LINK,
    COL_LINK_LINE,
    COL_LINK_BYTES,
    /* text by lines */
    COL_LINE_COUNT,
    COL_LINE_NEW,
    COL_LINE_FROM,
    COL_LINE_RUN,
    COL_LINES,
    /* words */
    COL_WORD_COUNT,
    COL_WORD_OLD,
    COL_WORD_TIMES,
    COL_WORDS,
    PACKAGE_COLUMNS
} column;

/* Bits of COL_FLAGS. Higher ones are of a newer minor version, and may only say something about its tail. */
enum {
    FLAG_REFUSED = 1,
    FLAG_HTML = 2,
    FLAG_KNOWN = 4,
    FLAG_KEYWORDS = 8,        /* words instead of lines */
    FLAG_DIGEST_OF_TEXT = 16, /* the digest is that of the text as it travels, and text_bytes its length */
    FLAG_CANONICAL_SELF = 32,
    FLAG_CANONICAL = 64,
    FLAG_REDIRECT = 128,
};

/* Of COL_LINK: the common kind of link is its flags; others add LINK_ODD and all their numbers. */
#define LINK_ODD 128

#define COLUMNS_LINES_MAX (16u << 20) /* of all visits of a package, repeated ones too */
#define COLUMNS_WORDS_MAX (4u << 20)  /* different ones */
#define COLUMNS_TEXT_MAX FACTS_TEXT_MAX
#define COLUMNS_URL_MAX 8192
#define COLUMNS_WORD_MAX 250 /* bytes; longer ones are cut */
#define COLUMNS_PREFIX_MAX 15

/* ---- lines: package_lines.c ----
 *
 * The text of a visit is lines. A line that was in the package before is not sent again: runs of lines are copied from
 * what came before. The log has the numbers of all lines so far, so that a page that differs from an earlier one in a
 * line is three pieces. A writer notes texts as they come, and writes them in another order. */
struct lines_writer {
    struct intern lines; /* all that were noted */
    uint32_t *ids;       /* owned: the lines of all noted texts */
    size_t id_count, id_cap;
    uint32_t *last; /* owned: where in the log a line was last; LINE_NEW: not written yet */
    uint32_t *log;  /* owned: lines of all texts written so far */
    size_t log_count;
    const uint32_t *now; /* borrowed: lines of the text at hand */
    size_t now_count;
};
void lines_writer_clear(struct lines_writer *w);
void lines_writer_done(struct lines_writer *w);
/* How many ids were added. */
size_t lines_note(struct lines_writer *w, struct span text);
void lines_write_begin(struct lines_writer *w); /* no more notes */
void lines_write(struct lines_writer *w, const uint32_t *ids, size_t n, struct buf *col);

/* Lines that something else of the visit repeats: headings, texts of links. Looks from *from on. The number of lines to
 * skip, or SIZE_MAX; *from is then behind it. */
size_t lines_find(const struct lines_writer *w, struct span line, size_t *from);

struct lines_reader {
    struct span bytes; /* COL_LINES */
    uint32_t *at;      /* owned: where line i begins; count + 1 */
    size_t count, at_cap;
    uint32_t *log; /* owned */
    size_t log_count, log_cap;
    size_t first; /* of the text at hand, in the log */
    size_t expect;
};
void lines_reader_done(struct lines_reader *r);
/* Appends the next text to *out. */
MUST_USE status lines_read(struct lines_reader *r, struct unpack *col, struct buf *out);
/* Line `i` of the text at hand; false when there is none. */
bool lines_get(const struct lines_reader *r, size_t i, struct span *out);

/* ---- words: package_words.c ----
 *
 * What `keywords` sends: each word once in the package, and for a page the numbers of its words and how often each is
 * there. */
struct word_times {
    uint32_t word, times;
};
struct words_writer {
    struct intern words;  /* all that were noted */
    struct intern lines;  /* that were cut into words lately */
    uint32_t *line_words; /* owned: the words of each of these lines */
    size_t line_words_count, line_words_cap;
    size_t *line_end; /* owned: where in line_words those of a line end */
    size_t line_end_cap;
    struct word_times *noted; /* owned: the words of all noted texts, each text's once */
    size_t noted_count, noted_cap;
    uint32_t *slot; /* owned: where in `noted` a word is for the text at hand, + 1 */
    size_t slot_cap;
    uint32_t *number;         /* owned: what the reader calls it; WORD_NEW: not written yet */
    uint32_t given;           /* numbers */
    uint32_t *times;          /* owned: by number, in the text at hand */
    uint64_t *present;        /* owned: bit of a number: in the text at hand */
    struct word_times *fresh; /* owned: words of the text at hand that were never written */
    size_t fresh_cap;
};
void words_writer_clear(struct words_writer *w);
void words_writer_done(struct words_writer *w);
/* How many were added. */
size_t words_note(struct words_writer *w, struct span text);
void words_write_begin(struct words_writer *w); /* no more notes */
void words_write(struct words_writer *w, const struct word_times *words, size_t n, struct buf *col);

struct words_reader {
    struct span *word; /* owned array; texts in the arena */
    size_t count, cap;
    struct arena arena;
};
void words_reader_init(struct words_reader *r);
void words_reader_done(struct words_reader *r);
MUST_USE status words_read(struct words_reader *r, struct unpack *col, struct buf *out);

/* ---- numbers ---- */

static inline void column_signed(struct buf *b, int64_t v)
{
    pack_var(b, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static inline int64_t column_read_signed(struct unpack *u)
{
    uint64_t v = unpack_var(u);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Microseconds with two significant digits: 0 did not happen, 1 + v below 100, then 90 steps a decade. */
uint64_t column_time(int32_t us);
int32_t column_time_of(uint64_t code); /* -1 for what is none */
