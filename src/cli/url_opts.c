#include "cli/url_opts.h"

struct url_norm url_norm_from(const struct options *o, struct arena *a)
{
    size_t given, kept = opt_flag(o, OPT_KEEP_PARAMS) ? 0 : url_norm_default.drop_param_count;
    const struct span *list = opt_list(o, OPT_DROP_PARAM, &given);
    struct url_norm norm = url_norm_default;
    struct span *all = arena_alloc(a, (kept + given + 1) * sizeof(*all));
    for (size_t i = 0; i < kept; i++)
        all[i] = url_norm_default.drop_params[i];
    for (size_t i = 0; i < given; i++)
        all[kept + i] = list[i];
    norm.drop_params = all;
    norm.drop_param_count = kept + given;
    return norm;
}
