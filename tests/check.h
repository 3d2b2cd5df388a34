/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of one program: they register themselves, check.c has main().
 *
 *	TEST(full_ring_drops_the_new_event)
 *	{
 *		CHECK_INT(ring.dropped, 1);
 *	}
 *
 * Output is TAP, its plan first: a test that leaves by exit(0) is then
 * missed, not passed. A failed check ends neither its test nor the others.
 * `--only WORDS` runs the tests whose name has WORDS in it.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct check_test {
	const char *name; /* a sentence with _ for spaces */
	void (*run)(void);
	struct check_test *next;
};

void check_register(struct check_test *test);

#define TEST(sentence) \
	static void sentence(void); \
	__attribute__((constructor)) static void register_##sentence(void) \
	{ \
		static struct check_test test = { #sentence, sentence, \
						  NULL }; \
		check_register(&test); \
	} \
	static void sentence(void)

/* All give whether the check held, for a test that cannot go on. */
#define CHECK(condition) \
	check_true(__FILE__, __LINE__, #condition, !!(condition))
/* Any whole numbers, compared as 64 bits. */
#define CHECK_INT(is, wanted) \
	check_int(__FILE__, __LINE__, #is, (long long)(is), \
		  (long long)(wanted))
#define CHECK_STR(is, wanted) \
	check_str(__FILE__, __LINE__, #is, (is), (wanted))
#define CHECK_NEAR(is, wanted, epsilon) \
	check_near(__FILE__, __LINE__, #is, (is), (wanted), (epsilon))

/* Ends the test as skipped, unless it has failed already. */
#define SKIP(reason) \
	do { \
		check_skip(reason); \
		return; \
	} while (0)

bool check_true(const char *file, int line, const char *what, bool holds);
bool check_int(const char *file, int line, const char *what, long long is,
	       long long wanted);
bool check_str(const char *file, int line, const char *what, const char *is,
	       const char *wanted);
bool check_near(const char *file, int line, const char *what, double is,
		double wanted, double epsilon);
void check_skip(const char *reason);
/* Failed checks of the test that runs, so far. */
unsigned check_failures(void);

#endif
