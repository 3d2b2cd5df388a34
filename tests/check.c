/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_FAILURES 20 /* of a test: a loop may fail a million times */

static struct check_test *first_test;
static struct check_test **last_link = &first_test;

/* Of the test that runs. */
static unsigned n_failures;
static const char *skip_reason;

void check_register(struct check_test *test)
{
	*last_link = test;
	last_link = &test->next;
}

void check_skip(const char *reason)
{
	skip_reason = reason;
}

unsigned check_failures(void)
{
	return n_failures;
}

static bool count_failure(const char *file, int line)
{
	n_failures++;
	if (n_failures == MAX_FAILURES + 1)
		printf("# more failures of this test are not shown\n");
	if (n_failures > MAX_FAILURES)
		return false;

	printf("# %s:%d: ", file, line);
	return true;
}

bool check_true(const char *file, int line, const char *what, bool holds)
{
	if (!holds && count_failure(file, line))
		printf("%s does not hold\n", what);
	return holds;
}

bool check_int(const char *file, int line, const char *what, long long is,
	       long long wanted)
{
	if (is != wanted && count_failure(file, line))
		printf("%s is %lld, wanted %lld\n", what, is, wanted);
	return is == wanted;
}

/* A line break in a text must not end the TAP comment. */
static void print_text(const char *text)
{
	if (!text) {
		printf("NULL");
		return;
	}

	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c >= 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
}

bool check_str(const char *file, int line, const char *what, const char *is,
	       const char *wanted)
{
	bool same = is == wanted || (is && wanted && !strcmp(is, wanted));

	if (!same && count_failure(file, line)) {
		printf("%s is ", what);
		print_text(is);
		printf(", wanted ");
		print_text(wanted);
		putchar('\n');
	}
	return same;
}

bool check_near(const char *file, int line, const char *what, double is,
		double wanted, double epsilon)
{
	/* Equal first: infinities have no difference. */
	bool near = is == wanted || fabs(is - wanted) <= epsilon;

	if (!near && count_failure(file, line))
		printf("%s is %.17g, wanted %.17g within %g\n", what, is,
		       wanted, epsilon);
	return near;
}

/* The words of `only` are found with spaces and with underscores. */
static bool is_selected(const struct check_test *test, const char *only)
{
	size_t len = only ? strlen(only) : 0;

	if (!only)
		return true;
	for (const char *at = test->name; strlen(at) >= len; at++) {
		size_t i = 0;

		while (i < len && at[i] == (only[i] == ' ' ? '_' : only[i]))
			i++;
		if (i == len)
			return true;
	}

	return false;
}

static unsigned count_selected(const char *only)
{
	unsigned n = 0;

	for (struct check_test *t = first_test; t; t = t->next)
		n += is_selected(t, only);
	return n;
}

static bool run_test(const struct check_test *test, unsigned number)
{
	n_failures = 0;
	skip_reason = NULL;
	test->run();

	printf("%sok %u - ", n_failures ? "not " : "", number);
	for (const char *c = test->name; *c; c++)
		putchar(*c == '_' ? ' ' : *c);
	if (skip_reason && n_failures == 0)
		printf(" # SKIP %s", skip_reason);
	putchar('\n');
	/* A later crash must not take this line with it. */
	(void)fflush(stdout);

	return n_failures == 0;
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	unsigned number = 0, n_failed = 0;

	if (argc == 3 && strcmp(argv[1], "--only") == 0) {
		only = argv[2];
	} else if (argc != 1) {
		fprintf(stderr, "usage: %s [--only WORDS]\n", argv[0]);
		return 2;
	}

	printf("1..%u\n", count_selected(only));
	(void)fflush(stdout);
	for (struct check_test *t = first_test; t; t = t->next) {
		if (is_selected(t, only))
			n_failed += !run_test(t, ++number);
	}
	if (number == 0)
		printf("# no test has this name\n");

	return n_failed > 0 || number == 0;
}
