/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Board: one GPU over several readings. Checks the driver's values, and
 * derives those that need earlier readings: energy, heat, whether the board is
 * gone.
 *
 * Energy. The counter of an H200 takes 2.6 to 3.9 ms to read, all other values
 * together 0.05 ms. So the counter is read every 10 s, and power x time fills
 * the gap; each reading of the counter replaces what was filled in since the
 * previous one. The total that is shown never falls: if power x time was too
 * high, the total stays constant until the counter has caught up.
 *
 * Memory of this process. The driver lists all processes for it, which takes
 * longer the more there are; if the list is expensive, it is read together
 * with the counter.
 */
#include "record/gpu/state.h"

#include <math.h>
#include <string.h>

#define SLOW_NS INT64_C(10000000000)
/* A value that takes longer is read together with the counter. */
#define CHEAP_NS 100000
/* More than any board uses: above it, the counter was reset. */
#define MOST_WATTS 20000.0
#define SLACK_JOULES 1000.0
/*
 * Hysteresis: a board at its threshold would alternate between hot and not
 * hot.
 */
#define COOLER_BY 3.0

void tr_gpu_forget(tare_gpu *gpu)
{
	gpu->load_percent = gpu->memory_load_percent = NAN;
	gpu->memory_used = gpu->memory_own = TARE_UNKNOWN;
	gpu->memory_percent = gpu->temperature = NAN;
	gpu->power_w = gpu->clock_mhz = gpu->memory_clock_mhz = NAN;
	gpu->throttle = TARE_UNKNOWN;
	gpu->is_hot = false;
}

/* ---- values ------------------------------------------------------------ */

static double within(double value, double low, double high)
{
	return value >= low && value <= high ? value : NAN;
}

static void check_memory(tare_gpu *gpu)
{
	if (gpu->memory_total == 0)
		gpu->memory_total = TARE_UNKNOWN;
	if (gpu->memory_used > gpu->memory_total)
		gpu->memory_used = TARE_UNKNOWN;
	if (gpu->memory_own > gpu->memory_total)
		gpu->memory_own = TARE_UNKNOWN;
	gpu->memory_percent = NAN;
	if (gpu->memory_total != TARE_UNKNOWN &&
	    gpu->memory_used != TARE_UNKNOWN)
		gpu->memory_percent = 100.0 * (double)gpu->memory_used /
				      (double)gpu->memory_total;
}

static void check_values(tare_gpu *gpu)
{
	check_memory(gpu);
	gpu->load_percent = within(gpu->load_percent, 0, 100);
	gpu->memory_load_percent = within(gpu->memory_load_percent, 0, 100);
	gpu->temperature = within(gpu->temperature, -100, 300);
	gpu->slowdown_at = within(gpu->slowdown_at, 1, 300);
	gpu->power_w = within(gpu->power_w, 0, MOST_WATTS);
	gpu->power_limit_w = within(gpu->power_limit_w, 0, MOST_WATTS);
	gpu->clock_mhz = within(gpu->clock_mhz, 0, 100000);
	gpu->memory_clock_mhz = within(gpu->memory_clock_mhz, 0, 100000);
}

static bool is_hot(const tare_gpu *gpu, bool was_hot)
{
	double limit = was_hot ? gpu->slowdown_at - COOLER_BY :
				 gpu->slowdown_at;

	if (gpu->throttle != TARE_UNKNOWN &&
	    gpu->throttle & TARE_GPU_THROTTLE_HEAT)
		return true;
	if (isnan(limit) || isnan(gpu->temperature))
		return false;
	return was_hot ? gpu->temperature > limit : gpu->temperature >= limit;
}

static void check_heat(tare_gpu *gpu, bool was_hot)
{
	gpu->is_hot = is_hot(gpu, was_hot);
	if (gpu->is_hot && !was_hot)
		tr_gpu_log_once(TR_GPU_SAY_HOT, gpu->index, TARE_LEVEL_WARNING,
				"GPU %u (%s) is too hot: %d degrees Celsius",
				gpu->index, gpu->name,
				isnan(gpu->temperature) ?
					0 :
					(int)gpu->temperature);
}

/* ---- energy ------------------------------------------------------------ */

static void add_power(struct tr_gpu_energy *e, double power, int64_t at)
{
	if (isnan(power)) {
		e->power_at = 0;
		return;
	}
	if (e->power_at && at > e->power_at)
		e->since += (e->power + power) / 2 *
			    (double)(at - e->power_at) * 1e-9;
	e->power = power;
	e->power_at = at;
	e->is_known = true;
}

static void add_counter(struct tr_gpu_energy *e, uint64_t mj, int64_t at)
{
	double joules = (double)(mj - e->counter) / 1e3;
	double seconds = (double)(at - e->counter_at) * 1e-9;
	bool goes_on = e->counter_at && mj >= e->counter &&
		       joules <= MOST_WATTS * seconds + SLACK_JOULES;

	/* The first reading, or the counter wrapped or was reset: use power. */
	e->settled += goes_on ? joules : e->since;
	e->since = 0;
	e->counter = mj;
	e->counter_at = at;
	e->is_known = true;
}

static void read_energy(struct tr_gpu_board *board, int64_t at, bool is_due)
{
	struct tr_gpu_energy *e = &board->energy;
	uint64_t mj;

	add_power(e, board->gpu.power_w, at);
	if (is_due && board->backend->energy &&
	    board->backend->energy(board->index, &mj))
		add_counter(e, mj, tr_monotonic_ns());
	if (e->settled + e->since > e->total)
		e->total = e->settled + e->since;
	board->gpu.energy_j = e->is_known ? e->total : NAN;
}

/* ---- memory of this process -------------------------------------------- */

static void read_own(struct tr_gpu_board *board, bool is_due)
{
	int64_t before = tr_monotonic_ns(), took;
	bool is_cheap = board->own_ns && board->own_ns < CHEAP_NS;

	if (!board->backend->own || !(is_due || is_cheap))
		return;
	board->own = board->backend->own(board->index);
	took = tr_monotonic_ns() - before + 1;
	if (!board->own_ns || took < board->own_ns)
		board->own_ns = took;
	if (is_cheap)
		board->gpu.took_ns += took;
}

/* ---- a reading --------------------------------------------------------- */

static void lose(struct tr_gpu_board *board)
{
	tare_gpu *gpu = &board->gpu;

	tr_gpu_forget(gpu);
	board->energy.power_at = 0;
	if (gpu->is_gone)
		return;
	gpu->is_gone = true;
	tr_gpu_log_once(TR_GPU_SAY_LOST, gpu->index, TARE_LEVEL_WARNING,
			"GPU %u (%s) does not answer any more", gpu->index,
			gpu->name);
}

static void find(tare_gpu *gpu)
{
	if (!gpu->is_gone)
		return;
	gpu->is_gone = false;
	tr_gpu_log_once(TR_GPU_SAY_BACK, gpu->index, TARE_LEVEL_INFO,
			"GPU %u (%s) answers again", gpu->index, gpu->name);
}

void tr_gpu_board_read(struct tr_gpu_board *board, bool with_energy)
{
	tare_gpu *gpu = &board->gpu;
	bool was_hot = gpu->is_hot;
	int64_t before = tr_monotonic_ns(), now;
	bool is_due, answers;

	tr_gpu_forget(gpu);
	answers = board->backend->read(board->index, gpu);
	now = tr_monotonic_ns();
	if (!answers) {
		lose(board);
		return;
	}
	find(gpu);
	gpu->took_ns = now - before;
	gpu->at_ns = tr_realtime_ns();
	board->read_at = now;
	is_due = with_energy || !board->slow_at ||
		 now - board->slow_at >= SLOW_NS;
	read_own(board, is_due);
	gpu->memory_own = board->own;
	check_values(gpu);
	check_heat(gpu, was_hot);
	read_energy(board, now, is_due);
	if (is_due)
		board->slow_at = now;
}
