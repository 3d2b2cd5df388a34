/* SPDX-License-Identifier: Apache-2.0 */
#include "ending.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool name_file(const char *run, const char *suffix, char *path,
		      size_t size)
{
	size_t n = strlen(run);

	return n > 5 && strcmp(run + n - 5, ".tare") == 0 &&
	       (size_t)snprintf(path, size, "%.*s%s", (int)n - 5, run,
				suffix) < size;
}

/* ---- its lines --------------------------------------------------------- */

#define NUMBER(key, field) { key, offsetof(struct ending, field) }

/* The first two are in every file. */
static const struct {
	const char *key;
	size_t offset; /* of an int64_t */
} numbers[] = {
	NUMBER("at_ns", at_ns),
	NUMBER("peak_bytes", peak_bytes),
	NUMBER("pid", pid),
	NUMBER("cpu_ns", cpu_ns),
	NUMBER("runs", runs),
	NUMBER("wall_ns", wall_ns),
	NUMBER("user_ns", user_ns),
	NUMBER("system_ns", system_ns),
	NUMBER("queued_ns", queued_ns),
	NUMBER("ran_ns", ran_ns),
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define NEEDED 2u /* of these, beside the status */

static void write_silent(FILE *file, const struct tr_silent *silent)
{
	if (!silent->all)
		return;
	(void)fprintf(file, "processes %llu %llu %llu\n",
		      (unsigned long long)silent->all,
		      (unsigned long long)silent->processes,
		      (unsigned long long)silent->others);
	for (size_t i = 0; i < silent->n; i++)
		(void)fprintf(file, "%s %llu %s\n",
			      silent->at[i].is_static ? "static" : "silent",
			      (unsigned long long)silent->at[i].processes,
			      silent->at[i].name);
}

static void read_silent(const char *line, struct tr_silent *silent)
{
	struct tr_silent_program *row = &silent->at[silent->n];
	unsigned long long all, processes, others;
	char kind[16];
	int at = 0;

	if (sscanf(line, "processes %18llu %18llu %18llu", &all, &processes,
		   &others) == 3) {
		silent->all = all;
		silent->processes = processes;
		silent->others = others;
	} else if (silent->n < TR_SILENT_MOST &&
		   sscanf(line, "%15s %18llu %n", kind, &processes, &at) == 2 &&
		   at) {
		row->is_static = strcmp(kind, "static") == 0;
		if (!row->is_static && strcmp(kind, "silent") != 0)
			return;
		row->processes = processes;
		(void)snprintf(row->name, sizeof(row->name), "%.*s",
			       (int)strcspn(line + at, "\n"), line + at);
		silent->n++;
	}
}

/* True: it is a number, and there now. */
static bool read_number(const char *line, struct ending *ending)
{
	char key[16];
	long long value;

	if (sscanf(line, "%15s %19lld", key, &value) != 2)
		return false;
	for (size_t i = 0; i < N_NUMBERS; i++)
		if (strcmp(key, numbers[i].key) == 0) {
			memcpy((char *)ending + numbers[i].offset,
			       &(int64_t){ value }, sizeof(int64_t));
			return i < NEEDED;
		}
	return false;
}

static bool read_lines(FILE *file, struct ending *ending)
{
	unsigned needed = 0;
	char line[128];

	if (!fgets(line, sizeof(line), file) ||
	    sscanf(line, "status %9d", &ending->status) != 1)
		return false;
	while (fgets(line, sizeof(line), file)) {
		needed += read_number(line, ending);
		read_silent(line, &ending->silent);
	}
	return needed >= NEEDED;
}

/* ---- the file ---------------------------------------------------------- */

/* Written to a temporary file and renamed: readers never see half of it. */
void ending_write(const char *run, const struct ending *ending)
{
	char path[600], part[600];
	FILE *file;
	bool is_bad;

	if (!name_file(run, ".end", path, sizeof(path)) ||
	    !name_file(run, ".end.part", part, sizeof(part)))
		return;
	file = fopen(part, "we");
	if (!file)
		return;
	(void)fprintf(file, "status %d\n", ending->status);
	for (size_t i = 0; i < N_NUMBERS; i++) {
		int64_t value;

		memcpy(&value, (const char *)ending + numbers[i].offset,
		       sizeof(value));
		(void)fprintf(file, "%s %lld\n", numbers[i].key,
			      (long long)value);
	}
	write_silent(file, &ending->silent);
	is_bad = ferror(file);
	if (fclose(file) || is_bad || rename(part, path))
		(void)unlink(part);
}

bool ending_read(const char *run, struct ending *ret_ending)
{
	struct ending ending = { 0 };
	char path[600];
	FILE *file;
	bool done;

	if (!name_file(run, ".end", path, sizeof(path)))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	done = read_lines(file, &ending);
	(void)fclose(file);
	if (done)
		*ret_ending = ending;
	return done;
}

bool ending_read_own(const char *run, int64_t pid, struct ending *ret_ending)
{
	struct ending ending;

	if (!ending_read(run, &ending) || (ending.pid && ending.pid != pid))
		return false;
	*ret_ending = ending;
	return true;
}

void ending_text(int status, char text[ENDING_BYTES])
{
	if (WIFSIGNALED(status))
		(void)snprintf(text, ENDING_BYTES, "ended by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, ENDING_BYTES, "exit status %d",
			       WEXITSTATUS(status));
}

bool ending_report(const struct ending *ending, char text[ENDING_BYTES],
		   struct tr_ending *ret)
{
	if (ending->wall_ns <= 0)
		return false;
	ending_text(ending->status, text);
	*ret = (struct tr_ending){
		.wall_ns = (double)ending->wall_ns,
		.user_ns = (double)ending->user_ns,
		.system_ns = (double)ending->system_ns,
		.peak_bytes = (double)ending->peak_bytes,
		.queued_ns = (double)ending->queued_ns,
		.ran_ns = (double)ending->ran_ns,
		.text = text,
		.silent = &ending->silent,
	};
	return true;
}
