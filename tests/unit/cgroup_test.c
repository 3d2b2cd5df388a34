/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of containers: both versions of cgroups, none, nested, below what is
 * used; and how they are found.
 */
#include "check.h"
#include "tree.h"

#include <tare/system.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/system/readings.h"
#include "record/system.h"

#define MIB (UINT64_C(1) << 20)

static tare_system read_system(void)
{
	tare_system now = { .struct_size = sizeof(now) };

	CHECK_INT(tare_system_read(&now), 0);
	return now;
}

/* 1,000 MiB, 600 of them available. */
static void put_machine(void)
{
	tree_new();
	tree_clock();
	tree_put("/proc/meminfo", "MemTotal: 1024000 kB\n"
				  "MemAvailable: 614400 kB\n");
}

static void put_v2(const char *path)
{
	char text[256];

	put_machine();
	(void)sprintf(text, "0::%s\n", path);
	tree_put("/proc/self/cgroup", text);
	tree_put("/proc/self/mountinfo",
		 "22 1 0:21 / /proc rw shared:5 - proc proc rw\n"
		 "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - "
		 "cgroup2 cgroup2 rw,nsdelegate\n");
}

static void put_group(const char *dir, const char *file, const char *text)
{
	char path[512];

	(void)sprintf(path, "/sys/fs/cgroup%s/%s", dir, file);
	tree_put(path, text);
}

TEST(a_group_without_limits_is_the_machine)
{
	tare_system now;

	put_v2("/user.slice/app");
	put_group("/user.slice/app", "memory.max", "max\n");
	put_group("/user.slice/app", "memory.current", "52428800\n");
	put_group("/user.slice/app", "cpu.max", "max 100000\n");
	put_group("/user.slice", "memory.max", "max\n");
	now = read_system();
	CHECK_INT(now.memory_limit, TARE_UNKNOWN);
	CHECK_INT(now.memory_total, 1000 * MIB);
	CHECK_INT(now.memory_used, 400 * MIB);
	CHECK_NEAR(now.cpu_limit, now.cpus, 0);
	tree_end();
}

TEST(percent_is_of_the_limit_of_version_2)
{
	tare_system now;

	put_v2("/app");
	put_group("/app", "memory.max", "209715200\n");
	put_group("/app", "memory.high", "max\n");
	put_group("/app", "memory.current", "104857600\n");
	put_group("/app", "memory.stat",
		  "anon 1\nfile 2\ninactive_file 52428800\nactive_file 7\n");
	now = read_system();
	CHECK_INT(now.memory_limit, 200 * MIB);
	CHECK_INT(now.memory_total, 200 * MIB);
	CHECK_INT(now.memory_used, 50 * MIB);
	CHECK_INT(now.memory_available, 150 * MIB);
	CHECK_NEAR(now.memory_percent, 25, 1e-9);
	/* Where the kernel starts to make it wait is a limit, too. It is
	 * seen within a second. */
	put_group("/app", "memory.high", "104857600\n");
	CHECK_INT(read_system().memory_limit, 200 * MIB);
	tree_pass_ms(1000);
	CHECK_INT(read_system().memory_limit, 100 * MIB);
	CHECK_NEAR(read_system().memory_percent, 50, 1e-9);
	tree_end();
}

TEST(the_least_limit_and_the_least_room_of_all_groups_count)
{
	tare_system now;

	put_v2("/a/b/c");
	put_group("/a/b/c", "memory.max", "max\n");
	put_group("/a/b", "memory.max", "314572800\n"); /* 300 MiB */
	put_group("/a/b", "memory.current", "104857600\n");
	put_group("/a", "memory.max", "419430400\n"); /* 400 MiB, full */
	put_group("/a", "memory.current", "408944640\n");
	now = read_system();
	CHECK_INT(now.memory_total, 300 * MIB);
	CHECK_INT(now.memory_limit, 300 * MIB);
	CHECK_INT(now.memory_available, 10 * MIB);
	CHECK_INT(now.memory_used, 290 * MIB);
	/* The machine itself has less room than all groups. */
	tree_put("/proc/meminfo", "MemTotal: 1024000 kB\n"
				  "MemAvailable: 5120 kB\n");
	CHECK_INT(read_system().memory_available, 5 * MIB);
	tree_end();
}

TEST(a_limit_below_what_is_used_is_full)
{
	tare_system now;

	put_v2("/app");
	put_group("/app", "memory.max", "1048576\n");
	put_group("/app", "memory.current", "9999999\n");
	now = read_system();
	CHECK_INT(now.memory_total, MIB);
	CHECK_INT(now.memory_used, MIB);
	CHECK_INT(now.memory_available, 0);
	CHECK_NEAR(now.memory_percent, 100, 1e-9);
	/* And one of nothing at all. */
	put_group("/app", "memory.max", "0\n");
	tree_pass_ms(1000);
	now = read_system();
	CHECK_INT(now.memory_total, 0);
	CHECK_NEAR(now.memory_percent, 100, 1e-9);
	tree_end();
}

TEST(a_limit_above_the_memory_there_is_changes_nothing)
{
	tare_system now;

	put_v2("/app");
	put_group("/app", "memory.max", "99999999999999\n");
	put_group("/app", "memory.current", "1048576\n");
	now = read_system();
	CHECK_INT(now.memory_limit, 99999999999999);
	CHECK_INT(now.memory_total, 1000 * MIB);
	CHECK_INT(now.memory_used, 400 * MIB);
	tree_end();
}

TEST(a_limit_whose_use_cannot_be_read_is_not_taken_for_empty)
{
	tare_system now;

	put_v2("/app");
	put_group("/app", "memory.max", "104857600\n");
	put_group("/app", "memory.current", "garbled\n");
	now = read_system();
	CHECK_INT(now.memory_total, 100 * MIB);
	CHECK_INT(now.memory_used, TARE_UNKNOWN);
	CHECK_INT(now.memory_available, TARE_UNKNOWN);
	CHECK(isnan(now.memory_percent));
	tree_end();
}

/* ---- version 1 --------------------------------------------------------- */

static void put_v1(void)
{
	put_machine();
	tree_put("/proc/self/cgroup", "9:name=systemd:/x\n"
				      "4:memory:/docker/abc\n"
				      "2:cpu,cpuacct:/docker/abc\n"
				      "0::/x\n");
	/* Only the container's own part is mounted, as it often is. */
	tree_put("/proc/self/mountinfo",
		 "30 1 0:28 /docker/abc /cg/memory ro - cgroup cgroup "
		 "rw,memory\n"
		 "31 1 0:29 / /cg/cpu ro - cgroup cgroup rw,cpu,cpuacct\n"
		 "32 1 0:30 / /cg/unified rw - cgroup2 cgroup2 rw\n");
}

TEST(percent_is_of_the_limit_of_version_1)
{
	tare_system now;

	put_v1();
	tree_put("/cg/memory/memory.limit_in_bytes", "209715200\n");
	tree_put("/cg/memory/memory.usage_in_bytes", "104857600\n");
	tree_put("/cg/memory/memory.stat",
		 "inactive_file 1\nhierarchical_memory_limit 157286400\n"
		 "total_inactive_file 52428800\n");
	tree_put("/cg/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
	tree_put("/cg/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
	tree_put("/cg/cpu/docker/cpu.cfs_quota_us", "50000\n");
	tree_put("/cg/cpu/docker/cpu.cfs_period_us", "100000\n");
	now = read_system();
	/* A group above, which cannot be seen, has 150 MiB. */
	CHECK_INT(now.memory_limit, 150 * MIB);
	CHECK_INT(now.memory_used, 50 * MIB);
	CHECK_NEAR(now.cpu_limit, 0.5, 1e-9);
	tree_end();
}

TEST(the_number_for_no_limit_of_version_1_is_none)
{
	put_v1();
	tree_put("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
	tree_put("/cg/memory/memory.usage_in_bytes", "104857600\n");
	CHECK_INT(read_system().memory_limit, TARE_UNKNOWN);
	CHECK_INT(read_system().memory_used, 400 * MIB);
	tree_end();
}

/* ---- CPU --------------------------------------------------------------- */

TEST(under_a_quota_percent_is_of_the_quota)
{
	tare_system now;

	put_v2("/pod/app");
	tree_put("/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
	put_group("/pod/app", "cpu.max", "max 100000\n");
	put_group("/pod", "cpu.max", "50000 100000\n");
	put_group("/pod", "cpu.stat", "usage_usec 1000000\nuser_usec 5\n");
	now = read_system();
	CHECK_NEAR(now.cpu_limit, 0.5, 1e-9);
	CHECK(isnan(now.cpu_percent));
	tree_pass_ms(2000);
	put_group("/pod", "cpu.stat", "usage_usec 1250000\nuser_usec 5\n");
	CHECK_NEAR(read_system().cpu_percent, 25, 1e-9);
	/* Overdrawn a little. */
	tree_pass_ms(1000);
	put_group("/pod", "cpu.stat", "usage_usec 1800000\nuser_usec 5\n");
	CHECK_NEAR(read_system().cpu_percent, 100, 1e-9);
	/* Back: another group of this name. */
	tree_pass_ms(1000);
	put_group("/pod", "cpu.stat", "usage_usec 5\nuser_usec 5\n");
	CHECK(isnan(read_system().cpu_percent));
	tree_end();
}

TEST(under_a_quota_of_version_1_times_are_in_another_hierarchy)
{
	put_machine();
	tree_put("/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
	tree_put("/proc/self/cgroup", "2:cpu:/a/b\n1:cpuacct:/a/b\n");
	tree_put("/proc/self/mountinfo",
		 "31 1 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
		 "32 1 0:30 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n");
	tree_put("/cg/cpu/a/cpu.cfs_quota_us", "200000\n");
	tree_put("/cg/cpu/a/cpu.cfs_period_us", "1000000\n");
	tree_put("/cg/cpuacct/a/cpuacct.usage", "5000000000\n");
	CHECK_NEAR(read_system().cpu_limit, 0.2, 1e-9);
	tree_pass_ms(1000);
	tree_put("/cg/cpuacct/a/cpuacct.usage", "5100000000\n");
	CHECK_NEAR(read_system().cpu_percent, 50, 1e-9);
	/* In another group there: unknown, and not the machine's. */
	tree_put("/proc/self/cgroup", "2:cpu:/a/b\n1:cpuacct:/ab\n");
	tree_put("/proc/stat", "cpu 1 1 1 1\ncpu0 9 9 9 9\n");
	tree_pass_ms(1000);
	CHECK(isnan(read_system().cpu_percent));
	tree_end();
}

TEST(quotas_that_are_none)
{
	static const char *const none[] = { "max 100000", "", "x", "-1 5",
					    "0 100000", "5 0", "5",
					    "5 99999999999999999999999" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK(isnan(tr_quota_scan(none[i])));
	CHECK_NEAR(tr_quota_scan("250000 100000\n"), 2.5, 1e-9);
}

/* ---- finding the folder ------------------------------------------------ */

static const char mounts[] =
	"1 0 0:1 / / rw - ext4 /dev/sda rw\n"
	"short\n"
	"2 1 0:2 / /a\\040b rw shared:1 - cgroup2 cgroup2 rw\n"
	"3 1 0:3 /up /m rw - cgroup cgroup rw,hugetlb,memory\n";

static void check_folder(const char *cgroup, const char *mountinfo,
			 unsigned version, const char *dir)
{
	struct tr_cgroup group;

	memset(&group, 0x5a, sizeof(group));
	tr_cgroup_scan(cgroup, mountinfo, "memory", &group);
	CHECK_INT(group.version, version);
	if (version) {
		CHECK_STR(group.dir, dir);
		CHECK(group.top <= strlen(group.dir));
	}
}

TEST(the_folder_of_a_group_is_found)
{
	check_folder("0::/x\n", mounts, 2, "/a b/x");
	check_folder("0::/\n", mounts, 2, "/a b");
	check_folder("3:memory:/up/x\n0::/y\n", mounts, 1, "/m/x");
	check_folder("3:hugetlb,memory:/up\n", mounts, 1, "/m");
	/* Outside of what is mounted: the mounted part. */
	check_folder("3:memory:/upper/x\n", mounts, 1, "/m");
	check_folder("3:memory:/other\n", mounts, 1, "/m");
	check_folder("0::/../x\n", mounts, 2, "/a b");
	/* None. */
	check_folder("0::/x\n", "", 0, NULL);
	check_folder("", mounts, 0, NULL);
	check_folder("memory\n:\n::\n0:\n0::x\n", mounts, 0, NULL);
	check_folder("3:memory:\n", mounts, 0, NULL);
	check_folder("3:cpu:/x\n", mounts, 0, NULL);
	check_folder("3:memory:/x\n", "3 1 0:3 /up /m rw - cgroup2 c rw\n", 0,
		     NULL);
}

TEST(a_process_that_moves_to_another_group_is_followed)
{
	put_v2("/one");
	put_group("/one", "memory.max", "104857600\n");
	put_group("/one", "memory.current", "1\n");
	put_group("/two", "memory.max", "209715200\n");
	put_group("/two", "memory.current", "1\n");
	CHECK_INT(read_system().memory_limit, 100 * MIB);
	tree_put("/proc/self/cgroup", "0::/two\n");
	tree_pass_ms(1000);
	CHECK_INT(read_system().memory_limit, 200 * MIB);
	tree_remove("/proc/self/cgroup");
	tree_pass_ms(1000);
	CHECK_INT(read_system().memory_limit, TARE_UNKNOWN);
	tree_end();
}

TEST(paths_too_long_for_any_group_are_none)
{
	char text[4096];

	put_v2("/one");
	memset(text, 'x', sizeof(text));
	memcpy(text, "0::/", 4);
	text[sizeof(text) - 2] = '\n';
	text[sizeof(text) - 1] = '\0';
	tree_put("/proc/self/cgroup", text);
	CHECK_INT(read_system().memory_limit, TARE_UNKNOWN);
	text[600] = '\n';
	text[601] = '\0';
	tr_system_forget();
	tree_put("/proc/self/cgroup", text);
	CHECK_INT(read_system().memory_limit, TARE_UNKNOWN);
	tree_end();
}
