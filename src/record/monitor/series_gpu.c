/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of the GPUs, each with a label gpu="0"; and overheating: a record and
 * a log line at the beginning of each episode, and a gauge of 0 or 1 for
 * alerts.
 */
#include "record/monitor.h"

#include "base/text.h"

#include <tare/gpu.h>

#include <stdio.h>

#define GPU_BOARDS_MOST 64
/* A new episode begins after this time without overheating. */
#define GPU_COOL_NS INT64_C(60000000000)

#define GPU_FIELD(name, unit, type, form, field) \
	{ name, unit, type, form, offsetof(tare_gpu, field), false }
#define GPU_BYTES(name, field) \
	GPU_FIELD(name, "B", TARE_TYPE_MEMORY, TR_GAUGE_U64, field)
#define GPU_PERCENT(name, field) \
	GPU_FIELD(name, "%", TARE_TYPE_PERCENTAGE, TR_GAUGE_DOUBLE, field)
#define GPU_REAL(name, unit, field) \
	GPU_FIELD(name, unit, TARE_TYPE_CUSTOM, TR_GAUGE_DOUBLE, field)

static const struct tr_gauge gauges[] = {
	GPU_PERCENT("load", load_percent),
	GPU_PERCENT("memory.load", memory_load_percent),
	GPU_BYTES("memory.used", memory_used),
	GPU_BYTES("memory.total", memory_total),
	GPU_PERCENT("memory.percent", memory_percent),
	GPU_BYTES("memory.own", memory_own),
	GPU_REAL("temperature", "\xc2\xb0" "C", temperature),
	GPU_REAL("power", "W", power_w),
	GPU_REAL("power.limit", "W", power_limit_w),
	GPU_FIELD("energy", "J", TARE_TYPE_COUNTER, TR_GAUGE_DOUBLE, energy_j),
	GPU_REAL("clock", "MHz", clock_mhz),
	GPU_REAL("memory.clock", "MHz", memory_clock_mhz),
	GPU_FIELD("hot", NULL, TARE_TYPE_CUSTOM, TR_GAUGE_BOOL, is_hot),
	GPU_FIELD("gone", NULL, TARE_TYPE_CUSTOM, TR_GAUGE_BOOL, is_gone),
};

#define N_GPU_GAUGES (sizeof(gauges) / sizeof(gauges[0]))

/* Written while the monitor's lock is held. */
static struct board {
	tare_site *site[N_GPU_GAUGES];
	bool was_hot;
	int64_t hot_ns; /* when it was last hot */
} boards[GPU_BOARDS_MOST];

static void find_sites(struct board *board, size_t index)
{
	char text[24];
	const char *pair[2] = { "gpu", text };

	(void)tr_u64_text(text, index);
	for (size_t i = 0; i < N_GPU_GAUGES; i++)
		board->site[i] = tr_own_site_labels(
			tr_gauge_site(&gauges[i], "gpu"), 1, pair);
}

/* A record of a failed reading. */
static void record(const tare_gpu *now, const char *text)
{
	const tare_attr attr[] = {
		{ "gpu", TARE_ATTR_INT, { .i = now->index } },
		{ "temperature", TARE_ATTR_DOUBLE, { .d = now->temperature } },
		{ "power_w", TARE_ATTR_DOUBLE, { .d = now->power_w } },
	};
	struct tr_note note = {
		.kind = TARE_RECORD_GPU,
		.error = text,
		.attr = attr,
		.n_attrs = sizeof(attr) / sizeof(attr[0]),
	};

	(void)tr_note_now(tr_own_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					  "overheated", "\xc2\xb0" "C",
					  "gpu"),
			  &note);
}

static void tell(const tare_gpu *now)
{
	char text[192];

	(void)snprintf(text, sizeof(text),
		       "GPU %u (%.60s) overheats: %.0f degrees Celsius, slows "
		       "down at %.0f",
		       now->index, now->name, now->temperature,
		       now->slowdown_at);
	record(now, text);
	tr_host.log(TARE_LEVEL_WARNING, text);
}

/* A board near its threshold alternates: that is one episode. */
static void follow_heat(struct board *board, const tare_gpu *now,
			int64_t now_ns)
{
	if (now->is_hot) {
		if (!board->was_hot)
			tell(now);
		board->was_hot = true;
		board->hot_ns = now_ns;
	} else if (board->was_hot && now_ns - board->hot_ns >= GPU_COOL_NS) {
		board->was_hot = false;
	}
}

/*
 * The user asked for GPUs, so their absence is logged; once, also for forked
 * children.
 */
static void tell_absence(void)
{
	static bool told;
	const char *reason = tare_gpu_reason();
	char text[256];

	if (told || !reason[0])
		return;
	told = true;
	(void)snprintf(text, sizeof(text), "no GPU to monitor: %s", reason);
	tr_host.log(TARE_LEVEL_WARNING, text);
}

static void run_gpu(int64_t now_ns)
{
	size_t n = tare_gpu_count();

	/*
	 * Tracking applies to the GPUs that exist: no message if there are
	 * none.
	 */
	if (!n && tr_parts_has(TARE_MONITOR_GPU))
		tell_absence();

	for (size_t i = 0; i < n && i < GPU_BOARDS_MOST; i++) {
		tare_gpu now = { .struct_size = sizeof(now) };
		struct board *board = &boards[i];

		if (tare_gpu_read(i, &now))
			continue;
		if (!board->site[0])
			find_sites(board, i);
		for (size_t j = 0; j < N_GPU_GAUGES; j++)
			tr_gauge_write(&gauges[j], board->site[j], &now);
		follow_heat(board, &now, now_ns);
	}
}

const struct tr_job tr_job_gpu = { "gpu", NULL, run_gpu, TARE_MONITOR_GPU };
