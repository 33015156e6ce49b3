#include "codec/armor.h"

static const char hex_digits[] = "0123456789abcdef";
static const char url_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char plain_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void hex_put(struct buf *out, struct span bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        buf_putc(out, hex_digits[c >> 4]);
        buf_putc(out, hex_digits[c & 15]);
    }
}

status hex_get(struct span text, void *out, size_t n)
{
    unsigned char *to = out;
    if (text.n / 2 != n || text.n % 2)
        return ST_INVALID;
    for (size_t i = 0; i < text.n; i++)
        if (ascii_hex(text.p[i]) < 0)
            return ST_INVALID;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(ascii_hex(text.p[2 * i]) << 4 | ascii_hex(text.p[2 * i + 1]));
    return ST_OK;
}

static void base64_with(struct buf *out, struct span bytes, const char *letters)
{
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < bytes.n; i++) {
        held = held << 8 | (unsigned char)bytes.p[i];
        bits += 8;
        while (bits >= 6) {
            bits -= 6;
            buf_putc(out, letters[held >> bits & 63]);
        }
        held &= 255; /* fewer than six are left */
    }
    if (bits)
        buf_putc(out, letters[held << (6 - bits) & 63]);
}

void base64url_put(struct buf *out, struct span bytes)
{
    base64_with(out, bytes, url_letters);
}

void base64_put(struct buf *out, struct span bytes)
{
    base64_with(out, bytes, plain_letters);
    for (size_t n = bytes.n; n % 3; n++)
        buf_putc(out, '=');
}

static int letter_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (ascii_is_digit(c))
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

status base64url_get(struct span text, void *out, size_t n)
{
    unsigned char *to = out;
    unsigned held = 0, bits = 0;
    if (n > SIZE_MAX / 8 || text.n != (n * 8 + 5) / 6)
        return ST_INVALID;
    for (size_t i = 0; i < text.n; i++)
        if (letter_value(text.p[i]) < 0)
            return ST_INVALID;
    if (text.n && n * 8 % 6) { /* the last letter's unused bits are 0, so that bytes have one spelling */
        unsigned unused = (unsigned)(text.n * 6 - n * 8);
        if (letter_value(text.p[text.n - 1]) & ((1 << unused) - 1))
            return ST_INVALID;
    }
    for (size_t i = 0; i < text.n; i++) {
        held = (held << 6 | (unsigned)letter_value(text.p[i])) & 0xFFFF;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *to++ = (unsigned char)(held >> bits);
        }
    }
    return ST_OK;
}
