/* json.h - writes JSON text, valid whatever goes in.
 *
 *     json_open(&j, '{'); json_key(&j, "pages"); json_u64(&j, 3); json_close(&j, '}');   gives {"pages":3}
 *
 * Text that is not UTF-8 becomes U+FFFD where it is not. Appends to a buffer of the caller's. Pure; any thread. */
#pragma once

#include "base/buf.h"

struct json {
    struct buf *out; /* borrowed */
    bool needs_comma;
};

void json_open(struct json *j, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);
void json_key(struct json *j, const char *name);
void json_text(struct json *j, struct span s);
void json_text_or_null(struct json *j, struct span s); /* null when empty */
void json_str(struct json *j, const char *s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_real(struct json *j, double v, int decimals); /* null when not finite */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_raw(struct json *j, struct span s); /* JSON text made elsewhere */

/* The number under `key` in a flat object that a program of ours wrote; 0 when it is not there. */
uint64_t json_peek_u64(struct span object, const char *key);
