/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/layout.h"

/*
 * Boundaries of the base-2 exponential histogram at scale 5, as addends.
 *
 * The bits of a positive double are exponent and mantissa. Cut the mantissa
 * into 64 slices: each holds at most one boundary 2^(k/32), since these are
 * at least 1.4 slices apart. Adding (k+1) * 2^47 - (boundary + 1) to the
 * bits of a value in such a slice carries into bit 47 exactly when the value
 * lies above the boundary, so the bits from 47 upwards become the bucket's
 * index: one table look-up, one addition, one shift, exact for every double.
 * Upper bounds belong to their bucket, as in OpenTelemetry and Prometheus.
 *
 * Checked against exp2l() for all boundaries in tests/unit/histogram_test.c.
 */
const uint64_t tr_bucket_addend[64] = {
	UINT64_C(0xffffffffffffffff), UINT64_C(0x0000264f2cea7a8b),
	UINT64_C(0x00004aa7930676f0), UINT64_C(0x00007fffffffffff),
	UINT64_C(0x00006cfe2feda4af), UINT64_C(0x00008d47c382ae85),
	UINT64_C(0x0000bfffffffffff), UINT64_C(0x0000ab78ce974655),
	UINT64_C(0x0000c785918a9dc7), UINT64_C(0x0000ffffffffffff),
	UINT64_C(0x0000e1620ae0211e), UINT64_C(0x0000ffffffffffff),
	UINT64_C(0x0000f901f5ce48ea), UINT64_C(0x00010e58c8c55635),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x00012159b3edcbdd),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x000131f79f9e76d2),
	UINT64_C(0x000140252ac9d5d8), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00014bd4a962b07e), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x000154f822b7abd6), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00015b814fc5aa7b), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00015f619980c433), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x0001608a1713a08c), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00015eeb8c14fe79), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00015a7666b331ed), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x0001531abdd55f24), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x000148c84f323a1b), UINT64_C(0x00017fffffffffff),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x00013b6e7d5c0f6f),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x00012afc4dc1daa3),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x0001176066a52c52),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x000100890d04a1b9),
	UINT64_C(0x00013fffffffffff), UINT64_C(0x0000ffffffffffff),
	UINT64_C(0x0000e664227aad63), UINT64_C(0x0000ffffffffffff),
	UINT64_C(0x0000c8df23106f96), UINT64_C(0x0000ffffffffffff),
	UINT64_C(0x0000bfffffffffff), UINT64_C(0x0000a7e723045b78),
	UINT64_C(0x0000bfffffffffff), UINT64_C(0x00008368cc8464a1),
	UINT64_C(0x0000bfffffffffff), UINT64_C(0x00007fffffffffff),
	UINT64_C(0x00005b505d5b6f26), UINT64_C(0x00007fffffffffff),
	UINT64_C(0x00003fffffffffff), UINT64_C(0x00002f89a491babf),
	UINT64_C(0x00003fffffffffff), UINT64_C(0xffffffffffffffff),
};

/* 2^(k/32) as a product of the roots of 2 in k's binary digits. */
double tr_bucket_upper(uint32_t index)
{
	/* Bucket index = exponent * 32 + k covers (2^(k/32), 2^((k+1)/32)]. */
	int exponent = (int)(index / 32) - 1023;
	double step = 1.0;
	/* 2^(1/32), 2^(2/32), 2^(4/32), 2^(8/32), 2^(16/32) and 2 */
	static const double root[6] = {
		0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0,
		0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0,
		0x1.6a09e667f3bcdp+0, 2.0,
	};
	uint32_t k = index % 32 + 1;

	for (unsigned bit = 0; bit < 6; bit++)
		if (k >> bit & 1)
			step *= root[bit];
	return __builtin_ldexp(step, exponent);
}
