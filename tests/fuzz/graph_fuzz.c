/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph files of anybody, for the network of examples/gcn: what is read is a
 * graph, for one process and for one of three; what is refused says why.
 *
 * An input is the three files, one after another, with a line "%%" between.
 */
#include "examples/gcn/graph.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void leave_folder(void)
{
	static const char *const names[] = { "nodes.csv", "edges.csv",
					     "features.txt" };
	char path[128];

	for (int i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static bool enter_folder(void)
{
	if (folder[0])
		return true;
	strcpy(folder, "/dev/shm/tare-graph-XXXXXX");
	if (!mkdtemp(folder)) {
		strcpy(folder, "/tmp/tare-graph-XXXXXX");
		if (!mkdtemp(folder))
			return false;
	}
	return atexit(leave_folder) == 0;
}

/* Up to the next line of "%%"; gives what follows. */
static const uint8_t *put_file(const char *name, const uint8_t *at,
			       const uint8_t *end)
{
	static const char mark[] = "%%\n";
	const uint8_t *stop = memmem(at, (size_t)(end - at), mark, 3);
	char path[128];
	FILE *file;

	if (!stop)
		stop = end;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (file) {
		(void)fwrite(at, 1, (size_t)(stop - at), file);
		(void)fclose(file);
	}
	return stop < end ? stop + 3 : end;
}

static void check_rows(const struct graph *graph)
{
	uint64_t columns = (uint64_t)graph->n_own + graph->n_halo;

	must(graph->edge_at[0] == 0 && graph->word_at[0] == 0);
	for (uint32_t i = 0; i < graph->n_own; i++) {
		must(graph->edge_at[i] <= graph->edge_at[i + 1]);
		must(graph->word_at[i] <= graph->word_at[i + 1]);
		must(graph->label[i] >= -1 &&
		     graph->label[i] < (int32_t)graph->n_classes);
		must(graph->split[i] < N_SPLITS);
		must(graph->split[i] == SPLIT_NONE || graph->label[i] >= 0);
	}
	for (uint64_t i = 0; i < graph->edge_at[graph->n_own]; i++) {
		must(graph->edge_to[i] < columns);
		must(graph->edge_weight[i] > 0 && graph->edge_weight[i] <= 1);
	}
	for (uint64_t i = 0; i < graph->word_at[graph->n_own]; i++)
		must(graph->word[i] < graph->n_words);
}

static void check_graph(const struct graph *graph, struct share share)
{
	must(graph->n_nodes > 0 && graph->n_nodes <= GRAPH_MOST_NODES);
	must(graph->n_classes > 0 && graph->n_classes <= GRAPH_MOST_CLASSES);
	must(graph->n_words <= GRAPH_MOST_WORDS);
	must(graph->n_split[SPLIT_TRAIN] > 0);
	must(graph->share_at[0] == 0 &&
	     graph->share_at[share.of] == graph->n_nodes);
	must(graph->first == graph->share_at[share.index] &&
	     graph->first + graph->n_own ==
		     graph->share_at[share.index + 1]);
	for (uint32_t i = 0; i < graph->n_halo; i++) {
		must(graph->halo[i] < graph->n_nodes);
		must(graph->halo[i] < graph->first ||
		     graph->halo[i] >= graph->first + graph->n_own);
		must(i == 0 || graph->halo[i] > graph->halo[i - 1]);
	}
	check_rows(graph);
}

static bool read_share(struct share share)
{
	struct graph graph = { .n_nodes = 0 };
	struct fault fault = { .text = "" };
	bool is_read = graph_read(folder, share, &graph, &fault) == 0;

	if (is_read)
		check_graph(&graph, share);
	else
		must(fault.text[0] != '\0' &&
		     memchr(fault.text, '\0', sizeof(fault.text)));
	graph_release(&graph);
	return is_read;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;

	if (!enter_folder())
		return 0;
	data = put_file("nodes.csv", data, end);
	data = put_file("edges.csv", data, end);
	(void)put_file("features.txt", data, end);
	if (read_share((struct share){ 0, 1 }))
		(void)read_share((struct share){ 1, 3 });
	return 0;
}
