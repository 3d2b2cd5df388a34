/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of elements of arrays that libtare returns, see version.h. */
#include <tare/system.h>
#include <tare/train.h>

TARE_API size_t tare_capability_size(void)
{
	return sizeof(tare_capability);
}

TARE_API size_t tare_training_phase_size(void)
{
	return sizeof(tare_training_phase);
}
