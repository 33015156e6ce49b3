/* test.h - cmocka with its includes, and checks that carry a label. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/span.h"
#include "base/status.h"

#define CHECK_STATUS(label, got, want)                                                          \
    do {                                                                                        \
        status got_ = (got), want_ = (want);                                                    \
        if (got_ != want_)                                                                      \
            fail_msg("%s: status %s, want %s", (label), status_name(got_), status_name(want_)); \
    } while (0)

#define CHECK_SPAN(label, got, want)                                                               \
    do {                                                                                           \
        struct span got_ = (got), want_ = (want);                                                  \
        if (!span_eq(got_, want_))                                                                 \
            fail_msg("%s: got \"%.*s\", want \"%.*s\"", (label), SPAN_ARG(got_), SPAN_ARG(want_)); \
    } while (0)

#define CHECK(label, claim)                              \
    do {                                                 \
        if (!(claim))                                    \
            fail_msg("%s: not so: %s", (label), #claim); \
    } while (0)

/* The whole file, NUL-terminated; ends the test when it cannot be read. Free p. */
static inline struct span test_read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *p = malloc((size_t)n + 1);
    if (fread(p, 1, (size_t)n, f) != (size_t)n)
        fail_msg("cannot read %s", path);
    p[n] = '\0';
    fclose(f);
    return (struct span){p, (size_t)n};
}
