/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <stdio.h>
#include <string.h>

const char team_program[] = "gcn_sequential";

void team_name(const struct team *team, char *ret, size_t size)
{
	(void)team;
	(void)snprintf(ret, size, "sequential");
}

void team_describe(struct team *team, tare_training_options *options)
{
	(void)team;
	(void)options;
}

void team_open(struct team *ret_team, int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	memset(ret_team, 0, sizeof(*ret_team));
	ret_team->me.of = 1;
}

void team_close(struct team *team)
{
	(void)team;
}

bool team_agrees(struct team *team, const char *fault)
{
	(void)team;
	if (fault)
		fprintf(stderr, "%s: %s\n", team_program, fault);
	return !fault;
}

int team_link(struct team *team, const struct graph *graph,
	      struct fault *fault)
{
	(void)team;
	(void)graph;
	(void)fault;
	return 0;
}

void team_exchange(struct team *team, float *rows, uint32_t width)
{
	(void)team;
	(void)rows;
	(void)width;
}

void team_broadcast(struct team *team, float *values, size_t n)
{
	(void)team;
	(void)values;
	(void)n;
}

void team_sum(struct team *team, float *values, size_t n)
{
	team_broadcast(team, values, n);
}

void team_sum_doubles(struct team *team, double *values, size_t n)
{
	(void)team;
	(void)values;
	(void)n;
}

void team_sum_counts(struct team *team, uint64_t *values, size_t n)
{
	(void)team;
	(void)values;
	(void)n;
}

void team_print(struct team *team, const char *line)
{
	(void)team;
	printf("%s\n", line);
}
