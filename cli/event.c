/* SPDX-License-Identifier: Apache-2.0 */
#include "event.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int event_open(bool without_kernel)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 4000000;
	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_kernel = without_kernel;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

void event_keep(void)
{
	if (event_open(false) < 0)
		(void)event_open(true);
}
