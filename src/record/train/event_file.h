/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event files, internal: scalars with a known time and known lengths of tags.
 */
#ifndef TR_RECORD_TRAIN_EVENT_FILE_H
#define TR_RECORD_TRAIN_EVENT_FILE_H

#include <tare/event_file.h>

#define TR_EVENT_SCALARS 68u

struct tr_scalars {
	size_t n;
	const char *tag[TR_EVENT_SCALARS];
	double value[TR_EVENT_SCALARS];
	uint8_t len[TR_EVENT_SCALARS]; /* of each tag, below 120 */
};

/* `wall_ns`: since 1970. */
int tr_event_file_scalars(tare_event_file *file, int64_t step, int64_t wall_ns,
			  const struct tr_scalars *scalars);

#endif
