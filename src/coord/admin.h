/* admin.h - the coordinator's side for people: login, dashboard and JSON API, on a server of its own (--admin-listen).
 *
 * People log in with a password (Argon2id; session cookie, SameSite, a CSRF token in every form) and have a role:
 * viewer, operator, admin. Programs on the same machine show the token in coord/admin.token (0600), which is new at
 * every start: so the CLI needs no password. docs/formats/admin.md has the addresses. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

struct admin;
struct c_agent;
struct coord;

MUST_USE status admin_new(struct coord *c, struct admin **out, struct buf *why);
void admin_free(struct admin *a); /* NULL is fine */
int admin_port(const struct admin *a);
void admin_tick(struct admin *a, mono_ms now); /* some times a second: samples for charts, sessions that are over */
/* See coord_admin_link. */
bool admin_link(struct admin *a, struct buf *out);
/* Programs that are for every agent: a new one gets them too. coord.lock held. */
void programs_greet(struct coord *c, struct c_agent *a);
