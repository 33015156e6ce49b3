/* loop_uv.h - the libuv loop inside a struct loop, for the modules of src/io that wait for sockets themselves. */
#pragma once

#include <uv.h>

#include "io/loop.h"

uv_loop_t *loop_uv(struct loop *l); /* borrowed */
