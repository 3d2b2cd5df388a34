/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 8: how many photos, rows or bytes per second?
 *
 *	tare run -- ./recipe_throughput
 *	tare report last --json			items, items_per_s
 *
 * TARE_ITEMS(n) adds n items to the scope around it. Items divided by the time
 * of the scope is the throughput. It may be called any number of times; the
 * numbers add up.
 */
#include <stdio.h>
#include <string.h>
#include <tare/tare.h>

#define ROWS 300

static char text[ROWS * 16];

static size_t write_rows(void)
{
	size_t len = 0;

	TARE_FUNCTION();
	for (int row = 0; row < ROWS; row++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%d,%d\n", row, row * row % 97);
	TARE_ITEMS(ROWS);
	return len;
}

/* Counts rows on the way: each TARE_ITEMS adds to the same scope. */
static long sum_rows(size_t len)
{
	const char *at = text, *end = text + len;
	long sum = 0;

	TARE_FUNCTION();
	while (at < end) {
		int key, value;

		if (sscanf(at, "%d,%d", &key, &value) != 2)
			break;
		sum += value;
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		TARE_ITEMS(1);
	}
	return sum;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 10; i++)
		sum += sum_rows(write_rows());
	printf("%d rows, sum %ld\n", 10 * ROWS, sum);
	return 0;
}
