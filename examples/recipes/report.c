/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 10: a report written by the program itself.
 *
 *	./recipe_report [REPORT.txt [REPORT.json]]
 *
 * tare_report() passes the text of `tare report` in pieces to your function:
 * print it, log it, send it. tare_view_json() does the same with one JSON
 * document, for other programs. If the function does not return 0, writing
 * stops, for example when a disk is full.
 */
#include <stdio.h>
#include <tare/tare.h>
#include <tare/read/view.h>

static int to_file(void *arg, const char *text, size_t len)
{
	return fwrite(text, 1, len, arg) == len ? 0 : 1;
}

static unsigned develop(unsigned photo_id)
{
	unsigned x = photo_id;

	TARE_OPERATION("develop");
	TARE_ATTR("photo_id", photo_id);

	for (int i = 0; i < 10000; i++)
		x = x * 1664525u + 1013904223u;
	if (photo_id % 8 == 0)
		TARE_FAIL("too dark");
	return x;
}

static int write_text(FILE *file)
{
	return tare_report(to_file, file);
}

static int write_json(FILE *file)
{
	tare_view *view;
	int err = tare_view_open("self", &view);

	if (err)
		return err;
	err = tare_view_json(view, NULL, to_file, file);
	tare_view_close(view);
	return err;
}

/* To the file `path`, or to stdout without a path. */
static int write_to(const char *path, int (*write)(FILE *file))
{
	FILE *file = path ? fopen(path, "w") : stdout;
	int err;

	if (!file) {
		perror(path);
		return 1;
	}
	err = write(file);
	if (err)
		fprintf(stderr, "cannot report: %s\n", tare_strerror(err));
	if (path && fclose(file) != 0) {
		perror(path);
		return 1;
	}
	return err != 0;
}

int main(int argc, char **argv)
{
	unsigned x = 0;

	if (tare_start() != 0)
		return 1;
	for (unsigned photo_id = 1; photo_id <= 24; photo_id++)
		x ^= develop(photo_id);
	printf("24 photos, sum %u\n", x);

	if (write_to(argc > 1 ? argv[1] : NULL, write_text) != 0)
		return 1;
	return argc > 2 ? write_to(argv[2], write_json) : 0;
}
