#include "codec/regex.h"

#include <assert.h>
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

struct regex {
    pcre2_code *code;           /* owned */
    pcre2_match_data *match;    /* owned; reused, hence one thread at a time */
    pcre2_match_context *limit; /* owned */
    bool is_anchored;           /* can match at the start of the text only */
};

status regex_new(struct span pattern, struct regex **out, struct buf *why)
{
    if (pattern.n > REGEX_PATTERN_MAX) {
        if (why)
            buf_printf(why, "pattern longer than %d bytes", REGEX_PATTERN_MAX);
        return ST_LIMIT;
    }
    int err;
    PCRE2_SIZE at;
    /* A copy, which ends with a NUL: PCRE2 10.42 reads the number of "(*LIMIT_MATCH=" behind the end of the pattern. */
    char *copy = mem_str(pattern);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)copy, pattern.n, PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &err, &at, NULL);
    free(copy);
    if (!code) {
        PCRE2_UCHAR text[256];
        if (why && pcre2_get_error_message(err, text, sizeof(text)) > 0)
            buf_printf(why, "%s at offset %zu", (const char *)text, (size_t)at);
        return ST_INVALID;
    }
    struct regex *r = mem_alloc(sizeof(*r));
    r->code = code;
    r->match = pcre2_match_data_create(1, NULL);
    r->limit = pcre2_match_context_create(NULL);
    assert(r->match && r->limit);
    uint32_t options = 0;
    (void)pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options);
    r->is_anchored = options & PCRE2_ANCHORED;
    pcre2_set_depth_limit(r->limit, REGEX_DEPTH_MAX);
    pcre2_set_heap_limit(r->limit, REGEX_HEAP_KIB_MAX);
    *out = r;
    return ST_OK;
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    pcre2_match_context_free(r->limit);
    pcre2_match_data_free(r->match);
    pcre2_code_free(r->code);
    free(r);
}

status regex_find(struct regex *r, struct span text)
{
    if (text.n > REGEX_TEXT_MAX)
        return ST_LIMIT;
    uint64_t starts = r->is_anchored ? 1 : text.n + 1;
    uint64_t steps = REGEX_WORK_MAX / (starts * (text.n + 1));
    pcre2_set_match_limit(r->limit, (uint32_t)(steps < REGEX_STEPS_MAX ? steps : REGEX_STEPS_MAX));
    PCRE2_SPTR p = (PCRE2_SPTR)(text.p ? text.p : "");
    int rc = pcre2_match(r->code, p, text.n, 0, 0, r->match, r->limit);
    if (rc >= 0)
        return ST_OK;
    return rc == PCRE2_ERROR_NOMATCH ? ST_NOT_FOUND : ST_LIMIT;
}
