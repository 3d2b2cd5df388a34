/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints something of every array that libtare-read returns, for the test
 * `older_headers`: built with headers whose structs have one member less, it
 * must print the same. Uses no member that is the last of its struct.
 */
#include <inttypes.h>
#include <stdio.h>

#include <tare/read/alloc.h>
#include <tare/read/communication.h>
#include <tare/read/compare.h>
#include <tare/read/judge.h>
#include <tare/read/pipeline.h>
#include <tare/read/readings.h>
#include <tare/read/train.h>
#include <tare/system.h>

/* `array` and `n` of a call, then a line for each element, `e`. */
#define EACH(type, call, ...) \
	do { \
		const type *array = NULL; \
		size_t n = 0; \
		int err = call; \
		printf(#type " %d: %zu\n", err, n); \
		for (size_t i = 0; !err && i < n; i++) { \
			const type *e = type##_at(array, i); \
			__VA_ARGS__; \
		} \
	} while (0)

static void print_series(tare_view *view)
{
	tare_filter all = { .struct_size = sizeof(all) };

	EACH(tare_stats, tare_view_stats(view, &all, &array, &n),
	     printf("%s %s %" PRIu64 " %g\n", e->name, e->unit, e->count,
		    e->total));
	EACH(tare_trend,
	     tare_view_trend(view, &all, 1000000000, &array, &n),
	     printf("%s %s\n", e->now->name, e->before->name));
	EACH(tare_node, tare_view_tree(view, &array, &n),
	     printf("%s %u %" PRIu64 "\n", e->name, e->depth, e->calls));
	EACH(tare_record, tare_view_records(view, &all, &array, &n),
	     printf("%s %" PRId64 " %zu\n", e->name, e->start_ns, e->n_attrs);
	     for (size_t k = 0; k < e->n_attrs; k++)
		     printf("\t%s %s\n", e->attrs[k].key, e->attrs[k].s));
	EACH(tare_thread, tare_view_threads(view, &array, &n),
	     printf("%" PRId64 "\n", e->id));
	EACH(tare_event, tare_view_events(view, &array, &n),
	     printf("%s %" PRId64 " %" PRIu64 "\n", e->name, e->start_ns,
		    e->duration_ns));
}

static void print_stacks(tare_view *view)
{
	EACH(tare_module, tare_view_modules(view, &array, &n),
	     printf("%s\n", e->path));
	EACH(tare_stack, tare_view_stacks(view, &array, &n),
	     printf("%u %" PRIx64 " %g\n", e->depth, e->address,
		    e->weight_ns));
	EACH(tare_sample, tare_view_samples(view, &array, &n),
	     printf("%" PRId64 " %u %s\n", e->at_ns, e->stack, e->scope));
	EACH(tare_call, tare_view_calls(view, &array, &n),
	     printf("%s %" PRIu64 "\n", e->function, e->calls));
	EACH(tare_frame,
	     tare_view_frames(view, TARE_FRAMES_SAMPLES, &array, &n),
	     printf("%s %u %" PRIu64 "\n", e->function, e->depth,
		    e->samples));
	EACH(tare_function, tare_view_functions(view, &array, &n),
	     printf("%s %" PRIu64 "\n", e->function, e->samples));
	EACH(tare_alloc, tare_view_allocs(view, &array, &n),
	     printf("%s %" PRIu64 " %" PRIu64 "\n", e->tag, e->bytes,
		    e->temporary));
	EACH(tare_alloc_mark, tare_view_alloc_marks(view, &array, &n),
	     printf("%s %" PRIu64 "\n", e->name, e->live));
}

static void print_pipelines(tare_view *view)
{
	EACH(tare_pipeline, tare_view_pipelines(view, 2, &array, &n),
	     printf("%s %zu\n", e->name, e->n_stages);
	     for (size_t k = 0; k < e->n_stages; k++)
		     printf("\t%s %" PRIu64 "\n",
			    tare_stage_stats_at(e->stages, k)->name,
			    tare_stage_stats_at(e->stages, k)->in));
}

static void print_trainings(tare_view *view)
{
	EACH(tare_training_info,
	     (n = tare_view_trainings(view, &array), 0),
	     printf("%s %zu\n", e->config, e->n_parts);
	     for (size_t k = 0; k < e->n_parts; k++)
		     printf("\t%s\n",
			    tare_training_part_at(e->parts, k)->name));
}

static void print_readings(tare_view *view)
{
	tare_view *views[] = { view };
	tare_readings *readings;

	if (tare_readings_open(views, 1, NULL, TARE_RECORD_MEMORY, &readings))
		return;
	EACH(tare_reading_group,
	     (array = tare_readings_groups(readings, TARE_READINGS_BY_NAME,
					   &n), 0),
	     for (size_t k = 0; e->count && k < 2; k++)
		     printf("\t%s\n", tare_quantity_at(e->quantities, k)->key));
	tare_readings_close(readings);
}

static void print_conclusions(tare_view *view)
{
	tare_comparison *comparison;
	const tare_compared *compared;
	tare_amdahl *amdahl;

	if (!tare_amdahl_open(view, NULL, &amdahl)) {
		for (size_t k = 0; k < amdahl->n_parts; k++)
			printf("part %s %g\n",
			       tare_part_at(amdahl->parts, k)->name,
			       tare_part_at(amdahl->parts, k)->share);
		tare_amdahl_close(amdahl);
	}
	if (tare_comparison_new(&comparison))
		return;
	if (!tare_comparison_add_view(comparison, view) &&
	    !tare_compare(comparison, NULL, &compared))
		for (size_t k = 0; k < compared->n_configs; k++)
			printf("config %s %u\n",
			       tare_compared_config_at(compared->configs,
						       k)->name,
			       tare_compared_config_at(compared->configs,
						       k)->n_runs);
	tare_comparison_free(comparison);
}

int main(int argc, char **argv)
{
	tare_view *view;

	/* That the headers differ is to be seen in the sizes. */
	fprintf(stderr, "%zu\n",
		sizeof(tare_filter) + sizeof(tare_stats) + sizeof(tare_node) +
			sizeof(tare_record) + sizeof(tare_stage_stats));
	if (argc != 2 || tare_view_open(argv[1], &view))
		return 1;
	print_series(view);
	print_stacks(view);
	print_pipelines(view);
	print_trainings(view);
	print_readings(view);
	print_conclusions(view);
	tare_view_close(view);
	return 0;
}
