/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading: prints what tare/system.h says, for a shell to hold against other
 * tools.
 *
 *	reading system      name value, a line each
 *	reading process PID
 *	reading hold MIB    touches so much in three threads, prints "ready",
 *			    waits for the end of its input
 *	reading peak MIB    touches so much, gives it back, prints its peak
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tare/system.h>

static void put(const char *name, uint64_t value)
{
	if (value == TARE_UNKNOWN)
		printf("%s unknown\n", name);
	else
		printf("%s %llu\n", name, (unsigned long long)value);
}

static int print_system(void)
{
	tare_system now = { .struct_size = sizeof(now) };
	int err = tare_system_read(&now);

	if (err)
		return 1;
	put("total", now.memory_total);
	put("used", now.memory_used);
	put("available", now.memory_available);
	put("limit", now.memory_limit);
	put("swap_total", now.swap_total);
	put("swap_used", now.swap_used);
	put("received", now.net_received);
	put("sent", now.net_sent);
	put("read", now.disk_read);
	put("written", now.disk_written);
	put("cpus", now.cpus);
	put("load", (uint64_t)(now.load1 * 100 + 0.5));
	return 0;
}

static int print_process(int64_t pid)
{
	tare_process now = { .struct_size = sizeof(now) };

	if (tare_process_read_detailed(pid, &now))
		return 1;
	put("rss", now.rss);
	put("vm", now.vm);
	put("peak", now.peak_rss);
	put("threads", now.threads);
	put("files", now.open_files);
	put("minor", now.minor_faults);
	put("major", now.major_faults);
	put("pss", now.pss);
	return 0;
}

static char *touch(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memset(memory, 1, bytes);
	return memory;
}

static void *wait_thread(void *arg)
{
	(void)pause();
	return arg;
}

static int hold(size_t bytes)
{
	pthread_t thread;
	char c;

	(void)touch(bytes);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, wait_thread, NULL))
			return 1;
	printf("ready\n");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	_exit(0);
}

static int peak(size_t bytes)
{
	tare_process now = { .struct_size = sizeof(now) };

	(void)munmap(touch(bytes), bytes);
	if (tare_process_read(0, &now))
		return 1;
	put("peak", now.peak_rss);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (strcmp(what, "system") == 0)
		return print_system();
	if (strcmp(what, "process") == 0)
		return print_process((int64_t)number);
	if (strcmp(what, "hold") == 0)
		return hold(number << 20);
	if (strcmp(what, "peak") == 0)
		return peak(number << 20);
	return 2;
}
