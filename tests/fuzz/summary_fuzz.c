/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of anybody: what is read can be merged, written and read again,
 * with the same result.
 */
#include <tare/read/view.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static tare_merge *read_text(const void *data, size_t size)
{
	tare_merge *merge = tr_merge_new();
	char *text = malloc(size + 1);

	must(merge && text);
	memcpy(text, data, size);
	text[size] = '\0';
	if (tr_merge_read(merge, text, size)) {
		tare_merge_close(merge);
		merge = NULL;
	}
	free(text);
	return merge;
}

/* What a merge writes, as a merge again. */
static tare_merge *again(const tare_merge *merge)
{
	static char path[64];
	char *text;
	long size;
	FILE *file;
	tare_merge *read;

	(void)snprintf(path, sizeof(path), "/dev/shm/tare-summary-%d",
		       (int)getpid());
	must(tare_merge_save(merge, path) == 0);
	file = fopen(path, "rbe");
	must(file && fseek(file, 0, SEEK_END) == 0);
	size = ftell(file);
	must(size > 0 && fseek(file, 0, SEEK_SET) == 0);
	text = malloc((size_t)size);
	must(text && fread(text, 1, (size_t)size, file) == (size_t)size);
	(void)fclose(file);
	(void)unlink(path);
	read = read_text(text, (size_t)size);
	free(text);
	return read;
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void check(const tare_merge *one, const tare_merge *other)
{
	size_t n, k;
	const tare_stats *a = tare_merge_stats(one, &n);
	const tare_stats *b = tare_merge_stats(other, &k);

	must(n == k);
	for (size_t i = 0; i < n; i++)
		must(a[i].count == b[i].count && is_same(a[i].p99, b[i].p99));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tare_merge *one = read_text(data, size), *other, *sum;

	if (!one)
		return 0;
	other = again(one);
	must(other != NULL);
	sum = tr_merge_new();
	must(sum && tr_merge_join(sum, one) == 0 &&
	     tr_merge_join(sum, other) == 0);
	must(tr_merge_finish(one, NULL) == 0 &&
	     tr_merge_finish(other, NULL) == 0 &&
	     tr_merge_finish(sum, NULL) == 0);
	if (tare_merge_runs(one, NULL))
		check(one, other);
	tare_merge_close(sum);
	tare_merge_close(other);
	tare_merge_close(one);
	return 0;
}
