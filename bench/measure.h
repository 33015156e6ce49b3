/* measure.h - clocks, quantiles and the few process facts that the benchmarks of the index print.
 *
 * Programs here stop at the first failure: measure_must. One line a figure: name value unit. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"

double measure_wall(void);       /* seconds, monotonic */
double measure_cpu(void);        /* seconds of all threads of this process */
double measure_thread_cpu(void); /* seconds of this thread */

/* Ends the program, saying what failed, unless ST_OK. */
void measure_must(const char *what, status st);

/* The value that a share `q` of all values does not pass (nearest rank). Sorts them. */
double measure_quantile(double *values, size_t n, double q);

/* All threads of this process onto one core, or (core < 0) onto all of them. Threads made later inherit it from their
 * maker. Does nothing on a machine with a single core. */
void measure_pin(int core);
void measure_pin_thread(int core); /* this thread only */

/* Memory of this process that no file backs, in bytes. */
size_t measure_anonymous_bytes(void);
size_t measure_peak_bytes(void); /* largest resident set */

/* Bytes of the files in a folder (and below) whose names end so; "" for all. */
uint64_t measure_folder_bytes(const char *folder, const char *suffix);
/* Removes a folder with everything in it. */
void measure_remove(const char *folder);

void measure_print(const char *name, double value, const char *unit);
