/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers: the whole text or nothing, in any locale. */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

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

/* ASCII only: strcasecmp() depends on the locale. */
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

/* Skips digits; returns the text after them. */
static const char *skip_digits(const char *text)
{
	while (is_digit(*text))
		text++;
	return text;
}

/* Is it 12, 12.34, .5 or 1e-12? The library's strtod() accepts more. */
static bool is_decimal(const char *text)
{
	const char *end = skip_digits(text);
	bool any = end > text;

	if (*end == '.') {
		text = end + 1;
		end = skip_digits(text);
		any |= end > text;
	}
	if (any && (*end | 32) == 'e') {
		text = end + 1 + (end[1] == '-' || end[1] == '+');
		end = skip_digits(text);
		any = end > text;
	}
	return any && !*end;
}

/*
 * Up to 15 digits without an exponent, as in most options: digits and scale are
 * exact, so the division rounds once, as strtod() does, at a tenth of its cost.
 */
static bool parse_short(const char *text, double *ret)
{
	uint64_t number = 0;
	unsigned digits = 0;
	bool is_fraction = false;
	double scale = 1;

	for (; *text; text++) {
		if (*text == '.' && !is_fraction) {
			is_fraction = true;
			continue;
		}
		if (!is_digit(*text) || ++digits > 15)
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
		if (is_fraction)
			scale *= 10;
	}
	*ret = (double)number / scale;
	return digits > 0;
}

/* That locale is a constant of libc: nothing is allocated. */
static bool parse_finite(const char *text, double *ret)
{
	locale_t c = is_decimal(text) ? newlocale(LC_ALL_MASK, "C", NULL) :
					NULL;
	int saved = errno;

	if (!c)
		return false;
	*ret = strtod_l(text, NULL, c);
	errno = saved;
	freelocale(c);
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
	else if (!parse_short(text, &value) && !parse_finite(text, &value))
		return false;

	*ret = negative ? -value : value;
	return true;
}
