/* uploads.h - packages and other bulk between agents and coordinator; on worker threads, without the lock held. */
#pragma once

#include "coord/state.h"

/* A number in the query of a target, and the path before it (calls.c). */
struct span call_path(struct span target);
bool call_number(struct span target, const char *name, uint64_t *out);

void upload_ask(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans);
void upload_piece(struct coord *c, uint64_t agent, struct span target, struct span piece, struct httpd_answer *ans);
void upload_states(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans);
void upload_blob(struct coord *c, uint64_t agent, struct span target, struct httpd_answer *ans);
