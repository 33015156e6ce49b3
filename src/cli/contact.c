#include "cli/contact.h"

#include "cli/command.h"
#include "cli/crawl_setup.h"
#include "store/store.h"

bool contact_kept(const char *dir, struct buf *out)
{
    struct store *store = NULL;
    bool is_kept =
        store_open(dir, STORE_READ, &store, NULL) == ST_OK && store_setting_get(store, "contact", out) == ST_OK;
    store_free(store);
    return is_kept;
}

/* `agent`: the User-Agent line to keep with it; empty: that of the folder stays. */
static int keep(const char *what, const char *dir, struct span contact, struct span agent)
{
    struct store *store = NULL;
    struct buf why = {0};
    status st = store_open(dir, STORE_WRITE, &store, &why);
    if (st == ST_OK)
        st = store_setting_put(store, "contact", contact);
    if (st == ST_OK && agent.n)
        st = store_setting_put(store, "user_agent", agent);
    int code = EXIT_DONE;
    if (st != ST_OK)
        code = complain(exit_code_of(st), "%s: open data folder %s: %s: %s", what, dir,
                        why.n ? buf_cstr(&why) : status_name(st), folder_advice(st));
    store_free(store);
    buf_done(&why);
    return code;
}

int contact_keep(const char *what, const char *dir, struct span contact)
{
    return keep(what, dir, contact, (struct span){0});
}

int contact_settle(const char *what, const struct options *o, struct buf *out)
{
    const char *dir = opt_cstr(o, OPT_DATA);
    struct buf agent = {0};
    int code = EXIT_DONE;
    if (!opt_is_set(o, OPT_CONTACT)) {
        (void)contact_kept(dir, out);
        return EXIT_DONE;
    }
    buf_put(out, opt_text(o, OPT_CONTACT));
    contact_agent(opt_text(o, OPT_PURPOSE_URL), buf_span(out), &agent);
    code = keep(what, dir, buf_span(out), buf_span(&agent));
    buf_done(&agent);
    return code;
}

void contact_agent(struct span purpose, struct span contact, struct buf *out)
{
    buf_puts(out, "orbweaver/" ORB_VERSION_SHORT);
    if (purpose.n || contact.n)
        buf_printf(out, " (%s%.*s%s%.*s)", purpose.n ? "+" : "", SPAN_ARG(purpose), purpose.n && contact.n ? "; " : "",
                   SPAN_ARG(contact));
}
