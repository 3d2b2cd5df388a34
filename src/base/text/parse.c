/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to numbers: the whole text or nothing, whatever the locale.
 *
 * A double is read exactly. Up to 19 digits with a small power of ten are
 * one multiplication or division of exact values. All others are divided as
 * big integers, bit by bit: slow (a microsecond and more), short, and right
 * for every length of input.
 */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* 767 digits decide every tie between two doubles; what follows can only
 * say whether the rest is zero. */
#define MAX_DIGITS 800
/* The largest are 801 digits (2661 bits) and 5^1131 (2627 bits). */
#define BIG_WORDS 96

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits up to the end of the text, at most `max`. */
static bool parse_digits(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;

	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	if (*text)
		return false;

	*ret = n;
	return true;
}

bool tr_parse_u64(const char *text, uint64_t *ret)
{
	return text && parse_digits(text, UINT64_MAX, ret);
}

bool tr_parse_i64(const char *text, int64_t *ret)
{
	bool negative;
	uint64_t size;

	if (!text)
		return false;
	negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (!parse_digits(text, (uint64_t)INT64_MAX + negative, &size))
		return false;

	/* Through size - 1: the least number has no positive twin. */
	*ret = negative && size ? -(int64_t)(size - 1) - 1 : (int64_t)size;
	return true;
}

/* ASCII only: strcasecmp() follows the locale. */
bool tr_same_word(const char *text, const char *lower)
{
	for (; *lower; text++, lower++) {
		char c = *text;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != *lower)
			return false;
	}

	return !*text;
}

bool tr_parse_bool(const char *text, bool *ret)
{
	static const char *const word[][2] = {
		{ "0", "1" },
		{ "false", "true" },
		{ "no", "yes" },
		{ "off", "on" },
	};

	if (!text)
		return false;
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++) {
		for (int value = 0; value < 2; value++) {
			if (!tr_same_word(text, word[i][value]))
				continue;
			*ret = value;
			return true;
		}
	}

	return false;
}

/* 0.digits x 10^point, the first digit not zero. */
struct decimal {
	unsigned char digit[MAX_DIGITS + 1];
	int n_digits;
	int64_t point;
};

static void add_digit(struct decimal *d, int digit)
{
	if (d->n_digits < MAX_DIGITS)
		d->digit[d->n_digits++] = (unsigned char)digit;
	else if (digit && d->n_digits == MAX_DIGITS)
		d->digit[d->n_digits++] = 1; /* more than zero follows */
}

/* Reads 12.34; NULL if there is no digit, else the text behind it. */
static const char *read_mantissa(const char *text, struct decimal *d)
{
	bool behind_point = false;
	bool any = false;

	d->n_digits = 0;
	d->point = 0;
	for (;; text++) {
		if (*text == '.' && !behind_point) {
			behind_point = true;
			continue;
		}
		if (!is_digit(*text))
			return any ? text : NULL;

		any = true;
		if (*text == '0' && d->n_digits == 0) {
			d->point -= behind_point;
			continue;
		}
		add_digit(d, *text - '0');
		d->point += !behind_point;
	}
}

/* Reads e-12 up to the end of the text. */
static bool read_exponent(const char *text, int64_t *point)
{
	const int64_t enough = INT64_C(1) << 60; /* no text is as long */
	bool negative = false;
	int64_t n = 0;

	if (!*text)
		return true;
	if (*text != 'e' && *text != 'E')
		return false;
	text++;
	if (*text == '-' || *text == '+')
		negative = *text++ == '-';
	if (!is_digit(*text))
		return false;

	for (; is_digit(*text); text++) {
		if (n < enough / 10)
			n = n * 10 + (*text - '0');
	}
	*point += negative ? -n : n;
	return !*text;
}

struct big {
	int n_words; /* without zeros at the top */
	uint32_t word[BIG_WORDS];
};

static void big_multiply_add(struct big *big, uint32_t factor, uint32_t add)
{
	uint64_t carry = add;

	for (int i = 0; i < big->n_words; i++) {
		carry += (uint64_t)big->word[i] * factor;
		big->word[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry)
		big->word[big->n_words++] = (uint32_t)carry;
}

static void big_times_pow5(struct big *big, int n)
{
	for (; n >= 13; n -= 13)
		big_multiply_add(big, 1220703125, 0);
	for (; n > 0; n--)
		big_multiply_add(big, 5, 0);
}

static int big_bits(const struct big *big)
{
	if (big->n_words == 0)
		return 0;
	return 32 * big->n_words -
	       __builtin_clz(big->word[big->n_words - 1]);
}

static void big_shift(struct big *big, int bits)
{
	int words = bits / 32;

	if (words > 0 && big->n_words > 0) {
		memmove(big->word + words, big->word,
			(size_t)big->n_words * sizeof(big->word[0]));
		memset(big->word, 0, (size_t)words * sizeof(big->word[0]));
		big->n_words += words;
	}
	if (bits % 32)
		big_multiply_add(big, 1u << bits % 32, 0);
}

static bool big_less(const struct big *a, const struct big *b)
{
	if (a->n_words != b->n_words)
		return a->n_words < b->n_words;
	for (int i = a->n_words - 1; i >= 0; i--) {
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i];
	}

	return false;
}

/* a -= b, which is not larger. */
static void big_subtract(struct big *a, const struct big *b)
{
	int64_t borrow = 0;

	for (int i = 0; i < a->n_words; i++) {
		borrow += a->word[i];
		borrow -= i < b->n_words ? b->word[i] : 0;
		a->word[i] = (uint32_t)borrow;
		borrow = borrow < 0 ? -1 : 0;
	}
	while (a->n_words > 0 && a->word[a->n_words - 1] == 0)
		a->n_words--;
}

/*
 * The 64 leading bits of a / b, its last bit also standing for any rest.
 * *ret_exponent: the place of the first bit. Uses up both.
 */
static uint64_t big_quotient(struct big *a, struct big *b, int *ret_exponent)
{
	int exponent = big_bits(a) - big_bits(b);
	uint64_t bits = 0;

	big_shift(exponent < 0 ? a : b, exponent < 0 ? -exponent : exponent);
	if (big_less(a, b)) {
		big_shift(a, 1);
		exponent--;
	}
	for (int i = 0; i < 64; i++) {
		bits <<= 1;
		if (!big_less(a, b)) {
			big_subtract(a, b);
			bits |= 1;
		}
		big_shift(a, 1);
	}

	*ret_exponent = exponent;
	return bits | (a->n_words > 0);
}

/* 1.bits x 2^exponent as a double; INFINITY if it is too large. */
static double assemble(uint64_t bits, int exponent)
{
	int keep = exponent >= -1022 ? 53 : 53 + 1022 + exponent;
	uint64_t kept, rest, half, raw;
	double value;

	if (exponent > 1023)
		return INFINITY;
	if (keep < 0)
		return 0;

	kept = keep ? bits >> (64 - keep) : 0;
	rest = keep ? bits << keep : bits;
	half = UINT64_C(1) << 63;
	kept += rest > half || (rest == half && (kept & 1));

	/* A carry out of the fraction lands in the exponent, as it should. */
	raw = exponent >= -1022 ? (uint64_t)(exponent + 1022) << 52 : 0;
	raw += kept;
	memcpy(&value, &raw, sizeof(value));
	return value;
}

static double divide_exactly(const struct decimal *d)
{
	struct big a = { 0 };
	struct big b = { .n_words = 1, .word = { 1 } };
	int exponent10 = (int)d->point - d->n_digits;
	uint64_t bits;
	int exponent;

	for (int i = 0; i < d->n_digits; i++)
		big_multiply_add(&a, 10, d->digit[i]);
	/* The twos of the tens go straight into the exponent. */
	if (exponent10 >= 0)
		big_times_pow5(&a, exponent10);
	else
		big_times_pow5(&b, -exponent10);

	bits = big_quotient(&a, &b, &exponent);
	return assemble(bits, exponent + exponent10);
}

/* Both values and the one operation on them are exact. */
static bool divide_quickly(const struct decimal *d, double *ret)
{
	static const double ten[] = {
		1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,
		1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	int64_t exponent = d->point - d->n_digits;
	uint64_t n = 0;

	if (FLT_EVAL_METHOD != 0 || d->n_digits > 19 || exponent < -22 ||
	    exponent > 22)
		return false;
	for (int i = 0; i < d->n_digits; i++)
		n = n * 10 + d->digit[i];
	if (n > UINT64_C(1) << 53)
		return false;

	*ret = exponent < 0 ? (double)n / ten[-exponent] :
			      (double)n * ten[exponent];
	return true;
}

static bool parse_finite(const char *text, double *ret)
{
	struct decimal d;

	text = read_mantissa(text, &d);
	if (!text || !read_exponent(text, &d.point))
		return false;

	if (d.n_digits == 0 || d.point < -330)
		*ret = 0;
	else if (d.point > 310)
		return false;
	else if (!divide_quickly(&d, ret))
		*ret = divide_exactly(&d);

	return !isinf(*ret);
}

bool tr_parse_double(const char *text, double *ret)
{
	bool negative;
	double value;

	if (!text)
		return false;
	negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;

	if (tr_same_word(text, "nan"))
		value = NAN;
	else if (tr_same_word(text, "inf"))
		value = INFINITY;
	else if (!parse_finite(text, &value))
		return false;

	*ret = negative ? -value : value;
	return true;
}
