/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers to text: the fewest digits that read back as the same double.
 *
 * Method: Schubfach (R. Giulietti, "The Schubfach way to render doubles"). A
 * double represents an interval of reals. Scaled by a power of ten chosen from
 * its binary exponent, the interval is wide enough to contain an integer and
 * too narrow to contain two multiples of ten, so at most four candidates must
 * be checked. One 128-bit power of ten is precise enough for every double.
 *
 * The 617 powers would take 10 KiB. Stored are 192 bits of every 28th; the
 * others are computed with one exact power of five. All 617 were compared with
 * big integers: the resulting 128 bits are exact, rounded up.
 */
#include "base/text.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define POWER_STEP 28	 /* 5^27 is the last below 2^63 */
#define POWER_FIRST -308 /* a multiple of the step, so that 10^0 is exact */
#define POWER_EXACT 55	 /* 5^55 is the last that fits into 128 bits */

#define FRACTION_BITS 52
#define EXPONENT_BIAS 1075 /* of the fraction read as an integer */

/* 10^(POWER_FIRST + 28 i) x 2^n, cut to 192 bits with the top one set. */
static const uint64_t power_base[][3] = {
	{ 0xe61acf033d1a45df, 0x6fb92487298e33bd, 0xadd7728c20b99bd1 },
	{ 0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, 0xf910f9f648232f14 },
	{ 0xea9c227723ee8bcb, 0x465e15a979c1cadc, 0x0a0ce827eac11f2d },
	{ 0xece53cec4a314ebd, 0xa4f8bf5635246428, 0x4609ac5c7899ca36 },
	{ 0xef340a98172aace4, 0x86fb897116c87c34, 0x9c39c1da4c49278d },
	{ 0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, 0xf80f36174730ca34 },
	{ 0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, 0xd8ecb58659be9c90 },
	{ 0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, 0xaa09501d5954a559 },
	{ 0xf8a95fcf88747d94, 0x75a44c6397ce912a, 0x33cca6c06b07b74d },
	{ 0xfb158592be068d2e, 0xeed6e2f0f0d56712, 0xac2e4f162cfad40a },
	{ 0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, 0x76dcb60081ce0fa5 },
	{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 },
	{ 0x813f3978f8940984, 0x4000000000000000, 0x0000000000000000 },
	{ 0x82818f1281ed449f, 0xbff8f10e7a8921a4, 0x2000000000000000 },
	{ 0x83c7088e1aab65db, 0x792667c6da79e0fa, 0x0861d3ee22d1cc53 },
	{ 0x850fadc09923329e, 0x03e2cf6bc604ddb0, 0x74a7ef0198791097 },
	{ 0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 0x5c6658d409fb8bf7 },
	{ 0x87aa9aff79042286, 0x90fb44d2f05d0842, 0xfb118fc9c217a1d2 },
	{ 0x88fcf317f22241e2, 0x441fece3bdf81f03, 0x12f274928400100d },
	{ 0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 0xbc10c5c5cda97c8d },
	{ 0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 0x25c7b885ba466e37 },
	{ 0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 0x7ec63730f500b406 },
	{ 0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 0x5961db50c6d2b886 },
};

static const uint64_t power_of_five[POWER_STEP] = {
	1ull, 5ull, 25ull, 125ull, 625ull, 3125ull, 15625ull, 78125ull,
	390625ull, 1953125ull, 9765625ull, 48828125ull, 244140625ull,
	1220703125ull, 6103515625ull, 30517578125ull, 152587890625ull,
	762939453125ull, 3814697265625ull, 19073486328125ull,
	95367431640625ull, 476837158203125ull, 2384185791015625ull,
	11920928955078125ull, 59604644775390625ull, 298023223876953125ull,
	1490116119384765625ull, 7450580596923828125ull,
};

static const uint64_t power_of_ten[] = {
	1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 1000000ull,
	10000000ull, 100000000ull, 1000000000ull, 10000000000ull,
	100000000000ull, 1000000000000ull, 10000000000000ull,
	100000000000000ull, 1000000000000000ull, 10000000000000000ull,
	100000000000000000ull, 1000000000000000000ull,
	10000000000000000000ull,
};

/* Two digits per step: half the divisions. */
static const char digit_pair[] =
	"00010203040506070809101112131415161718192021222324"
	"25262728293031323334353637383940414243444546474849"
	"50515253545556575859606162636465666768697071727374"
	"75767778798081828384858687888990919293949596979899";

/* The 128 leading bits of 10^k, rounded up. -292 <= k <= 324. */
static u128 leading_bits(int k)
{
	unsigned index = (unsigned)(k - POWER_FIRST);
	const uint64_t *base = power_base[index / POWER_STEP];
	uint64_t five = power_of_five[index % POWER_STEP];
	u128 low, mid, high;

	five <<= __builtin_clzll(five);
	low = (u128)base[2] * five;
	mid = (u128)base[1] * five + (low >> 64);
	high = (u128)base[0] * five + (mid >> 64);
	if (!(high >> 127))
		high = high << 1 | ((mid >> 63) & 1);

	return high + !(k >= 0 && k <= POWER_EXACT);
}

/* factor x n / 2^128; the last bit is also set if any part was cut off. */
static uint64_t scale_to_odd(u128 factor, uint64_t n)
{
	u128 low = (u128)(uint64_t)factor * n;
	u128 high = (u128)(uint64_t)(factor >> 64) * n + (low >> 64);

	return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* Logarithms in fixed point, exact for all exponents of a double. */
static int floor_log10_pow2(int e)
{
	return (e * 1262611) >> 22;
}

static int floor_log10_three_quarters_pow2(int e)
{
	return (e * 1262611 - 524031) >> 22;
}

static int floor_log2_pow10(int e)
{
	return (e * 1741647) >> 19;
}

/*
 * Picks from the scaled interval [lower, upper] around `middle`, all four times
 * too large so that halves are integers. The caller has already excluded an end
 * that belongs to the neighbour.
 */
static struct tr_decimal pick(uint64_t lower, uint64_t middle,
			      uint64_t upper, int exponent)
{
	uint64_t s = middle / 4;
	bool low_fits, high_fits;

	if (s >= 10) {
		uint64_t tens = s / 10;

		low_fits = lower <= 40 * tens;
		high_fits = 40 * tens + 40 <= upper;
		if (low_fits != high_fits)
			return (struct tr_decimal){ tens + high_fits,
						    exponent + 1 };
	}

	low_fits = lower <= 4 * s;
	high_fits = 4 * s + 4 <= upper;
	if (low_fits == high_fits)
		high_fits = middle > 4 * s + 2 ||
			    (middle == 4 * s + 2 && (s & 1));

	return (struct tr_decimal){ s + high_fits, exponent };
}

/*
 * The double significand x 2^exponent. `uneven`: a power of two, whose lower
 * neighbour is only half as far away as its upper one.
 */
static struct tr_decimal shortest(uint64_t significand, int exponent,
				  bool uneven)
{
	int k = uneven ? floor_log10_three_quarters_pow2(exponent) :
			 floor_log10_pow2(exponent);
	int shift = exponent + floor_log2_pow10(-k) + 1;
	u128 factor = leading_bits(-k);
	uint64_t odd = significand & 1; /* readers round ties to even */
	uint64_t n = significand * 4;

	return pick(scale_to_odd(factor, (n - 2 + uneven) << shift) + odd,
		    scale_to_odd(factor, n << shift),
		    scale_to_odd(factor, (n + 2) << shift) - odd, k);
}

static void drop_zeros(struct tr_decimal *d)
{
	if (d->digits % 10)
		return;
	while (d->digits % 100000000 == 0) {
		d->digits /= 100000000;
		d->exponent += 8;
	}
	if (d->digits % 10000 == 0) {
		d->digits /= 10000;
		d->exponent += 4;
	}
	if (d->digits % 100 == 0) {
		d->digits /= 100;
		d->exponent += 2;
	}
	if (d->digits % 10 == 0) {
		d->digits /= 10;
		d->exponent += 1;
	}
}

struct tr_decimal tr_double_decimal(double value)
{
	struct tr_decimal decimal;
	uint64_t bits, fraction;
	int biased;

	/* Counters and sizes: the integer already has the digits. */
	if (value < 9007199254740992.0 && value == (double)(uint64_t)value)
		return (struct tr_decimal){ (uint64_t)value, 0 };

	memcpy(&bits, &value, sizeof(bits));
	fraction = bits & ((1ull << FRACTION_BITS) - 1);
	biased = (int)(bits >> FRACTION_BITS);
	if (biased)
		decimal = shortest(fraction | 1ull << FRACTION_BITS,
				   biased - EXPONENT_BIAS,
				   fraction == 0 && biased > 1);
	else
		decimal = shortest(fraction, 1 - EXPONENT_BIAS, false);

	drop_zeros(&decimal);
	return decimal;
}

static unsigned count_digits(uint64_t n)
{
	/* 1233 / 4096 is a little over log10(2). */
	unsigned bits = 64 - (unsigned)__builtin_clzll(n | 1);
	unsigned guess = bits * 1233 >> 12;

	return guess + (n >= power_of_ten[guess]) + (n == 0);
}

static void put_eight(char *out, uint32_t n)
{
	uint32_t high = n / 10000;
	uint32_t low = n % 10000;

	memcpy(out, digit_pair + high / 100 * 2, 2);
	memcpy(out + 2, digit_pair + high % 100 * 2, 2);
	memcpy(out + 4, digit_pair + low / 100 * 2, 2);
	memcpy(out + 6, digit_pair + low % 100 * 2, 2);
}

/*
 * Writes the `count` digits of n, eight at a time: 32-bit arithmetic, and the
 * parts of an eight are independent.
 */
static void put_digits(char *out, uint64_t n, unsigned count)
{
	uint32_t rest;

	while (count > 8) {
		count -= 8;
		put_eight(out + count, (uint32_t)(n % 100000000));
		n /= 100000000;
	}
	for (rest = (uint32_t)n; count >= 2; rest /= 100) {
		count -= 2;
		memcpy(out + count, digit_pair + rest % 100 * 2, 2);
	}
	if (count)
		out[0] = (char)('0' + rest);
}

size_t tr_u64_text(char *out, uint64_t value)
{
	unsigned count = count_digits(value);

	put_digits(out, value, count);
	out[count] = '\0';
	return count;
}

/* 1234, 12.34, 0.001234 */
static size_t put_plain(char *out, struct tr_decimal d, unsigned count)
{
	int before = (int)count + d.exponent; /* digits before the point */
	size_t zeros;

	if (d.exponent >= 0) {
		put_digits(out, d.digits, count);
		memset(out + count, '0', (size_t)d.exponent);
		return (size_t)before;
	}
	if (before > 0) {
		put_digits(out + 1, d.digits, count);
		memmove(out, out + 1, (size_t)before);
		out[before] = '.';
		return count + 1;
	}

	zeros = (size_t)-before;
	memset(out, '0', zeros + 2);
	out[1] = '.';
	put_digits(out + 2 + zeros, d.digits, count);
	return 2 + zeros + count;
}

/* 1e300, 1.234e-300; `exponent` is that of the first digit. */
static size_t put_scientific(char *out, struct tr_decimal d, unsigned count,
			     int exponent)
{
	size_t len = count > 1 ? count + 1 : 1;

	put_digits(out + 1, d.digits, count);
	out[0] = out[1];
	out[1] = '.';
	out[len++] = 'e';
	if (exponent < 0) {
		out[len++] = '-';
		exponent = -exponent;
	}

	return len + tr_u64_text(out + len, (uint64_t)exponent);
}

size_t tr_double_text(char *out, double value)
{
	struct tr_decimal decimal;
	size_t len = 0;
	unsigned count;
	int exponent;

	if (isnan(value)) {
		memcpy(out, "nan", 4);
		return 3;
	}
	if (signbit(value)) {
		out[len++] = '-';
		value = -value;
	}
	if (isinf(value)) {
		memcpy(out + len, "inf", 4);
		return len + 3;
	}

	decimal = tr_double_decimal(value);
	count = count_digits(decimal.digits);
	exponent = (int)count - 1 + decimal.exponent;
	/* The limits of %.17g, so that no text is longer than with it. */
	if (exponent >= -4 && exponent < 17)
		len += put_plain(out + len, decimal, count);
	else
		len += put_scientific(out + len, decimal, count, exponent);

	out[len] = '\0';
	return len;
}
