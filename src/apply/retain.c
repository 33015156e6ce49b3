#include "apply/retain.h"

#define DAY_MS (24ll * 3600 * 1000)

static bool is_past(wall_ms now, wall_ms since, unsigned days)
{
    return days && now - since > days * DAY_MS;
}

bool retain_is_over(const struct retain *r, const struct page *p)
{
    wall_ms since = p->good_at ? p->good_at : p->first_seen;
    return is_past(r->now, since, r->days) || (p->outcome == VISIT_GONE && is_past(r->now, since, r->gone_days));
}
