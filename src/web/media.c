#include "web/media.h"

#include "base/utf8.h"
#include "web/charset.h"

#define NAME_BYTES_MAX 255 /* of a file's name that is shown */

/* The first row of a name is what its ending stands for. */
static const struct media known[] = {
    {"text/html", "html", "page", "web page"},
    {"application/xhtml+xml", "html", "page", "web page"},
    {"text/plain", "text", "text", "plain text"},
    {"text/markdown", "markdown", "text", "Markdown text"},
    {"text/x-markdown", "markdown", "text", "Markdown text"},
    {"text/csv", "csv", "sheet", "table (CSV)"},
    {"text/tab-separated-values", "tsv", "sheet", "table (TSV)"},
    {"text/calendar", "ics", "data", "calendar"},
    {"text/vcard", "vcf", "data", "address card"},
    {"text/css", "css", "program", "style sheet"},
    {"text/javascript", "js", "program", "script"},
    {"application/javascript", "js", "program", "script"},
    {"application/json", "json", "data", "JSON data"},
    {"application/ld+json", "json", "data", "JSON data"},
    {"application/xml", "xml", "data", "XML data"},
    {"text/xml", "xml", "data", "XML data"},
    {"application/rss+xml", "rss", "data", "RSS feed"},
    {"application/atom+xml", "atom", "data", "Atom feed"},
    {"application/feed+json", "json", "data", "JSON feed"},
    {"application/sql", "sql", "data", "SQL data"},
    {"application/vnd.sqlite3", "sqlite", "data", "SQLite data"},
    {"application/geo+json", "geojson", "data", "map data"},
    {"application/vnd.google-earth.kml+xml", "kml", "data", "map data"},
    {"application/pdf", "pdf", "document", "PDF document"},
    {"application/x-pdf", "pdf", "document", "PDF document"},
    {"application/postscript", "ps", "document", "PostScript document"},
    {"application/rtf", "rtf", "document", "RTF document"},
    {"text/rtf", "rtf", "document", "RTF document"},
    {"application/epub+zip", "epub", "document", "EPUB book"},
    {"application/x-mobipocket-ebook", "mobi", "document", "Mobipocket book"},
    {"image/vnd.djvu", "djvu", "document", "DjVu document"},
    {"application/msword", "doc", "document", "Word document"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "document", "Word document"},
    {"application/vnd.oasis.opendocument.text", "odt", "document", "OpenDocument text"},
    {"application/x-tex", "tex", "document", "TeX source"},
    {"application/vnd.ms-excel", "xls", "sheet", "Excel sheet"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx", "sheet", "Excel sheet"},
    {"application/vnd.oasis.opendocument.spreadsheet", "ods", "sheet", "OpenDocument sheet"},
    {"application/vnd.ms-powerpoint", "ppt", "slides", "PowerPoint slides"},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx", "slides",
     "PowerPoint slides"},
    {"application/vnd.oasis.opendocument.presentation", "odp", "slides", "OpenDocument slides"},
    {"application/zip", "zip", "archive", "ZIP archive"},
    {"application/x-zip-compressed", "zip", "archive", "ZIP archive"},
    {"application/gzip", "gz", "archive", "gzip archive"},
    {"application/x-gzip", "gz", "archive", "gzip archive"},
    {"application/x-tar", "tar", "archive", "tar archive"},
    {"application/x-bzip2", "bz2", "archive", "bzip2 archive"},
    {"application/x-xz", "xz", "archive", "xz archive"},
    {"application/zstd", "zst", "archive", "zstd archive"},
    {"application/x-7z-compressed", "7z", "archive", "7-Zip archive"},
    {"application/vnd.rar", "rar", "archive", "RAR archive"},
    {"application/x-rar-compressed", "rar", "archive", "RAR archive"},
    {"application/x-iso9660-image", "iso", "archive", "disk image"},
    {"application/warc", "warc", "archive", "web archive"},
    {"application/java-archive", "jar", "program", "Java program"},
    {"application/vnd.debian.binary-package", "deb", "program", "Debian package"},
    {"application/x-debian-package", "deb", "program", "Debian package"},
    {"application/x-rpm", "rpm", "program", "RPM package"},
    {"application/vnd.android.package-archive", "apk", "program", "Android package"},
    {"application/x-msdownload", "exe", "program", "Windows program"},
    {"application/x-apple-diskimage", "dmg", "program", "macOS disk image"},
    {"application/wasm", "wasm", "program", "WebAssembly program"},
    {"image/png", "png", "image", "PNG image"},
    {"image/jpeg", "jpeg", "image", "JPEG image"},
    {"image/gif", "gif", "image", "GIF image"},
    {"image/webp", "webp", "image", "WebP image"},
    {"image/avif", "avif", "image", "AVIF image"},
    {"image/svg+xml", "svg", "image", "SVG image"},
    {"image/tiff", "tiff", "image", "TIFF image"},
    {"image/bmp", "bmp", "image", "BMP image"},
    {"image/x-icon", "ico", "image", "icon"},
    {"image/vnd.microsoft.icon", "ico", "image", "icon"},
    {"audio/mpeg", "mp3", "audio", "MP3 audio"},
    {"audio/ogg", "ogg", "audio", "Ogg audio"},
    {"audio/opus", "opus", "audio", "Opus audio"},
    {"audio/flac", "flac", "audio", "FLAC audio"},
    {"audio/wav", "wav", "audio", "WAV audio"},
    {"audio/x-wav", "wav", "audio", "WAV audio"},
    {"audio/mp4", "m4a", "audio", "MPEG-4 audio"},
    {"audio/midi", "midi", "audio", "MIDI music"},
    {"video/mp4", "mp4", "video", "MPEG-4 video"},
    {"video/webm", "webm", "video", "WebM video"},
    {"video/ogg", "ogv", "video", "Ogg video"},
    {"video/mpeg", "mpeg", "video", "MPEG video"},
    {"video/quicktime", "mov", "video", "QuickTime video"},
    {"video/x-matroska", "mkv", "video", "Matroska video"},
    {"video/x-msvideo", "avi", "video", "AVI video"},
    {"font/woff2", "woff2", "font", "font"},
    {"font/woff", "woff", "font", "font"},
    {"font/ttf", "ttf", "font", "font"},
    {"font/otf", "otf", "font", "font"},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(*known))

/* Endings that are not names already. */
static const struct {
    const char *ending, *name;
} endings[] = {
    {"htm", "html"}, {"txt", "text"}, {"md", "markdown"}, {"jpg", "jpeg"}, {"tif", "tiff"},   {"tgz", "gz"},
    {"mid", "midi"}, {"mpg", "mpeg"}, {"eps", "ps"},      {"djv", "djvu"}, {"xhtml", "html"}, {"mjs", "js"},
};

/* What families are called when the rest is not known. */
static const struct media families[] = {
    {"image/", "", "image", "image"}, {"audio/", "", "audio", "audio"}, {"video/", "", "video", "video"},
    {"font/", "", "font", "font"},    {"text/", "", "text", "text"},
};

static const struct media *by_name(struct span name)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (span_is_nocase(name, known[i].name))
            return &known[i];
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (span_is_nocase(name, endings[i].ending))
            return by_name(span_str(endings[i].name));
    return NULL;
}

static const struct media *by_type(struct span type)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (span_is_nocase(type, known[i].type))
            return &known[i];
    for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
        if (span_starts_nocase(type, span_str(families[i].type)))
            return &families[i];
    return NULL;
}

/* The last part of the path, as it is written. */
static struct span last_part(struct span url)
{
    size_t end = span_find(url, '?', 0), fragment = span_find(url, '#', 0);
    struct span path = span_cut(url, 0, end < fragment ? end : fragment);
    size_t scheme = span_search(path, SPAN("://"), false);
    if (scheme < path.n) {
        path = span_from(path, scheme + 3);
        path = span_from(path, span_find(path, '/', 0));
    }
    size_t from = path.n;
    while (from && path.p[from - 1] != '/')
        from--;
    return span_from(path, from);
}

static const struct media *by_ending(struct span url)
{
    struct span name = last_part(url);
    size_t dot = name.n;
    while (dot && name.p[dot - 1] != '.')
        dot--;
    return dot ? by_name(span_from(name, dot)) : NULL;
}

const struct media *media_find(struct span content_type, struct span url)
{
    struct span type = content_type_media(content_type);
    if (!type.n || span_is_nocase(type, "application/octet-stream") || span_is_nocase(type, "binary/octet-stream") ||
        span_is_nocase(type, "application/force-download") || span_is_nocase(type, "application/x-download"))
        return by_ending(url);
    return by_type(type);
}

const char *media_asked(struct span word)
{
    const struct media *m = by_name(word);
    if (!m && span_find(word, '/', 0) < word.n) {
        m = by_type(word);
        return !m ? NULL : m->name[0] ? m->name : m->group;
    }
    if (m)
        return m->name;
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        struct span group = span_str(known[i].group);
        bool is_plural = word.n == group.n + 1 && ascii_lower(word.p[group.n]) == 's';
        if (span_eq_nocase(span_cut(word, 0, is_plural ? group.n : word.n), group))
            return known[i].group;
    }
    return NULL;
}

void media_put_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)bytes;
    size_t unit = 0;
    while (v >= 999.95 && unit + 1 < sizeof(units) / sizeof(*units)) {
        v /= 1000;
        unit++;
    }
    buf_printf(out, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void media_describe(struct buf *out, struct span content_type, struct span url, uint64_t bytes)
{
    const struct media *m = media_find(content_type, url);
    struct span type = content_type_media(content_type);
    if (m)
        buf_puts(out, m->words);
    else if (type.n)
        buf_printf(out, "file of type %.*s", SPAN_ARG(span_cut(type, 0, 100)));
    else
        buf_puts(out, "file");
    if (bytes) {
        buf_puts(out, ", ");
        media_put_size(out, bytes);
    }
}

struct span media_file_name(struct arena *a, struct span url)
{
    struct span raw = last_part(url);
    char *out = arena_bytes(a, raw.n);
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if (c == '%' && i + 2 < raw.n && ascii_hex(raw.p[i + 1]) >= 0 && ascii_hex(raw.p[i + 2]) >= 0) {
            c = (char)(ascii_hex(raw.p[i + 1]) << 4 | ascii_hex(raw.p[i + 2]));
            i += 2;
        }
        out[n++] = c;
    }
    struct span name = span_of(out, n);
    bool is_text = utf8_is_valid(name);
    for (size_t i = 0; i < n; i++)
        is_text = is_text && (unsigned char)out[i] >= 0x20 && out[i] != 0x7f && out[i] != '/';
    return utf8_cut(is_text ? name : raw, NAME_BYTES_MAX);
}
