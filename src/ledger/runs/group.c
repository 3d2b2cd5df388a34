/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group: the name that the processes of one `tare run` have in common, such as
 * "make-691c5a3f-0c2f1-18501": the command that was started, the time, and the
 * process id of `tare run`.
 *
 * The command is part of the name because the process that it started may leave
 * no ledger: a shell or a script is too short for a sample, but its user knows
 * the run by that name.
 */
#include "ledger/runs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAIL_BYTES 28 /* of time and process id, with the end of the text */

/* "/usr/bin/make" is "make"; no controls, which end a line of metadata. */
static void copy_command(char *out, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = 0;

	for (path = slash ? slash + 1 : path; path[n] && n + 1 < size; n++)
		out[n] = (unsigned char)path[n] < ' ' ? '_' : path[n];
	out[n] = '\0';
}

void tr_group_name(char name[TR_GROUP_BYTES], const char *path)
{
	int64_t now = tr_realtime_ns();
	char command[TR_GROUP_BYTES - TAIL_BYTES];

	copy_command(command, sizeof(command), path);
	(void)snprintf(name, TR_GROUP_BYTES, "%s-%llx-%05llx-%lld", command,
		       (unsigned long long)now / 1000000000,
		       (unsigned long long)now % 1000000000 / 1000,
		       (long long)getpid());
}

/* Where the last part of these digits, before `end`, begins; NULL: nowhere. */
static const char *part_before(const char *text, const char *end,
			       const char *digits)
{
	const char *at = end;

	while (at > text && strchr(digits, at[-1]))
		at--;
	return at > text && at < end && at[-1] == '-' ? at - 1 : NULL;
}

void tr_group_command(const char *group, char command[TR_GROUP_BYTES])
{
	const char *end = part_before(group, group + strlen(group),
				      "0123456789");

	for (int i = 0; i < 2 && end; i++)
		end = part_before(group, end, "0123456789abcdef");
	(void)snprintf(command, TR_GROUP_BYTES, "%.*s",
		       end ? (int)(end - group) : 0, group);
}

bool tr_group_is_of(const char *group, const char *word, size_t len)
{
	char command[TR_GROUP_BYTES];
	size_t most = TR_GROUP_BYTES - TAIL_BYTES - 1;

	tr_group_command(group, command);
	if (len > most)
		len = most;
	return len && strncmp(command, word, len) == 0 && !command[len];
}
