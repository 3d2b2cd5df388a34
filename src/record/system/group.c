/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group: the limits of this process's cgroups.
 *
 * A limit applies to everything below it, so all groups up to the top count:
 * the least limit is the total, and the group with the least room determines
 * what is available. A group's use excludes the file pages that the kernel
 * would drop first, as container tools count it.
 *
 * memory.high is a limit as well: beyond it the kernel throttles the group.
 *
 * The groups and their limits are read once a second at most; their use, at
 * every reading, and only of groups with a limit.
 */
#include "readings.h"

#include <math.h>
#include <string.h>

#include "base/platform.h"

#define LIMITS 8u  /* groups with a limit, from the innermost up */
#define LEVELS 64u /* most parts of a path */
#define FRESH_NS 1000000000
#define MOUNTS_FRESH_NS (60 * INT64_C(1000000000))
/* Version 1 writes this for "none": the largest number of whole pages. */
#define NO_LIMIT (UINT64_C(1) << 62)

struct limit {
	size_t len; /* of the group's part of dir */
	uint64_t bytes;
};

/* Guarded by the lock. */
static struct {
	bool is_known;
	int64_t at_ns, mounts_ns;
	char cgroup[2048]; /* the text from which the folders were derived */
	struct tr_cgroup memory, cpu, acct;
	struct limit limit[LIMITS];
	unsigned n_limits;
	uint64_t least;	 /* bytes; TARE_UNKNOWN: none */
	double cpus;	 /* NAN: none */
	size_t cpus_len; /* of the folder that has the limit */
} groups;

void tr_cgroup_forget(void)
{
	groups.is_known = false;
	groups.cgroup[0] = '\0';
}

/* ---- where ------------------------------------------------------------- */

static void find_folders(int64_t now)
{
	const char *text = tr_scan_file(NULL, "/proc/self/cgroup");

	if (!text || strlen(text) >= sizeof(groups.cgroup)) {
		groups.memory.version = groups.cpu.version = 0;
		groups.acct.version = 0;
		groups.cgroup[0] = '\0';
		return;
	}
	if (groups.is_known && strcmp(text, groups.cgroup) == 0 &&
	    now - groups.mounts_ns < MOUNTS_FRESH_NS &&
	    now >= groups.mounts_ns)
		return;
	strcpy(groups.cgroup, text);
	text = tr_scan_file(NULL, "/proc/self/mountinfo");
	tr_cgroup_scan(groups.cgroup, text ? text : "", "memory",
		      &groups.memory);
	tr_cgroup_scan(groups.cgroup, text ? text : "", "cpu", &groups.cpu);
	tr_cgroup_scan(groups.cgroup, text ? text : "", "cpuacct",
		       &groups.acct);
	groups.mounts_ns = now;
}

/* The parent folder; false at the top of the hierarchy. */
static bool climb(const struct tr_cgroup *group, size_t *len)
{
	if (*len <= group->top)
		return false;
	while (*len > group->top && group->dir[*len - 1] != '/')
		(*len)--;
	if (*len > group->top)
		(*len)--;
	return true;
}

/* ---- limits ------------------------------------------------------------ */

static const char *file_of(const struct tr_cgroup *group, size_t len,
			   const char *name)
{
	return tr_scan_file(NULL, "%.*s/%s", (int)len, group->dir, name);
}

/* The number in a file of a group; TARE_UNKNOWN for "max" and for none. */
static uint64_t number_in(const struct tr_cgroup *group, size_t len,
			  const char *name)
{
	const char *text = file_of(group, len, name);

	return text ? tr_scan_number(&text) : TARE_UNKNOWN;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t memory_limit(size_t len, bool is_own)
{
	const struct tr_cgroup *group = &groups.memory;
	uint64_t bytes;
	const char *stat;

	if (group->version == 2)
		return lesser(number_in(group, len, "memory.max"),
			     number_in(group, len, "memory.high"));
	bytes = number_in(group, len, "memory.limit_in_bytes");
	/* Includes groups above that cannot be seen here. */
	stat = is_own ? file_of(group, len, "memory.stat") : NULL;
	if (stat)
		bytes = lesser(bytes, tr_scan_value(stat, "hierarchical_"
							 "memory_limit"));
	return bytes;
}

static void find_memory(void)
{
	size_t len = strlen(groups.memory.dir);

	groups.n_limits = 0;
	groups.least = TARE_UNKNOWN;
	if (!groups.memory.version)
		return;
	for (unsigned level = 0; level < LEVELS; level++) {
		uint64_t bytes = memory_limit(len, level == 0);

		if (bytes < NO_LIMIT && groups.n_limits < LIMITS)
			groups.limit[groups.n_limits++] =
				(struct limit){ len, bytes };
		if (bytes < NO_LIMIT)
			groups.least = lesser(groups.least, bytes);
		if (!climb(&groups.memory, &len))
			return;
	}
}

/* "max" or -1 is no number. */
static double cpus_of(uint64_t quota, uint64_t period)
{
	if (!quota || quota == TARE_UNKNOWN || !period ||
	    period == TARE_UNKNOWN)
		return NAN;
	return (double)quota / (double)period;
}

double tr_quota_scan(const char *text)
{
	uint64_t quota = tr_scan_number(&text);

	return cpus_of(quota, tr_scan_number(&text));
}

static double quota_of(size_t len)
{
	const struct tr_cgroup *group = &groups.cpu;
	const char *text;

	if (group->version == 2) {
		text = file_of(group, len, "cpu.max");
		return text ? tr_quota_scan(text) : NAN;
	}
	return cpus_of(number_in(group, len, "cpu.cfs_quota_us"),
		       number_in(group, len, "cpu.cfs_period_us"));
}

static void find_cpus(void)
{
	size_t len = strlen(groups.cpu.dir);

	groups.cpus = NAN;
	if (!groups.cpu.version)
		return;
	for (unsigned level = 0; level < LEVELS; level++) {
		double cpus = quota_of(len);

		if (cpus < groups.cpus || (isnan(groups.cpus) && cpus > 0)) {
			groups.cpus = cpus;
			groups.cpus_len = len;
		}
		if (!climb(&groups.cpu, &len))
			return;
	}
}

static void refresh(void)
{
	int64_t now = tr_monotonic_ns();

	if (groups.is_known && now >= groups.at_ns &&
	    now - groups.at_ns < FRESH_NS)
		return;
	find_folders(now);
	find_memory();
	find_cpus();
	groups.at_ns = now;
	groups.is_known = true;
}

/* ---- use --------------------------------------------------------------- */

static uint64_t used_by(size_t len)
{
	const struct tr_cgroup *group = &groups.memory;
	bool is_new = group->version == 2;
	uint64_t used = number_in(group, len, is_new ?
						      "memory.current" :
						      "memory.usage_in_bytes");
	const char *stat = file_of(group, len, "memory.stat");
	uint64_t idle = !stat ? TARE_UNKNOWN :
				tr_scan_value(stat, is_new ?
						"inactive_file " :
						"total_inactive_file ");

	if (used == TARE_UNKNOWN || idle == TARE_UNKNOWN)
		return used;
	return used > idle ? used - idle : 0;
}

/* Room below all limits, `most` at most; or unknown. */
static uint64_t room(uint64_t total, uint64_t most)
{
	for (unsigned i = 0; i < groups.n_limits; i++) {
		const struct limit *limit = &groups.limit[i];
		uint64_t used;

		if (limit->bytes >= total)
			continue;
		used = used_by(limit->len);
		if (used == TARE_UNKNOWN)
			return TARE_UNKNOWN;
		/* A limit may be below the present use. */
		most = lesser(most, limit->bytes > used ? limit->bytes - used :
							 0);
	}
	return most;
}

void tr_cgroup_memory(tare_system *now)
{
	refresh();
	now->memory_limit = groups.least;
	now->memory_available = room(now->memory_total, now->memory_available);
	now->memory_total = lesser(now->memory_total, groups.least);
}

double tr_cgroup_cpus(void)
{
	refresh();
	return groups.cpus;
}

/*
 * In version 1 another controller has the times, often in a hierarchy of its
 * own: use the group of the same name there, if this process is in it.
 */
static double time_by_acct(void)
{
	const struct tr_cgroup *acct = &groups.acct;
	const char *name = groups.cpu.dir + groups.cpu.top;
	size_t len = groups.cpus_len - groups.cpu.top;
	uint64_t n;

	if (acct->version != 1 ||
	    strncmp(acct->dir + acct->top, name, len) != 0 ||
	    (acct->dir[acct->top + len] != '/' &&
	     acct->dir[acct->top + len] != '\0'))
		return NAN;
	n = number_in(acct, acct->top + len, "cpuacct.usage");
	return n == TARE_UNKNOWN ? NAN : (double)n / 1e9;
}

double tr_cgroup_cpu_time(void)
{
	const char *text;
	uint64_t n;

	if (isnan(groups.cpus))
		return NAN;
	if (groups.cpu.version == 1)
		return time_by_acct();
	text = file_of(&groups.cpu, groups.cpus_len, "cpu.stat");
	n = text ? tr_scan_value(text, "usage_usec ") : TARE_UNKNOWN;
	return n == TARE_UNKNOWN ? NAN : (double)n / 1e6;
}

const struct tr_cgroup *tr_cgroup_of_memory(void)
{
	refresh();
	return &groups.memory;
}
