/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Tests only; set before any thread is started. */
static tr_clock_fake replaced;

void tr_clock_replace(tr_clock_fake fake)
{
	replaced = fake;
}

bool tr_clock_is_fake(void)
{
	return replaced != NULL;
}

int64_t tr_clock_ns(int clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tr_monotonic_ns(void)
{
	int64_t real;

	if (TR_UNLIKELY(replaced != NULL))
		return replaced(&real);
	return tr_clock_ns(CLOCK_MONOTONIC);
}

int64_t tr_realtime_ns(void)
{
	int64_t real;

	if (TR_UNLIKELY(replaced != NULL)) {
		(void)replaced(&real);
		return real;
	}
	return tr_clock_ns(CLOCK_REALTIME);
}

int64_t tr_clock_slept_ns;

int64_t tr_boottime_ns(void)
{
	if (TR_UNLIKELY(replaced != NULL))
		return tr_monotonic_ns() + tr_clock_slept_ns;
	return tr_clock_ns(CLOCK_BOOTTIME);
}

bool tr_counter_is_trusted(void)
{
	if (replaced)
		return false;
#if defined(__x86_64__)
	static const char source[] = "/sys/devices/system/clocksource/"
				     "clocksource0/current_clocksource";
	char name[32];

	/*
	 * Use the kernel's own choice: it checks the counter for steps and for
	 * cores that disagree, which we cannot.
	 */
	return tr_file_text(source, name, sizeof(name)) &&
	       strncmp(name, "tsc", 3) == 0 && (!name[3] || name[3] == '\n');
#else
	return TR_HAS_COUNTER;
#endif
}

bool tr_counter_overlaps(void)
{
#if defined(__x86_64__)
	static const unsigned hygon_ebx = 0x6f677948; /* "Hygo" */
	unsigned most, b, c, d;

	__cpuid(0, most, b, c, d);
	return b == signature_AMD_ebx || b == hygon_ebx;
#else
	return false;
#endif
}

double tr_counter_hz(void)
{
#if defined(__x86_64__)
	unsigned denominator, numerator, crystal, d;

	if (__get_cpuid_max(0, NULL) < 0x15)
		return 0;
	__cpuid(0x15, denominator, numerator, crystal, d);
	if (!denominator || !numerator || !crystal)
		return 0;
	return (double)crystal * numerator / denominator;
#elif defined(__aarch64__)
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return (double)hz;
#else
	return 0;
#endif
}
