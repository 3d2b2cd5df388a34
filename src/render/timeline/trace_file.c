/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of this process as a file: the steps of one trace turn.
 */
#include "render/timeline/chrome.h"
#include "render/output.h"
#include "render/timeline/own_names.h"
#include "render/timeline.h"

struct trace_output {
	struct tr_publish *publish;
	int err; /* why writing stopped */
};

static int write_part(void *arg, const char *text, size_t len)
{
	struct trace_output *output = arg;

	output->err = tr_publish_write(output->publish, text, len);
	return output->err;
}

int tr_chrome_publish(struct tr_publish *publish, const struct tr_trace *trace)
{
	struct trace_output output = { publish, 0 };
	struct tr_sink sink;
	int err = tr_sink_init(&sink, write_part, &output), failed;

	if (err)
		return err;
	err = tr_chrome_write(&sink, trace);
	if (err && !sink.err)
		sink.err = err;
	failed = tr_sink_finish(&sink);
	return failed && output.err ? output.err : failed;
}

static int write_view(tare_view *view, const struct tr_trace_file *file)
{
	struct tr_publish publish = { .folder = -1, .fd = -1,
				      .is_hasty = true };
	tare_filter window = {
		.struct_size = sizeof(window),
		.from_ns = tr_time_real(&view->image, file->from_ticks),
		.to_ns = tr_time_real(&view->image, file->to_ticks),
	};
	struct tr_trace trace = {
		.views = &view,
		.n_views = 1,
		.filter = &window,
		.with_logs = true,
		.title = file->title,
	};
	int err = tr_publish_begin(&publish, file->folder);

	if (!err)
		err = tr_chrome_publish(&publish, &trace);
	if (!err)
		err = tr_publish_name(&publish, file->name, true);
	tr_publish_end(&publish);
	return err;
}

int tr_trace_file(const struct tr_trace_file *file)
{
	struct tr_own_names names = { NULL, 0, NULL, 0 };
	tare_view *view;
	int err = tare_view_open("self", &view);

	if (err)
		return err;
	tare_view_name_with(view, tr_own_names_find, &names);
	err = write_view(view, file);
	tare_view_close(view);
	tr_own_names_release(&names);
	return err;
}
