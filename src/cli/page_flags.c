#include "cli/page_flags.h"

#include "web/facts.h"

static const struct {
    unsigned bit;
    const char *name;
} words[] = {{PAGE_NOINDEX, "noindex"},     {PAGE_NOFOLLOW, "nofollow"}, {PAGE_NOARCHIVE, "noarchive"},
             {PAGE_NOSNIPPET, "nosnippet"}, {PAGE_SKIPPED, "skipped"},   {PAGE_LIST, "list"}};

void put_page_flags(struct buf *out, unsigned flags)
{
    size_t before = out->n;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (flags & words[i].bit)
            buf_printf(out, "%s%s", out->n > before ? " " : "", words[i].name);
}

void json_page_flags(struct json *j, unsigned flags)
{
    json_open(j, '[');
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (flags & words[i].bit)
            json_str(j, words[i].name);
    json_close(j, ']');
}
