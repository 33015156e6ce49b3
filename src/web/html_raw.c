#include "web/html_raw.h"

#include "web/html_scan.h"

static bool ends_tag_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>';
}

/* Whether `name` stands at p and ends there. */
static bool name_at(const char *p, const char *end, struct span name)
{
    return (size_t)(end - p) > name.n && ends_tag_name(p[name.n]) && span_eq_nocase(span_of(p, name.n), name);
}

static bool end_tag_at(const char *p, const char *end, struct span name)
{
    return end - p > 2 && p[1] == '/' && name_at(p + 2, end, name);
}

const char *html_raw_end(const char *p, const char *end, struct span name)
{
    while ((p = scan_for(p, end, '<')) < end && !end_tag_at(p, end, name))
        p++;
    return p;
}

/* Inside "<!--" of a script, from its two dashes on. Returns past the "-->", at the end tag that counts (*found), or
 * end. An end tag does not count between "<script" and its "</script". */
static const char *escaped_end(const char *p, const char *end, struct span name, bool *found)
{
    bool is_double = false;
    for (; (p = scan_for2(p, end, '<', '-')) < end; p++) {
        if (*p == '-') {
            if (end - p >= 3 && p[1] == '-' && p[2] == '>')
                return p + 3;
        } else if (is_double) {
            if (end - p > 2 && p[1] == '/' && name_at(p + 2, end, SPAN("script")))
                is_double = false;
        } else if (end_tag_at(p, end, name)) {
            *found = true;
            return p;
        } else if (name_at(p + 1, end, SPAN("script"))) {
            is_double = true;
        }
    }
    return end;
}

const char *html_script_end(const char *p, const char *end, struct span name)
{
    while ((p = scan_for(p, end, '<')) < end) {
        bool found = false;
        if (end_tag_at(p, end, name))
            return p;
        if (end - p >= 4 && memcmp(p, "<!--", 4) == 0)
            p = escaped_end(p + 2, end, name, &found);
        else
            p++;
        if (found)
            return p;
    }
    return end;
}

/* At the end of the input the dashes that might have begun "-->" do not belong to the comment. */
static struct span without_dashes(struct span data)
{
    if (span_ends(data, SPAN("--!")))
        data.n -= 3;
    else if (span_ends(data, SPAN("--")))
        data.n -= 2;
    else if (span_ends(data, SPAN("-")))
        data.n -= 1;
    return data;
}

const char *html_comment_end(const char *p, const char *end, struct span *data)
{
    const char *start = p;
    *data = span_of(start, 0);
    if (p < end && *p == '>')
        return p + 1;
    if (end - p >= 2 && p[0] == '-' && p[1] == '>')
        return p + 2;
    for (; (p = scan_for(p, end, '-')) < end; p++) {
        if (end - p >= 3 && p[1] == '-') {
            size_t bang = p[2] == '!';
            if ((size_t)(end - p) > 2 + bang && p[2 + bang] == '>') {
                *data = span_of(start, (size_t)(p - start));
                return p + 3 + bang;
            }
        }
    }
    *data = without_dashes(span_of(start, (size_t)(end - start)));
    return end;
}
