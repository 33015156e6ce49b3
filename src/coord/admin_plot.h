/* admin_plot.h - pieces of small charts as SVG, which need no script. Inside src/coord/admin*.c only.
 *
 * A chart is as wide as its place; inside it measures PLOT_WIDTH by PLOT_HEIGHT. Colours come from classes
 * (ui/admin.css), numbers of a bar or a dot from its <title>. Everything here appends. */
#pragma once

#include "coord/admin_internal.h"

#define PLOT_WIDTH 420.0
#define PLOT_HEIGHT 190.0
#define PLOT_LEFT 38.0
#define PLOT_RIGHT 8.0
#define PLOT_TOP 8.0
#define PLOT_BOTTOM 22.0
#define PLOT_INNER_WIDTH (PLOT_WIDTH - PLOT_LEFT - PLOT_RIGHT)
#define PLOT_INNER_HEIGHT (PLOT_HEIGHT - PLOT_TOP - PLOT_BOTTOM)
#define HOUR_MS (3600ll * 1000)
#define DAY_MS (24 * HOUR_MS)

/* A <figure> up to and into its <svg>; our own texts. plot_end() closes both. */
void plot_begin(struct buf *out, const char *id, const char *title, const char *label);
void plot_end(struct buf *out);
/* Closes the <svg> alone: a legend may follow before "</figure>". */
void plot_end_svg(struct buf *out);

double plot_round_up(double v); /* a round number that is not below v: 1, 2 or 5 and zeros */
double plot_y(double v, double max);
double plot_x(size_t i, size_t n); /* the middle of the i-th of n columns */
void plot_grid(struct buf *out, double max);
/* Opens a <rect> in the i-th of n columns; the caller writes its <title> and closes it. */
void plot_bar(struct buf *out, const char *class_name, size_t i, size_t n, double y, double height);
/* In the middle, where there is nothing else. */
void plot_none(struct buf *out, const char *text);

/* Columns are hours or days since 1970. */
void plot_when(struct buf *out, bool is_hours, int64_t at); /* "14 Nov, 09:00 UTC" or "14 Nov" */
/* Below the axis: the first, the middle and the last column of 48 hours, or of days from `first` to `last`. */
void plot_times(struct buf *out, bool is_hours, int64_t first, int64_t last);
