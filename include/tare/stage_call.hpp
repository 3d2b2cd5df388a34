/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ side of a wrapped stage's call: an object that ends it. Included by
 * stage_call.h.
 */
#ifndef TARE_STAGE_CALL_HPP
#define TARE_STAGE_CALL_HPP

#include <tare/probe.h>

#ifndef TARE_DISABLE
#include <tare/exception.hpp>

#include <exception>

namespace tare {

/* Ends the call however it is left; an exception is a failure. */
template <typename Call, void (*end)(Call *)> class stage_call {
public:
	template <typename Stage>
	stage_call(Stage *stage, void *frame) noexcept
	    : call{ stage, frame, false },
	      exceptions_(frame ? std::uncaught_exceptions() : 0)
	{
	}
	~stage_call()
	{
		if (TARE_UNLIKELY(call.frame != nullptr) &&
		    std::uncaught_exceptions() > exceptions_)
			exception_::fail(tare_scope{ call.frame });
		end(&call);
	}
	stage_call(const stage_call &) = delete;
	stage_call &operator=(const stage_call &) = delete;

	Call call;

private:
	int exceptions_;
};

} /* namespace tare */
#endif

#endif
