/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU: how busy the CPUs are that this process may use.
 *
 * Percent is busy ticks over all ticks, so no clock can distort it. Waiting
 * for a disk is idle; time stolen by another guest is busy, since it was not
 * available. The kernel's idle counters may decrease a little: that counts as
 * 0.
 *
 * Under a quota the machine's CPUs say little: then it is the part of the
 * quota that its group used, or unknown.
 */
#include "readings.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "lock.h"
#include "base/platform.h"

#define MASK_WORDS (TR_CORES / 8 / sizeof(unsigned long))
#define WORD_BITS (8 * sizeof(unsigned long))

/* Guarded by the lock. */
static struct {
	struct tr_since since;
	struct tr_cores former[2], present;
	struct tr_since quota_since;
	double used_s[2]; /* by the group with the quota */
	double quota;
} cpu;

void tr_cpu_forget(void)
{
	cpu.since.n = cpu.quota_since.n = 0;
}

/* ---- /proc/stat -------------------------------------------------------- */

/* user nice system idle [iowait irq softirq steal]; guests are in user. */
static bool scan_ticks(const char *at, struct tr_core *ret)
{
	uint64_t field[8];
	struct tr_core core;

	for (unsigned i = 0; i < 8; i++) {
		field[i] = tr_scan_number(&at);
		if (field[i] == TARE_UNKNOWN && i < 4)
			return false;
		if (field[i] == TARE_UNKNOWN)
			field[i] = 0;
	}
	core.idle = tr_scan_sum(field[3], field[4]);
	core.busy = tr_scan_sum(tr_scan_sum(field[0], field[1]), field[2]);
	for (unsigned i = 5; i < 8; i++)
		core.busy = tr_scan_sum(core.busy, field[i]);
	if (core.idle == TARE_UNKNOWN || core.busy == TARE_UNKNOWN)
		return false;
	*ret = core;
	return true;
}

void tr_cores_scan(const char *text, struct tr_cores *ret)
{
	static const struct tr_core off = { TARE_UNKNOWN, TARE_UNKNOWN };

	ret->n = 0;
	for (const char *line = text; line && strncmp(line, "cpu", 3) == 0;
	     line = tr_scan_next(line)) {
		const char *at = line + 3;
		struct tr_core core;
		uint64_t number;

		if (*at < '0' || *at > '9')
			continue; /* the sum of all */
		number = tr_scan_number(&at);
		if (number >= TR_CORES || !scan_ticks(at, &core))
			continue;
		while (ret->n <= number)
			ret->core[ret->n++] = off;
		ret->core[number] = core;
	}
}

/* ---- percent ----------------------------------------------------------- */

static double ticks(uint64_t from, uint64_t to)
{
	return to > from ? (double)(to - from) : 0;
}

static bool is_in(const unsigned long *mask, uint32_t number)
{
	return !mask || mask[number / WORD_BITS] >> number % WORD_BITS & 1;
}

static bool add_core(const struct tr_cores *from, const struct tr_cores *to,
		     uint32_t number, double sum[2])
{
	const struct tr_core *a = &from->core[number], *b = &to->core[number];

	if (number >= from->n || number >= to->n ||
	    a->busy == TARE_UNKNOWN || b->busy == TARE_UNKNOWN)
		return false;
	sum[0] += ticks(a->busy, b->busy);
	sum[1] += ticks(a->idle, b->idle);
	return true;
}

static double percent_of(const double sum[2])
{
	double all = sum[0] + sum[1];

	return all > 0 ? 100 * sum[0] / all : NAN;
}

double tr_cores_percent(const struct tr_cores *from, const struct tr_cores *to,
			const unsigned long *mask)
{
	double sum[2] = { 0, 0 };

	for (uint32_t i = 0; i < to->n; i++)
		if (is_in(mask, i))
			(void)add_core(from, to, i, sum);
	return percent_of(sum);
}

/* ---- readings ---------------------------------------------------------- */

/* Reads into cpu.present; returns the reading to compare with, or NULL. */
static const struct tr_cores *take_cores(void)
{
	const char *text = tr_scan_file(NULL, "/proc/stat");
	struct tr_gap gap;

	cpu.present.n = 0;
	if (text)
		tr_cores_scan(text, &cpu.present);
	if (!cpu.present.n)
		return NULL;
	gap = tr_since_next(&cpu.since);
	if (gap.keep >= 0) {
		struct tr_cores *former = &cpu.former[gap.keep];

		former->n = cpu.present.n;
		memcpy(former->core, cpu.present.core,
		       former->n * sizeof(former->core[0]));
	}
	return gap.from >= 0 ? &cpu.former[gap.from] : NULL;
}

/* CPUs that this process may run on: those of its first thread. */
static uint32_t allowed_cpus(unsigned long mask[MASK_WORDS])
{
	uint32_t n = 0;

	memset(mask, 0, MASK_WORDS * sizeof(mask[0]));
	if (sched_getaffinity(getpid(), MASK_WORDS * sizeof(mask[0]),
			      (cpu_set_t *)mask))
		return 0;
	for (size_t i = 0; i < MASK_WORDS; i++)
		n += (uint32_t)__builtin_popcountl(mask[i]);
	return n;
}

/* Percent of the quota; `used` is the total CPU time in seconds. */
static double quota_percent(double quota, double used)
{
	struct tr_gap gap;
	double percent;

	if (quota != cpu.quota)
		cpu.quota_since.n = 0;
	cpu.quota = quota;
	gap = tr_since_next(&cpu.quota_since);
	if (gap.keep >= 0)
		cpu.used_s[gap.keep] = used;
	if (gap.from < 0)
		return NAN;
	/*
	 * The kernel lets a group exceed its quota a little, and corrects
	 * later.
	 */
	percent = tr_gap_rate(&gap, 100 * (used - cpu.used_s[gap.from]) / quota,
			      1000);
	return percent > 100 ? 100 : percent;
}

static void take_quota(tare_system *now)
{
	double quota = tr_cgroup_cpus(), used;

	if (!(quota > 0) || quota >= now->cpu_limit) {
		cpu.quota_since.n = 0;
		return;
	}
	now->cpu_limit = quota;
	used = tr_cgroup_cpu_time();
	/*
	 * A percentage of the machine would include CPUs that may not be used.
	 */
	now->cpu_percent = isnan(used) ? NAN : quota_percent(quota, used);
}

bool tr_cpu_take(tare_system *now)
{
	unsigned long mask[MASK_WORDS];
	uint32_t n = allowed_cpus(mask);
	const struct tr_cores *former = take_cores();

	if (former)
		now->cpu_percent = tr_cores_percent(former, &cpu.present,
						    n ? mask : NULL);
	now->cpus = n ? n : cpu.present.n;
	if (now->cpus)
		now->cpu_limit = now->cpus;
	take_quota(now);
	return cpu.present.n > 0;
}

TARE_API int tare_cpu_read(double *ret_percent, size_t size, size_t *ret_n)
{
	const struct tr_cores *former;
	struct tr_lock lock;
	uint32_t n;

	if ((!ret_percent && size) || !ret_n)
		return TARE_EINVAL;
	if (!tr_lock_enter(&lock))
		return TARE_EIO;
	former = take_cores();
	n = cpu.present.n;
	for (uint32_t i = 0; i < n && i < size; i++) {
		double sum[2] = { 0, 0 };

		ret_percent[i] = NAN;
		if (former && add_core(former, &cpu.present, i, sum))
			ret_percent[i] = percent_of(sum);
	}
	tr_lock_leave(&lock);
	if (!n)
		return TARE_EIO;
	*ret_n = n;
	return 0;
}
