#include "cli/strategy_opts.h"

#include "cli/command.h"
#include "sim/tsv.h"

#define MS_MIN 0.001 /* 0 would be the strategy's own default */
#define MS_MAX 10000

int take_real(const struct options *o, const char *what, opt_id id, double min, double max, double *out)
{
    double v;
    if (!opt_is_set(o, id))
        return EXIT_DONE;
    if (!text_real(opt_text(o, id), &v) || v < min || v > max)
        return complain(EXIT_USAGE, "%s: --%s: \"%s\" is not a number from %g to %g", what, option_table[id].name,
                        opt_cstr(o, id) ? opt_cstr(o, id) : "", min, max);
    *out = v;
    return EXIT_DONE;
}

int strategy_opts_read(const struct options *o, const char *what, struct strategy_opts *out)
{
    struct strategy_opts s = {.no_balance = opt_is(o, OPT_BALANCE, "off"), .balance = BALANCE_GAIN};
    int code = take_real(o, what, OPT_THRESHOLD, MS_MIN, MS_MAX, &s.threshold_ms);
    if (code == EXIT_DONE)
        code = take_real(o, what, OPT_COST, MS_MIN, MS_MAX, &s.cost_ms);
    if (code == EXIT_DONE)
        code = take_real(o, what, OPT_CALIBRATION_FACTOR, 1.05, 100, &s.calibrate.factor);
    bool is_sim = opt_is_set(o, OPT_SIM_STRATEGY);
    if (code == EXIT_DONE && is_sim && !delegate_strategy_parse(opt_text(o, OPT_SIM_STRATEGY), &s.strategy))
        return complain(EXIT_USAGE, "%s: --strategy %s is one of orb sim recrawl", what, opt_cstr(o, OPT_SIM_STRATEGY));
    /* The option table has the names; they parse. */
    bool is_good = (is_sim || delegate_strategy_parse(opt_text(o, OPT_STRATEGY), &s.strategy)) &&
                   delegate_same_holder_parse(opt_text(o, OPT_SAME_HOLDER), &s.same_holder) &&
                   calibrate_rule_parse(opt_text(o, OPT_CALIBRATION), &s.calibrate.rule) &&
                   (s.no_balance || balance_rule_parse(opt_text(o, OPT_BALANCE), &s.balance));
    if (code == EXIT_DONE && !is_good)
        code = complain(EXIT_INTERNAL, "%s: an option has a name that nobody knows", what);
    if (code == EXIT_DONE)
        *out = s;
    return code;
}
