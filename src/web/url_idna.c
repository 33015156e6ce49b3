/* UTS 46 on top of libidn2.
 *
 * libidn2 maps, normalises and validates letters, and knows the joiner and bidi rules. It is stricter than the URL
 * Standard in three ways: it refuses symbols (IDNA 2008 does, UTS 46 does not: hearts and snowmen are real domains),
 * hyphens at the ends and in places three and four, and characters newer than its tables. A label that it
 * refuses for such a reason is cut at those characters, which always stand for themselves; libidn2 does the runs
 * between them; and the whole is written in Punycode here:
 *
 *     "I-♥-BÜCHER"  ->  "i" "-" "♥" "-" "bücher"  ->  "xn--i--bcher-..."
 *
 * What is still refused though the standard takes it: a label over 63 bytes in Punycode where libidn2 has to do all of
 * it, a combining mark right after a symbol or hyphen, and characters that map to a symbol (a quarter sign). */
#include "web/url_host.h"

#include <idn2.h>

#include "base/utf8.h"

#define DOMAIN_BYTES_MAX 2048 /* before mapping; DNS allows 253 after it */
#define LABEL_MAX 512         /* code points of a label */

struct label {
    uint32_t cp[LABEL_MAX];
    size_t n;
};

/* Valid in UTS 46 (Unicode 15) and refused by libidn2 2.3.3: symbols, punctuation, new characters. Sorted. */
static const uint32_t own_ranges[][2] = {
    {0xA1, 0xA7},       {0xA9, 0xA9},       {0xAB, 0xAC},       {0xAE, 0xAE},       {0xB0, 0xB1},
    {0xB6, 0xB6},       {0xBB, 0xBB},       {0xBF, 0xBF},       {0xD7, 0xD7},       {0xF7, 0xF7},
    {0x2C2, 0x2C5},     {0x2D2, 0x2D7},     {0x2DE, 0x2DF},     {0x2E5, 0x2EB},     {0x2ED, 0x2ED},
    {0x2EF, 0x2FF},     {0x3F6, 0x3F6},     {0x482, 0x482},     {0x55A, 0x55F},     {0x589, 0x58A},
    {0x58D, 0x58F},     {0x5BE, 0x5BE},     {0x5C0, 0x5C0},     {0x5C3, 0x5C3},     {0x5C6, 0x5C6},
    {0x606, 0x60F},     {0x61B, 0x61B},     {0x61D, 0x61F},     {0x640, 0x640},     {0x66A, 0x66D},
    {0x6D4, 0x6D4},     {0x6DE, 0x6DE},     {0x6E9, 0x6E9},     {0x700, 0x70D},     {0x7F6, 0x7FA},
    {0x7FE, 0x7FF},     {0x830, 0x83E},     {0x85E, 0x85E},     {0x870, 0x88E},     {0x8B5, 0x8B5},
    {0x8BE, 0x8C9},     {0x964, 0x965},     {0x970, 0x970},     {0x9F2, 0x9FB},     {0x9FD, 0x9FD},
    {0xA76, 0xA76},     {0xAF0, 0xAF1},     {0xB70, 0xB70},     {0xB72, 0xB77},     {0xBF0, 0xBFA},
    {0xC5D, 0xC5D},     {0xC77, 0xC7F},     {0xC84, 0xC84},     {0xCDD, 0xCDD},     {0xD04, 0xD04},
    {0xD4F, 0xD4F},     {0xD58, 0xD5E},     {0xD70, 0xD79},     {0xDF4, 0xDF4},     {0xE3F, 0xE3F},
    {0xE4F, 0xE4F},     {0xE5A, 0xE5B},     {0xF01, 0xF0A},     {0xF0D, 0xF17},     {0xF1A, 0xF1F},
    {0xF2A, 0xF34},     {0xF36, 0xF36},     {0xF38, 0xF38},     {0xF3A, 0xF3D},     {0xF85, 0xF85},
    {0xFBE, 0xFC5},     {0xFC7, 0xFCC},     {0xFCE, 0xFDA},     {0x104A, 0x104F},   {0x109E, 0x109F},
    {0x10FB, 0x10FB},   {0x1100, 0x115E},   {0x1161, 0x11FF},   {0x1360, 0x137C},   {0x1390, 0x1399},
    {0x1400, 0x1400},   {0x166D, 0x166E},   {0x169B, 0x169C},   {0x16EB, 0x16F0},   {0x170D, 0x170D},
    {0x171F, 0x171F},   {0x1735, 0x1736},   {0x17D4, 0x17D6},   {0x17D8, 0x17DB},   {0x17F0, 0x17F9},
    {0x1800, 0x1805},   {0x1807, 0x180A},   {0x1940, 0x1940},   {0x1944, 0x1945},   {0x19DA, 0x19DA},
    {0x19DE, 0x19FF},   {0x1A1E, 0x1A1F},   {0x1AA0, 0x1AA6},   {0x1AA8, 0x1AAD},   {0x1B4C, 0x1B4C},
    {0x1B5A, 0x1B6A},   {0x1B74, 0x1B7E},   {0x1BFC, 0x1BFF},   {0x1C3B, 0x1C3F},   {0x1C7E, 0x1C7F},
    {0x1CC0, 0x1CC7},   {0x1CD3, 0x1CD3},   {0x2010, 0x2010},   {0x2012, 0x2016},   {0x2018, 0x2023},
    {0x2027, 0x2027},   {0x2030, 0x2032},   {0x2035, 0x2035},   {0x2038, 0x203B},   {0x203D, 0x203D},
    {0x203F, 0x2046},   {0x204A, 0x2056},   {0x2058, 0x205E},   {0x20A0, 0x20A7},   {0x20A9, 0x20C0},
    {0x2104, 0x2104},   {0x2108, 0x2108},   {0x2114, 0x2114},   {0x2117, 0x2118},   {0x211E, 0x211F},
    {0x2123, 0x2123},   {0x2125, 0x2125},   {0x2127, 0x2127},   {0x2129, 0x2129},   {0x212E, 0x212E},
    {0x213A, 0x213A},   {0x2141, 0x2144},   {0x214A, 0x214D},   {0x214F, 0x214F},   {0x2180, 0x2182},
    {0x2185, 0x2188},   {0x218A, 0x218B},   {0x2190, 0x222B},   {0x222E, 0x222E},   {0x2231, 0x225F},
    {0x2261, 0x226D},   {0x2270, 0x2328},   {0x232B, 0x2426},   {0x2440, 0x244A},   {0x24EB, 0x2A0B},
    {0x2A0D, 0x2A73},   {0x2A77, 0x2ADB},   {0x2ADD, 0x2B73},   {0x2B76, 0x2B95},   {0x2B97, 0x2BFF},
    {0x2C5F, 0x2C5F},   {0x2CE5, 0x2CEA},   {0x2CF9, 0x2CFF},   {0x2D70, 0x2D70},   {0x2E00, 0x2E2E},
    {0x2E30, 0x2E5D},   {0x2E80, 0x2E99},   {0x2E9B, 0x2E9E},   {0x2EA0, 0x2EF2},   {0x3001, 0x3001},
    {0x3003, 0x3004},   {0x3008, 0x3029},   {0x3030, 0x3035},   {0x3037, 0x3037},   {0x303B, 0x303B},
    {0x303D, 0x303F},   {0x30A0, 0x30A0},   {0x3190, 0x3191},   {0x31BB, 0x31E3},   {0x3248, 0x324F},
    {0x327F, 0x327F},   {0x4DB6, 0x4DFF},   {0x9FF0, 0x9FFF},   {0xA490, 0xA4C6},   {0xA4FE, 0xA4FF},
    {0xA60D, 0xA60F},   {0xA673, 0xA673},   {0xA67E, 0xA67E},   {0xA6E6, 0xA6EF},   {0xA6F2, 0xA6F7},
    {0xA700, 0xA716},   {0xA720, 0xA721},   {0xA789, 0xA78A},   {0xA7C1, 0xA7C1},   {0xA7C8, 0xA7C8},
    {0xA7CA, 0xA7CA},   {0xA7D1, 0xA7D1},   {0xA7D3, 0xA7D3},   {0xA7D5, 0xA7D5},   {0xA7D7, 0xA7D7},
    {0xA7D9, 0xA7D9},   {0xA7F6, 0xA7F6},   {0xA828, 0xA82B},   {0xA830, 0xA839},   {0xA874, 0xA877},
    {0xA8CE, 0xA8CF},   {0xA8F8, 0xA8FA},   {0xA8FC, 0xA8FC},   {0xA92E, 0xA92F},   {0xA95F, 0xA97C},
    {0xA9C1, 0xA9CD},   {0xA9DE, 0xA9DF},   {0xAA5C, 0xAA5F},   {0xAA77, 0xAA79},   {0xAADE, 0xAADF},
    {0xAAF0, 0xAAF1},   {0xAB5B, 0xAB5B},   {0xAB68, 0xAB68},   {0xAB6A, 0xAB6B},   {0xABEB, 0xABEB},
    {0xD7B0, 0xD7C6},   {0xD7CB, 0xD7FB},   {0xFBB2, 0xFBC2},   {0xFD3E, 0xFD4F},   {0xFDCF, 0xFDCF},
    {0xFDFD, 0xFDFF},   {0xFE45, 0xFE46},   {0x10100, 0x10102}, {0x10107, 0x10133}, {0x10137, 0x1018E},
    {0x10190, 0x1019C}, {0x101A0, 0x101A0}, {0x101D0, 0x101FC}, {0x102E1, 0x102FB}, {0x10320, 0x10323},
    {0x10341, 0x10341}, {0x1034A, 0x1034A}, {0x1039F, 0x1039F}, {0x103D0, 0x103D5}, {0x1056F, 0x1056F},
    {0x10597, 0x105A1}, {0x105A3, 0x105B1}, {0x105B3, 0x105B9}, {0x105BB, 0x105BC}, {0x10780, 0x10780},
    {0x10857, 0x1085F}, {0x10877, 0x1087F}, {0x108A7, 0x108AF}, {0x108FB, 0x108FF}, {0x10916, 0x1091B},
    {0x1091F, 0x1091F}, {0x1093F, 0x1093F}, {0x109BC, 0x109BD}, {0x109C0, 0x109CF}, {0x109D2, 0x109FF},
    {0x10A40, 0x10A48}, {0x10A50, 0x10A58}, {0x10A7D, 0x10A7F}, {0x10A9D, 0x10A9F}, {0x10AC8, 0x10AC8},
    {0x10AEB, 0x10AF6}, {0x10B39, 0x10B3F}, {0x10B58, 0x10B5F}, {0x10B78, 0x10B7F}, {0x10B99, 0x10B9C},
    {0x10BA9, 0x10BAF}, {0x10CFA, 0x10CFF}, {0x10E60, 0x10E7E}, {0x10E80, 0x10EA9}, {0x10EAD, 0x10EAD},
    {0x10EB0, 0x10EB1}, {0x10F1D, 0x10F26}, {0x10F51, 0x10F59}, {0x10F70, 0x10F81}, {0x10F86, 0x10F89},
    {0x10FB0, 0x10FCB}, {0x11047, 0x1104D}, {0x11052, 0x11065}, {0x11071, 0x11072}, {0x11075, 0x11075},
    {0x110BB, 0x110BC}, {0x110BE, 0x110C1}, {0x11140, 0x11143}, {0x11147, 0x11147}, {0x11174, 0x11175},
    {0x111C5, 0x111C8}, {0x111CD, 0x111CD}, {0x111DB, 0x111DB}, {0x111DD, 0x111DF}, {0x111E1, 0x111F4},
    {0x11238, 0x1123D}, {0x1123F, 0x11240}, {0x112A9, 0x112A9}, {0x1144B, 0x1144F}, {0x1145A, 0x1145B},
    {0x1145D, 0x1145D}, {0x11460, 0x11461}, {0x114C6, 0x114C6}, {0x115C1, 0x115D7}, {0x11641, 0x11643},
    {0x11660, 0x1166C}, {0x116B9, 0x116B9}, {0x1173A, 0x11746}, {0x1183B, 0x1183B}, {0x118EA, 0x118F2},
    {0x11900, 0x11906}, {0x11909, 0x11909}, {0x1190C, 0x11913}, {0x11915, 0x11916}, {0x11918, 0x1192F},
    {0x1193F, 0x1193F}, {0x11941, 0x11941}, {0x11944, 0x11946}, {0x11950, 0x11959}, {0x119E2, 0x119E2},
    {0x11A3F, 0x11A46}, {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11AB0, 0x11ABF}, {0x11B00, 0x11B09},
    {0x11C41, 0x11C45}, {0x11C5A, 0x11C6C}, {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F02, 0x11F02},
    {0x11F04, 0x11F10}, {0x11F12, 0x11F33}, {0x11F43, 0x11F59}, {0x11FB0, 0x11FB0}, {0x11FC0, 0x11FF1},
    {0x11FFF, 0x11FFF}, {0x12400, 0x1246E}, {0x12470, 0x12474}, {0x12F90, 0x12FF2}, {0x1342F, 0x1342F},
    {0x13441, 0x13446}, {0x16A6E, 0x16ABE}, {0x16AC0, 0x16AC9}, {0x16AF5, 0x16AF5}, {0x16B37, 0x16B3F},
    {0x16B44, 0x16B45}, {0x16B5B, 0x16B61}, {0x16E80, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x18AF3, 0x18CD5},
    {0x18D00, 0x18D08}, {0x1AFF0, 0x1AFF3}, {0x1AFF5, 0x1AFFB}, {0x1AFFD, 0x1AFFE}, {0x1B11F, 0x1B122},
    {0x1B132, 0x1B132}, {0x1B155, 0x1B155}, {0x1BC9C, 0x1BC9C}, {0x1BC9F, 0x1BC9F}, {0x1CF50, 0x1CFC3},
    {0x1D000, 0x1D0F5}, {0x1D100, 0x1D126}, {0x1D129, 0x1D15D}, {0x1D16A, 0x1D16C}, {0x1D183, 0x1D184},
    {0x1D18C, 0x1D1A9}, {0x1D1AE, 0x1D1BA}, {0x1D1C1, 0x1D1EA}, {0x1D200, 0x1D241}, {0x1D245, 0x1D245},
    {0x1D2C0, 0x1D2D3}, {0x1D2E0, 0x1D2F3}, {0x1D300, 0x1D356}, {0x1D360, 0x1D378}, {0x1D800, 0x1D9FF},
    {0x1DA37, 0x1DA3A}, {0x1DA6D, 0x1DA74}, {0x1DA76, 0x1DA83}, {0x1DA85, 0x1DA8B}, {0x1DF00, 0x1DF1E},
    {0x1DF25, 0x1DF2A}, {0x1E14F, 0x1E14F}, {0x1E290, 0x1E2AD}, {0x1E2FF, 0x1E2FF}, {0x1E4D0, 0x1E4EB},
    {0x1E4F0, 0x1E4F9}, {0x1E7E0, 0x1E7E6}, {0x1E7E8, 0x1E7EB}, {0x1E7ED, 0x1E7EE}, {0x1E7F0, 0x1E7FE},
    {0x1E8C7, 0x1E8CF}, {0x1E95E, 0x1E95F}, {0x1EC71, 0x1ECB4}, {0x1ED01, 0x1ED3D}, {0x1EEF0, 0x1EEF1},
    {0x1F000, 0x1F02B}, {0x1F030, 0x1F093}, {0x1F0A0, 0x1F0AE}, {0x1F0B1, 0x1F0BF}, {0x1F0C1, 0x1F0CF},
    {0x1F0D1, 0x1F0F5}, {0x1F10B, 0x1F10F}, {0x1F12F, 0x1F12F}, {0x1F150, 0x1F169}, {0x1F16D, 0x1F18F},
    {0x1F191, 0x1F1AD}, {0x1F1E6, 0x1F1FF}, {0x1F260, 0x1F265}, {0x1F300, 0x1F6D7}, {0x1F6DC, 0x1F6EC},
    {0x1F6F0, 0x1F6FC}, {0x1F700, 0x1F776}, {0x1F77B, 0x1F7D9}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0},
    {0x1F800, 0x1F80B}, {0x1F810, 0x1F847}, {0x1F850, 0x1F859}, {0x1F860, 0x1F887}, {0x1F890, 0x1F8AD},
    {0x1F8B0, 0x1F8B1}, {0x1F900, 0x1FA53}, {0x1FA60, 0x1FA6D}, {0x1FA70, 0x1FA7C}, {0x1FA80, 0x1FA88},
    {0x1FA90, 0x1FABD}, {0x1FABF, 0x1FAC5}, {0x1FACE, 0x1FADB}, {0x1FAE0, 0x1FAE8}, {0x1FAF0, 0x1FAF8},
    {0x1FB00, 0x1FB92}, {0x1FB94, 0x1FBCA}, {0x2A6D7, 0x2A6DF}, {0x2B735, 0x2B739}, {0x30000, 0x3134A},
    {0x31350, 0x323AF},
};

/* Bidi classes R, AL and AN among the characters that UTS 46 lets through. Sorted. */
static const uint32_t rtl_ranges[][2] = {
    {0x590, 0x605},     {0x608, 0x608},     {0x60B, 0x60B},     {0x60D, 0x60D},     {0x61B, 0x669},
    {0x66B, 0x6DD},     {0x6E5, 0x6E6},     {0x6EE, 0x6EF},     {0x6FA, 0x7F5},     {0x7FA, 0x8E2},
    {0x200F, 0x200F},   {0xFB1D, 0xFB28},   {0xFB2A, 0xFD3D},   {0xFD50, 0xFDCE},   {0xFDF0, 0xFDFC},
    {0xFE70, 0xFEFE},   {0x10800, 0x1091E}, {0x10920, 0x10B38}, {0x10B40, 0x10FFF}, {0x1E800, 0x1EEEF},
    {0x1EEF2, 0x1EFFF},
};

static bool in_ranges(const uint32_t ranges[][2], size_t n, uint32_t cp)
{
    size_t low = 0;
    while (low < n) {
        size_t mid = low + (n - low) / 2;
        if (cp > ranges[mid][1])
            low = mid + 1;
        else if (cp < ranges[mid][0])
            n = mid;
        else
            return true;
    }
    return false;
}

#define IN_RANGES(ranges, cp) in_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), cp)

/* RFC 3492. */
enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST_CP = 128 };

static uint32_t adapt(uint32_t delta, uint32_t count, bool is_first)
{
    uint32_t k = 0;
    delta = is_first ? delta / DAMP : delta / 2;
    for (delta += delta / count; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias)
{
    return k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

static char digit_char(uint32_t d)
{
    return (char)(d < 26 ? 'a' + d : '0' + d - 26);
}

static void put_delta(struct buf *out, uint32_t delta, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = threshold(k, bias);
        if (delta < t)
            break;
        buf_putc(out, digit_char(t + (delta - t) % (BASE - t)));
        delta = (delta - t) / (BASE - t);
    }
    buf_putc(out, digit_char(delta));
}

/* No overflow check: 512 code points of 21 bits keep delta below 2^31. */
static void punycode_encode(const struct label *in, struct buf *out)
{
    uint32_t basic = 0, next = FIRST_CP, delta = 0, bias = FIRST_BIAS;
    for (size_t i = 0; i < in->n; i++) {
        if (in->cp[i] < 0x80) {
            buf_putc(out, (char)in->cp[i]);
            basic++;
        }
    }
    if (basic)
        buf_putc(out, '-');
    for (uint32_t done = basic; done < in->n;) {
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < in->n; i++)
            if (in->cp[i] >= next && in->cp[i] < least)
                least = in->cp[i];
        delta += (least - next) * (done + 1);
        next = least;
        for (size_t i = 0; i < in->n; i++) {
            delta += in->cp[i] < next;
            if (in->cp[i] != next)
                continue;
            put_delta(out, delta, bias);
            bias = adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
        delta++;
        next++;
    }
}

static int digit_value(char c)
{
    if (ascii_is_digit(c))
        return c - '0' + 26;
    return ascii_is_alpha(c) ? ascii_lower(c) - 'a' : -1;
}

/* One generalised variable-length integer, added to *i; false when it is malformed or passes 32 bits. */
static bool take_delta(struct span s, size_t *at, uint32_t bias, uint32_t *i)
{
    uint64_t sum = *i, weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        int digit = *at < s.n ? digit_value(s.p[*at]) : -1;
        if (digit < 0)
            return false;
        ++*at;
        sum += (uint64_t)digit * weight;
        if (sum > UINT32_MAX)
            return false;
        uint32_t t = threshold(k, bias);
        if ((uint32_t)digit < t)
            break;
        weight *= BASE - t;
        if (weight > UINT32_MAX)
            return false;
    }
    *i = (uint32_t)sum;
    return true;
}

/* `s` is what follows "xn--". */
static bool punycode_decode(struct span s, struct label *out)
{
    size_t at = s.n;
    while (at > 0 && s.p[at - 1] != '-')
        at--;
    out->n = 0;
    if (at > LABEL_MAX)
        return false;
    for (size_t i = 0; i + 1 < at; i++)
        out->cp[out->n++] = (unsigned char)ascii_lower(s.p[i]);
    uint32_t cp = FIRST_CP, i = 0, bias = FIRST_BIAS;
    while (at < s.n) {
        uint32_t old = i, count = (uint32_t)out->n + 1;
        if (count > LABEL_MAX || !take_delta(s, &at, bias, &i))
            return false;
        bias = adapt(i - old, count, old == 0);
        if (i / count > 0x10FFFF - cp)
            return false;
        cp += i / count;
        i %= count;
        memmove(out->cp + i + 1, out->cp + i, (out->n - i) * sizeof(out->cp[0]));
        out->cp[i++] = cp;
        out->n++;
    }
    return true;
}

static bool is_ascii(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

static bool has_ace_prefix(struct span s)
{
    return span_starts_nocase(s, SPAN("xn--"));
}

static bool add_ascii(struct label *l, struct span s)
{
    if (s.n > LABEL_MAX - l->n)
        return false;
    for (size_t i = 0; i < s.n; i++)
        l->cp[l->n++] = (unsigned char)ascii_lower(s.p[i]);
    return true;
}

/* libidn2 alone; IDN2_OK: *out is its answer, free with idn2_free. Its round trip is for names that come in Punycode;
 * on others it refuses every ASCII sign but '-' and '_', which the URL Standard judges later. */
static int run_libidn2(struct span s, char **out)
{
    struct buf text = {0};
    buf_put(&text, s);
    int flags = IDN2_NONTRANSITIONAL | (has_ace_prefix(s) ? 0 : IDN2_NO_ALABEL_ROUNDTRIP);
    int rc = idn2_to_ascii_8z(buf_cstr(&text), out, flags);
    buf_done(&text);
    return rc;
}

/* A run without characters of our own: mapped and appended to `to`. */
static bool add_run(struct label *to, struct span run)
{
    if (is_ascii(run))
        return add_ascii(to, run);
    char *ace = NULL;
    if (run_libidn2(run, &ace) != IDN2_OK)
        return false;
    struct label part;
    struct span s = span_str(ace);
    bool ok = true;
    if (!has_ace_prefix(s))
        ok = add_ascii(to, s);
    else
        ok = punycode_decode(span_from(s, 4), &part) && part.n <= LABEL_MAX - to->n;
    if (ok && has_ace_prefix(s)) {
        memcpy(to->cp + to->n, part.cp, part.n * sizeof(part.cp[0]));
        to->n += part.n;
    }
    idn2_free(ace);
    return ok;
}

/* Cuts `s` at our own characters and hyphens, maps what lies between. */
static bool map_in_runs(struct span s, struct label *to)
{
    size_t at = 0, run = 0;
    to->n = 0;
    while (at < s.n) {
        size_t here = at;
        uint32_t cp = utf8_next(s, &at, NULL);
        if (cp == 0xFF0D || cp == 0xFE63) /* the hyphen's other spellings */
            cp = '-';
        if (cp != '-' && !IN_RANGES(own_ranges, cp))
            continue;
        if (!add_run(to, span_cut(s, run, here - run)) || to->n == LABEL_MAX)
            return false;
        to->cp[to->n++] = cp;
        run = at;
    }
    return add_run(to, span_from(s, run));
}

static bool is_ace(const struct label *l)
{
    return l->n >= 4 && l->cp[0] == 'x' && l->cp[1] == 'n' && l->cp[2] == '-' && l->cp[3] == '-';
}

/* RFC 5893 for a label that libidn2 saw only in pieces, as far as it shows without a table of all classes. */
static bool keeps_bidi_rule(const struct label *l)
{
    bool has_rtl = false, has_latin = false;
    for (size_t i = 0; i < l->n; i++) {
        has_rtl = has_rtl || IN_RANGES(rtl_ranges, l->cp[i]);
        has_latin = has_latin || (l->cp[i] < 0x80 && ascii_is_alpha((char)l->cp[i]));
    }
    if (!has_rtl)
        return true;
    uint32_t last = l->cp[l->n - 1];
    bool last_ok =
        IN_RANGES(rtl_ranges, last) || (last < 0x80 ? ascii_is_digit((char)last) : !IN_RANGES(own_ranges, last));
    return !has_latin && last_ok && IN_RANGES(rtl_ranges, l->cp[0]);
}

static bool put_label(const struct label *l, struct buf *out)
{
    bool ascii = true;
    for (size_t i = 0; i < l->n; i++)
        ascii = ascii && l->cp[i] < 0x80;
    if (is_ace(l) || !keeps_bidi_rule(l))
        return false;
    if (!ascii) {
        buf_puts(out, "xn--");
        punycode_encode(l, out);
        return true;
    }
    for (size_t i = 0; i < l->n; i++)
        buf_putc(out, (char)l->cp[i]);
    return true;
}

/* "xn--..." that libidn2 refused: good if what it stands for maps to itself. */
static bool check_ace(struct span s, struct buf *out)
{
    struct label plain, mapped;
    struct buf text = {0};
    if (!punycode_decode(span_from(s, 4), &plain) || plain.n == 0)
        return false;
    for (size_t i = 0; i < plain.n; i++)
        buf_put_utf8(&text, plain.cp[i]);
    size_t start = out->n;
    bool ok = !is_ascii(buf_span(&text)) && map_in_runs(buf_span(&text), &mapped) && put_label(&mapped, out) &&
              span_eq_nocase(span_from(buf_span(out), start), s);
    buf_done(&text);
    return ok;
}

static bool label_to_ascii(struct span s, struct buf *out)
{
    struct label mapped;
    bool ascii = is_ascii(s), ace = has_ace_prefix(s);
    if (ascii && !ace) {
        for (size_t i = 0; i < s.n; i++)
            buf_putc(out, ascii_lower(s.p[i]));
        return true;
    }
    char *answer = NULL;
    switch (run_libidn2(s, &answer)) {
    case IDN2_OK:
        buf_puts(out, answer);
        idn2_free(answer);
        return true;
    case IDN2_DISALLOWED:
    case IDN2_UNASSIGNED:
    case IDN2_2HYPHEN:
    case IDN2_HYPHEN_STARTEND:
        break;
    default:
        return false;
    }
    if (ace)
        return ascii && check_ace(s, out);
    return map_in_runs(s, &mapped) && put_label(&mapped, out);
}

static bool has_rtl(struct span label)
{
    struct label l;
    if (!has_ace_prefix(label) || !punycode_decode(span_from(label, 4), &l))
        return false;
    for (size_t i = 0; i < l.n; i++)
        if (IN_RANGES(rtl_ranges, l.cp[i]))
            return true;
    return false;
}

/* libidn2 holds each right-to-left label to the bidi rule (RFC 5893). One such label puts the whole name under it, the
 * left-to-right labels too: those begin with a letter and end with a letter or digit. */
static bool domain_keeps_bidi_rule(struct span domain)
{
    bool rtl = false;
    struct span rest = domain, label;
    while (span_split(&rest, '.', &label))
        rtl = rtl || has_rtl(label);
    rest = domain;
    while (rtl && span_split(&rest, '.', &label)) {
        if (label.n == 0 || has_ace_prefix(label))
            continue;
        char last = label.p[label.n - 1];
        if (!ascii_is_alpha(label.p[0]) || (!ascii_is_alpha(last) && !ascii_is_digit(last)))
            return false;
    }
    return true;
}

/* Bytes of the full stop at s.p[at], in any of its four spellings; 0 when there is none. */
static size_t dot_bytes(struct span s, size_t at)
{
    static const struct span wide[] = {{"\xE3\x80\x82", 3}, {"\xEF\xBC\x8E", 3}, {"\xEF\xBD\xA1", 3}};
    if (s.p[at] == '.')
        return 1;
    for (size_t i = 0; i < 3; i++)
        if (span_starts(span_from(s, at), wide[i]))
            return 3;
    return 0;
}

bool url_idna_to_ascii(struct span domain, struct buf *out)
{
    size_t start = out->n, label = 0;
    if (domain.n > DOMAIN_BYTES_MAX || memchr(domain.p, '\0', domain.n))
        return false;
    for (size_t at = 0; at < domain.n;) {
        size_t dot = dot_bytes(domain, at);
        if (!dot) {
            at++;
            continue;
        }
        if (!label_to_ascii(span_cut(domain, label, at - label), out))
            return false;
        buf_putc(out, '.');
        at += dot;
        label = at;
    }
    return label_to_ascii(span_from(domain, label), out) && domain_keeps_bidi_rule(span_from(buf_span(out), start));
}
