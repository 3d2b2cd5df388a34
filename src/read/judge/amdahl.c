/* SPDX-License-Identifier: Apache-2.0 */
/* Amdahl: the gain of the whole if one part gets faster. */
#include "read/judge.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_FACTOR 2.0
#define USUAL_MODERATE 0.05
#define USUAL_MUCH 0.2

TARE_API int tare_gain_of(double share, double factor,
			  const tare_worth_limits *limits, tare_gain *ret_gain)
{
	double moderate = limits && limits->moderate > 0 ? limits->moderate :
							   USUAL_MODERATE;
	double much = limits && limits->much > 0 ? limits->much : USUAL_MUCH;
	tare_gain gain;

	if (!ret_gain || !(share >= 0 && share <= 1) || !(factor > 0))
		return TARE_EINVAL;
	gain.saved = share * (1 - 1 / factor);
	/* The part is everything, and infinitely fast: no time is left. */
	gain.faster = gain.saved < 1 ? 1 / (1 - gain.saved) - 1 :
				       (double)__builtin_inf();
	gain.most = share < 1 ? 1 / (1 - share) - 1 : (double)__builtin_inf();
	gain.worth = gain.faster >= much     ? TARE_WORTH_MUCH :
		     gain.faster >= moderate ? TARE_WORTH_MODERATE :
					       TARE_WORTH_NOTHING;
	*ret_gain = gain;
	return 0;
}

static int largest_share_first(const void *a, const void *b)
{
	const tare_part *x = a, *y = b;
	int order = TR_ORDER(y->share, x->share);

	/* With callees: a caller before what it calls. */
	if (!order)
		order = TR_ORDER(x->own_ns, y->own_ns);
	return order ? order : strcmp(x->name, y->name);
}

static int judge_parts(tare_amdahl *amdahl, const tare_worth_limits *limits)
{
	for (size_t i = 0; i < amdahl->n_parts; i++) {
		tare_part *part = &amdahl->parts[i];
		int err;

		part->share = amdahl->whole_ns > 0 ?
				      part->ns / amdahl->whole_ns :
				      0;
		/* With callees, rounding may exceed 1 slightly. */
		part->share = tr_most(tr_least(part->share, 1), 0);
		err = tare_gain_of(part->share, amdahl->factor, limits,
				   &part->gain);
		if (err)
			return err;
	}
	if (amdahl->n_parts)
		qsort(amdahl->parts, amdahl->n_parts, sizeof(*amdahl->parts),
		      largest_share_first);
	return 0;
}

TARE_API void tare_amdahl_close(tare_amdahl *amdahl)
{
	if (amdahl)
		free(amdahl->parts);
	free(amdahl);
}

TARE_API int tare_amdahl_open(tare_view *view,
			      const tare_amdahl_options *options,
			      tare_amdahl **ret_amdahl)
{
	tare_amdahl_options asked = { .struct_size = sizeof(asked) };
	tare_amdahl *amdahl;
	int err;

	if (!view || !ret_amdahl ||
	    (options && TR_TAKE_STRUCT(&asked, options, factor)) ||
	    asked.of > TARE_PARTS_SAMPLES)
		return TARE_EINVAL;
	amdahl = calloc(1, sizeof(*amdahl));
	if (!amdahl)
		return TARE_ENOMEM;
	amdahl->factor = asked.factor != 0 ? asked.factor : USUAL_FACTOR;
	err = tr_parts_of(view, &asked, amdahl);
	if (!err)
		err = judge_parts(amdahl, &asked.limits);
	if (err) {
		tare_amdahl_close(amdahl);
		return err;
	}
	*ret_amdahl = amdahl;
	return 0;
}
