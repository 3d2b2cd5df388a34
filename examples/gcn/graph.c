/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

void graph_release(struct graph *graph)
{
	free(graph->share_at);
	free(graph->label);
	free(graph->split);
	free(graph->halo);
	free(graph->edge_at);
	free(graph->edge_to);
	free(graph->edge_weight);
	free(graph->word_at);
	free(graph->word);
	memset(graph, 0, sizeof(*graph));
}
