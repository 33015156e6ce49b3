#include "base/status.h"

static const char *const names[ST_MAX] = {
    [ST_OK] = "ok",
    [ST_AGAIN] = "again",
    [ST_END] = "end",
    [ST_NOT_FOUND] = "not found",
    [ST_INVALID] = "invalid",
    [ST_LIMIT] = "over a limit",
    [ST_REFUSED] = "refused",
    [ST_UNSUPPORTED] = "unsupported",
    [ST_EXISTS] = "exists",
    [ST_BUSY] = "busy",
    [ST_CORRUPT] = "corrupt",
    [ST_NEWER] = "written by a newer version",
    [ST_IO] = "input/output error",
    [ST_FULL] = "no space left",
    [ST_DNS] = "no such host",
    [ST_CONNECT] = "connection failed",
    [ST_TLS] = "bad certificate",
    [ST_TIMEOUT] = "timeout",
    [ST_PROTOCOL] = "protocol error",
    [ST_CANCELLED] = "cancelled",
};

const char *status_name(status st)
{
    return (unsigned)st < ST_MAX ? names[st] : "unknown";
}
