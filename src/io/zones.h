/* zones.h - the time zones of this machine (/usr/share/zoneinfo), read once and kept. Any thread. */
#pragma once

#include "base/status.h"

#include <stdbool.h>

bool zone_is_known(const char *name);
/* Seconds east of UTC; 0 for "" and for zones that are not known. */
int32_t zone_offset_of(const char *name, wall_ms at);
