/* records.h - what records.c takes from its other half; for src/coord/records*.c only. */
#pragma once

#include "base/span.h"
#include "base/status.h"

/* As store/fleet.h calls them; arg is the coordinator. */
status load_host(void *arg, struct span key, struct span packed);
status load_network(void *arg, struct span key, struct span packed);
