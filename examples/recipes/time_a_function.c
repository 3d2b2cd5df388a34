/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 2: how often is this function called, and how long does it take?
 *
 *	tare run -- ./recipe_time_a_function
 *
 * TARE_FUNCTION() as the first line of a function times the whole function,
 * under its own name. Every `return` ends the measurement, so functions with
 * several returns need nothing more.
 *
 * The report has one row per function (calls, total, mean, median, p95, max),
 * and a call tree: "own" is the time without inner functions.
 */
#include <stdio.h>
#include <tare/tare.h>

static int is_prime(int n)
{
	TARE_FUNCTION();

	if (n < 2)
		return 0;
	for (int i = 2; i * i <= n; i++)
		if (n % i == 0)
			return 0;
	return 1;
}

static int count_primes(int from, int to)
{
	int found = 0;

	TARE_FUNCTION();
	for (int n = from; n < to; n++)
		found += is_prime(n);
	return found;
}

int main(void)
{
	TARE_FUNCTION();
	printf("%d primes in the first thousand above 100 million\n",
	       count_primes(100000000, 100001000));
	printf("%d primes in the first two thousand\n",
	       count_primes(100000000, 100002000));
	return 0;
}
