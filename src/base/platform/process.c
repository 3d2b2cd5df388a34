/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The fields after the name, which may contain anything; NULL: no process. */
static const char *read_stat(uint32_t pid, char *text, size_t size)
{
	char path[64], *end;

	/* Not /proc/PID/stat: emulators fake that of their own process. */
	(void)snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, pid);
	if (!tr_file_text(path, text, size))
		return NULL;
	end = strrchr(text, ')');
	return end ? end + 2 : NULL; /* field 3 */
}

static uint64_t field_of(const char *fields, int number)
{
	for (int field = 3; fields && field < number; field++) {
		fields = strchr(fields, ' ');
		fields = fields ? fields + 1 : NULL;
	}
	return fields ? strtoull(fields, NULL, 10) : 0;
}

/* Start time; 0: the process does not exist, or is a zombie. */
static uint64_t start_time_of(uint32_t pid)
{
	char text[1024];
	const char *fields = read_stat(pid, text, sizeof(text));
	bool first_ended = fields && *fields == 'Z';

	if (first_ended && field_of(fields, 20) <= 1)
		return 0;
	return field_of(fields, 22);
}

static void read_boot_id(char out[40])
{
	(void)tr_file_text("/proc/sys/kernel/random/boot_id", out, 37);
}

/*
 * Are the numbers in /proc those of this process's namespace? Not if a
 * namespace was created and the old /proc is still mounted.
 */
static bool is_proc_ours(void)
{
	char text[24];
	int saved = errno;
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	errno = saved;
	if (n <= 0)
		return false;
	text[n] = '\0';
	return strtol(text, NULL, 10) == (long)getpid();
}

void tr_identity_self(struct tr_identity *identity)
{
	struct stat st;

	memset(identity, 0, sizeof(*identity));
	identity->pid = (uint32_t)getpid();
	if (is_proc_ours())
		identity->start_time = start_time_of(identity->pid);
	if (stat("/proc/self/ns/pid", &st) == 0)
		identity->pid_ns = st.st_ino;
	read_boot_id(identity->boot_id);
}

bool tr_identity_is_of_boot(const struct tr_identity *identity)
{
	char boot[40];

	read_boot_id(boot);
	/* If one of them is unknown, it may be. */
	return !boot[0] || !identity->boot_id[0] ||
	       strncmp(boot, identity->boot_id, sizeof(boot)) == 0;
}

bool tr_identity_alive(const struct tr_identity *identity)
{
	uint64_t start = is_proc_ours() ? start_time_of(identity->pid) : 0;

	return start != 0 && start == identity->start_time;
}

uint32_t tr_thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

void tr_thread_name(char name[16])
{
	int saved = errno;

	name[0] = '\0';
	(void)prctl(PR_GET_NAME, name);
	name[15] = '\0';
	errno = saved;
}

bool tr_thread_alive(uint32_t pid, uint32_t thread)
{
	int saved = errno;
	bool alive = syscall(SYS_tgkill, (pid_t)pid, (pid_t)thread, 0) == 0 ||
		     errno != ESRCH;

	errno = saved;
	return alive;
}

struct description {
	char *out;
	size_t size, len;
};

/* Line ends in values are removed: one line is one key. */
static void describe(struct description *d, const char *key, const char *value)
{
	size_t n = strlen(key) + 2 + strlen(value);

	if (d->len + n >= d->size)
		return;
	d->len += (size_t)sprintf(d->out + d->len, "%s=", key);
	for (const char *c = value; *c; c++)
		d->out[d->len++] = (unsigned char)*c < ' ' ? ' ' : *c;
	d->out[d->len++] = '\n';
	d->out[d->len] = '\0';
}

/* As of tr_process_remember(); 0 bytes: it was not called. */
static struct {
	int64_t command_bytes;
	char command[1024];
	char group[48];
	pid_t pid, parent; /* that process, and its parent */
} remembered;

static int64_t read_command(char *text, size_t size)
{
	if (!remembered.command_bytes)
		return tr_file_read("/proc/self/cmdline", text, size);
	memcpy(text, remembered.command, sizeof(remembered.command));
	return remembered.command_bytes;
}

static const char *read_group(void)
{
	return remembered.command_bytes ? remembered.group :
					  secure_getenv("TARE_GROUP");
}

/* The arguments as in /proc/self/cmdline. */
static int64_t join_args(char *text, size_t size, char *const argv[])
{
	size_t n = 0;

	for (; *argv && n < size; argv++) {
		size_t len = strlen(*argv) + 1;

		len = len < size - n ? len : size - n;
		memcpy(text + n, *argv, len);
		n += len;
	}
	return (int64_t)n;
}

void tr_process_remember_parent(void)
{
	remembered.pid = getpid();
	remembered.parent = getppid();
}

void tr_process_remember(char *const argv[])
{
	const char *group = secure_getenv("TARE_GROUP");

	tr_process_remember_parent();
	if (group && strlen(group) < sizeof(remembered.group))
		memcpy(remembered.group, group, strlen(group) + 1);
	if (argv && *argv) {
		remembered.command_bytes =
			join_args(remembered.command,
				  sizeof(remembered.command) - 1, argv);
		return;
	}
	remembered.command_bytes =
		tr_file_read("/proc/self/cmdline", remembered.command,
			     sizeof(remembered.command) - 1);
	if (remembered.command_bytes < 0)
		remembered.command_bytes = 0;
}

static void describe_command(struct description *d)
{
	char text[sizeof(remembered.command)];
	int64_t n = read_command(text, sizeof(text) - 1);
	const char *program;

	if (n <= 0)
		return;
	text[n] = '\0';
	program = strrchr(text, '/');
	describe(d, "program", program ? program + 1 : text);
	for (int64_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	describe(d, "command", text);
}

/* 0: it is in another name space. */
static void describe_parent(struct description *d)
{
	pid_t parent = remembered.pid == getpid() ? remembered.parent :
						    getppid();
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", (int)parent);
	if (parent > 0)
		describe(d, "parent", text);
}

#define ANCESTORS_MOST 8

/* Of /proc/PID/stat: the name, which may hold anything, and the parent. */
static pid_t parent_and_name(pid_t pid, char *name, size_t size)
{
	char path[32], text[256], *from, *to;
	size_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	(void)tr_file_text(path, text, sizeof(text));
	from = strchr(text, '(');
	to = strrchr(text, ')');
	if (!from || !to || strlen(to) < 5) /* ") S 123" */
		return 0;
	for (from++; from < to && n + 1 < size; from++)
		name[n++] = (unsigned char)*from <= ' ' || *from == ':' ? '_' :
									  *from;
	name[n] = '\0';
	return (pid_t)strtol(to + 4, NULL, 10);
}

/*
 * "32520:gcc 32517:make": the parent, its parent, up to the program that `tare
 * run` started. Those that are too short for a sample leave no ledger.
 */
static void describe_ancestors(struct description *d, const char *group)
{
	const char *run = group ? strrchr(group, '-') : NULL;
	pid_t top = run ? (pid_t)strtol(run + 1, NULL, 10) : 0;
	pid_t pid = remembered.pid == getpid() ? remembered.parent : getppid();
	char text[ANCESTORS_MOST * 32] = "", name[20];
	size_t n = 0;

	for (int i = 0; i < ANCESTORS_MOST && top > 0 && pid > 1; i++) {
		pid_t parent = pid == top ? 0 : parent_and_name(pid, name,
								sizeof(name));

		if (!parent)
			break;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d:%s",
				      n ? " " : "", (int)pid, name);
		pid = parent;
	}
	/* Not of this run: it was given away to init, or to a service. */
	if (n && pid == top)
		describe(d, "ancestors", text);
}

static void describe_cpu(struct description *d)
{
	char text[1024], *at;

	(void)tr_file_text("/proc/cpuinfo", text, sizeof(text));
	at = strstr(text, "model name");
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return;
	at += at[1] == ' ' ? 2 : 1;
	at[strcspn(at, "\n")] = '\0';
	describe(d, "cpu", at);
}

static void describe_git(struct description *d, const char *folder)
{
	char path[1024], revision[48];

	(void)snprintf(path, sizeof(path) - 8, "%s", folder);
	for (int up = 0; up < 32; up++) {
		char *slash;

		if (tr_git_revision(path, revision, sizeof(revision))) {
			describe(d, "git", revision);
			return;
		}
		slash = strrchr(path, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

size_t tr_process_describe(char *out, size_t size)
{
	struct description d = { out, size, 0 };
	struct utsname host;
	char folder[512];
	const char *group = read_group();

	describe_command(&d);
	describe_parent(&d);
	describe_ancestors(&d, group);
	if (uname(&host) == 0)
		describe(&d, "host", host.nodename);
	describe_cpu(&d);
	if (getcwd(folder, sizeof(folder))) {
		describe(&d, "folder", folder);
		describe_git(&d, folder);
	}
	if (group && group[0] && strlen(group) < sizeof(remembered.group))
		describe(&d, "group", group);
	return d.len;
}

/* Address at the start of a line of /proc/self/maps that ends in `name`. */
static void *mapping_in_line(char *line, const char *name)
{
	size_t len = strlen(line), want = strlen(name);

	if (len < want)
		return NULL;
	if (strcmp(line + len - want, name) != 0) {
		static const char gone[] = " (deleted)";

		if (len < want + sizeof(gone) - 1 ||
		    strcmp(line + len - (sizeof(gone) - 1), gone) != 0)
			return NULL;
		line[len - (sizeof(gone) - 1)] = '\0';
		return mapping_in_line(line, name);
	}
	return (void *)(uintptr_t)strtoull(line, NULL, 16);
}

bool tr_mapping_each(char *text, bool (*look)(char *line, void *arg),
		     void *arg)
{
	const size_t most = TR_MAPPING_TEXT - 1;
	size_t have = 0;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;

	while (fd >= 0 && !found) {
		ssize_t n = read(fd, text + have, most - have);
		char *line = text, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		text[have] = '\0';
		while (!found && (end = strchr(line, '\n'))) {
			*end = '\0';
			found = look(line, arg);
			line = end + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == most)
			have = 0; /* the line is longer than any of ours */
	}
	if (fd >= 0)
		(void)close(fd);
	return found;
}

struct mapping_wanted {
	const char *name;
	void *found;
};

static bool mapping_has_name(char *line, void *arg)
{
	struct mapping_wanted *wanted = arg;

	wanted->found = mapping_in_line(line, wanted->name);
	return wanted->found != NULL;
}

void *tr_mapping_find(const char *name)
{
	struct mapping_wanted wanted = { .name = name };
	char text[TR_MAPPING_TEXT];

	(void)tr_mapping_each(text, mapping_has_name, &wanted);
	return wanted.found;
}
