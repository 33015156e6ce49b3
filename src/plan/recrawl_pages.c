#include "plan/recrawl_pages.h"

#include <math.h>

#include "plan/recrawl.h"

static double or_one(double v)
{
    return v > 0 ? v : 1;
}

double recrawl_page_value(const struct recrawl_page *page, const struct change_prior *p)
{
    double rate = change_rate_mean(&page->rate, p), worth = or_one(page->weight) / (rate * or_one(page->cost));
    if (page->age < 0)
        return INFINITY;
    double x = rate * page->age, late = x / RECRAWL_PATIENCE;
    return worth * (page->is_told ? 1 : recrawl_growth(x)) * (1 + late * late);
}
