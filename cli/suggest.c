/* SPDX-License-Identifier: Apache-2.0 */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 63u /* longer words are not typing errors */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Edits from a to b; two swapped letters are one edit, being the most common
 * typing error. Three rows are enough: a swap looks back two.
 */
static unsigned edit_distance(const char *a, size_t a_len, const char *b,
			      size_t b_len)
{
	unsigned row[3][LONGEST + 1];
	unsigned *before = row[0], *above = row[1], *now = row[2], *spare;

	for (size_t j = 0; j <= b_len; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			now[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
			now[j] = least(now[j], above[j] + 1);
			now[j] = least(now[j], now[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		spare = before;
		before = above;
		above = now;
		now = spare;
	}
	return above[b_len];
}

void suggest_offer(struct suggestion *suggestion, const char *known)
{
	size_t word_len = strlen(suggestion->word);
	size_t known_len = strlen(known);
	unsigned distance;

	if (!word_len || word_len > LONGEST || known_len > LONGEST)
		return;

	distance = edit_distance(suggestion->word, word_len, known,
				 known_len);
	/* A prefix of a word counts as near: rep, report. */
	if (word_len > 1 && strncmp(known, suggestion->word, word_len) == 0)
		distance = 1;
	if (!suggestion->best || distance < suggestion->distance) {
		suggestion->best = known;
		suggestion->distance = distance;
	}
}

const char *suggest_text(const struct suggestion *suggestion,
			 const char *before)
{
	static char text[LONGEST + 32];

	/* Up to a third of the letters may be wrong; more is another word. */
	if (!suggestion->best ||
	    suggestion->distance * 3 > strlen(suggestion->word) + 1)
		return "";
	(void)snprintf(text, sizeof(text), "; did you mean '%s%s'", before,
		       suggestion->best);
	return text;
}
