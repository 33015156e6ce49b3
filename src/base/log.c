#include "base/log.h"

#include "base/utf8.h"

static const char *const names[] = {"error", "warn", "info", "debug"};

const char *log_level_name(log_level level)
{
    return (unsigned)level <= LOG_DEBUG ? names[level] : "unknown";
}

bool log_level_parse(struct span name, log_level *out)
{
    for (unsigned i = 0; i <= LOG_DEBUG; i++)
        if (span_is(name, names[i])) {
            *out = (log_level)i;
            return true;
        }
    return false;
}

void log_write(const struct log *log, log_level level, const char *module, const char *fmt, ...)
{
    if (!log || !log->sink || level > log->level)
        return;
    struct buf b = {0};
    buf_printf(&b, "%s %s: ", log_level_name(level), module);
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    log->sink(log->self, level, buf_span(&b));
    buf_done(&b);
}

void log_escape(struct buf *out, struct span s, size_t max)
{
    if (s.n > max)
        s.n = max;
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        bool valid;
        uint32_t cp = utf8_next(s, &at, &valid);
        /* C0 and C1 controls, and the marks that reorder text on a terminal. */
        bool control =
            cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || (cp >= 0x202A && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069);
        if (valid && !control) {
            buf_put(out, span_cut(s, from, at - from));
            continue;
        }
        for (size_t i = from; i < at; i++)
            buf_printf(out, "\\x%02x", (unsigned char)s.p[i]);
    }
}
