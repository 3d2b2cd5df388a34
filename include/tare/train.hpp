/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ side of training runs: a phase that ends with its block, also when an
 * exception leaves it. Included by train.h.
 */
#ifndef TARE_TRAIN_HPP
#define TARE_TRAIN_HPP

#include <tare/train.h>

namespace tare {

/* Not copied, not moved: it is the block. */
class phase {
public:
	TARE_UNHOOKED explicit phase(tare_phase begun) noexcept
	    : handle_(begun)
	{
	}
	TARE_UNHOOKED ~phase()
	{
		tare_phase_end(handle_);
	}
	phase(const phase &) = delete;
	phase &operator=(const phase &) = delete;

private:
	tare_phase handle_;
};

} /* namespace tare */

#endif
