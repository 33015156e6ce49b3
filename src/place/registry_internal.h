/* registry_internal.h - the reader of registry files, split by format: one file each. */
#pragma once

#include "base/buf.h"
#include "place/registry.h"

typedef enum registry_format {
    FORMAT_UNKNOWN, /* so far */
    FORMAT_RIR,
    FORMAT_RIR_EXTENDED,
    FORMAT_RPSL,
    FORMAT_PLAIN,
    FORMAT_CSV,
    FORMAT_NONE, /* given up */
} registry_format;

/* An attribute of an RPSL object that we keep. */
typedef enum rpsl_field {
    RPSL_RANGE, /* of inetnum, inet6num, net; the id of an organisation */
    RPSL_COUNTRY,
    RPSL_STATUS,
    RPSL_SOURCE,
    RPSL_ORG,
    RPSL_ORG_NAME,
    RPSL_OWNER,
    RPSL_DESCR,
    RPSL_NETNAME,
    RPSL_AUT_NUM,
    RPSL_FIELDS,
    RPSL_NO_FIELD = RPSL_FIELDS
} rpsl_field;

typedef enum rpsl_class { RPSL_OUTSIDE, RPSL_NETWORK, RPSL_ORGANISATION, RPSL_OTHER } rpsl_class;

struct registry_reader {
    struct registry_sink sink;
    registry_format format;
    uint64_t line;      /* of the line at hand; the first is 1 */
    struct buf partial; /* a line whose end has not come yet */
    bool is_skipping;   /* the rest of a line that is too long */
    unsigned strange;   /* lines that looked like nothing we know, while the format is not known */
    bool has_head;      /* plain, csv: a line of names was there, or can no longer come */
    struct buf latin;   /* text that was not UTF-8, made so */
    char serial[24];
    /* RPSL: the object at hand */
    rpsl_class object;
    uint64_t object_line;
    rpsl_field field; /* that a continuation line would go on with */
    struct buf fields[RPSL_FIELDS];
    bool has_field[RPSL_FIELDS];
    /* CSV: a record whose quotes are still open, and which column is what */
    struct buf record;
    uint64_t record_line;
    int column[4];
    registry_name csv_registry;
};

void rir_line(struct registry_reader *r, struct span line);
bool rir_looks_like(struct span line);
void rpsl_line(struct registry_reader *r, struct span line);
void rpsl_end(struct registry_reader *r);
bool rpsl_looks_like(struct span line);
void plain_line(struct registry_reader *r, struct span line);
bool plain_looks_like(struct span line);
void csv_line(struct registry_reader *r, struct span line);
void csv_end(struct registry_reader *r);
bool csv_looks_like(struct span line);

/* ---- what the formats share ---- */

void registry_bad(struct registry_reader *r, uint64_t line, const char *why);
/* Without what is not UTF-8: such text is taken for Latin-1, which the older files are written in. Until the next call.
 */
struct span registry_text(struct registry_reader *r, struct span s);
/* "192.0.2.0/24", "192.0.2/24", "192.0.2.0 - 192.0.2.255", "192.0.2.7", and the same of IPv6. False: none of them. */
bool registry_range(struct span text, struct addr *first, struct addr *last);
/* Two letters, or a letter and a digit; "" for "*", "ZZ" and the like. False: something else. */
bool registry_country(struct span text, char out[3]);
registry_name registry_name_of(struct span text); /* REGISTRY_OTHER when it is none we know */
registry_status registry_status_of(struct span text);
