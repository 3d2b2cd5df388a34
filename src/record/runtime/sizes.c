/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of elements of arrays that libtare returns, see version.h. */
#include <tare/system.h>
#include <tare/train.h>

const size_t tare_capability_size = sizeof(tare_capability);
const size_t tare_training_phase_size = sizeof(tare_training_phase);
