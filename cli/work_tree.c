/* SPDX-License-Identifier: Apache-2.0 */
#include "work_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/platform.h"

#define LEVELS 64 /* folders above the first one */
#define PACKED_MOST (16u << 20)
#define WAIT_MS 3

/* ---- the revision ------------------------------------------------------ */

static bool first_line(const char *path, char *text, size_t size)
{
	if (!tr_file_text(path, text, size))
		return false;
	text[strcspn(text, "\r\n")] = '\0';
	return true;
}

static bool join(char *out, const char *folder, const char *name)
{
	return snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* In a tree of `git worktree`, .git is a file that names the real one. */
static bool git_folder(const char *root, char git[PATH_MAX])
{
	char text[PATH_MAX];
	struct stat st;

	if (!join(git, root, ".git") || stat(git, &st))
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	if (!first_line(git, text, sizeof(text)) ||
	    strncmp(text, "gitdir: ", 8) != 0)
		return false;
	if (text[8] != '/')
		return join(git, root, text + 8);
	(void)snprintf(git, PATH_MAX, "%s", text + 8);
	return true;
}

static bool is_revision(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 40 && n <= 64 && !text[n];
}

/* "REVISION NAME" in one of the lines. */
static bool find_packed(const char *folder, const char *name, char *revision,
			size_t size)
{
	char path[PATH_MAX], *text, *line;
	struct stat st;
	int64_t got;
	bool is_found = false;

	if (!join(path, folder, "packed-refs") || stat(path, &st) ||
	    st.st_size > PACKED_MOST)
		return false;
	text = malloc((size_t)st.st_size + 1);
	got = text ? tr_file_read(path, text, (size_t)st.st_size) : -1;
	if (got > 0) {
		char *rest = text;

		text[got] = '\0';
		while (!is_found && (line = strsep(&rest, "\n")) != NULL) {
			char *space = strchr(line, ' ');

			if (!space || strcmp(space + 1, name) != 0)
				continue;
			*space = '\0';
			is_found = is_revision(line);
			if (is_found)
				(void)snprintf(revision, size, "%s", line);
		}
	}
	free(text);
	return is_found;
}

static bool find_ref(const char *folder, const char *name, char *revision,
		     size_t size)
{
	char path[PATH_MAX], text[256];

	if (join(path, folder, name) && first_line(path, text, sizeof(text)) &&
	    is_revision(text)) {
		(void)snprintf(revision, size, "%.64s", text);
		return true;
	}
	return find_packed(folder, name, revision, size);
}

/* Branches of a tree of `git worktree` are in the common folder. */
static void find_revision(const char *git, char *revision, size_t size)
{
	char path[PATH_MAX], head[512], common[PATH_MAX], text[1024];

	revision[0] = '\0';
	if (!join(path, git, "HEAD") || !first_line(path, head, sizeof(head)))
		return;
	if (is_revision(head)) {
		(void)snprintf(revision, size, "%.64s", head);
		return;
	}
	if (strncmp(head, "ref: ", 5) != 0 ||
	    find_ref(git, head + 5, revision, size))
		return;
	if (!join(path, git, "commondir") ||
	    !first_line(path, text, sizeof(text)))
		return;
	if (text[0] == '/')
		(void)snprintf(common, sizeof(common), "%s", text);
	else if (!join(common, git, text))
		return;
	(void)find_ref(common, head + 5, revision, size);
}

bool work_tree_find(const char *folder, struct work_tree *ret_tree)
{
	struct work_tree tree;
	char git[PATH_MAX];

	if (strlen(folder) >= sizeof(tree.root))
		return false;
	(void)strcpy(tree.root, folder);
	for (int i = 0; i < LEVELS; i++) {
		char *slash;

		if (git_folder(tree.root, git)) {
			find_revision(git, tree.revision,
				      sizeof(tree.revision));
			*ret_tree = tree;
			return true;
		}
		slash = strrchr(tree.root, '/');
		if (!slash || slash == tree.root)
			return false;
		*slash = '\0';
	}
	return false;
}

/* ---- changes ----------------------------------------------------------- */

static void become_git(const char *root, int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setpriority(PRIO_PROCESS, 0, 10);
	/* Not that of the terminal: Ctrl-C is for the program. */
	(void)setpgid(0, 0);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDERR_FILENO);
	(void)dup2(fd, STDOUT_FILENO);
	/* It must not take the index' lock in the way of the user's git. */
	(void)setenv("GIT_OPTIONAL_LOCKS", "0", 1);
	(void)unsetenv("LD_PRELOAD");
	(void)unsetenv("TARE");
	(void)execlp("git", "git", "-C", root, "status", "--porcelain",
		     "--untracked-files=no", "--ignore-submodules=dirty",
		     (char *)NULL);
	_exit(127);
}

void work_tree_ask(const char *root, struct work_tree_question *question)
{
	int fd[2];

	*question = (struct work_tree_question){ 0, -1 };
	if (pipe2(fd, O_CLOEXEC))
		return;
	question->pid = fork();
	if (question->pid == 0)
		become_git(root, fd[1]);
	(void)close(fd[1]);
	question->fd = fd[0];
	if (question->pid < 0) {
		(void)close(fd[0]);
		question->pid = 0;
	}
}

int work_tree_answer(struct work_tree_question *question)
{
	struct pollfd poll_fd = { .fd = question->fd, .events = POLLIN };
	int status = 0, answer = -1;
	char c;

	if (!question->pid)
		return -1;
	/* Readable at the first changed file, and at git's end. */
	if (poll(&poll_fd, 1, WAIT_MS) == 1)
		answer = read(question->fd, &c, 1) == 1;
	else
		(void)kill(question->pid, SIGKILL);
	(void)close(question->fd);
	if (answer == 1)
		(void)kill(question->pid, SIGKILL);
	while (waitpid(question->pid, &status, 0) < 0 && errno == EINTR)
		;
	question->pid = 0;
	/* No output may also be git's failure. */
	if (answer == 0 && (!WIFEXITED(status) || WEXITSTATUS(status)))
		return -1;
	return answer;
}
