/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that looks at itself: what has the library left in this process?
 * Prints one line: threads, descriptors, signals that are handled, and what
 * errno was after probes.
 */
#include <tare/tare.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned n = 0;

	if (!folder)
		return 0;
	while (readdir(folder))
		n++;
	(void)closedir(folder);
	return n - 2;
}

static unsigned handled(void)
{
	struct sigaction action;
	unsigned n = 0;

	for (int i = 1; i < 32; i++)
		if (sigaction(i, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL)
			n++;
	return n;
}

static void use_probes(void)
{
	for (int i = 0; i < 1000; i++) {
		TARE_SCOPE("scope");
		TARE_OPERATION("operation");
		TARE_ATTR("number", i);
		TARE_COUNT("counter", 1);
		TARE_VALUE("value", "1", i);
		TARE_GAUGE("gauge", "1", i);
		TARE_RATIO("ratio", 1, 2);
		TARE_DURATION("duration", 100);
		if (i % 100 == 0)
			TARE_FAIL("now and then");
	}
}

int main(int argc, char **argv)
{
	errno = 4321;
	use_probes();
	printf("threads %u, descriptors %u, handlers %u, errno %d\n",
	       entries("/proc/self/task"), entries("/proc/self/fd") - 1,
	       handled(), errno);
	(void)fflush(stdout);
	if (argc > 1) {
		char command[512];

		/* What lies in the folder while it runs. */
		(void)snprintf(command, sizeof(command),
			       "find '%s' -type f -printf '%%f %%s %%m\\n' | "
			       "sed 's/^[-+.0-9]*[0-9]//' | sort",
			       argv[1]);
		(void)!system(command);
	}
	return 0;
}
