/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control page: the switches of a process, changed from inside or outside.
 *
 * No thread in the process has to notice. A site that is on compares the
 * generation at each use; one that is off has its gate on a word of `sleep`
 * that is 0, and the next change sets this word, so that the site asks
 * again. The words are used up one a change; after TR_CONTROL_SLEEP changes
 * all stay set, and a site that is off costs a call instead of a branch.
 */
#include "ledger/ledger.h"

#include <stdio.h>
#include <string.h>

void tr_control_init(struct tr_control *control, uint32_t pid,
		     uint64_t start_time)
{
	control->major = TR_FORMAT_MAJOR;
	control->pid = pid;
	control->start_time = start_time;
	control->generation = 2; /* 1 is a site's word before its first use */
	control->enabled = 1;
	TR_PUBLISH(control->magic, TR_CONTROL_MAGIC);
}

void tr_control_bump(struct tr_control *control)
{
	uint32_t before = TR_ADD(control->generation, 1);

	if (before + 1 >= TR_CONTROL_SLEEP) {
		for (uint32_t i = 0; i < TR_CONTROL_SLEEP; i++)
			TR_PUBLISH(control->sleep[i], 1);
		return;
	}
	for (uint32_t i = 0; i <= before; i++)
		TR_PUBLISH(control->sleep[i], 1);
}

/* Start of the line of `name` in the page's text, or its length. */
static uint32_t find_line(const char *text, uint32_t bytes, const char *name)
{
	size_t len = strlen(name);

	for (uint32_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		uint32_t n = end ? (uint32_t)(end - text) - at : bytes - at;

		if (n > len && memcmp(text + at, name, len) == 0 &&
		    text[at + len] == '=')
			return at;
		at += n + 1;
	}
	return bytes;
}

static uint32_t text_bytes(const struct tr_control *control)
{
	uint32_t bytes = TR_ACQUIRE(control->text_bytes);

	return bytes > TR_CONTROL_TEXT ? 0 : bytes;
}

int tr_control_set(struct tr_control *control, const char *name,
		   const char *value)
{
	char text[TR_CONTROL_TEXT];
	uint32_t bytes = text_bytes(control), at, end;
	int n;

	if (strchr(value, '\n') || strchr(name, '\n'))
		return TARE_EINVAL;
	memcpy(text, control->text, bytes);
	at = find_line(text, bytes, name);
	if (at < bytes) {
		const char *stop = memchr(text + at, '\n', bytes - at);

		end = stop ? (uint32_t)(stop - text) + 1 : bytes;
		memmove(text + at, text + end, bytes - end);
		bytes -= end - at;
	}
	n = snprintf(text + bytes, sizeof(text) - bytes, "%s=%s\n", name,
		     value);
	if (n < 0 || (size_t)n >= sizeof(text) - bytes)
		return TARE_EFULL;
	/* A reader in between sees no line, and its site asks again at the
	 * bump that follows. */
	TR_PUBLISH(control->text_bytes, 0);
	memcpy(control->text, text, bytes + (uint32_t)n);
	TR_PUBLISH(control->text_bytes, bytes + (uint32_t)n);
	return 0;
}

bool tr_control_get(const struct tr_control *control, const char *name,
		    char *value, size_t size)
{
	char text[TR_CONTROL_TEXT];
	uint32_t bytes = text_bytes(control), at;
	const char *from, *end;
	size_t n;

	if (!bytes)
		return false;
	text[0] = '\0';
	for (uint32_t i = 0; i < bytes; i++)
		text[i] = TR_LOAD(control->text[i]);
	at = find_line(text, bytes, name);
	if (at >= bytes)
		return false;
	from = text + at + strlen(name) + 1;
	end = memchr(from, '\n', (size_t)(text + bytes - from));
	n = end ? (size_t)(end - from) : (size_t)(text + bytes - from);
	if (n >= size)
		return false;
	memcpy(value, from, n);
	value[n] = '\0';
	return true;
}
