/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of `sampling` that run whole programs. */
#ifndef BENCH_SAMPLING_PROGRAMS_H
#define BENCH_SAMPLING_PROGRAMS_H

void sampling_zstd(void);
void sampling_deep(void);
void sampling_threads16(void);

#endif
