/* chart.h - charts as SVG inside a page, made without scripts: bars, and lines over an axis.
 *
 * Colours are classes (s1 .. s8, and the names below) that the page's style sheet knows, so that a chart follows light
 * and dark. Texts are escaped here. Pure; appends. Used by the lab too. */
#pragma once

#include "base/buf.h"

#define CHART_SERIES_MAX 8

/* The style sheet of such pages: ui/report.css, part of the program. */
struct span report_style(void);

/* Escaped for text and for quoted attributes. */
void chart_text(struct buf *out, struct span s);

struct chart_bar {
    const char *label;
    double value;
    const char *note; /* written at the end of the bar; NULL: nothing */
    unsigned colour;  /* 1 .. CHART_SERIES_MAX */
    double low, high; /* least and most of what the value is the mean of; drawn when they differ */
    bool is_pale;     /* a counterpart of the bar before */
};
/* Horizontal bars from 0, one below the other. */
void chart_bars(struct buf *out, const char *name, const struct chart_bar *bars, size_t n);

struct chart_series {
    const char *label;
    const double *x, *y;
    size_t n;
    unsigned colour;
    bool has_line, has_dots, is_dashed;
    const char *const *notes; /* of each point, beside it; NULL: none */
};
/* Something that happened: an upright line at x. */
struct chart_mark {
    double x;
    const char *label;
};
struct chart_axis {
    const char *title;
    double min, max; /* both 0: as the values are */
    bool from_zero;
    const char *unit;               /* behind each number; NULL: nothing */
    const struct chart_mark *marks; /* of the x axis */
    size_t mark_count;
};
void chart_lines(struct buf *out, const char *name, const struct chart_axis *x, const struct chart_axis *y,
                 const struct chart_series *series, size_t n);

/* Dots on a map of the world: longitude and latitude. There are no outlines; many quiet dots (colour 0) at cities show
 * where land is. */
struct chart_dot {
    float latitude, longitude;
    unsigned colour; /* 0: quiet */
    bool is_large;
    struct span label; /* of large ones; left out where there is no room */
};
void chart_map(struct buf *out, const char *name, const struct chart_dot *dots, size_t n);
