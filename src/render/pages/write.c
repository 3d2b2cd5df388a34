/* SPDX-License-Identifier: Apache-2.0 */
#include "render/pages.h"

TARE_API int tare_comparison_write(tare_comparison *comparison,
				   uint32_t format, tare_write_fn write,
				   void *arg)
{
	struct tr_sink sink;
	int err;

	if (!comparison || !comparison->is_compared || !write ||
	    format < TARE_COMPARED_CSV || format > TARE_COMPARED_HTML)
		return TARE_EINVAL;
	err = tr_sink_init(&sink, write, arg);
	if (err)
		return err;
	switch (format) {
	case TARE_COMPARED_CSV:
		tr_compared_csv(comparison, &sink);
		break;
	case TARE_COMPARED_JSON:
		tr_compared_json(comparison, &sink);
		break;
	default:
		tr_compared_page(comparison, &sink);
	}
	return tr_sink_finish(&sink);
}
