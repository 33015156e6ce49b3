/* figure_kinds.h - how figures are shown: what they are called, their unit, how many decimals. Pure. */
#pragma once

#include "base/buf.h"

struct figure_kind {
    const char *name;  /* as in figures.h */
    const char *title; /* for people */
    const char *unit;  /* "": none */
    int decimals;
    double by;         /* shown divided by this: bytes as MB */
    const char *sim;   /* the simulator's, side by side with it; NULL: none */
    const char *about; /* a sentence below a chart; NULL: it is not worth a chart */
};

/* In the order in which they are worth showing. */
extern const struct figure_kind figure_kinds[];
extern const size_t figure_kind_count;
const struct figure_kind *figure_kind_of(struct span name); /* NULL: somebody's own */
/* The number alone; `kind` NULL: one without. */
void figure_put(struct buf *out, const struct figure_kind *kind, double v);
bool figure_differs(const struct figure_kind *kind, double a, double b); /* they are not shown alike */
