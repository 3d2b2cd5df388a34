/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy: joules of the CPUs, by RAPL through /sys/class/powercap.
 *
 * Packages only: they include their parts (cores, uncore), and the zone of the
 * whole board includes them. Intel and AMD both appear as intel-rapl.
 *
 * The counter is in microjoules and wraps at a value that the zone reports,
 * after as little as 20 minutes at 200 W. A gap in which it may have wrapped
 * more than once is left out and reported.
 */
#include "readings.h"

#include <math.h>
#include <string.h>

#include "lock.h"
#include "base/platform.h"

#define ZONES 16u	 /* packages of a machine, with the board */
#define WATTS_MOST 600.0 /* of a package */

/* Guarded by the lock. */
static struct {
	uint64_t last_uj[ZONES]; /* TARE_UNKNOWN: none yet */
	int64_t at_ns;
	bool is_begun;
	double joules;
} energy;

void tr_energy_forget(void)
{
	memset(&energy, 0, sizeof(energy));
}

static uint64_t zone_number(unsigned zone, const char *file, int *ret_error)
{
	const char *text = tr_scan_file(ret_error, "/sys/class/powercap/"
						   "intel-rapl:%u/%s",
					zone, file);

	return text ? tr_scan_number(&text) : TARE_UNKNOWN;
}

static bool is_package(unsigned zone, int *ret_error)
{
	const char *text = tr_scan_file(ret_error, "/sys/class/powercap/"
						   "intel-rapl:%u/name",
					zone);

	return text && strncmp(text, "package", 7) == 0;
}

/* Energy of the zone since `last`; NAN: cannot be determined. */
static double joules_since(unsigned zone, uint64_t last, uint64_t now,
			   double gap_s)
{
	uint64_t range, more;

	if (now < last || gap_s > 60) {
		range = zone_number(zone, "max_energy_range_uj", NULL);
		if (range == TARE_UNKNOWN || now > range || last > range ||
		    (double)range / 1e6 < gap_s * WATTS_MOST)
			return NAN;
		more = now >= last ? now - last : range - last + now;
	} else {
		more = now - last;
	}
	/* A tolerance of 1 s: the counter may update late. */
	if ((double)more / 1e6 > (gap_s + 1) * WATTS_MOST)
		return NAN;
	return (double)more / 1e6;
}

struct sum {
	double joules;
	unsigned n;
	bool is_broken;
	int error;
};

static void add_zone(unsigned zone, double gap_s, struct sum *sum)
{
	uint64_t now = zone_number(zone, "energy_uj", &sum->error);
	double more = 0;

	if (now == TARE_UNKNOWN) {
		if (!sum->error)
			sum->error = TARE_EIO;
		return;
	}
	sum->n++;
	if (energy.is_begun && energy.last_uj[zone] != TARE_UNKNOWN)
		more = joules_since(zone, energy.last_uj[zone], now, gap_s);
	if (isnan(more))
		sum->is_broken = true;
	else
		sum->joules += more;
	energy.last_uj[zone] = now;
}

static struct sum add_zones(double gap_s)
{
	struct sum sum = { 0, 0, false, 0 };
	int err = 0;

	for (unsigned zone = 0; zone < ZONES; zone++) {
		if (!energy.is_begun)
			energy.last_uj[zone] = TARE_UNKNOWN;
		if (is_package(zone, &err))
			add_zone(zone, gap_s, &sum);
		else if (err)
			break;
	}
	if (!sum.n && !sum.error)
		sum.error = err ? err : TARE_ENOENT;
	return sum;
}

static const char *reason_of(int error)
{
	if (error == TARE_ENOENT)
		return "the kernel shows no RAPL counters (a virtual machine, "
		       "or a processor without)";
	if (error == TARE_EPERM)
		return "only root may read the RAPL counters";
	return "the RAPL counters cannot be read";
}

static int take(double *ret_joules, const char **ret_reason)
{
	int64_t now = tr_monotonic_ns();
	double gap_s = (double)(now - energy.at_ns) / 1e9;
	struct sum sum = add_zones(gap_s);

	if (sum.error || !sum.n) {
		*ret_reason = reason_of(sum.error);
		return sum.error;
	}
	if (gap_s < 0 && energy.is_begun)
		sum.is_broken = true;
	energy.at_ns = now;
	energy.is_begun = true;
	if (sum.is_broken) {
		*ret_reason = "the RAPL counters were not asked for so long "
			      "that they may have wrapped";
		return TARE_EIO;
	}
	energy.joules += sum.joules;
	*ret_joules = energy.joules;
	return 0;
}

int tr_energy_read(double *ret_joules, const char **ret_reason)
{
	struct tr_lock lock;
	int err;

	if (!tr_lock_enter(&lock)) {
		*ret_reason = "another thread reads the system for over 1 s";
		return TARE_EIO;
	}
	err = take(ret_joules, ret_reason);
	tr_lock_leave(&lock);
	return err;
}
