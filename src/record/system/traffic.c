/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic: bytes of the disks and of the network.
 *
 * A byte counts once. Counted disks are whole ones backed by hardware (or a
 * hypervisor): no partitions, and none composed of others (dm, md, loop) or of
 * memory. The same for interfaces, but a container often has none of hardware:
 * then all count except the loopback.
 *
 * Rates are summed device by device: one that appears, disappears or restarts
 * must not look like traffic. A 32-bit counter that wraps is followed; one
 * that decreases otherwise belongs to another device.
 */
#include "readings.h"

#include <string.h>
#include <unistd.h>

#include "base/platform.h"

#define SECTOR 512u    /* of diskstats, for any disk */
#define RATE_MOST 1e13 /* bytes/s; more: a garbled counter */

/* Guarded by the lock. */
static struct kept {
	struct tr_since since;
	struct tr_traffic former[2], present;
} kept_disks, kept_nets;

struct kind {
	const char *file;
	void (*scan)(const char *text, const struct tr_traffic *before,
		     struct tr_traffic *ret);
	uint64_t unit;
	struct kept *kept;
};

static const struct kind disks = { "/proc/diskstats", tr_disks_scan, SECTOR,
				   &kept_disks };
static const struct kind nets = { "/proc/net/dev", tr_nets_scan, 1,
				  &kept_nets };

void tr_traffic_forget(void)
{
	kept_disks.since.n = kept_nets.since.n = 0;
}

/* ---- devices ----------------------------------------------------------- */

/* Usually at the same index as before. */
static const struct tr_device *find(const struct tr_traffic *traffic,
				    const char *name, uint32_t guess)
{
	if (!traffic)
		return NULL;
	if (guess < traffic->n &&
	    strcmp(traffic->device[guess].name, name) == 0)
		return &traffic->device[guess];
	for (uint32_t i = 0; i < traffic->n; i++)
		if (strcmp(traffic->device[i].name, name) == 0)
			return &traffic->device[i];
	return NULL;
}

static bool starts(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool exists(const char *format, const char *name)
{
	char path[512];

	return tr_scan_path(path, sizeof(path), format, name) &&
	       access(path, F_OK) == 0;
}

/* Copies a word; false: none, or too long for a device name. */
static bool copy_name(char name[32], const char **at, const char *ends)
{
	size_t len;

	*at += strspn(*at, " \t");
	len = strcspn(*at, ends);
	if (len == 0 || len >= 32)
		return false;
	memcpy(name, *at, len);
	name[len] = '\0';
	*at += len;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* sda1 after sda; nvme0n1p1 after nvme0n1. */
static bool is_part_of(const char *name, const char *whole)
{
	size_t len = strlen(whole);

	if (!starts(name, whole))
		return false;
	name += len;
	if (is_digit(whole[len - 1]) && *name++ != 'p')
		return false;
	return is_digit(*name);
}

/* One of several paths to a disk that is listed itself: nvme0c1n1. */
static bool is_path(const char *name)
{
	if (!starts(name, "nvme"))
		return false;
	name += 4;
	while (is_digit(*name))
		name++;
	return *name == 'c';
}

static bool is_made_of_others(const char *name)
{
	static const char *const prefix[] = { "loop", "ram",   "zram", "dm-",
					      "md",   "bcache", "drbd", "sr",
					      "fd" };

	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (starts(name, prefix[i]))
			return true;
	return is_path(name);
}

/* By name alone if there is no /sys: a disk precedes its partitions. */
static bool is_whole_by_name(const struct tr_traffic *traffic,
			     const char *name)
{
	for (uint32_t i = 0; i < traffic->n; i++)
		if (traffic->device[i].is_real &&
		    is_part_of(name, traffic->device[i].name))
			return false;
	return true;
}

static bool is_disk(const struct tr_traffic *traffic, const char *name)
{
	char in_sys[32];

	if (is_made_of_others(name))
		return false;
	if (!exists("/sys/block%s", ""))
		return is_whole_by_name(traffic, name);
	strcpy(in_sys, name);
	for (char *c = in_sys; *c; c++)
		if (*c == '/')
			*c = '!';
	/* A network block device has no hardware device, but counts as one. */
	return exists("/sys/block/%s/device", in_sys) ||
	       (starts(name, "nbd") && exists("/sys/block/%s", in_sys));
}

static bool is_real_net(const struct tr_traffic *traffic, const char *name)
{
	(void)traffic;
	return !strchr(name, '/') && exists("/sys/class/net/%s/device", name);
}

/* ---- files ------------------------------------------------------------- */

/*
 * All lines that `scan` accepts; known properties of a device are not read
 * again.
 */
static void scan_all(const char *text, const struct tr_traffic *before,
		     struct tr_traffic *ret,
		     bool (*scan)(const char *at, struct tr_device *device),
		     bool (*is_real)(const struct tr_traffic *traffic,
				     const char *name))
{
	ret->n = 0;
	for (const char *line = text; line && ret->n < TR_DEVICES;
	     line = tr_scan_next(line)) {
		struct tr_device *device = &ret->device[ret->n];
		const struct tr_device *known;

		if (!scan(line, device))
			continue;
		known = find(before, device->name, ret->n);
		device->is_real = known ? known->is_real :
					  is_real(ret, device->name);
		device->is_counted = device->is_real;
		ret->n++;
	}
}

/* major minor name reads merged SECTORS ms writes merged SECTORS ... */
static bool scan_disk(const char *at, struct tr_device *disk)
{
	uint64_t field[7];

	if (!tr_scan_skip(&at) || !tr_scan_skip(&at) ||
	    !copy_name(disk->name, &at, " \t\n"))
		return false;
	for (int i = 0; i < 7; i++)
		field[i] = tr_scan_number(&at);
	disk->in = field[2];
	disk->out = field[6];
	return tr_scan_times(disk->in, SECTOR) != TARE_UNKNOWN &&
	       tr_scan_times(disk->out, SECTOR) != TARE_UNKNOWN;
}

void tr_disks_scan(const char *text, const struct tr_traffic *before,
		   struct tr_traffic *ret)
{
	scan_all(text, before, ret, scan_disk, is_disk);
}

/* name: BYTES packets errs drop fifo frame compressed multicast BYTES ... */
static bool scan_net(const char *at, struct tr_device *net)
{
	uint64_t field[9];

	if (!copy_name(net->name, &at, ": \t\n|") || *at++ != ':')
		return false;
	for (int i = 0; i < 9; i++)
		field[i] = tr_scan_number(&at);
	net->in = field[0];
	net->out = field[8];
	return net->in != TARE_UNKNOWN && net->out != TARE_UNKNOWN &&
	       strcmp(net->name, "lo") != 0;
}

void tr_nets_scan(const char *text, const struct tr_traffic *before,
		  struct tr_traffic *ret)
{
	bool any = false;

	scan_all(text, before, ret, scan_net, is_real_net);
	/* If there is real hardware, all traffic goes through it. */
	for (uint32_t i = 0; i < ret->n; i++)
		any |= ret->device[i].is_real;
	for (uint32_t i = 0; i < ret->n; i++)
		ret->device[i].is_counted |= !any;
}

/* ---- rates ------------------------------------------------------------- */

/* Increase; TARE_UNKNOWN: not the same counter any more. */
static uint64_t more(uint64_t from, uint64_t to)
{
	if (to >= from)
		return to - from;
	if (from <= UINT32_MAX && from - to > UINT32_MAX / 2)
		return to + (UINT64_C(1) << 32) - from;
	return TARE_UNKNOWN;
}

struct growth {
	double in, out;
	bool is_known;
};

static struct growth growth_of(const struct tr_traffic *from,
			       const struct tr_traffic *to)
{
	struct growth sum = { 0, 0, false };

	for (uint32_t i = 0; i < to->n; i++) {
		const struct tr_device *now = &to->device[i], *then;
		uint64_t in, out;

		then = now->is_counted ? find(from, now->name, i) : NULL;
		if (!then)
			continue;
		in = more(then->in, now->in);
		out = more(then->out, now->out);
		if (in == TARE_UNKNOWN || out == TARE_UNKNOWN)
			continue;
		sum.in += (double)in;
		sum.out += (double)out;
		sum.is_known = true;
	}
	return sum;
}

static void sum_up(const struct kind *kind, uint64_t *ret_in,
		   uint64_t *ret_out)
{
	const struct tr_traffic *traffic = &kind->kept->present;
	uint64_t in = 0, out = 0;
	bool any = false;

	for (uint32_t i = 0; i < traffic->n; i++) {
		if (!traffic->device[i].is_counted)
			continue;
		in = tr_scan_sum(in, traffic->device[i].in);
		out = tr_scan_sum(out, traffic->device[i].out);
		any = true;
	}
	if (!any)
		return;
	*ret_in = tr_scan_times(in, kind->unit);
	*ret_out = tr_scan_times(out, kind->unit);
}

/* Keeps the reading, and returns the increase since the previous one. */
static void rates(const struct kind *kind, double *ret_in, double *ret_out)
{
	struct kept *kept = kind->kept;
	struct tr_gap gap = tr_since_next(&kept->since);
	double unit = (double)kind->unit;
	struct growth growth;

	if (gap.from >= 0) {
		growth = growth_of(&kept->former[gap.from], &kept->present);
		if (growth.is_known) {
			*ret_in = tr_gap_rate(&gap, growth.in * unit,
					      RATE_MOST);
			*ret_out = tr_gap_rate(&gap, growth.out * unit,
					       RATE_MOST);
		}
	}
	if (gap.keep >= 0) {
		struct tr_traffic *former = &kept->former[gap.keep];

		former->n = kept->present.n;
		memcpy(former->device, kept->present.device,
		       former->n * sizeof(former->device[0]));
	}
}

static bool take(const struct kind *kind, uint64_t *ret_in, uint64_t *ret_out,
		 double *ret_in_rate, double *ret_out_rate)
{
	const char *text = tr_scan_file(NULL, "%s", kind->file);
	struct kept *kept = kind->kept;

	kept->present.n = 0;
	if (text)
		kind->scan(text,
			   kept->since.n ? &kept->former[kept->since.newest] :
					   NULL,
			   &kept->present);
	if (!kept->present.n)
		return false;
	sum_up(kind, ret_in, ret_out);
	rates(kind, ret_in_rate, ret_out_rate);
	return true;
}

bool tr_traffic_take(tare_system *now)
{
	bool has_disks = take(&disks, &now->disk_read, &now->disk_written,
			      &now->disk_read_rate, &now->disk_write_rate);
	bool has_nets = take(&nets, &now->net_received, &now->net_sent,
			     &now->net_receive_rate, &now->net_send_rate);

	return has_disks || has_nets;
}
