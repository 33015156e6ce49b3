/* report.h - what the lab found, for people: one HTML page with charts, or Markdown tables. Reads the ledgers and the
 * networks of the runs where they are there still; else does no input or output. */
#pragma once

#include "lab/play/results.h"

/* The page needs no scripts and no other file. `command`: that makes it again. */
void lab_report_page(const struct results *r, const char *command, struct buf *out);
/* A section a scenario. */
void lab_report_markdown(const struct results *r, struct buf *out);
