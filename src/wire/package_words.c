/* package_words.c - a text as words with counts, each word sent once; see columns.h.
 *
 * A word is what the index's analysis begins with: a run of letters, digits, '_' and whatever is not ASCII, with
 * apostrophes inside, and the signs of "c++" and "f#". Words are lower-cased, but names with capitals inside are left
 * as they are, because the index cuts them there ("getElementById"). */
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "wire/columns.h"

#define WORD_NEW UINT32_MAX
#define LINES_KEPT (8u << 20) /* bytes of lines whose words are remembered */

void words_writer_clear(struct words_writer *w)
{
    intern_clear(&w->words);
    intern_clear(&w->lines);
    w->line_words_count = 0;
    free(w->number);
    free(w->times);
    free(w->present);
    w->number = w->times = NULL;
    w->present = NULL;
    w->noted_count = w->given = 0;
}

void words_writer_done(struct words_writer *w)
{
    words_writer_clear(w);
    intern_done(&w->words);
    intern_done(&w->lines);
    free(w->line_words);
    free(w->line_end);
    free(w->noted);
    free(w->slot);
    free(w->fresh);
    *w = (struct words_writer){0};
}

/* A bit a byte: digits; letters and '_'; all that is not ASCII. */
static const uint64_t word_bytes[4] = {UINT64_C(0x03ff000000000000), UINT64_C(0x07fffffe87fffffe), UINT64_MAX,
                                       UINT64_MAX};

static bool is_word_byte(char c)
{
    unsigned char u = (unsigned char)c;
    return word_bytes[u >> 6] >> (u & 63) & 1;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The word at `*at`, which is moved behind it, folded in `room`. */
static struct span next_word(struct span text, size_t *at, char room[COLUMNS_WORD_MAX])
{
    size_t begin = *at, end = begin, n = 0;
    bool has_small = false, has_inner = false;
    for (; end < text.n; end++) {
        char c = text.p[end];
        if (!is_word_byte(c) && !(c == '\'' && end + 1 < text.n && is_word_byte(text.p[end + 1])))
            break;
        has_small |= c >= 'a' && c <= 'z';
        has_inner |= is_capital(c) && end > begin;
        if (n < COLUMNS_WORD_MAX)
            room[n++] = ascii_lower(c);
    }
    if (end - begin <= 2 && end < text.n && text.p[end] == '#')
        room[n++] = text.p[end++];
    else if (end - begin <= 2 && end + 1 < text.n && text.p[end] == '+' && text.p[end + 1] == '+')
        for (int i = 0; i < 2; i++)
            room[n++] = text.p[end++];
    *at = end;
    struct span as_written = span_cut(text, begin, end - begin);
    if (as_written.n > COLUMNS_WORD_MAX)
        return utf8_cut(as_written, COLUMNS_WORD_MAX);
    return has_small && has_inner ? as_written : span_of(room, n);
}

static uint32_t word_id(struct words_writer *w, struct span word)
{
    bool is_new;
    uint32_t id = intern_put(&w->words, word, &is_new);
    if (is_new) {
        w->slot = mem_grow(w->slot, &w->slot_cap, (size_t)id + 1, sizeof(*w->slot));
        w->slot[id] = 0;
    }
    return id;
}

static void split_line(struct words_writer *w, struct span line)
{
    char room[COLUMNS_WORD_MAX];
    for (size_t at = 0; at < line.n;) {
        if (!is_word_byte(line.p[at])) {
            at++;
            continue;
        }
        struct span word = next_word(line, &at, room);
        if (!word.n || w->words.count >= COLUMNS_WORDS_MAX)
            continue;
        w->line_words = mem_grow(w->line_words, &w->line_words_cap, w->line_words_count + 1, sizeof(*w->line_words));
        w->line_words[w->line_words_count++] = word_id(w, word);
    }
}

static void count_word(struct words_writer *w, uint32_t id, size_t first)
{
    if (w->slot[id] > first) { /* slots of earlier texts are below */
        w->noted[w->slot[id] - 1].times++;
        return;
    }
    w->noted = mem_grow(w->noted, &w->noted_cap, w->noted_count + 1, sizeof(*w->noted));
    w->noted[w->noted_count++] = (struct word_times){id, 1};
    w->slot[id] = (uint32_t)w->noted_count;
}

/* Most lines of a site were there before: their words are known, and neither cut nor looked up again. */
static void note_line(struct words_writer *w, struct span line, size_t first)
{
    bool is_new;
    if (w->lines.bytes.n > LINES_KEPT) {
        intern_clear(&w->lines);
        w->line_words_count = 0;
    }
    uint32_t id = intern_put(&w->lines, line, &is_new);
    if (is_new) {
        w->line_end = mem_grow(w->line_end, &w->line_end_cap, (size_t)id + 1, sizeof(*w->line_end));
        split_line(w, line);
        w->line_end[id] = w->line_words_count;
    }
    for (size_t i = id ? w->line_end[id - 1] : 0; i < w->line_end[id]; i++)
        count_word(w, w->line_words[i], first);
}

size_t words_note(struct words_writer *w, struct span text)
{
    size_t first = w->noted_count;
    struct span line;
    while (text.n && span_split(&text, '\n', &line))
        note_line(w, line, first);
    return w->noted_count - first;
}

void words_write_begin(struct words_writer *w)
{
    size_t n = w->words.count + 1;
    w->noted = mem_grow(w->noted, &w->noted_cap, w->noted_count + 1, sizeof(*w->noted)); /* not NULL */
    w->number = mem_realloc(NULL, n * sizeof(*w->number));
    memset(w->number, 0xFF, n * sizeof(*w->number)); /* WORD_NEW */
    w->times = mem_realloc(NULL, n * sizeof(*w->times));
    w->present = mem_alloc((n / 64 + 1) * sizeof(*w->present));
}

static int by_text(const void *a, const void *b, void *arg)
{
    const struct words_writer *w = arg;
    const struct word_times *x = a, *y = b;
    return span_cmp(intern_text(&w->words, x->word), intern_text(&w->words, y->word));
}

static size_t shared(struct span a, struct span b, size_t max)
{
    size_t n = 0;
    while (n < a.n && n < b.n && n < max && a.p[n] == b.p[n])
        n++;
    return n;
}

/* Words of earlier pages, by number: the gaps between them. */
static void write_old(struct words_writer *w, struct buf *col)
{
    size_t next = 0;
    for (size_t i = 0; i * 64 < w->given; i++) {
        for (uint64_t bits = w->present[i]; bits; bits &= bits - 1) {
            size_t number = i * 64 + (size_t)__builtin_ctzll(bits);
            pack_var(&col[COL_WORD_OLD], number - next);
            pack_var(&col[COL_WORD_TIMES], w->times[number] - 1);
            next = number + 1;
        }
        w->present[i] = 0;
    }
}

/* Words met for the first time, sorted: a word is the bytes that it shares with the one before, then the rest. */
static void write_new(struct words_writer *w, size_t n, struct buf *col)
{
    struct span before = {0};
    qsort_r(w->fresh, n, sizeof(*w->fresh), by_text, w);
    for (size_t i = 0; i < n; i++) {
        struct span word = intern_text(&w->words, w->fresh[i].word);
        size_t same = shared(before, word, COLUMNS_PREFIX_MAX);
        w->number[w->fresh[i].word] = w->given++;
        buf_putc(&col[COL_WORDS], (char)same);
        buf_put(&col[COL_WORDS], span_from(word, same));
        pack_var(&col[COL_WORD_TIMES], w->fresh[i].times - 1);
        before = word;
    }
}

void words_write(struct words_writer *w, const struct word_times *words, size_t n, struct buf *col)
{
    size_t fresh = 0;
    w->fresh = mem_grow(w->fresh, &w->fresh_cap, n + 1, sizeof(*w->fresh));
    for (size_t i = 0; i < n; i++) {
        uint32_t number = w->number[words[i].word];
        if (number == WORD_NEW) {
            w->fresh[fresh++] = words[i];
            continue;
        }
        w->present[number / 64] |= UINT64_C(1) << number % 64;
        w->times[number] = words[i].times;
    }
    pack_var(&col[COL_WORD_COUNT], n - fresh);
    pack_var(&col[COL_WORD_COUNT], fresh);
    write_old(w, col);
    write_new(w, fresh, col);
}

void words_reader_init(struct words_reader *r)
{
    *r = (struct words_reader){0};
    arena_init(&r->arena);
}

void words_reader_done(struct words_reader *r)
{
    free(r->word);
    arena_done(&r->arena);
}

static bool emit(struct span word, uint64_t times, struct buf *out)
{
    if (times > COLUMNS_TEXT_MAX || (word.n + 1) * times > COLUMNS_TEXT_MAX - out->n)
        return false;
    for (uint64_t i = 0; i < times; i++) {
        buf_put(out, word);
        buf_putc(out, ' ');
    }
    return true;
}

static bool read_times(struct unpack *col, struct span word, struct buf *out)
{
    uint64_t times = unpack_var(&col[COL_WORD_TIMES]);
    return !col[COL_WORD_TIMES].bad && times < COLUMNS_TEXT_MAX && emit(word, times + 1, out);
}

static bool read_old(struct words_reader *r, struct unpack *col, uint64_t n, struct buf *out)
{
    for (uint64_t i = 0, next = 0; i < n; i++) {
        uint64_t gap = unpack_var(&col[COL_WORD_OLD]);
        if (col[COL_WORD_OLD].bad || gap >= r->count - next || !read_times(col, r->word[next + gap], out))
            return false;
        next += gap + 1;
    }
    return true;
}

/* The bytes up to the next that begins a word. */
static struct span rest_of_word(struct unpack *u)
{
    const unsigned char *begin = u->at;
    while (u->at<u->end && * u->at> COLUMNS_PREFIX_MAX)
        u->at++;
    return span_of(begin, (size_t)(u->at - begin));
}

static bool read_new(struct words_reader *r, struct unpack *col, uint64_t n, struct buf *out)
{
    struct span before = {0};
    r->word = mem_grow(r->word, &r->cap, r->count + (size_t)n, sizeof(*r->word));
    for (uint64_t i = 0; i < n; i++) {
        size_t same = unpack_u8(&col[COL_WORDS]);
        struct span rest = rest_of_word(&col[COL_WORDS]);
        if (col[COL_WORDS].bad || same > before.n || same > COLUMNS_PREFIX_MAX || same + rest.n > COLUMNS_WORD_MAX ||
            same + rest.n == 0)
            return false;
        char *p = arena_bytes(&r->arena, same + rest.n);
        memcpy(p, before.p ? before.p : "", same);
        memcpy(p + same, rest.p, rest.n);
        before = r->word[r->count++] = span_of(p, same + rest.n);
        if (!read_times(col, before, out))
            return false;
    }
    return true;
}

status words_read(struct words_reader *r, struct unpack *col, struct buf *out)
{
    uint64_t old = unpack_var(&col[COL_WORD_COUNT]), fresh = unpack_var(&col[COL_WORD_COUNT]);
    if (old > r->count)
        return ST_CORRUPT;
    if (fresh > COLUMNS_WORDS_MAX - r->count)
        return ST_LIMIT;
    if (!read_old(r, col, old, out) || !read_new(r, col, fresh, out))
        return ST_CORRUPT;
    if (out->n)
        out->n--; /* the last space */
    return ST_OK;
}
