/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Globs, matched by code points: '?' matches one character of UTF-8 text, and a
 * byte that is not UTF-8 is a character of its own.
 *
 * Only the last star is tried again: whatever more an earlier star could match,
 * the last one can match, too. That limits the time to pattern x text.
 */
#include "base/text.h"

#include <string.h>

#define NOT_UTF8 0x110000u /* plus the byte: larger than any code point */

struct span {
	const char *at;
	const char *end;
};

static struct span span_of(const char *text)
{
	return (struct span){ text, text + strlen(text) };
}

/* The next character; there must be one. */
static uint32_t take(struct span *span)
{
	uint32_t code;
	size_t len = tr_utf8_decode(span->at, (size_t)(span->end - span->at),
				    &code);

	if (len == 0) {
		code = NOT_UTF8 + (unsigned char)*span->at;
		len = 1;
	}
	span->at += len;
	return code;
}

/* Like take(), with \x read as x. A backslash at the end is itself. */
static uint32_t take_escaped(struct span *pattern)
{
	uint32_t code = take(pattern);

	if (code == '\\' && pattern->at < pattern->end)
		code = take(pattern);
	return code;
}

/*
 * Matches the class after a '['. Returns 1 or 0 for whether `code` is in it,
 * and moves `pattern` past it; -1: there is no ']', so it is not a class.
 */
static int match_class(struct span *pattern, uint32_t code)
{
	struct span p = *pattern;
	bool negated = p.at < p.end && *p.at == '!';
	bool found = false;

	p.at += negated;
	for (bool first = true; p.at < p.end; first = false) {
		uint32_t low, high;

		/* A ']' in the first place is an ordinary character. */
		if (*p.at == ']' && !first) {
			pattern->at = p.at + 1;
			return found != negated;
		}

		low = high = take_escaped(&p);
		if (p.end - p.at >= 2 && p.at[0] == '-' && p.at[1] != ']') {
			p.at++;
			high = take_escaped(&p);
		}
		found |= low <= code && code <= high;
	}

	return -1;
}

/*
 * Matches one pattern character other than '*' with one of the text.
 *
 * *unclosed: the first '[' known to have no ']', or NULL. After it there is
 * none either, and searching again for each would take quadratic time.
 */
static bool match_one(struct span *pattern, struct span *text,
		      const char **unclosed)
{
	uint32_t code = take(text);

	if (*pattern->at == '?') {
		pattern->at++;
		return true;
	}
	if (*pattern->at == '[' &&
	    (!*unclosed || pattern->at < *unclosed)) {
		struct span rest = { pattern->at + 1, pattern->end };
		int matched = match_class(&rest, code);

		if (matched >= 0) {
			*pattern = rest;
			return matched;
		}
		*unclosed = pattern->at;
	}

	return take_escaped(pattern) == code;
}

static bool match(struct span pattern, struct span text)
{
	struct span star_pattern = { NULL, NULL };
	struct span star_text = text;
	const char *unclosed = NULL;

	for (;;) {
		if (pattern.at < pattern.end && *pattern.at == '*') {
			pattern.at++;
			star_pattern = pattern;
			star_text = text;
			continue;
		}
		if (pattern.at == pattern.end && text.at == text.end)
			return true;
		if (pattern.at < pattern.end && text.at < text.end &&
		    match_one(&pattern, &text, &unclosed))
			continue;

		/* The last star matches one more character. */
		if (!star_pattern.at || star_text.at == star_text.end)
			return false;
		(void)take(&star_text);
		pattern = star_pattern;
		text = star_text;
	}
}

bool tr_glob_match(const char *pattern, const char *text)
{
	if (!pattern || !text)
		return false;

	return match(span_of(pattern), span_of(text));
}

/* Takes the first item from a list; "\," does not end an item. */
static struct span take_item(struct span *list)
{
	struct span item = { list->at, list->at };

	while (item.end < list->end && *item.end != ',') {
		if (*item.end == '\\' && item.end + 1 < list->end)
			item.end++;
		item.end++;
	}
	list->at = item.end < list->end ? item.end + 1 : item.end;

	return item;
}

static void trim(struct span *item)
{
	while (item->at < item->end && *item->at == ' ')
		item->at++;
	while (item->at < item->end && item->end[-1] == ' ') {
		/* "\ " at the end is an intended space */
		if (item->end - item->at >= 2 && item->end[-2] == '\\')
			break;
		item->end--;
	}
}

bool tr_glob_list_match(const char *list, const char *text)
{
	struct span rest, whole;

	if (!list || !text)
		return false;

	rest = span_of(list);
	whole = span_of(text);
	while (rest.at < rest.end) {
		struct span item = take_item(&rest);

		trim(&item);
		if (item.at < item.end && match(item, whole))
			return true;
	}

	return false;
}
