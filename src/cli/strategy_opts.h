/* strategy_opts.h - the options that say how networks find their agents: the same for `orb coordinator`, which does it,
 * and `orb sim`, which plays it. */
#pragma once

#include "cli/options.h"
#include "plan/balance.h"
#include "plan/calibrate.h"
#include "plan/delegate.h"

struct strategy_opts {
    delegate_strategy strategy;
    double threshold_ms, cost_ms; /* cost 0: the strategy's own */
    delegate_same_holder same_holder;
    struct calibrate_opts calibrate;
    balance_rule balance;
    bool no_balance;
};
/* Complains by itself; `what` is the command's name. */
int strategy_opts_read(const struct options *o, const char *what, struct strategy_opts *out);

/* The number of an option that is a text; *out stays when it was not given. Complains by itself. */
int take_real(const struct options *o, const char *what, opt_id id, double min, double max, double *out);
