/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series: readings of the machine and of the process as gauges.
 *
 * A quantity that only grows (faults, bytes of I/O) is a gauge of the total: a
 * counter of the ledger starts at 0, and these started before it. An unknown
 * quantity is not written: its series has no value, rather than 0.
 */
#include "record/monitor.h"

#include "base/text.h"

#include <tare/system.h>

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#define AS_BYTES "B", TARE_TYPE_MEMORY
#define AS_PERCENT "%", TARE_TYPE_PERCENTAGE
#define AS_GROWN "B", TARE_TYPE_COUNTER /* totals */
#define AS_TIMES NULL, TARE_TYPE_COUNTER
#define AS_SPENT "s", TARE_TYPE_COUNTER
#define AS_RATE "B/s", TARE_TYPE_THROUGHPUT
#define AS_PLAIN NULL, TARE_TYPE_CUSTOM

/* ---- writing ----------------------------------------------------------- */

static double field_of(const struct tr_gauge *gauge, const void *reading)
{
	const char *at = (const char *)reading + gauge->offset;
	double real;
	uint64_t n;
	uint32_t small;

	switch ((enum tr_gauge_form)gauge->form) {
	case TR_GAUGE_U32:
		memcpy(&small, at, sizeof(small));
		return small;
	case TR_GAUGE_U64:
		memcpy(&n, at, sizeof(n));
		return n == TARE_UNKNOWN ? (double)NAN : (double)n;
	case TR_GAUGE_BOOL:
		return *at != 0;
	case TR_GAUGE_SHARE:
	case TR_GAUGE_DOUBLE:
		break;
	}
	memcpy(&real, at, sizeof(real));
	return gauge->form == TR_GAUGE_SHARE ? real * 100 : real;
}

static void set_gauge(tare_site *site, double value)
{
	uint32_t gate = tare_gate_(site);

	if (gate && isfinite(value))
		tr_own_gauge_set(site, gate, value);
}

tare_site *tr_gauge_site(const struct tr_gauge *gauge, const char *source)
{
	const tare_site like = { .name = gauge->name,
				 .unit = gauge->unit,
				 .source = source,
				 .kind = TARE_KIND_GAUGE,
				 .type = gauge->type,
				 .flags = TR_SITE_UNLISTED };

	return tr_site_flagged(&like);
}

void tr_gauge_write(const struct tr_gauge *gauge, tare_site *site,
		    const void *reading)
{
	set_gauge(site, field_of(gauge, reading));
}

static bool is_memory(const struct tr_gauge *gauge)
{
	return gauge->type == TARE_TYPE_MEMORY ||
	       strncmp(gauge->name, "memory.", 7) == 0;
}

/*
 * Sites are looked up once; handles are valid for the life of the process. If
 * only memory is tracked and `part` is not monitored, only rows of memory.
 */
static void write_all(const struct tr_gauge *gauge, size_t n,
		      const char *source, tare_site **site,
		      const void *reading, uint32_t part)
{
	uint32_t parts = tr_parts_wanted();
	bool detailed = parts & TARE_MONITOR_DETAILED;

	for (size_t i = 0; i < n; i++) {
		if ((gauge[i].detailed && !detailed) ||
		    (!(parts & part) && !is_memory(&gauge[i])))
			continue;
		if (!site[i])
			site[i] = tr_gauge_site(&gauge[i], source);
		tr_gauge_write(&gauge[i], site[i], reading);
	}
}

#define GAUGES_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- system ------------------------------------------------------------ */

#define SYSTEM_U64(name, kind, field) \
	{ name, kind, TR_GAUGE_U64, offsetof(tare_system, field), false }
#define SYSTEM_REAL(name, kind, field) \
	{ name, kind, TR_GAUGE_DOUBLE, offsetof(tare_system, field), false }

static const struct tr_gauge system_gauges[] = {
	SYSTEM_U64("memory.used", AS_BYTES, memory_used),
	SYSTEM_U64("memory.available", AS_BYTES, memory_available),
	SYSTEM_U64("memory.total", AS_BYTES, memory_total),
	SYSTEM_REAL("memory.percent", AS_PERCENT, memory_percent),
	SYSTEM_U64("memory.limit", AS_BYTES, memory_limit),
	SYSTEM_REAL("memory.pressure", AS_PERCENT, memory_pressure),
	SYSTEM_U64("swap.used", AS_BYTES, swap_used),
	SYSTEM_REAL("cpu.percent", AS_PERCENT, cpu_percent),
	SYSTEM_REAL("cpu.limit", AS_PLAIN, cpu_limit),
	SYSTEM_REAL("cpu.pressure", AS_PERCENT, cpu_pressure),
	SYSTEM_REAL("cpu.load1", AS_PLAIN, load1),
	SYSTEM_REAL("cpu.load5", AS_PLAIN, load5),
	SYSTEM_REAL("cpu.load15", AS_PLAIN, load15),
	SYSTEM_REAL("io.pressure", AS_PERCENT, io_pressure),
	SYSTEM_U64("disk.read", AS_GROWN, disk_read),
	SYSTEM_U64("disk.written", AS_GROWN, disk_written),
	SYSTEM_REAL("disk.read_rate", AS_RATE, disk_read_rate),
	SYSTEM_REAL("disk.write_rate", AS_RATE, disk_write_rate),
	SYSTEM_U64("net.received", AS_GROWN, net_received),
	SYSTEM_U64("net.sent", AS_GROWN, net_sent),
	SYSTEM_REAL("net.receive_rate", AS_RATE, net_receive_rate),
	SYSTEM_REAL("net.send_rate", AS_RATE, net_send_rate),
};

#define CORES_MOST 256

/* Each CPU has its own series name, so that sums do not include the total. */
static void write_cores(void)
{
	static const struct tr_gauge gauge = { "core.percent", AS_PERCENT, 0, 0,
					       true };
	static tare_site *site[CORES_MOST];
	static double percent[CORES_MOST];
	const char *pair[2] = { "core", NULL };
	size_t n = 0;
	char text[24];

	if (tare_cpu_read(percent, CORES_MOST, &n))
		return;
	for (size_t i = 0; i < n && i < CORES_MOST; i++) {
		if (!site[i]) {
			(void)tr_u64_text(text, i);
			pair[1] = text;
			site[i] = tr_own_site_labels(
				tr_gauge_site(&gauge, "system"), 1, pair);
		}
		set_gauge(site[i], percent[i]);
	}
}

static void run_system(int64_t now_ns)
{
	static tare_site *site[GAUGES_OF(system_gauges)];
	tare_system now = { .struct_size = sizeof(now) };

	(void)now_ns;
	if (tare_system_read(&now) == 0)
		write_all(system_gauges, GAUGES_OF(system_gauges), "system",
			  site, &now, TARE_MONITOR_SYSTEM);
	if (tr_parts_wanted() & TARE_MONITOR_DETAILED)
		write_cores();
}

const struct tr_job tr_job_system = { "system", NULL, run_system,
				      TARE_MONITOR_SYSTEM };

/* ---- process ----------------------------------------------------------- */

/* A reading, and what only getrusage() provides. */
struct process {
	tare_process now;
	double children_cpu_s;
	uint64_t children_peak_rss;
};

#define PROCESS_U64(name, kind, field) \
	{ name, kind, TR_GAUGE_U64, offsetof(struct process, field), false }
#define PROCESS_REAL(name, kind, field) \
	{ name, kind, TR_GAUGE_DOUBLE, offsetof(struct process, field), false }
/* The expensive ones. */
#define PROCESS_MORE(name, kind, form, field) \
	{ name, kind, form, offsetof(struct process, field), true }

static const struct tr_gauge process_gauges[] = {
	PROCESS_U64("rss", AS_BYTES, now.rss),
	PROCESS_U64("rss.peak", AS_BYTES, now.peak_rss),
	PROCESS_U64("private", AS_BYTES, now.private_),
	PROCESS_U64("shared", AS_BYTES, now.shared),
	PROCESS_U64("vm", AS_BYTES, now.vm),
	PROCESS_U64("swap", AS_BYTES, now.swap),
	PROCESS_REAL("cpu.percent", AS_PERCENT, now.cpu_percent),
	PROCESS_REAL("cpu.user", AS_SPENT, now.cpu_user_s),
	PROCESS_REAL("cpu.system", AS_SPENT, now.cpu_system_s),
	{ "threads", AS_PLAIN, TR_GAUGE_U32,
	  offsetof(struct process, now.threads), false },
	PROCESS_U64("open_files", AS_PLAIN, now.open_files),
	PROCESS_U64("faults.minor", AS_TIMES, now.minor_faults),
	PROCESS_U64("faults.major", AS_TIMES, now.major_faults),
	PROCESS_U64("switches", AS_TIMES, now.switches),
	PROCESS_U64("preemptions", AS_TIMES, now.preemptions),
	PROCESS_U64("disk.read", AS_GROWN, now.read_bytes),
	PROCESS_U64("disk.written", AS_GROWN, now.written_bytes),
	PROCESS_U64("io.read", AS_GROWN, now.io_read),
	PROCESS_U64("io.written", AS_GROWN, now.io_written),
	PROCESS_REAL("children.cpu", AS_SPENT, children_cpu_s),
	PROCESS_U64("children.rss.peak", AS_BYTES, children_peak_rss),
	PROCESS_MORE("heap.used", AS_BYTES, TR_GAUGE_U64, now.heap_used),
	PROCESS_MORE("heap.held", AS_BYTES, TR_GAUGE_U64, now.heap_held),
	PROCESS_MORE("heap.fragmentation", AS_PERCENT, TR_GAUGE_SHARE,
	     now.heap_fragmentation),
	PROCESS_MORE("pss", AS_BYTES, TR_GAUGE_U64, now.pss),
};

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* Children that ended and were waited for; unknown while there are none. */
static void read_children(struct process *process)
{
	struct rusage usage;

	process->children_cpu_s = NAN;
	process->children_peak_rss = TARE_UNKNOWN;
	if (getrusage(RUSAGE_CHILDREN, &usage) || !usage.ru_maxrss)
		return;
	process->children_cpu_s = seconds_of(usage.ru_utime) +
				  seconds_of(usage.ru_stime);
	process->children_peak_rss = (uint64_t)usage.ru_maxrss * 1024;
}

static void run_process(int64_t now_ns)
{
	static tare_site *site[GAUGES_OF(process_gauges)];
	struct process process = { .now.struct_size = sizeof(tare_process) };
	bool detailed = tr_parts_wanted() & TARE_MONITOR_DETAILED;
	int err = detailed ? tare_process_read_detailed(0, &process.now) :
			     tare_process_read(0, &process.now);

	(void)now_ns;
	if (err)
		return;
	read_children(&process);
	write_all(process_gauges, GAUGES_OF(process_gauges), "process", site,
		  &process, TARE_MONITOR_PROCESS);
}

const struct tr_job tr_job_process = { "process", NULL, run_process,
				       TARE_MONITOR_PROCESS };

/* ---- at start and end -------------------------------------------------- */

/*
 * In the header and not as series: a program's series contain nothing that it
 * did not ask for.
 */
void tr_monitor_memory(const struct tr_config *config, bool at_end)
{
	tare_process now = { .struct_size = sizeof(now) };
	struct tr_header *header = tr_ledger ? tr_ledger->header : NULL;

	if (!header || tr_probe_forward || !config->collect_memory_basic ||
	    tare_process_read(0, &now))
		return;
	if (now.rss != TARE_UNKNOWN)
		TR_STORE(*(at_end ? &header->rss_end : &header->rss_start),
			 now.rss);
	if (now.peak_rss != TARE_UNKNOWN)
		TR_STORE(header->rss_peak, now.peak_rss);
}
