/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures under every name that a program or an attacker may choose, and
 * writes all exports of it into the folder given. readers_test.py knows the
 * same names and looks for them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/export.h>
#include <tare/tare.h>

#include "read/view.h"

/* The same list is in readers_test.py. */
static const char *const odd_names[] = {
	"</script><script>alert(1)</script>",
	"\"quoted\\\"",
	"{\"a\":1}",
	"a=\"b\",c",
	"\xe2\x80\xa8line\xe2\x80\xa9separators",
	"\xf0\x9f\x98\x80 emoji",
	"\xed\xa0\x80surrogate",
	"\xc0\x80overlong",
	"\xe2\x82",
	"=1+1",
	"+1",
	"-1",
	"@SUM(A1)",
	"=cmd|' /C calc'!A0",
	"\t=1",
	"\r=1",
	"a,b;c",
	"two\nlines",
	"two\r\nlines",
	"__name__",
	"le",
	"x # {y=\"z\"} 1 2",
	"# EOF",
	"%s%n",
	"1",
	" ",
};

#define N_ODD (sizeof(odd_names) / sizeof(odd_names[0]))

static void measure(const char *name)
{
	tare_site *value = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					 name, name, NULL);
	tare_site *counter = tare_site_get(TARE_KIND_COUNTER,
					   TARE_TYPE_COUNTER, "labels", NULL,
					   NULL);
	const char *pairs[] = { name, name, "plain", name };

	{
		TARE_SCOPE_SITE(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					      name, NULL, name));
		tare_attr_str(name, name);
		tare_attr_int("number", 7);
		tare_fail(name);
	}
	tare_value_observe(value, 1);
	tare_counter_add(tare_site_labels(counter, 2, pairs), 1);
}

static void measure_numbers(void)
{
	TARE_OPERATION("numbers");
	TARE_ATTR("nan", (double)NAN);
	TARE_ATTR("inf", (double)INFINITY);
	TARE_ATTR("minus_inf", -(double)INFINITY);
	TARE_ATTR("third", 1.0 / 3);
	TARE_ATTR("least", INT64_MIN);
	TARE_ATTR("text", "-1.5");
	TARE_GAUGE("gauge.nan", "", NAN);
	TARE_GAUGE("gauge.inf", "", INFINITY);
	TARE_GAUGE("gauge.minus_inf", "", -INFINITY);
	TARE_VALUE("value.odd", "", NAN);
	TARE_VALUE("value.odd", "", INFINITY);
	TARE_VALUE("value.odd", "", 10);
	TARE_VALUE("value.odd", "", 10.5);
	TARE_VALUE("value.below", "", -3);
	TARE_VALUE("value.below", "", 3);
}

static void measure_long(void)
{
	size_t len = 1 << 20;
	char *text = malloc(len + 1);

	if (!text)
		exit(1);
	memset(text, '=', len);
	text[len] = '\0';
	measure(text);
	free(text);
}

/* Names that become one, kinds that share a name, and units. */
static void measure_collisions(void)
{
	{
		TARE_SCOPE("same.name");
	}
	{
		TARE_SCOPE("same_name");
	}
	TARE_VALUE("same name", "ms", 2500);
	TARE_COUNT("same", 1);
	TARE_GAUGE("same_total", "", 2);
	TARE_GAUGE("same", "", 3);
	TARE_GAUGE("tare.events", "", 4);
	TARE_COUNT("sent_bytes_total", 5);
	TARE_BYTES("sent", 4096);
	TARE_PERCENT("load", 50);
	TARE_RATIO("hits", 3, 4);
}

static void export_to(tare_view *view, const char *folder, const char *name,
		      enum tare_format format, const char *table)
{
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format,
		.table = table,
	};
	uint64_t rows;
	int err = tare_export_file(&view, 1, &how, folder, name, NULL, 0,
				   &rows);

	if (err) {
		(void)fprintf(stderr, "%s: %s\n", name, tare_strerror(err));
		exit(1);
	}
	(void)printf("%s %llu\n", name, (unsigned long long)rows);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : ".";
	tare_view *view;
	char name[8];

	/* First: a table has columns for the first attributes alone. */
	measure_numbers();
	for (unsigned c = 1; c < 256; c++) {
		(void)snprintf(name, sizeof(name), "%c", (int)c);
		measure(name);
		(void)snprintf(name, sizeof(name), "a%cb", (int)c);
		measure(name);
	}
	for (size_t i = 0; i < N_ODD; i++)
		measure(odd_names[i]);
	measure_long();
	measure_collisions();
	if (tare_memory_record("now"))
		return 1;
	if (tare_view_open("self", &view))
		return 1;
	export_to(view, folder, "all.json", TARE_FORMAT_JSON, NULL);
	export_to(view, folder, "processing.csv", TARE_FORMAT_CSV, NULL);
	export_to(view, folder, "memory.csv", TARE_FORMAT_CSV, "memory");
	export_to(view, folder, "gpu.csv", TARE_FORMAT_CSV, "gpu");
	export_to(view, folder, "stats.csv", TARE_FORMAT_CSV, "stats");
	export_to(view, folder, "series.prom", TARE_FORMAT_PROMETHEUS, NULL);
	export_to(view, folder, "series.om", TARE_FORMAT_OPENMETRICS, NULL);
	tare_view_close(view);
	return 0;
}
