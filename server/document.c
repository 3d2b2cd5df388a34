/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

struct cursor {
	char *at;
	const char *wrong; /* the first error; NULL so far */
};

static bool fail(struct cursor *cursor, const char *text)
{
	if (!cursor->wrong)
		cursor->wrong = text;
	return false;
}

static void skip_space(struct cursor *cursor)
{
	cursor->at += strspn(cursor->at, " \t\r\n");
}

static bool take(struct cursor *cursor, char c)
{
	skip_space(cursor);
	if (*cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

/* ---- texts ------------------------------------------------------------- */

int document_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *found = c ? strchr(digits, c) : NULL;

	if (!found)
		return -1;
	return (int)(found - digits) - (found - digits > 15 ? 6 : 0);
}

static bool read_code(struct cursor *cursor, uint32_t *ret_code)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		int digit = document_hex_digit(*cursor->at);

		if (digit < 0)
			return fail(cursor, "broken \\u code");
		code = code << 4 | (uint32_t)digit;
		cursor->at++;
	}
	*ret_code = code;
	return true;
}

/* Both surrogates of a code above 16 bits; a single one is invalid. */
static bool read_surrogates(struct cursor *cursor, uint32_t *code)
{
	uint32_t low;

	if (*code < 0xd800 || *code > 0xdfff)
		return true;
	if (*code > 0xdbff || strncmp(cursor->at, "\\u", 2) != 0)
		return fail(cursor, "half of a \\u pair");
	cursor->at += 2;
	if (!read_code(cursor, &low))
		return false;
	if (low < 0xdc00 || low > 0xdfff)
		return fail(cursor, "half of a \\u pair");
	*code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
	return true;
}

static char *write_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* After the backslash. The result is never longer than the escape. */
static bool read_escape(struct cursor *cursor, char **to)
{
	static const char name[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = *cursor->at;
	const char *found = c ? strchr(name, c) : NULL;
	uint32_t code;

	if (found) {
		*(*to)++ = meant[found - name];
		cursor->at++;
		return true;
	}
	if (c != 'u')
		return fail(cursor, "unknown escape in a text");
	cursor->at++;
	if (!read_code(cursor, &code) || !read_surrogates(cursor, &code))
		return false;
	if (code == 0)
		return fail(cursor, "a text holds a zero");
	*to = write_utf8(*to, code);
	return true;
}

static bool read_text(struct cursor *cursor, const char **ret_text)
{
	char *to = cursor->at;
	uint32_t code;
	size_t n;

	*ret_text = to;
	while (*cursor->at != '"') {
		if ((unsigned char)*cursor->at < 0x20)
			return fail(cursor, "a text has no end");
		if (*cursor->at == '\\') {
			cursor->at++;
			if (!read_escape(cursor, &to))
				return false;
			continue;
		}
		n = tr_utf8_decode(cursor->at, strnlen(cursor->at, 4),
				   &code);
		if (!n)
			return fail(cursor, "a text is not UTF-8");
		(void)memmove(to, cursor->at, n);
		to += n;
		cursor->at += n;
	}
	cursor->at++;
	*to = '\0';
	return true;
}

/* ---- members ----------------------------------------------------------- */

static bool read_digits(const char **at)
{
	size_t n = strspn(*at, "0123456789");

	*at += n;
	return n > 0;
}

/* The length of the number at `text` in JSON's grammar, or 0. */
static size_t number_length(const char *text)
{
	const char *at = text;

	if (*at == '-')
		at++;
	if (*at == '0')
		at++;
	else if (!read_digits(&at))
		return 0;
	if (*at == '.') {
		at++;
		if (!read_digits(&at))
			return 0;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		if (*at == '+' || *at == '-')
			at++;
		if (!read_digits(&at))
			return 0;
	}
	return (size_t)(at - text);
}

/*
 * A number or a switch ends at a comma or brace that must be parsed before it
 * is overwritten by the terminating zero: `ret_cut` is its place.
 */
static bool read_plain(struct cursor *cursor, struct document_member *member,
		       char **ret_cut)
{
	size_t n = number_length(cursor->at);

	member->type = DOCUMENT_NUMBER;
	if (!n && strncmp(cursor->at, "true", 4) == 0)
		n = 4;
	if (!n && strncmp(cursor->at, "false", 5) == 0)
		n = 5;
	if (!n)
		return fail(cursor, "a value is no text, number, true or "
				    "false");
	if (*cursor->at == 't' || *cursor->at == 'f')
		member->type = DOCUMENT_BOOL;
	member->value = cursor->at;
	cursor->at += n;
	*ret_cut = cursor->at;
	return true;
}

static bool is_known(const struct document *document, const char *key)
{
	for (size_t i = 0; i < document->n; i++)
		if (strcmp(document->at[i].key, key) == 0)
			return true;
	return false;
}

static bool read_member(struct cursor *cursor, struct document *document,
			char **ret_cut)
{
	struct document_member *member = &document->at[document->n];

	*ret_cut = NULL;
	if (document->n == DOCUMENT_MEMBERS)
		return fail(cursor, "too many members");
	if (!take(cursor, '"'))
		return fail(cursor, "a member has no name");
	if (!read_text(cursor, &member->key))
		return false;
	if (is_known(document, member->key))
		return fail(cursor, "a member comes twice");
	if (!take(cursor, ':'))
		return fail(cursor, "a member has no value");
	if (take(cursor, '"')) {
		member->type = DOCUMENT_TEXT;
		if (!read_text(cursor, &member->value))
			return false;
	} else if (!read_plain(cursor, member, ret_cut)) {
		return false;
	}
	document->n++;
	return true;
}

static bool read_members(struct cursor *cursor, struct document *document)
{
	char *cut;
	bool more;

	if (take(cursor, '}'))
		return true;
	do {
		if (!read_member(cursor, document, &cut))
			return false;
		more = take(cursor, ',');
		if (!more && !take(cursor, '}'))
			return fail(cursor, "a , or } is missing");
		if (cut)
			*cut = '\0';
	} while (more);
	return true;
}

const char *document_parse(struct document *document, char *text)
{
	struct cursor cursor = { .at = text };

	document->n = 0;
	if (!take(&cursor, '{'))
		return "the document is no JSON object";
	if (!read_members(&cursor, document))
		return cursor.wrong;
	skip_space(&cursor);
	return *cursor.at ? "something follows the document" : NULL;
}
