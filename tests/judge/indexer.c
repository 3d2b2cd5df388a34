/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the words of a text: scanner, hash table, sort, output. Built
 * without a macro it is the old program; each macro PLANT_... makes one of its
 * parts slower, as a change by accident would.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define SLOTS 65536u

struct word {
	char text[24];
	uint32_t hash, count;
	struct word *next;
};

static struct word *slots[SLOTS];
static uint32_t n_words;

/* Words of a few letters; common ones are short, as in a language. */
static NOINLINE char *make_text(size_t bytes)
{
	char *text = malloc(bytes + 1);
	uint64_t x = 88172645463325252u;
	size_t n = 0;

	while (n + 16 < bytes) {
		unsigned len;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		len = 2 + (unsigned)(x % 4) + (unsigned)(x >> 8) % 3;
		for (unsigned i = 0; i < len; i++)
			text[n++] = (char)('a' + (x >> (i * 5)) % 12);
		text[n++] = x % 11 ? ' ' : '\n';
	}
	text[n] = '\0';
	return text;
}

static NOINLINE const char *next_word(const char *at, char *out)
{
	size_t n = 0;

#ifdef PLANT_RESCAN
	/* The length of the rest of the line, again for each word. */
	char line[2048];

	memcpy(line, at, sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	if (!strlen(line))
		return NULL;
#endif
	while (*at && isspace((unsigned char)*at))
		at++;
	if (!*at)
		return NULL;
	while (*at && !isspace((unsigned char)*at) && n < 23)
		out[n++] = *at++;
	out[n] = '\0';
	return at;
}

static NOINLINE uint32_t hash_word(const char *word)
{
	uint32_t h = 2166136261u;

	for (; *word; word++) {
		h = (h ^ (unsigned char)*word) * 16777619u;
#ifdef PLANT_HASH
		for (int i = 0; i < 6; i++)
			h = (h ^ h >> 15) * 0x2c1b3c6du;
#endif
	}
#ifdef PLANT_CHAINS
	h &= 32767; /* most slots stay empty */
#endif
	return h;
}

static NOINLINE struct word *find_word(const char *text, uint32_t hash)
{
	struct word *word = slots[hash % SLOTS];

	while (word && (word->hash != hash || strcmp(word->text, text) != 0))
		word = word->next;
	return word;
}

static NOINLINE struct word *add_word(const char *text, uint32_t hash)
{
	struct word *word = calloc(1, sizeof(*word));

	strcpy(word->text, text);
	word->hash = hash;
	word->next = slots[hash % SLOTS];
	slots[hash % SLOTS] = word;
	n_words++;
	return word;
}

static NOINLINE void count_word(const char *text)
{
#ifdef PLANT_ALLOC
	char *copy = malloc(64 + strlen(text));
	uint32_t hash;
	struct word *word;

	strcpy(copy, text);
	hash = hash_word(copy);
	word = find_word(copy, hash);
#else
	uint32_t hash = hash_word(text);
	struct word *word = find_word(text, hash);
#endif
	if (!word)
		word = add_word(text, hash);
	word->count++;
#ifdef PLANT_ALLOC
	free(copy);
#endif
}

static NOINLINE int compare_words(const void *a, const void *b)
{
	const struct word *x = *(struct word *const *)a;
	const struct word *y = *(struct word *const *)b;

#ifdef PLANT_COMPARE
	/* Texts first, though counts decide. */
	char left[64], right[64];

	for (int i = 0; i < 2; i++) {
		snprintf(left, sizeof(left), "%s", x->text);
		snprintf(right, sizeof(right), "%s", y->text);
	}
	if (strcmp(left, right) == 0)
		return 0;
#endif
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->text, y->text);
}

static NOINLINE struct word **sort_words(void)
{
	struct word **all = malloc(n_words * sizeof(struct word *));
	size_t n = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		for (struct word *word = slots[i]; word; word = word->next)
			all[n++] = word;
	qsort(all, n, sizeof(struct word *), compare_words);
	return all;
}

static NOINLINE void write_line(int fd, const struct word *word)
{
	static char buffer[65536];
	static size_t n;

	if (word)
		n += (size_t)sprintf(buffer + n, "%s %u\n", word->text,
				     word->count);
#ifndef PLANT_SYSCALL
	if (word && n < sizeof(buffer) - 64)
		return;
#endif
	if (write(fd, buffer, n) != (ssize_t)n)
		exit(1);
	n = 0;
}

/* indexer [KIB] */
int main(int argc, char **argv)
{
	size_t kib = argc > 1 ? strtoul(argv[1], NULL, 10) : 3072;
	char *text = make_text(kib << 10), word[24];
	const char *at = text;
	struct word **all;
	int fd = open("/dev/null", O_WRONLY);

	while ((at = next_word(at, word)) != NULL)
		count_word(word);
	all = sort_words();
	for (uint32_t i = 0; i < n_words; i++)
		write_line(fd, all[i]);
	write_line(fd, NULL);
	printf("%u words\n", n_words);
	return 0;
}
