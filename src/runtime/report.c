/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a process about itself, at a call and at its exit.
 */
#include "runtime/runtime.h"

#include "view/view.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int write_fd(void *arg, const char *text, size_t len)
{
	return tr_file_write_all(*(const int *)arg, text, len);
}

TARE_API int tare_report(tare_write_fn write, void *arg)
{
	tare_report_options options = {
		.struct_size = sizeof(options),
		.top = (size_t)tr_config.report_top,
	};
	tare_view *view;
	int err;

	if (!write)
		return TARE_EINVAL;
	err = tare_view_open("self", &view);
	if (err)
		return err;
	err = tare_view_report(view, &options, write, arg);
	tare_view_close(view);
	return err;
}

void tr_report_at_exit(void)
{
	const char *where = tr_config.report;
	int fd = STDERR_FILENO, err;

	if (strcmp(where, "none") == 0)
		return;
	if (strcmp(where, "stderr") != 0) {
		fd = open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			  0644);
		if (fd < 0) {
			tr_log(TARE_LEVEL_WARNING, "cannot write report '%s'",
			       where);
			return;
		}
	}
	err = tare_report(write_fd, &fd);
	if (err)
		tr_log(TARE_LEVEL_WARNING, "cannot report: %s",
		       tare_strerror(err));
	if (fd != STDERR_FILENO)
		(void)close(fd);
}
