/* admin_pages.h - pieces that the dashboard's pages are made of. Inside src/coord/admin_pages*.c only. All text that
 * comes from outside goes through html_text; names, labels and help of forms are our own.
 *
 * A part of a page that changes while it is looked at is an element with `data-live` and an id: ui/admin.js asks for
 * the page again every two seconds and brings these parts up to date, node by node. Rows that may change places have a
 * `data-key`. Everything works without scripts too: links, forms, and questions that are <details>. */
#pragma once

#include <string.h>

#include "coord/admin_internal.h"
#include "serve/html.h"

#define DASH "\xe2\x80\x93"
#define DOT " \xc2\xb7 "

/* ---- the frame (admin_pages.c) ---- */

/* Opens a page up to and including the start of <main>, with the message that waits for the session. */
void admin_begin(struct ask *r, struct httpd_answer *ans, const char *place, struct span title);
/* The scripts are names of assets, NULL-terminated. */
void admin_end(struct ask *r, struct httpd_answer *ans, const char *const *scripts);
extern const char *const scripts_live[], *const scripts_charts[];
/* Where the script says that the coordinator does not answer; and what is said without scripts. */
void put_lost_note(struct buf *out);
void put_noscript(struct buf *out);

/* ---- forms (admin_forms.c) ---- */

struct form_field {
    const char *name, *label, *help, *type; /* type: of the input; NULL: text */
    const char *id;                         /* when a name stands twice on a page; NULL: the name */
    const char *more;                       /* more attributes, with a blank in front */
    struct span value;                      /* unless the form was sent and came back */
    bool is_required, is_long;              /* long: several lines */
    int rows;
};

/* Fields after it get what was sent, and what was wrong, when it is this form that came back. */
void form_begin(struct ask *r, struct buf *out, const char *action, const char *class_name);
/* The form of this action came back. */
bool form_was_sent(const struct ask *r, const char *action);
void form_hidden(struct buf *out, const char *name, struct span value);
void form_field(struct ask *r, struct buf *out, const struct form_field *f);
void form_check(struct ask *r, struct buf *out, const char *name, const char *label, const char *help, bool is_on);
struct form_choice {
    const char *name, *label, *help;
    const char *none; /* the text of the empty value; NULL: there is none */
    const char *const *values, *const *texts;
    size_t n;
    struct span current;
};
void form_select(struct ask *r, struct buf *out, const struct form_choice *c);
/* A choice of agents that could work. coord.lock held. */
void form_agents(struct ask *r, struct buf *out, const struct form_choice *c, uint64_t current);
/* A form of one button; `confirm` asks first. */
void form_button(struct ask *r, struct buf *out, const char *action, const char *text, const char *class_name,
                 const char *confirm);
/* What was sent, when the form came back; else `otherwise`. */
struct span form_value(struct ask *r, const char *name, struct span otherwise);

/* Who may crawl what (admin_pins.c); coord.lock held. */
void put_pins_form(struct ask *r, struct buf *out);

/* ---- text (admin_pages.c) ---- */

/* Lines stay lines: for <textarea> and <pre>. */
void html_text_lines(struct buf *out, struct span s);
/* A message as a sentence: a capital letter, a full stop. */
void html_sentence(struct buf *out, struct span s);
void put_ago(struct buf *out, wall_ms at, wall_ms now); /* "4 min ago", "just now", "never", with the time itself */
void put_agent_link(struct buf *out, const char *name);
void put_state(struct buf *out, const char *state);               /* of agents, channels, networks and tasks */
void put_rate(struct buf *out, double v);                         /* "0", "0.4", "12.3", "1,234" */
void put_ratio(struct buf *out, uint64_t crawled, uint64_t sent); /* "1/16" */
/* A term and its value in a <dl>; closed with fact_end. */
void fact(struct buf *out, const char *name);
void fact_end(struct buf *out);
void fact_bytes(struct buf *out, const char *name, uint64_t v, const char *none);

/* ---- tables and long lists (admin_lists.c) ---- */

struct column {
    const char *name;
    bool is_number, is_wide; /* wide: has a line of its own on a phone */
    const char *sort;        /* the order that its heading asks for; NULL: none */
};

struct listing; /* below */
struct table_out {
    struct buf *out;
    const struct column *cols;
    size_t n, at;
};
/* `caption` is read aloud, not seen. `l` (may be NULL) makes headings links. */
void table_begin(struct table_out *t, struct buf *out, const char *caption, const struct column *cols, size_t n,
                 const struct listing *l);
void row_begin(struct table_out *t, struct span key); /* and its first cell, which names it */
void cell(struct table_out *t);                       /* the next one */
void row_end(struct table_out *t);
void table_end(struct table_out *t);

#define LISTING_ROWS 50 /* on a page */
/* What of a long list is asked for: GET ?q=&state=&agent=&sort=&page= */
struct listing {
    const char *path;
    struct span q, state, agent, sort;
    size_t page; /* from 1 */
    size_t total, from, to;
};
void listing_read(struct ask *r, const char *path, struct listing *l);
/* Is one of the texts like what is looked for? Empty: yes. */
bool listing_matches(const struct listing *l, struct span a, struct span b);
bool listing_is_filtered(const struct listing *l);
/* There are so many: sets from and to. */
void listing_cut(struct listing *l, size_t total);
/* The form above the list. `agents`: a choice of them too (coord.lock held). */
void listing_form(struct ask *r, struct buf *out, const struct listing *l, const char *what, const char *const *states,
                  size_t state_count, bool has_agents);
/* How many there are, and ways to the other pages. `what`: "channels". */
void listing_foot(struct buf *out, const struct listing *l, const char *what);

/* Sorting by a number, highest first; what is equal stays in its order. */
struct ranked {
    uint64_t value;
    size_t at;
    void *item;
};
void rank(struct ranked *list, size_t n);

/* ---- charts and errors (admin_charts.c) ---- */

struct chart {
    const char *id, *title, *unit;
};
void put_charts(struct buf *out, const char *heading, const struct chart *charts, size_t n);
/* Chart and table. `own`: of one agent; NULL: of all. */
struct errors_shown {
    const struct figures_counts *counts;
    const double *per_min; /* by kind */
    uint64_t dropped, damaged;
    bool is_fleet; /* has the coordinator's own */
};
void put_errors(struct buf *out, const struct errors_shown *e);

/* ---- the table of agents (admin_pages_fleet.c), for two pages. coord.lock held ---- */
void put_agents_table(struct ask *r, struct buf *out, struct c_agent **list, size_t from, size_t to,
                      const struct listing *l);

/* ---- registering (admin_pages_enrol.c), for two pages. coord.lock held ---- */
void put_agent_fields(struct ask *r, struct buf *out, const struct c_agent *a); /* NULL: a new one */
/* The line that it joins with, for who made it, while it is good. */
void put_line_box(struct ask *r, struct buf *out, const struct c_agent *a);
