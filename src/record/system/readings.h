/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: shared by the files of this room.
 *
 * The calls that take a text are pure, and are fuzzed. All others require the
 * lock.
 */
#ifndef TR_RECORD_SYSTEM_READINGS_H
#define TR_RECORD_SYSTEM_READINGS_H

#include "scan.h"
#include "since.h"

/* ---- memory.c ---------------------------------------------------------- */

struct tr_meminfo {
	uint64_t total, available, swap_total, swap_free;
};

void tr_meminfo_scan(const char *text, struct tr_meminfo *ret);
/* PSI: percent of the last 10 s in which some tasks waited; or NAN. */
double tr_pressure_scan(const char *text);
bool tr_memory_take(tare_system *now);
void tr_pressure_take(tare_system *now);
void tr_load_scan(const char *text, double ret_load[3]);

/* ---- cpu.c ------------------------------------------------------------- */

#define TR_CORES 4096u /* CPUs with a higher number are ignored */

struct tr_core {
	uint64_t busy, idle; /* ticks; TARE_UNKNOWN: switched off */
};

struct tr_cores {
	uint32_t n; /* highest number + 1 */
	struct tr_core core[TR_CORES];
};

void tr_cores_scan(const char *text, struct tr_cores *ret);
/* Percent of the CPUs in the mask (NULL: all) since `from`; or NAN. */
double tr_cores_percent(const struct tr_cores *from, const struct tr_cores *to,
			const unsigned long *mask);
bool tr_cpu_take(tare_system *now);
void tr_cpu_forget(void);

/* ---- mount.c, group.c -------------------------------------------------- */

/* A cgroup: the folder of its files, and where its hierarchy begins. */
struct tr_cgroup {
	unsigned version; /* 0: none */
	size_t top;	  /* length of the hierarchy's part of dir */
	char dir[1024];
};

/* Finds the group of a controller, from texts of /proc/self. */
void tr_cgroup_scan(const char *cgroup, const char *mountinfo,
		   const char *controller, struct tr_cgroup *ret);
/* "max 100000", "50000 100000": CPUs, or NAN. */
double tr_quota_scan(const char *text);

/* Reduces total and available to the container's, if those are less. */
void tr_cgroup_memory(tare_system *now);
/* The limit in CPUs; NAN: none. */
double tr_cgroup_cpus(void);
/* CPU time so far of the group with the limit, in seconds; or NAN. */
double tr_cgroup_cpu_time(void);
/* Version and folder of the memory controller's group, for people. */
const struct tr_cgroup *tr_cgroup_of_memory(void);
void tr_cgroup_forget(void);

/* ---- traffic.c --------------------------------------------------------- */

#define TR_DEVICES 512u /* further ones are left out */

struct tr_device {
	char name[32];
	uint64_t in, out;
	bool is_counted;
	bool is_real; /* backed by hardware; /sys is read once */
};

struct tr_traffic {
	uint32_t n;
	struct tr_device device[TR_DEVICES];
};

/* `before` (NULL: none) provides what is known of a device. */
void tr_disks_scan(const char *text, const struct tr_traffic *before,
		   struct tr_traffic *ret);
void tr_nets_scan(const char *text, const struct tr_traffic *before,
		  struct tr_traffic *ret);
bool tr_traffic_take(tare_system *now);
void tr_traffic_forget(void);

/* ---- heap.c ------------------------------------------------------------ */

struct tr_malloced {
	uint64_t used, held;
};

/* False, with the reason, a static text. Detailed: even if it takes ms. */
bool tr_heap_read(bool is_detailed, struct tr_malloced *ret,
		  const char **ret_reason);
void tr_heap_forget(void);

/* ---- process.c, energy.c ----------------------------------------------- */

void tr_status_scan(const char *text, tare_process *now);
void tr_io_scan(const char *text, tare_process *now);
/* Start of the process in ticks; TARE_UNKNOWN: not a line of stat. */
uint64_t tr_stat_scan(const char *text, tare_process *now);
void tr_process_forget(void);
void tr_energy_forget(void);

#endif
