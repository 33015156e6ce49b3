#include "web/charset_label.h"

static const struct charset charsets[CHARSET_COUNT] = {
    [CHARSET_UTF8] = {"utf-8", NULL, KIND_UTF8},
    [CHARSET_IBM866] = {"ibm866", "IBM866", KIND_SINGLE},
    [CHARSET_ISO2] = {"iso-8859-2", "ISO-8859-2", KIND_SINGLE},
    [CHARSET_ISO3] = {"iso-8859-3", "ISO-8859-3", KIND_SINGLE},
    [CHARSET_ISO4] = {"iso-8859-4", "ISO-8859-4", KIND_SINGLE},
    [CHARSET_ISO5] = {"iso-8859-5", "ISO-8859-5", KIND_SINGLE},
    [CHARSET_ISO6] = {"iso-8859-6", "ISO-8859-6", KIND_SINGLE},
    [CHARSET_ISO7] = {"iso-8859-7", "ISO-8859-7", KIND_SINGLE},
    [CHARSET_ISO8] = {"iso-8859-8", "ISO-8859-8", KIND_SINGLE},
    [CHARSET_ISO8I] = {"iso-8859-8-i", "ISO-8859-8", KIND_SINGLE},
    [CHARSET_ISO10] = {"iso-8859-10", "ISO-8859-10", KIND_SINGLE},
    [CHARSET_ISO13] = {"iso-8859-13", "ISO-8859-13", KIND_SINGLE},
    [CHARSET_ISO14] = {"iso-8859-14", "ISO-8859-14", KIND_SINGLE},
    [CHARSET_ISO15] = {"iso-8859-15", "ISO-8859-15", KIND_SINGLE},
    [CHARSET_ISO16] = {"iso-8859-16", "ISO-8859-16", KIND_SINGLE},
    [CHARSET_KOI8R] = {"koi8-r", "KOI8-R", KIND_SINGLE},
    [CHARSET_KOI8U] = {"koi8-u", "KOI8-U", KIND_SINGLE},
    [CHARSET_MACINTOSH] = {"macintosh", "MACINTOSH", KIND_SINGLE},
    [CHARSET_W874] = {"windows-874", "CP874", KIND_SINGLE},
    [CHARSET_W1250] = {"windows-1250", "CP1250", KIND_SINGLE},
    [CHARSET_W1251] = {"windows-1251", "CP1251", KIND_SINGLE},
    [CHARSET_W1252] = {"windows-1252", "CP1252", KIND_SINGLE},
    [CHARSET_W1253] = {"windows-1253", "CP1253", KIND_SINGLE},
    [CHARSET_W1254] = {"windows-1254", "CP1254", KIND_SINGLE},
    [CHARSET_W1255] = {"windows-1255", "CP1255", KIND_SINGLE},
    [CHARSET_W1256] = {"windows-1256", "CP1256", KIND_SINGLE},
    [CHARSET_W1257] = {"windows-1257", "CP1257", KIND_SINGLE},
    [CHARSET_W1258] = {"windows-1258", "CP1258", KIND_SINGLE},
    [CHARSET_MAC_CYRILLIC] = {"x-mac-cyrillic", "MAC-CYRILLIC", KIND_SINGLE},
    [CHARSET_GBK] = {"gbk", "GB18030", KIND_MULTI},
    [CHARSET_GB18030] = {"gb18030", "GB18030", KIND_MULTI},
    [CHARSET_BIG5] = {"big5", "BIG5-HKSCS", KIND_MULTI},
    [CHARSET_EUC_JP] = {"euc-jp", "EUC-JP-MS", KIND_MULTI},
    [CHARSET_ISO2022JP] = {"iso-2022-jp", "ISO-2022-JP", KIND_MULTI},
    [CHARSET_SHIFT_JIS] = {"shift_jis", "CP932", KIND_MULTI},
    [CHARSET_EUC_KR] = {"euc-kr", "CP949", KIND_MULTI},
    [CHARSET_REPLACEMENT] = {"replacement", NULL, KIND_REPLACEMENT},
    [CHARSET_UTF16BE] = {"utf-16be", NULL, KIND_UTF16},
    [CHARSET_UTF16LE] = {"utf-16le", NULL, KIND_UTF16},
    [CHARSET_USER_DEFINED] = {"x-user-defined", NULL, KIND_USER_DEFINED},
};

const struct charset *charset_info(charset_id id)
{
    return &charsets[id];
}

#define LABEL_BYTES_MAX 19

/* Sorted, for the search by halves. https://encoding.spec.whatwg.org/#names-and-labels */
static const struct {
    const char *label;
    charset_id id;
} labels[] = {
    {"866", CHARSET_IBM866},
    {"ansi_x3.4-1968", CHARSET_W1252},
    {"arabic", CHARSET_ISO6},
    {"ascii", CHARSET_W1252},
    {"asmo-708", CHARSET_ISO6},
    {"big5", CHARSET_BIG5},
    {"big5-hkscs", CHARSET_BIG5},
    {"chinese", CHARSET_GBK},
    {"cn-big5", CHARSET_BIG5},
    {"cp1250", CHARSET_W1250},
    {"cp1251", CHARSET_W1251},
    {"cp1252", CHARSET_W1252},
    {"cp1253", CHARSET_W1253},
    {"cp1254", CHARSET_W1254},
    {"cp1255", CHARSET_W1255},
    {"cp1256", CHARSET_W1256},
    {"cp1257", CHARSET_W1257},
    {"cp1258", CHARSET_W1258},
    {"cp819", CHARSET_W1252},
    {"cp866", CHARSET_IBM866},
    {"csbig5", CHARSET_BIG5},
    {"cseuckr", CHARSET_EUC_KR},
    {"cseucpkdfmtjapanese", CHARSET_EUC_JP},
    {"csgb2312", CHARSET_GBK},
    {"csibm866", CHARSET_IBM866},
    {"csiso2022jp", CHARSET_ISO2022JP},
    {"csiso2022kr", CHARSET_REPLACEMENT},
    {"csiso58gb231280", CHARSET_GBK},
    {"csiso88596e", CHARSET_ISO6},
    {"csiso88596i", CHARSET_ISO6},
    {"csiso88598e", CHARSET_ISO8},
    {"csiso88598i", CHARSET_ISO8I},
    {"csisolatin1", CHARSET_W1252},
    {"csisolatin2", CHARSET_ISO2},
    {"csisolatin3", CHARSET_ISO3},
    {"csisolatin4", CHARSET_ISO4},
    {"csisolatin5", CHARSET_W1254},
    {"csisolatin6", CHARSET_ISO10},
    {"csisolatin9", CHARSET_ISO15},
    {"csisolatinarabic", CHARSET_ISO6},
    {"csisolatincyrillic", CHARSET_ISO5},
    {"csisolatingreek", CHARSET_ISO7},
    {"csisolatinhebrew", CHARSET_ISO8},
    {"cskoi8r", CHARSET_KOI8R},
    {"csksc56011987", CHARSET_EUC_KR},
    {"csmacintosh", CHARSET_MACINTOSH},
    {"csshiftjis", CHARSET_SHIFT_JIS},
    {"csunicode", CHARSET_UTF16LE},
    {"cyrillic", CHARSET_ISO5},
    {"dos-874", CHARSET_W874},
    {"ecma-114", CHARSET_ISO6},
    {"ecma-118", CHARSET_ISO7},
    {"elot_928", CHARSET_ISO7},
    {"euc-jp", CHARSET_EUC_JP},
    {"euc-kr", CHARSET_EUC_KR},
    {"gb18030", CHARSET_GB18030},
    {"gb2312", CHARSET_GBK},
    {"gb_2312", CHARSET_GBK},
    {"gb_2312-80", CHARSET_GBK},
    {"gbk", CHARSET_GBK},
    {"greek", CHARSET_ISO7},
    {"greek8", CHARSET_ISO7},
    {"hebrew", CHARSET_ISO8},
    {"hz-gb-2312", CHARSET_REPLACEMENT},
    {"ibm819", CHARSET_W1252},
    {"ibm866", CHARSET_IBM866},
    {"iso-10646-ucs-2", CHARSET_UTF16LE},
    {"iso-2022-cn", CHARSET_REPLACEMENT},
    {"iso-2022-cn-ext", CHARSET_REPLACEMENT},
    {"iso-2022-jp", CHARSET_ISO2022JP},
    {"iso-2022-kr", CHARSET_REPLACEMENT},
    {"iso-8859-1", CHARSET_W1252},
    {"iso-8859-10", CHARSET_ISO10},
    {"iso-8859-11", CHARSET_W874},
    {"iso-8859-13", CHARSET_ISO13},
    {"iso-8859-14", CHARSET_ISO14},
    {"iso-8859-15", CHARSET_ISO15},
    {"iso-8859-16", CHARSET_ISO16},
    {"iso-8859-2", CHARSET_ISO2},
    {"iso-8859-3", CHARSET_ISO3},
    {"iso-8859-4", CHARSET_ISO4},
    {"iso-8859-5", CHARSET_ISO5},
    {"iso-8859-6", CHARSET_ISO6},
    {"iso-8859-6-e", CHARSET_ISO6},
    {"iso-8859-6-i", CHARSET_ISO6},
    {"iso-8859-7", CHARSET_ISO7},
    {"iso-8859-8", CHARSET_ISO8},
    {"iso-8859-8-e", CHARSET_ISO8},
    {"iso-8859-8-i", CHARSET_ISO8I},
    {"iso-8859-9", CHARSET_W1254},
    {"iso-ir-100", CHARSET_W1252},
    {"iso-ir-101", CHARSET_ISO2},
    {"iso-ir-109", CHARSET_ISO3},
    {"iso-ir-110", CHARSET_ISO4},
    {"iso-ir-126", CHARSET_ISO7},
    {"iso-ir-127", CHARSET_ISO6},
    {"iso-ir-138", CHARSET_ISO8},
    {"iso-ir-144", CHARSET_ISO5},
    {"iso-ir-148", CHARSET_W1254},
    {"iso-ir-149", CHARSET_EUC_KR},
    {"iso-ir-157", CHARSET_ISO10},
    {"iso-ir-58", CHARSET_GBK},
    {"iso8859-1", CHARSET_W1252},
    {"iso8859-10", CHARSET_ISO10},
    {"iso8859-11", CHARSET_W874},
    {"iso8859-13", CHARSET_ISO13},
    {"iso8859-14", CHARSET_ISO14},
    {"iso8859-15", CHARSET_ISO15},
    {"iso8859-2", CHARSET_ISO2},
    {"iso8859-3", CHARSET_ISO3},
    {"iso8859-4", CHARSET_ISO4},
    {"iso8859-5", CHARSET_ISO5},
    {"iso8859-6", CHARSET_ISO6},
    {"iso8859-7", CHARSET_ISO7},
    {"iso8859-8", CHARSET_ISO8},
    {"iso8859-9", CHARSET_W1254},
    {"iso88591", CHARSET_W1252},
    {"iso885910", CHARSET_ISO10},
    {"iso885911", CHARSET_W874},
    {"iso885913", CHARSET_ISO13},
    {"iso885914", CHARSET_ISO14},
    {"iso885915", CHARSET_ISO15},
    {"iso88592", CHARSET_ISO2},
    {"iso88593", CHARSET_ISO3},
    {"iso88594", CHARSET_ISO4},
    {"iso88595", CHARSET_ISO5},
    {"iso88596", CHARSET_ISO6},
    {"iso88597", CHARSET_ISO7},
    {"iso88598", CHARSET_ISO8},
    {"iso88599", CHARSET_W1254},
    {"iso_8859-1", CHARSET_W1252},
    {"iso_8859-15", CHARSET_ISO15},
    {"iso_8859-1:1987", CHARSET_W1252},
    {"iso_8859-2", CHARSET_ISO2},
    {"iso_8859-2:1987", CHARSET_ISO2},
    {"iso_8859-3", CHARSET_ISO3},
    {"iso_8859-3:1988", CHARSET_ISO3},
    {"iso_8859-4", CHARSET_ISO4},
    {"iso_8859-4:1988", CHARSET_ISO4},
    {"iso_8859-5", CHARSET_ISO5},
    {"iso_8859-5:1988", CHARSET_ISO5},
    {"iso_8859-6", CHARSET_ISO6},
    {"iso_8859-6:1987", CHARSET_ISO6},
    {"iso_8859-7", CHARSET_ISO7},
    {"iso_8859-7:1987", CHARSET_ISO7},
    {"iso_8859-8", CHARSET_ISO8},
    {"iso_8859-8:1988", CHARSET_ISO8},
    {"iso_8859-9", CHARSET_W1254},
    {"iso_8859-9:1989", CHARSET_W1254},
    {"koi", CHARSET_KOI8R},
    {"koi8", CHARSET_KOI8R},
    {"koi8-r", CHARSET_KOI8R},
    {"koi8-ru", CHARSET_KOI8U},
    {"koi8-u", CHARSET_KOI8U},
    {"koi8_r", CHARSET_KOI8R},
    {"korean", CHARSET_EUC_KR},
    {"ks_c_5601-1987", CHARSET_EUC_KR},
    {"ks_c_5601-1989", CHARSET_EUC_KR},
    {"ksc5601", CHARSET_EUC_KR},
    {"ksc_5601", CHARSET_EUC_KR},
    {"l1", CHARSET_W1252},
    {"l2", CHARSET_ISO2},
    {"l3", CHARSET_ISO3},
    {"l4", CHARSET_ISO4},
    {"l5", CHARSET_W1254},
    {"l6", CHARSET_ISO10},
    {"l9", CHARSET_ISO15},
    {"latin1", CHARSET_W1252},
    {"latin2", CHARSET_ISO2},
    {"latin3", CHARSET_ISO3},
    {"latin4", CHARSET_ISO4},
    {"latin5", CHARSET_W1254},
    {"latin6", CHARSET_ISO10},
    {"logical", CHARSET_ISO8I},
    {"mac", CHARSET_MACINTOSH},
    {"macintosh", CHARSET_MACINTOSH},
    {"ms932", CHARSET_SHIFT_JIS},
    {"ms_kanji", CHARSET_SHIFT_JIS},
    {"replacement", CHARSET_REPLACEMENT},
    {"shift-jis", CHARSET_SHIFT_JIS},
    {"shift_jis", CHARSET_SHIFT_JIS},
    {"sjis", CHARSET_SHIFT_JIS},
    {"sun_eu_greek", CHARSET_ISO7},
    {"tis-620", CHARSET_W874},
    {"ucs-2", CHARSET_UTF16LE},
    {"unicode", CHARSET_UTF16LE},
    {"unicode-1-1-utf-8", CHARSET_UTF8},
    {"unicode11utf8", CHARSET_UTF8},
    {"unicode20utf8", CHARSET_UTF8},
    {"unicodefeff", CHARSET_UTF16LE},
    {"unicodefffe", CHARSET_UTF16BE},
    {"us-ascii", CHARSET_W1252},
    {"utf-16", CHARSET_UTF16LE},
    {"utf-16be", CHARSET_UTF16BE},
    {"utf-16le", CHARSET_UTF16LE},
    {"utf-8", CHARSET_UTF8},
    {"utf8", CHARSET_UTF8},
    {"visual", CHARSET_ISO8},
    {"windows-1250", CHARSET_W1250},
    {"windows-1251", CHARSET_W1251},
    {"windows-1252", CHARSET_W1252},
    {"windows-1253", CHARSET_W1253},
    {"windows-1254", CHARSET_W1254},
    {"windows-1255", CHARSET_W1255},
    {"windows-1256", CHARSET_W1256},
    {"windows-1257", CHARSET_W1257},
    {"windows-1258", CHARSET_W1258},
    {"windows-31j", CHARSET_SHIFT_JIS},
    {"windows-874", CHARSET_W874},
    {"windows-949", CHARSET_EUC_KR},
    {"x-cp1250", CHARSET_W1250},
    {"x-cp1251", CHARSET_W1251},
    {"x-cp1252", CHARSET_W1252},
    {"x-cp1253", CHARSET_W1253},
    {"x-cp1254", CHARSET_W1254},
    {"x-cp1255", CHARSET_W1255},
    {"x-cp1256", CHARSET_W1256},
    {"x-cp1257", CHARSET_W1257},
    {"x-cp1258", CHARSET_W1258},
    {"x-euc-jp", CHARSET_EUC_JP},
    {"x-gbk", CHARSET_GBK},
    {"x-mac-cyrillic", CHARSET_MAC_CYRILLIC},
    {"x-mac-roman", CHARSET_MACINTOSH},
    {"x-mac-ukrainian", CHARSET_MAC_CYRILLIC},
    {"x-sjis", CHARSET_SHIFT_JIS},
    {"x-unicode20utf8", CHARSET_UTF8},
    {"x-user-defined", CHARSET_USER_DEFINED},
    {"x-x-big5", CHARSET_BIG5},
};

charset_id charset_of_label(struct span label)
{
    char lower[LABEL_BYTES_MAX];
    label = span_trim(label);
    if (label.n == 0 || label.n > sizeof(lower))
        return CHARSET_NONE;
    for (size_t i = 0; i < label.n; i++)
        lower[i] = ascii_lower(label.p[i]);
    size_t low = 0, high = sizeof(labels) / sizeof(*labels);
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = span_cmp(span_of(lower, label.n), span_str(labels[mid].label));
        if (order == 0)
            return labels[mid].id;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return CHARSET_NONE;
}

/* The prescan: https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding */

struct scan {
    struct span s; /* the bytes that may be looked at; reaching their end ends the scan */
    size_t at;
};

static bool scan_ended(const struct scan *c)
{
    return c->at >= c->s.n;
}

static bool scan_sees(const struct scan *c, struct span text)
{
    return span_starts_nocase(span_from(c->s, c->at), text);
}

static void scan_skip_space(struct scan *c)
{
    while (!scan_ended(c) && ascii_is_space(c->s.p[c->at]))
        c->at++;
}

struct attribute {
    struct span name, value;
};

static void read_value(struct scan *c, struct attribute *a)
{
    scan_skip_space(c);
    if (scan_ended(c))
        return;
    char quote = c->s.p[c->at];
    if (quote == '"' || quote == '\'') {
        size_t end = span_find(c->s, quote, ++c->at);
        a->value = span_cut(c->s, c->at, end - c->at);
        c->at = end + 1; /* past the end when the quote is missing: the scan has ended */
        return;
    }
    size_t from = c->at;
    while (!scan_ended(c) && !ascii_is_space(c->s.p[c->at]) && c->s.p[c->at] != '>')
        c->at++;
    a->value = span_cut(c->s, from, c->at - from);
}

/* False: no more attributes in this tag. An attribute that meets the end of the bytes leaves the scan ended, and then
 * counts for nothing. */
static bool read_attribute(struct scan *c, struct attribute *a)
{
    while (!scan_ended(c) && (ascii_is_space(c->s.p[c->at]) || c->s.p[c->at] == '/'))
        c->at++;
    if (scan_ended(c) || c->s.p[c->at] == '>')
        return false;
    *a = (struct attribute){0};
    size_t from = c->at;
    for (; !scan_ended(c); c->at++) {
        char b = c->s.p[c->at];
        if ((b == '=' && c->at > from) || ascii_is_space(b) || b == '/' || b == '>')
            break;
    }
    a->name = span_cut(c->s, from, c->at - from);
    scan_skip_space(c);
    if (!scan_ended(c) && c->s.p[c->at] == '=') {
        c->at++;
        read_value(c, a);
    }
    return true;
}

/* "extracting a character encoding from a meta element" */
static charset_id content_encoding(struct span content)
{
    for (;;) {
        size_t at = span_search(content, SPAN("charset"), true);
        if (at == content.n)
            return CHARSET_NONE;
        content = span_from(content, at + 7);
        struct scan c = {content, 0};
        scan_skip_space(&c);
        if (scan_ended(&c) || content.p[c.at] != '=')
            continue;
        c.at++;
        scan_skip_space(&c);
        struct span value = span_from(content, c.at);
        if (value.n && (value.p[0] == '"' || value.p[0] == '\'')) {
            size_t end = span_find(value, value.p[0], 1);
            return end == value.n ? CHARSET_NONE : charset_of_label(span_cut(value, 1, end - 1));
        }
        size_t n = 0;
        while (n < value.n && !ascii_is_space(value.p[n]) && value.p[n] != ';')
            n++;
        return charset_of_label(span_cut(value, 0, n));
    }
}

/* A page that could be scanned is not in UTF-16, whatever it says; and x-user-defined is for scripts only. */
static charset_id as_declared(charset_id id)
{
    if (id == CHARSET_UTF16LE || id == CHARSET_UTF16BE)
        return CHARSET_UTF8;
    return id == CHARSET_USER_DEFINED ? CHARSET_W1252 : id;
}

/* At the byte after "<meta". */
static charset_id scan_meta(struct scan *c)
{
    enum { UNKNOWN, NEEDS_PRAGMA, NEEDS_NONE } need = UNKNOWN;
    bool seen_equiv = false, seen_content = false, seen_charset = false, is_pragma = false;
    charset_id id = CHARSET_NONE;
    struct attribute a;
    while (read_attribute(c, &a)) {
        if (scan_ended(c))
            return CHARSET_NONE;
        if (span_is_nocase(a.name, "http-equiv") && !seen_equiv) {
            seen_equiv = true;
            is_pragma = span_is_nocase(a.value, "content-type");
        } else if (span_is_nocase(a.name, "content") && !seen_content) {
            seen_content = true;
            charset_id said = content_encoding(a.value);
            if (said != CHARSET_NONE && !seen_charset) {
                id = said;
                need = NEEDS_PRAGMA;
            }
        } else if (span_is_nocase(a.name, "charset") && !seen_charset) {
            seen_charset = true;
            id = charset_of_label(a.value);
            need = NEEDS_NONE;
        }
    }
    if (scan_ended(c) || need == UNKNOWN || (need == NEEDS_PRAGMA && !is_pragma))
        return CHARSET_NONE;
    return as_declared(id);
}

static void skip_tag(struct scan *c)
{
    while (!scan_ended(c) && !ascii_is_space(c->s.p[c->at]) && c->s.p[c->at] != '>')
        c->at++;
    struct attribute a;
    while (read_attribute(c, &a))
        ;
}

static bool sees_tag(const struct scan *c)
{
    struct span rest = span_from(c->s, c->at + 1);
    if (rest.n && rest.p[0] == '/')
        rest = span_from(rest, 1);
    return rest.n && ascii_is_alpha(rest.p[0]);
}

static bool sees_meta(const struct scan *c)
{
    struct span after = span_from(c->s, c->at + 5);
    return scan_sees(c, SPAN("<meta")) && after.n && (ascii_is_space(after.p[0]) || after.p[0] == '/');
}

/* "get an XML encoding", for pages with an XML declaration and nothing better. */
static charset_id xml_encoding(struct span s)
{
    if (!span_starts(s, SPAN("<?xml")))
        return CHARSET_NONE;
    struct scan c = {span_cut(s, 0, span_find(s, '>', 0)), 0};
    if (c.s.n == s.n)
        return CHARSET_NONE;
    c.at = span_search(c.s, SPAN("encoding"), false) + 8;
    scan_skip_space(&c);
    if (scan_ended(&c) || c.s.p[c.at++] != '=')
        return CHARSET_NONE;
    scan_skip_space(&c);
    if (scan_ended(&c) || (c.s.p[c.at] != '"' && c.s.p[c.at] != '\''))
        return CHARSET_NONE;
    size_t end = span_find(c.s, c.s.p[c.at], c.at + 1);
    struct span label = span_cut(c.s, c.at + 1, end - c.at - 1);
    for (size_t i = 0; i < label.n; i++) {
        if ((unsigned char)label.p[i] <= ' ')
            return CHARSET_NONE;
    }
    return end == c.s.n ? CHARSET_NONE : as_declared(charset_of_label(label));
}

charset_id charset_prescan(struct span body)
{
    struct scan c = {span_cut(body, 0, CHARSET_PRESCAN_BYTES), 0};
    if (span_starts(c.s, SPAN("<\0?\0x\0")))
        return CHARSET_UTF16LE;
    if (span_starts(c.s, SPAN("\0<\0?\0x")))
        return CHARSET_UTF16BE;
    for (;; c.at++) {
        c.at = span_find(c.s, '<', c.at < c.s.n ? c.at : c.s.n);
        if (scan_ended(&c))
            return xml_encoding(c.s);
        if (scan_sees(&c, SPAN("<!--"))) {
            /* The dashes of the end may be those of the start: "<!-->" is a whole comment. */
            c.at += 2;
            c.at += span_search(span_from(c.s, c.at), SPAN("-->"), false) + 2;
        } else if (sees_meta(&c)) {
            c.at += 5;
            charset_id id = scan_meta(&c);
            if (id != CHARSET_NONE)
                return id;
        } else if (sees_tag(&c)) {
            skip_tag(&c);
        } else if (scan_sees(&c, SPAN("<!")) || scan_sees(&c, SPAN("</")) || scan_sees(&c, SPAN("<?"))) {
            c.at = span_find(c.s, '>', c.at);
        }
    }
}
