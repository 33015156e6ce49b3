#include "wire/control.h"

#include "wire/message.h"

/* Each message as its table: tag, type, where. Tags are for ever; a new field takes the next number, and a field that
 * goes leaves a hole. docs/formats/wire.md lists them with their meaning. */
#define AT(member) offsetof(struct THIS, member)
#define U64(tag, member)                   \
    {                                      \
        tag, MESSAGE_U64, .at = AT(member) \
    }
#define I64(tag, member)                   \
    {                                      \
        tag, MESSAGE_I64, .at = AT(member) \
    }
#define U32(tag, member)                   \
    {                                      \
        tag, MESSAGE_U32, .at = AT(member) \
    }
#define U16(tag, member)                   \
    {                                      \
        tag, MESSAGE_U16, .at = AT(member) \
    }
#define BOOL(tag, member)                   \
    {                                       \
        tag, MESSAGE_BOOL, .at = AT(member) \
    }
#define TEXT(tag, member)                   \
    {                                       \
        tag, MESSAGE_TEXT, .at = AT(member) \
    }
#define TEXTS(tag, member, count)                                   \
    {                                                               \
        tag, MESSAGE_TEXTS, .at = AT(member), .count_at = AT(count) \
    }
#define U64S(tag, member, count)                                   \
    {                                                              \
        tag, MESSAGE_U64S, .at = AT(member), .count_at = AT(count) \
    }
#define ENUM(tag, member, most)                            \
    {                                                      \
        tag, MESSAGE_ENUM, .at = AT(member), .max = (most) \
    }
#define PART(tag, member, has, message)                                            \
    {                                                                              \
        tag, MESSAGE_PART, .at = AT(member), .count_at = AT(has), .of = &(message) \
    }
#define PARTS(tag, member, count, message)                                            \
    {                                                                                 \
        tag, MESSAGE_PARTS, .at = AT(member), .count_at = AT(count), .of = &(message) \
    }
#define MESSAGE(name, list) \
    static const struct message name = {list, sizeof(list) / sizeof(list[0]), sizeof(struct THIS), CONTROL_LIST_MAX}

#define PROBE_KIND_MAX 3

/* ---- orders ---- */

#define THIS order
static const struct message_field order_fields[] = {
    U64(1, number),
    /* Kinds that we do not know are kept: the agent reports them as not understood. */
    {2, MESSAGE_ENUM, .at = AT(kind), .max = INT32_MAX},
    TEXT(3, body),
};
MESSAGE(order_message, order_fields);
#undef THIS

#define THIS agent_settings
static const struct message_field settings_fields[] = {
    {1, MESSAGE_ENUM, .at = AT(state), .max = AGENT_DRAIN, .unknown = AGENT_PAUSE},
    TEXT(2, hours),
    U64(3, bytes_a_day),
    U64(4, bytes_per_s),
    U64(5, memory_bytes),
    U64(6, disk_bytes),
    BOOL(7, idle_only),
    U32(8, tasks_max),
    U64(9, package_bytes),
    I64(10, package_age_ms),
    I64(11, poll_ms),
};
MESSAGE(settings_message, settings_fields);
#undef THIS

#define THIS task_order
static const struct message_field task_fields[] = {
    U64(1, task),
    TEXT(2, channel),
    ENUM(3, kind, SUMMARY_KEYWORDS),
    BOOL(4, wants_warc),
    U64(5, expected_pages),
    TEXT(6, program),
    U64(7, states),
    TEXTS(8, networks, network_count),
    TEXTS(9, hosts, host_count),
    TEXTS(10, seeds, seed_count),
    U64S(11, known_links, known_link_count),
    TEXTS(12, hosts_state, hosts_state_count),
    TEXTS(13, countries, country_count),
    TEXTS(14, others, other_count),
};
MESSAGE(task_message, task_fields);
#undef THIS

#define THIS end_order
static const struct message_field end_fields[] = {U64(1, task), TEXTS(2, networks, network_count)};
MESSAGE(end_message, end_fields);
#undef THIS

#define THIS recheck_order
static const struct message_field recheck_fields[] = {U64(1, task), U64(2, pages_max), I64(3, older_than),
                                                      BOOL(4, is_whole), U64(5, visit)};
MESSAGE(recheck_message, recheck_fields);
#undef THIS

#define THIS refuse_order
static const struct message_field refuse_fields[] = {BOOL(1, is_first), TEXT(2, places)};
MESSAGE(refuse_message, refuse_fields);
#undef THIS

#define THIS told_order
static const struct message_field told_fields[] = {U64(1, task), I64(2, at), TEXT(3, urls)};
MESSAGE(told_message, told_fields);
#undef THIS

#define THIS fetch_order
static const struct message_field fetch_fields[] = {TEXTS(1, urls, url_count)};
MESSAGE(fetch_message, fetch_fields);
#undef THIS

#define THIS program_order
static const struct message_field program_fields[] = {TEXT(1, name), U64(2, serial), BOOL(3, is_removed),
                                                      TEXT(4, bytes)};
MESSAGE(program_message, program_fields);
#undef THIS

#define THIS update_order
static const struct message_field update_fields[] = {TEXT(1, version), TEXT(2, digest), U64(3, bytes), TEXT(4, sig),
                                                     TEXT(5, machine)};
MESSAGE(update_message, update_fields);
#undef THIS

#define THIS identity_order
static const struct message_field identity_fields[] = {TEXT(1, identity), TEXT(2, sig)};
MESSAGE(identity_message, identity_fields);
#undef THIS

#define THIS probe_ask
static const struct message_field probe_ask_fields[] = {
    U64(1, id), TEXT(2, url), TEXT(3, address), U16(4, port), ENUM(5, kind, PROBE_KIND_MAX), U32(6, samples),
};
MESSAGE(probe_ask_message, probe_ask_fields);
#undef THIS

#define THIS probe_order
static const struct message_field probe_fields[] = {PARTS(1, probes, probe_count, probe_ask_message)};
MESSAGE(probe_message, probe_fields);
#undef THIS

/* ---- reports ---- */

#define THIS outcome
static const struct message_field outcome_fields[] = {
    U64(1, number),
    {2, MESSAGE_ENUM, .at = AT(st), .max = ST_MAX - 1, .unknown = ST_PROTOCOL},
    TEXT(3, why),
    TEXTS(4, parts, part_count),
};
MESSAGE(outcome_message, outcome_fields);
#undef THIS

#define THIS fetched_page
static const struct message_field fetched_fields[] = {TEXT(1, url),   U16(2, http_status), U64(3, digest),
                                                      U64(4, sketch), TEXT(5, address),    U64(6, words_sketch),
                                                      TEXT(7, text)};
MESSAGE(fetched_message, fetched_fields);
#undef THIS

#define THIS visit_report
static const struct message_field visit_fields[] = {
    U64(1, number), U64(2, looked),  U64(3, changed),    U64(4, added), U64(5, gone),
    U64(6, failed), I64(7, took_ms), I64(8, changed_at), U64(9, told),
};
MESSAGE(visit_message, visit_fields);
#undef THIS

#define THIS task_report
static const struct message_field task_report_fields[] = {
    U64(1, task),
    ENUM(2, state, TASK_ENDED),
    U64(3, queued),
    U64(4, fetched),
    U64(5, unchanged),
    U64(6, errors),
    U64(7, gone),
    U64(8, bytes),
    PART(9, visit, has_visit, visit_message),
};
MESSAGE(task_report_message, task_report_fields);
#undef THIS

#define THIS stray_host
static const struct message_field stray_fields[] = {U64(1, task), TEXT(2, host), TEXT(3, address)};
MESSAGE(stray_message, stray_fields);
#undef THIS

#define THIS network_timing
static const struct message_field timing_fields[] = {
    TEXT(1, network),         U64(2, requests),        U32(3, rtt_min_us), U32(4, rtt_median_us),
    U32(5, server_median_us), U32(6, total_median_us), U64(7, bytes),
};
MESSAGE(timing_message, timing_fields);
#undef THIS

#define THIS program_report
static const struct message_field program_report_fields[] = {
    TEXT(1, name), U64(2, serial), U64(3, pages), U64(4, errors), BOOL(5, is_fallback), TEXT(6, last_error),
};
MESSAGE(program_report_message, program_report_fields);
#undef THIS

#define THIS error_count
static const struct message_field error_fields[] = {
    {1, MESSAGE_ENUM, .at = AT(kind), .max = ERROR_KINDS - 1, .unknown = ERROR_OTHER},
    U64(2, count),
};
MESSAGE(error_message, error_fields);
#undef THIS

#define THIS probe_report
static const struct message_field probe_report_fields[] = {
    U64(1, id),
    {2, MESSAGE_ENUM, .at = AT(st), .max = ST_MAX - 1, .unknown = ST_PROTOCOL},
    ENUM(3, kind, PROBE_KIND_MAX),
    TEXT(4, address),
    U32(5, samples),
    U32(6, lost),
    U32(7, min_us),
    U32(8, median_us),
    U32(9, server_us),
};
MESSAGE(probe_report_message, probe_report_fields);
#undef THIS

#define THIS agent_setup
static const struct message_field setup_fields[] = {
    U32(1, cores),
    U64(2, memory_bytes),
    U64(3, disk_bytes),
    U64(4, bandwidth_bytes_per_s),
    TEXT(5, system),
    TEXT(6, machine),
    TEXT(7, zone),
    TEXT(8, place),
    TEXT(9, address),
    TEXTS(10, own_sites, own_site_count),
    TEXTS(11, refused_countries, refused_country_count),
};
MESSAGE(setup_message, setup_fields);
#undef THIS

#define THIS report
static const struct message_field report_fields[] = {
    U16(1, wire_version),
    TEXT(2, version),
    U64(3, boot),
    U64(4, orders_done),
    ENUM(5, activity, ACTIVITY_DRAINED),
    U64(6, sequence),
    U64(7, spool_packages),
    U64(8, spool_bytes),
    U64(9, requests),
    U64(10, pages),
    U64(11, bytes_crawled),
    U64(12, bytes_sent),
    U64(13, errors),
    U64(14, queue),
    U64(15, hosts_waiting),
    U64(16, memory_bytes),
    U64(17, disk_free_bytes),
    I64(18, uptime_ms),
    PART(19, setup, has_setup, setup_message),
    PARTS(20, outcomes, outcome_count, outcome_message),
    PARTS(21, tasks, task_count, task_report_message),
    PARTS(22, strays, stray_count, stray_message),
    PARTS(23, timings, timing_count, timing_message),
    PARTS(24, programs, program_count, program_report_message),
    TEXTS(25, refused, refused_count),
    PARTS(26, errors_by_kind, error_kind_count, error_message),
    PARTS(27, probes, probe_count, probe_report_message),
    U32(28, tasks_max),
    U32(29, tasks_busy),
    U64(30, orders_taken),
};
MESSAGE(report_message, report_fields);
#undef THIS

#define THIS poll_answer
static const struct message_field poll_fields[] = {
    I64(1, lease_ms),
    U64(2, have),
    BOOL(3, wants_setup),
    PARTS(4, orders, order_count, order_message),
};
static const struct message poll_message = {poll_fields, 4, sizeof(struct poll_answer), CONTROL_ORDERS_MAX};
#undef THIS

/* ---- kinds of errors ---- */

const char *error_kind_name(error_kind k)
{
    static const char *const names[ERROR_KINDS] = {
        [ERROR_OTHER] = "other",       [ERROR_DNS] = "dns",           [ERROR_CONNECT] = "connect",
        [ERROR_TLS] = "tls",           [ERROR_TIMEOUT] = "timeout",   [ERROR_PROTOCOL] = "protocol",
        [ERROR_LIMIT] = "limit",       [ERROR_REFUSED] = "refused",   [ERROR_INVALID] = "invalid",
        [ERROR_HTTP_4XX] = "http_4xx", [ERROR_HTTP_5XX] = "http_5xx", [ERROR_GONE] = "gone",
        [ERROR_ROBOTS] = "robots",
    };
    return (unsigned)k < ERROR_KINDS ? names[k] : names[ERROR_OTHER];
}

bool error_kind_is_counted(error_kind k)
{
    return k != ERROR_GONE && k != ERROR_ROBOTS;
}

error_kind error_kind_of_status(status st)
{
    switch (st) {
    case ST_DNS:
        return ERROR_DNS;
    case ST_CONNECT:
        return ERROR_CONNECT;
    case ST_TLS:
        return ERROR_TLS;
    case ST_TIMEOUT:
        return ERROR_TIMEOUT;
    case ST_PROTOCOL:
        return ERROR_PROTOCOL;
    case ST_LIMIT:
        return ERROR_LIMIT;
    case ST_REFUSED:
        return ERROR_REFUSED;
    case ST_INVALID:
        return ERROR_INVALID;
    default:
        return ERROR_OTHER;
    }
}

/* ---- the functions: all alike ---- */

#define PACK(type, table)                                     \
    void type##_pack(const struct type *from, struct buf *to) \
    {                                                         \
        message_pack(&(table), from, to);                     \
    }
#define FLAT(type, table)                                     \
    PACK(type, table)                                         \
    status type##_unpack(struct span packed, struct type *to) \
    {                                                         \
        return message_unpack(&(table), NULL, packed, to);    \
    }
#define WITH_LISTS(type, table)                                                \
    PACK(type, table)                                                          \
    status type##_unpack(struct arena *a, struct span packed, struct type *to) \
    {                                                                          \
        return message_unpack(&(table), a, packed, to);                        \
    }

FLAT(order, order_message)
FLAT(agent_settings, settings_message)
WITH_LISTS(task_order, task_message)
WITH_LISTS(end_order, end_message)
FLAT(recheck_order, recheck_message)
FLAT(refuse_order, refuse_message)
FLAT(told_order, told_message)
WITH_LISTS(fetch_order, fetch_message)
FLAT(program_order, program_message)
FLAT(update_order, update_message)
FLAT(identity_order, identity_message)
WITH_LISTS(probe_order, probe_message)
FLAT(fetched_page, fetched_message)
FLAT(visit_report, visit_message)
WITH_LISTS(report, report_message)
WITH_LISTS(poll_answer, poll_message)
