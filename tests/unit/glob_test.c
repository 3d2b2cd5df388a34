/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "../check.h"
#include "base/text.h"

TEST(plain_text_matches_itself_only)
{
	CHECK(tr_glob_match("decode", "decode"));
	CHECK(!tr_glob_match("decode", "decoder"));
	CHECK(!tr_glob_match("decode", "decod"));
	CHECK(!tr_glob_match("decode", "Decode"));
	CHECK(tr_glob_match("", ""));
	CHECK(!tr_glob_match("", "a"));
	CHECK(!tr_glob_match("a", ""));
}

TEST(a_star_takes_any_length)
{
	CHECK(tr_glob_match("*", ""));
	CHECK(tr_glob_match("*", "anything at all"));
	CHECK(tr_glob_match("io.*", "io.read"));
	CHECK(tr_glob_match("io.*", "io."));
	CHECK(!tr_glob_match("io.*", "bio.read"));
	CHECK(tr_glob_match("*.read", "io.read.read"));
	CHECK(tr_glob_match("*a*b*c", "xxaxxbxxc"));
	CHECK(!tr_glob_match("*a*b*c", "xxaxxcxxb"));
	CHECK(tr_glob_match("a**b", "ab"));
	CHECK(tr_glob_match("src/*", "src/a/b.c"));
	CHECK(tr_glob_match("*aab", "aaaaab"));
}

TEST(a_question_mark_takes_one_character)
{
	CHECK(tr_glob_match("a?c", "abc"));
	CHECK(!tr_glob_match("a?c", "ac"));
	CHECK(!tr_glob_match("a?", "a"));
	CHECK(tr_glob_match("a?c", "a\xc3\xa4" "c"));
	CHECK(tr_glob_match("?", "\xf0\x9f\x98\x80"));
	CHECK(tr_glob_match("a?c", "a\xff" "c"));
	CHECK(!tr_glob_match("a?c", "a\xff\xff" "c"));
}

TEST(classes_hold_characters_and_ranges)
{
	CHECK(tr_glob_match("[abc]", "b"));
	CHECK(!tr_glob_match("[abc]", "d"));
	CHECK(tr_glob_match("t[0-9]", "t7"));
	CHECK(!tr_glob_match("t[0-9]", "tx"));
	CHECK(tr_glob_match("[!0-9]", "x"));
	CHECK(!tr_glob_match("[!0-9]", "5"));
	CHECK(!tr_glob_match("[!0-9]", ""));
	CHECK(tr_glob_match("[]]", "]"));
	CHECK(tr_glob_match("[!]]", "a"));
	CHECK(!tr_glob_match("[!]]", "]"));
	CHECK(tr_glob_match("[a-]", "-"));
	CHECK(tr_glob_match("[-a]", "-"));
	CHECK(tr_glob_match("[\\]]", "]"));
	CHECK(tr_glob_match("[a\\-z]", "-"));
	CHECK(!tr_glob_match("[a\\-z]", "m"));
	CHECK(!tr_glob_match("[z-a]", "m"));
	CHECK(tr_glob_match("[\xc3\xa0-\xc3\xbc]", "\xc3\xa4"));
	CHECK(tr_glob_match("*[0-9]", "a1b2"));
}

TEST(an_open_bracket_alone_is_a_character)
{
	CHECK(tr_glob_match("[", "["));
	CHECK(tr_glob_match("a[b", "a[b"));
	CHECK(!tr_glob_match("a[b", "ab"));
	CHECK(tr_glob_match("[!", "[!"));
	CHECK(tr_glob_match("[]", "[]"));
	CHECK(tr_glob_match("[!]", "[!]"));
	CHECK(tr_glob_match("[a-", "[a-"));
	CHECK(tr_glob_match("[a\\", "[a\\"));
	CHECK(tr_glob_match("operator[]", "operator[]"));
	CHECK(tr_glob_match("*[a]x[b[c", "aax[b[c"));
}

TEST(a_backslash_makes_the_next_character_plain)
{
	CHECK(tr_glob_match("\\*", "*"));
	CHECK(!tr_glob_match("\\*", "a"));
	CHECK(tr_glob_match("a\\?", "a?"));
	CHECK(tr_glob_match("\\[a]", "[a]"));
	CHECK(tr_glob_match("\\\\", "\\"));
	CHECK(tr_glob_match("a\\", "a\\"));
	CHECK(tr_glob_match("\\a", "a"));
}

TEST(a_list_matches_by_any_item)
{
	CHECK(tr_glob_list_match("a,b,c", "b"));
	CHECK(!tr_glob_list_match("a,b,c", "d"));
	CHECK(tr_glob_list_match(" io.* , db.* ", "db.get"));
	CHECK(tr_glob_list_match("a\\,b", "a,b"));
	CHECK(!tr_glob_list_match("a\\,b", "b"));
	CHECK(tr_glob_list_match("a\\ , b", "a "));
	CHECK(tr_glob_list_match("a b", "a b"));
	CHECK(tr_glob_list_match("x,", "x"));
}

TEST(an_empty_list_or_item_matches_nothing)
{
	CHECK(!tr_glob_list_match("", "a"));
	CHECK(!tr_glob_list_match("", ""));
	CHECK(!tr_glob_list_match(",,", ""));
	CHECK(!tr_glob_list_match("  ", ""));
	CHECK(!tr_glob_list_match("a,,b", ""));
	CHECK(tr_glob_list_match("*", ""));
}

TEST(null_matches_nothing)
{
	CHECK(!tr_glob_match(NULL, "a"));
	CHECK(!tr_glob_match("*", NULL));
	CHECK(!tr_glob_list_match(NULL, "a"));
	CHECK(!tr_glob_list_match("*", NULL));
}

/* A recursive matcher needs longer than the age of the earth for this. */
TEST(many_stars_take_no_more_than_pattern_times_text)
{
	static char pattern[4001], text[4001];

	for (size_t i = 0; i < 4000; i += 2)
		memcpy(pattern + i, "*a", 2);
	memset(text, 'a', 4000);
	CHECK(tr_glob_match(pattern, text));

	pattern[3999] = 'b';
	CHECK(!tr_glob_match(pattern, text));

	memset(pattern, '*', 4000);
	CHECK(tr_glob_match(pattern, text));

	/* Brackets that nothing closes, each of them looked at in vain. */
	memset(pattern, '[', 4000);
	pattern[0] = '*';
	pattern[2000] = 'b';
	memset(text, '[', 4000);
	CHECK(!tr_glob_match(pattern, text));
}
