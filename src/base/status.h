/* status.h - the one result type of the whole program.
 *
 * ST_OK is 0, everything else says what kind of thing went wrong, never where: the caller knows what
 * it was attempting and says so when it reports. Out parameters stay untouched unless ST_OK. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Milliseconds of a clock that never goes back; comparable only within one run of one machine. */
typedef int64_t mono_ms;
/* Milliseconds since 1970 UTC; what is written to disk and shown to people. */
typedef int64_t wall_ms;

#define MONO_NEVER INT64_MAX

typedef enum status {
    ST_OK = 0,
    ST_AGAIN,       /* nothing now; ask again later */
    ST_END,         /* no more of it */
    ST_NOT_FOUND,   /* no such thing */
    ST_INVALID,     /* the input breaks its grammar */
    ST_LIMIT,       /* the input passes a ceiling of ours */
    ST_REFUSED,     /* a rule (scope, robots, address) says no */
    ST_UNSUPPORTED, /* understood, and not ours to handle */
    ST_EXISTS,      /* already there */
    ST_BUSY,        /* somebody else holds it */
    ST_CORRUPT,     /* stored data fails its checks */
    ST_NEWER,       /* stored data was written by a newer version */
    ST_IO,          /* the operating system said no; errno has the reason */
    ST_FULL,        /* no space left on the device */
    ST_DNS,         /* the name does not resolve */
    ST_CONNECT,     /* no connection, or lost before an answer */
    ST_TLS,         /* the certificate or the handshake is bad */
    ST_TIMEOUT,     /* took too long */
    ST_PROTOCOL,    /* the peer does not speak the protocol */
    ST_CANCELLED,   /* we stopped it */
    ST_MAX
} status;

/* Short name of a status for people and for --json, such as "timeout". Never NULL. */
const char *status_name(status st);
