/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hello: a small program with a few probes.
 *
 *	tare run -- ./hello
 *
 * It sorts and looks up words, and a few of the look-ups fail.
 */
#include <tare/tare.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 2000
#define ROUNDS 60

static char words[WORDS][12];

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

static void make_words(unsigned *state)
{
	TARE_FUNCTION();

	for (int i = 0; i < WORDS; i++)
		for (int k = 0; k < 11; k++)
			words[i][k] = (char)('a' + next_random(state) % 26);
	TARE_ITEMS(WORDS);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void sort_words(void)
{
	TARE_FUNCTION();

	qsort(words, WORDS, sizeof(words[0]), by_text);
	TARE_ITEMS(WORDS);
}

static int look_up(const char *word)
{
	TARE_SCOPE("look up");

	return bsearch(word, words, WORDS, sizeof(words[0]), by_text) != NULL;
}

static void serve(unsigned *state, int round)
{
	TARE_OPERATION("serve");
	TARE_ATTR("round", round);

	for (int i = 0; i < 500; i++) {
		const char *word = words[next_random(state) % WORDS];
		int found = look_up(i % 10 ? word : "not there");

		TARE_COUNT("looked up", 1);
		TARE_RATIO("found", found, 1);
	}
	if (round % 20 == 19)
		TARE_FAIL("the round was not to our liking");
}

int main(void)
{
	unsigned state = 7;

	TARE_FUNCTION();
	for (int round = 0; round < ROUNDS; round++) {
		TARE_SCOPE("round");
		make_words(&state);
		sort_words();
		serve(&state, round);
		TARE_GAUGE("last round", "", round);
	}
	puts("hello, measured world");
	return 0;
}
