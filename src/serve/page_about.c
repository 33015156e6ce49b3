/* page_about.c - for site owners who found this crawler in their logs. The numbers are those of plan/pace.h. */
#include "plan/pace.h"
#include "serve/html.h"
#include "serve/page.h"
#include "web/url.h"

#define CONTACT_BYTES_MAX 300

/* A link where it is one: an http(s) URL or a mail address of plain characters. */
static void put_contact(struct buf *out, struct arena *a, struct span contact)
{
    struct buf href = {0};
    size_t at = span_find(contact, '@', 0), scheme = span_search(contact, SPAN("://"), false);
    bool is_mail = at > 0 && at + 1 < contact.n && scheme == contact.n;
    for (size_t i = 0; is_mail && i < contact.n; i++) {
        char c = contact.p[i];
        is_mail = ascii_is_alpha(c) || ascii_is_digit(c) || (c != '\0' && strchr("@._+-", c));
    }
    if (is_mail) {
        buf_puts(out, "<a href=\"mailto:");
        html_text(out, contact);
        buf_puts(out, "\">");
    } else if (html_href(&href, a, contact)) {
        buf_puts(out, "<a rel=\"noopener nofollow noreferrer\" href=\"");
        buf_put(out, buf_span(&href));
        buf_puts(out, "\">");
    }
    bool is_link = is_mail || href.n;
    buf_puts(out, "<bdi>");
    html_text(out, contact);
    buf_puts(out, is_link ? "</bdi></a>" : "</bdi>");
    buf_done(&href);
}

static struct span number(struct arena *a, int64_t v)
{
    struct buf b = {0};
    html_count(&b, (uint64_t)v);
    struct span s = arena_copy(a, buf_span(&b));
    buf_done(&b);
    return s;
}

/* The name that robots.txt is asked for: the user agent up to its first slash or blank. */
static struct span token_of(struct span agent)
{
    size_t n = 0;
    while (n < agent.n && agent.p[n] != '/' && agent.p[n] != ' ')
        n++;
    return span_cut(agent, 0, n);
}

void page_about(const struct page_request *r, struct httpd_answer *ans)
{
    const struct pace_opts *p = &pace_default;
    struct arena *a = r->arena;
    struct buf contact = {0}, agent = {0}, who = {0}, says = {0}, forget = {0};
    watch_setting(r->s->watch, "contact", &contact);
    watch_setting(r->s->watch, "user_agent", &agent);
    struct span c = span_cut(span_trim(buf_span(&contact)), 0, CONTACT_BYTES_MAX);
    if (agent.n == 0) { /* a folder that no crawl has written its own line to */
        buf_puts(&agent, "orbweaver");
        if (r->s->version[0])
            buf_printf(&agent, "/%s", r->s->version);
        if (c.n)
            buf_printf(&agent, " (%.*s)", SPAN_ARG(c));
    }
    if (c.n) {
        buf_puts(&who, "<p>Questions and complaints reach a person at ");
        put_contact(&who, a, c);
        buf_puts(&who, ".</p>");
    } else
        buf_puts(&who, "<p>Whoever runs this has left no address. The network that the requests came from has an abuse "
                       "contact in its registry; the rules below are obeyed in any case.</p>");
    if (c.n) {
        buf_puts(&forget, "<p>Write to ");
        put_contact(&forget, a, c);
        buf_puts(&forget, " and name the page, the folder, the host or the domain. Whoever runs this can take all that "
                          "is known of it out of search, texts and archives for good, and put it on a list of places "
                          "that are not asked for anything any more, not even <code>robots.txt</code>.</p>");
    } else
        buf_puts(&forget,
                 "<p>Whoever runs this can take out for good what is known of a place, and put it on a list of "
                 "those that are left alone; they have left no address to ask them. What you can do yourself: "
                 "<code>noindex</code>, an answer of <code>410</code>, or <code>robots.txt</code>.</p>");
    html_text(&says, buf_span(&agent));
    struct html_fill fills[] = {
        {"who", buf_span(&who), true},
        {"forget", buf_span(&forget), true},
        {"agent", buf_span(&says), true},
        {"token", token_of(buf_span(&agent)), false},
        {"delay_s", number(a, p->delay_ms / 1000), false},
        {"addr_per_s", number(a, p->addr_per_s), false},
        {"network_per_s", number(a, p->network_per_s), false},
        {"server_factor", number(a, p->server_factor), false},
        {"crawl_delay_s", number(a, p->crawl_delay_max_ms / 1000), false},
        {"backoff_s", number(a, p->backoff_min_ms / 1000), false},
    };
    page_headers(ans, PAGE_HTML, "private, max-age=60");
    page_begin(r, &ans->body, AT_ABOUT, SPAN("About this crawler"), SPAN(""));
    html_template(&ans->body, asset_by_name(r->s->assets, "about.html")->plain, fills, sizeof(fills) / sizeof(*fills));
    page_end(r, &ans->body, AT_ABOUT, NULL);
    buf_done(&contact);
    buf_done(&agent);
    buf_done(&who);
    buf_done(&says);
    buf_done(&forget);
}
