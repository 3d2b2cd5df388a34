/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 14: which resources did it use?
 *
 *	tare run -- ./recipe_resources
 *	tare records last
 *	tare report last
 *
 * TARE_RESOURCE_SCOPE("name") is an operation that reads at both ends what its
 * thread and process used: CPU time, growth and peak of memory, page faults,
 * waits, bytes read and written, and energy if the machine reports it. The
 * figures are attributes of the operation and also series, load.cpu_time and so
 * on. It takes some microseconds: use it for loads, epochs and requests, not
 * for inner loops. Figures that cannot be read are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>

#define MEGABYTES 16
#define BYTES ((size_t)MEGABYTES << 20)

static unsigned char *load(FILE *file)
{
	TARE_RESOURCE_SCOPE("load");
	unsigned char *data = malloc(BYTES);

	rewind(file);
	if (!data || fread(data, 1, BYTES, file) != BYTES) {
		TARE_FAIL("cannot load");
		free(data);
		return NULL;
	}
	return data;
}

static unsigned long evaluate(const unsigned char *data)
{
	TARE_RESOURCE_SCOPE("evaluate");
	unsigned long sum = 0;

	for (int round = 0; round < 4; round++)
		for (size_t i = 0; i < BYTES; i++)
			sum = sum * 31 + data[i];
	return sum;
}

/* If no block fits: a site, a begin and an end. */
static int store(FILE *file)
{
	TARE_RESOURCE_SITE_DEFINE(site, "store");
	tare_resource resource;
	char line[1024];
	size_t lines = 0;

	tare_resource_begin(&site, &resource);
	memset(line, 'x', sizeof(line));
	for (size_t i = 0; i < BYTES / sizeof(line); i++)
		lines += fwrite(line, sizeof(line), 1, file);
	lines *= fflush(file) == 0;
	tare_resource_end(&resource);
	return lines == BYTES / sizeof(line) ? 0 : -1;
}

int main(void)
{
	FILE *file = tmpfile();
	unsigned char *data = NULL;

	if (file && store(file) == 0)
		data = load(file);
	if (data)
		printf("%d megabytes, sum %lu\n", MEGABYTES, evaluate(data));
	free(data);
	if (file)
		(void)fclose(file);
	return data ? 0 : 1;
}
