/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of checksums: a part of layout.h, which includes it.
 *
 * A page of its own, which is a hole while the ledger is written. The copy of a
 * finished run gets one. Every sum is the CRC-32C of the bytes in use of a
 * part; holes read as zeros.
 */
#ifndef TR_LEDGER_LAYOUT_SUMS_H
#define TR_LEDGER_LAYOUT_SUMS_H

#include "ledger/layout/image.h"
#include "ledger/layout/file.h"

#define TR_SUMS_MAGIC UINT64_C(0x31534d5553455254) /* "TRESUMS1" */
#define TR_SUMS_MOST 32u

/* Parts that are not regions; regions have their own numbers. */
enum tr_sum_kind {
	TR_SUM_HEADER = 32,
	TR_SUM_META = 33,
	TR_SUM_SUMS = 34, /* the page of checksums itself */
	TR_SUM_KINDS
};

struct tr_sum {
	uint32_t kind; /* enum tr_region_id or tr_sum_kind */
	uint32_t sum;
	uint64_t off, bytes;
};

struct tr_sums {
	uint64_t magic;
	uint32_t own; /* of this struct, with 0 in this field */
	uint32_t n;
	struct tr_sum at[TR_SUMS_MOST];
};

_Static_assert(sizeof(struct tr_sums) <= TR_PAGE, "one page");

/* ---- sums.c ------------------------------------------------------------ */

/*
 * Adds the checksums to a copy of a ledger. 0 also for an earlier major, which
 * has no room for them.
 */
int tr_sums_write(int fd);
/* Checks the sums of a file, if it has any, against its bytes in the image. */
void tr_sums_check(int fd, struct tr_image *image);
/* Name of a part: of enum tr_region_id or tr_sum_kind. */
const char *tr_sum_name(uint32_t kind);

#endif
