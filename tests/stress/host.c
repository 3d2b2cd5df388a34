/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host: a program that does its work, prints its results and is measured by
 * the way, in every manner the library has. Whatever becomes of the
 * measuring, what it prints and how it ends stay the same.
 *
 * It takes care not to call what failer.c lets fail: then every such call
 * is one of the library's.
 */
#include <tare/tare.h>
#include <tare/read/view.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read/view.h"

static void say(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	char line[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	(void)syscall(SYS_write, 1, line, (size_t)n);
}

/* A probe must not be seen in errno. */
static void check_errno(const char *where)
{
	if (errno != 4321)
		say("errno is %d after %s\n", errno, where);
	errno = 4321;
}

/* ---- work -------------------------------------------------------------- */

static uint32_t mix(uint32_t x)
{
	TARE_SCOPE("mix");
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	TARE_VALUE("mixed", "1", (double)x);
	return x;
}

static uint32_t dig(uint32_t x, int depth)
{
	TARE_SCOPE("dig");
	TARE_ITEMS(1);
	return depth ? dig(mix(x), depth - 1) : x;
}

static uint32_t transact(uint32_t x)
{
	TARE_OPERATION("transact");
	TARE_ATTR("number", x);
	TARE_ATTR("text", "a text that needs some room in its record");
	TARE_COUNT("transactions", 1);
	TARE_GAUGE("last", "1", (double)x);
	TARE_RATIO("odd", x & 1, 1);
	if (x % 7 == 0)
		TARE_FAIL("a multiple of seven");
	return mix(x);
}

/* Many names: sites, nodes, cells, and what holds them grows. */
static uint32_t spread(uint32_t x)
{
	char name[32];

	for (int i = 0; i < 50; i++) {
		tare_site *site;

		(void)snprintf(name, sizeof(name), "spread.%d", i);
		errno = 4321;
		site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
				     NULL, "spread");
		check_errno("site_get");
		{
			TARE_SCOPE_SITE(site);
			x = mix(x);
		}
		check_errno("scope");
	}
	return x;
}

static uint32_t work(uint32_t x)
{
	errno = 4321;
	x = dig(x, 20);
	check_errno("dig");
	for (int i = 0; i < 50; i++)
		x = transact(x);
	check_errno("transact");
	return spread(x);
}

static void *work_aside(void *arg)
{
	uint32_t *x = arg;

	*x = work(*x);
	return NULL;
}

/* ---- the library, asked ------------------------------------------------ */

static int swallow(void *arg, const char *text, size_t len)
{
	(void)arg;
	(void)text;
	(void)len;
	return 0;
}

/* It may fail, and says so; nothing else. */
static void ask(void)
{
	const tare_stats *stats;
	tare_view *view;
	size_t n;

	(void)!tare_option_set("exclude", "nothing");
	(void)!tare_report(swallow, NULL);
	if (tare_view_open("self", &view) == 0) {
		if (tare_view_stats(view, NULL, &stats, &n) == 0)
			(void)!tare_view_json(view, NULL, swallow, NULL);
		tare_view_close(view);
	}
	(void)tare_clear();
	(void)tare_enable(false);
	(void)tare_enable(true);
}

static int work_in_child(uint32_t x)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		x = work(x);
		say("child %08x\n", x);
		exit(5);
	}
	if (child > 0)
		(void)waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	uint32_t x = 12345, aside[2] = { 1, 2 };

	(void)argv;
	say("main %08x\n", work(x));
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work_aside, &aside[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		(void)pthread_join(thread[i], NULL);
	say("threads %08x %08x\n", aside[0], aside[1]);
	say("child ended with %x\n", (unsigned)work_in_child(x));
	if (argc > 1)
		ask();
	say("again %08x\n", work(x + 1));
	if (argc > 2)
		(void)tare_stop();
	say("end %08x\n", work(x + 2));
	return 7;
}
