/* calls.h - the agents' side of the coordinator's HTTP server: who calls, what for, and the signed answer. */
#pragma once

#include "coord/state.h"

/* Signs an answer with the coordinator's key: body and status. */
void calls_sign(struct coord *c, const struct caller *caller, struct httpd_answer *ans);
/* What an agent's poll is answered with; lock held. */
void polls_answer(struct coord *c, struct c_agent *a, struct buf *body);

/* The httpd's callbacks for targets below /agent/. */
bool calls_is_ours(struct span target);
bool calls_admit(struct coord *c, const struct httpd_request *req, struct httpd_admission *adm,
                 struct httpd_answer *ans);
void calls_release(struct coord *c, const struct caller *caller);
void calls_handle(struct coord *c, const struct httpd_request *req, struct httpd_answer *ans);
