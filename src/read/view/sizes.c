/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes: the size of the elements of returned arrays in this library. A program
 * built with an older header uses these as the step (version.h).
 */
#include <tare/read/alloc.h>
#include <tare/read/changes.h>
#include <tare/read/communication.h>
#include <tare/read/compare.h>
#include <tare/read/judge.h>
#include <tare/read/pipeline.h>
#include <tare/read/readings.h>
#include <tare/read/train.h>

/* Functions, and no data: a program may have a second copy of the library,
 * and tools such as AddressSanitizer refuse exported data that is there twice.
 */
#define SIZE_OF(type) \
	TARE_API size_t type##_size(void) \
	{ \
		return sizeof(type); \
	}

SIZE_OF(tare_alloc)
SIZE_OF(tare_alloc_mark)
SIZE_OF(tare_call)
SIZE_OF(tare_change)
SIZE_OF(tare_compared_config)
SIZE_OF(tare_compared_fit)
SIZE_OF(tare_event)
SIZE_OF(tare_frame)
SIZE_OF(tare_function)
SIZE_OF(tare_job_call)
SIZE_OF(tare_job_rank)
SIZE_OF(tare_module)
SIZE_OF(tare_node)
SIZE_OF(tare_part)
SIZE_OF(tare_pipeline)
SIZE_OF(tare_quantity)
SIZE_OF(tare_reading_group)
SIZE_OF(tare_record)
SIZE_OF(tare_run_entry)
SIZE_OF(tare_sample)
SIZE_OF(tare_stack)
SIZE_OF(tare_stage_stats)
SIZE_OF(tare_stats)
SIZE_OF(tare_thread)
SIZE_OF(tare_training_info)
SIZE_OF(tare_training_part)
SIZE_OF(tare_trend)
