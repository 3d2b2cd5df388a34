/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 5: a duration that was measured elsewhere.
 *
 *	tare run -- ./recipe_durations
 *
 * A device, a log file or another service may report how long something took.
 * TARE_DURATION("name", ns) records it as if it had been timed here, and
 * TARE_DURATION_FAILED records a failed call. If names are known only at run
 * time, tare_site_get() turns a name into a handle: get it once, keep it, and
 * record with tare_duration_record().
 */
#include <stdint.h>
#include <stdio.h>
#include <tare/tare.h>

/* As written by a camera. Microseconds. */
static const struct line {
	const char *what;
	uint64_t took_us;
	const char *error;
} camera_log[] = {
	{ "focus", 120000, NULL },   { "expose", 8000, NULL },
	{ "focus", 90000, NULL },    { "expose", 16000, NULL },
	{ "focus", 400000, "too dark" }, { "expose", 250000, NULL },
};

static void record_line(const struct line *line)
{
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					line->what, NULL, "camera");

	tare_duration_record(site, line->took_us * 1000, line->error);
}

int main(void)
{
	size_t n = sizeof(camera_log) / sizeof(camera_log[0]);

	for (size_t i = 0; i < n; i++)
		record_line(&camera_log[i]);

	/* For a name that is known here, the macro is shorter. */
	TARE_DURATION("write card", 2500000);
	TARE_DURATION_FAILED("write card", 7500000, "card is slow");
	printf("%zu lines of the camera's log\n", n);
	return 0;
}
