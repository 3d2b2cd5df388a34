/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/text.h"

TEST(commas_come_between_items_only)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &buf);
	tr_json_object(&json, NULL);
	tr_json_u64(&json, "a", 1);
	tr_json_array(&json, "b");
	tr_json_i64(&json, NULL, -2);
	tr_json_double(&json, NULL, 0.5);
	tr_json_object(&json, NULL);
	tr_json_end_object(&json);
	tr_json_array(&json, NULL);
	tr_json_end_array(&json);
	tr_json_end_array(&json);
	tr_json_bool(&json, "c", true);
	tr_json_bool(&json, "d", false);
	tr_json_str(&json, "e", "x");
	tr_json_end_object(&json);

	CHECK_STR(buf.data, "{\"a\":1,\"b\":[-2,0.5,{},[]],"
			    "\"c\":true,\"d\":false,\"e\":\"x\"}");
	CHECK(!buf.failed);
	CHECK_INT(json.depth, 0);
	tr_buf_release(&buf);
}

/* The text of one value in an array. */
static const char *text_of_string(struct tr_buf *buf, const char *value)
{
	struct tr_json json;

	tr_buf_release(buf);
	tr_json_begin(&json, buf);
	tr_json_str(&json, NULL, value);
	return buf->data;
}

TEST(characters_that_json_refuses_are_escaped)
{
	struct tr_buf buf = TR_BUF_INIT;

	CHECK_STR(text_of_string(&buf, ""), "\"\"");
	CHECK_STR(text_of_string(&buf, "a\"b\\c"), "\"a\\\"b\\\\c\"");
	CHECK_STR(text_of_string(&buf, "\n\r\t"), "\"\\n\\r\\t\"");
	CHECK_STR(text_of_string(&buf, "\x01\x1f\x7f"),
		  "\"\\u0001\\u001f\\u007f\"");
	CHECK_STR(text_of_string(&buf, NULL), "null");
	tr_buf_release(&buf);
}

TEST(valid_utf8_stays_and_the_rest_is_replaced)
{
	struct tr_buf buf = TR_BUF_INIT;

#define FFFD "\xef\xbf\xbd"
	CHECK_STR(text_of_string(&buf, "\xc3\xa4\xe2\x82\xac"),
		  "\"\xc3\xa4\xe2\x82\xac\"");
	CHECK_STR(text_of_string(&buf, "\xf0\x9f\x98\x80"),
		  "\"\xf0\x9f\x98\x80\"");
	CHECK_STR(text_of_string(&buf, "a\xff" "b"), "\"a" FFFD "b\"");
	/* A sequence cut off, a long form, a surrogate, past U+10FFFF. */
	CHECK_STR(text_of_string(&buf, "\xe2\x82"), "\"" FFFD FFFD "\"");
	CHECK_STR(text_of_string(&buf, "\xc0\x80"), "\"" FFFD FFFD "\"");
	CHECK_STR(text_of_string(&buf, "\xe0\x80\x80"),
		  "\"" FFFD FFFD FFFD "\"");
	CHECK_STR(text_of_string(&buf, "\xed\xa0\x80"),
		  "\"" FFFD FFFD FFFD "\"");
	CHECK_STR(text_of_string(&buf, "\xf4\x90\x80\x80"),
		  "\"" FFFD FFFD FFFD FFFD "\"");
	CHECK_STR(text_of_string(&buf, "\xe2\"x"), "\"" FFFD "\\\"x\"");
	tr_buf_release(&buf);
}

TEST(numbers_keep_all_their_digits)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &buf);
	tr_json_array(&json, NULL);
	tr_json_u64(&json, NULL, UINT64_MAX);
	tr_json_i64(&json, NULL, INT64_MIN);
	tr_json_i64(&json, NULL, INT64_MAX);
	tr_json_double(&json, NULL, 1e300);
	tr_json_double(&json, NULL, NAN);
	tr_json_double(&json, NULL, INFINITY);
	tr_json_double(&json, NULL, -INFINITY);
	tr_json_end_array(&json);

	CHECK_STR(buf.data, "[18446744073709551615,-9223372036854775808,"
			    "9223372036854775807,1e300,null,null,null]");
	tr_buf_release(&buf);
}

TEST(too_deep_or_one_end_too_many_is_a_failure)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &buf);
	for (int i = 0; i < 63; i++)
		tr_json_array(&json, NULL);
	CHECK(!buf.failed);
	for (int i = 0; i < 100; i++)
		tr_json_array(&json, NULL);
	CHECK(buf.failed);
	for (int i = 0; i < 200; i++)
		tr_json_end_array(&json);
	tr_buf_release(&buf);

	tr_json_begin(&json, &buf);
	tr_json_end_object(&json);
	CHECK(buf.failed);
	tr_buf_release(&buf);
}

/* Every byte in a key and in a value, and random bytes. */
static void write_hostile(struct tr_buf *buf)
{
	struct tr_json json;
	unsigned seed = 1;

	tr_json_begin(&json, buf);
	tr_json_object(&json, NULL);
	tr_json_array(&json, "bytes");
	for (int c = 1; c < 256; c++) {
		char text[] = { 'a', (char)c, 'b', '\0' };

		tr_json_object(&json, NULL);
		tr_json_str(&json, text, text);
		tr_json_end_object(&json);
	}
	tr_json_end_array(&json);

	tr_json_array(&json, "random");
	for (int i = 0; i < 5000; i++) {
		char text[17] = "";

		for (int k = 0; k < 16; k++) {
			seed = seed * 1103515245 + 12345;
			text[k] = (char)(seed >> 16);
		}
		tr_json_str(&json, NULL, text);
	}
	tr_json_end_array(&json);
	tr_json_double(&json, "tiny", 5e-324);
	tr_json_end_object(&json);
}

TEST(another_reader_reads_what_was_written)
{
	static const char script[] =
		"python3 -c '"
		"import json,sys\n"
		"d=json.loads(sys.stdin.buffer.read().decode(\"utf-8\"))\n"
		"for c,o in enumerate(d[\"bytes\"],1):\n"
		"    w=\"a\"+(chr(c) if c<128 else \"\\ufffd\")+\"b\"\n"
		"    assert o=={w:w},(c,o)\n"
		"assert len(d[\"random\"])==5000 and d[\"tiny\"]==5e-324\n"
		"'";
	struct tr_buf buf = TR_BUF_INIT;
	FILE *python;

	if (system("command -v python3 >/dev/null 2>&1") != 0)
		SKIP("no python3 here");

	write_hostile(&buf);
	CHECK(!buf.failed);
	python = popen(script, "w");
	if (CHECK(python != NULL)) {
		CHECK_INT(fwrite(buf.data, 1, buf.len, python), buf.len);
		CHECK_INT(pclose(python), 0);
	}
	tr_buf_release(&buf);
}
