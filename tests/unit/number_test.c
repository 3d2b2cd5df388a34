/* SPDX-License-Identifier: Apache-2.0 */
#include <ftw.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/text.h"

#define N_RANDOM 1000000

/* Fixed seed: a failure is the same on every machine. */
static uint64_t random_state;

static uint64_t random_bits(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint64_t to_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static const char *text_of(double value)
{
	static char text[32];
	size_t len = tr_double_text(text, value);

	CHECK_INT(len, strlen(text));
	return text;
}

/* Digits of a text without those that only hold places. */
static int significant_digits(const char *text)
{
	int n = 0, zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
			continue;
		zeros = *text == '0' ? zeros + 1 : 0;
		n++;
	}
	return n - zeros;
}

/* Fewest digits that printf and strtod of the C locale need. */
static int fewest_digits(double value)
{
	char text[64];

	for (int n = 1; n < 17; n++) {
		(void)snprintf(text, sizeof(text), "%.*e", n - 1, value);
		if (strtod(text, NULL) == value)
			return significant_digits(text);
	}
	return 17;
}

/* Reads back by both readers; not longer than printf. */
static bool check_round_trip(double value)
{
	char text[32], wide[64];
	double own = 0;
	size_t len = tr_double_text(text, value);

	(void)snprintf(wide, sizeof(wide), "%.17g", value);
	if (to_bits(strtod(text, NULL)) == to_bits(value) &&
	    tr_parse_double(text, &own) && to_bits(own) == to_bits(value) &&
	    len == strlen(text) && len <= strlen(wide))
		return true;

	printf("# value %a, text %s, printf %s\n", value, text, wide);
	return CHECK(!"round trip");
}

TEST(known_shortest_texts)
{
	CHECK_STR(text_of(0.0), "0");
	CHECK_STR(text_of(-0.0), "-0");
	CHECK_STR(text_of(1.0), "1");
	CHECK_STR(text_of(-1.5), "-1.5");
	CHECK_STR(text_of(0.1), "0.1");
	CHECK_STR(text_of(0.3), "0.3");
	CHECK_STR(text_of(0.1 + 0.2), "0.30000000000000004");
	CHECK_STR(text_of(1.0 / 3), "0.3333333333333333");
	CHECK_STR(text_of(100), "100");
	CHECK_STR(text_of(123456.789), "123456.789");
	CHECK_STR(text_of(0.0001), "0.0001");
	CHECK_STR(text_of(0.00001), "1e-5");
	CHECK_STR(text_of(1e16), "10000000000000000");
	CHECK_STR(text_of(1e17), "1e17");
	CHECK_STR(text_of(1e21), "1e21");
	CHECK_STR(text_of(1e22), "1e22");
	CHECK_STR(text_of(1e23), "1e23");
	CHECK_STR(text_of(9007199254740991.0), "9007199254740991");
	CHECK_STR(text_of(9007199254740993.0), "9007199254740992");
	CHECK_STR(text_of(1.2345e-7), "1.2345e-7");
}

TEST(known_hard_cases)
{
	CHECK_STR(text_of(5e-324), "5e-324");
	CHECK_STR(text_of(DBL_MIN), "2.2250738585072014e-308");
	CHECK_STR(text_of(from_bits(0x000fffffffffffff)),
		  "2.225073858507201e-308");
	CHECK_STR(text_of(DBL_MAX), "1.7976931348623157e308");
	CHECK_STR(text_of(-DBL_MAX), "-1.7976931348623157e308");
	/* Powers of two, whose neighbours are not equally far away. */
	CHECK_STR(text_of(9.5367431640625e-07), "9.5367431640625e-7");
	CHECK_STR(text_of(0x1p-44), "5.684341886080802e-14");
	CHECK_STR(text_of(2e-44), "2e-44");
	CHECK_STR(text_of(9007199254740992.0), "9007199254740992");
	CHECK_STR(text_of(0x1p-1021), "4.450147717014403e-308");
	CHECK_STR(text_of(4.4501477170144023e-308),
		  "4.4501477170144023e-308");
	/* The interval ends on a short number, and is closed only if even. */
	CHECK_STR(text_of(2.98023223876953125e-8), "2.9802322387695312e-8");
	CHECK_STR(text_of(5e-320), "5e-320");
	CHECK_STR(text_of(1.8014398509481984e16), "18014398509481984");
	CHECK_STR(text_of(4.35e54), "4.35e54");
}

TEST(values_that_are_no_numbers_have_names)
{
	CHECK_STR(text_of(NAN), "nan");
	CHECK_STR(text_of(-NAN), "nan");
	CHECK_STR(text_of(INFINITY), "inf");
	CHECK_STR(text_of(-INFINITY), "-inf");
}

TEST(a_million_random_bit_patterns_read_back)
{
	random_state = 1;
	for (int i = 0; i < N_RANDOM; i++) {
		double value = from_bits(random_bits());

		if (isfinite(value) && !check_round_trip(value))
			return;
	}
}

TEST(denormals_and_every_exponent_read_back)
{
	random_state = 2;
	for (uint64_t e = 0; e < 2047; e++) {
		for (int i = 0; i < 50; i++) {
			uint64_t fraction = random_bits() >> 12;

			/* The ends of a binade, then its inside. */
			if (i == 0)
				fraction = e == 0;
			else if (i == 1)
				fraction = (UINT64_C(1) << 52) - 1;
			else if (i < 20)
				fraction >>= random_bits() % 52;
			if (!check_round_trip(from_bits(e << 52 | fraction)))
				return;
		}
	}
}

TEST(no_text_has_more_digits_than_needed)
{
	random_state = 3;
	for (int i = 0; i < N_RANDOM / 20; i++) {
		double value = from_bits(random_bits());

		/* Every third: few digits, as in real life. */
		if (i % 3 == 0)
			value = (double)(random_bits() % 100000) / 1000;
		if (!isfinite(value))
			continue;
		if (!CHECK_INT(significant_digits(text_of(value)),
			       fewest_digits(value)))
			return;
	}
}

/* Of the texts of that length, the one nearest to the value. */
TEST(the_last_digit_is_the_nearest_one)
{
	random_state = 4;
	for (int i = 0; i < N_RANDOM / 20; i++) {
		double value = fabs(from_bits(random_bits()));
		struct tr_decimal d;
		char text[64], wanted[64];
		int digits;

		if (!isnormal(value))
			continue;
		d = tr_double_decimal(value);
		digits = (int)tr_u64_text(text, d.digits);
		(void)snprintf(text, sizeof(text), "%llue%d",
			       (unsigned long long)d.digits, d.exponent);
		(void)snprintf(wanted, sizeof(wanted), "%.*e", digits - 1,
			       value);
		/* What printf rounds to may be outside the interval. */
		if (strtod(wanted, NULL) == value &&
		    !CHECK(strtold(text, NULL) == strtold(wanted, NULL)))
			return;
	}
}

TEST(whole_numbers_have_all_their_digits)
{
	static const uint64_t odd[] = { 0, 9, 10, 99, 100, UINT64_MAX };
	char text[32], wanted[32];

	random_state = 5;
	for (int i = 0; i < 100000; i++) {
		uint64_t n = i < 6 ? odd[i] :
				     random_bits() >> random_bits() % 64;

		(void)snprintf(wanted, sizeof(wanted), "%llu",
			       (unsigned long long)n);
		CHECK_INT(tr_u64_text(text, n), strlen(wanted));
		if (!CHECK_STR(text, wanted))
			return;
	}
}

TEST(reading_agrees_with_strtod_on_long_texts)
{
	random_state = 6;
	for (int i = 0; i < 20000; i++) {
		char text[1200];
		size_t n = random_bits() % (i % 50 ? 40 : 1100) + 1;
		size_t len = 0;
		double value = 0, wanted;

		while (len < n)
			text[len++] = (char)('0' + random_bits() % 10);
		text[random_bits() % len] = '.';
		text[len++] = '5';
		(void)snprintf(text + len, sizeof(text) - len, "e%d",
			       (int)(random_bits() % 700) - 350);
		wanted = strtod(text, NULL);
		if (tr_parse_double(text, &value) != !isinf(wanted) ||
		    (!isinf(wanted) && value != wanted)) {
			printf("# %s\n", text);
			CHECK_NEAR(value, wanted, 0);
			return;
		}
	}
}

/* These are read without strtod(). */
TEST(reading_agrees_with_strtod_on_short_texts)
{
	random_state = 9;
	for (int i = 0; i < 20000; i++) {
		size_t n = random_bits() % 17 + 1;
		char text[20] = "";
		double value = 0, wanted;

		for (size_t at = 0; at < n; at++)
			text[at] = (char)('0' + random_bits() % 10);
		if (n > 1 && i % 4)
			text[random_bits() % n] = '.';
		wanted = strtod(text, NULL);
		if (!CHECK(tr_parse_double(text, &value)) ||
		    !CHECK(value == wanted)) {
			printf("# %s\n", text);
			return;
		}
	}
	CHECK(!tr_parse_double("0.1.2", &(double){ 0 }));
	CHECK(!tr_parse_double(".", &(double){ 0 }));
}

/* Half way between two doubles, and a little to each side of it. */
TEST(ties_are_read_to_even)
{
	if (LDBL_MANT_DIG < 54)
		SKIP("long double cannot hold the middle");

	random_state = 7;
	for (int i = 0; i < 3000; i++) {
		uint64_t bits = random_bits() >> 1;
		char text[1500];
		double low, high, value = 0;
		int len;

		bits = i % 2 ? bits % 0x03a0000000000000 : bits;
		low = from_bits(bits);
		high = from_bits(bits + 1);
		if (!isfinite(high) || high > 1e290)
			continue;
		/* Long double holds the middle, printf writes it in full. */
		len = snprintf(text, sizeof(text), "%.1100Lf",
			       ((long double)low + (long double)high) / 2);
		CHECK(tr_parse_double(text, &value));
		CHECK(to_bits(value) == bits + (bits & 1));
		text[len] = '1';
		text[len + 1] = '\0';
		CHECK(tr_parse_double(text, &value));
		if (!CHECK(to_bits(value) == bits + 1))
			return;
	}
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* A locale with a comma: installed, or built for this test alone. */
static bool use_comma_locale(char *folder)
{
	static const char *const installed[] = { "de_DE.UTF-8", "de_DE",
						 "fr_FR.UTF-8" };
	char command[256];

	for (size_t i = 0; i < 3; i++) {
		if (setlocale(LC_NUMERIC, installed[i]))
			return true;
	}
	if (!mkdtemp(folder))
		return false;
	(void)snprintf(command, sizeof(command),
		       "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 "
		       ">%s/log 2>&1", folder, folder);
	if (system(command) != 0)
		return false;
	(void)setenv("LOCPATH", folder, 1);
	return setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

TEST(a_comma_as_decimal_point_changes_nothing)
{
	char folder[] = P_tmpdir "/tare-locale-XXXXXX";
	char text[32];
	double value = 0;
	bool found = use_comma_locale(folder);

	if (found) {
		(void)snprintf(text, sizeof(text), "%.1f", 1.5);
		CHECK_STR(text, "1,5");
		CHECK_STR(text_of(1.5), "1.5");
		CHECK_STR(text_of(1.25e-9), "1.25e-9");
		CHECK(tr_parse_double("2.5", &value));
		CHECK_NEAR(value, 2.5, 0);
		CHECK(!tr_parse_double("2,5", &value));
		(void)tr_fixed_text(text, sizeof(text), 2.5, 2);
		CHECK_STR(text, "2.50");
		CHECK_STR(tr_as_duration(1234).text, "1.23 us");
	}

	(void)setlocale(LC_NUMERIC, "C");
	(void)unsetenv("LOCPATH");
	(void)nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	if (!found)
		SKIP("no locale with a comma, and localedef builds none");
}
