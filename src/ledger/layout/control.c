/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control page: the switches of a process, changed from inside or outside.
 *
 * No thread in the process has to notice a change. A site that is on compares
 * the generation at each use. The gate of a site that is off points to a word
 * of `sleep` that is 0; the next change sets this word, so that the site checks
 * again. Each change uses one word. After TR_CONTROL_SLEEP changes all stay
 * set, and a site that is off costs a call instead of a branch.
 */
#include "ledger/layout.h"

#include <stdio.h>
#include <string.h>

static uint32_t text_bytes(const struct tr_control *control);

/*
 * A child keeps the options of its parent, under a new generation: its sites
 * still have the parent's and must check again. It is on: otherwise it would
 * not be here, and a parent that has ended is off.
 */
static void inherit(struct tr_control *control, const struct tr_control *from)
{
	uint32_t bytes = text_bytes(from);

	for (uint32_t i = 0; i < bytes; i++)
		control->text[i] = TR_LOAD(from->text[i]);
	control->text_bytes = bytes;
	control->generation = TR_LOAD(from->generation);
	tr_control_bump(control);
}

void tr_control_init(struct tr_control *control,
		     const struct tr_control *parent,
		     const struct tr_identity *self)
{
	control->major = TR_CONTROL_MAJOR;
	control->pid = self->pid;
	control->start_time = self->start_time;
	control->generation = 2; /* 1 is a site's word before its first use */
	control->enabled = 1;
	control->pause = 1; /* sites that the parent paused check again */
	if (parent)
		inherit(control, parent);
	TR_PUBLISH(control->magic, TR_CONTROL_MAGIC);
}

void tr_control_wake(struct tr_control *control)
{
	(void)__atomic_fetch_add(&control->wake, 1, __ATOMIC_RELEASE);
	tr_wake_shared(&control->wake);
}

static void wake_sites(struct tr_control *control)
{
	/* Release: the change is visible before the new number. */
	uint32_t before = __atomic_fetch_add(&control->generation, 1,
					     __ATOMIC_RELEASE);

	/* The page may contain any number; 0 would be off for good. */
	if (before == UINT32_MAX)
		TR_PUBLISH(control->generation, TR_CONTROL_SLEEP);
	if (before >= TR_CONTROL_SLEEP - 1) {
		for (uint32_t i = 0; i < TR_CONTROL_SLEEP; i++)
			TR_PUBLISH(control->sleep[i], 1);
		return;
	}
	for (uint32_t i = 0; i <= before; i++)
		TR_PUBLISH(control->sleep[i], 1);
}

void tr_control_bump(struct tr_control *control)
{
	wake_sites(control);
	tr_control_wake(control);
}

/* Offset of the line of `name` in the page's text, or the text's length. */
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

/* Removes all lines of `name`, and an incomplete line at the end. */
static uint32_t remove_lines(char *text, uint32_t bytes, const char *name)
{
	uint32_t at;

	while (bytes > 0 && text[bytes - 1] != '\n')
		bytes--;
	while ((at = find_line(text, bytes, name)) < bytes) {
		const char *stop = memchr(text + at, '\n', bytes - at);
		uint32_t end = (uint32_t)(stop - text) + 1;

		memmove(text + at, text + end, bytes - end);
		bytes -= end - at;
	}
	return bytes;
}

int tr_control_set(struct tr_control *control, const char *name,
		   const char *value)
{
	char text[TR_CONTROL_TEXT];
	uint32_t bytes = text_bytes(control);
	int n;

	if (strchr(value, '\n') || strchr(name, '\n'))
		return TARE_EINVAL;
	memcpy(text, control->text, bytes);
	bytes = remove_lines(text, bytes, name);
	n = snprintf(text + bytes, sizeof(text) - bytes, "%s=%s\n", name,
		     value);
	if (n < 0 || (size_t)n >= sizeof(text) - bytes)
		return TARE_EFULL;
	/*
	 * A reader in between sees no line; its site checks again at the bump
	 * that follows.
	 */
	TR_PUBLISH(control->text_bytes, 0);
	for (uint32_t i = 0; i < bytes + (uint32_t)n; i++)
		TR_STORE(control->text[i], text[i]);
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
