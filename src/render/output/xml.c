/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and numbers for elements and attributes of XML and HTML. */
#include "render/output.h"

#include <assert.h>

static const char *entity_of(uint32_t c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Characters that XML cannot represent or that would break a line. */
static bool is_forbidden(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0xfffe || c == 0xffff;
}

void tr_sink_xml(struct tr_sink *sink, const char *text, size_t most)
{
	size_t len = strlen(text), n;

	for (size_t i = 0; i < len; i += n) {
		const char *entity;
		uint32_t c = 0;

		if (most-- == 0) {
			tr_sink_adds(sink, "\xe2\x80\xa6");
			return;
		}
		n = tr_utf8_decode(text + i, len - i, &c);
		entity = entity_of(c);
		if (!n || is_forbidden(c))
			tr_sink_adds(sink, "?");
		else if (entity)
			tr_sink_adds(sink, entity);
		else
			tr_sink_add(sink, text + i, n);
		n = n ? n : 1;
	}
}

struct tr_text tr_as_short(double value, int decimals)
{
	struct tr_text out = tr_as_fixed(value, decimals);
	size_t n = strlen(out.text);

	assert(decimals >= 0);
	if (strchr(out.text, '.')) {
		while (out.text[n - 1] == '0')
			n--;
		n -= out.text[n - 1] == '.';
	}
	out.text[n] = '\0';
	return out;
}
