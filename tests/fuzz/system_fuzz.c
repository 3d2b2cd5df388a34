/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of /proc and /sys as anybody may have made them up: the readers of
 * their texts, and what is known of every answer.
 *
 * An input is parts, which a line of "---" parts: two states of a file, or
 * cgroup and mountinfo. All readers get them all.
 */
#include "record/system/readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static bool is_percent(double x)
{
	return isnan(x) || (x >= 0 && x <= 100);
}

static void check_memory(const char *text)
{
	struct tr_meminfo info;
	double load[3];

	tr_meminfo_scan(text, &info);
	must(info.total != 0);
	must(info.available == TARE_UNKNOWN || info.available <= info.total);
	must(is_percent(tr_pressure_scan(text)));
	tr_load_scan(text, load);
	for (int i = 0; i < 3; i++)
		must(isnan(load[i]) || (load[i] >= 0 && load[i] <= 1e6));
}

static void check_cores(const char *one, const char *other)
{
	static struct tr_cores from, to;

	tr_cores_scan(one, &from);
	tr_cores_scan(other, &to);
	must(from.n <= TR_CORES && to.n <= TR_CORES);
	must(is_percent(tr_cores_percent(&from, &to, NULL)));
	must(is_percent(tr_cores_percent(&to, &from, NULL)));
}

static void check_devices(const char *one, const char *other)
{
	static struct tr_traffic from, to;

	tr_disks_scan(one, NULL, &from);
	tr_disks_scan(other, &from, &to);
	must(to.n <= TR_DEVICES);
	for (uint32_t i = 0; i < to.n; i++) {
		must(strlen(to.device[i].name) > 0);
		must(to.device[i].in < UINT64_MAX / 512);
	}
	tr_nets_scan(one, NULL, &from);
	tr_nets_scan(other, &from, &to);
	for (uint32_t i = 0; i < to.n; i++)
		must(strcmp(to.device[i].name, "lo") != 0);
}

static void check_groups(const char *one, const char *other)
{
	static const char *const controllers[] = { "memory", "cpu" };
	struct tr_cgroup group;
	double cpus = tr_quota_scan(one);

	must(isnan(cpus) || cpus > 0);
	for (int i = 0; i < 2; i++) {
		tr_cgroup_scan(one, other, controllers[i], &group);
		must(group.version <= 2);
		if (!group.version)
			continue;
		must(group.dir[0] == '/');
		must(group.top <= strlen(group.dir));
		must(!strstr(group.dir + group.top, "/.."));
	}
}

static void check_process(const char *text)
{
	tare_process now;

	memset(&now, 0xff, sizeof(now));
	tr_status_scan(text, &now);
	tr_io_scan(text, &now);
	now.threads = 0;
	(void)tr_stat_scan(text, &now);
	must(now.threads <= INT32_MAX);
	must(isnan(now.cpu_user_s) || now.cpu_user_s >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *other;

	tr_root = "/nonexistent";
	memcpy(text, data, size);
	text[size] = '\0';
	other = strstr(text, "\n---\n");
	if (other) {
		other[1] = '\0';
		other += 5;
	} else {
		other = text;
	}
	check_memory(text);
	check_cores(text, other);
	check_devices(text, other);
	check_groups(text, other);
	check_process(text);
	free(text);
	return 0;
}
