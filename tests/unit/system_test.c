/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine as made-up files of /proc and /sys tell it: right, missing,
 * garbled; counters that wrap, and clocks that jump.
 */
#include "check.h"
#include "scene.h"
#include "tree.h"

#include <tare/system.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/readings.h"
#include "record/system.h"

#define KIB UINT64_C(1024)

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

static tare_system read_system(void)
{
	tare_system now = { .struct_size = sizeof(now) };

	errno = 77;
	CHECK_INT(tare_system_read(&now), 0);
	CHECK_INT(errno, 77);
	CHECK_INT(now.struct_size, sizeof(now));
	return now;
}

/* Nothing below 0, nothing beyond what there can be. */
static void check_sane(const tare_system *now)
{
	const double percent[] = { now->memory_percent, now->cpu_percent,
				   now->memory_pressure, now->cpu_pressure,
				   now->io_pressure };
	const double rate[] = { now->disk_read_rate, now->disk_write_rate,
				now->net_receive_rate, now->net_send_rate,
				now->load1, now->load5, now->load15,
				now->cpu_limit };

	for (size_t i = 0; i < sizeof(percent) / sizeof(percent[0]); i++)
		CHECK(isnan(percent[i]) ||
		      (percent[i] >= 0 && percent[i] <= 100));
	for (size_t i = 0; i < sizeof(rate) / sizeof(rate[0]); i++)
		CHECK(isnan(rate[i]) || (rate[i] >= 0 && rate[i] <= 1e13));
	CHECK(now->memory_used == TARE_UNKNOWN ||
	      now->memory_used <= now->memory_total);
	CHECK(now->swap_used == TARE_UNKNOWN ||
	      now->swap_used <= now->swap_total);
}

/* ---- memory, pressure, load -------------------------------------------- */

TEST(memory_swap_pressure_and_load_are_those_of_the_files)
{
	tare_system now;

	tree_new();
	tree_put("/proc/meminfo", "MemTotal:        8000 kB\n"
				  "MemFree:          100 kB\n"
				  "MemAvailable:    6000 kB\n"
				  "SwapTotal:       4000 kB\n"
				  "SwapFree:        3000 kB\n");
	tree_put("/proc/pressure/memory",
		 "some avg10=1.25 avg60=9.00 avg300=9.00 total=5\n"
		 "full avg10=7.00 avg60=9.00 avg300=9.00 total=5\n");
	tree_put("/proc/pressure/cpu", "some avg10=100.00 avg60=0\n");
	tree_put("/proc/pressure/io", "some avg10=0.00 avg60=0\n");
	tree_put("/proc/loadavg", "0.52 12.50 3.07 1/123 4567\n");
	now = read_system();
	CHECK_INT(now.memory_total, 8000 * KIB);
	CHECK_INT(now.memory_available, 6000 * KIB);
	CHECK_INT(now.memory_used, 2000 * KIB);
	CHECK_NEAR(now.memory_percent, 25, 1e-9);
	CHECK_INT(now.memory_limit, TARE_UNKNOWN);
	CHECK_INT(now.swap_total, 4000 * KIB);
	CHECK_INT(now.swap_used, 1000 * KIB);
	CHECK_NEAR(now.memory_pressure, 1.25, 1e-9);
	CHECK_NEAR(now.cpu_pressure, 100, 1e-9);
	CHECK_NEAR(now.io_pressure, 0, 1e-9);
	CHECK_NEAR(now.load1, 0.52, 1e-9);
	CHECK_NEAR(now.load5, 12.5, 1e-9);
	CHECK_NEAR(now.load15, 3.07, 1e-9);
	/* What has no file is not known. */
	CHECK_INT(now.disk_read, TARE_UNKNOWN);
	CHECK_INT(now.net_sent, TARE_UNKNOWN);
	CHECK(isnan(now.cpu_percent) && isnan(now.disk_read_rate));
	tree_end();
}

TEST(no_file_at_all_is_an_error_and_leaves_the_answer_alone)
{
	tare_system now = { .struct_size = sizeof(now), .load1 = 42 };
	double percent[4];
	size_t n = 7;

	tree_new();
	CHECK_INT(tare_system_read(&now), TARE_EIO);
	CHECK_NEAR(now.load1, 42, 0);
	CHECK_INT(tare_cpu_read(percent, 4, &n), TARE_EIO);
	CHECK_INT(n, 7);
	now.struct_size = 8;
	CHECK_INT(tare_system_read(&now), TARE_EINVAL);
	CHECK_INT(tare_system_read(NULL), TARE_EINVAL);
	CHECK_INT(tare_cpu_read(NULL, 4, &n), TARE_EINVAL);
	CHECK_INT(tare_cpu_read(percent, 4, NULL), TARE_EINVAL);
	tree_end();
}

TEST(a_program_of_another_version_gets_what_it_has_room_for)
{
	struct {
		tare_system system;
		uint64_t more[4];
	} newer;
	unsigned char old[40];
	tare_system head = { .struct_size = 32 };

	tree_new();
	tree_put("/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 5 kB\n");
	memset(old, 0x55, sizeof(old));
	memcpy(old, &head.struct_size, sizeof(head.struct_size));
	CHECK_INT(tare_system_read((tare_system *)(void *)old), 0);
	memcpy(&head, old, 32);
	CHECK_INT(head.memory_total, 10 * KIB);
	CHECK_INT(old[32], 0x55);
	memset(&newer, 0, sizeof(newer));
	newer.system.struct_size = sizeof(newer);
	CHECK_INT(tare_system_read(&newer.system), 0);
	CHECK_INT(newer.more[3], TARE_UNKNOWN);
	tree_end();
}

static const char *const files[] = {
	"/proc/meminfo",      "/proc/pressure/memory", "/proc/pressure/cpu",
	"/proc/pressure/io",  "/proc/stat",	       "/proc/loadavg",
	"/proc/diskstats",    "/proc/net/dev",	       "/proc/self/cgroup",
	"/proc/self/mountinfo",
};

#define N_FILES (sizeof(files) / sizeof(files[0]))

static const char *const garbage[] = {
	"",
	"\n\n\n",
	"\0\0\0\0",
	"-1 -2 -3\n",
	"MemTotal: -5 kB\nMemAvailable: 99999999999999999999999 kB\n",
	"MemTotal: 0 kB\nMemAvailable: 1 kB\n",
	"MemTotal:\nMemAvailable:\nSwapTotal: 1 kB\nSwapFree: 2 kB\n",
	"MemTotal: 10 kB\nMemAvailable: 11 kB\n",
	"some avg10=-1.0\n",
	"some avg10=100.01\n",
	"some avg10=\n",
	"cpu0\n",
	"cpu99999999999999999999 1 2 3 4\n",
	"cpu0 1 2 3\ncpu1 18446744073709551615 1 1 1\n",
	"1e300 nan inf\n",
	"99999999999999999999.5 1 1\n",
	"8 0 sda 1 1 36028797018963968 1 1 1 5 1\n",
	"8 0 sda 1 1 99999999999999999999 1 1 1 99999999999999999999 1\n",
	"8 0 a-name-that-is-longer-than-any-name-of-a-device 1 1 1 1 1 1 1 1\n",
	"eth0: 18446744073709551615 1 1 1 1 1 1 1 18446744073709551615\n",
	"eth0:\n",
	":::::\n",
	"0::no-slash\n4:memory\n5:memory:\n",
	"1 2 3 / /sys - cgroup2\n",
	"1 2 3 / /sys rw - cgroup cgroup rw,memory\n",
};

TEST(garbled_files_give_unknown_values_and_never_absurd_ones)
{
	char *large = malloc(2u << 20);
	tare_system now = { .struct_size = sizeof(now) };

	memset(large, '9', 2u << 20);
	for (size_t g = 0; g <= sizeof(garbage) / sizeof(garbage[0]); g++) {
		tree_new();
		tree_clock();
		for (size_t i = 0; i < N_FILES; i++) {
			if (g < sizeof(garbage) / sizeof(garbage[0]))
				tree_put(files[i], garbage[g]);
			else
				tree_put_bytes(files[i], large, 2u << 20);
		}
		for (int i = 0; i < 3; i++) {
			tree_pass_ms(500);
			if (tare_system_read(&now) == 0)
				check_sane(&now);
		}
	}
	free(large);
	tree_end();
}

TEST(folders_in_place_of_files_are_not_read)
{
	tare_system now = { .struct_size = sizeof(now) };

	tree_new();
	for (size_t i = 0; i < N_FILES; i++)
		tree_folder(files[i]);
	CHECK_INT(tare_system_read(&now), TARE_EIO);
	tree_end();
}

/* ---- CPU --------------------------------------------------------------- */

/* The same ticks for CPUs 0 to 63, whichever this process may use. */
static void put_stat(uint64_t user, uint64_t idle, uint64_t iowait)
{
	char text[64 * 80 + 80];
	int len = sprintf(text, "cpu  1 1 1 1 1 1 1 1 0 0\n");

	for (int i = 0; i < 64; i++)
		len += sprintf(text + len,
			       "cpu%d %llu 0 0 %llu %llu 0 0 0 0 0\n", i,
			       (unsigned long long)user,
			       (unsigned long long)idle,
			       (unsigned long long)iowait);
	(void)sprintf(text + len, "intr 1 2 3\ncpu9 9 9 9 9\n");
	tree_put("/proc/stat", text);
}

TEST(cpu_percent_is_busy_over_all_since_the_reading_before)
{
	tare_system now;

	tree_new();
	tree_clock();
	put_stat(1000, 2000, 10);
	now = read_system();
	CHECK(isnan(now.cpu_percent));
	CHECK(now.cpus > 0);
	CHECK_NEAR(now.cpu_limit, now.cpus, 0);
	tree_pass_ms(1000);
	put_stat(1030, 2060, 20); /* waiting for a disk is idle */
	now = read_system();
	CHECK_NEAR(now.cpu_percent, 30, 1e-9);
	/* Sooner than 0.1 s: since the one before that. */
	tree_pass_ms(50);
	put_stat(1080, 2060, 20);
	now = read_system();
	CHECK_NEAR(now.cpu_percent, 100.0 * 80 / 150, 1e-9);
	tree_pass_ms(950);
	put_stat(1130, 2060, 20);
	CHECK_NEAR(read_system().cpu_percent, 100, 1e-9);
	/* Nothing moved, then all counters went back. */
	tree_pass_ms(1000);
	CHECK(isnan(read_system().cpu_percent));
	tree_pass_ms(1000);
	put_stat(0, 0, 0);
	CHECK(isnan(read_system().cpu_percent));
	tree_pass_ms(1000);
	put_stat(10, 10, 0);
	CHECK_NEAR(read_system().cpu_percent, 50, 1e-9);
	/* Idle went back a little, as kernels do. */
	tree_pass_ms(1000);
	put_stat(20, 9, 0);
	CHECK_NEAR(read_system().cpu_percent, 100, 1e-9);
	tree_end();
}

TEST(each_cpu_has_its_own_percent)
{
	double percent[8] = { 0 };
	size_t n = 0;

	tree_new();
	tree_clock();
	tree_put("/proc/stat", "cpu 0 0 0 0\n"
			       "cpu0 10 0 0 10\ncpu1 5 0 0 10\n"
			       "cpu3 1 1 1 1\n");
	CHECK_INT(tare_cpu_read(percent, 8, &n), 0);
	CHECK_INT(n, 4);
	CHECK(isnan(percent[0]) && isnan(percent[3]));
	tree_pass_ms(100);
	tree_put("/proc/stat", "cpu 0 0 0 0\n"
			       "cpu0 20 0 0 20\ncpu1 5 0 0 20\n"
			       "cpu2 1 1 1 1\n");
	CHECK_INT(tare_cpu_read(percent, 1, &n), 0);
	CHECK_INT(n, 3);
	CHECK_NEAR(percent[0], 50, 1e-9);
	CHECK(isnan(percent[3]));
	tree_pass_ms(20);
	percent[3] = 42;
	CHECK_INT(tare_cpu_read(percent, 8, &n), 0);
	CHECK_NEAR(percent[1], 0, 1e-9);
	CHECK(isnan(percent[2])); /* was off */
	CHECK_NEAR(percent[3], 42, 0);
	tree_end();
}

TEST(only_the_cpus_that_may_be_used_count)
{
	cpu_set_t all, one;
	char text[4096];
	int first = 0, len = 0;

	CHECK_INT(sched_getaffinity(0, sizeof(all), &all), 0);
	while (first < 63 && !CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		SKIP("the affinity cannot be set here");
	tree_new();
	tree_clock();
	put_stat(0, 0, 0);
	CHECK_INT(read_system().cpus, 1);
	for (int i = 0; i < 64; i++)
		len += sprintf(text + len, "cpu%d %d 0 0 %d\n", i,
			       i == first ? 40 : 100, i == first ? 60 : 0);
	tree_put("/proc/stat", text);
	tree_pass_ms(1000);
	CHECK_NEAR(read_system().cpu_percent, 40, 1e-9);
	CHECK_INT(sched_setaffinity(0, sizeof(all), &all), 0);
	tree_end();
}

/* ---- clocks ------------------------------------------------------------ */

static void put_eth(uint64_t in, uint64_t out)
{
	char text[256];

	(void)sprintf(text, "Inter-|   Receive       |  Transmit\n"
			    " face |bytes    packets |bytes packets\n"
			    "    lo: 999 1 0 0 0 0 0 0 999 1 0 0\n"
			    "  eth0: %llu 1 0 0 0 0 0 0 %llu 1 0 0\n",
		      (unsigned long long)in, (unsigned long long)out);
	tree_put("/proc/net/dev", text);
}

TEST(a_clock_that_jumps_and_a_machine_that_slept_give_no_rate)
{
	tree_new();
	tree_clock();
	put_eth(1000, 10);
	put_stat(0, 0, 0);
	CHECK(isnan(read_system().net_receive_rate));
	tree_pass_ms(1000);
	put_eth(3000, 20);
	CHECK_NEAR(read_system().net_receive_rate, 2000, 1e-6);
	/* Back. */
	tree_pass_ms(-500);
	put_eth(4000, 20);
	CHECK(isnan(read_system().net_receive_rate));
	tree_pass_ms(1000);
	put_eth(4500, 20);
	CHECK_NEAR(read_system().net_receive_rate, 500, 1e-6);
	/* Asleep for an hour, of which the monotonic clock saw a second. */
	tree_sleep_ms(3600000);
	tree_pass_ms(1000);
	put_eth(9500, 20);
	put_stat(1, 1, 0);
	CHECK(isnan(read_system().net_receive_rate));
	CHECK(isnan(read_system().cpu_percent));
	tree_pass_ms(2000);
	put_eth(9700, 20);
	CHECK_NEAR(read_system().net_receive_rate, 100, 1e-6);
	/* A gap of a day in which the machine was awake is a mean. */
	tree_pass_ms(86400000);
	put_eth(9700 + 86400, 20);
	CHECK_NEAR(read_system().net_receive_rate, 1, 1e-6);
	/* No time at all. */
	CHECK_NEAR(read_system().net_receive_rate, 1, 1e-6);
	tree_end();
}

/* ---- disks and network ------------------------------------------------- */

TEST(whole_disks_count_once_and_what_is_made_of_them_does_not)
{
	tare_system now;

	tree_new();
	tree_clock();
	tree_put("/proc/diskstats",
		 "   7       0 loop0 9 9 900 9 9 9 900 9 0 0 0\n"
		 "   1       0 ram0 9 9 900 9 9 9 900 9 0 0 0\n"
		 "   8       0 sda 5 0 100 7 3 0 200 7 0 0 0 0 0 0 0\n"
		 "   8       1 sda1 5 0 100 7 3 0 200 7 0 0 0\n"
		 " 259       0 nvme0n1 5 0 10 7 3 0 20 7 0 0 0\n"
		 " 259       1 nvme0n1p1 5 0 10 7 3 0 20 7 0 0 0\n"
		 " 259       2 nvme0c1n1 5 0 10 7 3 0 20 7 0 0 0\n"
		 " 253       0 dm-0 5 0 100 7 3 0 200 7 0 0 0\n"
		 "   9       0 md127 5 0 100 7 3 0 200 7 0 0 0\n"
		 "  43       0 nbd0 5 0 1 7 3 0 2 7 0 0 0\n"
		 " 104       0 cciss/c0d0 5 0 1000 7 3 0 2000 7 0 0 0\n");
	/* By their names alone. */
	now = read_system();
	CHECK_INT(now.disk_read, (100 + 10 + 1 + 1000) * 512);
	CHECK_INT(now.disk_written, (200 + 20 + 2 + 2000) * 512);
	/* By /sys: a partition has no folder there. */
	tr_system_forget();
	tree_folder("/sys/block/sda/device");
	tree_folder("/sys/block/nvme0n1/device");
	tree_folder("/sys/block/nbd0");
	tree_folder("/sys/block/cciss!c0d0/device");
	tree_folder("/sys/block/dm-0");
	tree_folder("/sys/block/sda/sda1");
	now = read_system();
	CHECK_INT(now.disk_read, (100 + 10 + 1 + 1000) * 512);
	CHECK(isnan(now.disk_read_rate));
	tree_end();
}

TEST(disk_rates_are_those_of_disks_that_were_there_before)
{
	tare_system now;

	tree_new();
	tree_clock();
	tree_put("/proc/diskstats", "8 0 sda 1 1 100 1 1 1 200 1 0 0 0\n"
				    "8 16 sdb 1 1 7000 1 1 1 9000 1 0 0 0\n");
	(void)read_system();
	tree_pass_ms(2000);
	/* One went, one came with a long history. */
	tree_put("/proc/diskstats", "8 0 sda 1 1 300 1 1 1 200 1 0 0 0\n"
				    "8 32 sdc 1 1 88888888 1 1 1 5 1 0 0 0\n");
	now = read_system();
	CHECK_NEAR(now.disk_read_rate, 200 * 512 / 2.0, 1e-6);
	CHECK_NEAR(now.disk_write_rate, 0, 1e-6);
	/* All started again: nothing to compare with. */
	tree_pass_ms(1000);
	tree_put("/proc/diskstats", "8 0 sda 1 1 0 1 1 1 0 1 0 0 0\n"
				    "8 32 sdc 1 1 0 1 1 1 0 1 0 0 0\n");
	now = read_system();
	CHECK(isnan(now.disk_read_rate) && isnan(now.disk_write_rate));
	CHECK_INT(now.disk_read, 0);
	/* A counter of 32 bits that turns over. */
	tree_put("/proc/diskstats", "8 0 sda 1 1 4294967290 1 1 1 5 1\n");
	tree_pass_ms(1000);
	CHECK(!isnan(read_system().disk_read_rate));
	tree_put("/proc/diskstats", "8 0 sda 1 1 4 1 1 1 5 1\n");
	tree_pass_ms(1000);
	CHECK_NEAR(read_system().disk_read_rate, 10 * 512, 1e-6);
	/* More than any disk can do. */
	tree_put("/proc/diskstats",
		 "8 0 sda 1 1 30000000000000000 1 1 1 5 1\n");
	tree_pass_ms(1000);
	CHECK(isnan(read_system().disk_read_rate));
	tree_end();
}

TEST(interfaces_of_hardware_count_and_else_all_but_the_loopback)
{
	tare_system now;

	tree_new();
	tree_put("/proc/net/dev",
		 "Inter-|   Receive                    |  Transmit\n"
		 " face |bytes    packets errs drop    |bytes    packets\n"
		 "    lo: 5000 1 0 0 0 0 0 0 5000 1 0 0 0 0 0 0\n"
		 "  eth0:100 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n"
		 " wlan0: 20 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n"
		 "  tun0: 90 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n");
	now = read_system();
	CHECK_INT(now.net_received, 210);
	CHECK_INT(now.net_sent, 21);
	tr_system_forget();
	tree_folder("/sys/class/net/eth0/device");
	tree_folder("/sys/class/net/wlan0/device");
	tree_folder("/sys/class/net/tun0");
	now = read_system();
	CHECK_INT(now.net_received, 120);
	CHECK_INT(now.net_sent, 12);
	tree_end();
}

/* ---- threads and forks ------------------------------------------------- */

static void *reading_thread(void *arg)
{
	tare_system now = { .struct_size = sizeof(now) };
	tare_process process = { .struct_size = sizeof(process) };
	size_t n, *bad = arg;

	for (int i = 0; i < 300; i++) {
		*bad += tare_system_read(&now) != 0;
		*bad += tare_process_read(0, &process) != 0;
		*bad += tare_cpu_read(NULL, 0, &n) != 0;
	}
	return NULL;
}

TEST(threads_read_at_once)
{
	pthread_t threads[4];
	size_t bad[4] = { 0 };

	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, reading_thread,
					 &bad[i]), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK_INT(bad[i], 0);
	}
}

static bool is_over;

static void *busy_thread(void *arg)
{
	tare_system now = { .struct_size = sizeof(now) };
	tare_process process = { .struct_size = sizeof(process) };

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		(void)!tare_system_read(&now);
		(void)!tare_process_read(0, &process);
		free(malloc(100));
	}
	return arg;
}

/* In a child, by fork() or behind the back of libc. */
static int read_in_child(bool raw)
{
	tare_system now = { .struct_size = sizeof(now) };
	tare_process process = { .struct_size = sizeof(process) };
	pid_t pid = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) :
			  fork();
	int status = -1;

	if (pid == 0) {
		(void)alarm(20); /* a lock that stays locked fails */
		_exit(tare_system_read(&now) ||
		      tare_process_read(0, &process) ||
		      process.pid != getpid() ||
		      (raw && process.heap_used != TARE_UNKNOWN));
	}
	(void)waitpid(pid, &status, 0);
	return status;
}

TEST(a_child_made_while_another_thread_reads_reads_itself)
{
	tare_process process = { .struct_size = sizeof(process) };
	pthread_t threads[2];

	/* A child of an emulator with threads stops in the emulator's locks. */
	if (!scene_fork_wipes())
		SKIP("an emulator of processes");
	CHECK_INT(tare_process_read(0, &process), 0);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, busy_thread, NULL),
			  0);
	/* Each that waits for a lock takes seconds: one is enough. */
	for (int i = 0; i < 100; i++)
		if (!CHECK_INT(read_in_child(false), 0))
			break;
	/* The sanitizer's own locks would stay locked in such a child. */
	for (int i = 0; i < 100 && !UNDER_TSAN; i++)
		if (!CHECK_INT(read_in_child(true), 0))
			break;
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
}

static void *cancelled_thread(void *arg)
{
	tare_system now = { .struct_size = sizeof(now) };

	for (;;) {
		(void)!tare_system_read(&now);
		pthread_testcancel();
	}
	return arg;
}

TEST(a_cancelled_thread_leaves_the_lock)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		CHECK_INT(pthread_create(&thread, NULL, cancelled_thread,
					 NULL), 0);
		(void)read_system();
		CHECK_INT(pthread_cancel(thread), 0);
		CHECK_INT(pthread_join(thread, NULL), 0);
	}
	(void)read_system();
}
