/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ladders: the bounds of Prometheus buckets. They are fixed, since buckets that
 * appear and disappear cannot be added up over time. The texts are those of Go
 * and Python: the bound is a label, and 1 and 1.0 would be two series.
 */
#include "render/metrics/metric.h"

/* From 0.1 microseconds to ten minutes, three bounds per decade. */
const struct tr_ladder tr_ladder_seconds = {
	25,
	{
		{ 1e-7, "1e-07" },     { 1e-6, "1e-06" },
		{ 2.5e-6, "2.5e-06" }, { 5e-6, "5e-06" },
		{ 1e-5, "1e-05" },     { 2.5e-5, "2.5e-05" },
		{ 5e-5, "5e-05" },     { 1e-4, "0.0001" },
		{ 2.5e-4, "0.00025" }, { 5e-4, "0.0005" },
		{ 1e-3, "0.001" },     { 2.5e-3, "0.0025" },
		{ 5e-3, "0.005" },     { 0.01, "0.01" },
		{ 0.025, "0.025" },    { 0.05, "0.05" },
		{ 0.1, "0.1" },	       { 0.25, "0.25" },
		{ 0.5, "0.5" },	       { 1, "1.0" },
		{ 2.5, "2.5" },	       { 5, "5.0" },
		{ 10, "10.0" },	       { 60, "60.0" },
		{ 600, "600.0" },
	},
};

/* Powers of four: also bounds of the fine histogram, so counts are exact. */
const struct tr_ladder tr_ladder_bytes = {
	15,
	{
		{ 64, "64.0" },
		{ 256, "256.0" },
		{ 1024, "1024.0" },
		{ 4096, "4096.0" },
		{ 16384, "16384.0" },
		{ 65536, "65536.0" },
		{ 262144, "262144.0" },
		{ 1048576, "1.048576e+06" },
		{ 4194304, "4.194304e+06" },
		{ 16777216, "1.6777216e+07" },
		{ 67108864, "6.7108864e+07" },
		{ 268435456, "2.68435456e+08" },
		{ 1073741824, "1.073741824e+09" },
		{ 4294967296, "4.294967296e+09" },
		{ 17179869184, "1.7179869184e+10" },
	},
};

const struct tr_ladder tr_ladder_ratio = {
	16,
	{
		{ 0, "0.0" },	  { 0.01, "0.01" }, { 0.05, "0.05" },
		{ 0.1, "0.1" },	  { 0.2, "0.2" },   { 0.3, "0.3" },
		{ 0.4, "0.4" },	  { 0.5, "0.5" },   { 0.6, "0.6" },
		{ 0.7, "0.7" },	  { 0.8, "0.8" },   { 0.9, "0.9" },
		{ 0.95, "0.95" }, { 0.99, "0.99" }, { 0.999, "0.999" },
		{ 1, "1.0" },
	},
};

const struct tr_ladder tr_ladder_any = {
	21,
	{
		{ 0, "0.0" },	    	 { 0.001, "0.001" },
		{ 0.01, "0.01" },    { 0.1, "0.1" },	 { 0.5, "0.5" },
		{ 1, "1.0" },	     { 2.5, "2.5" },	 { 5, "5.0" },
		{ 10, "10.0" },	     { 25, "25.0" },	 { 50, "50.0" },
		{ 100, "100.0" },    { 250, "250.0" },	 { 500, "500.0" },
		{ 1000, "1000.0" },  { 2500, "2500.0" }, { 5000, "5000.0" },
		{ 10000, "10000.0" }, { 100000, "100000.0" },
		{ 1e6, "1e+06" },    { 1e9, "1e+09" },
	},
};

void tr_ladder_bounds(const struct tr_unit *unit, double *bounds)
{
	for (size_t i = 0; i < unit->ladder->n; i++)
		bounds[i] = unit->ladder->step[i].bound / unit->scale;
}
