/* The first line is a pattern, the rest a text. The answer must be that of a table filled cell by cell. */
#include <stdlib.h>

#include "codec/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATTERN_MAX 200
#define TEXT_MAX 200

/* can[t]: the pattern so far matches the first t bytes of the text. */
static bool twin(struct span p, struct span t)
{
    bool can[TEXT_MAX + 1] = {true};
    for (size_t i = 0; i < p.n; i++) {
        bool is_any = p.p[i] == '?', is_star = p.p[i] == '*';
        if (p.p[i] == '\\' && i + 1 < p.n)
            i++;
        if (is_star) {
            for (size_t k = 1; k <= t.n; k++)
                can[k] = can[k] || can[k - 1];
            continue;
        }
        for (size_t k = t.n; k > 0; k--)
            can[k] = can[k - 1] && (is_any || p.p[i] == t.p[k - 1]);
        can[0] = false;
    }
    return can[t.n];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span in = span_of(data, size);
    size_t end = span_find(in, '\n', 0);
    struct span pattern = span_cut(in, 0, end), text = span_from(in, end + 1);
    bool found = glob_match(pattern, text);
    if (found && !glob_match_nocase(pattern, text))
        abort();
    if (pattern.n <= PATTERN_MAX && text.n <= TEXT_MAX && found != twin(pattern, text))
        abort();
    return 0;
}
