/* admin_pages.h - pieces that the dashboard's pages are made of. Inside src/coord/admin_pages*.c only. All text that
 * comes from outside goes through html_text; names, labels and help of forms are our own. */
#pragma once

#include <string.h>

#include "coord/admin_internal.h"
#include "serve/html.h"

/* Opens a page up to and including the start of <main>, with the message that waits for the session. */
void admin_begin(struct ask *r, struct httpd_answer *ans, const char *place, struct span title);
/* The scripts are names of assets, NULL-terminated. */
void admin_end(struct ask *r, struct httpd_answer *ans, const char *const *scripts);

struct form_field {
    const char *name, *label, *help, *type; /* type: of the input; NULL: text */
    const char *more;                       /* more attributes, with a blank in front */
    struct span value;                      /* unless the form was sent and came back */
    bool is_required, is_long;              /* long: several lines */
    int rows;
};

void form_begin(struct ask *r, struct buf *out, const char *action, const char *class_name);
void form_hidden(struct buf *out, const char *name, struct span value);
void form_field(struct ask *r, struct buf *out, const struct form_field *f);
void form_check(struct ask *r, struct buf *out, const char *name, const char *label, bool is_on);
void form_select(struct ask *r, struct buf *out, const char *name, const char *label, const char *const *values,
                 const char *const *texts, size_t n, struct span current);
/* A form of one button; `confirm` asks first. */
void form_button(struct ask *r, struct buf *out, const char *action, const char *text, const char *class_name,
                 const char *confirm);
/* What was sent, when the form came back; else `otherwise`. */
struct span form_value(struct ask *r, const char *name, struct span otherwise);
/* Lines stay lines: for <textarea> and <pre>. */
void html_text_lines(struct buf *out, struct span s);

void put_ago(struct buf *out, wall_ms at, wall_ms now); /* "4 min ago", "never" */
void put_agent_link(struct buf *out, const char *name);
