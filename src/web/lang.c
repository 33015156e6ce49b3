#include "web/lang.h"

#include "base/utf8.h"
#include "web/lang_cld2.h"

/* ---- scripts ---- */

enum {
    OTHER = 0, /* no letter, or of a script that is not counted */
    LATIN = 1 << 0,
    CYRILLIC = 1 << 1,
    GREEK = 1 << 2,
    ARABIC = 1 << 3,
    HEBREW = 1 << 4,
    HAN = 1 << 5,
    KANA = 1 << 6,
    HANGUL = 1 << 7,
    THAI = 1 << 8,
    LAO = 1 << 9,
    KHMER = 1 << 10,
    BURMESE = 1 << 11,
    DEVANAGARI = 1 << 12,
    BENGALI = 1 << 13,
    GURMUKHI = 1 << 14,
    GUJARATI = 1 << 15,
    ORIYA = 1 << 16,
    TAMIL = 1 << 17,
    TELUGU = 1 << 18,
    KANNADA = 1 << 19,
    MALAYALAM = 1 << 20,
    SINHALA = 1 << 21,
    GEORGIAN = 1 << 22,
    ARMENIAN = 1 << 23,
    ETHIOPIC = 1 << 24,
    TIBETAN = 1 << 25,
    MONGOLIAN = 1 << 26,
    CHEROKEE = 1 << 27,
    THAANA = 1 << 28,
    SCRIPTS = 29,
};

/* Letters by script, as blocks of Unicode; what falls between is OTHER. Sorted. */
static const struct {
    uint32_t first, last, script;
} blocks[] = {
    {0x0041, 0x005A, LATIN},    {0x0061, 0x007A, LATIN},     {0x00C0, 0x024F, LATIN},      {0x0370, 0x03FF, GREEK},
    {0x0400, 0x052F, CYRILLIC}, {0x0531, 0x0587, ARMENIAN},  {0x05D0, 0x05F2, HEBREW},     {0x0620, 0x06FF, ARABIC},
    {0x0750, 0x077F, ARABIC},   {0x0780, 0x07B1, THAANA},    {0x0900, 0x097F, DEVANAGARI}, {0x0980, 0x09FF, BENGALI},
    {0x0A00, 0x0A7F, GURMUKHI}, {0x0A80, 0x0AFF, GUJARATI},  {0x0B00, 0x0B7F, ORIYA},      {0x0B80, 0x0BFF, TAMIL},
    {0x0C00, 0x0C7F, TELUGU},   {0x0C80, 0x0CFF, KANNADA},   {0x0D00, 0x0D7F, MALAYALAM},  {0x0D80, 0x0DFF, SINHALA},
    {0x0E01, 0x0E4E, THAI},     {0x0E81, 0x0EDF, LAO},       {0x0F00, 0x0FFF, TIBETAN},    {0x1000, 0x109F, BURMESE},
    {0x10A0, 0x10FF, GEORGIAN}, {0x1100, 0x11FF, HANGUL},    {0x1200, 0x139F, ETHIOPIC},   {0x13A0, 0x13FF, CHEROKEE},
    {0x1780, 0x17D3, KHMER},    {0x1820, 0x18AA, MONGOLIAN}, {0x1E00, 0x1EFF, LATIN},      {0x1F00, 0x1FFF, GREEK},
    {0x3041, 0x30FF, KANA},     {0x3131, 0x318E, HANGUL},    {0x3400, 0x4DBF, HAN},        {0x4E00, 0x9FFF, HAN},
    {0xAB70, 0xABBF, CHEROKEE}, {0xAC00, 0xD7A3, HANGUL},    {0xF900, 0xFAFF, HAN},        {0xFB50, 0xFDFF, ARABIC},
    {0xFE70, 0xFEFC, ARABIC},   {0xFF66, 0xFF9D, KANA},      {0x20000, 0x3FFFD, HAN},
};

static uint32_t script_of(uint32_t cp)
{
    size_t low = 0, high = sizeof(blocks) / sizeof(blocks[0]);
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (cp > blocks[mid].last)
            low = mid + 1;
        else if (cp < blocks[mid].first)
            high = mid;
        else
            return blocks[mid].script;
    }
    return OTHER;
}

/* ---- languages ---- */

/* ISO 639-1 (or -3 where there is none), ISO 639-3, and the scripts that pages in it are written in. Sorted by the
 * first. */
static const struct language {
    char code[4], iso3[4];
    uint32_t scripts;
} languages[] = {
    {"af", "afr", LATIN},
    {"am", "amh", ETHIOPIC},
    {"ar", "ara", ARABIC},
    {"as", "asm", BENGALI},
    {"az", "aze", LATIN | CYRILLIC},
    {"be", "bel", CYRILLIC},
    {"bg", "bul", CYRILLIC},
    {"bn", "ben", BENGALI},
    {"bo", "bod", TIBETAN},
    {"br", "bre", LATIN},
    {"bs", "bos", LATIN | CYRILLIC},
    {"ca", "cat", LATIN},
    {"ceb", "ceb", LATIN},
    {"chr", "chr", CHEROKEE},
    {"co", "cos", LATIN},
    {"cs", "ces", LATIN},
    {"cy", "cym", LATIN},
    {"da", "dan", LATIN},
    {"de", "deu", LATIN},
    {"dv", "div", THAANA},
    {"dz", "dzo", TIBETAN},
    {"el", "ell", GREEK},
    {"en", "eng", LATIN},
    {"eo", "epo", LATIN},
    {"es", "spa", LATIN},
    {"et", "est", LATIN},
    {"eu", "eus", LATIN},
    {"fa", "fas", ARABIC},
    {"fi", "fin", LATIN},
    {"fo", "fao", LATIN},
    {"fr", "fra", LATIN},
    {"fy", "fry", LATIN},
    {"ga", "gle", LATIN},
    {"gd", "gla", LATIN},
    {"gl", "glg", LATIN},
    {"got", "got", OTHER},
    {"gu", "guj", GUJARATI},
    {"ha", "hau", LATIN},
    {"haw", "haw", LATIN},
    {"he", "heb", HEBREW},
    {"hi", "hin", DEVANAGARI},
    {"hmn", "hmn", LATIN},
    {"hr", "hrv", LATIN},
    {"ht", "hat", LATIN},
    {"hu", "hun", LATIN},
    {"hy", "hye", ARMENIAN},
    {"id", "ind", LATIN},
    {"ig", "ibo", LATIN},
    {"is", "isl", LATIN},
    {"it", "ita", LATIN},
    {"iu", "iku", OTHER},
    {"ja", "jpn", HAN | KANA},
    {"jv", "jav", LATIN},
    {"ka", "kat", GEORGIAN},
    {"kk", "kaz", CYRILLIC | LATIN},
    {"km", "khm", KHMER},
    {"kn", "kan", KANNADA},
    {"ko", "kor", HANGUL},
    {"ku", "kur", LATIN | ARABIC},
    {"ky", "kir", CYRILLIC},
    {"la", "lat", LATIN},
    {"lb", "ltz", LATIN},
    {"lg", "lug", LATIN},
    {"lo", "lao", LAO},
    {"lt", "lit", LATIN},
    {"lv", "lav", LATIN},
    {"mg", "mlg", LATIN},
    {"mi", "mri", LATIN},
    {"mk", "mkd", CYRILLIC},
    {"ml", "mal", MALAYALAM},
    {"mn", "mon", CYRILLIC | MONGOLIAN},
    {"mr", "mar", DEVANAGARI},
    {"ms", "msa", LATIN},
    {"mt", "mlt", LATIN},
    {"my", "mya", BURMESE},
    {"ne", "nep", DEVANAGARI},
    {"nl", "nld", LATIN},
    {"nn", "nno", LATIN},
    {"no", "nor", LATIN},
    {"ny", "nya", LATIN},
    {"oc", "oci", LATIN},
    {"or", "ori", ORIYA},
    {"pa", "pan", GURMUKHI | ARABIC},
    {"pl", "pol", LATIN},
    {"ps", "pus", ARABIC},
    {"pt", "por", LATIN},
    {"qu", "que", LATIN},
    {"rm", "roh", LATIN},
    {"ro", "ron", LATIN},
    {"ru", "rus", CYRILLIC},
    {"rw", "kin", LATIN},
    {"sd", "snd", ARABIC},
    {"si", "sin", SINHALA},
    {"sk", "slk", LATIN},
    {"sl", "slv", LATIN},
    {"sm", "smo", LATIN},
    {"sn", "sna", LATIN},
    {"so", "som", LATIN},
    {"sq", "sqi", LATIN},
    {"sr", "srp", CYRILLIC | LATIN},
    {"st", "sot", LATIN},
    {"su", "sun", LATIN},
    {"sux", "sux", OTHER},
    {"sv", "swe", LATIN},
    {"sw", "swa", LATIN},
    {"syr", "syr", OTHER},
    {"ta", "tam", TAMIL},
    {"te", "tel", TELUGU},
    {"tg", "tgk", CYRILLIC},
    {"th", "tha", THAI},
    {"ti", "tir", ETHIOPIC},
    {"tk", "tuk", LATIN | CYRILLIC},
    {"tl", "tgl", LATIN},
    {"tr", "tur", LATIN},
    {"tt", "tat", CYRILLIC | LATIN},
    {"ug", "uig", ARABIC | CYRILLIC},
    {"uk", "ukr", CYRILLIC},
    {"ur", "urd", ARABIC},
    {"uz", "uzb", LATIN | CYRILLIC},
    {"vi", "vie", LATIN},
    {"wo", "wol", LATIN},
    {"xh", "xho", LATIN},
    {"yi", "yid", HEBREW},
    {"yo", "yor", LATIN},
    {"zh", "zho", HAN},
    {"zu", "zul", LATIN},
};
#define LANGUAGES (sizeof(languages) / sizeof(languages[0]))

/* Withdrawn codes, the bibliographic codes of ISO 639-2, and languages that are members of another. Both forms of
 * Chinese writing are "zh"; Bokmal, the common form of Norwegian, is "no". */
static const struct {
    char name[4], code[4];
} aliases[] = {
    {"alb", "sq"}, {"arb", "ar"}, {"arm", "hy"}, {"baq", "eu"}, {"bur", "my"}, {"chi", "zh"},
    {"cmn", "zh"}, {"cze", "cs"}, {"dut", "nl"}, {"fil", "tl"}, {"fre", "fr"}, {"geo", "ka"},
    {"ger", "de"}, {"gre", "el"}, {"ice", "is"}, {"in", "id"},  {"iw", "he"},  {"ji", "yi"},
    {"jw", "jv"},  {"lzh", "zh"}, {"mac", "mk"}, {"mao", "mi"}, {"may", "ms"}, {"mo", "ro"},
    {"nb", "no"},  {"nob", "no"}, {"per", "fa"}, {"pes", "fa"}, {"rum", "ro"}, {"sh", "sr"},
    {"slo", "sk"}, {"tib", "bo"}, {"wel", "cy"}, {"wuu", "zh"}, {"yue", "zh"}, {"zlm", "ms"},
};

/* `name` is lower case and padded with zeros. */
static const struct language *by_name(const char name[4])
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (memcmp(name, aliases[i].name, 4) == 0)
            name = aliases[i].code;
    for (size_t i = 0; i < LANGUAGES; i++)
        if (memcmp(name, languages[i].code, 4) == 0 || memcmp(name, languages[i].iso3, 4) == 0)
            return &languages[i];
    return NULL;
}

/* "pt-BR", "zh_Hant" and " EN " are declared in the wild. */
static const struct language *by_declared(struct span declared)
{
    char name[4] = {0};
    size_t n = 0;
    declared = span_trim(declared);
    for (; n < declared.n && ascii_is_alpha(declared.p[n]); n++) {
        if (n == 3)
            return NULL;
        name[n] = ascii_lower(declared.p[n]);
    }
    return n >= 2 ? by_name(name) : NULL;
}

/* CLD2 names scripts that only one language uses instead of the language, and two Chinese writings. */
static const struct language *by_cld2(const char *name)
{
    if (strcmp(name, "xx-Goth") == 0)
        return by_name("got");
    if (strcmp(name, "xx-Xsux") == 0)
        return by_name("sux");
    return by_declared(span_str(name));
}

const char *lang_known(struct span declared)
{
    const struct language *l = by_declared(declared);
    return l ? l->code : "";
}

/* ---- the sample ---- */

#define LONG_LINE 80        /* bytes; menus and headings are shorter, paragraphs longer */
#define LINES_LOOKED_AT 400 /* so that a huge text costs no more than a large one */

struct sample {
    char text[LANG_SAMPLE_BYTES + 16]; /* CLD2 wants a few bytes after the end */
    size_t n;
};

/* Copies what fits; broken bytes, controls and noncharacters, which CLD2 must not see, become blanks. */
static void sample_add(struct sample *to, struct span s)
{
    for (size_t at = 0, next = 0; at < s.n; at = next) {
        bool valid = true;
        if (s.p[at] >= 0x20 && s.p[at] < 0x7F && to->n < LANG_SAMPLE_BYTES) {
            to->text[to->n++] = s.p[at];
            next = at + 1;
            continue;
        }
        uint32_t cp = utf8_next(s, &next, &valid);
        bool is_bad = !valid || cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || (cp & 0xFFFE) == 0xFFFE ||
                      (cp >= 0xFDD0 && cp <= 0xFDEF);
        size_t n = is_bad ? 1 : next - at;
        if (n > LANG_SAMPLE_BYTES - to->n)
            return;
        memcpy(to->text + to->n, is_bad ? " " : s.p + at, n);
        to->n += n;
    }
    if (to->n < LANG_SAMPLE_BYTES)
        to->text[to->n++] = ' ';
}

/* Paragraphs say more than menus: the long lines from the first on, filled up with the rest from a third of the text
 * on, where navigation has ended. */
static void sample_make(struct sample *to, struct span text)
{
    struct span rest = text, line;
    to->n = 0;
    if (text.n > LANG_SAMPLE_BYTES)
        for (size_t i = 0; i < LINES_LOOKED_AT && to->n < LANG_SAMPLE_BYTES - 16 && span_split(&rest, '\n', &line); i++)
            if (line.n >= LONG_LINE)
                sample_add(to, line);
    if (to->n < LANG_SAMPLE_BYTES / 2)
        sample_add(to, text.n > LANG_SAMPLE_BYTES ? span_from(text, text.n / 3) : text);
    memset(to->text + to->n, 0, sizeof(to->text) - to->n);
}

/* Whether at least two thirds of the letters (by bytes, so that a word of Han weighs like one of Latin) are of
 * `scripts`. */
static bool is_written_in(const struct sample *s, uint32_t scripts)
{
    struct span text = span_of(s->text, s->n);
    size_t all = 0, fit = 0;
    for (size_t at = 0, next = 0; at < text.n; at = next) {
        uint32_t script = OTHER;
        if (text.p[at] & 0x80)
            script = script_of(utf8_next(text, &next, NULL));
        else if (ascii_is_alpha(text.p[next++]))
            script = LATIN;
        all += script ? next - at : 0;
        fit += script & scripts ? next - at : 0;
    }
    return all > 0 && fit * 3 >= all * 2;
}

const char *lang_detect(struct span text, struct span declared)
{
    const struct language *said = by_declared(declared), *found;
    struct sample sample;
    int is_reliable = 0;
    sample_make(&sample, text);
    if (said && is_written_in(&sample, said->scripts))
        return said->code;
    const char *cld2 = lang_cld2_detect(sample.text, (int)sample.n, said ? said->code : NULL, &is_reliable);
    found = by_cld2(cld2);
    if (found && is_reliable)
        return found->code;
    return said ? said->code : "";
}
