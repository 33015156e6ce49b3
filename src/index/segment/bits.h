/* bits.h - 128 numbers of a few bits each, packed and unpacked fast. Pure; any thread.
 *
 * Number i is in lane i % 4 of 4 lanes of 32-bit little-endian words; a lane's numbers lie end to end from the lowest
 * bit on, and words of the lanes take turns:
 *
 *     bytes 0..15    word 0 of lanes 0, 1, 2, 3         numbers 0..3 begin at their bit 0, 4..7 at bit `width`, ...
 *     bytes 16..31   word 1 of lanes 0, 1, 2, 3
 *
 * so one vector instruction works on four numbers and `width` bits take 16 * width bytes, no more. */
#pragma once

#include <stdint.h>

#define BITS_COUNT 128
#define BITS_BYTES(width) (16u * (width))

/* Bits that the largest of the 128 numbers needs: 0..32. */
unsigned bits_width(const uint32_t in[BITS_COUNT]);
/* Every number must fit in `width` (0..32) bits. Writes BITS_BYTES(width) bytes. */
void bits_pack(const uint32_t in[BITS_COUNT], unsigned width, unsigned char *out);
/* Reads BITS_BYTES(width) bytes; any bytes are some numbers. width <= 32. */
void bits_unpack(const unsigned char *in, unsigned width, uint32_t out[BITS_COUNT]);
/* The numbers as steps less one: out[i] = base + 1 + the sum of in[0..i] + i, modulo 2^32. */
void bits_unpack_steps(const unsigned char *in, unsigned width, uint32_t base, uint32_t out[BITS_COUNT]);
