/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No space: a full tmpfs, a full disk, limits of file size, address space
 * and memory, a folder that cannot be written. The host goes on and prints
 * the same, every event is stored or counted as lost, and measuring resumes
 * within a second of there being space.
 */
#include "check.h"
#include "program.h"
#include "scene.h"
#include "scratch.h"
#include "read/view.h"

#include <tare/control.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- events, and the account of them ----------------------------------- */

static uint64_t produced;

static void use_series(int i)
{
	char name[32];
	tare_site *scope, *value;

	(void)snprintf(name, sizeof(name), "series.%d", i);
	scope = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL,
			      NULL);
	value = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, name, NULL,
			      NULL);
	for (int k = 0; k < 5; k++) {
		tare_scope_end(tare_scope_begin(scope));
		tare_value_observe(value, k);
	}
	produced += 10;
}

static uint64_t check_accounts(void)
{
	const tare_stats *rows = NULL;
	uint64_t stored = 0, lost;
	tare_view *view = scene_view();
	size_t n;

	if (!view)
		return 0;
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++)
		stored += rows[i].count;
	lost = tare_view_health(view)->lost;
	CHECK_INT(stored + lost, produced);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
	return lost;
}

/* ---- places that are full ---------------------------------------------- */

/* Would others see what is mounted here? Of a mount: its line says so. */
static bool is_shared(const char *folder)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[1024], wanted[160];
	bool shared = !file;

	(void)snprintf(wanted, sizeof(wanted), " %s ", folder);
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, wanted))
			shared = strstr(line, " shared:") != NULL;
	if (file)
		(void)fclose(file);
	return shared;
}

/* In a chroot the root is no mount: the scene's folder becomes one. */
static bool own_folder(void)
{
	if (mount(scene_dir, scene_dir, NULL, MS_BIND, NULL))
		return false;
	if (!is_shared(scene_dir))
		return true;
	(void)umount2(scene_dir, MNT_DETACH);
	return false;
}

static bool enter_namespace(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ||
		(errno == EINVAL && own_folder()));
}

static const char *mount_options; /* of a tmpfs on the scene's folder */
static unsigned long mount_flags;

static bool mount_tmpfs(void)
{
	return enter_namespace() &&
	       mount("tmpfs", scene_dir, "tmpfs", mount_flags,
		     mount_options) == 0;
}

static void probe_mount(void)
{
	_exit(!mount_tmpfs());
}

/* Root, and not in a container that forbids it. */
static bool can_mount(void)
{
	pid_t child;
	int status = -1;

	mount_options = "size=1m";
	mount_flags = 0;
	(void)fflush(stdout);
	(void)snprintf(scene_dir, sizeof(scene_dir), "/tmp/tare-space-XXXXXX");
	if (!mkdtemp(scene_dir))
		return false;
	child = fork();
	if (child == 0)
		probe_mount();
	(void)waitpid(child, &status, 0);
	(void)rmdir(scene_dir);
	return status == 0;
}

static void junk_path(char *path, size_t size)
{
	(void)snprintf(path, size, "%s/junk", scene_dir);
}

/* Fills the file system to the last byte. */
static void fill_up(void)
{
	static char block[4096];
	char path[160];
	int fd;

	junk_path(path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0);
	for (size_t n = sizeof(block); n > 0; n /= 2)
		while (write(fd, block, n) > 0)
			;
	CHECK_INT(errno, ENOSPC);
	(void)close(fd);
}

static void make_space(void)
{
	char path[160];

	junk_path(path, sizeof(path));
	CHECK_INT(unlink(path), 0);
}

/* New series until they are stored; how long did that take? */
static void check_resumes(int first)
{
	double start = scratch_seconds();
	uint64_t before;
	bool resumed = false;

	while (!resumed && scratch_seconds() - start < 5) {
		before = check_accounts();
		use_series(first++);
		resumed = check_accounts() == before;
		if (!resumed)
			(void)usleep(5000);
	}
	CHECK(resumed && scratch_seconds() - start < 1);
}

static void fill_and_free(void)
{
	uint64_t lost;

	scene_start(NULL);
	CHECK(tare_ledger_path() != NULL);
	for (int i = 0; i < 5; i++)
		use_series(i);
	CHECK_INT(check_accounts(), 0);
	fill_up();
	for (int i = 5; i < 60; i++)
		use_series(i);
	CHECK(check_accounts() > 0);
	make_space();
	check_resumes(60);
	/* What found no room before is stored now. */
	lost = check_accounts();
	for (int i = 5; i < 60; i++)
		use_series(i);
	CHECK_INT(check_accounts(), lost);
	CHECK_INT(tare_stop(), 0);
}

static void play_full_tmpfs(void)
{
	if (CHECK(mount_tmpfs()))
		fill_and_free();
}

TEST(a_full_tmpfs_costs_events_until_there_is_space)
{
	if (!can_mount())
		SKIP("mounting needs root");
	mount_options = "size=2m";
	scene_play(play_full_tmpfs);
}

static void play_full_disk(void)
{
	char command[600];

	if (!CHECK(enter_namespace()))
		return;
	(void)snprintf(command, sizeof(command),
		       "f=%s.img && truncate -s 8M $f && "
		       "mkfs.ext4 -q -F -O ^has_journal $f 2>/dev/null && "
		       "mount -o loop $f %s",
		       scene_dir, scene_dir);
	if (system(command)) {
		printf("# no loop device: not tested on a disk\n");
		return;
	}
	(void)snprintf(command, sizeof(command), "rm -f %s.img", scene_dir);
	CHECK_INT(system(command), 0);
	fill_and_free();
}

TEST(a_full_disk_costs_events_until_there_is_space)
{
	if (!can_mount())
		SKIP("mounting needs root");
	if (access("/sbin/mkfs.ext4", X_OK))
		SKIP("no mkfs.ext4");
	scene_play(play_full_disk);
}

/* ---- the host prints the same ------------------------------------------ */

static struct outcome plain;

static struct outcome run_host(bool measured, void (*prepare)(void))
{
	char dir[160];
	const char *argv[] = { program_path("host"), "ask", "stop", NULL };
	const char *env[] = { "TARE=1", dir, NULL };
	struct program program = { .argv = argv,
				   .env = measured ? env : NULL,
				   .prepare = prepare };

	(void)snprintf(dir, sizeof(dir), "TARE_DIR=%s", scene_dir);
	return program_run(&program);
}

/* Under the same limit with and without measuring. */
static void check_host(void (*prepare)(void))
{
	struct outcome outcome;

	plain = run_host(false, prepare);
	outcome = run_host(true, prepare);
	CHECK_INT(WEXITSTATUS(plain.status), 7);
	if (!CHECK(outcome_is_same(&outcome, &plain)))
		outcome_print(&outcome);
	outcome_release(&outcome);
	outcome_release(&plain);
}

static void play_host_full(void)
{
	if (!CHECK(mount_tmpfs()))
		return;
	fill_up();
	check_host(NULL);
	make_space();
	check_host(NULL);
}

TEST(a_host_on_a_full_tmpfs_prints_the_same)
{
	static const char *const sizes[] = { "size=4k",	  "size=16k",
					     "size=64k",  "size=100k",
					     "size=256k", "size=1m" };

	if (!can_mount())
		SKIP("mounting needs root");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		mount_options = sizes[i];
		scene_play(play_host_full);
	}
}

static void play_read_only(void)
{
	if (CHECK(mount_tmpfs()))
		check_host(NULL);
}

TEST(a_host_with_a_read_only_folder_prints_the_same)
{
	if (!can_mount())
		SKIP("mounting needs root");
	mount_flags = MS_RDONLY;
	scene_play(play_read_only);
}

static void become_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(125);
}

static bool can_nobody_start(const char *path)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		become_nobody();
		_exit(access(path, X_OK) && errno == EACCES);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void play_not_writable(void)
{
	CHECK_INT(chmod(scene_dir, 0500), 0);
	check_host(geteuid() == 0 ? become_nobody : NULL);
	CHECK_INT(chmod(scene_dir, 0700), 0);
}

TEST(a_host_with_a_folder_it_cannot_write_prints_the_same)
{
	if (geteuid() == 0 && !can_nobody_start(program_path("host")))
		SKIP("nobody may not go into the folder of this build");
	scene_play(play_not_writable);
}

/* ---- limits ------------------------------------------------------------ */

static rlim_t limit;

static void limit_files(void)
{
	struct rlimit r = { limit, limit };

	if (setrlimit(RLIMIT_FSIZE, &r))
		_exit(125);
}

static void limit_space(void)
{
	struct rlimit r = { limit, limit };

	if (setrlimit(RLIMIT_AS, &r))
		_exit(125);
}

static const rlim_t file_limits[] = { 0,       1,	 4096,	   10000,
				      1 << 20, 8 << 20, 12 << 20, 64 << 20 };

static void play_host_file_limit(void)
{
	check_host(limit_files);
}

TEST(a_host_with_a_limit_of_file_size_prints_the_same)
{
	if (SCRATCH_TSAN)
		SKIP("the sanitizer itself writes files");
	for (size_t i = 0; i < sizeof(file_limits) / sizeof(file_limits[0]);
	     i++) {
		limit = file_limits[i];
		scene_play(play_host_file_limit);
	}
}

static void play_file_limit(void)
{
	(void)!tare_option_set("report", "none");
	limit_files();
	scene_start(NULL);
	for (int i = 0; i < 50; i++)
		use_series(i);
	CHECK_INT(check_accounts(), 0);
	CHECK_INT(tare_stop(), 0);
}

static void drop(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)level;
	(void)text;
}

/* The test's own output is a file for some runners. */
static void play_file_limit_quietly(void)
{
	int null = open("/dev/null", O_WRONLY);

	(void)fflush(stdout);
	(void)dup2(null, 1);
	tare_log_set(drop, NULL);
	play_file_limit();
}

TEST(with_a_limit_of_file_size_everything_is_measured)
{
	for (size_t i = 0; i < sizeof(file_limits) / sizeof(file_limits[0]);
	     i++) {
		limit = file_limits[i];
		if (!scene_play(play_file_limit_quietly))
			printf("# limit %llu\n", (unsigned long long)limit);
	}
}

static void play_host_space_limit(void)
{
	check_host(limit_space);
}

TEST(a_host_with_64_mb_of_address_space_prints_the_same)
{
	if (SCRATCH_ASAN || SCRATCH_TSAN)
		SKIP("a sanitizer needs terabytes of address space");
	for (limit = 32 << 20; limit <= 1 << 30; limit *= 2)
		if (!scene_play(play_host_space_limit))
			printf("# limit %llu\n", (unsigned long long)limit);
}

/* Most of what it may have is still the host's. */
static void play_space_is_left(void)
{
	void *block;

	limit_space();
	if (tare_start())
		return; /* nothing taken at all */
	for (int i = 0; i < 50; i++)
		use_series(i);
	block = malloc(limit / 4);
	CHECK(block != NULL);
	free(block);
	(void)check_accounts();
}

TEST(of_64_mb_of_address_space_most_is_left)
{
	if (SCRATCH_ASAN || SCRATCH_TSAN)
		SKIP("a sanitizer needs terabytes of address space");
	for (limit = 32 << 20; limit <= 1 << 30; limit *= 2)
		if (!scene_play(play_space_is_left))
			printf("# limit %llu\n", (unsigned long long)limit);
}

/* ---- a memory limit ---------------------------------------------------- */

static char group[256];

static bool write_file(const char *name, const char *text)
{
	char path[300];
	FILE *file;
	bool ok;

	(void)snprintf(path, sizeof(path), "%s/%s", group, name);
	file = fopen(path, "we");
	if (!file)
		return false;
	ok = fputs(text, file) >= 0;
	return fclose(file) == 0 && ok;
}

/* A group of 64 MB, in version 2 or 1 of control groups. */
static bool make_group(void)
{
	static const char *const bases[] = { "/sys/fs/cgroup",
					     "/sys/fs/cgroup/memory" };
	static const char *const files[] = { "memory.max",
					     "memory.limit_in_bytes" };

	for (int i = 0; i < 2; i++) {
		(void)snprintf(group, sizeof(group), "%s/tare-test-%d",
			       bases[i], (int)getpid());
		if (mkdir(group, 0755))
			continue;
		if (write_file(files[i], "67108864"))
			return true;
		(void)rmdir(group);
	}
	return false;
}

static void join_group(void)
{
	if (!write_file("cgroup.procs", "0"))
		_exit(125);
}

static void play_memory_limit(void)
{
	check_host(join_group);
	join_group();
	scene_start(NULL);
	for (int i = 0; i < 200; i++)
		use_series(i);
	CHECK_INT(check_accounts(), 0);
}

TEST(a_host_in_a_group_of_64_mb_prints_the_same_and_is_measured)
{
	if (!make_group())
		SKIP("control groups need root");
	scene_play(play_memory_limit);
	(void)rmdir(group);
}

/* ---- nobody listens ---------------------------------------------------- */

static void close_stderr(void)
{
	int ends[2];

	/* A pipe without a reader in place of stderr: SIGPIPE. */
	if (pipe(ends))
		_exit(125);
	(void)dup2(ends[1], 2);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)signal(SIGPIPE, SIG_DFL);
}

static void play_no_reader(void)
{
	check_host(close_stderr);
}

TEST(a_host_whose_stderr_nobody_reads_ends_the_same)
{
	scene_play(play_no_reader);
}
