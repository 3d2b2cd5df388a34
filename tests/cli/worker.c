/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small measured program for the tests of the command line.
 *
 *	worker N		N steps, then the end
 *	worker N hold		N steps, "ready", waits for the end of stdin
 *	worker N busy		N steps, "ready", steps until stdin ends
 *	worker N exit CODE	N steps, exit status CODE
 *	worker N signal NUMBER	N steps, dies of the signal
 *	worker N fork		N steps, and N in a child
 *
 * Of N steps every tenth load fails. The counts depend on N alone, so that a
 * test knows them without asking the library.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/tare.h>

static void load(int id)
{
	TARE_OPERATION("load");
	TARE_ATTR("photo_id", id);
	TARE_ATTR("camera", "x \"100\"");
	TARE_ITEMS(3);
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
	TARE_SCOPE("work");

	for (int id = 0; id < n; id++)
		step(id);
}

static bool has_input_ended(int wait_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	return poll(&input, 1, wait_ms) > 0 &&
	       read(STDIN_FILENO, &byte, 1) <= 0;
}

static void say_ready(void)
{
	(void)puts("ready");
	(void)fflush(stdout);
}

static int fork_steps(int n)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		steps(n);
		exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	const char *mode = argc > 2 ? argv[2] : "";
	int number = argc > 3 ? atoi(argv[3]) : 0;

	steps(n);
	if (strcmp(mode, "exit") == 0)
		return number;
	if (strcmp(mode, "signal") == 0)
		(void)raise(number);
	if (strcmp(mode, "fork") == 0)
		return fork_steps(n);
	if (strcmp(mode, "hold") == 0) {
		say_ready();
		while (!has_input_ended(-1))
			;
	}
	if (strcmp(mode, "busy") == 0) {
		say_ready();
		while (!has_input_ended(1))
			steps(5);
	}
	return 0;
}
