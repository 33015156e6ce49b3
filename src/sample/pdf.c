#include "sample/pdf.h"

#include "base/utf8.h"

#define LINE_CHARS 80
#define PAGE_LINES 48

/* Numbers of objects: catalogue, list of pages, font, title, then two a page. */
enum { CATALOGUE = 1, PAGES, FONT, INFO, FIRST_PAGE };

/* "(text)", in the one encoding that every reader has. */
static void put_string(struct span text, struct buf *out)
{
    buf_putc(out, '(');
    for (size_t at = 0; at < text.n;) {
        uint32_t c = utf8_next(text, &at, NULL);
        if (c == '(' || c == ')' || c == '\\')
            buf_printf(out, "\\%c", (int)c);
        else if (c >= 0x20 && c < 0x7f)
            buf_putc(out, (char)c);
        else
            buf_printf(out, c >= 0xa0 && c <= 0xff ? "\\%03o" : "?", (unsigned)c);
    }
    buf_putc(out, ')');
}

/* Up to LINE_CHARS bytes, cut between words where there are any. */
static struct span next_line(struct span *rest)
{
    struct span line = span_cut(*rest, 0, span_find(*rest, '\n', 0));
    size_t used = line.n < rest->n ? line.n + 1 : line.n;
    if (line.n > LINE_CHARS) {
        size_t n = LINE_CHARS;
        while (n && line.p[n] != ' ')
            n--;
        line = n ? span_cut(line, 0, n) : utf8_cut(line, LINE_CHARS);
        used = n ? n + 1 : line.n;
    }
    *rest = span_from(*rest, used);
    return line;
}

static void begin_object(struct buf *out, struct buf *offsets, unsigned number)
{
    buf_printf(offsets, "%010zu 00000 n \n", out->n);
    buf_printf(out, "%u 0 obj\n", number);
}

static void put_page(struct span *rest, unsigned number, struct buf *out, struct buf *offsets)
{
    struct buf content = {0};
    buf_puts(&content, "BT /F1 11 Tf 60 780 Td 14 TL\n");
    for (int i = 0; i < PAGE_LINES && rest->n; i++) {
        put_string(next_line(rest), &content);
        buf_puts(&content, " Tj T*\n");
    }
    buf_puts(&content, "ET\n");
    begin_object(out, offsets, number);
    buf_printf(out,
               "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 595 842] /Contents %u 0 R"
               " /Resources << /Font << /F1 %d 0 R >> >> >>\nendobj\n",
               PAGES, number + 1, FONT);
    begin_object(out, offsets, number + 1);
    buf_printf(out, "<< /Length %zu >>\nstream\n", content.n);
    buf_put(out, buf_span(&content));
    buf_puts(out, "endstream\nendobj\n");
    buf_done(&content);
}

static unsigned count_pages(struct span text)
{
    unsigned lines = 0;
    while (text.n) {
        (void)next_line(&text);
        lines++;
    }
    return lines ? (lines + PAGE_LINES - 1) / PAGE_LINES : 1;
}

void sample_pdf(struct span title, struct span text, struct buf *out)
{
    struct buf offsets = {0};
    unsigned pages = count_pages(text);
    size_t start = out->n; /* offsets are those of a file: the caller's buffer is empty */
    buf_puts(out, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
    begin_object(out, &offsets, CATALOGUE);
    buf_printf(out, "<< /Type /Catalog /Pages %d 0 R >>\nendobj\n", PAGES);
    begin_object(out, &offsets, PAGES);
    buf_puts(out, "<< /Type /Pages /Kids [");
    for (unsigned i = 0; i < pages; i++)
        buf_printf(out, " %u 0 R", FIRST_PAGE + 2 * i);
    buf_printf(out, " ] /Count %u >>\nendobj\n", pages);
    begin_object(out, &offsets, FONT);
    buf_puts(out, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>\nendobj\n");
    begin_object(out, &offsets, INFO);
    buf_puts(out, "<< ");
    if (title.n) {
        buf_puts(out, "/Title ");
        put_string(title, out);
    }
    buf_puts(out, " >>\nendobj\n");
    for (unsigned i = 0; i < pages; i++)
        put_page(&text, FIRST_PAGE + 2 * i, out, &offsets);
    unsigned objects = FIRST_PAGE + 2 * pages;
    size_t table = out->n - start;
    buf_printf(out, "xref\n0 %u\n0000000000 65535 f \n", objects);
    buf_put(out, buf_span(&offsets));
    buf_printf(out, "trailer\n<< /Size %u /Root %d 0 R /Info %d 0 R >>\nstartxref\n%zu\n%%%%EOF\n", objects, CATALOGUE,
               INFO, table);
    buf_done(&offsets);
}
