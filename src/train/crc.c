/* SPDX-License-Identifier: Apache-2.0 */
#include "train/crc.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CRC_POLYNOMIAL 0x82f63b78u

/* ---- by the processor --------------------------------------------------- */

#if defined(__x86_64__)
static bool crc_is_built_in(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2;
}

__attribute__((target("sse4.2"))) static uint32_t
crc_built_in(const unsigned char *at, size_t len)
{
	uint64_t crc = 0xffffffff, word;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&word, at, sizeof(word));
		crc = __builtin_ia32_crc32di(crc, word);
	}
	for (; len; at++, len--)
		crc = __builtin_ia32_crc32qi((uint32_t)crc, *at);
	return ~(uint32_t)crc;
}
#else
static bool crc_is_built_in(void)
{
	return false;
}

static uint32_t crc_built_in(const unsigned char *at, size_t len)
{
	(void)at;
	return (uint32_t)len;
}
#endif

/* ---- by tables ---------------------------------------------------------- */

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

uint32_t tr_crc_by_table(const struct tr_crc *crc, const void *data,
			 size_t len)
{
	const uint32_t (*table)[256] = crc->table;
	const unsigned char *at = data;
	uint32_t sum = 0xffffffff;

	for (; len >= 4; at += 4, len -= 4) {
		sum ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		       (uint32_t)at[3] << 24;
		sum = table[3][sum & 255] ^ table[2][sum >> 8 & 255] ^
		      table[1][sum >> 16 & 255] ^ table[0][sum >> 24];
	}
	for (; len; at++, len--)
		sum = sum >> 8 ^ table[0][(sum ^ *at) & 255];
	return ~sum;
}

uint32_t tr_crc(const struct tr_crc *crc, const void *data, size_t len)
{
	return crc->is_built_in ? crc_built_in(data, len) :
				  tr_crc_by_table(crc, data, len);
}
