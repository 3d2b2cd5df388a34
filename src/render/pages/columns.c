/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of a configuration in CSV and JSON, in their order.
 */
#include "render/pages.h"

#define COLUMN(name, field) { name, offsetof(tare_compared_config, field) }

const struct tr_compared_column tr_compared_columns[] = {
	COLUMN("total_time", time[TARE_TIME_TOTAL]),
	COLUMN("epoch_time", time[TARE_TIME_EPOCH]),
	COLUMN("forward_time", time[TARE_TIME_FORWARD]),
	COLUMN("backward_time", time[TARE_TIME_BACKWARD]),
	COLUMN("comm_time", time[TARE_TIME_COMM]),
	COLUMN("update_time", time[TARE_TIME_UPDATE]),
	COLUMN("other_time", time[TARE_TIME_OTHER]),
	COLUMN("speedup", speedup),
	COLUMN("efficiency", efficiency),
	COLUMN("serial_fraction", serial),
	COLUMN("comm_share", comm_share),
	COLUMN("speedup_total", speedup_of[TARE_TIME_TOTAL]),
	COLUMN("speedup_epoch", speedup_of[TARE_TIME_EPOCH]),
	COLUMN("speedup_forward", speedup_of[TARE_TIME_FORWARD]),
	COLUMN("speedup_backward", speedup_of[TARE_TIME_BACKWARD]),
	COLUMN("speedup_comm", speedup_of[TARE_TIME_COMM]),
	COLUMN("speedup_update", speedup_of[TARE_TIME_UPDATE]),
	COLUMN("time_to_loss", to_loss),
	COLUMN("time_to_f1", to_f1),
	COLUMN("peak_memory_mb", peak_memory_mb),
	COLUMN("worker_memory_mb", worker_memory_mb),
	COLUMN("loss", loss),
	COLUMN("train_acc", train_acc),
	COLUMN("val_f1", val_f1),
	COLUMN("test_f1", test_f1),
};
const size_t tr_n_compared_columns =
	sizeof(tr_compared_columns) / sizeof(tr_compared_columns[0]);

const tare_estimate *tr_compared_at(const tare_compared_config *config,
				    const struct tr_compared_column *column)
{
	return (const void *)((const char *)config + column->offset);
}
