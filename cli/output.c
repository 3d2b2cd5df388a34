/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tare/error.h>

#include "message.h"

/*
 * Fills `real` if the file is to be replaced. A dangling link is opened
 * directly, which creates its target.
 */
static bool is_replaced(const char *path, char real[PATH_MAX])
{
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode) && realpath(path, real);
	if (lstat(path, &st) == 0)
		return false;
	(void)strcpy(real, path);
	return true;
}

int output_open(struct output *output, const char *path)
{
	*output = (struct output){ .stream = NULL };
	if (strlen(path) >= sizeof(output->path))
		return ENAMETOOLONG;
	/* A file above its size limit is a failed write, not a fatal signal. */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (is_replaced(path, output->path)) {
		(void)snprintf(output->beside, sizeof(output->beside),
			       "%s.%lld.part", output->path,
			       (long long)getpid());
		output->stream = fopen(output->beside, "wxe");
	} else {
		output->stream = fopen(path, "we");
	}
	return output->stream ? 0 : errno;
}

int output_close(struct output *output, int err)
{
	int failed = ferror(output->stream) ? errno : 0;

	if (ferror(output->stream) && !failed)
		failed = EIO;
	if (fclose(output->stream) && !failed)
		failed = errno;
	if (!err && !failed && output->beside[0] &&
	    rename(output->beside, output->path))
		failed = errno;
	if ((err || failed) && output->beside[0])
		(void)unlink(output->beside);
	return failed ? failed : err;
}

struct tr_json *output_json_begin(void)
{
	static struct tr_buf buf;
	static struct tr_json json;

	tr_json_begin(&json, &buf);
	return &json;
}

void output_json(struct tr_json *json, FILE *stream)
{
	if (json->buf->failed)
		exit(message_error("write", "JSON", TARE_ENOMEM));
	tr_buf_addc(json->buf, '\n');
	(void)fwrite(json->buf->data, 1, json->buf->len, stream);
	tr_buf_release(json->buf);
}
