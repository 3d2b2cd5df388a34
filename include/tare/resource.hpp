/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ side of resource scopes: an object that marks itself as failed when an
 * exception leaves it. Included by resource.h.
 */
#ifndef TARE_RESOURCE_HPP
#define TARE_RESOURCE_HPP

#include <tare/resource.h>

#ifndef TARE_DISABLE
#include <tare/exception.hpp>

#include <exception>

namespace tare {

/* Not copied, not moved: it is the block. */
class resource_scope {
public:
	TARE_UNHOOKED explicit resource_scope(tare_resource_site *site) noexcept
	{
		tare_resource_begin(site, &resource_);
		if (TARE_UNLIKELY(resource_.scope.frame != nullptr))
			exceptions_ = std::uncaught_exceptions();
	}
	TARE_UNHOOKED ~resource_scope()
	{
		if (TARE_UNLIKELY(resource_.scope.frame != nullptr))
			leave();
	}
	resource_scope(const resource_scope &) = delete;
	resource_scope &operator=(const resource_scope &) = delete;

private:
	TARE_UNHOOKED void leave() noexcept
	{
		if (std::uncaught_exceptions() > exceptions_)
			exception_::fail(resource_.scope);
		tare_resource_end_(&resource_);
	}

	tare_resource resource_;
	int exceptions_ = 0;
};

} /* namespace tare */
#endif

#endif
