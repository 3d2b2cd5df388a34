/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event file: scalars, histograms and texts for TensorBoard.
 *
 *	tare_event_file *events;
 *
 *	tare_event_file_open("events/mpi_4", &events);
 *	tare_event_file_scalar(events, "loss", epoch, loss);
 *	tare_event_file_flush(events);			each epoch
 *	tare_event_file_close(events);
 *
 *	$ tensorboard --logdir events
 *
 * Each file is new. What was flushed is there whole after any kill. By their
 * format scalars are floats of 32 bits. Works whether measuring is on or not.
 * One thread at a time for each object.
 */
#ifndef TARE_EVENT_FILE_H
#define TARE_EVENT_FILE_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

typedef struct tare_event_file tare_event_file;

/* The folder is a run in TensorBoard; it is made if needed. */
TARE_API TARE_MUST_CHECK int tare_event_file_open(const char *folder,
						  tare_event_file **ret_file);

/*
 * They collect, and write every 64 KiB. On an error (a full disk) up to 1 MiB
 * are kept and written when it can be; there is never half a record.
 */
TARE_API int tare_event_file_scalar(tare_event_file *file, const char *tag,
				    int64_t step, double value);
/* Several of one step, in one event: cheaper. */
TARE_API int tare_event_file_scalars(tare_event_file *file, int64_t step,
				     const char *const *tags,
				     const double *values, size_t n);
/* Shown as Markdown. */
TARE_API int tare_event_file_text(tare_event_file *file, const char *tag,
				  int64_t step, const char *text);

/* Counts between limits: bucket i ends at limit[i], where the next begins. */
typedef struct tare_event_histogram {
	double min, max, count, sum, sum_of_squares;
	const double *limit;
	const double *bucket;
	size_t n_buckets;
} tare_event_histogram;

TARE_API int tare_event_file_histogram(tare_event_file *file, const char *tag,
				       int64_t step,
				       const tare_event_histogram *histogram);
/* The same of values, in 30 buckets. What is not finite is left out. */
TARE_API int tare_event_file_values(tare_event_file *file, const char *tag,
				    int64_t step, const float *values,
				    size_t n);

TARE_API int tare_event_file_flush(tare_event_file *file);
/* The file's path; belongs to `file`. */
TARE_API const char *tare_event_file_path(const tare_event_file *file);
/* 0: everything is in the file. */
TARE_API int tare_event_file_close(tare_event_file *file);

TARE_END
#endif
