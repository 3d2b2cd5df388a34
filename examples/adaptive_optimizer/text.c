/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdbool.h>
#include <stddef.h>

#include "random.h"

#define LONGEST_WORD 9

void text_make(uint64_t seed, char text[TEXT_SIZE])
{
	size_t len = 0;

	while (len + LONGEST_WORD + 2 < TEXT_SIZE) {
		uint64_t drawn = random_next(&seed);
		unsigned letters = 2 + drawn % (LONGEST_WORD - 1);

		drawn /= LONGEST_WORD - 1;
		for (unsigned i = 0; i < letters; i++, drawn /= 26)
			text[len++] = (char)('a' + drawn % 26);
		text[len++] = ' ';
	}
	text[len] = '\0';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* FNV-1a, case-insensitive. Moves *text after the word. */
static uint32_t hash_word(const char **text)
{
	uint32_t hash = 2166136261u;

	for (; is_letter(**text); ++*text)
		hash = (hash ^ (uint32_t)(**text | 0x20)) * 16777619u;
	return hash;
}

unsigned text_tokenise(const char *text, float features[TEXT_FEATURES])
{
	unsigned counts[TEXT_FEATURES] = { 0 }, words = 0;

	for (;;) {
		while (*text && !is_letter(*text))
			text++;
		if (!*text)
			break;
		counts[hash_word(&text) % TEXT_FEATURES]++;
		words++;
	}
	for (unsigned i = 0; i < TEXT_FEATURES; i++)
		features[i] = words ? (float)counts[i] / (float)words : 0;
	return words;
}
