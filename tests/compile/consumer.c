/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as a user of the library writes it, compiled against each form in
 * which tare can be taken in, as C and as C++. Measures, takes the report
 * through the callback and says whether its own scope is in it.
 */
#ifdef CONSUMER_OF_TWO_FILES
#include "tare.h"
#else
#include <tare/tare.h>
#include <tare/view.h>
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

int main(void)
{
	static struct text text;
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
	if (error)
		return fail("report", error);
	if (!strstr(text.data, "consumer.work")) {
		(void)fprintf(stderr, "no own scope in the report:\n%s\n",
			      text.data);
		return 1;
	}

	error = tare_stop();
	if (error)
		return fail("stop", error);
	(void)printf("consumer of tare %s ok %u\n", tare_version(), x);
	return 0;
}
