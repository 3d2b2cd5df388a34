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
 * Every open creates a new file. Flushed data survives any kill. The format
 * stores scalars as 32-bit floats. Works whether measuring is on or not. One
 * thread at a time for each object.
 */
#ifndef TARE_EVENT_FILE_H
#define TARE_EVENT_FILE_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

typedef struct tare_event_file tare_event_file;

/* The folder is a run in TensorBoard. It is created if needed. */
TARE_API TARE_MUST_CHECK int tare_event_file_open(const char *folder,
						  tare_event_file **ret_file);

/*
 * Events are buffered and written every 64 KiB. On an error (a full disk) up to
 * 1 MiB is kept and written later; the file never has half a record.
 */
TARE_API int tare_event_file_scalar(tare_event_file *file, const char *tag,
				    int64_t step, double value);
/* Several scalars of one step in one event: cheaper. */
TARE_API int tare_event_file_scalars(tare_event_file *file, int64_t step,
				     const char *const *tags,
				     const double *values, size_t n);
/* Shown as Markdown. */
TARE_API int tare_event_file_text(tare_event_file *file, const char *tag,
				  int64_t step, const char *text);

/* Counts between limits: bucket i ends, and the next begins, at limit[i]. */
typedef struct tare_event_histogram {
	double min, max, count, sum, sum_of_squares;
	const double *limit;
	const double *bucket;
	size_t n_buckets;
} tare_event_histogram;

TARE_API int tare_event_file_histogram(tare_event_file *file, const char *tag,
				       int64_t step,
				       const tare_event_histogram *histogram);
/* A histogram of `values`, in 30 buckets, without non-finite ones. */
TARE_API int tare_event_file_values(tare_event_file *file, const char *tag,
				    int64_t step, const float *values,
				    size_t n);

TARE_API int tare_event_file_flush(tare_event_file *file);
/* The file's path; belongs to `file`. */
TARE_API const char *tare_event_file_path(const tare_event_file *file);
/* Returns 0 if everything is in the file. */
TARE_API int tare_event_file_close(tare_event_file *file);

TARE_END
#endif
