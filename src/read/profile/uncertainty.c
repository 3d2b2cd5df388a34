/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uncertainty: how reliable a share of sampled time is.
 *
 * A share is an estimate. Samples do not weigh the same: a late timer makes one
 * sample stand for much time. (sum of weights)^2 / (sum of squared weights) is
 * the number of equal samples that are as reliable. Wilson's interval is right
 * for few samples, too: one sample is no proof of 100 %.
 */
#include "read/profile.h"

#include "base/maths.h"

#define Z 1.96 /* of 95 % */
/*
 * A probe runs while the processor waits for other instructions: samples find
 * it in the probe, though the program would wait without the probe, too.
 */
#define SKID 0.2

double tr_samples_effective(tare_view *view)
{
	const tare_sampling *s = tare_view_sampling(view);
	double most = (double)s->samples, n;

	if (!s->samples || tr_profile_stacks(view) ||
	    !(view->profile.square_ns2 > 0))
		return most;
	n = s->weight_ns * s->weight_ns / view->profile.square_ns2;
	return tr_least(n, most);
}

struct tr_interval tr_share_interval(double share, double samples)
{
	double centre, half, scale;

	if (!(samples > 0))
		return (struct tr_interval){ 0, 1 };
	share = tr_least(tr_most(share, 0), 1);
	scale = 1 + Z * Z / samples;
	centre = (share + Z * Z / (2 * samples)) / scale;
	half = Z * tr_share_error(share, samples);
	return (struct tr_interval){ tr_most(centre - half, 0),
				     tr_least(centre + half, 1) };
}

static bool has_own_module(tare_view *view)
{
	const struct tr_profile *p = &view->profile;

	if (tr_profile_modules(view))
		return false;
	for (size_t i = 0; i < p->n_modules; i++)
		if (tr_module_name_is_own(p->modules[i].name))
			return true;
	return false;
}

bool tr_samples_own(tare_view *view, double *ret_ns,
		    struct tr_interval *ret_interval_ns)
{
	const tare_sampling *s = tare_view_sampling(view);
	double n = tr_samples_effective(view), share;

	if (!s->samples || s->is_wall || !(s->weight_ns > 0) ||
	    !has_own_module(view))
		return false;
	share = tr_least(view->profile.own_ns / s->weight_ns, 1);
	*ret_ns = share * s->cpu_ns;
	*ret_interval_ns = tr_share_interval(share, n);
	ret_interval_ns->low *= s->cpu_ns * (1 - SKID);
	ret_interval_ns->high *= s->cpu_ns * (1 + SKID);
	return true;
}

double tr_share_error(double share, double samples)
{
	double scale;

	if (!(samples > 0))
		return 1;
	share = tr_least(tr_most(share, 0), 1);
	scale = 1 + Z * Z / samples;
	return tr_maths_sqrt(share * (1 - share) / samples +
			     Z * Z / (4 * samples * samples)) / scale;
}
