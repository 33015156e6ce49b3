#include "web/plain_title.h"

#include "base/utf8.h"
#include "web/facts_text.h"

#define LOOK_BYTES (16u << 10)

static bool says_something(struct span line)
{
    for (size_t i = 0; i < line.n; i++)
        if (ascii_is_alpha(line.p[i]) || ascii_is_digit(line.p[i]) || (unsigned char)line.p[i] >= 0x80)
            return true;
    return false;
}

struct span plain_title(struct arena *a, struct span text)
{
    const struct span more = SPAN("\u2026");
    struct span rest = utf8_cut(text, LOOK_BYTES), line, first = {"", 0};
    while (!first.n && span_split(&rest, '\n', &line))
        if (says_something(line))
            first = line;
    struct span title = fold_line(a, first, PLAIN_TITLE_MAX * 2);
    if (title.n <= PLAIN_TITLE_MAX)
        return title;
    title = utf8_cut(title, PLAIN_TITLE_MAX - more.n);
    size_t n = title.n;
    while (n && title.p[n - 1] != ' ')
        n--;
    if (n > PLAIN_TITLE_MAX / 2) /* else a word without end, or a language without blanks */
        title.n = n;
    title = span_trim(title);
    char *out = arena_bytes(a, title.n + more.n);
    memcpy(out, title.p, title.n);
    memcpy(out + title.n, more.p, more.n);
    return span_of(out, title.n + more.n);
}
