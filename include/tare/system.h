/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System: the state of the machine and of this process.
 *
 *	tare_system now = { .struct_size = sizeof(now) };
 *
 *	if (tare_system_read(&now) == 0 && now.memory_percent > 90)
 *		use_smaller_batches();
 *
 * An unknown quantity is TARE_UNKNOWN or NAN, never 0. Percentages are of what
 * this process may use: in a container, of its limit. Rates and percentages
 * over time are since the previous reading by any caller in this process (the
 * one before that, if it is less than 0.1 s old). They are NAN without a
 * previous reading, and after the machine has slept. Works whether measuring is
 * on or not. A reading takes about 60 us. Any thread; not for signal handlers.
 */
#ifndef TARE_SYSTEM_H
#define TARE_SYSTEM_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

#define TARE_UNKNOWN UINT64_MAX

typedef struct tare_system {
	uint32_t struct_size;	/* sizeof(tare_system), set by the caller */
	uint32_t cpus;		/* that this process may run on; 0: unknown */
	int64_t at_ns;		/* ns since 1970 */
	uint64_t memory_total;	/* bytes; the container's limit if smaller */
	uint64_t memory_used;
	uint64_t memory_available;
	double memory_percent;	/* used / total */
	uint64_t memory_limit;	/* of the container; TARE_UNKNOWN: none */
	uint64_t swap_total, swap_used;
	double memory_pressure;	/* PSI, "some" over 10 s, percent of time */
	double cpu_pressure, io_pressure;
	double cpu_percent;	/* of all CPUs that may be used, 0..100 */
	double cpu_limit;	/* CPUs: the quota, or `cpus` */
	double load1, load5, load15;
	uint64_t disk_read, disk_written;   /* bytes since boot */
	uint64_t net_received, net_sent;    /* bytes, without loopback */
	double disk_read_rate, disk_write_rate; /* bytes/s */
	double net_receive_rate, net_send_rate;
} tare_system;

/* Returns 0, TARE_EINVAL for a small struct_size, TARE_EIO for no data. */
TARE_API TARE_MUST_CHECK int tare_system_read(tare_system *ret_now);

/*
 * Percent of each CPU since the previous reading, and the number of CPUs, which
 * may be more than `size`. A CPU that is offline is NAN.
 */
TARE_API TARE_MUST_CHECK int
tare_cpu_read(double *ret_percent, size_t size, size_t *ret_n);

typedef struct tare_process {
	uint32_t struct_size;	/* sizeof(tare_process), set by the caller */
	uint32_t threads;	/* 0: unknown */
	int64_t at_ns;
	int64_t pid;
	uint64_t rss, peak_rss;	/* bytes; the peak as the kernel reports it */
	uint64_t shared;	/* part of rss that other processes may share */
	uint64_t private_;	/* rss minus shared */
	uint64_t vm, swap;
	uint64_t heap_used;	/* mallinfo2: bytes in use; this process only */
	uint64_t heap_held;	/* bytes that malloc took from the kernel */
	double heap_fragmentation; /* 1 - used / held, 0..1 */
	double cpu_percent;	/* of one CPU: two busy threads are 200 */
	double cpu_user_s, cpu_system_s;
	uint64_t open_files;
	uint64_t minor_faults, major_faults;
	uint64_t switches, preemptions; /* voluntary, involuntary */
	uint64_t read_bytes, written_bytes; /* that reached storage */
	uint64_t io_read, io_written; /* through system calls */
	uint64_t pss;		/* TARE_UNKNOWN unless read by _detailed */
} tare_process;

/*
 * Process 0 is this one. Of another process the heap is TARE_UNKNOWN, and so
 * are its switches if it has threads. TARE_ENOENT: there is no such process.
 */
TARE_API TARE_MUST_CHECK int
tare_process_read(int64_t pid, tare_process *ret_now);
/*
 * With expensive figures (milliseconds in a large process): pss, and the heap
 * if it has so many free pieces that counting them takes over 1 ms, during
 * which malloc waits. tare_process_read() leaves such a heap TARE_UNKNOWN.
 */
TARE_API TARE_MUST_CHECK int
tare_process_read_detailed(int64_t pid, tare_process *ret_now);

/*
 * What can be measured on this machine; for the rest, why it cannot be measured
 * and what would help. One row for each line of `tare doctor`.
 */
typedef struct tare_capability {
	const char *name;
	bool is_available;
	const char *detail;	/* what was found, or why not */
	const char *help;	/* what would help; "" if nothing is needed */
} tare_capability;
TARE_ARRAY_OF_(tare_capability)

/* Checks now, in some ms. Valid until the next call, in any thread. */
TARE_API TARE_MUST_CHECK int
tare_capabilities(const tare_capability **ret_rows, size_t *ret_n);

TARE_END
#endif
