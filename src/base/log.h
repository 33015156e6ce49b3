/* log.h - formats log lines; where they go and what time it is are the sink's business.
 *
 * A line reads `level module: sentence key=value`. Text from outside goes through %s only after
 * log_escape, so that a terminal or a log reader sees no control bytes. A NULL log swallows everything. */
#pragma once

#include "base/buf.h"
#include "base/span.h"

typedef enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG } log_level;

struct log {
    log_level level;                                             /* lines above it are not formatted */
    void (*sink)(void *self, log_level level, struct span line); /* any thread; must lock for itself */
    void *self;                                                  /* borrowed */
};

const char *log_level_name(log_level level);
/* False when `name` is none of error, warn, info, debug. */
bool log_level_parse(struct span name, log_level *out);

void log_write(const struct log *log, log_level level, const char *module, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Appends `s` with control bytes and invalid UTF-8 as \xNN, cut at `max` bytes of input. For logs and terminals. */
void log_escape(struct buf *out, struct span s, size_t max);
