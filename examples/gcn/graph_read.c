/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads nodes.csv (node,label,split), edges.csv (a,b) and features.txt (one
 * line of words per node). Errors are reported with file and line.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

struct reader {
	char path[4096];
	FILE *file;
	char *line;   /* without the newline */
	size_t room;
	uint32_t number;
};

static int open_file(struct reader *reader, const char *folder,
		     const char *name, struct fault *fault)
{
	int n = snprintf(reader->path, sizeof(reader->path), "%s/%s", folder,
			 name);

	reader->file = NULL;
	reader->number = 0;
	if (n < 0 || (size_t)n >= sizeof(reader->path))
		return fault_set(fault, "the name of the folder is too long");
	reader->file = fopen(reader->path, "re");
	if (!reader->file)
		return fault_set(fault, "cannot open '%.300s': %s",
				 reader->path, strerror(errno));
	return 0;
}

static void close_file(struct reader *reader)
{
	if (reader->file)
		(void)fclose(reader->file);
	free(reader->line);
	memset(reader, 0, sizeof(*reader));
}

/* Adds file and line to the fault's text. */
static int at_line(const struct reader *reader, uint32_t line,
		   struct fault *fault)
{
	struct fault what = *fault;

	return fault_set(fault, "%.300s:%u: %.150s", reader->path, line,
			 what.text);
}

static int in_file(const struct reader *reader, struct fault *fault)
{
	struct fault what = *fault;

	return fault_set(fault, "%.300s: %.150s", reader->path, what.text);
}

/* 1: a line, 0: there are no more, -1: fault. */
static int next_line(struct reader *reader, struct fault *fault)
{
	ssize_t n;

	errno = 0;
	n = getline(&reader->line, &reader->room, reader->file);
	if (n < 0 && ferror(reader->file))
		return fault_set(fault, "cannot read '%.300s': %s",
				 reader->path, strerror(errno));
	if (n < 0)
		return 0;
	reader->number++;
	if (strlen(reader->line) != (size_t)n) {
		(void)fault_set(fault, "a zero byte: this is no text");
		return at_line(reader, reader->number, fault);
	}
	while (n > 0 && (reader->line[n - 1] == '\n' ||
			 reader->line[n - 1] == '\r'))
		reader->line[--n] = '\0';
	return 1;
}

static int expect_header(struct reader *reader, const char *header,
			 struct fault *fault)
{
	int got = next_line(reader, fault);

	if (got < 0)
		return -1;
	if (got == 0) {
		(void)fault_set(fault, "the file is empty");
		return in_file(reader, fault);
	}
	if (strcmp(reader->line, header) == 0)
		return 0;
	(void)fault_set(fault, "the first line must be '%s', not '%.40s'",
			header, reader->line);
	return at_line(reader, 1, fault);
}

/*
 * A number of digits only, followed by `end`. Returns the rest of the text;
 * NULL with a fault otherwise.
 */
static const char *take_number(const char *text, char end, const char *what,
			       uint64_t *ret, struct fault *fault)
{
	char *behind;

	errno = 0;
	*ret = strtoull(text, &behind, 10);
	if (text[0] < '0' || text[0] > '9' || *behind != end) {
		(void)fault_set(fault, "'%.40s': %s must be here", text, what);
		return NULL;
	}
	if (errno) {
		(void)fault_set(fault, "'%.40s': %s is too large", text, what);
		return NULL;
	}
	return behind + (end != '\0');
}

/* ---- nodes.csv --------------------------------------------------------- */

static int take_split(const char *text, enum split *ret, struct fault *fault)
{
	static const char *const names[N_SPLITS] = { "", "train", "val",
						     "test" };

	for (unsigned i = 0; i < N_SPLITS; i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum split)i;
			return 0;
		}
	}
	return fault_set(fault, "'%.40s': the split is train, val, test or "
			 "empty", text);
}

static int read_node(struct builder *builder, const char *line,
		     struct fault *fault)
{
	enum split split = SPLIT_NONE;
	uint64_t node, label;
	bool is_negative;

	line = take_number(line, ',', "a node and a comma", &node, fault);
	if (!line)
		return -1;
	if (node != builder->graph.n_nodes)
		return fault_set(fault, "node %u must be here, not %llu: nodes "
				 "are numbered from 0, one a line",
				 builder->graph.n_nodes,
				 (unsigned long long)node);
	is_negative = *line == '-';
	line = take_number(line + is_negative, ',', "a label and a comma",
			   &label, fault);
	if (!line || take_split(line, &split, fault))
		return -1;
	if (label > INT32_MAX)
		return fault_set(fault, "label %s%llu is out of range",
				 is_negative ? "-" : "",
				 (unsigned long long)label);
	return builder_node(builder,
			    is_negative ? -(int32_t)label : (int32_t)label,
			    split, fault);
}

static int read_nodes(struct reader *reader, struct builder *builder,
		      struct fault *fault)
{
	uint32_t node = UINT32_MAX;
	int got;

	if (expect_header(reader, "node,label,split", fault))
		return -1;
	while ((got = next_line(reader, fault)) > 0)
		if (read_node(builder, reader->line, fault))
			return at_line(reader, reader->number, fault);
	if (got < 0)
		return -1;
	if (builder_nodes_done(builder, &node, fault) == 0)
		return 0;
	/* Node 0 is in line 2. */
	return node == UINT32_MAX ? in_file(reader, fault) :
				    at_line(reader, node + 2, fault);
}

/* ---- edges.csv --------------------------------------------------------- */

static int read_edge(struct builder *builder, const struct reader *reader,
		     bool is_kept, struct fault *fault)
{
	const char *line = reader->line;
	uint64_t a, b;

	line = take_number(line, ',', "a node and a comma", &a, fault);
	if (!line || !take_number(line, '\0', "a node", &b, fault))
		return -1;
	return is_kept ? builder_edge(builder, a, b, reader->number, fault) :
			 builder_weigh(builder, a, b, fault);
}

static int go_through_edges(struct reader *reader, struct builder *builder,
			    bool are_kept, struct fault *fault)
{
	int got;

	if (expect_header(reader, "a,b", fault))
		return -1;
	while ((got = next_line(reader, fault)) > 0)
		if (read_edge(builder, reader, are_kept, fault))
			return at_line(reader, reader->number, fault);
	return got;
}

static int weigh_edges(struct reader *reader, struct builder *builder,
		       struct fault *fault)
{
	return go_through_edges(reader, builder, false, fault);
}

static int read_edges(struct reader *reader, struct builder *builder,
		      struct fault *fault)
{
	return go_through_edges(reader, builder, true, fault);
}

/* ---- features.txt ------------------------------------------------------ */

struct words {
	uint32_t *at;
	size_t n, room;
};

static int add_word(struct words *words, uint64_t word, struct fault *fault)
{
	size_t room = words->room ? 2 * words->room : 256;
	uint32_t *grown;

	if (word >= GRAPH_MOST_WORDS)
		return fault_set(fault, "word %llu is out of range: 0 to %u",
				 (unsigned long long)word,
				 GRAPH_MOST_WORDS - 1);
	if (words->n == words->room) {
		grown = realloc(words->at, room * sizeof(*grown));
		if (!grown)
			return fault_set(fault, "out of memory");
		words->at = grown;
		words->room = room;
	}
	words->at[words->n++] = (uint32_t)word;
	return 0;
}

/* Words of one line, separated by spaces. */
static int read_words(struct words *words, char *line, struct fault *fault)
{
	char *rest = NULL;

	words->n = 0;
	for (char *text = strtok_r(line, " \t", &rest); text;
	     text = strtok_r(NULL, " \t", &rest)) {
		uint64_t word;

		if (!take_number(text, '\0', "the number of a word", &word,
				 fault) ||
		    add_word(words, word, fault))
			return -1;
	}
	return 0;
}

static int read_features(struct reader *reader, struct builder *builder,
			 struct fault *fault)
{
	struct words words = { NULL, 0, 0 };
	int got;

	while ((got = next_line(reader, fault)) > 0) {
		if (read_words(&words, reader->line, fault) ||
		    builder_words(builder, words.at, words.n, fault)) {
			got = at_line(reader, reader->number, fault);
			break;
		}
	}
	free(words.at);
	if (got == 0 && builder->next_words != builder->graph.n_nodes) {
		(void)fault_set(fault, "%u lines, but there are %u nodes",
				builder->next_words, builder->graph.n_nodes);
		return in_file(reader, fault);
	}
	return got;
}

/* ---- all of it --------------------------------------------------------- */

static int read_file(const char *folder, const char *name,
		     int (*read)(struct reader *, struct builder *,
				 struct fault *),
		     struct builder *builder, struct fault *fault)
{
	struct reader reader = { .file = NULL };
	int err = open_file(&reader, folder, name, fault);

	if (!err)
		err = read(&reader, builder, fault);
	close_file(&reader);
	return err;
}

static int share_out(const char *folder, struct builder *builder,
		     struct fault *fault)
{
	if (builder->share.of > 1 &&
	    read_file(folder, "edges.csv", weigh_edges, builder, fault))
		return -1;
	return builder_share_out(builder, fault);
}

int graph_read(const char *folder, struct share share,
	       struct graph *ret_graph, struct fault *fault)
{
	struct builder builder;
	struct fault what;
	uint32_t line = 0;

	builder_init(&builder, share);
	if (read_file(folder, "nodes.csv", read_nodes, &builder, fault) ||
	    share_out(folder, &builder, fault) ||
	    read_file(folder, "edges.csv", read_edges, &builder, fault) ||
	    read_file(folder, "features.txt", read_features, &builder,
		      fault)) {
		builder_release(&builder);
		return -1;
	}
	if (builder_finish(&builder, ret_graph, &line, &what) == 0)
		return 0;
	builder_release(&builder);
	if (line)
		return fault_set(fault, "%.300s/edges.csv:%u: %.150s", folder,
				 line, what.text);
	return fault_set(fault, "%.300s: %.150s", folder, what.text);
}
