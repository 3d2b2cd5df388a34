/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libtare-read that libtare calls, see ledger/hook.h.
 */
#include "render/connect.h"

#include <tare/version.h>
#include <tare/read/view.h>

#include "render/timeline.h"

static int report(size_t top, tare_write_fn write, void *arg)
{
	tare_report_options options = {
		.struct_size = sizeof(options),
		.top = top,
	};
	tare_view *view;
	int err = tare_view_open("self", &view);

	if (err)
		return err;
	err = tare_view_report(view, &options, write, arg);
	tare_view_close(view);
	return err;
}

const struct tr_reader tare_reader_ = {
	.struct_size = sizeof(tare_reader_),
	.version = TARE_VERSION,
	.connect = tr_own_connect,
	.report = report,
	.write_trace = tr_trace_file,
	.keep_traces = tr_trace_keep,
};

#pragma weak tare_reader_connect_

/* Runs at load time in programs that link both libraries. */
__attribute__((constructor)) static void connect_linked(void)
{
	if (tare_reader_connect_)
		tr_own_connect(tare_reader_connect_(&tare_reader_));
}
