/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings: memory and GPUs over time, from two sources: the monitor at its
 * intervals, and operations that take a reading (TARE_RECORD_MEMORY,
 * TARE_RECORD_GPU). Both have the same quantities, and both count.
 *
 * Memory: rss_bytes, vm_bytes, total_bytes, used_bytes, available_bytes,
 * used_percent. Each GPU: load_percent, memory_used_bytes, memory_total_bytes,
 * memory_percent, temperature, power_w.
 */
#ifndef TARE_READ_READINGS_H
#define TARE_READ_READINGS_H

#include <tare/read/view.h>

TARE_BEGIN

/* The name of the monitor's readings; an operation's have its name. */
#define TARE_READINGS_MONITOR "monitor"

/*
 * Each reading as a record, oldest first. The monitor's readings are single
 * ones where the ledger still has them (keep_values), and before those, means
 * of time slices. `kind` is TARE_RECORD_MEMORY or TARE_RECORD_GPU. The filter
 * works as in tare_view_records(); the monitor's source is "system" or "gpu".
 * The array belongs to the view until the next call.
 */
TARE_API TARE_MUST_CHECK int tare_view_readings(tare_view *view,
						const tare_filter *filter,
						enum tare_record_kind kind,
						const tare_record **ret_records,
						size_t *ret_n);

enum tare_direction {
	TARE_DIRECTION_UNKNOWN = 0, /* fewer than three readings */
	TARE_DIRECTION_FALLING = 1,
	TARE_DIRECTION_STEADY = 2, /* within 1 % of the mean */
	TARE_DIRECTION_RISING = 3
};

/* Statistics over all readings, including those not kept as single records. */
typedef struct tare_quantity {
	const char *key;
	uint64_t count;
	double current;	    /* the newest */
	double mean, min, max;
	double slope_per_s; /* of a fitted line; NAN: unknown */
	double change;	    /* along that line / mean; NAN: unknown */
	enum tare_direction direction;
} tare_quantity;
TARE_ARRAY_OF_(tare_quantity)

typedef struct tare_reading_group {
	const char *name;   /* of the operation; "" for all of them */
	int32_t gpu;	    /* -1 for all of them, and for memory */
	uint64_t count;	    /* readings */
	bool is_available;  /* at least one found something to read */
	const char *reason; /* why the last failed one failed, or "" */
	const tare_quantity *quantities;
	size_t n_quantities;
} tare_reading_group;
TARE_ARRAY_OF_(tare_reading_group)

enum tare_readings_by {
	TARE_READINGS_ALL = 0, /* one group */
	TARE_READINGS_BY_NAME = 1,
	TARE_READINGS_BY_GPU = 2
};

typedef struct tare_readings tare_readings;

/* Readings of several runs together. Free with tare_readings_close(). */
TARE_API TARE_MUST_CHECK int tare_readings_open(tare_view *const *views,
						size_t n,
						const tare_filter *filter,
						enum tare_record_kind kind,
						tare_readings **ret_readings);
TARE_API const tare_reading_group *
tare_readings_groups(const tare_readings *readings, enum tare_readings_by by,
		     size_t *ret_n);
TARE_API void tare_readings_close(tare_readings *readings);

/* "rising", "falling", "steady"; NULL if unknown. */
TARE_API const char *tare_direction_name(enum tare_direction direction);

TARE_END
#endif
