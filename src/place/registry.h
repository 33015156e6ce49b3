/* registry.h - address registries' files, any of them, pushed in piece by piece: ranges and holders out.
 *
 * Knows RIR delegated and delegated-extended statistics, RPSL objects (inetnum, inet6num, organisation, and the "net:"
 * form of location databases), the IANA /8 table (CSV with quoted line ends), and plain "prefix<TAB>country<TAB>holder"
 * with or without a head line. Which one it is, is told from the first lines. Lines that cannot be understood are
 * counted and told, never fatal. Pure; one thread; memory bounded by REGISTRY_OBJECT_MAX. */
#pragma once

#include "place/hierarchy.h"

#define REGISTRY_OBJECT_MAX (256u << 10) /* bytes of one RPSL object or one line */
#define REGISTRY_HOLDER_MAX 256          /* longer names are cut */

struct registry_record {
    struct addr first, last;
    char country[3]; /* upper case; "" when not known */
    registry_name registry;
    registry_status state;
    struct span holder; /* a name, an opaque id, "ASn", or empty; lives until the callback returns */
    bool is_holder_ref; /* it names an organisation object (RPSL org:) */
    bool is_opaque;     /* it is an id of the registry's own: it tells who is the same, not who it is */
};

struct registry_sink {
    void (*range)(void *self, const struct registry_record *r);
    /* An organisation object: what a reference stands for. */
    void (*organisation)(void *self, struct span id, struct span name);
    /* A line that was skipped; the first is 1. */
    void (*bad)(void *self, uint64_t line, const char *why);
    void *self; /* borrowed */
};

struct registry_reader;
struct registry_reader *registry_reader_new(const struct registry_sink *sink);
void registry_reader_free(struct registry_reader *r); /* NULL is fine */
void registry_reader_feed(struct registry_reader *r, struct span piece);
/* The rest. ST_UNSUPPORTED: no line of it looked like any of the formats. */
MUST_USE status registry_reader_end(struct registry_reader *r);
/* What a statistics file says it is: the serial number in its first line, often a date; "" of others. */
struct span registry_reader_serial(const struct registry_reader *r);
const char *registry_reader_format(const struct registry_reader *r); /* "rir-extended", ...; "" while not known */
