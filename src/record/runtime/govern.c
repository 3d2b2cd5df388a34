/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The governor on the monitor's thread.
 */
#include "record/runtime.h"

#include "record/governor.h"
#include "record/monitor.h"
#include "record/price.h"

static int64_t next_ns; /* until its next turn; 0: not requested */

static void tell(const char *text)
{
	tr_log(TARE_LEVEL_WARNING, "%s", text);
}

static int64_t interval_ns(void)
{
	return TR_LOAD(next_ns);
}

static void run(int64_t now_ns)
{
	TR_STORE(next_ns, tr_governor_turn(now_ns));
}

static const struct tr_job job = { "governor", interval_ns, run, 0 };

/* Called in a probe. */
static void ask(void)
{
	TR_STORE(next_ns, 1);
	tr_monitor_request();
}

void tr_self_govern(void)
{
	struct tr_governor_setup setup = {
		.limit = tr_config.auto_disable_on_slow ?
				 tr_config.performance_threshold :
				 0,
		.tell = tell,
		.ask = ask,
		.background_ns = tr_monitor_cost_ns,
	};

	next_ns = 0;
	tr_price_open(tr_config.cost_trials);
	if (tr_monitor_add(&job))
		tr_governor_open(&setup);
}
