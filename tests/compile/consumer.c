/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as a user of the library writes it, compiled against each form in
 * which tare can be taken in, as C and as C++. Measures, takes the report
 * through the callback and says whether its own scope is in it.
 *
 * CONSUMER_READS: it links the reader, too, and uses it. Without, the report
 * needs a reader that is installed: the program says if it found one.
 */
#if defined(CONSUMER_OF_TWO_FILES)
#include "tare.h"
#if defined(CONSUMER_READS)
#include "tare_read.h"
#endif
#else
#include <tare/tare.h>
#if defined(CONSUMER_READS)
#include <tare/read/view.h>
#endif
#endif

#include <stdio.h>
#include <string.h>

struct text {
	char data[65536];
	size_t len;
};

static int collect(void *arg, const char *piece, size_t len)
{
	struct text *text = (struct text *)arg;

	if (len >= sizeof(text->data) - text->len)
		return 1;
	memcpy(text->data + text->len, piece, len);
	text->len += len;
	text->data[text->len] = '\0';
	return 0;
}

static unsigned work(unsigned x)
{
	TARE_SCOPE("consumer.work");

	TARE_COUNT("consumer.calls", 1);
	return x * 1664525u + 1013904223u;
}

static int fail(const char *what, int error)
{
	(void)fprintf(stderr, "cannot %s: %s\n", what, tare_strerror(error));
	return 1;
}

/* The series of its own scope, by the calls of the reader. */
static int look(void)
{
#if defined(CONSUMER_READS)
	const tare_stats *rows;
	tare_view *view;
	size_t n;
	int error = tare_view_open("self", &view);

	if (error)
		return fail("open a view", error);
	error = tare_view_stats(view, NULL, &rows, &n);
	for (size_t i = 0; !error && i < n; i++)
		if (strcmp(rows[i].name, "consumer.work") == 0 &&
		    rows[i].count == 1000)
			n = 0;
	tare_view_close(view);
	if (error || n)
		return fail("find 1,000 calls", error);
#endif
	return 0;
}

int main(void)
{
	static struct text text;
	bool is_reported;
	unsigned x = 1;
	int error;

	if (strcmp(tare_version(), TARE_VERSION) != 0) {
		(void)fprintf(stderr, "header %s, library %s\n", TARE_VERSION,
			      tare_version());
		return 1;
	}

	error = tare_start();
	if (error)
		return fail("start", error);
	for (int i = 0; i < 1000; i++)
		x = work(x);

	error = tare_report(collect, &text);
	is_reported = !error;
	if (error && error != TARE_ENOENT)
		return fail("report", error);
	if (is_reported && !strstr(text.data, "consumer.work")) {
		(void)fprintf(stderr, "no own scope in the report:\n%s\n",
			      text.data);
		return 1;
	}

	if (look())
		return 1;
	error = tare_stop();
	if (error)
		return fail("stop", error);
	(void)printf("consumer of tare %s ok %u, %s\n", tare_version(), x,
		     is_reported ? "reported" : "no reader");
	return 0;
}
