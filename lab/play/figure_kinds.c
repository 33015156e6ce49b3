#include "lab/play/figure_kinds.h"

#include <math.h>

const struct figure_kind figure_kinds[] = {
    {"crawl_s", "Time to crawl", "s", 1, 1, NULL, "From the order to crawl to the last page."},
    {"site_s", "Time to a site's last page", "s", 1, 1, NULL,
     "Mean over sites: from the order to crawl to the last page."},
    {"rtt_ms", "Round trip", "ms", 1, 1, "sim_rtt_ms", "Of sites to their agents, in the mean; pale: the simulator."},
    {"probes", "Probes a site", "", 2, 1, "sim_probes", "Ordered to decide whose a network is; pale: the simulator."},
    {"near", "Near sites", "%", 1, 1, "sim_near", "Within 5 ms of the nearest agent; pale: the simulator."},
    {"nearest", "At the nearest agent", "%", 1, 1, "sim_nearest", NULL},
    {"carried", "Bytes x distance", "MB x ms", 1, 1, NULL, "Bytes of bodies x round trip of asker and site."},
    {"in_flight", "Requests in flight", "", 2, 1, NULL, "Under way at a time, in the mean."},
    {"request_ms", "A request", "ms", 1, 1, NULL, NULL},
    {"bytes_engine", "Bytes at the search engine", "MB", 2, 1e6, NULL, "That came to and left hq, packets whole."},
    {"bytes_engine_over_fetched", "Engine's bytes by fetched", "", 3, 1, NULL, NULL},
    {"bytes_packages_over_fetched", "Packages by fetched", "", 3, 1, NULL, NULL},
    {"bytes_fetched", "Fetched", "MB", 2, 1e6, NULL, NULL},
    {"probes_first50", "Probes, first 50", "", 2, 1, NULL, NULL},
    {"probes_last50", "Probes, last 50", "", 2, 1, "sim_probes_last50", NULL},
    {"probes_trend", "Probes, trend per 1,000", "", 2, 1, NULL, NULL},
    {"sim_rtt_ms", "Round trip, simulator", "ms", 1, 1, NULL, NULL},
    {"sim_probes", "Probes, simulator", "", 2, 1, NULL, NULL},
    {"rtt_over_sim", "Round trip by simulator's", "", 3, 1, NULL, NULL},
    {"probes_over_sim", "Probes by simulator's", "", 3, 1, NULL, NULL},
    {"rtt_over_optimum", "Round trip by optimum", "", 3, 1, NULL, NULL},
    {"agents_used", "Agents used", "", 0, 1, NULL, NULL},
    {"load_most", "Most loaded agent", "%", 1, 1, NULL, "Share of the pages of the agent that fetched most."},
    {"moves", "Moves", "", 0, 1, NULL, NULL},
    {"site_p95_s", "Site's last page, 95 %", "s", 1, 1, NULL, NULL},
    {"pages", "Pages", "", 0, 1, NULL, NULL},
    {"lost", "Lost", "", 0, 1, NULL, NULL},
    {"again", "Again", "", 0, 1, NULL, NULL},
    {"forbidden", "Forbidden", "", 0, 1, NULL, NULL},
    {"impolite", "Impolite", "", 0, 1, NULL, NULL},
    {"gap_ms", "Least pause", "ms", 0, 1, NULL, NULL},
    {"late_p99_ms", "Router late, 99 %", "ms", 2, 1, NULL, NULL},
    /* shown only where somebody asks for them */
    {"bytes_sent", "Sent by agents", "MB", 2, 1e6, NULL, NULL},
    {"bytes_packages", "Packages", "MB", 2, 1e6, NULL, NULL},
    {"wanted", "Wanted", "", 0, 1, NULL, NULL},
    {"kept", "Kept", "", 0, 1, NULL, NULL},
    {"requests", "Requests", "", 0, 1, NULL, NULL},
    {"limited", "Limited", "", 0, 1, NULL, NULL},
    {"errors", "Errors", "", 0, 1, NULL, NULL},
    {"site_p50_s", "Site's last page, median", "s", 1, 1, NULL, NULL},
    {"sites", "Sites", "", 0, 1, NULL, NULL},
    {"placed", "Placed", "", 0, 1, NULL, NULL},
    {"networks", "Networks", "", 0, 1, NULL, NULL},
    {"best_rtt_ms", "Round trip, nearest", "ms", 1, 1, NULL, NULL},
    {"late_max_ms", "Router late, most", "ms", 2, 1, NULL, NULL},
    {"dropped", "Dropped", "", 0, 1, NULL, NULL},
};
const size_t figure_kind_count = sizeof(figure_kinds) / sizeof(*figure_kinds);

const struct figure_kind *figure_kind_of(struct span name)
{
    for (size_t i = 0; i < figure_kind_count; i++)
        if (span_is(name, figure_kinds[i].name))
            return &figure_kinds[i];
    return NULL;
}

void figure_put(struct buf *out, const struct figure_kind *kind, double v)
{
    if (!isfinite(v))
        buf_puts(out, "-");
    else if (kind)
        buf_printf(out, "%.*f", kind->decimals, v / kind->by);
    else if (v == floor(v) && fabs(v) < 1e9)
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, fabs(v) < 10 ? "%.2f" : "%.1f", v);
}

bool figure_differs(const struct figure_kind *kind, double a, double b)
{
    struct buf x = {0}, y = {0};
    figure_put(&x, kind, a);
    figure_put(&y, kind, b);
    bool is_other = !span_eq(buf_span(&x), buf_span(&y));
    buf_done(&x);
    buf_done(&y);
    return is_other;
}
