/* SPDX-License-Identifier: Apache-2.0 */
#include "instructions.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"

/* ---- by the processor -------------------------------------------------- */

/*
 * A counter that begins when a child of this process executes a program. The
 * kernel adds the child's count to this one when the child ends.
 */
static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool count_perf(const struct bench *bench, struct bench_case *c,
		       double *ret_count)
{
	int fd = open_counter();
	struct trial trial;
	uint64_t count = 0;
	bool is_good;

	if (fd < 0)
		return false;
	trial_run(c->argv, &bench->how, &trial);
	is_good = trial_is_good(&trial) &&
		  read(fd, &count, sizeof(count)) == sizeof(count) && count;
	(void)close(fd);
	*ret_count = (double)count;
	return is_good;
}

/* ---- by callgrind ------------------------------------------------------ */

/* "summary: 12345" or "totals: 12345", of one process. */
static double sum_of_file(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");
	double sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "summary: ", 9) == 0)
			sum = strtod(line + 9, NULL);
		else if (strncmp(line, "totals: ", 8) == 0 && sum <= 0)
			sum = strtod(line + 8, NULL);
	}
	if (file)
		(void)fclose(file);
	return sum;
}

/* The files of all its processes, which are deleted. */
static double sum_of_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[1024];
	double sum = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, "out", 3) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       entry->d_name);
		sum += sum_of_file(path);
		(void)unlink(path);
	}
	if (dir)
		(void)closedir(dir);
	return sum;
}

static char **callgrind_words(const struct bench_case *c, char *out)
{
	static char tool[] = "--tool=callgrind", quiet[] = "-q",
		    children[] = "--trace-children=yes",
		    valgrind[] = "valgrind";
	size_t n = 0;
	char **words;

	while (c->argv[n])
		n++;
	words = calloc(n + 6, sizeof(*words));
	if (!words)
		return NULL;
	words[0] = valgrind;
	words[1] = tool;
	words[2] = quiet;
	words[3] = children;
	words[4] = out;
	memcpy(words + 5, c->argv, n * sizeof(*words));
	return words;
}

static bool count_callgrind(const struct bench *bench, struct bench_case *c,
			    double *ret_count)
{
	const char *tmp = getenv("TMPDIR");
	char folder[512], out[640];
	struct trial trial = { .error = ENOMEM };
	char **words;

	(void)snprintf(folder, sizeof(folder), "%.400s/tare-bench-XXXXXX",
		       tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return false;
	(void)snprintf(out, sizeof(out), "--callgrind-out-file=%s/out.%%p",
		       folder);
	words = callgrind_words(c, out);
	if (words)
		trial_run(words, &bench->how, &trial);
	free(words);
	*ret_count = sum_of_folder(folder);
	(void)rmdir(folder);
	errno = trial.error;
	return !trial.error && !trial.status && *ret_count > 0;
}

/* ---- all cases --------------------------------------------------------- */

static int refuse(const struct bench_case *c, bool is_perf)
{
	if (is_perf)
		message("this machine's processor counts no instructions for "
			"programs: '--instructions=callgrind' does");
	else if (errno == ENOENT)
		message("cannot count instructions: there is no 'valgrind'");
	else
		message("'%s' does not work under callgrind", c->name);
	return CODE_IO;
}

static bool has_perf(void)
{
	int fd = open_counter();

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

int instructions_count(struct bench *bench, const char *how)
{
	bool is_perf = strcmp(how, "perf") == 0 ||
		       (strcmp(how, "true") == 0 && has_perf());

	for (unsigned k = 0; k < INSTRUCTION_RUNS; k++)
		for (size_t i = 0; i < bench->n_cases; i++) {
			struct bench_case *c = &bench->cases[i];
			double count = NAN;

			if (!c->instructions)
				c->instructions = calloc(
					INSTRUCTION_RUNS,
					sizeof(*c->instructions));
			if (!c->instructions)
				return message_error("count", "instructions",
						     TARE_ENOMEM);
			if (trial_interrupted)
				return CODE_OK;
			if (!(is_perf ? count_perf(bench, c, &count) :
					count_callgrind(bench, c, &count)))
				return refuse(c, is_perf);
			c->instructions[c->n_instructions++] = count;
		}
	return CODE_OK;
}
