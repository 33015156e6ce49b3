/* echo.h - a small TCP server in every namespace of a lab, for measuring: takes connections, and answers each request
 * that ends with an empty line with a page of the size of an error message. A thread of its own. */
#pragma once

#include "base/status.h"
#include "lab/router.h"

#define ECHO_PORT 80

struct echo;
/* Listens on every address of each of the nodes. */
MUST_USE status echo_new(const struct router *r, size_t nodes, struct echo **out);
void echo_free(struct echo *e); /* NULL is fine */
