/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The git revision of a folder, from the files of git and without running it:
 *
 *	.git/HEAD -> .git/refs/heads/main, or a line of .git/packed-refs
 *
 * In a worktree .git is a file that names the folder of git, and references
 * are in the common one that this names in turn.
 */
#include "base/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Small: a thread with little stack may be the first to measure. */
#define PATH_BYTES 1088u

/* `path` as it is seen from a folder. */
static bool join(char *out, const char *folder, const char *path)
{
	int n = path[0] == '/' ?
			snprintf(out, PATH_BYTES, "%s", path) :
			snprintf(out, PATH_BYTES, "%s/%s", folder, path);

	return n > 0 && n < (int)PATH_BYTES;
}

/* The first line of a file. */
static bool read_line(const char *folder, const char *name, char *text,
		      size_t size)
{
	char path[PATH_BYTES];

	if (!join(path, folder, name) || !tr_file_text(path, text, size))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return text[0];
}

static bool is_revision(const char *text)
{
	return strspn(text, "0123456789abcdef") >= 40;
}

/* Lines "REVISION NAME"; others begin with # or ^. */
static bool find_packed(const char *git, const char *name, char *out,
			size_t size)
{
	char path[PATH_BYTES], text[1024];
	size_t have = 0, len = strlen(name);
	bool found = false;
	int64_t n = 1;
	int fd;

	fd = join(path, git, "packed-refs") ? tr_file_open(path, O_RDONLY, 0) :
					      -1;
	if (fd < 0)
		return false;
	while (n > 0 && !found) {
		char *line = text, *end;

		n = tr_file_read_some(fd, text + have, sizeof(text) - 1 - have,
				      TR_FILE_POSITION);
		have += n > 0 ? (size_t)n : 0;
		text[have] = '\0';
		while (!found && (end = strchr(line, '\n')) != NULL) {
			*end = '\0';
			found = strlen(line) > 41 && line[40] == ' ' &&
				strlen(line) == 41 + len &&
				strcmp(line + 41, name) == 0;
			if (found)
				(void)snprintf(out, size, "%.40s", line);
			line = end + 1;
		}
		have -= (size_t)(line - text);
		if (line == text && have == sizeof(text) - 1)
			have = 0; /* no reference is so long */
		memmove(text, line, have);
	}
	(void)close(fd);
	return found && is_revision(out);
}

/* Of the folder of git and the one that its worktrees share. */
static bool read_reference(const char *git, const char *name, char *out,
			   size_t size)
{
	char common[PATH_BYTES], text[PATH_BYTES];

	if (read_line(git, name, text, sizeof(text)) && is_revision(text)) {
		(void)snprintf(out, size, "%.40s", text);
		return true;
	}
	if (!read_line(git, "commondir", text, sizeof(text)))
		return find_packed(git, name, out, size);
	if (!join(common, git, text))
		return false;
	if (read_line(common, name, text, sizeof(text)) && is_revision(text)) {
		(void)snprintf(out, size, "%.40s", text);
		return true;
	}
	return find_packed(common, name, out, size);
}

bool tr_git_revision(const char *folder, char *out, size_t size)
{
	char git[PATH_BYTES], text[PATH_BYTES];

	if (!join(git, folder, ".git"))
		return false;
	/* A file of a worktree: "gitdir: PATH". */
	if (read_line(folder, ".git", text, sizeof(text)) &&
	    strncmp(text, "gitdir: ", 8) == 0 && !join(git, folder, text + 8))
		return false;
	if (!read_line(git, "HEAD", text, sizeof(text)))
		return false;
	/* Once: a reference does not refer to another one here. */
	if (strncmp(text, "ref: ", 5) == 0)
		return read_reference(git, text + 5, out, size);
	(void)snprintf(out, size, "%.40s", text);
	return is_revision(text);
}
