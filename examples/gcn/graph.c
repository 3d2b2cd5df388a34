/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

uint32_t graph_share_first(uint32_t n_nodes, uint32_t index, uint32_t of)
{
	return (uint32_t)((uint64_t)n_nodes * index / of);
}

void graph_release(struct graph *graph)
{
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
