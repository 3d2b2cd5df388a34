/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds and types of series and attributes: for programs that record (probe.h)
 * and for programs that read (read/view.h).
 */
#ifndef TARE_KIND_H
#define TARE_KIND_H

/* What a site measures. Stored in ledgers: numbers are never reused. */
enum tare_kind {
	TARE_KIND_SCOPE = 1,   /* durations with a call tree */
	TARE_KIND_COUNTER = 2, /* a total that only grows */
	TARE_KIND_GAUGE = 3,   /* last value, and its distribution */
	TARE_KIND_VALUE = 4,   /* distribution of observed values */
	TARE_KIND_RATIO = 5    /* sum of parts over sum of wholes */
};

/* Type of a series, for filters and exports. */
enum tare_type {
	TARE_TYPE_TIME = 1,
	TARE_TYPE_THROUGHPUT = 2,
	TARE_TYPE_MEMORY = 3,
	TARE_TYPE_COUNTER = 4,
	TARE_TYPE_RATIO = 5,
	TARE_TYPE_PERCENTAGE = 6,
	TARE_TYPE_CUSTOM = 7
};

enum tare_site_flags {
	TARE_SITE_OPERATION = 1 << 0, /* every call is kept as a record */
	TARE_SITE_DYNAMIC = 1 << 1,   /* made at run time; set by the library */
	TARE_SITE_STAGE = 1 << 2,     /* a stage of a pipeline, see stage.h */
	TARE_SITE_PULL = 1 << 3,      /* a stage that is asked for records */
	TARE_SITE_PART = 1 << 4,      /* a series that belongs to a stage */
	TARE_SITE_BATCH = 1 << 5,     /* a stage whose calls are not records */
	TARE_SITE_DOUBLE = 1 << 6     /* a counter of doubles */
};

enum tare_attr_type {
	TARE_ATTR_INT = 1,
	TARE_ATTR_DOUBLE = 2,
	TARE_ATTR_STR = 3
};

#endif
