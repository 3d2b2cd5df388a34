/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a process about itself, on request and at exit.
 */
#include "record/runtime.h"

#include "base/text.h"
#include "ledger/hook.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_fd(void *arg, const char *text, size_t len)
{
	return tr_file_write_all(*(const int *)arg, text, len);
}

TARE_API int tare_report(tare_write_fn write, void *arg)
{
	const struct tr_reader *reader;
	struct tr_config now;

	if (!write)
		return TARE_EINVAL;
	reader = tr_reader_load();
	if (!reader)
		return TARE_ENOENT;
	tr_options_read(&now);
	return reader->report((size_t)now.report_top, write, arg);
}

/* Descriptors of the program, by their names in a shell; -1: another name. */
static int own_descriptor(const char *where)
{
	uint64_t number;

	if (strcmp(where, "stderr") == 0 || strcmp(where, "/dev/stderr") == 0)
		return STDERR_FILENO;
	if (strcmp(where, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strncmp(where, "/dev/fd/", 8) == 0 &&
	    tr_parse_u64(where + 8, &number) && number < INT_MAX)
		return (int)number;
	return -1;
}

/*
 * Opens a file of any name without blocking, and without following a link. A
 * device, such as a terminal or /dev/null, only if the program's own
 * configuration named it. -1 with errno of no use: it is something else.
 */
static int open_plain(const char *where, bool is_own)
{
	int fd = tr_file_open(where,
			      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
				      O_NONBLOCK | O_NOCTTY,
			      0644);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 &&
	    (S_ISREG(st.st_mode) || (is_own && S_ISCHR(st.st_mode))) &&
	    fcntl(fd, F_SETFL, O_APPEND) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static void write_warning(void *arg, const char *text)
{
	char line[300];
	int len = snprintf(line, sizeof(line), "warning    %.280s\n", text);

	(void)tr_file_write_all(*(const int *)arg, line, (size_t)len);
}

/* Without libtare-read there is no report, but the run is stored. */
static int report(const struct tr_config *now, int *fd)
{
	const struct tr_reader *reader = tr_reader();
	char line[160];
	int len;

	if (reader)
		return reader->report((size_t)now->report_top, write_fd, fd);
	len = snprintf(line, sizeof(line),
		       "tare: no report here: libtare-read.so.0 was not "
		       "found; see 'tare report %s'\n", tr_ledger->id);
	return tr_file_write_all(*fd, line, (size_t)len);
}

void tr_report_at_exit(const struct tr_config *now, bool is_own)
{
	const char *where = now->report;
	bool is_descriptor;
	int fd, err;

	if (strcmp(where, "none") == 0)
		return;
	fd = own_descriptor(where);
	is_descriptor = fd >= 0 && (is_own || strcmp(where, "stderr") == 0);
	if (!is_descriptor)
		fd = open_plain(where, is_own);
	if (fd < 0) {
		tr_log(TARE_LEVEL_WARNING,
		       "cannot write report '%s': not a file that can be "
		       "written", where);
		return;
	}
	err = report(now, &fd);
	if (err)
		tr_log(TARE_LEVEL_WARNING, "cannot report: %s",
		       tare_strerror(err));
	tr_log_kept(write_warning, &fd);
	if (!is_descriptor)
		(void)close(fd);
}
