/* admin_pages_enrol.c - registering an agent: the form, and the line that it joins with. */
#include <stdio.h>

#include "coord/admin_pages.h"
#include "io/clock.h"

/* ---- the form ---- */

static struct span bytes_text(struct arena *a, uint64_t n)
{
    char text[32];
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1000000000000, "TB"}, {1000000000, "GB"}, {1000000, "MB"}, {1000, "kB"}};
    if (n == 0)
        return SPAN("");
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (n % units[i].unit == 0) {
            snprintf(text, sizeof(text), "%llu %s", (unsigned long long)(n / units[i].unit), units[i].name);
            return arena_copy(a, span_str(text));
        }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
    return arena_copy(a, span_str(text));
}

static struct span degrees_text(struct arena *a, bool is_there, double v)
{
    char text[32];
    snprintf(text, sizeof(text), "%.5g", v);
    return is_there ? arena_copy(a, span_str(text)) : SPAN("");
}

/* Zones that people choose from; any name of the system's may be typed. */
static void put_zones(struct buf *out)
{
    static const char *const zones[] = {"UTC",
                                        "Africa/Cairo",
                                        "Africa/Johannesburg",
                                        "Africa/Lagos",
                                        "America/Chicago",
                                        "America/Denver",
                                        "America/Los_Angeles",
                                        "America/New_York",
                                        "America/Sao_Paulo",
                                        "Asia/Dubai",
                                        "Asia/Hong_Kong",
                                        "Asia/Kolkata",
                                        "Asia/Nicosia",
                                        "Asia/Seoul",
                                        "Asia/Shanghai",
                                        "Asia/Singapore",
                                        "Asia/Tokyo",
                                        "Australia/Sydney",
                                        "Europe/Athens",
                                        "Europe/Berlin",
                                        "Europe/London",
                                        "Europe/Madrid",
                                        "Europe/Paris",
                                        "Europe/Rome",
                                        "Pacific/Auckland"};
    buf_puts(out, "<datalist id=\"zones\">");
    for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++)
        buf_printf(out, "<option value=\"%s\">", zones[i]);
    buf_puts(out, "</datalist>");
}

/* The zone is a field of its own: hours_text ends in it. */
void put_agent_fields(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct arena *m = r->arena;
    static const struct agent_settings none;
    const struct agent_settings *s = a ? &a->settings : &none;
    struct span hours = a ? span_str(a->hours_text) : SPAN(""), zone = a ? span_str(a->hours.zone) : SPAN("");
    if (zone.n && span_ends(hours, zone))
        hours = span_trim(span_cut(hours, 0, hours.n - zone.n));
    buf_puts(out, "<fieldset><legend>When and where</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "hours",
                                    .label = "Working hours",
                                    .value = hours,
                                    .more = " placeholder=\"always\" autocapitalize=\"none\"",
                                    .help = "Such as <code>mon-fri 20:00-06:00; sat,sun 00:00-24:00</code>. Nothing: "
                                            "always."});
    form_field(r, out,
               &(struct form_field){.name = "zone",
                                    .label = "Time zone of the hours",
                                    .value = zone,
                                    .more = " list=\"zones\" placeholder=\"UTC\" autocapitalize=\"none\"",
                                    .help = "Such as <code>Europe/Athens</code>."});
    form_field(r, out,
               &(struct form_field){.name = "place",
                                    .label = "Place",
                                    .value = a ? arena_copy(m, span_str(a->place)) : SPAN(""),
                                    .more = " maxlength=\"100\" placeholder=\"Nicosia, Cyprus\"",
                                    .help = "Where it is, in words."});
    form_field(r, out,
               &(struct form_field){.name = "latitude",
                                    .label = "Latitude",
                                    .value = a ? degrees_text(m, a->has_place, a->latitude) : SPAN(""),
                                    .more = " inputmode=\"decimal\" placeholder=\"35.17\"",
                                    .help = "Degrees north."});
    form_field(r, out,
               &(struct form_field){.name = "longitude",
                                    .label = "Longitude",
                                    .value = a ? degrees_text(m, a->has_place, a->longitude) : SPAN(""),
                                    .more = " inputmode=\"decimal\" placeholder=\"33.36\"",
                                    .help = "Degrees east."});
    put_zones(out);
    buf_puts(out, "</div></fieldset><fieldset><legend>How much</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "bytes_a_day",
                                    .label = "Capacity, bytes a day",
                                    .value = bytes_text(m, s->bytes_a_day),
                                    .more = " placeholder=\"no limit\"",
                                    .help = "Such as <code>10 GB</code>."});
    form_field(r, out,
               &(struct form_field){.name = "bytes_per_s",
                                    .label = "Bandwidth, bytes a second",
                                    .value = bytes_text(m, s->bytes_per_s),
                                    .more = " placeholder=\"no limit\"",
                                    .help = "Such as <code>2 MB</code>."});
    form_field(r, out,
               &(struct form_field){.name = "memory",
                                    .label = "Memory",
                                    .value = bytes_text(m, s->memory_bytes),
                                    .more = " placeholder=\"as the agent thinks fit\""});
    form_field(r, out,
               &(struct form_field){.name = "disk",
                                    .label = "Disk",
                                    .value = bytes_text(m, s->disk_bytes),
                                    .more = " placeholder=\"as the agent thinks fit\""});
    char tasks[16] = "";
    if (s->tasks_max)
        snprintf(tasks, sizeof(tasks), "%u", s->tasks_max);
    form_field(r, out,
               &(struct form_field){.name = "tasks",
                                    .label = "Tasks at a time",
                                    .value = arena_copy(m, span_str(tasks)),
                                    .more = " inputmode=\"numeric\" placeholder=\"as the agent thinks fit\""});
    form_check(r, out, "idle_only", "Only while nobody uses the machine",
               "It watches the load, and stops when somebody else works there.", s->idle_only);
    buf_puts(out,
             "</div><p class=\"help below\">Limits that its owner set on the agent's own machine win when they are "
             "lower.</p></fieldset>");
}

void page_agent_new(struct ask *r, struct httpd_answer *ans)
{
    struct buf *out = &ans->body;
    admin_begin(r, ans, "/agents", SPAN("Add an agent"));
    buf_puts(out,
             "<div class=\"head\"><div><h1>Add an agent</h1><p class=\"sub\">Afterwards you get one line to run on "
             "its machine.</p></div></div>\n");
    form_begin(r, out, "/api/v1/agents", "wide-form");
    buf_puts(out, "<fieldset><legend>Agent</legend><div class=\"grid\">");
    form_field(r, out,
               &(struct form_field){.name = "name",
                                    .label = "Name",
                                    .is_required = true,
                                    .more = " maxlength=\"64\" pattern=\"[A-Za-z0-9._\\-]+\" autocapitalize=\"none\" "
                                            "autofocus placeholder=\"nicosia-1\"",
                                    .help = "Letters, digits and . _ - ; it stays as long as the agent."});
    form_check(r, out, "trusted", "A machine of my own",
               "It is trusted from the start. Others are on probation for their first 500 pages.", false);
    buf_puts(out, "</div></fieldset>");
    put_agent_fields(r, out, NULL);
    buf_puts(out, "<div class=\"actions\"><button class=\"button main\">Add the agent</button><a class=\"button\" "
                  "href=\"/agents\">Cancel</a></div></form>\n");
    admin_end(r, ans, NULL);
}

/* ---- the line ---- */

void put_line_box(struct ask *r, struct buf *out, const struct c_agent *a)
{
    struct buf line = {0};
    wall_ms left = a->token_until - clock_wall();
    session_line_get(r->a, &r->who, a->number, &line);
    buf_puts(out, "<div data-live id=\"joining\">");
    if (line.n && !a->is_token_used && left > 0) {
        buf_puts(out, "<section class=\"joinbox\" aria-labelledby=\"join-h\"><h2 id=\"join-h\">Run this on the agent's "
                      "machine</h2><div class=\"copy\"><pre><code id=\"join-line\">orb-agent --join ");
        html_text(out, buf_span(&line));
        buf_puts(out, "</code></pre><button class=\"button main\" type=\"button\" data-copy=\"join-line\">Copy</button>"
                      "</div><p>It works once, for the next <strong>");
        html_duration(out, left / 1000);
        buf_puts(out, "</strong>, and for this agent only. Whoever has it can join in its place: send it like a "
                      "password. This page says when the agent has joined.</p><details class=\"more\"><summary>Other "
                      "ways to give it the line</summary><ul><li><code>orb-agent --join @FILE</code> reads it from a "
                      "file that only you can read.</li><li><code>orb-agent --join -</code> reads it from standard "
                      "input, so that it is in no shell's history.</li></ul></details></section>\n");
    } else if (line.n && a->is_token_used && a->is_joined)
        buf_puts(out, "<p class=\"notice good\">The agent has joined.</p>");
    else if (!a->is_joined)
        buf_puts(out,
                 left > 0 && !a->is_token_used
                     ? "<p class=\"notice\">It has not joined yet. Its line is shown only to who made it; a new one "
                       "can be made below, and makes the old one worthless.</p>\n"
                     : "<p class=\"notice\">It has not joined yet, and its line is over. A new one can be made "
                       "below.</p>\n");
    buf_puts(out, "</div>\n");
    sign_wipe(line.p, line.n);
    buf_done(&line);
}
