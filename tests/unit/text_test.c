/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../check.h"
#include "base/text.h"

#include <tare/error.h>

TEST(a_buffer_grows_and_ends_in_nul)
{
	struct tr_buf buf = TR_BUF_INIT;

	for (int i = 0; i < 1000; i++)
		tr_buf_adds(&buf, "0123456789");
	CHECK_INT(buf.len, 10000);
	CHECK_INT(strlen(buf.data), 10000);
	CHECK(buf.cap > buf.len);
	tr_buf_release(&buf);
	CHECK(!buf.data && buf.len == 0 && buf.cap == 0);
	tr_buf_release(&buf);
	tr_buf_release(NULL);
}

TEST(all_ways_to_add_end_up_in_order)
{
	struct tr_buf buf = TR_BUF_INIT;

	tr_buf_add(&buf, "ab\0c", 4);
	tr_buf_addc(&buf, 'd');
	tr_buf_pad(&buf, '-', 3);
	tr_buf_addf(&buf, "%s=%d", "x", -7);
	tr_buf_add(&buf, NULL, 0);
	tr_buf_adds(&buf, NULL);
	tr_buf_adds(&buf, "");
	tr_buf_pad(&buf, 'x', 0);
	CHECK_INT(buf.len, 12);
	CHECK(memcmp(buf.data, "ab\0cd---x=-7", 13) == 0);
	tr_buf_release(&buf);
}

TEST(formatted_text_longer_than_the_room_is_whole)
{
	struct tr_buf buf = TR_BUF_INIT;
	char longer[1000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[999] = '\0';
	for (int i = 0; i < 50; i++)
		tr_buf_addf(&buf, "<%s>", longer);
	CHECK_INT(buf.len, 50 * 1001);
	CHECK_INT(strlen(buf.data), 50 * 1001);
	tr_buf_release(&buf);
}

TEST(a_buffer_that_failed_stays_as_it_was)
{
	struct tr_buf buf = TR_BUF_INIT;

	tr_buf_adds(&buf, "kept");
	tr_buf_pad(&buf, 'x', SIZE_MAX - 2);
	CHECK(buf.failed);
	tr_buf_adds(&buf, "after");
	tr_buf_addc(&buf, '!');
	tr_buf_addf(&buf, "%d", 5);
	CHECK_STR(buf.data, "kept");
	CHECK_INT(buf.len, 4);
	tr_buf_release(&buf);
	CHECK(!buf.failed);
}

static const char *fixed(double value, int decimals)
{
	static char text[64];
	size_t len = tr_fixed_text(text, sizeof(text), value, decimals);

	CHECK_INT(len, strlen(text));
	return text;
}

TEST(fixed_decimals_round_half_to_even)
{
	CHECK_STR(fixed(0, 0), "0");
	CHECK_STR(fixed(0, 2), "0.00");
	CHECK_STR(fixed(0.125, 2), "0.12");
	CHECK_STR(fixed(0.135, 2), "0.14");
	CHECK_STR(fixed(2.675, 2), "2.68");
	CHECK_STR(fixed(1.005, 2), "1.00");
	CHECK_STR(fixed(0.5, 0), "0");
	CHECK_STR(fixed(1.5, 0), "2");
	CHECK_STR(fixed(2.5, 0), "2");
	CHECK_STR(fixed(2.5000001, 0), "3");
	CHECK_STR(fixed(9.999, 2), "10.00");
	CHECK_STR(fixed(0.999, 2), "1.00");
	CHECK_STR(fixed(1234.5, 3), "1234.500");
	CHECK_STR(fixed(-1.25, 1), "-1.2");
	CHECK_STR(fixed(1e-300, 3), "0.000");
	CHECK_STR(fixed(5e-324, 30), "0.000000000000000000000000000000");
	CHECK_STR(fixed(1e20, 1), "100000000000000000000.0");
	CHECK_STR(fixed(123456789012345678.0, 0), "123456789012345680");
}

TEST(fixed_decimals_at_the_edges)
{
	char small[5];

	CHECK_STR(fixed(-0.0, 1), "0.0");
	CHECK_STR(fixed(-0.001, 2), "0.00");
	CHECK_STR(fixed(1.5, -3), "2");
	CHECK_STR(fixed(1.5, 1000), "1.500000000000000000000000000000");
	CHECK_STR(fixed(NAN, 2), "nan");
	CHECK_STR(fixed(-INFINITY, 2), "-inf");
	/* Too long: the shortest text, or none; never half a number. */
	CHECK_STR(fixed(1e300, 2), "1e300");
	CHECK_INT(tr_fixed_text(small, sizeof(small), 12.34, 2), 0);
	CHECK_STR(small, "");
	CHECK_INT(tr_fixed_text(small, sizeof(small), 1.234, 2), 4);
	CHECK_STR(small, "1.23");
	CHECK_INT(tr_fixed_text(NULL, 0, 1.234, 2), 0);
}

static const char *duration(double ns)
{
	static struct tr_text text;

	text = tr_as_duration(ns);
	return text.text;
}

TEST(durations_have_three_digits_and_a_unit)
{
	CHECK_STR(duration(0), "0 ns");
	CHECK_STR(duration(-0.0), "0 ns");
	CHECK_STR(duration(0.25), "0.25 ns");
	CHECK_STR(duration(1e-9), "0 ns");
	CHECK_STR(duration(7), "7 ns");
	CHECK_STR(duration(12.34), "12.3 ns");
	CHECK_STR(duration(999.4), "999 ns");
	CHECK_STR(duration(999.6), "1 us");
	CHECK_STR(duration(1234), "1.23 us");
	CHECK_STR(duration(-1234), "-1.23 us");
	CHECK_STR(duration(999499), "999 us");
	CHECK_STR(duration(999500), "1 ms");
	CHECK_STR(duration(45.6e6), "45.6 ms");
	CHECK_STR(duration(4.5e9), "4.5 s");
	CHECK_STR(duration(59.94e9), "59.9 s");
}

TEST(long_durations_have_two_units)
{
	CHECK_STR(duration(59.96e9), "1m00s");
	CHECK_STR(duration(65e9), "1m05s");
	CHECK_STR(duration(90e9), "1m30s");
	CHECK_STR(duration(3599.4e9), "59m59s");
	CHECK_STR(duration(3599.6e9), "1h00m");
	CHECK_STR(duration(7380e9), "2h03m");
	CHECK_STR(duration(86399e9), "1d00h");
	CHECK_STR(duration(100 * 3600e9), "4d04h");
	CHECK_STR(duration(1000 * 86400e9), "1000 d");
	CHECK_STR(duration(-65e9), "-1m05s");
	CHECK_STR(duration(1e300), "> 1e5 d");
	CHECK_STR(duration(NAN), "-");
	CHECK_STR(duration(INFINITY), "inf");
	CHECK_STR(duration(-INFINITY), "-inf");
}

/* The widths of the tables' columns rely on it. */
TEST(no_figure_is_wider_than_eight_columns)
{
	static const double digits[] = { 1, 1.234567, 5.99999, 9.5, 9.9996 };

	for (int e = -12; e < 308; e++)
		for (size_t i = 0; i < 10; i++) {
			double v = digits[i / 2] * pow(10, e);

			v = i % 2 ? -v : v;
			CHECK(strlen(tr_as_duration(v).text) <= 8);
			CHECK(strlen(tr_as_number(v).text) <= 8);
			CHECK(strlen(tr_as_share(v).text) <= 8);
		}
}

TEST(numbers_have_digits_then_a_letter)
{
	CHECK_STR(tr_as_number(0).text, "0");
	CHECK_STR(tr_as_number(1234567).text, "1234567");
	CHECK_STR(tr_as_number(12.3456).text, "12.346");
	CHECK_STR(tr_as_number(1234.56).text, "1234.6");
	CHECK_STR(tr_as_number(-123456.7).text, "-123457");
	CHECK_STR(tr_as_number(12345678).text, "12.3 M");
	CHECK_STR(tr_as_number(-2e12).text, "-2 T");
	CHECK_STR(tr_as_number(3e21).text, "3.0e21");
	CHECK_STR(tr_as_number(-1e300).text, "-1.0e300");
	CHECK_STR(tr_as_number(NAN).text, "-");
}

TEST(shares_are_percent_with_a_space)
{
	CHECK_STR(tr_as_share(0).text, "0.0 %");
	CHECK_STR(tr_as_share(0.9934).text, "99.3 %");
	CHECK_STR(tr_as_share(1).text, "100.0 %");
	CHECK_STR(tr_as_share(0.9999).text, "100.0 %");
	CHECK_STR(tr_as_share(12).text, "1200 %");
	CHECK_STR(tr_as_share(1e9).text, "> 1e5 %");
	CHECK_STR(tr_as_share(NAN).text, "-");
	CHECK_STR(tr_as_success(0.9999).text, "99.9 %");
	CHECK_STR(tr_as_success(1).text, "100.0 %");
	CHECK_STR(tr_as_change(0.031).text, "+3.1 %");
	CHECK_STR(tr_as_change(-0.5).text, "-50.0 %");
	CHECK_STR(tr_as_change(NAN).text, "-");
}

TEST(values_have_their_unit)
{
	CHECK_STR(tr_as_value(1536, "B").text, "1.5 KiB");
	CHECK_STR(tr_as_value(1536, "B/s").text, "1.5 KiB/s");
	CHECK_STR(tr_as_value(90e9, "ns").text, "1m30s");
	CHECK_STR(tr_as_value(0.5, "1").text, "0.500");
	CHECK_STR(tr_as_value(7, "").text, "7");
	CHECK_STR(tr_as_value(45.1, "%").text, "45.100 %");
	CHECK_STR(tr_as_value(3, "Bananas").text, "3 Bananas");
	CHECK_STR(tr_as_value(3, "a\033[2J").text, "3 a?[2J");
	CHECK_STR(tr_as_value(NAN, "B").text, "-");
}

TEST(times_of_the_day_are_utc)
{
	CHECK_STR(tr_as_date(1763193667123456789).text,
		  "2025-11-15T08:01:07Z");
	CHECK_STR(tr_as_clock(1763193667123456789).text, "08:01:07.123Z");
}

static const char *printable(const char *name)
{
	static char text[64];

	(void)snprintf(text, sizeof(text), "%s", name);
	tr_text_make_printable(text);
	return text;
}

TEST(names_cannot_control_a_terminal)
{
	struct tr_buf buf = TR_BUF_INIT;

	CHECK_STR(printable("abc\u202edef"), "abc?def");
	CHECK_STR(printable("a\u2066b\u200fc\u061cd"), "a?b?c?d");
	CHECK_STR(printable("\033[2J\177"), "?[2J?");
	CHECK_STR(printable("\xc2\x9b" "2J"), "?2J");
	CHECK_STR(printable("\xff\xc3"), "??");
	CHECK_STR(printable("Grüße, 日本"), "Grüße, 日本");
	tr_buf_add_printable(&buf, "a\u202eb日本c", 6);
	CHECK_STR(buf.data, "a?b日");
	tr_buf_release(&buf);
}

TEST(columns_are_what_a_terminal_shows)
{
	CHECK_INT(tr_text_columns(""), 0);
	CHECK_INT(tr_text_columns("Grüße"), 5);
	CHECK_INT(tr_text_columns("日本"), 4);
	CHECK_INT(tr_text_columns("e\u0301"), 1);
	CHECK_INT(tr_text_columns("\u202e\xff"), 2);
	CHECK_INT(tr_text_cut("日本", 3), 3);
	CHECK_INT(tr_text_cut("abc", 9), 3);
	CHECK_INT(tr_text_cut("e\u0301x", 1), 3);
}

static const char *count(uint64_t n)
{
	static struct tr_text text;

	text = tr_as_count(n);
	return text.text;
}

TEST(counts_have_a_comma_every_three_digits)
{
	CHECK_STR(count(0), "0");
	CHECK_STR(count(999), "999");
	CHECK_STR(count(1000), "1,000");
	CHECK_STR(count(1234567), "1,234,567");
	CHECK_STR(count(UINT64_MAX), "18,446,744,073,709,551,615");
}

static const char *bytes(double n)
{
	static struct tr_text text;

	text = tr_as_bytes(n);
	return text.text;
}

TEST(sizes_have_binary_units)
{
	CHECK_STR(bytes(0), "0 B");
	CHECK_STR(bytes(1023), "1023 B");
	CHECK_STR(bytes(1024), "1 KiB");
	CHECK_STR(bytes(1536), "1.5 KiB");
	CHECK_STR(bytes(12.3 * 1048576), "12.3 MiB");
	CHECK_STR(bytes(1048575), "1 MiB");
	CHECK_STR(bytes(-2048), "-2 KiB");
	CHECK_STR(bytes(18446744073709551616.0), "16 EiB");
	CHECK_STR(bytes(1e300), "8.673617379884036e281 EiB");
	CHECK_STR(bytes(NAN), "-");
	CHECK_STR(bytes(INFINITY), "inf");
}

TEST(whole_numbers_are_read_whole_or_not)
{
	static const char *const wrong[] = {
		"", " ", "-1", "+1", "1 ", " 1", "1x", "0x10", "1.0", "1e3",
		"18446744073709551616", "99999999999999999999999",
	};
	uint64_t n = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!tr_parse_u64(wrong[i], &n));
	CHECK(!tr_parse_u64(NULL, &n));
	CHECK_INT(n, 7);
	CHECK(tr_parse_u64("0", &n) && n == 0);
	CHECK(tr_parse_u64("0018", &n) && n == 18);
	CHECK(tr_parse_u64("18446744073709551615", &n) && n == UINT64_MAX);
}

TEST(doubles_are_read_whole_or_not)
{
	static const char *const wrong[] = {
		"",    " 1",  "1 ",  ".",     "-",	"e5",  "1e",
		"1e+", "1,5", "1.5.", "1e5.0", "0x1p3", "1e999", "-1e999",
		"infinity", "nan(1)", "1_000", "1.8e308", "--1",
	};
	double value = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (!CHECK(!tr_parse_double(wrong[i], &value)))
			printf("# '%s' was read\n", wrong[i]);
	}
	CHECK(!tr_parse_double(NULL, &value));
	CHECK_NEAR(value, 7, 0);
}

TEST(doubles_have_many_forms)
{
	static const struct {
		const char *text;
		double value;
	} right[] = {
		{ "0", 0 },		{ "-0.0", 0 },
		{ "5.", 5 },		{ ".5", 0.5 },
		{ "+1.5E+3", 1500 },	{ "00012.500", 12.5 },
		{ "1e-400", 0 },	{ "0e999999999999999999999", 0 },
		{ "0.1", 0.1 },		{ "1e23", 1e23 },
		{ "2.4703282292062328e-324", 5e-324 },
		{ "2.4703282292062327e-324", 0 },
		{ "2.2250738585072011e-308", 2.2250738585072011e-308 },
		{ "1.7976931348623158e308", 1.7976931348623157e308 },
		{ "Inf", INFINITY },	{ "-INF", -INFINITY },
		{ "9007199254740993", 9007199254740992.0 },
		{ "9007199254740993.00000000000000000001",
		  9007199254740994.0 },
	};
	double value;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		value = 7;
		CHECK(tr_parse_double(right[i].text, &value));
		CHECK_NEAR(value, right[i].value, 0);
	}
	CHECK(tr_parse_double("-0", &value) && signbit(value));
	CHECK(tr_parse_double("nan", &value) && isnan(value));
}

TEST(a_very_long_number_is_read)
{
	static char text[200100];
	double value = 0;

	memset(text, '0', 200000);
	text[1] = '.';
	strcpy(text + 200000, "15e200000");
	CHECK(tr_parse_double(text, &value));
	CHECK_NEAR(value, 15, 0);

	memset(text, '9', 200000);
	strcpy(text + 200000, "e-200000");
	CHECK(tr_parse_double(text, &value));
	CHECK_NEAR(value, 1, 0);
	text[200000] = '\0';
	CHECK(!tr_parse_double(text, &value));
}

TEST(switches_are_read_in_any_case)
{
	static const char *const yes[] = { "1", "true", "YES", "On", "TRUE" };
	static const char *const no[] = { "0", "false", "No", "oFF" };
	static const char *const wrong[] = { "", "2", "y", "truee", "tru",
					     " 1", "enabled" };
	bool on;

	for (size_t i = 0; i < 5; i++) {
		on = false;
		CHECK(tr_parse_bool(yes[i], &on) && on);
	}
	for (size_t i = 0; i < 4; i++) {
		on = true;
		CHECK(tr_parse_bool(no[i], &on) && !on);
	}
	for (size_t i = 0; i < 7; i++)
		CHECK(!tr_parse_bool(wrong[i], &on));
	CHECK(!tr_parse_bool(NULL, &on));
}

/* As the header says it, read from the beginning. */
static size_t clip_slowly(const char *text, size_t len, size_t max)
{
	size_t at = 0;

	while (at < len) {
		uint32_t code;
		size_t step = tr_utf8_decode(text + at, len - at, &code);

		step = step ? step : 1;
		if (at + step > max)
			break;
		at += step;
	}
	return at;
}

TEST(clipping_cuts_no_character)
{
	static const char *const piece[] = {
		"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff",
		"\x80", "\xe2\x82", "\xf0\x9f", "\xc3",
	};
	unsigned seed = 1;

	for (int i = 0; i < 20000; i++) {
		char text[64] = "";
		size_t max;

		for (int k = 0; k < 6; k++) {
			seed = seed * 1103515245 + 12345;
			strcat(text, piece[(seed >> 16) % 9]);
		}
		max = (seed >> 8) % 25;
		if (!CHECK_INT(tr_utf8_clip(text, strlen(text), max),
			       clip_slowly(text, strlen(text), max)))
			return;
	}
	CHECK_INT(tr_utf8_clip(NULL, 0, 5), 0);
	CHECK_INT(tr_utf8_clip("abc", 3, 0), 0);
}

TEST(decoding_gives_the_code_point)
{
	uint32_t code = 7;

	CHECK_INT(tr_utf8_decode("", 0, &code), 0);
	CHECK_INT(tr_utf8_decode("\x80", 1, &code), 0);
	CHECK_INT(tr_utf8_decode("\xf5\x80\x80\x80", 4, &code), 0);
	CHECK_INT(tr_utf8_decode("\xe2\x82\xac", 2, &code), 0);
	CHECK_INT(code, 7);
	CHECK_INT(tr_utf8_decode("\xe2\x82\xac", 3, &code), 3);
	CHECK_INT(code, 0x20ac);
	CHECK_INT(tr_utf8_decode("\xf4\x8f\xbf\xbf", 4, &code), 4);
	CHECK_INT(code, 0x10ffff);
}

/* ---- structs of callers -------------------------------------------------- */

struct sized {
	uint32_t struct_size, kind;
	uint64_t first, second;
};

struct longer {
	struct sized known;
	uint64_t third;
};

static int take(struct sized *to, const void *from, uint32_t size)
{
	memset(to, 0x55, sizeof(*to));
	return tr_take_struct(to, sizeof(*to), from, size,
			      offsetof(struct sized, first));
}

TEST(a_shorter_struct_is_completed_with_zeros)
{
	struct sized from = { sizeof(from), 7, 8, 9 }, to;

	CHECK_INT(take(&to, &from, sizeof(from)), 0);
	CHECK_INT(memcmp(&to, &from, sizeof(to)), 0);
	CHECK_INT(take(&to, &from, offsetof(struct sized, second)), 0);
	CHECK_INT(to.struct_size, sizeof(to));
	CHECK_INT(to.kind, 7);
	CHECK_INT(to.first, 8);
	CHECK_INT(to.second, 0);
	CHECK_INT(take(&to, &from, offsetof(struct sized, first)), 0);
	CHECK_INT(to.first, 0);
	CHECK_INT(take(&to, &from, 4), TARE_EINVAL);
	CHECK_INT(take(&to, &from, 0), TARE_EINVAL);
	CHECK_INT(take(&to, &from, sizeof(from) - 1), TARE_EINVAL);
	CHECK_INT(to.kind, 0x55555555);
}

TEST(a_longer_struct_may_ask_for_nothing_more)
{
	struct longer from = { { sizeof(from), 7, 8, 9 }, 0 };
	struct sized to;

	CHECK_INT(take(&to, &from, sizeof(from)), 0);
	CHECK_INT(to.struct_size, sizeof(to));
	CHECK_INT(to.second, 9);
	from.third = UINT64_C(1) << 63;
	CHECK_INT(take(&to, &from, sizeof(from)), TARE_EINVAL);
	CHECK_INT(take(&to, &from, UINT32_MAX), TARE_EINVAL);
	CHECK_INT(take(&to, &from, UINT32_MAX - 3), TARE_EINVAL);
}
