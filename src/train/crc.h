/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, as event files have it. By the instruction of x86-64 where there
 * is one: the tables of the other way are 4 KiB, which an epoch has pushed out
 * of the cache each time they are needed.
 */
#ifndef TR_CRC_H
#define TR_CRC_H

#include <tare/api.h>

/* A part of its user, so that threads share nothing that has to be made. */
struct tr_crc {
	bool is_built_in;
	uint32_t table[4][256]; /* [k][i]: of byte i and k zeros */
};

void tr_crc_init(struct tr_crc *crc);
uint32_t tr_crc(const struct tr_crc *crc, const void *data, size_t len);
/* Without the instruction. */
uint32_t tr_crc_by_table(const struct tr_crc *crc, const void *data,
			 size_t len);

#endif
