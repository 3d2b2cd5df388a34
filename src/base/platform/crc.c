/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, for ledgers and event files. Uses the x86-64 instruction if there is
 * one: the tables of the other method are 4 KiB, and an epoch evicts them from
 * the cache between two uses.
 */
#include "base/platform.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CRC_POLYNOMIAL 0x82f63b78u

/* ---- by the processor -------------------------------------------------- */

#if defined(__x86_64__)
static bool crc_is_built_in(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2;
}

__attribute__((target("sse4.2"))) static uint32_t
crc_built_in(uint32_t start, const unsigned char *at, size_t len)
{
	uint64_t crc = start, word;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, sizeof(word));
		crc = __builtin_ia32_crc32di(crc, word);
	}
	for (; len; at++, len--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
	return (uint32_t)crc;
}
#else
static bool crc_is_built_in(void)
{
	return false;
}

static uint32_t crc_built_in(uint32_t start, const unsigned char *at,
			     size_t len)
{
	(void)at;
	return start + (uint32_t)len;
}
#endif

/* ---- by tables --------------------------------------------------------- */

void tr_crc_init(struct tr_crc *crc)
{
	uint32_t (*table)[256] = crc->table;

	crc->is_built_in = crc_is_built_in();
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t sum = i;

		for (int k = 0; k < 8; k++)
			sum = sum >> 1 ^ (sum & 1 ? CRC_POLYNOMIAL : 0);
		table[0][i] = sum;
	}
	for (int k = 1; k < 4; k++)
		for (uint32_t i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^
				      table[0][table[k - 1][i] & 255];
}

static uint32_t crc_by_table(const struct tr_crc *crc, uint32_t sum,
			     const unsigned char *at, size_t len)
{
	const uint32_t (*table)[256] = crc->table;

	for (; len >= 4; at += 4, len -= 4) {
		sum ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		       (uint32_t)at[3] << 24;
		sum = table[3][sum & 255] ^ table[2][sum >> 8 & 255] ^
		      table[1][sum >> 16 & 255] ^ table[0][sum >> 24];
	}
	for (; len; at++, len--)
		sum = sum >> 8 ^ table[0][(sum ^ *at) & 255];
	return sum;
}

uint32_t tr_crc_by_table(const struct tr_crc *crc, const void *data,
			 size_t len)
{
	return ~crc_by_table(crc, UINT32_MAX, data, len);
}

uint32_t tr_crc_more(const struct tr_crc *crc, uint32_t sum, const void *data,
		     size_t len)
{
	return crc->is_built_in ? ~crc_built_in(~sum, data, len) :
				  ~crc_by_table(crc, ~sum, data, len);
}

uint32_t tr_crc(const struct tr_crc *crc, const void *data, size_t len)
{
	return tr_crc_more(crc, 0, data, len);
}

/* ---- zeros ------------------------------------------------------------- */

/* Product of two polynomials modulo that of the CRC; bit 31 is x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = b >> 1 ^ (b & 1 ? CRC_POLYNOMIAL : 0);
	}
	return product;
}

uint32_t tr_crc_zeros(uint32_t sum, uint64_t n)
{
	uint32_t power = 1u << 31, x = 1u << 23; /* x^0, x^8 */

	for (; n; n >>= 1, x = multiply(x, x))
		if (n & 1)
			power = multiply(power, x);
	return ~multiply(power, ~sum);
}
