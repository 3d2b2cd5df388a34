/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judge: conclusions from measurements.
 *
 * Amdahl's law: if a part with the share f of the time gets k times as fast,
 * the whole gets 1 / ((1 - f) + f / k) times as fast. This holds for sequential
 * work. If threads work in parallel, only the busiest one limits the others.
 */
#ifndef TARE_READ_JUDGE_H
#define TARE_READ_JUDGE_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/read/view.h>

TARE_BEGIN

enum tare_worth {
	TARE_WORTH_NOTHING = 0,	 /* not worth it */
	TARE_WORTH_MODERATE = 1,
	TARE_WORTH_MUCH = 2	 /* optimise this */
};

/* The gain of the whole if a part gets faster. 0.053 is 5.3 %. */
typedef struct tare_gain {
	double faster;		/* gain of speed */
	double saved;		/* gain of time */
	double most;		/* gain of speed if the part took no time */
	enum tare_worth worth;
} tare_gain;

/* The gain of speed from which on a part is worth a moderate or much effort. */
typedef struct tare_worth_limits {
	double moderate;	/* 0: 0.05 */
	double much;		/* 0: 0.2 */
} tare_worth_limits;

/*
 * share: 0..1. factor: above 0; 0.5 is half the speed, and the gain is
 * negative. `limits` may be NULL. TARE_EINVAL for other numbers.
 */
TARE_API TARE_MUST_CHECK int
tare_gain_of(double share, double factor, const tare_worth_limits *limits,
	     tare_gain *ret_gain);

/* What the parts are. ANY: the first of these kinds that the run has. */
enum tare_parts_of {
	TARE_PARTS_ANY = 0,
	TARE_PARTS_STAGES = 1,
	TARE_PARTS_SCOPES = 2,
	TARE_PARTS_FUNCTIONS = 3, /* by the hooks of -finstrument-functions */
	TARE_PARTS_SAMPLES = 4	  /* functions in sampled stacks */
};

typedef struct tare_part {
	const char *name;	/* belongs to the view, or its namer */
	const char *file;	/* "" if unknown */
	uint32_t line;		/* 0 if unknown */
	double ns;
	double share;		/* of the whole, 0..1 */
	bool is_estimate;
	bool below_resolution;	/* too short for the clock: do not trust it */
	tare_gain gain;
	double own_ns;		/* without what it calls */
} tare_part;
TARE_ARRAY_OF_(tare_part)

typedef struct tare_amdahl {
	enum tare_parts_of of;	/* what the parts are */
	double factor;
	double whole_ns;	/* sum of all parts */
	tare_part *parts;	/* largest share first */
	size_t n_parts;
} tare_amdahl;

typedef struct tare_amdahl_options {
	uint32_t struct_size;	/* sizeof(tare_amdahl_options) */
	uint32_t of;		/* enum tare_parts_of */
	double factor;		/* 0: 2 */
	bool with_callees;	/* the time of a part includes its callees */
	tare_worth_limits limits;
	bool without_outer;	/* with callees: leave out sampled functions
				 * that contain the program, such as main() */
} tare_amdahl_options;

/*
 * The parts of a run by own time, with the gain of each. `options` may be NULL.
 * Gives the result (free with tare_amdahl_close).
 */
TARE_API TARE_MUST_CHECK int
tare_amdahl_open(tare_view *view, const tare_amdahl_options *options,
		 tare_amdahl **ret_amdahl);
TARE_API void tare_amdahl_close(tare_amdahl *amdahl);
/* Old names, for one release. */
#define tare_amdahl_of tare_amdahl_open
#define tare_amdahl_free tare_amdahl_close

TARE_END
#endif
