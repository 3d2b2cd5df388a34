/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a program generated while it ran: finds the list that the
 * program wrote, and keeps what a run needs of it beside the run.
 *
 * The list of a process is /tmp/perf-PID.map, or jit-PID.dump in the folder
 * where the process started or below the folder of jitdumps. Process ids are
 * used again, and /tmp belongs to all users: a file is read only if it is a
 * plain file of the ledger's owner, not too large, and was last written during
 * the run. `tare run` stores the functions that have samples in RUN.map, in the
 * form of a perf map: programs delete their lists, and so do restarts.
 */
#include "parts.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST (256u << 20) /* bytes; of a larger list, the beginning */
#define SLACK_NS 5000000000    /* file times are coarse, exits take time */

/* ---- which file --------------------------------------------------------- */

static int64_t changed_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static bool is_of_run(const struct stat *st, const tare_run *run)
{
	struct stat ledger;
	int64_t at_ns = changed_ns(st);

	return S_ISREG(st->st_mode) && stat(run->path, &ledger) == 0 &&
	       st->st_uid == ledger.st_uid &&
	       at_ns >= run->start_ns - SLACK_NS &&
	       (run->state == TARE_RUN_LIVE || at_ns <= run->end_ns + SLACK_NS);
}

/* A pipe is not waited for, a link not followed. */
static int open_checked(const char *path, const tare_run *run)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !is_of_run(&st, run))) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

/* Java's agent makes a folder for each run there. */
static int open_below(const char *folder, const tare_run *run)
{
	char pattern[PATH_MAX];
	glob_t found = { 0 };
	int fd = -1;

	(void)snprintf(pattern, sizeof(pattern),
		       "%s/.debug/jit/*/jit-%lld.dump", folder,
		       (long long)run->pid);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; fd < 0 && i < found.gl_pathc; i++)
			fd = open_checked(found.gl_pathv[i], run);
	globfree(&found);
	return fd;
}

static int open_list(const tare_run *run)
{
	const char *home = getenv("JITDUMPDIR");
	char path[PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%lld.map",
		       (long long)run->pid);
	fd = open_checked(path, run);
	if (fd >= 0 || !run->folder[0])
		return fd;
	(void)snprintf(path, sizeof(path), "%s/jit-%lld.dump", run->folder,
		       (long long)run->pid);
	fd = open_checked(path, run);
	if (!home)
		home = getenv("HOME");
	return fd < 0 && home ? open_below(home, run) : fd;
}

/* "runs/ID.map" beside "runs/ID.tare" */
static bool kept_path(const tare_run *run, char *ret, size_t size)
{
	size_t n = strlen(run->path);

	if (n < 5 || strcmp(run->path + n - 5, ".tare") != 0 || n >= size)
		return false;
	(void)snprintf(ret, size, "%.*s.map", (int)(n - 5), run->path);
	return true;
}

/* ---- reading ------------------------------------------------------------ */

static char *read_all(int fd, size_t *ret_n)
{
	struct stat st;
	size_t size, n = 0;
	char *bytes;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	size = st.st_size < FILE_MOST ? (size_t)st.st_size : FILE_MOST;
	bytes = malloc(size);
	while (bytes && n < size) {
		ssize_t got = read(fd, bytes + n, size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	*ret_n = n;
	return bytes;
}

static void read_list(struct code_names *names, int fd)
{
	size_t n = 0;
	char *bytes = read_all(fd, &n);

	if (bytes && !jitdump_read(names, bytes, n))
		perf_map_read(names, bytes, n);
	free(bytes);
}

/*
 * What was kept, of any date: `tare run` has checked it. Only the program's
 * own list grows, and is read again when a live run is looked at again.
 */
static void load(struct generated *g, const tare_run *run)
{
	char path[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (kept_path(run, path, sizeof(path)))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		fd = open_list(run);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size != g->size) {
		g->size = st.st_size;
		code_names_release(&g->names);
		read_list(&g->names, fd);
	}
	(void)close(fd);
}

struct generated *symbols_for_run(struct symbols *symbols, const tare_run *run)
{
	struct generated *g = symbols->generated;

	while (g && strcmp(g->id, run->id) != 0)
		g = g->next;
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return NULL;
		g->symbols = symbols;
		g->id = texts_keep(&symbols->texts, run->id);
		g->names.texts = &symbols->texts;
		g->next = symbols->generated;
		symbols->generated = g;
	}
	load(g, run);
	return g;
}

void generated_free(struct generated *g)
{
	code_names_release(&g->names);
	free(g);
}

/* ---- places ------------------------------------------------------------- */

size_t symbols_run_name(void *arg, const tare_module *module, uint64_t address,
			tare_place *places, size_t most)
{
	struct generated *g = arg;
	const struct code_name *found;

	if (module->path[0] || !most)
		return symbols_name(g->symbols, module, address, places, most);
	found = code_names_find(&g->names, address);
	if (!found)
		return 0;
	places[0] = code_place(&g->symbols->texts, found->name);
	return 1;
}

/* ---- keeping ------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Addresses in no module, sorted. Gives an array; NULL: none. */
static uint64_t *loose_addresses(tare_view *view, size_t *ret_n)
{
	const tare_stack *stack;
	uint64_t *address;
	size_t n, kept = 0;

	if (tare_view_stacks(view, &stack, &n) || !n)
		return NULL;
	address = malloc(n * sizeof(*address));
	for (size_t i = 0; address && i < n; i++)
		if (stack[i].kind == TARE_STACK_CODE &&
		    stack[i].module == TARE_NO_MODULE)
			address[kept++] = stack[i].address;
	if (kept)
		qsort(address, kept, sizeof(*address), by_number);
	*ret_n = kept;
	return address;
}

static void write_names(FILE *file, struct code_names *names,
			const uint64_t *address, size_t n)
{
	const struct code_name *found, *last = NULL;

	for (size_t i = 0; i < n; i++) {
		found = code_names_find(names, address[i]);
		if (found && found != last)
			(void)fprintf(file, "%llx %llx %s\n",
				      (unsigned long long)found->from,
				      (unsigned long long)(found->to -
							   found->from),
				      found->name);
		last = found;
	}
}

static bool write_file(const char *path, struct code_names *names,
		       const uint64_t *address, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool is_bad;

	if (!file) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	write_names(file, names, address, n);
	is_bad = ferror(file) != 0;
	return !(fclose(file) | is_bad);
}

/* Most processes wrote no list: their runs are not opened. */
static bool may_have_list(int64_t pid)
{
	const char *home = getenv("JITDUMPDIR");
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "/tmp/perf-%lld.map",
		       (long long)pid);
	if (access(path, F_OK) == 0)
		return true;
	(void)snprintf(path, sizeof(path), "jit-%lld.dump", (long long)pid);
	if (access(path, F_OK) == 0)
		return true;
	if (!home)
		home = getenv("HOME");
	(void)snprintf(path, sizeof(path), "%s/.debug/jit", home ? home : "");
	return access(path, F_OK) == 0;
}

void symbols_keep(struct symbols *symbols, const tare_run_entry *run)
{
	struct code_names names = { .texts = &symbols->texts };
	char beside[PATH_MAX];
	uint64_t *address = NULL;
	tare_view *view;
	size_t n = 0;
	int fd;

	if (!may_have_list(run->pid) || tare_view_open(run->path, &view))
		return;
	fd = open_list(tare_view_run(view));
	if (fd >= 0)
		address = loose_addresses(view, &n);
	if (address && n &&
	    kept_path(tare_view_run(view), beside, sizeof(beside))) {
		read_list(&names, fd);
		if (!write_file(beside, &names, address, n))
			(void)unlink(beside);
	}
	if (fd >= 0)
		(void)close(fd);
	code_names_release(&names);
	free(address);
	tare_view_close(view);
}
