/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: runs a fuzzer's corpus once, as a test, without libFuzzer.
 *
 * Every file of the folder given as argument is one input and one line of
 * TAP. A crash ends the program before its plan is fulfilled, which the test
 * runner takes as a failure; the input's name was printed before.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static uint8_t *read_all(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rbe");
	uint8_t *data = NULL;
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0)
		data = malloc((size_t)size + 1);
	if (data) {
		rewind(file);
		*ret_size = fread(data, 1, (size_t)size, file);
	}
	if (file)
		(void)fclose(file);
	return data;
}

/* An exact copy, so that a sanitizer sees a read past the end. */
static void run_input(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		return;
	memcpy(exact, data, size);
	(void)LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static void run_file(int number, const char *folder, const char *name)
{
	char path[4096];
	uint8_t *data;
	size_t size = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	printf("# %s\n", name);
	(void)fflush(stdout);

	data = read_all(path, &size);
	if (data)
		run_input(data, size);
	printf("%s %d - %s\n", data ? "ok" : "not ok", number, name);
	(void)fflush(stdout);
	free(data);
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	int n;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}

	n = scandir(argv[1], &entries, is_input, alphasort);
	if (n <= 0) {
		(void)fprintf(stderr, "no input in '%s'\n", argv[1]);
		return 1;
	}

	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		run_file(i + 1, argv[1], entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
