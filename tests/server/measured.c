/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that the tests of the server measure. It does what it is told,
 * a line a command, and answers with a line: tests see from inside it what a
 * request has done to it.
 *
 *	steps N		N steps; every tenth load fails
 *	hostile		names and attributes that nobody should use
 *	many N		N names
 *	spread N	N durations of two labelled series, over six decades
 *	memory		a sample of memory, one of the GPU
 *	grow N		N MiB more, and touched
 *	calls NAME	calls of the scope NAME, as this process sees them
 *	records		operations in its history
 *	enabled		1 or 0
 *	parts		of the monitor that are on, as a number
 *	option NAME	the value of an option, as its control page has it
 *	spin		steps until the next line
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare/monitor.h>
#include <tare/tare.h>
#include <tare/read/view.h>

static void load(int id)
{
	TARE_OPERATION("load");
	TARE_ATTR("photo_id", id);
	TARE_ATTR("camera", "x \"100\"");
	if (id % 10 == 9)
		TARE_FAIL("not found");
}

static void step(int id)
{
	TARE_SCOPE("step");

	load(id);
	{
		TARE_SCOPE_IN("db", "db.store");
		TARE_COUNT("bytes", 100);
	}
	TARE_VALUE("batch.size", "B", id % 7 + 1);
	TARE_GAUGE("queue.length", "1", id % 5);
	TARE_RATIO("cache.hits", id % 4 != 0, 1);
}

static void steps(int n)
{
	for (int id = 0; id < n; id++)
		step(id);
}

static void measure_name(const char *name)
{
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					NULL, name);

	site->flags |= TARE_SITE_OPERATION;
	tare_duration_record(site, 1000, NULL);
	TARE_OPERATION("hostile");
	TARE_ATTR("text", name);
	TARE_FAIL(name);
}

static void hostile(void)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>",
		"=cmd|' /C calc'!A0",
		"\"quoted\" \\back\\slash",
		"new\nline\r\ntab\t",
		"Set-Cookie: x=y\r\n\r\n<html>",
		"\xff\xfe not \xc3\x28 UTF-8 \xed\xa0\x80",
		"../../../../etc/passwd",
		"%00%0a%s%n{}[]",
		"\xf0\x9f\x98\x80 \xe2\x80\xa8 line separator",
		"data: x\n\nevent: y",
	};
	char every[256];
	char *long_name = malloc(1 << 20);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		measure_name(names[i]);
	for (int c = 1; c < 256; c++)
		every[c - 1] = (char)c;
	every[255] = '\0';
	measure_name(every);
	if (!long_name)
		return;
	(void)memset(long_name, 'a', (1 << 20) - 1);
	long_name[(1 << 20) - 1] = '\0';
	measure_name(long_name);
	free(long_name);
}

static void many(int n)
{
	char name[32];

	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "many.%05d", i);
		tare_duration_record(tare_site_get(TARE_KIND_SCOPE,
						   TARE_TYPE_TIME, name, NULL,
						   NULL),
				     (uint64_t)(1000 + i), NULL);
	}
}

/* Lengths that no clock decides; the last of seven fails. */
static void spread(int n)
{
	static const char *const route[] = { "/a", "/b" };
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					"request", NULL, "web");

	for (int i = 0; i < n; i++) {
		const char *const pair[] = { "route", route[i % 2] };
		uint64_t ns = 1000 + (uint64_t)i * (uint64_t)i * 37;

		tare_duration_record(tare_site_labels(site, 1, pair),
				     i % 11 == 0 ? ns * 1000 : ns,
				     i % 7 == 6 ? "refused" : NULL);
	}
}

/* Never freed: the process is as large as it was told to be. */
static void grow(size_t bytes)
{
	static void *volatile kept;
	void **block = malloc(bytes);

	if (!block)
		return;
	(void)memset(block, 1, bytes);
	*block = kept;
	kept = block;
}

static unsigned long long calls(const char *name)
{
	unsigned long long found = 0;
	const tare_stats *stats;
	tare_view *view;
	size_t n;

	if (tare_view_open("self", &view))
		return 0;
	if (tare_view_stats(view, NULL, &stats, &n) == 0)
		for (size_t i = 0; i < n; i++)
			if (strcmp(stats[i].name, name) == 0)
				found += stats[i].count;
	tare_view_close(view);
	return found;
}

static unsigned long long records(void)
{
	const tare_record *records;
	tare_view *view;
	size_t n = 0;

	if (tare_view_open("self", &view))
		return 0;
	if (tare_view_records(view, NULL, &records, &n))
		n = 0;
	tare_view_close(view);
	return n;
}

static void spin(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	(void)puts("spinning");
	(void)fflush(stdout);
	while (poll(&input, 1, 0) == 0)
		steps(5);
}

static void obey(const char *word, const char *rest)
{
	char value[256];

	if (strcmp(word, "steps") == 0)
		steps(atoi(rest));
	else if (strcmp(word, "hostile") == 0)
		hostile();
	else if (strcmp(word, "many") == 0)
		many(atoi(rest));
	else if (strcmp(word, "spread") == 0)
		spread(atoi(rest));
	else if (strcmp(word, "grow") == 0)
		grow((size_t)atoi(rest) << 20);
	else if (strcmp(word, "memory") == 0) {
		TARE_RECORD_MEMORY("sample");
		TARE_RECORD_GPU("sample");
	} else if (strcmp(word, "spin") == 0)
		spin();
	if (strcmp(word, "calls") == 0)
		(void)printf("%llu\n", calls(rest));
	else if (strcmp(word, "records") == 0)
		(void)printf("%llu\n", records());
	else if (strcmp(word, "enabled") == 0)
		(void)printf("%d\n", tare_is_enabled());
	else if (strcmp(word, "parts") == 0)
		(void)printf("%u\n", tare_monitor_parts());
	else if (strcmp(word, "option") == 0)
		(void)printf("%s\n",
			     tare_remote_get(getpid(), rest, value,
					     sizeof(value)) < 0 ?
				     "?" :
				     value);
	else
		(void)puts("done");
	(void)fflush(stdout);
}

int main(void)
{
	char line[256];

	(void)puts("ready");
	(void)fflush(stdout);
	/* Unbuffered: poll() must see what was not read yet. */
	(void)setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		char *rest;

		line[strcspn(line, "\n")] = '\0';
		rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		obey(line, rest ? rest : "");
	}
	return 0;
}
