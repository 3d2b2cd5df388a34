/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRAINING_H
#define BENCH_TRAINING_H

/* What measuring adds to an epoch of the sequential GCN. */
void bench_training_share(void);

#endif
